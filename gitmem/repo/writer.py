"""Writing commits: one ``git fast-import`` whatever their number and size.

Nothing that is written here is visible before a ref is published (``publish.py``): until then
a ref under ``refs/gitmem/inflight/`` keeps it from being pruned.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.domain.layout import INFLIGHT
from gitmem.domain.objects import Identity, format_signature, is_oid
from gitmem.errors import GitFailed, InvalidInput
from gitmem.repo.files import fsync_folder
from gitmem.repo.refusals import refusal
from gitmem.repo.runner import Runner

# --done: an input that is cut off is an error, not an import of what came so far.
_OPTIONS = ("--done", "--quiet", "--date-format=raw")
_MARK = re.compile(r":([1-9][0-9]*)\Z")
_MAX_PATH = 1024
# Zero-width and direction characters: some file systems ignore them, so ".g<ZWNJ>it" is ".git".
_BAD_CHARACTER = re.compile(
    r"[\x00-\x1f\x7f-\x9f\\:\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_NOWHERE = frozenset(["", ".", ".."])
_IGNORED = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_GIT_NAME = re.compile(r"(?:\.git|git~[0-9]+)[ .]*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NewCommit:
    """A commit to be written.

    ``parents`` are ids, or marks ``:1``, ``:2``, ... for earlier commits of the same call.
    The tree is that of ``base_tree`` (a tree's id; by default the first parent's tree, and
    the empty tree without parents) with ``changes`` applied: a path with bytes becomes that
    file, with an id of a blob that is there becomes that blob, with None goes away.
    Times are seconds since 1970, UTC.
    """

    parents: tuple[str, ...]
    message: str
    author: tuple[Identity, int]
    committer: tuple[Identity, int]
    changes: Mapping[str, bytes | str | None] = field(default_factory=dict)
    base_tree: str | None = None


def check_path(path: str) -> str:
    """``path`` itself, when git and every file system take it for one plain file.

    git's fast-import accepts ``.git/config`` and ``a/../b``, so this is the only guard.

    Raises:
        InvalidInput: it is absolute, leaves the tree, reaches into ``.git`` under any of its
            spellings, or holds control, invisible or backslash characters.
    """
    parts = path.split("/")
    bad = (
        _BAD_CHARACTER.search(path)
        or len(path.encode("utf-8", "surrogatepass")) > _MAX_PATH
        or any(part in ("", ".", "..") or _GIT_NAME.match(part) for part in parts)
    )
    if bad:
        raise InvalidInput(f"{path[:120]!r} is not a path that a store may hold", where="path")
    return path


def stays_inside(path: str) -> bool:
    """Whether a path of a tree from outside can be a file of a work tree, and not git's own."""
    if os.name == "nt" and ("\\" in path or ":" in path):
        return False
    parts = path.split("/")
    if not _NOWHERE.isdisjoint(parts):
        return False
    if path.isascii() and "git" not in path.lower():  # nearly every path, of thousands
        return True
    return not any(_GIT_NAME.match(_IGNORED.sub("", part)) for part in parts)


def write_commits(runner: Runner, commits: Sequence[NewCommit]) -> tuple[list[str], list[str]]:
    """Write ``commits`` durably; returns their ids and the inflight refs that hold them.

    An object that exists already is no error.

    Raises:
        InvalidInput: a path, a mark or a text cannot be stored.
        GitFailed: git refused or died; nothing is visible then.
    """
    stream, refs = _stream(commits)
    reports = _crash_reports(runner.git_dir)
    try:
        out = runner.run(["fast-import", *_OPTIONS], stdin=stream, writes=True).out
    except GitFailed:
        # Its last lines say the same; nobody would ever take the files away.
        for path in _crash_reports(runner.git_dir) - reports:
            path.unlink(missing_ok=True)
        raise
    oids = out.decode("ascii", "replace").split()
    if len(oids) != len(commits) or not all(map(is_oid, oids)):
        raise GitFailed("git fast-import ended without naming every commit that it wrote")
    _make_durable(runner.git_dir, oids)
    return oids, refs


