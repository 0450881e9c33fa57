"""git's objects as values: ids, trees and commits computed without a git process.

What a commit on ``main`` must be follows from its parents, so its id has to be computable
before it is written and checkable without writing anything. SHA-1 repositories only; that a
repository is one is checked where it is opened. This module reads and writes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without entries: what an absent folder counts as."""

ZERO = "0" * 40
"""In a ref update: the ref must not exist."""

FILE_MODE = "100644"
TREE_MODE = "40000"

_OID = re.compile(r"[0-9a-f]{40}\Z")
# Where no entry stands, the rest is taken whole: to look for one there would take for ever.
_TREE_ENTRY = re.compile(rb"([0-9]+) ([^\0]+)\0(.{20})|.+", re.DOTALL)
#: Bytes of an entry besides its mode and its name: a space, NUL and the id.
_AROUND_NAME = 22
_MODES = {b"100644": "100644", b"40000": "40000"}
_SIGNATURE = re.compile(
    r"(?P<name>[^<>\n]*)<(?P<email>[^<>\n]*)> (?P<epoch>[0-9]{1,18}) [+-][0-9]{4}\Z"
)
_CRUFT = re.compile(r"[<>\x00-\x1f\x7f-\x9f]")


def is_oid(text: str) -> bool:
    """Whether ``text`` is a full object id: 40 lower-case hexadecimal digits."""
    return _OID.match(text) is not None


def object_id(kind: str, data: bytes) -> str:
    """The id of an object of ``kind`` (blob, tree, commit, tag) with this content."""
    head = f"{kind} {len(data)}\0".encode("ascii")
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


def blob_id(data: bytes) -> str:
    """The id of a file's content, with no filter or line-ending conversion applied."""
    return object_id("blob", data)


# --- trees ---------------------------------------------------------------------------------


class TreeEntry(NamedTuple):
    """One line of a tree. ``mode`` as git stores it (``100644``, ``40000``).

    Bytes of ``name`` that are not UTF-8 are surrogate escapes.
    """

    mode: str
    name: str
    oid: str

    @property
    def is_tree(self) -> bool:
        return self.mode == TREE_MODE


def decode_tree(data: bytes) -> tuple[TreeEntry, ...]:
    """The entries of a tree object, in its own order.

    Raises:
        ValueError: the bytes are not a tree.
    """
    found = _TREE_ENTRY.findall(data)
    size = sum([len(mode) + len(name) + _AROUND_NAME for mode, name, _ in found])
    if size != len(data) or (found and not found[-1][0]):
        raise ValueError("a tree object is cut off, or has an entry without a mode or a name")
    # git writes folders as 40000; some old writers as 040000, which means the same.
    return tuple(
        [
            TreeEntry(
                _MODES.get(mode) or mode.lstrip(b"0").decode("ascii"),
                name.decode("utf-8", "surrogateescape"),
                oid.hex(),
            )
            for mode, name, oid in found
        ]
    )


def _sort_key(entry: TreeEntry) -> bytes:
    name = entry.name.encode("utf-8", "surrogateescape")
    return name + b"/" if entry.is_tree else name


def encode_tree(entries: Iterable[TreeEntry]) -> bytes:
    """The bytes of a tree with these entries, in git's order (a folder sorts as ``name/``).

    Raises:
        ValueError: a name is empty, doubled, or holds a slash or NUL.
    """
    ordered = sorted(entries, key=_sort_key)
    names = [entry.name for entry in ordered]
    for name, count in Counter(names).items():
        if count > 1 or not name or "/" in name or "\0" in name:
            raise ValueError(f"{name!r} cannot be a name in a tree, or is there twice")
    return b"".join(
        [
            f"{mode} {name}\0".encode("utf-8", "surrogateescape") + bytes.fromhex(oid)
            for mode, name, oid in ordered
        ]
    )


@dataclass(frozen=True, slots=True)
class EditedTree:
    """What :func:`edit_tree` made.

    ``folders`` maps each folder on the way to a change to its new tree id (the root is ``""``;
    a folder that is gone has :data:`EMPTY_TREE`). ``trees`` holds the new tree objects' bytes.
    """

    root: str
    folders: dict[str, str] = field(default_factory=dict)
    trees: dict[str, bytes] = field(default_factory=dict)


_Node = dict[str, "str | _Node | None"]


def _nested(changes: Mapping[str, str | None]) -> _Node:
    """The changes as a tree of folders, so that each folder is read and written once."""
    top: _Node = {}
    for path, oid in changes.items():
        *folders, name = path.split("/")
        if not name or "" in folders:
            raise ValueError(f"{path!r} is not a path in a tree")
        node = top
        for folder in folders:
            below = node.setdefault(folder, {})
            if not isinstance(below, dict):
                raise ValueError(f"{path!r} lies under a path that is changed as a file")
            node = below
        if isinstance(node.get(name), dict):
            raise ValueError(f"{path!r} is changed as a file and as a folder")
        node[name] = oid
    return top


