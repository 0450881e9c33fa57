"""A client's file that has only grown is read on from where its last reading ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.services.begin import begin
from gitmem.services.capture import Captured, capture_transcript
from gitmem.sessions import SessionFiles
from gitmem.sessions.marks import LEAST
from gitmem.sessions.staging import Staged
from gitmem.store import Store
from gitmem.transcripts import RawMessage
from tests.transcripts.lines import agent, call, human, text, write

NOW = 1_790_000_000
AT = "2026-11-30T16:20:11Z"
#: Bookkeeping of the client that makes a file long enough for a mark; none of it is masked.
LONG = json.dumps({"type": "progress", "sessionId": "s", "data": "x" * LEAST})
GITHUB = "ghp_" + "a1B2c3D4e5F6" * 3


class Watched(SessionFiles):
    """Session files that tell which messages were canonicalised and masked, by reading."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.directory = directory
        self.masked: list[range] = []

    @contextmanager
    def stage(self, conversation: Iterable[RawMessage], base: int = 0) -> Iterator[Staged]:
        with super().stage(conversation, base) as staged:
            self.masked.append(range(base, staged.count))
            yield staged

    @property
    def marks(self) -> list[Path]:
        return sorted(self.directory.glob(".read-*"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = begin(tmp_path_factory.mktemp("m") / "store", "0" * 32, NOW)
    yield made
    made.close()


@pytest.fixture
def files(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "sessions")


def read(store: Store, files: SessionFiles, path: Path) -> Captured:
    captured = capture_transcript(store, files, path, None, NOW)
    assert isinstance(captured, Captured)
    return captured


def said(captured: Captured) -> list[str]:
    return [message.parts[0].text for message in captured.session.messages]


def lines(*texts: str) -> list[Any]:
    return [LONG, *(human(words, f"u{words}") for words in texts)]


def test_only_what_is_new_in_a_grown_file_is_masked(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", lines("第一句", "two"))
    first = read(store, files, path)
    assert read(store, files, path).session == first.session
    write(path, lines("第一句", "two", "第三句"))
    grown = read(store, files, path)
    assert said(grown) == ["第一句", "two", "第三句"]
    assert grown.session.id == first.session.id
    assert files.masked == [range(2), range(2, 2), range(2, 3)]


def test_a_reading_that_goes_on_tells_the_same_as_one_from_the_beginning(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    every = [*lines("one", "二"), "{broken", {"type": "new-thing", "sessionId": "s"}, {"a": 1}]
    every += [agent(call("ls"), uuid="a1"), human(f"my key is {GITHUB}", "u9"), agent(text("ok"))]
    for end in range(2, len(every) + 1):
        write(path, every[:end])
        captured = read(store, files, path)
        fresh = read(store, SessionFiles(tmp_path / f"fresh-{end}"), path)
        assert dict(captured.counts) == dict(fresh.counts)
        assert said(captured) == said(fresh)
        notes = [note for note in fresh.notes if "masked" not in note]
        assert set(notes) <= set(captured.notes)
    assert sum(map(len, files.masked)) == len(captured.session.messages)


@pytest.mark.parametrize(
    "changed",
    [
        lines("ONE", "two", "three"),
        lines("one", "three"),
        [{"type": "summary", "sessionId": "s"}, *lines("one", "two", "three")],
        lines("one"),
    ],
    ids=["other words of the same length", "one fewer", "moved", "cut off"],
)
def test_a_file_that_begins_otherwise_is_read_from_its_beginning(
    store: Store, files: Watched, tmp_path: Path, changed: list[Any]
) -> None:
    path = write(tmp_path / "s.jsonl", lines("one", "two"))
    read(store, files, path)
    captured = read(store, files, write(path, changed))
    assert files.masked[1].start == 0
    told = [entry["message"]["content"] for entry in changed if "message" in entry]
    assert said(captured)[: len(told)] == told


def _emptied(mark: Path, session: Path) -> None:
    mark.write_bytes(b"")


def _no_object(mark: Path, session: Path) -> None:
    mark.write_bytes(b"[]")


def _wrong_kind(mark: Path, session: Path) -> None:
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"read": {"position": 3}}))


def _too_far(mark: Path, session: Path) -> None:
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"messages": 3}))


def _other_version(mark: Path, session: Path) -> None:
    mark.write_text(json.dumps(json.loads(mark.read_text()) | {"version": "0"}))


def _session_gone(mark: Path, session: Path) -> None:
    session.unlink()


def _session_shorter(mark: Path, session: Path) -> None:
    session.write_bytes(b"".join(session.read_bytes().splitlines(keepends=True)[:-1]))


def _session_changed(mark: Path, session: Path) -> None:
    session.write_bytes(session.read_bytes().replace(b"two", b"TWO"))


