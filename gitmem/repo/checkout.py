"""Bringing one work tree from one commit's files to another's without losing a person's work.

An index entry that is still the old commit's becomes the new one's, and a file that still holds
the old content gets the new; everything else is left as it is, and named.
"""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.domain.layout import parse_record_path
from gitmem.domain.objects import FILE_MODE, blob_id
from gitmem.domain.shell import shell_word
from gitmem.errors import GitFailed, InvalidInput
from gitmem.repo.begun import Begun
from gitmem.repo.files import clear_unfinished, write_file
from gitmem.repo.index import IndexEntry, WorkTree, index_tree, read_index, update_index
from gitmem.repo.reader import MAX_OBJECT, Found, Reader
from gitmem.repo.refusals import refusal
from gitmem.repo.runner import Runner, shown
from gitmem.repo.trees import NO_MODE, PathChange, changed_paths, diff_trees, is_beyond_measure
from gitmem.repo.writer import stays_inside

SameText = Callable[[bytes, bytes], bool]
"""Whether one file says what another says, so that nothing is lost where that replaces it."""

Carries = Callable[[bytes, bytes, bytes], bool]
"""Whether the third file has everything that a person changed in the first since the second."""


def carries_nothing(mine: bytes, begun: bytes, new: bytes) -> bool:
    """The answer where nobody can read what the files say."""
    return False


_Replaceable = Callable[[str, bytes, str], bool]  # path, a person's content, the new blob
_NAMED = 10  # paths left behind that are named one by one
_FEW = 200
"""For up to so many files the index is asked for each by its name; for more, for all it has."""


@dataclass(slots=True)
class _Left:
    """What stays as a person has it: path and reason; what the machine refused to write."""

    reasons: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)

    def add(self, path: str, reason: str) -> None:
        self.reasons.setdefault(path, reason)

    def sentences(self, root: Path) -> list[str]:
        lines = [
            f"Left {shown(path)} in {root} as it is: {reason}."
            for path, reason in sorted(self.reasons.items())
        ]
        more = len(lines) - _NAMED
        see = f"git -C {shell_word(str(root))} status"
        tail = [f"Left {more} more files in {root} as they are; see: {see}"]
        return lines[:_NAMED] + (tail if more > 0 else [])


def advance(
    runner: Runner,
    reader: Reader,
    tree: WorkTree,
    old: str,
    new: str,
    same_text: SameText = operator.eq,
    carries: Carries = carries_nothing,
    begun: dict[str, Begun] | None = None,
) -> tuple[list[str], bool]:
    """Bring ``tree`` from the tree object ``old`` to ``new``.

    What a person has changed is left, unless it says what the new file says (``same_text``), or
    that has everything which they changed (``carries``). ``begun`` is brought up to date: what
    each file that is left was begun on.
    Returns sentences about what was left, and whether it is done (False: try again later).
    """
    if is_beyond_measure(reader, old, new):
        # Nobody has such files; the index says which were there before.
        old = index_tree(runner, tree) or new
    changes = _changes(runner, reader, old, new)
    few = len(changes) <= _FEW
    if os.path.lexists(tree.lock):
        return [unfinished(tree, AT_WORK)], False
    begun = {} if begun is None else begun
    replaceable = _replaceable(reader, same_text, carries, begun)
    along = _index_along(runner, reader, tree, changes, replaceable, few=few)
    if along is None:
        return [unfinished(tree, "its index could not be written")], False
    left, entries = along
    skipped = {path for path, entry in entries.items() if entry.flag in "Ss"}
    for change in changes:
        if change.path not in skipped:
            _update_file(reader, tree.path, change, left, replaceable)
    _note_begun(tree.path, changes, left, begun, skipped)
    said = left.sentences(tree.path)
    for path, why in left.refused.items():  # it would look like a change of the person's
        return [*said, unfinished(tree, f"{shown(path)} could not be written ({why})")], False
    return said, True


def _replaceable(
    reader: Reader, same_text: SameText, carries: Carries, begun: Mapping[str, Begun]
) -> _Replaceable:
    """Whether nothing of a person's is lost where a path's new blob replaces what they have."""

    def replaceable(path: str, mine: bytes, new_oid: str) -> bool:
        new = reader.blob(new_oid)
        if same_text(mine, new):
            return True
        base = begun[path].base if path in begun else ""
        (found,) = reader.read_many([base]) if base else (None,)
        return isinstance(found, Found) and carries(mine, found.data, new)

    return replaceable


