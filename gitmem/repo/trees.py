"""Comparing and listing trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from gitmem.domain.objects import EMPTY_TREE, TreeEntry, is_oid
from gitmem.errors import GitFailed, InvalidInput
from gitmem.repo.runner import Runner

NO_MODE = "000000"
"""The mode of a path that is not there."""


MAX_DEPTH = 32
"""Folders within each other; a store has five, and a tree from outside may have thousands."""

MAX_PATHS = 40_000
"""Paths in which two trees may differ; the largest proposal has 33,000, and a few objects of a
tree from outside may stand for thousands of millions."""

_BEYOND = 200_000
"""Files and folders in which two trees differ from where on git is not asked, since it would walk
them all, however many they are."""

_TOO_DEEP = 1000

_AHEAD = 512
"""Folders below one that are read at once: those by hash are 256, on each side."""


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path that differs. Mode ``000000`` and id None stand for a path that is not there."""

    path: str
    old_mode: str
    new_mode: str
    old_oid: str | None
    new_oid: str | None


class TreeSource(Protocol):
    """What reads a tree by its id: :class:`gitmem.repo.reader.Reader`."""

    def tree(self, oid: str) -> tuple[TreeEntry, ...]: ...

    def read_ahead(self, names: Iterable[str]) -> None: ...


def diff_trees(source: TreeSource, old: str, new: str, prefix: str = "") -> list[PathChange]:
    """The files that differ between two trees (ids of trees), in the order of their paths.

    An empty folder, which git itself never writes, is there as a path of the mode ``40000``.
    Only folders that differ are read. ``prefix`` is put before each path.

    Raises:
        InvalidInput: folders are nested deeper than :data:`MAX_DEPTH`, or more than
            :data:`MAX_PATHS` differ.
    """
    found = differences(source, old, new, prefix)
    return sorted(found, key=lambda change: change.path.encode("utf-8", "surrogateescape"))


def differences(source: TreeSource, old: str, new: str, prefix: str = "") -> Iterator[PathChange]:
    """:func:`diff_trees` one by one, folder by folder, for who may not want all of them.

    Raises:
        InvalidInput: as there, on the way.
    """
    where = prefix.rstrip("/")
    differ = _diff(source, old, new, f"{where}/" if where else "", 0)
    yield from islice(differ, MAX_PATHS)
    if next(differ, None) is not None:
        raise InvalidInput(f"more than {MAX_PATHS} files differ", where=where or "tree")


def is_beyond_measure(source: TreeSource, old: str, new: str) -> bool:
    """Whether git is better not asked in what two trees differ: it might never come to an end.

    So it is said of folders nested by the thousand, on which git crashes, and of a tree that is
    malformed, of which each command of git makes something else.
    """
    count, pairs = 0, [(old, new, 0)]
    while pairs:
        was_folder, now_folder, depth = pairs.pop()
        try:
            differ = _pairs(source, was_folder, now_folder)
        except InvalidInput:
            return True
        count += len(differ)
        if count > _BEYOND or depth > _TOO_DEEP:
            return True
        folders = ((_folder(was), _folder(now)) for was, now in differ)
        pairs += [(was, now, depth + 1) for was, now in folders if was != now]
    return False


def _pairs(
    source: TreeSource, old: str, new: str
) -> list[tuple[TreeEntry | None, TreeEntry | None]]:
    """What two folders have otherwise, by name."""
    before = source.tree(old) if old != EMPTY_TREE else ()
    after = source.tree(new) if new != EMPTY_TREE else ()
    # A folder of a thousand differs in a few: the many equal ones are left to the sets.
    differ = set(before) ^ set(after)
    gone = {entry.name: entry for entry in before if entry in differ}
    come = {entry.name: entry for entry in after if entry in differ}
    return [(gone.get(name), come.get(name)) for name in sorted(gone.keys() | come.keys())]


def _diff(source: TreeSource, old: str, new: str, prefix: str, depth: int) -> Iterator[PathChange]:
    if old == new:
        return
    if depth > MAX_DEPTH:
        raise InvalidInput(f"lies deeper than {MAX_DEPTH} folders", where=prefix[:200])
    differ = _pairs(source, old, new)
    below = [folder.oid for pair in differ for folder in pair if folder and folder.is_tree]
    if len(below) > 1:
        source.read_ahead(below[:_AHEAD])
    for was, now in differ:
        path = prefix + (was or now or _NOTHING).name
        yield from _diff(source, _folder(was), _folder(now), f"{path}/", depth + 1)
        was_leaf, now_leaf = _leaf(was), _leaf(now)
        if was_leaf or now_leaf:
            yield PathChange(
                path,
                was_leaf.mode if was_leaf else NO_MODE,
                now_leaf.mode if now_leaf else NO_MODE,
                was_leaf.oid if was_leaf else None,
                now_leaf.oid if now_leaf else None,
            )


_NOTHING = TreeEntry(NO_MODE, "", "")


def _folder(entry: TreeEntry | None) -> str:
    return entry.oid if entry and entry.is_tree else EMPTY_TREE


def _leaf(entry: TreeEntry | None) -> TreeEntry | None:
    """What ends a path: a file, or a folder with nothing in it, which git never writes."""
    return entry if entry and (not entry.is_tree or entry.oid == EMPTY_TREE) else None


def changed_paths(
    runner: Runner, old: str, new: str, prefix: str | None = None
) -> list[PathChange]:
    """The files that differ between two commits or trees, by one ``git diff-tree``."""
    args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", _oid(old), _oid(new)]
    fields = _fields(runner.run([*args, "--", *([prefix] if prefix else [])]).out)
    changes = []
    for head, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_oid, new_oid, _ = head.removeprefix(":").split(" ")
        changes.append(PathChange(path, old_mode, new_mode, _present(old_oid), _present(new_oid)))
    return changes


def list_tree(runner: Runner, commit: str, prefix: str = "") -> list[tuple[str, str, str]]:
    """Every file below ``prefix`` as (mode, id, path), by one ``git ls-tree``."""
    args = ["ls-tree", "-r", "-z", "--full-tree", _oid(commit), *([prefix] if prefix else [])]
    listed = []
    for line in _fields(runner.run(args).out):
        head, tab, path = line.partition("\t")
        words = head.split(" ")
        if not tab or len(words) != 3:
            raise GitFailed(f"git ls-tree printed a line that is not understood: {line[:80]!r}")
        listed.append((words[0], words[2], path))
    return listed


def _present(oid: str) -> str | None:
    return None if oid.strip("0") == "" else oid


def _fields(out: bytes) -> list[str]:
    text = out.decode("utf-8", "surrogateescape")
    return text.removesuffix("\0").split("\0") if text else []


def _oid(oid: str) -> str:
    if not is_oid(oid):
        raise InvalidInput(f"{oid!r} is not a full object id", where="revision")
    return oid
