"""Every command of gitmem with calls that succeed, in one memory that has a past."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gitmem import MemoryStore
from gitmem.cli import main
from tests.cli.harness import ADA, Done
from tests.memory.words import change_set, item, user
from tests.store.stories import plain

SAID = {
    "db-choice": "我们的数据库用 PostgreSQL 16，别用 MySQL。",
    "deploy-day": "We deploy on Tuesdays, because support is there.",
    "old-port": "The staging server listens on port 8081.",
    "ci-host": "The build machine is called 小雨 and stands in Dalian.",
    "log-level": "Production logs warnings and errors only.",
    "office-days": "我们周二和周四在办公室。",
    "lunch-break": "Nobody is called between noon and one.",
}


@dataclass(frozen=True)
class Ids:
    """The ids of the prepared memory's proposals, by what they are there for."""

    open: str
    refusable: str
    stale: str
    merged: str
    kept: str
    pair: str


def build(project: Path) -> Ids:
    """Make ``project``, a repository with one commit, and in it a memory with a past."""
    project.mkdir()
    plain(project, "init", "-q", "-b", "trunk", ".")
    (project / "a.txt").write_text("a\n")
    plain(project, "add", "a.txt")
    plain(project, "commit", "-q", "-m", "begin 开始")
    with MemoryStore.init(project / ".memory") as memory:
        for name, text in (("use-tabs", "Use tabs, not spaces."), ("brief", "Answer briefly.")):
            memory.remember(text, name=name, type="user", description=text, person=ADA)

        def proposed(*names: str, **other: str) -> str:
            messages = [user(SAID[name]) for name in names]
            records = [
                item(SAID[name], n, name=name, body=SAID[name], description=SAID[name], **other)
                for n, name in enumerate(names)
            ]
            result = memory.propose(change_set(messages, *records)).proposal
            assert result
            return result

        merged, kept = proposed("old-port"), proposed("log-level")
        memory.approve(merged, person=ADA)
        memory.reject(kept, reason="not for good 不长久", person=ADA)
        revised = "We use tabs of width four, not spaces."
        change = item(revised, name="use-tabs", body=revised, type="user")
        stale = memory.propose(change_set([user(revised)], change)).proposal
        assert stale
        memory.edit("use-tabs", body="Use tabs, not spaces, everywhere.", person=ADA)
        pair = proposed("office-days", "lunch-break")
        return Ids(proposed("db-choice"), proposed("deploy-day"), stale, merged, kept, pair)


def reads(ids: Ids) -> list[list[str]]:
    """Calls that only look."""
    return [
        [],
        ["status"],
        ["list"],
        ["list", "--json"],
        ["list", "--at", "main~1"],
        ["show", "use-tabs"],
        ["log"],
        ["log", "use-tabs"],
        ["why", "use-tabs"],
        ["search", "制表符 tabs"],
        ["select", "quantum"],  # what it finds is fenced by something random
        ["proposals"],
        ["proposals", "--kept"],
        ["diff", ids.open],
        ["diff", ids.open, "--patch"],
        ["policy", "show"],
        ["policy", "reviewers"],
        ["fsck"],
        ["hooks", "status"],
        ["completion", "bash"],
    ]


