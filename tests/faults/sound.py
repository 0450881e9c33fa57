"""What must hold of a memory after something went wrong in it, and how it goes on."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from gitmem import MemoryStore
from tests.faults.machine import Ended, Machine
from tests.faults.operations import Operation, Run
from tests.memory.words import ADA, BEN
from tests.store.stories import plain

_OWN_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{32}\.tmp")
_READ = ("MEMORY.md", "manifest.json")


@dataclass(frozen=True)
class Before:
    """Where main was, and what it held."""

    main: str
    parent: str


def before(run: Run) -> Before:
    """Look at the memory before the operation."""
    if not (run.root / ".git").exists():
        return Before("", "")
    main, parent = plain(run.root, "rev-parse", "refs/heads/main", "refs/heads/main~1").split()
    return Before(main, parent)


def main_of(run: Run) -> str | None:
    """The commit that main names; None where there is none."""
    done = subprocess.run(
        ["git", "rev-parse", "--verify", "-q", "refs/heads/main^{commit}"],
        cwd=run.root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or None


def assert_sound_git(run: Run, operation: Operation, was: Before, told: str) -> None:
    """Main is the old or the new one and never between, and git finds nothing broken."""
    if not run.root.exists():  # init, which may have been cut off before its first effect
        assert not was.main, told
        return
    main = main_of(run)
    if not was.main:  # init, which may have been cut off before there was a main
        assert main is None or plain(run.root, "rev-list", "--count", main) == "1", told
        return
    assert main, f"{told}: main does not resolve"
    allowed = {was.main, was.parent} if operation.back else set()
    chain = plain(run.root, "rev-list", "--first-parent", f"-n{operation.mains + 1}", main)
    assert main in allowed or was.main in chain.split(), f"{told}: main is at {main}"
    plain(run.root, "fsck", "--strict", "--no-dangling", "--no-progress")


def left_over(run: Run) -> dict[str, set[str]]:
    """What a writer that died has left below the git directory: kind -> names."""
    git_dir = run.root / ".git"
    found: dict[str, set[str]] = {"lock": set(), "temporary": set(), "note": set()}
    for folder, folders, names in os.walk(run.below):
        for name in [*names, *(name for name in folders if name == "no-files")]:
            path = Path(folder, name)
            is_lock = name.endswith((".lock", ".keep")) or name == "packed-refs.new"
            if is_lock and git_dir in path.parents:
                found["lock"].add(path.relative_to(git_dir).as_posix())
            elif _OWN_TEMPORARY.fullmatch(name) or name == "no-files":
                found["temporary"].add(path.relative_to(run.below).as_posix())
            elif name in ("worktree-at", "under-way"):
                found["note"].add(path.relative_to(run.below).as_posix())
    found["inflight"] = set(plain(run.root, "for-each-ref", "refs/gitmem/inflight").splitlines())
    return found


def goes_on(machine: Machine, run: Run, operation: Operation, ended: Ended, told: str) -> None:
    """The next command heals and says so; the operation can be done again; all is whole then."""
    if not run.root.exists() or main_of(run) is None:  # an init that was cut off
        again = machine.run(run.below, operation.argv(run))
        assert again.code == 0, f"{told}: {again.err}"
    left = left_over(run)
    with MemoryStore.open(run.root) as memory:
        if ended.code == 0:
            assert operation.done(memory, run.ids), f"{told}: acknowledged, and not there"
        memory.status()
        done = operation.done(memory, run.ids)
        memory.remember("接着干。And now it goes on.", name="goes-on", type="project", person=BEN)
        notes = "\n".join(memory.notes)
    for name in left["lock"]:
        assert name in notes, f"{told}: left {name} and did not say so: {notes!r}"
    if not done:
        again = machine.run(run.below, (operation.again or operation.argv)(run))
        assert again.code == 0, f"{told}: again: {again.out} {again.err}"
    with MemoryStore.open(run.root) as memory:
        assert operation.done(memory, run.ids), f"{told}: done again, and not there"
        _one_more(memory, told)
        assert {"goes-on"} <= {line.name for line in memory.list()}, told
        problems = memory.fsck().problems
        assert not problems, f"{told}: {problems}"
    assert_whole(run, operation, told)


def _one_more(memory: MemoryStore, told: str) -> None:
    """A proposal that was open before is approved."""
    waiting = [line for line in memory.proposals() if line.state == "open"]
    for line in waiting[:1]:
        assert memory.approve(line.id, person=ADA).state == "merged", told


def assert_whole(run: Run, operation: Operation, told: str) -> None:
    """Nothing is left over, and the files are main's."""
    left = {kind: names for kind, names in left_over(run).items() if names}
    assert not left, f"{told}: left for ever: {left}"
    status = plain(run.files, "status", "--porcelain", "--untracked-files=all")
    expected = "" if "adopt" in told and not status else operation.status
    assert status == expected.strip(), f"{told}: {status}"
    for name in _READ:
        held = plain(run.root, "show", f"refs/heads/main:{name}")
        assert (run.files / name).read_text("utf-8").strip() == held, f"{told}: {name}"
    plain(run.root, "fsck", "--strict", "--no-dangling", "--no-progress")