def _crash_reports(git_dir: Path) -> set[Path]:
    return set(git_dir.glob("fast_import_crash_*"))


def _make_durable(git_dir: Path, oids: Sequence[str]) -> None:
    """Sync the names of what was written: git syncs the files, not the folders that name them.

    What was written lies in a pack, or, where it was one object alone, in a file of its own.
    """
    objects = git_dir / "objects"
    folders = {objects / "pack"}
    for oid in oids:
        if (objects / oid[:2] / oid[2:]).exists():
            folders |= {objects / oid[:2], objects}
    try:
        for folder in folders:
            fsync_folder(folder)
    except OSError as error:
        why, hint = refusal(error)
        raise GitFailed(
            f"{error.filename or objects} could not be made durable ({why}); nothing was published",
            hint=hint,
        ) from error


def _stream(commits: Sequence[NewCommit]) -> tuple[bytes, list[str]]:
    """The input of fast-import. A chain shares one ref; an unconnected commit gets its own."""
    if not commits:
        raise InvalidInput("there is no commit to write", where="commits")
    name = INFLIGHT + uuid.uuid4().hex
    tips: dict[str, str] = {}  # mark of a ref's tip -> ref
    refs: list[str] = []
    parts: list[bytes] = []
    for number, commit in enumerate(commits, 1):
        ref = next((tips.pop(parent) for parent in commit.parents if parent in tips), None)
        if ref is None:
            ref = f"{name}-{len(refs)}"
            refs.append(ref)
        tips[f":{number}"] = ref
        parts += _commit(commit, number, ref)
    parts.append(b"done\n")
    return b"".join(parts), refs


def _commit(commit: NewCommit, number: int, ref: str) -> list[bytes]:
    for parent in commit.parents:
        mark = _MARK.match(parent)
        if not is_oid(parent) and not (mark and int(mark[1]) < number):
            raise InvalidInput(f"{parent!r} is no commit id and no earlier mark", where="parent")
    head = [
        f"commit {ref}",
        f"mark :{number}",
        f"author {format_signature(*commit.author)}",
        f"committer {format_signature(*commit.committer)}",
    ]
    # Without parents the ref is new, so fast-import starts from the empty tree.
    links = [f"from {commit.parents[0]}"] if commit.parents else []
    links += [f"merge {parent}" for parent in commit.parents[1:]]
    if commit.base_tree is not None:
        if not is_oid(commit.base_tree):
            raise InvalidInput(f"{commit.base_tree!r} is not a tree id", where="base_tree")
        links += ["deleteall", f'M 040000 {commit.base_tree} ""']
    message = _utf8(commit.message, "message")
    if b"\0" in message:
        raise InvalidInput("a commit message cannot hold a NUL character", where="message")
    return [
        _utf8("\n".join(head) + "\n", "author or committer"),
        _data(message),
        *(f"{link}\n".encode("ascii") for link in links),
        *_changes(commit.changes),
        b"\nget-mark :%d\n" % number,
    ]


def _changes(changes: Mapping[str, bytes | str | None]) -> list[bytes]:
    """Deletions first: a folder may give way to a file of the same name, or the reverse."""
    deleted: list[bytes] = []
    stored: list[bytes] = []
    for path, value in changes.items():
        name = _quoted(check_path(path))
        if value is None:
            deleted.append(b"D " + name + b"\n")
        elif isinstance(value, bytes):
            stored.append(b"M 100644 inline " + name + b"\n" + _data(value))
        elif is_oid(value):
            stored.append(b"M 100644 " + value.encode("ascii") + b" " + name + b"\n")
        else:
            raise InvalidInput(f"{value!r} is not a blob id", where=path)
    return deleted + stored


def _quoted(path: str) -> bytes:
    return b'"' + path.replace('"', '\\"').encode("utf-8") + b'"'


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _utf8(text: str, where: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"half of a surrogate pair at character {error.start} cannot be stored", where=where
        ) from error
