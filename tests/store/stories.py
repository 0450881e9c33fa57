"""A small memory with a past, and a person with plain git who does as they like with it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.domain.verify import plan_merge
from gitmem.errors import GitmemError
from gitmem.store import Store
from gitmem.store.folding import Prepared

ADA = "Ada <ada@example.org>"
BEN = "本 <ben@example.org>"
NOW = 1_790_000_000
QUOTE = "我们的数据库用 PostgreSQL 16，别用 MySQL。"
MAIN = "refs/heads/main"
FILE = "100644"

Entry = tuple[str, str]


def clock() -> float:
    return NOW


def opened(root: Path) -> MemoryStore:
    return MemoryStore.open(root, clock=clock)


def change_set(name: str, text: str, *, record_type: str = "project") -> dict[str, Any]:
    """A change set with one record that is quoted whole."""
    return {
        "kind": "extract",
        "messages": [{"role": "user", "content": text}],
        "records": [
            {
                "name": name,
                "type": record_type,
                "description": text[:60],
                "body": text,
                "evidence": [{"message": 0, "quote": text}],
            }
        ],
    }


def propose(root: Path, name: str, text: str) -> str:
    with opened(root) as memory:
        proposal = memory.propose(change_set(name, text)).proposal
    assert proposal
    return proposal


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("template") / "memory"
    with MemoryStore.init(root, clock=clock) as memory:
        memory.remember(
            "Use tabs, not spaces, for indentation.",
            name="use-tabs",
            type="user",
            description="User prefers tabs",
            person=ADA,
        )
    return root, propose(root, "db-postgres", QUOTE)


@pytest.fixture
def root(_template: tuple[Path, str], tmp_path: Path) -> Path:
    """A memory that holds use-tabs, with one open proposal: to add db-postgres."""
    return copy(_template[0], tmp_path / "memory")


@pytest.fixture
def proposal(_template: tuple[Path, str]) -> str:
    """The id of the open proposal."""
    return _template[1]


def copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, symlinks=True)
    plain(target, "update-index", "-q", "--refresh")
    return target


# --- what is remembered ----------------------------------------------------------------------


def remembered(root: Path) -> dict[str, str]:
    """Every record's name and whole content, as a reader gets them."""
    with opened(root) as memory:
        return {line.name: f"{memory.show(line.name).to_json()}" for line in memory.list()}


def names(root: Path) -> list[str]:
    with opened(root) as memory:
        return [line.name for line in memory.list()]


def assert_stray(root: Path, oid: str, before: Mapping[str, str]) -> str:
    """``oid`` is on main and no memory: reads are as before, and it is named. Its reason."""
    with opened(root) as memory:
        found = {line.name: f"{memory.show(line.name).to_json()}" for line in memory.list()}
        assert found == before
        assert any("stray" in note for note in memory.notes)
        assert oid in memory.status().strays
        report = memory.fsck()
        reason = next(entry.reason for entry in memory.log() if entry.commit == oid)
    assert not report.ok
    (problem,) = [problem for problem in report.problems if problem.where == oid]
    assert reason and reason in problem.what
    assert problem.fix
    return reason


def fsck(root: Path) -> list[str]:
    """What is wrong, by a process that has the memory to itself."""
    with opened(root) as memory:
        return [f"{problem.where}: {problem.what}" for problem in memory.fsck().problems]


# --- plain git -------------------------------------------------------------------------------


def plain(root: Path, *args: str, stdin: str | bytes = b"", **env: str) -> str:
    """Plain git, as Eve; the test fails where git does."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in EVE}
    done = subprocess.run(
        ["git", *args],
        cwd=root,
        env={**os.environ, **who, **env},
        input=stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, f"git {args}: {done.stderr.decode('utf-8', 'replace')}"
    return done.stdout.decode("utf-8", "surrogateescape").strip()


EVE = (("NAME", "Eve"), ("EMAIL", "eve@example.org"))


def rev(root: Path, name: str) -> str:
    return plain(root, "rev-parse", "--verify", name)


def blob(root: Path, data: bytes) -> str:
    return plain(root, "hash-object", "-w", "--stdin", stdin=data)


def files(root: Path, tree: str) -> dict[str, Entry]:
    """Every file of a tree: path -> (mode, id)."""
    listed = plain(root, "ls-tree", "-r", "-z", "--full-tree", tree).rstrip("\0")
    found = {}
    for line in listed.split("\0"):
        head, _, path = line.partition("\t")
        mode, _, oid = head.split(" ")
        found[path] = (mode, oid)
    return found


def tree_with(root: Path, tree: str, changes: Mapping[str, Entry | None]) -> str:
    """The tree with these files put in (mode, id) or taken out."""
    index = str(root.parent / "forger.index")
    lines = "".join(
        f"{entry[0]} {entry[1]}\t{path}\0" if entry else f"0 {'0' * 40}\t{path}\0"
        for path, entry in changes.items()
    )
    plain(root, "read-tree", tree, GIT_INDEX_FILE=index)
    plain(root, "update-index", "-z", "--index-info", stdin=lines, GIT_INDEX_FILE=index)
    return plain(root, "write-tree", GIT_INDEX_FILE=index)


def commit_object(root: Path, text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return plain(root, "hash-object", "-t", "commit", "-w", "--stdin", stdin=data)


def commit_text(root: Path, name: str) -> str:
    """A commit object's bytes as text."""
    done = subprocess.run(
        ["git", "cat-file", "commit", name], cwd=root, capture_output=True, check=True
    )
    return done.stdout.decode("utf-8")


def set_main(root: Path, oid: str) -> None:
    """Move main and what is checked out, as ``git reset --hard`` does."""
    plain(root, "update-ref", MAIN, oid)
    plain(root, "read-tree", "--reset", oid)


def approved(root: Path, proposal: str, twin: Path) -> str:
    """Approve and merge in a copy of the memory; bring the objects here, but not on main."""
    copy(root, twin)
    with opened(twin) as memory:
        merge = memory.approve(proposal, person=ADA).commit
    plain(root, "fetch", "-q", str(twin), f"{MAIN}:refs/forger/merge")
    return merge


def forged_merge(root: Path, tip: str) -> str:
    """Write the merge of ``tip`` that gitmem would make if it had not decided it before."""
    store = Store.open(root)
    try:
        head = store.head()
        branch = store.facts.branch(tip)
        ground = replace(store.ledger.ground_for(head, branch), decided=None)
        plan = plan_merge(ground, branch, head.tip, head.strays)
        with store.projection.trial():
            planned, _ = store.ledger._planned(Prepared(plan, ground.policy, ground.tree, branch))
        with store.repo.lock():
            store._write_planned(planned, ground.tree)
            plain(root, "update-ref", "refs/forger/merge", planned.oid)
            store.repo.publish([])
        return planned.oid
    finally:
        store.close()


def refused(call: Callable[[], object]) -> GitmemError:
    with pytest.raises(GitmemError) as caught:
        call()
    return caught.value
