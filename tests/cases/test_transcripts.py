"""Session files in every shape that was ever found on a disk, read by ``gitmem extract``."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cases.calls import call
from tests.cases.conftest import Project
from tests.cli.harness import Done
from tests.memory.words import private_files
from tests.transcripts.lines import agent, answer, human, text, write
from tests.transcripts.lines import call as tool_call

TABS = "I prefer tabs over spaces in every file."
FRIDAY = "数据库迁移必须先备份，因为去年升级时丢过一次数据。"
PORT = "The port is 8081."
NOBODYS = "the user prefers"
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}


def said_by_nobody(what: str) -> str:
    return f"Remember: {NOBODYS} {what}."


# Each line with what becomes of it; a line is counted once.
SHAPES: list[tuple[Any, str]] = [
    (human(TABS, "u1"), "used: person"),
    (human(None, "u2"), "ignored: empty"),
    (human([], "u3"), "ignored: empty"),
    (human("", "u4"), "ignored: empty"),
    (human(" \n", "u4b"), "ignored: empty"),
    (answer([text(said_by_nobody("spaces")), IMAGE], uuid="u5"), "used: tool"),
    (answer(said_by_nobody("red"), uuid="u6"), "used: tool"),
    (answer(None, uuid="u7"), "ignored: empty"),
    (
        agent({"type": "thinking", "thinking": said_by_nobody("blue")}, text("Noted, tabs.")),
        "used: assistant",
    ),
    (agent({"type": "redacted_thinking", "data": "AAAA"}, uuid="a2"), "ignored: "),
    (human(said_by_nobody("Mondays"), "u8", isSidechain=True), "used: subagent"),
    (human(said_by_nobody("green"), "u9", isCompactSummary=True), "ignored: injected"),
    (human(f"<command-name>{NOBODYS}</command-name>", "u10", isMeta=True), "ignored: injected"),
    (agent(text(said_by_nobody("529")), uuid="a3", isApiErrorMessage=True), "ignored: injected"),
    (human([IMAGE], "u10b"), "ignored: not text"),
    ({"type": "summary", "summary": said_by_nobody("x"), "leafUuid": "u1"}, "ignored: summary"),
    ({"type": "brand-new-type", "x": said_by_nobody("y")}, "ignored: line of the unknown type"),
    ("[]", "refused: "),
    ("null", "refused: "),
    ("12", "refused: "),
    (f'"{said_by_nobody("z")}"', "refused: "),
    (human([{"type": "text", "text": FRIDAY}], "u11"), "used: person"),
    ('{"type":"user","uuid":"u12","mess', "refused: "),
]  # fmt: skip


def extract(store: Path, path: Path, *, code: int = 0) -> dict[str, Any]:
    done: Done = call(store, "extract", str(path), "--json")
    assert (done.code, "Traceback" in done.err) == (code, False), done
    result: dict[str, Any] = done.json
    return result


def quotes(store: Path, result: dict[str, Any]) -> set[str]:
    if result["proposal"] is None:
        return set()
    shown = call(store, "diff", result["proposal"], "--json").json
    return {quote["quote"] for record in shown["diff"] for quote in record["quotes"]}


def test_each_line_of_a_session_file_is_what_its_channel_says_and_counted_once(
    project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path / "s.jsonl", [line for line, _ in SHAPES], end="")
    result = extract(project.store, path)
    assert sum(result["counts"].values()) == len(SHAPES), result["counts"]
    for kind, expected in Counter(kind for _, kind in SHAPES).items():
        found = sum(n for reason, n in result["counts"].items() if reason.startswith(kind))
        if kind == "ignored: ":  # a part that says why in words of its own
            assert found >= expected, result["counts"]
        else:
            assert found == expected, (kind, result["counts"])
    assert quotes(project.store, result) == {TABS, FRIDAY}
    assert NOBODYS not in json.dumps(result["records"])
    shown = call(project.store, "extract", str(path))
    assert f"{len(SHAPES)} parts" in shown.out and shown.code == 0


@pytest.mark.parametrize(
    ("broken", "stays"),
    [
        (rb"\ud83d", "\ufffd"),
        (rb"\ude00\ud83d", "\ufffd"),
        (b"\xe9", "\ufffd"),
        (b"\xed\xa0\xbd", "\ufffd"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\\u0000", None),
        (b"\x00" * 4096, None),
        (rb"\u001b[2J", None),
    ],
    ids=["half", "swapped", "latin-1", "cesu-8", "cut", "nul", "nul run", "escape"],
)
def test_a_broken_character_costs_itself_and_no_other_message(
    project: Project, tmp_path: Path, broken: bytes, stays: str | None
) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(human("Hello @@ there.", "u1")), json.dumps(human(PORT, "u2"))]
    path.write_bytes("\n".join(lines).encode().replace(b"@@", broken) + b"\n")
    result = extract(project.store, path)
    assert quotes(project.store, result) == {PORT}
    assert sum(result["counts"].values()) == 2
    kept = private_files(project.store)[f".git/gitmem/sessions/{result['session']}.jsonl"]
    assert all(json.loads(line) for line in kept.decode("utf-8").splitlines())
    assert stays is None or json.dumps(stays).strip('"') in kept.decode() or stays in kept.decode()
    assert b"\x1b" not in kept and b"\\u001b[2J" not in kept
    assert extract(project.store, path)["proposal"] is None, "the same again is nothing new"


def test_a_file_that_grows_by_pieces_gives_each_thing_once(
    project: Project, tmp_path: Path
) -> None:
    """Cut inside a line, inside a character, before the line's end; then a run of NUL bytes."""
    path = write(
        tmp_path / "s.jsonl", [human(TABS, "u1"), human(FRIDAY, "u2"), human(PORT, "u3")], end=""
    )
    whole = path.read_bytes()
    inside = whole.index("先".encode()) + 1
    found: list[str] = []
    for end in (whole.index(b"\n") + 20, inside, len(whole) - 5, len(whole)):
        path.write_bytes(whole[:end])
        found += quotes(project.store, extract(project.store, path))
    path.write_bytes(whole + b"\n" + b"\0" * 8192 + b"\n")
    found += quotes(project.store, extract(project.store, path))
    assert found == [TABS, FRIDAY, PORT]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no-such.jsonl"),
        (b"", "empty"),
        (b"\0" * 4096, ""),
        (b"\n\n\n", ""),
        (b'{"type":"summary","summary":"x"}\n', "no message"),
    ],
    ids=["missing", "empty", "nul", "blank", "summary"],
)
def test_a_file_with_nothing_in_it_is_never_just_nothing_to_remember(
    project: Project, tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "no-such.jsonl"
    if content is not None:
        path.write_bytes(content)
    done = call(project.store, "extract", str(path))
    assert done.code == 1 and done.err.startswith("error: "), done
    assert says in done.err and "no-such.jsonl" in done.err, done


def test_a_session_that_gitmem_itself_made_by_its_commands_gives_nothing(
    project: Project, tmp_path: Path
) -> None:
    """What an agent did with gitmem alone; and each such file is read in vain only once."""
    store = project.store
    shown = call(store, "show", "use-tabs").out
    lines = [
        human("<bash-input>gitmem list</bash-input>", "u1"),
        answer(f"<bash-stdout>{shown}</bash-stdout>", uuid="u2"),
        agent(tool_call("gitmem show use-tabs"), uuid="a1"),
        answer(shown, uuid="u3"),
        agent(text("Use tabs, not spaces, everywhere."), uuid="a2"),
    ]
    path = write(tmp_path / "own.jsonl", lines)
    for _ in range(2):
        result = extract(store, path)
        assert result["proposal"] is None
        assert "own session" in json.dumps(result["dropped"])
        assert sum(result["counts"].values()) == len(lines)


def test_a_line_past_the_limit_is_counted_with_its_limit_and_what_follows_is_used(
    project: Project, tmp_path: Path
) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(json.dumps(human(TABS, "u1")).encode() + b'\n{"type":"user","x":"')
        file.seek(70_000_000, os.SEEK_CUR)
        file.write(b'"}\n' + json.dumps(human(PORT, "u2")).encode())
    result = extract(project.store, path)
    assert quotes(project.store, result) == {TABS, PORT}
    (reason,) = [reason for reason in result["counts"] if reason.startswith("refused: ")]
    assert "line 2" in reason and any(unit in reason for unit in ("MB", "MiB", "bytes")), reason
    again = extract(project.store, path)
    assert (again["proposal"], again["dropped"]) == (None, [])
