"""Speed as ratios of one run on one machine. Usage: python benchmarks/run.py [--json FILE]

Every figure compares two things that were timed in turn in the same run, so a busy machine
changes both. The limits are those that CI-less releases are held to; the exit status says
whether they were kept.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from stores import START, build, put

from gitmem.domain.layout import MAIN
from gitmem.domain.objects import Identity
from gitmem.repo import NewCommit, RefUpdate
from gitmem.repo.publish import move_refs
from gitmem.repo.writer import write_commits
from gitmem.store import Store

ROUNDS = 15
SIZES = (100, 1_000, 10_000)


def timed(action: Callable[[], object]) -> float:
    """Milliseconds that ``action`` takes."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


class Merges:
    """Merges of one record each in a store of some size, and the same objects by hand.

    Without ``checked_out`` the store has no work tree to bring along, as a bare one.
    """

    def __init__(self, folder: Path, records: int, *, checked_out: bool = True) -> None:
        name = f"{records}-{'files' if checked_out else 'bare'}"
        self.store = build(folder / f"store-{name}", records)
        self.next = records
        self.hand = folder / f"hand-{name}" if checked_out else None
        if self.hand is None:
            # As after clone --no-checkout: no file of main, and no index of them.
            self.git("rm", "-r", "-q", "--", ".")
            (self.store.repo.git_dir / "index").unlink()
        else:
            self.git("worktree", "add", "-q", "--detach", str(self.hand), MAIN)

    def git(self, *args: str, folder: Path | None = None) -> None:
        """Run plain git in the store, or in ``folder``."""
        root = folder or self.store.repo.root
        subprocess.run(["git", "-C", str(root), *args], check=True, capture_output=True)

    def propose(self) -> str:
        """Put one approved proposal and return its id."""
        self.next += 1
        return put(self.store, range(self.next, self.next + 1), self.next).proposal.id

    def merge(self) -> float:
        """Time one merge."""
        proposal = self.propose()
        return timed(lambda: self.store.merge(proposal))

    def by_hand(self) -> float:
        """Time the objects of the last merge written by hand, and a checkout that follows."""
        repo = self.store.repo
        tip = repo.read_ref(MAIN) or ""
        commit = repo.reader.commit(tip)
        changes: dict[str, bytes | str | None] = {}
        first = repo.reader.commit(commit.parents[0]).tree
        for path in repo.changed_paths(first, commit.tree):
            fresh = path.path in ("manifest.json", "MEMORY.md") and path.new_oid
            # A byte more makes the objects new ones, of the same size.
            changes[path.path] = (
                repo.reader.blob(path.new_oid) + b" " if fresh and path.new_oid else path.new_oid
            )
        who = commit_identity()
        again = NewCommit(commit.parents, commit.message, who, who, changes, first)
        ref = "refs/heads/by-hand"
        old = repo.read_ref(ref)
        before = repo.read_ref("refs/heads/hand-at") or ""
        if self.hand and not before:
            self.git("update-ref", "refs/heads/hand-at", "HEAD", folder=self.hand)
            before = repo.read_ref("refs/heads/hand-at") or ""

        def write() -> None:
            oids, refs = write_commits(repo.runner, [again])
            move_refs(repo.runner, [RefUpdate(ref, oids[-1], old)], refs)
            if self.hand:
                self.git("read-tree", "-m", "-u", before, oids[-1], folder=self.hand)

        spent = timed(write)
        if self.hand:
            self.git("update-ref", "refs/heads/hand-at", ref)
        return spent


def commit_identity() -> tuple[Identity, int]:
    """Somebody, at some time that differs from call to call."""
    return Identity("by hand", "hand@example.org"), START + time.monotonic_ns() % 10**8


def reading(folder: Path, store: Store) -> dict[str, float]:
    """Fresh processes: list, show and search against Python's start plus one git's."""
    root = str(store.repo.root)
    store.close()
    gitmem = [sys.executable, "-m", "gitmem", "--store", root]
    commands = {
        "list": [*gitmem, "list"],
        "show": [*gitmem, "show", "module-500"],
        "search": [*gitmem, "search", "数据库 migration setting"],
        "python": [sys.executable, "-c", "pass"],
        "git": ["git", "-C", root, "rev-parse", "HEAD"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            times[name].append(
                timed(lambda c=command: subprocess.run(c, check=True, capture_output=True))
            )
    return {name: statistics.median(found) for name, found in times.items()}


def measure(folder: Path) -> dict[str, object]:
    """Run everything and return the figures."""
    alone = {size: Merges(folder, size, checked_out=False) for size in SIZES}
    files = {size: Merges(folder, size) for size in SIZES[1:]}
    times: dict[str, list[float]] = {}

    def note(name: str, spent: float) -> None:
        times.setdefault(name, []).append(spent)

    for _ in range(ROUNDS):
        for size, merges in alone.items():
            note(f"merge at {size:,} records", merges.merge())
        note("by hand at 1,000 records", alone[1_000].by_hand())
        for size, merges in files.items():
            note(f"merge and checkout at {size:,} records", merges.merge())
            note(f"merge and checkout by hand at {size:,} records", merges.by_hand())
    ms = {name: statistics.median(spent) for name, spent in times.items()}
    ms.update(reading(folder, files[1_000].store))
    floor = ms["python"] + ms["git"]
    ratios = {
        "merge at 1,000 records / by hand": (
            ms["merge at 1,000 records"] / ms["by hand at 1,000 records"],
            2.5,
        ),
        "merge at 1,000 records / at 100": (
            ms["merge at 1,000 records"] / ms["merge at 100 records"],
            2.0,
        ),
        "merge at 10,000 records / at 100": (
            ms["merge at 10,000 records"] / ms["merge at 100 records"],
            2.0,
        ),
    }
    for size in SIZES[1:]:
        name = f"{size:,} records"
        ratios[f"merge and checkout at {name} / by hand"] = (
            ms[f"merge and checkout at {name}"] / ms[f"merge and checkout by hand at {name}"],
            2.5,
        )
    for name in ("list", "show", "search"):
        ratios[f"{name} at 1,000 records / python + git"] = (ms[name] / floor, 5.0)
    return {
        "python": platform.python_version(),
        "git": subprocess.run(["git", "version"], capture_output=True, text=True).stdout.strip(),
        "milliseconds": {name: round(spent, 2) for name, spent in ms.items()},
        "ratios": {name: {"is": round(r, 2), "limit": m} for name, (r, m) in ratios.items()},
    }


def main() -> int:
    """Measure, print, keep; 1 when a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("results.json"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    args.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n")
    broken = 0
    for name, figure in figures["ratios"].items():  # type: ignore[attr-defined]
        kept = figure["is"] <= figure["limit"]
        broken += not kept
        verdict = "" if kept else "  BROKEN"
        print(f"{name:45} {figure['is']:6.2f}   limit {figure['limit']}{verdict}")
    print(f"kept in {args.json}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
