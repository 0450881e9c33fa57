"""Every command of gitmem with calls that succeed, in one memory that has a past."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
}


@dataclass(frozen=True)
class Ids:
    """The ids of the prepared memory's proposals, by what they are there for."""

    open: str
    refusable: str
    stale: str
    merged: str
    kept: str


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
        return Ids(proposed("db-choice"), proposed("deploy-day"), stale, merged, kept)


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
        ["proposals"],
        ["proposals", "--kept"],
        ["diff", ids.open],
        ["diff", ids.open, "--patch"],
        ["policy", "show"],
        ["fsck"],
        ["hooks", "status"],
        ["completion", "bash"],
    ]


def writes(ids: Ids, folder: Path) -> list[list[str]]:
    """Calls that change the memory, each after the other; their input lies in ``folder``."""
    folder.mkdir(exist_ok=True)
    chat, change = folder / "chat.json", folder / "change.json"
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
        ["rebase", ids.stale],
        ["revert", ids.merged, "--yes"],
        ["reopen", ids.kept],
        ["edit", "use-tabs", "--body=Use tabs of width 8.", "--yes"],
        ["forget", "brief", "--yes"],
        ["policy", "set", "daily_proposals", "30", "--yes"],
        ["fsck", "--repair"],
        ["hooks", "install", "git"],
    ]


#: ``init`` makes a memory; what it does to what is there has tests of its own.
MAKES_A_STORE = {"init"}


@contextlib.contextmanager
def _streams() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    out, err = io.BytesIO(), io.BytesIO()
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def call(store: Path, *args: str) -> Done:
    """Run a command line in this process, on ``store``; nobody is at a terminal."""
    with _streams() as (out, err):
        code = main(["--store", str(store), *args])
        return Done(code, out.getvalue().decode("utf-8"), err.getvalue().decode("utf-8"))
