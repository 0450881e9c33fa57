"""Runs operations where the disk is full, or where no file may be larger than so much.

A program of its own, since it needs a mount that nobody else sees, or a limit for itself.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem import MemoryStore
from tests.cases.calls import call
from tests.cli.harness import Done
from tests.faults.operations import OPERATIONS, Ids, Operation, Run, prepared
from tests.faults.sound import assert_sound_git, assert_whole, before, main_of
from tests.memory.words import BEN
from tests.store.stories import plain

PAGE = 4096
SIZE = 48 * 1024 * 1024
ENOUGH = 400
"""Pages in which every operation finds room."""


class Disk:
    """A small disk that can be filled up to the last pages."""

    full = ("the disk is full", "Make room on that disk")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={SIZE},nr_inodes=20000", "tmpfs", str(folder)],
            check=True,
        )

    @contextmanager
    def left(self, pages: int) -> Iterator[None]:
        """With so many pages of free space."""
        ballast = self.folder / "ballast"
        try:
            with ballast.open("wb", buffering=0) as file:
                with suppress(OSError):
                    while file.write(bytes(64 * PAGE)):
                        pass
                file.truncate(file.seek(0, os.SEEK_END) - pages * PAGE)
            yield
        finally:
            ballast.unlink()

    @staticmethod
    def steps(every: int) -> Iterable[int]:
        return [*range(0, 40, every), *range(40, ENOUGH, 6 * every), ENOUGH]


class Limit:
    """Files that may not be larger than so many bytes."""

    full = ("file", "ulimit -f")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    @contextmanager
    def left(self, size: int) -> Iterator[None]:
        old = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)

    @staticmethod
    def steps(every: int) -> Iterable[int]:
        sizes = [0, 1, 40, 41, 100, 300, 512, 700, 1000, 1500, 2000, 4000, 4096, 4097, 6000, 8192,
                 16384, 32768, 32769, 65536, 100_000, 200_000, 1_000_000]  # fmt: skip
        return sizes[::every]


def operate(run: Run, operation: Operation) -> Done:
    _, store, *args = operation.argv(run)
    return call(Path(store), *args)


def operate_again(run: Run, operation: Operation, done: Done) -> Done:
    """What a person does when there is room: the same, or what they were told to do."""
    told = re.search(r"What you approved waits: gitmem (approve \S+)", done.err)
    return call(run.root, *told[1].split(), "--yes") if told else operate(run, operation)


def seen(run: Run) -> dict[str, bytes]:
    """What must never be a stump: name -> content."""
    private = run.root / ".git/gitmem"
    paths = [
        run.files / "MEMORY.md",
        run.files / "manifest.json",
        *private.glob("sessions/*.jsonl"),
    ]
    return {str(path): path.read_bytes() for path in paths if path.is_file()}


def check_full(run: Run, done: Done, full: tuple[str, str], told: str) -> None:
    if done.code:
        assert done.code == 1, told
        for words in full:
            # A repair says it among the problems of its report.
            assert words in done.err + done.out, f"{told}: not said: {words}"


def check_no_stump(run: Run, was: dict[str, bytes], told: str) -> None:
    main = main_of(run)
    for path, data in seen(run).items():
        old, name = was.get(path), Path(path).name
        if data == old:
            continue
        if not name.endswith(".jsonl"):
            assert main, f"{told}: {path} without a main"
            new = plain(run.root, "show", f"{main}:{name}").encode() + b"\n"
            assert data == new, f"{told}: {path} is neither old nor new: {data!r}"
            continue
        assert data.startswith(old or b"") and data.endswith(b"\n"), f"{told}: {path}"
        for line in data.splitlines():
            assert not line.strip() or json.loads(line), f"{told}: {path}"


def one(disk: Disk | Limit, template: tuple[Path, Ids], what: str, step: int) -> Done:
    operation = OPERATIONS[what]
    below = disk.folder / f"{what.replace(' ', '-')}-{step}"
    run = prepared(template, below, operation)
    was, old = before(run), seen(run)
    with disk.left(step):
        done = operate(run, operation)
        told = f"{what} with {step} left: {done}"
        check_full(run, done, disk.full, told)
        check_no_stump(run, old, told)
        assert_sound_git(run, operation, was, told)
        if was.main:
            for args in (["list"], ["show", "language"], ["search", "tabs"], ["log"]):
                look = call(run.root, *args)
                assert look.code == 0, (told, args, look)
    goes_on(run, operation, done, told)
    shutil.rmtree(below)
    return done


def goes_on(run: Run, operation: Operation, done: Done, told: str) -> None:
    """With room again: nothing that was acknowledged is lost, and the rest can be done."""
    if run.root.exists() and main_of(run):
        with MemoryStore.open(run.root) as memory:
            happened = operation.done(memory, run.ids)
            assert happened or done.code, f"{told}: acknowledged, and not there"
    else:
        happened = False
    if not happened:
        again = operate_again(run, operation, done)
        assert again.code == 0, f"{told}: again: {again}"
    with MemoryStore.open(run.root) as memory:
        assert operation.done(memory, run.ids), told
        memory.remember("接着干。And now it goes on.", name="goes-on", type="project", person=BEN)
        problems = memory.fsck().problems
        assert not problems, f"{told}: {problems}"
    assert_whole(run, operation, told)


def main(kind: str, folder: str, template: str, ids: str, every: str, *names: str) -> None:
    disk = {"disk": Disk, "limit": Limit}[kind](Path(folder))
    prepared_memory = (Path(template), Ids(**json.loads(ids)))
    for what in names:
        ends: Counter[str] = Counter()
        for step in disk.steps(int(every)):
            done = one(disk, prepared_memory, what, step)
            is_told = "could not be" in done.err or "cannot be" in done.err
            ends["failed" if done.code else "told" if is_told else "done"] += 1
            print(step, done.code, done.err, file=sys.stderr)
            if not done.code and not is_told:
                break
        print(what, dict(ends), flush=True)
        assert ends["failed"] and ends["done"] + ends["told"], ends


if __name__ == "__main__":
    main(*sys.argv[1:])
