"""Conversations in any state: what is whole in them is read, and nothing else happens."""

from __future__ import annotations

import io
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.text import escape_terminal
from gitmem.errors import GitmemError
from gitmem.sessions import SessionFiles
from gitmem.transcripts import ADAPTERS, Conversation, read_messages, read_transcript
from gitmem.transcripts.base import Tally
from gitmem.transcripts.lines import BLANK, BOM, read_lines
from tests.fuzz.mutations import broken, broken_json, dumped, fewer, outcome
from tests.transcripts.lines import agent, answer, call, human, text

NOW = "2026-11-30T16:20:11Z"
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "以后都用制表符 🙂 I prefer tabs.", "timestamp": 1_790_000_000},
    {"role": "user", "name": "ada", "content": [{"type": "text", "text": "And <b>no</b> spaces."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": '{"path": "."}'}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "README.md"}]},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "no"}], "refusal": "no"},
    {"role": "user", "content": "", "metadata": {"id": 3}, "created_at": "2026-11-30T16:20:11Z"},
]
SESSION: list[dict[str, Any]] = [
    {"type": "summary", "summary": "before", "leafUuid": "u0"},
    human("Always use tabs. 请用制表符。"),
    human([text("one"), {"type": "image", "source": {}}], "u2", isMeta=True),
    agent(text("Fine."), {"type": "thinking", "thinking": "hm"}, call("ls")),
    answer([text("README.md")], toolUseResult={"stdout": "README.md"}),
    {
        **human(None, "u3"),
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "And answer briefly."},
    },
    human("<command-name>/clear</command-name>", "u4", forkedFrom={"messageUuid": "u9"}),
]


def lines(entries: list[Any]) -> bytes:
    return b"".join(dumped(entry) + b"\n" for entry in entries)


FILES = (
    dumped(CHAT),
    dumped({"id": "chat-1", "messages": CHAT}),
    lines(CHAT),
    lines(SESSION),
)


def read(data: bytes, format: str | None = None) -> Conversation | GitmemError:
    """What a file of these bytes holds, or gitmem's own error that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "会话.jsonl")
        path.write_bytes(data)
        found = outcome(lambda: read_transcript(path, format))
        if isinstance(found, GitmemError):
            assert str(path) in found.message
        else:
            check(found)
        return found  # type: ignore[no-any-return]


def check(conversation: Conversation) -> None:
    """Everything in it can be stored, shown and counted."""
    for message in conversation.messages:
        for piece in message.parts:
            piece.text.encode("utf-8")
            assert not set(piece.text) & set("\0\x1b\r\x7f\x9b")
    for note in (*conversation.notes, conversation.counts.describe()):
        assert escape_terminal(note, multiline=True) == note, ascii(note)
    assert conversation.counts.total >= 0


FORMATS = st.sampled_from([None, *ADAPTERS])


@given(broken(*FILES), FORMATS)
def test_a_file_in_any_state_is_a_conversation_or_one_error_that_names_it(
    data: bytes, format: str | None
) -> None:
    first, second = read(data, format), read(data, format)
    if isinstance(first, GitmemError):
        assert isinstance(second, GitmemError) and first.hint == second.hint
    else:
        assert first == second


@given(broken_json(CHAT, SESSION), st.booleans(), FORMATS)
def test_values_of_any_kind_in_any_field_are_read_or_named(
    value: Any, as_lines: bool, format: str | None
) -> None:
    read(lines(value) if as_lines and isinstance(value, list) else dumped(value), format)


@given(broken_json(CHAT))
def test_messages_that_a_program_gives_are_read_or_refused_by_their_place(value: Any) -> None:
    if isinstance(value, list):
        found = outcome(lambda: read_messages(value))
        if not isinstance(found, GitmemError):
            check(found)
            assert len(found.messages) == len(value)


SAID = "Deploy on Tuesdays only. 只在周二部署。"


def one_line(data: bytes) -> bytes:
    """Broken bytes that stay one line, and are no conversation of their own."""
    line = data.replace(b"\n", b" ")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return line if not isinstance(value, dict) or "messages" not in value else b"x"


@given(st.lists(broken(*FILES[2:]).map(one_line), max_size=4), st.integers(0, 4), st.booleans())
def test_a_good_message_beside_broken_lines_is_still_read(
    others: list[bytes], at: int, chat: bool
) -> None:
    good = {"role": "user", "content": SAID} if chat else human(SAID, "good")
    data = b"\n".join([*others[:at], dumped(good), *others[at:]]) + b"\n"
    found = read(data, "openai" if chat else "claude-code")
    assert isinstance(found, Conversation)
    (message,) = (m for m in found.messages if [p.text for p in m.parts] == [SAID])
    assert message.role == "user" and message.parts[0].cls == "human"


@given(broken_json(CHAT), st.integers(0, 10))
def test_a_good_message_beside_any_entries_of_an_array_is_still_read(value: Any, at: int) -> None:
    entries = value if isinstance(value, list) else [value]
    entries.insert(at, {"role": "user", "content": SAID})
    found = read(dumped(entries), "openai")
    assert isinstance(found, Conversation)
    assert [p.cls for m in found.messages for p in m.parts if p.text == SAID] == ["human"]


@given(broken(*FILES))
def test_every_line_that_holds_something_is_read_once(data: bytes) -> None:
    read_once = list(read_lines(io.BytesIO(data), Tally()))
    held = [line.removeprefix(BOM).strip(BLANK) for line in data.split(b"\n")]
    assert len(read_once) == len([line for line in held if line])
    assert all(one.whole for one in read_once[:-1])


# --- kept as sessions --------------------------------------------------------------------------


@fewer(2)
@given(broken_json(CHAT, SESSION))
def test_what_was_read_is_kept_and_reads_back_equal_and_again_is_nothing_new(value: Any) -> None:
    found = read(lines(value) if isinstance(value, list) else dumped(value))
    if isinstance(found, GitmemError) or not found.messages:
        return
    with tempfile.TemporaryDirectory() as folder:
        files = SessionFiles(Path(folder, "sessions"))
        kept = files.capture(found, attested="file", now=NOW)
        loaded = files.load(kept.session.id)
        assert loaded and tuple(loaded.messages) == tuple(kept.session.messages)
        assert len(loaded.messages) == len(found.messages)
        again = files.capture(found, attested="file", now=NOW)
        assert again.session.id == kept.session.id and again.new_from == len(found.messages)


def stored() -> tuple[bytes, bytes]:
    """Two session files as gitmem writes them: of chat messages, and with a client's ids."""
    with tempfile.TemporaryDirectory() as folder:
        files = SessionFiles(Path(folder))
        found = []
        for data in FILES[2:]:
            conversation = read(data)
            assert isinstance(conversation, Conversation)
            session_id = files.capture(conversation, attested="file", now=NOW).session.id
            files.mark_consumed(session_id, 2, "extract-20261130-7f3a2c", NOW)
            found.append(Path(folder, f"{session_id}.jsonl").read_bytes())
        return found[0], found[1]


STORED = stored()


def session_id(data: bytes) -> str:
    return str(json.loads(data.partition(b"\n")[0])["session"])


def other() -> list[dict[str, Any]]:
    return [{**human(SAID, "good"), "sessionId": "99999999-0000-0000-0000-000000000000"}]


#: Lines that are nearly what gitmem writes.
ODD_LINES = (
    b'{"consumed":-5}\n{"consumed":1e999}\n{"consumed":true}\n{"consumed":99999999999999999999}\n',
    b'{"read_before":[[0,1e999]]}\n{"read_before":[[NaN,1]]}\n{"read_before":["12"]}\n',
    b'{"read_before":[[1,2,3]]}\n{"read_before":[[[],{}]]}\n{"read_before":[[-9,9]]}\n',
    b'{"index":7,"keys":["zz","__"],"parts":[],"role":"user"}\n',
    b'{"index":0,"keys":["ffffffffffffffffff","0"],"parts":[],"role":"user"}\n',
    b'{"at":"2026-11-30T16:20:11Z","index":0,"parts":[],"role":"user"}\n',
)


@fewer(2)
@given(
    st.sampled_from(STORED).flatmap(
        lambda data: st.tuples(
            st.just(data),
            broken(data, data, data, *ODD_LINES, data + ODD_LINES[3], data + ODD_LINES[4]),
        )
    )
)
def test_a_session_file_in_any_state_is_read_or_named_and_stops_no_other(
    files: tuple[bytes, bytes],
) -> None:
    whole, damaged = files
    with tempfile.TemporaryDirectory() as folder:
        broken_id = session_id(whole)
        path = Path(folder, f"{broken_id}.jsonl")
        path.write_bytes(damaged)
        kept = SessionFiles(Path(folder))
        found = outcome(lambda: kept.load(broken_id))
        if not isinstance(found, GitmemError):
            outcome(lambda: list(found.messages))
            outcome(lambda: [m.index for m in found.messages.of_class("human")])
        outcome(lambda: kept.consumed(broken_id))
        outcome(lambda: [n in kept.read_before(broken_id) for n in range(9)])
        outcome(lambda: kept.mark_consumed(broken_id, 1, None, NOW))
        conversation = read(lines(CHAT if whole == STORED[0] else SESSION))
        outcome(lambda: kept.capture(conversation, attested="file", now=NOW))
        # Whatever that file says, another conversation is kept and read as ever.
        good = read(lines(other()), "claude-code")
        assert isinstance(good, Conversation)
        captured = kept.capture(good, attested="file", now=NOW)
        assert captured.new_from == 0
        loaded = kept.load(captured.session.id)
        assert loaded and [p.text for m in loaded.messages for p in m.parts] == [SAID]
        assert set(kept.list_ids()) >= {broken_id, captured.session.id}