def writes(ids: Ids, folder: Path) -> list[list[str]]:
    """Calls that change the memory, each after the other; their input lies in ``folder``.

    What asks for an editor gets :data:`EDITOR`, and a person at a terminal who says yes.
    """
    folder.mkdir(exist_ok=True)
    chat, change = folder / "chat.json", folder / "change.json"
    reviewer = folder / "tone.md"
    reviewer.write_text(REVIEWER, encoding="utf-8")
    said = [user("Always write commit messages in English.")]
    chat.write_text(json.dumps(said), encoding="utf-8")
    text = SAID["ci-host"]
    proposed = change_set([user(text)], item(text, name="ci-host", body=text, description=text))
    change.write_text(json.dumps(proposed, ensure_ascii=False), encoding="utf-8")
    return [
        ["adopt", "--yes"],
        ["remember", "Run the tests before every push.", "--name=run-tests", "--yes"],
        ["extract", str(chat)],
        ["propose", str(change)],
        ["approve", ids.open, "--yes"],
        ["reject", ids.refusable, "--reason=太早", "--yes"],
        ["approve", ids.pair, "--only=office-days", "--yes"],
        ["rebase", ids.stale],
        ["approve", ids.stale, "--edit"],
        ["revert", ids.merged, "--yes"],
        ["reopen", ids.kept],
        ["edit", "use-tabs", "--body=Use tabs of width 8.", "--yes"],
        ["forget", "brief", "--yes"],
        ["policy", "set", "daily_proposals", "30", "--yes"],
        ["policy", "edit"],
        ["policy", "add-reviewer", str(reviewer), "--yes"],
        ["policy", "remove-reviewer", "durability", "--yes"],
        ["fsck", "--repair"],
        ["hooks", "remove", "git"],
        ["hooks", "install", "git"],
    ]


#: ``init`` makes a memory; what it does to what is there has tests of its own.
MAKES_A_STORE = {"init"}

#: These ask a model, and there is none here, or are about models and about no memory at all;
#: tests/cli/test_models.py runs them with one.
NEEDS_A_MODEL = {"review", "consolidate", "config"}

REVIEWER = """---
name: tone
role: reviewer
applies_to: [extract, import]
blocking: false
---

Is it said without contempt? 语气要友好。
"""


#: Rewords the proposal that it is given, and raises a limit of the policy.
EDITOR = "sed -i -e 's/width four/width two 两格/' -e 's/daily_proposals: .*/daily_proposals: 40/'"

#: What the calls above leave to be remembered.
NAMES = {"use-tabs", "db-choice", "run-tests", "office-days"}


@contextlib.contextmanager
def _streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """No input, and everything that is printed."""
    out, err = io.BytesIO(), io.BytesIO()
    with _standing_in(io.BytesIO(), out, err):
        yield out, err


@contextlib.contextmanager
def _terminal() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """A terminal at which somebody says yes to whatever is asked, and an editor."""
    import pty

    out, err = io.BytesIO(), io.BytesIO()
    ours, theirs = pty.openpty()
    reading = threading.Thread(target=_read_all, args=(ours, err))
    os.write(ours, b"y\n" * 8)
    reading.start()
    before = os.environ.get("VISUAL")
    os.environ["VISUAL"] = EDITOR
    try:
        with (
            open(theirs, "rb", buffering=0) as typed,
            open(os.dup(theirs), "wb", buffering=0) as shown,
            _standing_in(io.BufferedReader(typed), out, shown),
        ):
            yield out, err
    finally:
        os.environ.pop("VISUAL")
        if before is not None:
            os.environ["VISUAL"] = before
        reading.join()
        os.close(ours)


def _read_all(terminal: int, into: io.BytesIO) -> None:
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end was closed
            return
        into.write(chunk.replace(b"\r\n", b"\n"))


@contextlib.contextmanager
def _standing_in(typed: BinaryIO, out: BinaryIO, err: BinaryIO) -> Iterator[None]:
    before = sys.stdin, sys.stdout, sys.stderr
    printed = [io.TextIOWrapper(s, encoding="utf-8", write_through=True) for s in (out, err)]
    sys.stdin = io.TextIOWrapper(typed, encoding="utf-8")
    sys.stdout, sys.stderr = printed
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for stream in printed:
            stream.detach()  # it would close what is read afterwards


def call(store: Path, *args: str) -> Done:
    """Run a command line in this process, on ``store``.

    Nobody is at a terminal, unless it asks for an editor.
    """
    edits = "--edit" in args or args[:2] == ("policy", "edit")
    with _terminal() if edits else _streams() as (out, err):
        code = main(["--store", str(store), *args])
    return Done(code, out.getvalue().decode("utf-8"), err.getvalue().decode("utf-8"))
