"""Canonical histories on disk: masked once, only appended to, found again when they grow."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.session import Session, message_digest
from gitmem.errors import InvalidInput, NotFound
from gitmem.sessions import Captured, SessionFiles
from gitmem.sessions.finding import read_before
from gitmem.sessions.folder import Folder
from gitmem.transcripts import RawMessage, read_messages, read_transcript
from gitmem.transcripts.base import part
from tests.transcripts.lines import human, write

NOW = "2026-11-30T16:20:11Z"
LATER = "2026-12-01T08:00:00Z"
GITHUB = "ghp_" + "a1B2c3D4e5F6" * 3
AWS = "AKIA" + "Z7QWERTY1234ABCD"
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "以后都用制表符 🙂 I prefer tabs."},
    {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "ls"}}]},
    {"role": "tool", "content": "README.md"},
    {"role": "user", "content": ""},
]


@pytest.fixture
def files(tmp_path: Path) -> SessionFiles:
    return SessionFiles(tmp_path / "sessions")


def _capture(files: SessionFiles, messages: list[dict[str, Any]], **how: Any) -> Captured:
    return files.capture(read_messages(messages), **{"attested": "file", "now": NOW, **how})


def _state(files: SessionFiles, text: str) -> Session:
    session = files.draft_statement(text, attested="caller", now=NOW)
    files.keep_statement(session, speaker="Ada <ada@example.org>")
    return session


def _file(tmp_path: Path, session_id: str) -> Path:
    return tmp_path / "sessions" / f"{session_id}.jsonl"


def test_a_session_reads_back_equal_with_equal_digests(files: SessionFiles) -> None:
    captured = _capture(files, CHAT)
    loaded = files.load(captured.session.id)
    assert loaded == captured.session
    assert loaded is not None
    assert [message_digest(m) for m in loaded.messages] == [
        message_digest(m) for m in captured.session.messages
    ]
    assert [m.index for m in loaded.messages] == list(range(len(CHAT)))
    assert (loaded.format, loaded.attested, loaded.started_at) == ("openai", "file", NOW)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1))
def test_whatever_was_said_reads_back_equal(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    files = SessionFiles(tmp_path_factory.mktemp("s"))
    captured = _capture(files, [{"role": "user", "content": text} for text in texts])
    assert files.load(captured.session.id) == captured.session


def test_the_same_conversation_again_is_nothing_new(files: SessionFiles, tmp_path: Path) -> None:
    first = _capture(files, CHAT)
    before = _file(tmp_path, first.session.id).read_bytes()
    again = _capture(files, CHAT, now=LATER)
    assert (again.session, again.new_from, again.known) == (first.session, len(CHAT), True)
    shorter = _capture(files, CHAT[:2], now=LATER)
    assert (shorter.session, shorter.new_from, shorter.known) == (first.session, len(CHAT), True)
    assert _file(tmp_path, first.session.id).read_bytes() == before
    assert files.list_ids() == [first.session.id]


def test_a_grown_conversation_appends_only_what_is_new(files: SessionFiles, tmp_path: Path) -> None:
    first = _capture(files, CHAT[:2])
    before = _file(tmp_path, first.session.id).read_bytes()
    grown = _capture(files, CHAT, now=LATER)
    assert (grown.session.id, grown.new_from, grown.known) == (first.session.id, 2, True)
    assert _file(tmp_path, first.session.id).read_bytes().startswith(before)
    assert files.load(first.session.id) == grown.session
    assert len(grown.session.messages) == len(CHAT)


def test_of_two_sessions_that_begin_alike_the_longer_one_grows(files: SessionFiles) -> None:
    hello = {"role": "user", "content": "hello"}
    one = _capture(files, [hello, {"role": "user", "content": "a"}])
    two = _capture(files, [hello, {"role": "user", "content": "b"}])
    assert one.session.id != two.session.id
    grown = _capture(files, [hello, {"role": "user", "content": "b"}, hello])
    assert grown.session.id == two.session.id


def test_a_file_as_array_and_as_lines_is_one_session(files: SessionFiles, tmp_path: Path) -> None:
    array, lines = tmp_path / "a.json", tmp_path / "b.jsonl"
    array.write_text(json.dumps(CHAT), encoding="utf-8")
    lines.write_text("\n".join(json.dumps(m) for m in CHAT), encoding="utf-8")
    one = files.capture(read_transcript(array), attested="file", now=NOW)
    two = files.capture(read_transcript(lines), attested="file", now=LATER)
    assert (two.session.id, two.known) == (one.session.id, True)


def test_a_weaker_attestation_never_extends_a_stronger_session(files: SessionFiles) -> None:
    hook = _capture(files, CHAT, attested="hook")
    forged = _capture(files, [*CHAT, {"role": "user", "content": "I prefer dark mode."}])
    assert forged.session.id != hook.session.id
    assert forged.session.attested == "file"
    assert files.load(hook.session.id) == hook.session


def test_conversations_with_different_ids_of_their_client_stay_apart(
    files: SessionFiles, tmp_path: Path
) -> None:
    one = _capture(files, CHAT, source_id="client-1")
    two = _capture(files, CHAT, source_id="client-2")
    assert one.session.id != two.session.id
    assert _capture(files, CHAT, source_id="client-1").session.id == one.session.id
    assert b"client-1" not in _file(tmp_path, one.session.id).read_bytes()


def test_no_secret_is_in_any_byte_that_was_written(files: SessionFiles, tmp_path: Path) -> None:
    secrets = [GITHUB, AWS, "hunter2", "Tr0ub4dor3", "s3cretpw"]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": f"my key is {GITHUB}, 密码是 Tr0ub4dor3"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"function": {"name": "sh", "arguments": json.dumps({"password": "hunter2"})}}]},
        {"role": "tool", "content": f"DB_PASSWORD=s3cretpw\nAWS_ACCESS_KEY_ID={AWS}\n"},
        {"role": "user", "content": f"the first half is {AWS[:11]}"},
        {"role": "user", "content": f"{AWS[11:]} is the second"},
    ]  # fmt: skip
    captured = _capture(files, messages)
    statement = _state(files, f"remember that the password is hunter2 and {GITHUB}")
    written = b"".join(path.read_bytes() for path in (tmp_path / "sessions").iterdir())
    for secret in [*secrets, AWS[4:11], AWS[11:]]:
        assert secret.encode() not in written
    assert captured.redactions == {
        "github-token": 1, "password": 3, "aws-key": 3,
    }  # fmt: skip
    assert statement.messages[0].parts[0].text == (
        "remember that the password is [redacted:password] and [redacted:github-token]"
    )


def test_what_was_captured_is_never_redacted_again(files: SessionFiles) -> None:
    first = _capture(files, [{"role": "user", "content": "the password is hunter2"}])
    text = first.session.messages[0].parts[0].text
    again = _capture(files, [{"role": "user", "content": text}], now=LATER)
    assert again.session == first.session
    assert again.redactions == {}


def test_only_new_messages_count_their_redactions(files: SessionFiles) -> None:
    secret = {"role": "user", "content": "the password is hunter2"}
    _capture(files, [secret])
    assert _capture(files, [secret, secret]).redactions == {"password": 1}


def test_a_statement_is_a_session_of_its_own_with_one_human_message(files: SessionFiles) -> None:
    one, two = _state(files, "以后用制表符"), _state(files, "以后用制表符")
    assert one.id != two.id
    assert files.load(one.id) == one
    [message] = one.messages
    assert (message.role, message.at) == ("user", NOW)
    assert [(p.cls, p.kind, p.text) for p in message.parts] == [("human", "text", "以后用制表符")]
    with pytest.raises(InvalidInput, match="no text"):
        files.draft_statement(" \n", attested="caller", now=NOW)


def test_consumption_is_remembered_and_never_goes_back(files: SessionFiles) -> None:
    session_id = _capture(files, CHAT[:2]).session.id
    assert files.consumed(session_id) == 0
    files.mark_consumed(session_id, 2, "extract-20261130-7f3a2c", NOW)
    files.mark_consumed(session_id, 1, None, NOW)
    assert files.consumed(session_id) == 2
    grown = _capture(files, CHAT)
    assert files.consumed(session_id) == 2 == grown.new_from
    assert files.load(session_id) == grown.session
    with pytest.raises(InvalidInput, match="the session has 5"):
        files.mark_consumed(session_id, 6, None, NOW)


@pytest.mark.parametrize("session_id", ["no-such", "../../etc/passwd", "A", "", "a/b", "a" * 300])
def test_an_id_that_names_no_session_is_not_found(files: SessionFiles, session_id: str) -> None:
    assert files.load(session_id) is None
    with pytest.raises(NotFound):
        files.consumed(session_id)


def test_a_torn_last_line_is_not_read_and_nothing_is_glued_to_it(
    files: SessionFiles, tmp_path: Path
) -> None:
    session_id = _capture(files, CHAT[:2]).session.id
    path = _file(tmp_path, session_id)
    whole = path.read_bytes()
    _capture(files, CHAT)
    grown = path.read_bytes()
    for cut in range(len(whole), len(grown)):
        path.write_bytes(grown[:cut])
        loaded = files.load(session_id)
        assert loaded is not None
        complete = grown[:cut].count(b"\n") - 1
        assert len(loaded.messages) == complete
    path.write_bytes(grown[: len(whole) + 9])
    files.mark_consumed(session_id, 1, None, NOW)
    assert files.consumed(session_id) == 1
    assert _capture(files, CHAT).new_from == 2
    reread = files.load(session_id)
    assert reread is not None
    assert len(reread.messages) == len(CHAT)


@pytest.mark.parametrize(
    ("line", "says"),
    [("not json", "not JSON"), ("[]", "not a JSON object"), ('{"index": 7}', "neither")],
)
def test_a_damaged_line_is_named_and_not_skipped(
    files: SessionFiles, tmp_path: Path, line: str, says: str
) -> None:
    session_id = _capture(files, CHAT).session.id
    path = _file(tmp_path, session_id)
    with path.open("ab") as file:
        file.write(line.encode() + b"\n")
    with pytest.raises(InvalidInput, match=says) as caught:
        files.load(session_id)
    assert f"{path}:{len(CHAT) + 2}" in str(caught.value)


def test_a_newer_file_format_is_refused_plainly(files: SessionFiles, tmp_path: Path) -> None:
    session_id = _capture(files, CHAT).session.id
    path = _file(tmp_path, session_id)
    path.write_bytes(path.read_bytes().replace(b'"version":2', b'"version":3', 1))
    with pytest.raises(InvalidInput, match="format 3"):
        files.load(session_id)


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_only_the_owner_can_read_what_was_said(files: SessionFiles, tmp_path: Path) -> None:
    session_id = _capture(files, CHAT).session.id
    assert stat.S_IMODE((tmp_path / "sessions").stat().st_mode) == 0o700
    assert stat.S_IMODE(_file(tmp_path, session_id).stat().st_mode) == 0o600
    assert files.list_ids() == [session_id]


def test_a_stray_file_in_the_folder_is_no_session(files: SessionFiles, tmp_path: Path) -> None:
    session_id = _capture(files, CHAT).session.id
    (tmp_path / "sessions" / "Notes.jsonl").write_text("{}\n", encoding="utf-8")
    (tmp_path / "sessions" / "torn.jsonl").write_text('{"sess', encoding="utf-8")
    assert _capture(files, CHAT, now=LATER).session.id == session_id


WRITER = """
import sys
from pathlib import Path
from filelock import FileLock
from gitmem.sessions import SessionFiles
from gitmem.transcripts import read_messages
root, name = Path(sys.argv[1]), sys.argv[2]
files = SessionFiles(root / "sessions")
for n in range(1, 9):
    chat = [{"role": "user", "content": f"{name} says {i}"} for i in range(n)]
    with FileLock(root / "lock"):
        files.capture(read_messages(chat), attested="file", now="2026-11-30T16:20:11Z")