def edit_tree(
    root: str,
    changes: Mapping[str, str | None],
    read_tree: Callable[[str], tuple[TreeEntry, ...]],
) -> EditedTree:
    """The tree ``root`` with ``changes`` applied.

    ``changes`` maps a path to a blob id (stored as a plain file) or to None, which deletes it;
    deleting what is not there changes nothing. Empty folders vanish. Only folders on the way
    to a change are read. No change gives the same root.

    Raises:
        ValueError: a path is malformed, or is changed both as a file and as a folder.
    """
    folders: dict[str, str] = {}
    trees: dict[str, bytes] = {}

    def edit(oid: str, node: _Node, where: str) -> str:
        old = read_tree(oid) if oid != EMPTY_TREE else ()
        entries = {entry.name: entry for entry in old}
        for name, change in node.items():
            if isinstance(change, dict):
                before = entries.get(name)
                below = before.oid if before and before.is_tree else EMPTY_TREE
                after = edit(below, change, f"{where}/{name}" if where else name)
                if after != EMPTY_TREE:
                    entries[name] = TreeEntry(TREE_MODE, name, after)
                elif before and before.is_tree:
                    del entries[name]
            elif change is not None:
                entries[name] = TreeEntry(FILE_MODE, name, change)
            elif name in entries:
                del entries[name]
        data = encode_tree(entries.values())
        new = object_id("tree", data)
        if new != oid:
            trees[new] = data
        folders[where] = new
        return new

    return EditedTree(edit(root, _nested(changes), ""), folders, trees)


# --- commits -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Identity:
    """Who wrote a commit: free text, cleaned by :func:`format_signature`."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Signature:
    """An author or committer line. ``epoch`` is in seconds since 1970, UTC."""

    name: str
    email: str
    epoch: int


def _clean(text: str) -> str:
    return _CRUFT.sub("", text).strip()


def format_signature(identity: Identity, epoch: int) -> str:
    """``Name <email> 123 +0000``, without anything that could end the line or forge a field."""
    return f"{_clean(identity.name) or 'unknown'} <{_clean(identity.email)}> {epoch} +0000"


def parse_signature(text: str) -> Signature:
    """The parts of an author or committer line.

    Raises:
        ValueError: the text is not one.
    """
    match = _SIGNATURE.match(text)
    if match is None:
        raise ValueError(f"{text[:80]!r} is not an author or committer line")
    return Signature(match["name"].strip(), match["email"].strip(), int(match["epoch"]))


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit object. ``author`` and ``committer`` are whole lines as git stores them.

    ``extra_headers`` holds what follows them (``encoding``, ``gpgsig``, ...), in order, with
    continuation lines joined by LF. Bytes of ``message`` that are not UTF-8 are surrogate
    escapes.
    """

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str
    extra_headers: tuple[tuple[str, str], ...] = ()


def _headers(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in text.split("\n"):
        if line.startswith(" ") and found:
            key, value = found[-1]
            found[-1] = (key, f"{value}\n{line[1:]}")
            continue
        key, space, value = line.partition(" ")
        if not key or not space:
            raise ValueError("a commit object has a header line without a value")
        found.append((key, value))
    return found


def decode_commit(data: bytes) -> Commit:
    """The parts of a commit object; ``encode_commit`` gives the same bytes back.

    Raises:
        ValueError: the bytes are not a commit as git writes it.
    """
    head, separator, message = data.decode("utf-8", "surrogateescape").partition("\n\n")
    if not separator:
        raise ValueError("a commit object lacks the blank line before its message")
    headers = _headers(head)
    if not headers or headers[0][0] != "tree":
        raise ValueError("a commit object does not begin with its tree")
    tree = headers.pop(0)[1]
    parents = []
    while headers and headers[0][0] == "parent":
        parents.append(headers.pop(0)[1])
    if len(headers) < 2 or headers[0][0] != "author" or headers[1][0] != "committer":
        raise ValueError("a commit object lacks its author or committer")
    if any("\n" in headers[at][1] for at in (0, 1)):
        raise ValueError("a commit object has an author or committer of several lines")
    if not all(is_oid(oid) for oid in (tree, *parents)):
        raise ValueError("a commit object names a tree or parent that is not an id")
    (_, author), (_, committer), *extra = headers
    return Commit(tree, tuple(parents), author, committer, message, tuple(extra))


def encode_commit(commit: Commit) -> bytes:
    """The bytes of a commit object."""
    lines = [f"tree {commit.tree}", *(f"parent {oid}" for oid in commit.parents)]
    lines += [f"author {commit.author}", f"committer {commit.committer}"]
    lines += [f"{key} " + value.replace("\n", "\n ") for key, value in commit.extra_headers]
    text = "\n".join(lines) + "\n\n" + commit.message
    return text.encode("utf-8", "surrogateescape")
