"""Git objects that no well-behaved program writes, and trees made of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from gitmem.domain.objects import object_id

RawEntry = tuple[str, str | bytes, str]
"""Mode, name and id, written into a tree just so."""

FILE, EXECUTABLE, GROUP, LINK, REPOSITORY, FOLDER = (
    "100644",
    "100755",
    "100664",
    "120000",
    "160000",
    "40000",
)


def write(root: Path, kind: str, data: bytes) -> str:
    """Write a loose object of whatever content, without a process for each of many."""
    oid = object_id(kind, data)
    path = root / ".git" / "objects" / oid[:2] / oid[2:]
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(f"{kind} {len(data)}\0".encode() + data, 1))
    return oid


def raw_tree(root: Path, entries: Sequence[RawEntry]) -> str:
    """A tree of these very entries in this very order."""
    return write(
        root,
        "tree",
        b"".join(
            mode.encode() + b" " + (name if isinstance(name, bytes) else name.encode("utf-8"))
            + b"\0" + bytes.fromhex(oid)
            for mode, name, oid in entries
        ),
    )  # fmt: skip


Node = dict[str, "Node | RawEntry"]
"""A folder: what it has by name. A file's entry has the name that is written."""


@dataclass(frozen=True)
class Forge:
    """A tree taken apart, to be put together otherwise."""

    root: Path
    top: Node

    def blob(self, data: bytes) -> str:
        """The id of a new blob."""
        return write(self.root, "blob", data)

    def folder(self, path: str) -> Node:
        """The folder at ``path``, made where there is none (in the place of a file, too)."""
        node = self.top
        for part in path.split("/") if path else ():
            below = node.get(part)
            if not isinstance(below, dict):
                below = node[part] = {}
            node = below
        return node

    def put(self, path: str, mode: str, oid: str, name: str | bytes | None = None) -> None:
        """Let ``path`` be this; ``name`` is what the tree calls it, by default the path's end."""
        folder, _, last = path.rpartition("/")
        self.folder(folder)[last] = (mode, last if name is None else name, oid)

    def file(self, path: str, data: bytes, mode: str = FILE) -> None:
        """Let ``path`` be a file with this content."""
        self.put(path, mode, self.blob(data))

    def take(self, path: str) -> Node | RawEntry:
        """Take ``path`` out and return what it was."""
        folder, _, last = path.rpartition("/")
        return self.folder(folder).pop(last)

    def oid(self, path: str) -> str:
        """The id of the file at ``path``."""
        folder, _, last = path.rpartition("/")
        entry = self.folder(folder)[last]
        assert isinstance(entry, tuple)
        return entry[2]

    def written(self, node: Node | None = None) -> str:
        """The tree as it is now."""
        found: list[RawEntry] = []
        for name, entry in (self.top if node is None else node).items():
            if isinstance(entry, dict):
                found.append((FOLDER, name, self.written(entry)))
            else:
                found.append(entry)
        return raw_tree(self.root, sorted(found, key=_git_order))


def _git_order(entry: RawEntry) -> bytes:
    name = entry[1] if isinstance(entry[1], bytes) else entry[1].encode()
    return name + b"/" if entry[0].lstrip("0") == FOLDER else name


def taken_apart(root: Path, files: Mapping[str, tuple[str, str]]) -> Forge:
    """The forge of a tree that has these files: path -> (mode, id)."""
    forge = Forge(root, {})
    for path, (mode, oid) in files.items():
        forge.put(path, mode, oid)
    return forge


def shard(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:2]


Harm = Callable[[Forge], "str | None"]
"""Changes a tree; returns the id of the whole where that is not the forge's own writing."""
