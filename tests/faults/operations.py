"""What is interrupted: each operation that writes, on a memory with a past that fits it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitmem import MemoryStore
from tests.memory.words import ADA, BEN, change_set, item, user
from tests.store.stories import copy, plain

SAID = {
    "db-choice": "我们的数据库用 PostgreSQL 16，别用 MySQL。",
    "deploy-day": "We deploy on Tuesdays, because support is there.",
    "old-port": "The staging server listens on port 8081.",
    "ci-host": "The build machine is called 小雨 and stands in Dalian.",
    "log-level": "Production logs warnings and errors only.",
    "cloud": "用户服务器部署在腾讯云国内节点。",
}
NEW = "Always write commit messages in English."
EDITED = Path("records", "user", "language.md")
PACKS = 49
"""Packs in the memory whose next merge packs it anew."""


@dataclass(frozen=True)
class Ids:
    """The proposals of the prepared memory, by what they are there for."""

    one: str
    two: str
    stale: str
    merged: str
    kept: str


@dataclass(frozen=True)
class Run:
    """A copy of the memory, with the folder that it stands in; both are the run's own."""

    below: Path
    ids: Ids

    @property
    def root(self) -> Path:
        return self.below / "memory"

    @property
    def linked(self) -> Path:
        return self.below / "linked"

    @property
    def files(self) -> Path:
        """The files that are checked out from main."""
        return self.linked if self.linked.exists() else self.root


def _nothing(run: Run) -> None:
    """The memory is as it was made."""


@dataclass(frozen=True)
class Operation:
    """A command line, what comes before it, and how to see that it has happened.

    ``mains``: how often main may move; ``back``: it goes back to the commit before.
    ``status``: what ``git status`` says afterwards about the person's own edits. ``again``: what
    a person types when it was cut off, where that is something else.
    """

    argv: Callable[[Run], list[str]]
    done: Callable[[MemoryStore, Ids], bool]
    prepare: Callable[[Run], None] = _nothing
    mains: int = 1
    back: bool = False
    status: str = ""
    again: Callable[[Run], list[str]] | None = None


def _change(*names: str, **other: str) -> dict[str, object]:
    records = [
        item(SAID[name], n, name=name, body=SAID[name], description=SAID[name], **other)
        for n, name in enumerate(names)
    ]
    return change_set([user(SAID[name]) for name in names], *records)


def build(root: Path) -> Ids:
    """Make a memory: three facts, a merged, a rejected, a stale and two open proposals."""
    with MemoryStore.init(root) as memory:
        memory.remember("说中文。", name="language", type="user", person=BEN)
        memory.remember("Use tabs, not spaces.", name="use-tabs", type="user", person=ADA)

        def proposed(*names: str) -> str:
            proposal = memory.propose(_change(*names)).proposal
            assert proposal
            return proposal

        merged, kept = proposed("old-port"), proposed("log-level")
        memory.approve(merged, person=ADA)
        memory.reject(kept, reason="not for good 不长久", person=ADA)
        revised = "We use tabs of width four, not spaces."
        change = item(revised, name="use-tabs", body=revised, type="user")
        stale = memory.propose(change_set([user(revised)], change)).proposal
        assert stale
        memory.edit("use-tabs", body="Use tabs, not spaces, everywhere.", person=ADA)
        return Ids(proposed("db-choice"), proposed("deploy-day", "cloud"), stale, merged, kept)


def prepared(template: tuple[Path, Ids], below: Path, operation: Operation) -> Run:
    """Copy the memory to below a folder of its own, and do what comes before the operation."""
    below.mkdir(parents=True)
    run = Run(below, template[1])
    copy(template[0], run.root)
    operation.prepare(run)
    return run


# --- before it -------------------------------------------------------------------------------


def _change_file(run: Run) -> None:
    change = json.dumps(_change("ci-host"), ensure_ascii=False)
    (run.below.parent / f"{run.below.name}.json").write_text(change, encoding="utf-8")


def _chat(run: Run) -> None:
    chat = json.dumps([user(NEW)], ensure_ascii=False)
    (run.below.parent / f"{run.below.name}.json").write_text(chat, encoding="utf-8")


def _input(run: Run) -> str:
    return str(run.below.parent / f"{run.below.name}.json")


def _edit(run: Run) -> None:
    file = run.root / EDITED
    file.write_text(file.read_text("utf-8").replace("说中文", "说英文"), encoding="utf-8")


def _link(run: Run) -> None:
    plain(run.root, "checkout", "-q", "--detach")
    plain(run.root, "worktree", "add", "-q", str(run.linked), "main")


def _stray(run: Run) -> None:
    plain(run.root, "commit", "-q", "--allow-empty", "-m", "a stray")


def _set_back(run: Run) -> None:
    with MemoryStore.open(run.root) as memory:
        memory.status()  # so that main was seen where it was
    plain(run.root, "reset", "-q", "--hard", "main~1")


def _another_way(run: Run) -> None:
    _set_back(run)
    with MemoryStore.open(run.root) as memory:
        memory.remember("Answer briefly.", name="brief", type="user", person=ADA)


def _many_packs(run: Run) -> None:
    pack = run.root / ".git" / "objects" / "pack" / "pack"
    for number in range(PACKS):
        oid = plain(run.root, "hash-object", "-w", "--stdin", stdin=f"{number}\n")
        plain(run.root, "pack-objects", "-q", str(pack), stdin=f"{oid}\n")
    plain(run.root, "prune-packed", "-q")