def _note_begun(
    root: Path,
    changes: Iterable[PathChange],
    left: _Left,
    begun: dict[str, Begun] | None,
    skipped: Collection[str],
) -> None:
    """Note what records that stay as a person has them were begun on; forget the others."""
    if begun is None:
        return
    for change in changes:
        path, old = change.path, change.old_oid or ""
        is_edited = path in left.edited or (path in skipped and os.path.lexists(root / path))
        if is_edited and parse_record_path(path):
            begun.setdefault(path, Begun(old, old))
        elif path not in left.reasons:
            begun.pop(path, None)
        if path in begun and begun[path].on == (change.new_oid or ""):
            del begun[path]


def advance_index(
    runner: Runner,
    reader: Reader,
    tree: WorkTree,
    old: str,
    new: str,
    same_text: SameText = operator.eq,
) -> dict[str, str]:
    """Bring only the index that ``tree`` names from the tree object ``old`` to ``new``.

    Returns the paths that were left as they are, each with its reason.

    Raises:
        GitFailed: the index could not be written.
    """
    changes = _changes(runner, reader, old, new)
    replaceable = _replaceable(reader, same_text, carries_nothing, {})
    along = _index_along(runner, reader, tree, changes, replaceable, few=len(changes) <= _FEW)
    if along is None:
        raise GitFailed(f"the index {tree.index or tree.git_dir / 'index'} could not be written")
    return along[0].reasons


def _changes(runner: Runner, reader: Reader, old: str, new: str) -> list[PathChange]:
    """What differs between two trees and can be a file of a work tree."""
    try:
        found = diff_trees(reader, old, new)
    except InvalidInput:  # a stray's folders may be nested deeper than a store's; git copes
        found = [] if is_beyond_measure(reader, old, new) else changed_paths(runner, old, new)
    return [change for change in found if stays_inside(change.path)]


def _index_along(
    runner: Runner,
    reader: Reader,
    tree: WorkTree,
    changes: Sequence[PathChange],
    replaceable: _Replaceable,
    *,
    few: bool,
) -> tuple[_Left, dict[str, IndexEntry]] | None:
    """Bring the index along; what was left and its entries, None where it cannot be written."""

    moved = {change.old_oid for change in changes}

    def staged(path: str, oid: str, new_oid: str) -> bool:
        if oid in moved:  # by `git mv`: the old commit has it
            return True
        (found,) = reader.read_many([oid])
        return isinstance(found, Found) and replaceable(path, found.data, new_oid)

    for paths in ([change.path for change in changes], []) if few else ([],):
        # The second time everything is looked at: something staged may stand in the way.
        left, entries = _Left(), read_index(runner, tree, paths)
        if _update_index(runner, tree, changes, entries, left, staged):
            return left, entries
    return None


AT_WORK = "git is at work there (index.lock)"


def unfinished(tree: WorkTree, reason: str) -> str:
    """The sentence for a work tree that could not be brought along now."""
    said = f"The files in {tree.path} are still as before, because {reason}; done next time."
    return f"{said}{unlocking(tree)}"


def unlocking(tree: WorkTree) -> str:
    """How to go on where a git program that was killed left its lock on the index, or nothing."""
    if not os.path.lexists(tree.lock):
        return ""
    return f" If no git program is at work there: rm {shell_word(str(tree.lock))}"


# --- the index -----------------------------------------------------------------------------


def _update_index(
    runner: Runner,
    tree: WorkTree,
    changes: Iterable[PathChange],
    entries: dict[str, IndexEntry],
    left: _Left,
    replaceable: Callable[[str, str, str], bool],
) -> bool:
    """Give the new commit's entries to paths that still have the old one's."""
    lines: list[bytes] = []
    flagged: dict[str, list[str]] = {"--skip-worktree": [], "--assume-unchanged": []}
    folders = {parent for path in entries for parent in _parents(path)}
    for change in changes:
        entry = entries.get(change.path)
        now = _now(entries, change)
        if entry and now is None:
            left.add(change.path, "it has a merge conflict")
        elif change.new_mode not in (FILE_MODE, NO_MODE):
            left.add(change.path, f"mode {change.new_mode} is not a plain file")
        elif now == _pair(change.new_mode, change.new_oid):
            continue
        elif now != _pair(change.old_mode, change.old_oid) and not (
            now
            and now[0] == FILE_MODE
            and change.new_oid
            and replaceable(change.path, now[1], change.new_oid)
        ):
            left.add(change.path, "another version of it is staged")
        elif change.new_oid and _blocked(change.path, entries, folders):
            left.add(change.path, "a file or folder of that name is staged")
        else:
            lines.append(_index_line(change))
            if entry and change.new_oid:
                if entry.flag in "Ss":
                    flagged["--skip-worktree"].append(change.path)
                if entry.flag.islower():
                    flagged["--assume-unchanged"].append(change.path)
    # git writes removals and additions in the order given: a folder may give way to a file.
    lines.sort(key=lambda line: not line.startswith(b"0 "))
    if lines and not update_index(runner, tree, ["-z", "--index-info"], b"".join(lines)):
        return False
    for option, paths in flagged.items():
        stdin = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
        if paths and not update_index(runner, tree, [option, "-z", "--stdin"], stdin):
            return False
    return True


