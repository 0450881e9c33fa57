"""The file that a test shares with every process of a run. Its layout is that of shim.c."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_HEAD = struct.Struct("8i")
_BELOW, _BELOW_AT = 992, 32
_LOG_AT, _ENTRIES, _WIDTH = 2048, 8192, 192
SIZE = _LOG_AT + _ENTRIES * _WIDTH


class Mode(IntEnum):
    """What happens at the point: see shim.c."""

    OFF = 0
    COUNT = 1
    KILL_ALL = 2
    KILL_GITMEM = 3
    KILL_GIT = 4
    FAIL = 5
    SHORT = 6
    FULL = 7


@dataclass(frozen=True)
class Point:
    """One effect on disk: which program, what it called, on what below the folder."""

    number: int
    role: str
    call: str
    path: str

    def __str__(self) -> str:
        return f"{self.number}: {self.role}: {self.call} {self.path}"

    @property
    def is_git(self) -> bool:
        return self.role != "gitmem"


class Shared:
    """The mapped file."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(b"\0" * SIZE)
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SIZE)

    def arm(self, mode: Mode, target: int, below: Path) -> None:
        """Begin a run: ``target`` is the number of the point, from 0."""
        self._map[:_LOG_AT] = b"\0" * _LOG_AT
        folder = str(below).encode() + b"\0"
        assert len(folder) <= _BELOW
        self._map[_BELOW_AT : _BELOW_AT + len(folder)] = folder
        _HEAD.pack_into(self._map, 0, mode, target, 0, 0, 0, 0, 0, 0)

    def set_gitmem(self, pid: int) -> None:
        """Say which process is gitmem itself."""
        struct.pack_into("i", self._map, 12, pid)

    def disarm(self) -> None:
        """Nothing is counted any more, and nothing happens."""
        struct.pack_into("i", self._map, 0, Mode.OFF)

    @property
    def fired(self) -> bool:
        """Whether the point was reached."""
        return bool(_HEAD.unpack_from(self._map, 0)[4])

    def points(self) -> list[Point]:
        """What happened, in its order."""
        count = _HEAD.unpack_from(self._map, 0)[2]
        assert count <= _ENTRIES, f"{count} effects are more than the log holds"
        found = []
        for number in range(count):
            at = _LOG_AT + number * _WIDTH
            text = bytes(self._map[at : at + _WIDTH]).split(b"\0")[0].decode("utf-8", "replace")
            role, call, path = text.split("\t")
            found.append(Point(number, role, call, path))
        return found