def _no_memory(run: Run) -> None:
    run.root.rename(run.below.parent / f"{run.below.name}.unused")
    plain(run.below, "init", "-q", ".")  # a repository around it, whose exclude file hides it


# --- what it is ------------------------------------------------------------------------------


def _names(memory: MemoryStore) -> set[str]:
    return {line.name for line in memory.list()}


def _open(memory: MemoryStore) -> dict[str, str]:
    """The open proposals: id -> state."""
    return {line.id: line.state for line in memory.proposals()}


def _proposes(memory: MemoryStore, name: str, kind: str = "") -> bool:
    return any(
        name in [record.name for record in line.records] and kind in ("", line.kind)
        for line in memory.proposals()
    )


def _approve_the_part(run: Run) -> list[str]:
    """What was approved may wait as a proposal of its own, the first one being aside."""
    with MemoryStore.open(run.root) as memory:
        names = {line.id: [record.name for record in line.records] for line in memory.proposals()}
    if run.ids.two in names:
        return ["approve", run.ids.two, "--only", "cloud", "--yes"]
    (part,) = [proposal for proposal, said in names.items() if said == ["cloud"]]
    return ["approve", part, "--yes"]


def _on(command: Callable[[Run], list[str]]) -> Callable[[Run], list[str]]:
    return lambda run: ["--store", str(run.root), *command(run)]


OPERATIONS: dict[str, Operation] = {
    "propose": Operation(
        _on(lambda run: ["propose", _input(run)]),
        lambda memory, ids: _proposes(memory, "ci-host"),
        _change_file,
        mains=0,
    ),
    "extract": Operation(
        _on(lambda run: ["extract", _input(run)]),
        lambda memory, ids: _proposes(memory, "always-write-commit-messages-english"),
        _chat,
        mains=0,
    ),
    "approve": Operation(
        _on(lambda run: ["approve", run.ids.one, "--yes"]),
        lambda memory, ids: "db-choice" in _names(memory),
    ),
    "approve beside an edit": Operation(
        _on(lambda run: ["approve", run.ids.one, "--yes"]),
        lambda memory, ids: "db-choice" in _names(memory),
        _edit,
        status=f" M {EDITED.as_posix()}",
    ),
    "approve in a linked work tree": Operation(
        lambda run: ["--store", str(run.linked), "approve", run.ids.one, "--yes"],
        lambda memory, ids: "db-choice" in _names(memory),
        _link,
    ),
    "approve and pack": Operation(
        _on(lambda run: ["approve", run.ids.one, "--yes"]),
        lambda memory, ids: "db-choice" in _names(memory),
        _many_packs,
    ),
    "approve a part": Operation(
        _on(lambda run: ["approve", run.ids.two, "--only", "cloud", "--yes"]),
        lambda memory, ids: "cloud" in _names(memory) and "deploy-day" not in _names(memory),
        again=_on(_approve_the_part),
    ),
    "reject": Operation(
        _on(lambda run: ["reject", run.ids.two, "--reason=太早", "--yes"]),
        lambda memory, ids: ids.two not in _open(memory) and "cloud" not in _names(memory),
    ),
    "revert": Operation(
        _on(lambda run: ["revert", run.ids.merged, "--yes"]),
        lambda memory, ids: "old-port" not in _names(memory),
    ),
    "rebase": Operation(
        _on(lambda run: ["rebase", run.ids.stale]),
        lambda memory, ids: _open(memory).get(ids.stale, "") not in ("", "stale"),
        mains=0,
    ),
    "reopen": Operation(
        _on(lambda run: ["reopen", run.ids.kept]),
        lambda memory, ids: _proposes(memory, "log-level"),
        mains=0,
    ),
    "remember": Operation(
        _on(lambda run: ["remember", NEW, "--name=english", "--type=feedback", "--yes"]),
        lambda memory, ids: "english" in _names(memory),
    ),
    "forget": Operation(
        _on(lambda run: ["forget", "use-tabs", "--yes"]),
        lambda memory, ids: "use-tabs" not in _names(memory),
    ),
    "policy": Operation(
        _on(lambda run: ["policy", "set", "rounds", "3", "--yes"]),
        lambda memory, ids: 'rounds: "3"' in memory.policy().text,
    ),
    "adopt": Operation(
        _on(lambda run: ["adopt", "--yes"]),
        lambda memory, ids: _proposes(memory, "language", "adopt"),
        _edit,
        mains=0,
        status=f" M {EDITED.as_posix()}",
    ),
    "repair a stray": Operation(
        _on(lambda run: ["fsck", "--repair"]),
        lambda memory, ids: not memory.status().strays,
        _stray,
        back=True,
    ),
    "repair main set back": Operation(
        _on(lambda run: ["fsck", "--repair"]),
        lambda memory, ids: "everywhere" in memory.show("use-tabs").body,
        _set_back,
    ),
    "repair main gone another way": Operation(
        _on(lambda run: ["fsck", "--repair"]),
        lambda memory, ids: (
            "everywhere" in memory.show("use-tabs").body and "brief" in _names(memory)
        ),
        _another_way,
    ),
    "init": Operation(
        _on(lambda run: ["init"]),
        lambda memory, ids: memory.fsck().ok,
        _no_memory,
    ),
}