def _now(entries: dict[str, IndexEntry], change: PathChange) -> tuple[str, str] | None:
    entry = entries.get(change.path)
    return (entry.mode, entry.oid) if entry and entry.stage == "0" else None


def _pair(mode: str, oid: str | None) -> tuple[str, str] | None:
    return (mode, oid) if oid else None


def _index_line(change: PathChange) -> bytes:
    path = change.path.encode("utf-8", "surrogateescape")
    if change.new_oid is None:
        return b"0 " + b"0" * 40 + b"\t" + path + b"\0"
    return f"{change.new_mode} {change.new_oid} 0\t".encode("ascii") + path + b"\0"


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _blocked(path: str, entries: dict[str, IndexEntry], folders: set[str]) -> bool:
    return path in folders or any(parent in entries for parent in _parents(path))


# --- the files -----------------------------------------------------------------------------


def _update_file(
    reader: Reader,
    root: Path,
    change: PathChange,
    left: _Left,
    replaceable: _Replaceable,
) -> None:
    if change.new_mode not in (FILE_MODE, NO_MODE):
        return
    try:
        if not _parents_are_folders(root, change.path, create=False):
            left.add(change.path, "a folder on its way is a symbolic link or a file")
            return
        path = root / change.path
        if not _holds(path, change, replaceable):
            left.edited.add(change.path)
            left.add(change.path, "it was changed here")
        elif change.new_oid is None:
            if _is_spelt_so(root, change.path):
                _remove(root, path)
        elif not _has(path, change.new_oid):
            _parents_are_folders(root, change.path, create=True)
            write_file(path, reader.blob(change.new_oid), keep_mode=True, durable=False)
    except FileExistsError as error:
        left.add(change.path, str(error.strerror))
    except OSError as error:
        left.refused[change.path] = refusal(error).why


def clear_unwritten(runner: Runner, reader: Reader, tree: WorkTree, old: str, new: str) -> None:
    """Remove the half-written files of a program that was killed between these trees."""
    paths = [change.path for change in _changes(runner, reader, old, new)]
    for folder in {path.rpartition("/")[0] for path in paths}:
        if _parents_are_folders(tree.path, f"{folder}/x", create=False):
            clear_unfinished(tree.path / folder)


def _parents_are_folders(root: Path, path: str, *, create: bool) -> bool:
    """Whether every folder on the way is a real one; links are never followed."""
    for parent in _parents(path):
        try:
            status = (root / parent).lstat()
        except FileNotFoundError:
            if not create:
                return True
            (root / parent).mkdir()
            continue
        if not stat.S_ISDIR(status.st_mode):
            return False
    return True


def read_plain(path: Path) -> bytes | None:
    """The bytes of a plain file, or None when nothing is there; no link is followed.

    Raises:
        FileExistsError: there is something else, or it is too large to be the store's.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_OBJECT:
        raise FileExistsError(0, "something else than the store's file is there")
    return path.read_bytes()


def _has(path: Path, oid: str) -> bool:
    content = read_plain(path)
    return content is not None and blob_id(content) == oid


def _holds(path: Path, change: PathChange, replaceable: _Replaceable) -> bool:
    """Whether the file is as the old or the new commit has it, or says what the new one says.

    A checkout may have given it CRLF line ends; that is no change of a person's.
    """
    old, new = change.old_oid, change.new_oid
    content = read_plain(path)
    if content is None:
        return old is None or new is None
    ids = {blob_id(content), blob_id(content.replace(b"\r\n", b"\n"))}
    return bool(ids & {old, new}) or (new is not None and replaceable(change.path, content, new))


def _is_spelt_so(root: Path, path: str) -> bool:
    """Whether a file is called this to the letter: where a disk ignores case, another answers."""
    parts = path.split("/")
    return all(part in os.listdir(root.joinpath(*parts[:at])) for at, part in enumerate(parts))


def _remove(root: Path, path: Path) -> None:
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent == root:
            return
        try:
            parent.rmdir()
        except OSError:  # not empty: it stays, and so do those above it
            return
