"""The real client against a real server: what is sent, and what becomes of each failure."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.errors import ModelFailed, Usage
from gitmem.llm import Budget, ModelClient, RoleSettings, check_endpoint
from gitmem.llm.wire import MAX_REPLY
from gitmem.testing import Answer, ScriptedModels
from tests.llm.conftest import Client, plenty

ASKED = [{"role": "user", "content": "你好"}]
KEY = "fake-key-0123456789"
SCHEMA = {"type": "array", "items": {"type": "string"}}


def refused(client: ModelClient, budget: Budget | None = None) -> str:
    with pytest.raises(ModelFailed) as caught:
        client.complete(ASKED, budget=budget or plenty())
    return str(caught.value)


def test_a_reply_has_text_usage_and_the_id_that_the_endpoint_reports(
    models: ScriptedModels, client: Client
) -> None:
    models.say("writer", Answer("好", model="Writer-2026-01-01", usage=(7, 3)))
    asking = client()
    reply = asking.complete(ASKED, budget=(budget := plenty()))
    assert (reply.text, reply.finish_reason, reply.model) == ("好", "stop", "Writer-2026-01-01")
    assert (reply.usage.prompt, reply.usage.completion) == (7, 3) and budget.spent.total == 10
    host = models.url.removeprefix("http://").removesuffix("/v1")
    assert asking.who(reply.model) == f"model:Writer-2026-01-01@{host}"
    (request,) = models.requests
    assert request["messages"] == ASKED and request["temperature"] == 0
    assert "tools" not in request and "response_format" not in request


def test_an_id_that_could_not_be_recorded_is_made_recordable(client: Client) -> None:
    who = client().who("C:\\models\\a b@c\n模型.gguf")
    assert who.startswith("model:C:\\models\\a_b-c___.gguf@127.0.0.1")


def test_an_endpoint_that_counts_no_tokens_is_overcounted(
    models: ScriptedModels, client: Client
) -> None:
    models.say("writer", Answer("a" * 100, usage=None))
    assert client().complete(ASKED, budget=plenty()).usage.completion >= 25


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(status=401), "HTTP status 401"),
        (Answer(status=403), "HTTP status 403"),
        (Answer(status=404), "HTTP status 404"),
        (Answer(status=301, headers={"Location": "http://127.0.0.1:1/v1"}), "HTTP status 301"),
        (Answer(body=b"data: [DONE]\n\n"), "no chat completion"),
        (Answer(body=b'{"error": {"message": "no"}}'), "no chat completion"),
        (Answer(body=b'{"choices": []}'), "0 choices"),
        (Answer(body=b"\xff\xfe"), "no chat completion"),
        (Answer(body=b""), "no chat completion"),
        (Answer(body=b'{"choices": [{"message": {"content": 3}}]}'), "no chat completion"),
        (Answer("[]", cut=30), "the connection broke"),
        (Answer("[]", message={"refusal": "I cannot"}), "refused to answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_failure_is_one_error_that_says_why_and_repeats_nothing(
    models: ScriptedModels, client: Client, answer: Answer, why: str
) -> None:
    models.say("writer", answer)
    said = refused(client({"THE_KEY": KEY}, api_key_env="THE_KEY"))
    assert why in said and KEY not in said and "/v1" not in said.partition("\n")[0]
    assert len(models.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 503])
def test_what_may_pass_is_asked_again_and_then_told(
    models: ScriptedModels, client: Client, status: int
) -> None:
    passing = Answer(status=status, headers={"retry-after-ms": "1"})
    models.say("writer", passing, passing, "good")
    assert client().complete(ASKED, budget=plenty()).text == "good"
    models.always("writer", passing)
    assert f"HTTP status {status}" in refused(client(retries=1))
    assert len(models.requests) == 5


def test_a_reply_that_does_not_come_ends_at_the_timeout(
    models: ScriptedModels, client: Client
) -> None:
    never = threading.Event()
    models.say("writer", Answer("late", wait=never))
    try:
        assert "no whole reply within" in refused(client(timeout=0.05, retries=0))
    finally:
        never.set()


def test_nobody_at_the_address_is_told(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = refused(client(base_url=f"http://127.0.0.1:{port}/v1", retries=0))
    assert f"127.0.0.1:{port}" in said and "cannot be reached" in said


def test_an_endless_reply_is_cut_off(models: ScriptedModels, client: Client) -> None:
    models.say("writer", "x" * MAX_REPLY)
    assert "longer than" in refused(client())


def test_what_an_endpoint_does_not_take_is_left_out_from_then_on(
    models: ScriptedModels, client: Client
) -> None:
    models.say(
        "writer",
        Answer(status=400, error="temperature"),
        Answer(status=422, error="response_format"),
        Answer(status=400, error="max_tokens"),
    )
    models.always("writer", "[]")
    asking = client()
    for _ in range(2):
        assert asking.complete(ASKED, budget=plenty(), schema=SCHEMA).text == "[]"
    assert len(models.requests) == 5
    first, last = models.requests[0], models.requests[-1]
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA
    assert last.keys() == {"model", "messages", "max_completion_tokens"}


def test_a_question_that_is_refused_for_another_reason_changes_nothing(
    models: ScriptedModels, client: Client
) -> None:
    models.say("writer", *[Answer(status=400)] * 3, "good")
    asking = client()
    assert "refused the question" in refused(asking)
    asking.complete(ASKED, budget=plenty())
    assert "temperature" in models.requests[-1] and "max_tokens" in models.requests[-1]


def test_a_spent_budget_asks_nothing_more(models: ScriptedModels, client: Client) -> None:
    now = [0.0]
    models.always("writer", Answer("good", usage=(60, 1)))
    budget = Budget(100, 10, clock=lambda: now[0])
    asking = client()
    asking.complete(ASKED, budget=budget)
    asking.complete(ASKED, budget=budget)
    assert "tokens for it are spent (122 of 100)" in refused(asking, budget)
    slow = Budget(10**6, 10, clock=lambda: now[0])
    now[0] = 11
    assert "time for it is spent" in refused(asking, slow)
    assert len(models.requests) == 2


# --- keys ------------------------------------------------------------------------------------


def test_the_key_comes_from_the_variable_or_the_file_that_is_named(
    models: ScriptedModels, client: Client, tmp_path: Path
) -> None:
    models.always("writer", "good")
    file = tmp_path / "钥匙"
    file.write_text(KEY + "\n")
    client({"THE_KEY": KEY}, api_key_env="THE_KEY").complete(ASKED, budget=plenty())
    client(api_key_file=str(file)).complete(ASKED, budget=plenty())
    assert [headers["authorization"] for headers in models.headers] == [f"Bearer {KEY}"] * 2


def test_a_local_endpoint_needs_no_key_and_gets_nobody_elses(
    models: ScriptedModels, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    models.always("writer", "good")
    client().complete(ASKED, budget=plenty())
    assert all(KEY not in value for value in models.headers[0].values())


@pytest.mark.parametrize("key", ["", "two words", "schlüssel", "a\nb"])
def test_without_a_key_nothing_is_sent(key: str) -> None:
    settings = RoleSettings("reviewer", "judge", "https://models.example", api_key_env="THE_KEY")
    said = refused(ModelClient(settings, {"THE_KEY": key}))
    assert "key" in said and (not key or key not in said)
    assert key or "gitmem config set reviewer.api_key_env" in said


def test_a_file_that_holds_no_key_is_named(client: Client, tmp_path: Path) -> None:
    said = refused(client(api_key_file=str(tmp_path / "none")))
    assert "none holds no key: No such file" in said


# --- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com/v1",
        "http://127.0.0.1:8080/v1",
        "http://localhost/",
        "http://[::1]:1",
        "http://[::ffff:127.0.0.1]:1/v1",
        "http://127.8.9.10/v1",
    ],
)
def test_an_endpoint_is_https_or_on_this_machine(url: str) -> None:
    assert check_endpoint(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/v1",
        "http://127.0.0.1.example.com/v1",
        "http://10.0.0.1/v1",
        "http://127.0.0.1.evil.example/v1",
        "http://localhost.evil.example/v1",
        "http://localhost./v1",
        "http://evil-localhost/v1",
        "http://2130706433/v1",
        "http://0x7f.0.0.1/v1",
        "http://0177.0.0.1/v1",
        "http://127.1/v1",
        "http://0.0.0.0/v1",
        "http://[::]/v1",
        "http://[::ffff:10.0.0.1]/v1",
        "http://[64:ff9b::127.0.0.1]/v1",
        "http://[::1%25eth0]/v1",
        "http://\uff11\uff12\uff17.0.0.1/v1",
        "http://127\u30020\u30020\u30021/v1",
        "http://localh\u043est/v1",
        "http://127.0.0.1\\@evil.example/v1",
        "http://127.0.0.1\\.evil.example/v1",
        "http://evil.example#@127.0.0.1/v1",
        "http://evil.example?@127.0.0.1/v1",
        "http://127.0.0.1:80@evil.example/v1",
        "http://127.0.0.1/v1#",
        "http://127.0.0.1/v1?",
        " http://127.0.0.1/v1",
        "http://127.0.0.1/\u200bv1",
        "http://evil.example%2f@127.0.0.1/",
        "http://evil.example%2f127.0.0.1/",
        "//127.0.0.1/v1",
        "127.0.0.1:8080",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "https://",
        "https://[::1",
        "https://a.example:99999",
        "https://a.example/v1?key=sekret",
        "https://ada:sekret@a.example/v1",
        "https://a.example/\x1b[2J",
        "",
    ],
)
def test_any_other_address_is_refused_without_repeating_a_password(url: str) -> None:
    with pytest.raises(Usage) as caught:
        check_endpoint(url)
    assert "sekret" not in str(caught.value) and str(caught.value).replace("\n", "").isprintable()
    with pytest.raises(Usage):
        ModelClient(RoleSettings("proposer", "m", url), {})


IDS = [
    ("writer-1", "writer-1"),
    ("vendor-y/beta-2", "vendor-y/beta-2"),
    ("/home/艾达/模型/beta 2.gguf", "/home/__/__/beta_2.gguf"),
    ("claude-x@20260101", "claude-x-20260101"),
    ("", ""),
    (" \n", ""),
    ("vendor/", ""),
    ("models\\", ""),
    ("@", ""),
    ("writer-1\u200b", ""),
    ("wr\u0456ter-1", ""),
    ("\uff57riter-1", ""),
    ("beta\n-2", ""),
    ("beta-2\x1b[2J", ""),
    ("beta-2\x00", ""),
    ("..", ""),
    ("b" * 201, ""),
]


@pytest.mark.parametrize(("reported", "recorded"), IDS, ids=range(len(IDS)))
def test_a_reported_id_is_recorded_in_plain_letters_or_counts_as_none(
    models: ScriptedModels, client: Client, reported: str, recorded: str
) -> None:
    models.say("writer", Answer("good", model=reported))
    asking = client()
    reply = asking.complete(ASKED, budget=plenty())
    assert reply.model == recorded
    assert asking.who(reply.model).startswith(f"model:{recorded}@127.0.0.1:")


# --- replies that do harm --------------------------------------------------------------------

HEAD = b"HTTP/1.1 %d Scripted\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def endless(
    first: bytes, again: bytes, stop: threading.Event, pause: float = 0.0
) -> Iterator[bytes]:
    """Bytes without end, one piece every ``pause`` seconds, until the test is over."""
    yield first
    while not stop.wait(pause):
        yield again


@pytest.fixture
def over() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (CHUNKED % 200, b"1\r\n \r\n"),
        (CHUNKED % 500, b"1\r\n \r\n"),
        (CHUNKED % 400, b"1\r\n \r\n"),
        (HEAD % 200 + b"X-Slow: ", b"x"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"", b""),
    ],
    ids=["body", "body of an error", "body of a refusal", "head", "interim answers", "nothing"],
)
def test_a_reply_that_trickles_without_end_ends_at_the_timeout(
    models: ScriptedModels, client: Client, over: threading.Event, first: bytes, again: bytes
) -> None:
    models.always("writer", Answer(raw=endless(first, again, over, 0.01)))
    assert "no whole reply within" in refused(client(timeout=0.2, retries=0))


def test_a_reply_that_trickles_ends_with_the_budget(
    models: ScriptedModels, client: Client, over: threading.Event
) -> None:
    models.always("writer", Answer(raw=endless(HEAD % 200 + b"X-Slow: ", b"x", over, 0.01)))
    said = refused(client(timeout=60, retries=5), Budget(10**6, 0.2))
    assert "no whole reply within 0.2 seconds" in said or "time for it is spent" in said


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_reply_without_end_is_cut_off_whatever_it_says(
    models: ScriptedModels, client: Client, over: threading.Event, status: int
) -> None:
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    models.always("writer", Answer(raw=endless(CHUNKED % status, piece, over)))
    assert f"longer than {MAX_REPLY} bytes" in refused(client(retries=0))


def test_a_compressed_reply_is_not_unpacked(models: ScriptedModels, client: Client) -> None:
    bomb = gzip.compress(b" " * 50_000_000)
    for status in (200, 400, 500):
        packed = Answer(status=status, body=bomb, headers={"Content-Encoding": "gzip"})
        models.say("writer", packed)
        assert "compressed" in refused(client(retries=0))
    assert {headers["accept-encoding"] for headers in models.headers} == {"identity"}


def test_a_huge_head_is_no_reply(models: ScriptedModels, client: Client) -> None:
    models.say("writer", Answer("good", headers={f"X-{n}": "x" * 60_000 for n in range(50)}))
    assert "cannot be reached, or the connection broke" in refused(client(retries=0))


def test_a_server_that_asks_to_wait_waits_in_vain(models: ScriptedModels, client: Client) -> None:
    models.always("writer", Answer(status=429, headers={"Retry-After": "100"}))
    assert "no whole reply within" in refused(client(timeout=0.1, retries=2))
    assert len(models.requests) == 1


def test_a_redirect_is_not_followed(models: ScriptedModels, client: Client) -> None:
    with ScriptedModels() as elsewhere:
        elsewhere.always("writer", "good")
        for status in (301, 302, 303, 307, 308):
            models.say("writer", Answer(status=status, headers={"Location": elsewhere.url}))
            said = refused(client({"THE_KEY": KEY}, api_key_env="THE_KEY", retries=0))
            assert f"HTTP status {status}" in said
        assert elsewhere.requests == []


def test_a_stream_that_was_not_asked_for_is_no_reply(
    models: ScriptedModels, client: Client
) -> None:
    event = json.dumps({"choices": [{"delta": {"content": "good"}, "index": 0}], "model": "writer"})
    stream = f"data: {event}\n\ndata: [DONE]\n\n".encode()
    models.say("writer", Answer(body=stream, headers={"Content-Type": "text/event-stream"}))
    assert "no chat completion" in refused(client())


def test_what_counts_tokens_beyond_belief_counts_none(
    models: ScriptedModels, client: Client
) -> None:
    models.always("writer", Answer("good", usage=(10**60, -5)))
    usage = client().complete(ASKED, budget=plenty()).usage
    assert 0 < usage.prompt < 100 and 0 <= usage.completion < 100


# --- what the packages in between would add --------------------------------------------------


def test_nothing_goes_along_that_was_meant_for_another_host(
    models: ScriptedModels, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {
        "OPENAI_CUSTOM_HEADERS": f"Authorization: Bearer {KEY}\nX-Tenant: {KEY}\nCookie: {KEY}",
        "OPENAI_BASE_URL": "http://127.0.0.1:1/v1",
        "ALL_PROXY": "http://127.0.0.1:1",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "http_proxy": "http://127.0.0.1:1",
        "NETRC": "netrc",
    }
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    Path("netrc").write_text(f"machine 127.0.0.1 login ada password {KEY}\n")
    models.always("writer", "good")
    client({"MINE": "my-own-key"}, api_key_env="MINE").complete(ASKED, budget=plenty())
    (headers,) = models.headers
    assert headers["authorization"] == "Bearer my-own-key" and KEY not in str(headers)
    assert headers.keys() <= {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }


LOGGED = """
import logging, sys
from gitmem.llm import Budget, ModelClient, RoleSettings
from gitmem.errors import ModelFailed
logging.basicConfig(level=logging.DEBUG)
settings = RoleSettings("proposer", "writer", sys.argv[1], api_key_env="THE_KEY", retries=1)
client = ModelClient(settings, {"THE_KEY": "fake-key-0123456789"})
for _ in range(2):
    try:
        client.complete([{"role": "user", "content": "secret-words"}], budget=Budget(10**6, 60))
    except ModelFailed as error:
        print(error)
logging.getLogger("openai").warning("of the program itself")
"""


def test_a_log_that_the_package_was_told_to_write_holds_no_question(
    models: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.say("writer", Answer("answered-words"), Answer(status=401))
    monkeypatch.setenv("OPENAI_LOG", "debug")
    done = subprocess.run(
        [sys.executable, "-c", LOGGED, models.url], capture_output=True, text=True, check=True
    )
    said = done.stdout + done.stderr
    assert "HTTP status 401" in said and "of the program itself" in said
    for word in (KEY, "secret-words", "answered-words", models.url):
        assert word not in said
