"""A first look at a memory: with the projection at hand, and made anew from git.

Without the projection the floor is to read the same records and quotes with one
``git cat-file --batch`` and to parse them with libyaml, believing everything. gitmem does that,
verifies the history that led to them, and makes the projection and its postings.
"""

from __future__ import annotations

import sqlite3
import subprocess
from pathlib import Path

import yaml
from clock import Rounds, spent
from stores import build, git

from gitmem.memory import MemoryStore

WITH_CACHE_MS = 10.0
WITHOUT_LIMIT = 2.0


class Look:
    """One store, looked at by fresh connections and fresh git processes of this one process."""

    def __init__(self, folder: Path, records: int) -> None:
        self.at = f"{records:,} records"
        self.path = folder / f"store-{records}-bare"
        if not self.path.exists():
            build(self.path, records, files=False).close()
        self.cache = self.path / ".git" / "gitmem" / "cache.sqlite"
        listed = git(self.path, "ls-tree", "-r", "main", "--", "records", "evidence")
        self.blobs = [line.split()[2] for line in listed.splitlines()]

    def round(self, rounds: Rounds) -> None:
        rounds.note(f"snapshot of {self.at}, with the cache", spent(self._list))
        rounds.note(f"the same rows with sqlite3, at {self.at}", spent(self._rows))
        for end in ("", "-wal", "-shm"):
            self.cache.with_name(self.cache.name + end).unlink(missing_ok=True)
        rounds.note(f"snapshot of {self.at}, without the cache", spent(self._list))
        rounds.note(f"cat-file --batch and libyaml, at {self.at}", spent(self._parse))

    def _list(self) -> None:
        with MemoryStore(self.path) as memory:
            memory.list()

    def _rows(self) -> None:
        database = sqlite3.connect(self.cache)
        database.execute("SELECT * FROM records ORDER BY rank, name").fetchall()
        database.close()

    def _parse(self) -> None:
        asked = "".join(f"{oid}\n" for oid in self.blobs).encode()
        command = ["git", "-C", str(self.path), "cat-file", "--batch", "--buffer"]
        out = subprocess.run(command, input=asked, check=True, capture_output=True).stdout
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            size = int(out[at:end].split()[2])
            text = out[end + 1 : end + 1 + size].decode("utf-8")
            yaml.load(text.split("---\n")[1], Loader=yaml.CSafeLoader)
            at = end + size + 2


def measure(folder: Path, sizes: list[int], rounds: int) -> dict[str, object]:
    """Time a first look at stores of ``sizes`` records."""
    times = Rounds()
    looks = [Look(folder, size) for size in sizes]
    for number in range(rounds + 1):
        for look in looks:
            look.round(times if number else Rounds())
    figures = times.figures()
    ratios = {}
    for look in looks:
        name, is_promised = f"snapshot of {look.at}", look.at == "1,000 records"
        ratios[f"{name}, with the cache / sqlite3"] = times.ratio(
            f"{name}, with the cache", f"the same rows with sqlite3, at {look.at}"
        )
        ratios[f"{name}, without the cache / cat-file and libyaml"] = times.ratio(
            f"{name}, without the cache",
            f"cat-file --batch and libyaml, at {look.at}",
            WITHOUT_LIMIT if is_promised else None,
            "worked",
        )
    return {
        "milliseconds": figures,
        "ratios": ratios,
        "at_most": {
            f"snapshot of {look.at}, with the cache": WITH_CACHE_MS
            for look in looks
            if look.at == "1,000 records"
        },
        "sizes": sizes,
    }
