"""A key is known to the wire, a secret to nobody: not to a model, a file, a log or an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemorySession, MemoryStore
from gitmem.errors import ModelFailed
from gitmem.testing import Answer, ScriptedModels, tool_call
from tests.memory.words import ADA, NOW, objects, user, write_lines
from tests.security.acts import APPROVE, SAID, item, items, proposed, verdict

KEY = "fake-key-Zq8w7e6r5t4y3u2i1o"
#: A secret of the conversation, in the form of a real one.
TOKEN = "ghp_" + "F4k3T0k3n9Qz" * 3
ROLES = ("PROPOSER", "REVIEWER", "SELECTOR", "CONSOLIDATOR")


def on_disk(*folders: Path) -> dict[str, bytes]:
    """Every file below the folders, and what git packed."""
    found = {
        str(path): path.read_bytes()
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file()
    }
    for folder in folders:
        found |= {str(git): objects(git.parent) for git in folder.glob("**/.git") if git.is_dir()}
    return found


def check_nowhere(word: str, *folders: Path) -> None:
    for path, content in on_disk(*folders).items():
        assert word.encode() not in content, path


FAILING = [
    Answer(status=401),
    Answer(status=500, headers={"x-should-retry": "false"}),
    Answer(status=301, headers={"Location": "http://127.0.0.1:9/?key=" + KEY}),
    Answer(body=f'{{"error": "wrong key {KEY}"}}'.encode()),
    Answer(status=400, body=f'{{"error": {{"message": "Bearer {KEY}"}}}}'.encode()),
    Answer(f"your key is {KEY}"),
    Answer(json.dumps([{KEY: 1}])),
    Answer(json.dumps({"verdict": "approve", "findings": [], KEY: 1})),
    Answer(APPROVE, model=KEY),
    Answer("[]", finish_reason=KEY),
    Answer("[]", cut=20),
]


def test_a_key_reaches_the_endpoint_and_nothing_else(
    memory: MemoryStore,
    models: ScriptedModels,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = tmp_path / "config.yaml"
    monkeypatch.setenv("GITMEM_CONFIG", str(config))
    secret = tmp_path_factory.mktemp("private") / "key"
    secret.write_text(KEY)
    files = dict.fromkeys(("REVIEWER", "SELECTOR"), f"  api_key_file: '{secret}'\n")
    config.write_text(
        "".join(f"{role.lower()}:\n  retries: '0'\n{files.get(role, '')}" for role in ROLES)
    )
    monkeypatch.setenv("THE_KEY", KEY)
    for role in ("PROPOSER", "CONSOLIDATOR"):
        monkeypatch.setenv(f"GITMEM_{role}_API_KEY_ENV", "THE_KEY")
    chat = write_lines(tmp_path / "chat.jsonl", [user(SAID)])
    models.say("writer-1", *FAILING[:5])
    models.always("writer-1", FAILING[5])
    said = command(memory, "--debug", "-v", "extract", str(chat), code=1)
    for _ in range(3):
        with pytest.raises(ModelFailed) as caught:
            memory.extract(chat)
        said += "".join(traceback.format_exception(caught.value))
    models.always("judge-2", APPROVE)
    said += command(memory, "--debug", "-v", "config", "check", "reviewer", code=1)
    with MemorySession(memory.path, clock=lambda: NOW) as session:
        session.begin_turn("tabs?")
        session.complete([user(SAID)])
        session.wait()
        assert session.last_error
        said += session.last_error
    models._queued["writer-1"].clear()
    models.always("writer-1", items(item()))
    result = proposed(memory, SAID + " Really.")
    models.say("judge-2", *FAILING[5:])
    models.say("judge-2", verdict("request_changes", text=f"The key is {KEY}", change=KEY))
    said += repr(memory.review(result.proposal)) + repr(memory.status())
    assert {headers["authorization"] for headers in models.headers} == {f"Bearer {KEY}"}
    assert KEY not in said.replace(str(secret), "")
    assert KEY not in json.dumps(models.requests)
    check_nowhere(KEY, tmp_path, Path.home())


def command(memory: MemoryStore, *args: str, code: int = 0) -> str:
    """Run the command; return all that it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *args],
        env={**os.environ, "GITMEM_STORE": str(memory.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_a_key_that_was_set_in_a_wrong_place_is_not_repeated(
    memory: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    monkeypatch.setenv("GITMEM_CONFIG", str(config))
    for key, value in (
        ("reviewer.api_key_env", TOKEN + "-"),
        ("reviewer.base_url", f"https://ada:{TOKEN}@models.example/v1"),
        ("reviewer.base_url", f"https://models.example/v1?key={TOKEN}"),
    ):
        assert TOKEN not in command(memory, "--debug", "config", "set", key, value, code=1), key
    check_nowhere(TOKEN, tmp_path, Path.home())


def test_a_secret_of_a_conversation_reaches_no_model_and_no_file(
    memory: MemoryStore, models: ScriptedModels, tmp_path: Path
) -> None:
    memory.remember("We deploy on Tuesdays.", name="deploy-day", type="project", person=ADA)
    page = f"line of a log\n{'x' * 9_990} {TOKEN} 密钥\n" * 5
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": TOKEN}}
    history: list[Any] = [
        user(f"{SAID} My token is {TOKEN}, 我的令牌是 {TOKEN}。"),
        {"role": "assistant", "content": f"So {TOKEN}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": page},
        {"role": "assistant", "content": "Done."},
    ]
    quoting = item(name="token", body=TOKEN, description=f"The token is {TOKEN}")
    models.say("writer-1", items(item(), quoting))
    models.always("writer-1", items(item(body=f"Use tabs with {TOKEN}.")))
    models.always("picker-3", "[]")

    def looking(request: Any) -> Answer | str:
        told = [m for m in request["messages"] if m["role"] == "tool"]
        if not told:
            session = memory._sessions().list_ids()
            reads = [
                tool_call("read_session", call_id=f"s{n}", session=name, message=2)
                for n, name in enumerate(session)
            ]
            return Answer(tool_calls=tuple(reads[:8]))
        name = next((p for m in told for p in m["content"].split() if len(p) == 33), "")[:32]
        if len(told) < 6 and name:
            reads = [
                tool_call("read_artifact", call_id=f"a{n}", artifact=name, start=n * 9_999)
                for n in range(6)
            ]
            return Answer(tool_calls=tuple(reads))
        return verdict("request_changes", text=f"It holds {TOKEN}", change=TOKEN, record=TOKEN)

    models.always("judge-2", looking)
    with MemorySession(memory.path, clock=lambda: NOW) as session:
        session.begin_turn(f"What does {TOKEN} open?")
        assert session.complete(history), session.last_error
        session.wait()
    seen = json.dumps(models.requests)
    assert "F4k3T0k3n9" not in seen and "read_artifact" in seen
    assert models.asked("picker-3") and models.asked("writer-1") and models.asked("judge-2")
    check_nowhere(TOKEN, memory.path, Path.home())
