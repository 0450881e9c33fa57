"""Stores that grow merge by merge: what they cost on disk, to read, to merge into, to verify.

Each write leaves one pack. A geometric repack, once there are fifty, keeps reading as fast as it
was; one store is measured without it.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from clock import Figure, Spent, compared, figure, spent
from stores import empty, git, put, put_each

from gitmem.memory import MemoryStore
from gitmem.store import Store

A_COMMIT_MS = 10.0
_TOGETHER = 100
_LOOKS = 9


class Grown(TypedDict):
    """A store after so many merges; times are the least of a few, in milliseconds."""

    merges: int
    packs: int
    kilobytes: int
    read: float
    merge: float


def growth(folder: Path, merges: int) -> dict[str, object]:
    """Measure two stores as they grow by ``merges`` merges: with the repack, and without."""
    every = max(1, min(250, merges // 4))
    found: dict[str, list[Grown]] = {}
    for label in ("with the repack", "without a repack"):
        store = empty(folder / label.replace(" ", "-"))
        if label != "with the repack":
            store.repo.maybe_repack = lambda every=0: False  # type: ignore[method-assign]
        found[label] = list(_grown(store, merges, every))
        store.close()
    return {"milliseconds": {}, "ratios": {}, "growth": found, "sizes": [merges]}


def _grown(store: Store, merges: int, every: int) -> Iterator[Grown]:
    number = 0
    yield _look(store, number)
    while number < merges:
        for _ in range(every):
            number += 1
            store.merge(put(store, [number], number))
        yield _look(store, number)


def _look(store: Store, merges: int) -> Grown:
    times: list[Spent] = []
    for extra in range(_LOOKS):
        proposal = put(store, [10**6 + merges + extra], 10**6 + merges + extra)
        times.append(spent(lambda name=proposal: store.merge(name)))
    objects = store.repo.git_dir / "objects"
    files = [path for path in objects.rglob("*") if path.is_file()]
    return {
        "merges": merges,
        "packs": sum(path.suffix == ".pack" for path in files),
        "kilobytes": sum(path.stat().st_size for path in files) // 1024,
        "read": figure([spent(lambda: _read(store)) for _ in range(_LOOKS)])["least"],
        "merge": figure(times)["least"],
    }


def _read(store: Store) -> None:
    """Read one record by a fresh git, which opens what packs there are."""
    tree = f"{store.head().accepted}:records"
    git(store.repo.git_dir, "cat-file", "-p", tree)


def long_history(path: Path, merges: int) -> None:
    """Make a store of so many merges of one record each, if it is not there."""
    if (path / "done").exists():
        return
    shutil.rmtree(path, ignore_errors=True)
    store = empty(path)
    for start in range(0, merges, _TOGETHER):
        for proposal in put_each(store, range(start, min(start + _TOGETHER, merges))):
            store.merge(proposal)
    store.close()
    (path / "done").touch()


def verify(folder: Path, merges: int) -> dict[str, object]:
    """Verify a history of ``merges`` merges anew, and check it with fsck."""
    path = folder / f"history-{merges}"
    start = time.perf_counter()
    long_history(path, merges)
    built = time.perf_counter() - start
    cache = path / ".git" / "gitmem" / "cache.sqlite"
    for end in ("", "-wal", "-shm"):
        cache.with_name(cache.name + end).unlink(missing_ok=True)
    started: list[str] = []
    took = {
        "verify": spent(lambda: _verify(path, started)),
        "gitmem fsck of": spent(lambda: _fsck(path)),
        "git fsck of": spent(lambda: git(path, "fsck", "--full", "--no-dangling", "main")),
        "read the objects of": spent(lambda: _walk(path)),
    }
    many = f"{merges:,} merges"
    figures = {f"{what} {many}, for each commit": _each(one, merges) for what, one in took.items()}
    ratios = {
        f"verify {many} / read their objects": compared(
            [took["verify"]], [took["read the objects of"]]
        ),
        f"gitmem fsck of {many} / git fsck": compared(
            [took["gitmem fsck of"]], [took["git fsck of"]]
        ),
    }
    return {
        "milliseconds": figures,
        "ratios": ratios,
        "at_most": {f"verify {many}, for each commit": A_COMMIT_MS},
        "git_processes": len(started),
        "seconds_to_build": round(built),
        "sizes": [merges],
    }


def _each(took: Spent, merges: int) -> Figure:
    return figure([Spent(took.passed / (merges + 1), took.worked / (merges + 1))])


def _verify(path: Path, started: list[str]) -> None:
    with MemoryStore(path) as memory:
        store = memory._opened()
        store.repo.runner.trace = lambda words: started.append(words[1])
        store.head()


def _fsck(path: Path) -> None:
    with MemoryStore(path) as memory:
        assert memory.fsck().ok


def _walk(path: Path) -> None:
    """Read every object that main reaches with one cat-file, and do nothing with it."""
    listed = git(path, "rev-list", "--objects", "--no-object-names", "main")
    command = ["git", "-C", str(path), "cat-file", "--batch", "--buffer"]
    subprocess.run(command, input=listed.encode(), check=True, capture_output=True)