@pytest.mark.parametrize(
    "damage",
    [
        _emptied,
        _no_object,
        _wrong_kind,
        _too_far,
        _other_version,
        _session_gone,
        _session_shorter,
        _session_changed,
    ],
)
def test_where_a_mark_is_in_doubt_the_file_is_read_from_its_beginning(
    store: Store, files: Watched, tmp_path: Path, damage: Any
) -> None:
    path = write(tmp_path / "s.jsonl", lines("one", "two"))
    first = read(store, files, path)
    (mark,) = files.marks
    damage(mark, files.directory / f"{first.session.id}.jsonl")
    captured = read(store, files, write(path, lines("one", "two", "three")))
    assert said(captured) == ["one", "two", "three"]
    assert files.masked[-1] == range(3)


def test_a_process_killed_before_it_could_write_its_mark_loses_and_repeats_nothing(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", lines("one"))
    read(store, files, path)
    (mark,) = files.marks
    old = mark.read_bytes()
    read(store, files, write(path, lines("one", "two")))
    mark.write_bytes(old)  # as a kill between the session and its mark leaves them
    captured = read(store, files, write(path, lines("one", "two", "three")))
    assert said(captured) == ["one", "two", "three"]
    assert len(files.list_ids()) == 1
    read(store, files, path)
    assert files.masked[-1] == range(3, 3)


def test_a_session_that_another_file_went_on_with_is_compared_again(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", lines("one", "two"))
    copy = write(tmp_path / "copy.jsonl", lines("one", "two", "three"))
    read(store, files, path)
    assert said(read(store, files, copy)) == ["one", "two", "three"]
    other = read(store, files, write(path, lines("one", "two", "四")))
    assert said(other) == ["one", "two", "四"]
    assert len(files.list_ids()) == 2


def test_the_second_half_of_a_key_is_masked_also_when_it_comes_later(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", lines(f"the first half is {GITHUB[:20]}"))
    read(store, files, path)
    assert files.marks == []
    write(path, [*lines(f"the first half is {GITHUB[:20]}"), human(GITHUB[20:], "u2")])
    captured = read(store, files, path)
    assert GITHUB[20:] not in json.dumps(said(captured))


def test_a_line_that_may_still_be_written_is_read_again(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", lines("one"))
    read(store, files, path)
    whole = path.read_bytes() + json.dumps(human("two", "u2")).encode()
    for end in (len(whole) - 5, len(whole)):
        path.write_bytes(whole[:end])
        captured = read(store, files, path)
    path.write_bytes(whole + b"\n")
    assert said(read(store, files, path)) == said(captured) == ["one", "two"]


def test_a_mark_holds_nothing_that_was_said_or_masked(
    store: Store, files: Watched, tmp_path: Path
) -> None:
    odd = {"type": GITHUB, "sessionId": "client-1"}
    path = write(tmp_path / "s.jsonl", [*lines("my secret plan"), odd])
    read(store, files, path)
    (mark,) = files.marks
    text = mark.read_text(encoding="utf-8")
    for word in (GITHUB[4:], "secret plan", "client-1", "s.jsonl"):
        assert word not in text
    assert mark.stat().st_mode & 0o077 == 0


def test_a_short_file_gets_no_mark(store: Store, files: Watched, tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [human("one")])
    read(store, files, path)
    assert files.marks == []


_STEP = st.sampled_from(["grow", "grow", "grow", "break", "mend", "fork", "compact", "cut"])


@given(st.lists(st.tuples(_STEP, st.integers(0, 3), st.booleans()), min_size=1, max_size=8))
def test_whatever_a_client_does_to_its_file_each_message_is_new_once(
    store: Store,
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, bool]],
) -> None:
    """Grown, with broken and mended lines, forked, compacted and cut, and read after each step;
    at times the mark that a reading leaves is lost, or is that of the reading before."""
    root = tmp_path_factory.mktemp("s")
    files = Watched(root / "sessions")
    lines, broken, session = [0], set[int](), 1
    total, found, seen, old = 1, list[str](), set[str](), dict[Path, bytes]()
    for step, number, killed in steps:
        if step == "grow":
            lines += range(total, total + number)
            total += number
        elif step == "break" and lines:
            broken.add(lines[number % len(lines)])
        elif step == "mend":
            broken.clear()
        elif step == "fork":
            session += 1
        elif step == "compact":
            lines = lines[number:]
        shown = [
            "{broken"
            if n in broken
            else json.dumps(human(f"第 {n} 句", f"u{n}", sessionId=f"{session}"))
            for n in lines
        ]
        cut = step == "cut" and bool(lines)
        if cut:
            shown[-1] = shown[-1][:-3]
        begin = json.dumps(human("begin", "u", sessionId=f"{session}"))
        path = write(root / "s.jsonl", [LONG, begin, *shown], end="" if cut else "\n")
        captured = read(store, files, path)
        for message in captured.session.messages[captured.new_from :]:
            if message.index not in captured.read_before:
                found.append(message.parts[0].text)
        files.mark_consumed(captured.session.id, len(captured.session.messages), None, AT)
        seen |= {f"第 {n} 句" for n in (lines[:-1] if cut else lines) if n not in broken}
        left = {mark: mark.read_bytes() for mark in files.marks}
        for mark in left if killed else ():
            mark.write_bytes(old.get(mark, b""))
        old = left
    assert sorted(found) == sorted({"begin", *seen})