"""


def test_two_processes_that_capture_under_the_lock_lose_and_mix_nothing(
    files: SessionFiles, tmp_path: Path
) -> None:
    import gitmem

    root = str(next(iter(gitmem.__path__))).removesuffix("gitmem")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], cwd=root)
        for name in ("a", "b")
    ]
    assert [writer.wait() for writer in writers] == [0, 0]
    sessions = [files.load(session_id) for session_id in files.list_ids()]
    texts = sorted(
        [message.parts[0].text for message in session.messages] for session in sessions if session
    )
    assert texts == [[f"{name} says {i}" for i in range(8)] for name in ("a", "b")]


@pytest.mark.parametrize("at_once", [1, 3, 4, 100])
def test_what_a_fork_was_read_of_does_not_depend_on_how_many_are_compared_at_once(
    files: SessionFiles, tmp_path: Path, at_once: int
) -> None:
    said = [RawMessage("user", (part("text", "human", f"第 {n} 句话"),), NOW, f"u{n}", f"t{n}")
            for n in range(12)]  # fmt: skip
    with files.stage(said) as staged:
        stored = files.keep(staged, "claude-code", attested="file", now=NOW, source="a")
    files.mark_consumed(stored.session.id, 12, None, NOW)
    with files.stage(said) as fork:
        for start, found in ((0, [(0, 12)]), (5, [(5, 12)]), (12, [])):
            wanted = {"attested": "file", "format": "claude-code"}
            folder = Folder(tmp_path / "sessions")
            assert read_before(folder, fork, wanted, start, at_once=at_once) == found


_STEP = st.sampled_from(["grow", "grow", "break", "mend", "fork", "compact", "cut", "again"])


@given(st.lists(st.tuples(_STEP, st.integers(0, 5)), min_size=1, max_size=12))
def test_whatever_a_client_does_to_its_files_each_message_is_new_once(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    """Grown, with broken and mended lines, forked, compacted and cut, and read after each step."""
    root = tmp_path_factory.mktemp("s")
    files = SessionFiles(root / "sessions")
    said, broken, session, cut = [0], set[int](), 1, False
    total, found, seen = 1, list[str](), set[str]()
    for step, number in steps:
        cut = step == "cut"
        if step == "grow":
            said += range(total, total + number)
            total += number
        elif step == "break" and said:
            broken.add(said[number % len(said)])
        elif step == "mend":
            broken.clear()
        elif step == "fork":
            session += 1
        elif step == "compact":
            said = said[number:]
        lines = [
            "{broken"
            if n in broken
            else json.dumps(human(f"第 {n} 句", f"u{n}", sessionId=session))
            for n in said
        ]
        if cut and said:
            lines[-1] = lines[-1][:-3]
        start = json.dumps(human("begin", "u", sessionId=session))
        path = write(root / "s.jsonl", [start, *lines])
        captured = files.capture(read_transcript(path), attested="file", now=NOW)
        for index, message in enumerate(captured.session.messages):
            if index >= captured.consumed and index not in captured.read_before:
                found.append(message.parts[0].text)
        files.mark_consumed(captured.session.id, len(captured.session.messages), None, NOW)
        seen |= {f"第 {n} 句" for n in (said[:-1] if cut else said) if n not in broken}
    assert sorted(found) == sorted({"begin", *seen})


@given(st.lists(st.tuples(st.text(), st.text(), st.text()), min_size=1, max_size=4))
def test_whatever_a_client_calls_its_messages_can_be_kept(
    tmp_path_factory: pytest.TempPathFactory, names: list[tuple[str, str, str]]
) -> None:
    """Half characters, NUL and nothing at all are names too."""
    lines = [human("x", a, timestamp=b, sessionId=c) for a, b, c in names]
    lines.append(human("x", "\ud83d", timestamp="\udead", sessionId="\ud83d\0"))
    root = tmp_path_factory.mktemp("s")
    (root / "s.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="ascii")
    files = SessionFiles(root / "sessions")
    conversation = read_transcript(root / "s.jsonl")
    first = files.capture(conversation, attested="file", now=NOW)
    again = files.capture(conversation, attested="file", now=LATER)
    assert (again.session, again.known) == (first.session, True)
    assert len(again.session.messages) == again.new_from == len(lines)


def test_messages_are_read_from_the_file_when_they_are_asked_for(
    files: SessionFiles, tmp_path: Path
) -> None:
    session = _capture(files, CHAT).session
    whole = tuple(session.messages)
    assert [m.index for m in session.messages[1:4]] == [1, 2, 3]
    assert list(session.messages[::-1]) == list(reversed(whole)) == list(reversed(session.messages))
    assert session.messages[-1] == whole[-1]
    assert session.messages[2:][0] == whole[2] and len(session.messages[9:]) == 0
    assert session.messages == whole and session.messages != whole[1:]
    with pytest.raises(IndexError):
        session.messages[len(CHAT)]
    path = _file(tmp_path, session.id)
    path.write_bytes(path.read_bytes().replace("制表符".encode(), b"\xff" * 9))
    with pytest.raises(InvalidInput, match="message 1 cannot be read"):
        session.message(1)
    assert session.message(0) == whole[0]
    path.unlink()
    with pytest.raises(InvalidInput, match="cannot be read"):
        session.message(0)


def test_what_a_dead_process_left_half_read_is_deleted_after_a_day(
    files: SessionFiles, tmp_path: Path
) -> None:
    _capture(files, CHAT)
    folder = tmp_path / "sessions"
    old, fresh = folder / ".new-old", folder / ".new-fresh"
    for path in (old, fresh):
        path.write_bytes(b"x")
    os.utime(old, (0, 0))
    _capture(files, CHAT[:1])
    assert (old.exists(), fresh.exists()) == (False, True)
    assert len(files.list_ids()) == 1


def test_a_conversation_that_breaks_off_while_it_is_read_leaves_nothing(
    files: SessionFiles, tmp_path: Path
) -> None:
    def breaking() -> Iterator[RawMessage]:
        yield from read_messages(CHAT).messages
        raise InvalidInput("cut", where="here")

    with pytest.raises(InvalidInput, match="cut"), files.stage(breaking()):
        pass
    assert list((tmp_path / "sessions").iterdir()) == []
