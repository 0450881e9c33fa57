"""What stands in a memory's places and is of the wrong kind: a file, a folder or a link instead.

Nothing here is trusted or moved; it is found, so that ``fsck`` and ``status`` can name it before
a command trips over it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from gitmem.domain.layout import (
    ARTIFACTS,
    CACHE,
    EVIDENCE,
    MANIFEST,
    POLICY,
    README,
    RECORD_TYPES,
    RECORDS,
    REVIEWERS,
    SESSIONS,
    SPOOL,
    TOMBSTONES,
    VIEW,
    WORKTREE_NOTE,
)
from gitmem.domain.shell import shell_word
from gitmem.repo import Repo
from gitmem.repo.lock import LOCK_FILE, QUEUE_FILE
from gitmem.repo.packed import PACKED_REFS, unreadable_lines
from gitmem.repo.places import LeadsOut, Misplaced, misplaced, misplaced_for_refs
from gitmem.repo.runner import GIT_STAMP
from gitmem.repo.worktree import work_trees
from gitmem.results import Problem
from gitmem.store.newest import NEWEST_FILE
from gitmem.store.root import ROOT_FILE
from gitmem.store.view_file import EDITED

_PRIVATE_FOLDERS = (SESSIONS, ARTIFACTS, EDITED, "damaged", SPOOL)
_LOCKS = (LOCK_FILE, QUEUE_FILE)
_CACHES = (CACHE, f"{CACHE}-wal", f"{CACHE}-shm")
_PRIVATE_FILES = (*_LOCKS, *_CACHES, WORKTREE_NOTE, ROOT_FILE)
_TREE_FOLDERS = (RECORDS, EVIDENCE, TOMBSTONES, REVIEWERS)
_TREE_FILES = (VIEW, MANIFEST, POLICY, README)


def misplaced_problems(repo: Repo, *, every_file: bool = False) -> list[Problem]:
    """Return a problem for each place of the memory where something of the wrong kind stands.

    Looks at the git directory and at the files that are checked out from main: at the folders of
    records and quotes, or, where ``every_file`` is wanted, at each of them.
    """
    found = [Problem(str(one.path), one.what, one.fix) for one in _in_git_dir(repo)]
    found += _packed_refs(repo)
    for tree in work_trees(repo):
        where = shell_word(str(tree.path))
        for one in _in_files(tree.path, every_file):
            name = shell_word(one.path.relative_to(tree.path).as_posix())
            back = f"git -C {where} checkout -- {name}"
            fix = f"Move it away, and take main's again: {one.away} && {back}"
            found.append(Problem(str(one.path), one.what, fix))
    return found


def _packed_refs(repo: Repo) -> Iterator[Problem]:
    lines = unreadable_lines(repo.git_dir)
    if lines:
        what = f"line {lines[0]} is none that git can read, so that it reads no ref at all"
        fix = "To take out what is no line, and keep the file as it was: gitmem fsck --repair"
        yield Problem(str(repo.git_dir / PACKED_REFS), what, fix)


def _in_git_dir(repo: Repo) -> Iterator[Misplaced | LeadsOut]:
    yield from misplaced_for_refs(repo.git_dir)
    yield from misplaced(repo.git_dir, [], ["index"])
    sessions = repo.private / SESSIONS
    names = sorted(os.listdir(sessions)) if sessions.is_dir() else []
    files = [f"{SESSIONS}/{name}" for name in names if name.endswith(".jsonl")]
    yield from misplaced(
        repo.private, _PRIVATE_FOLDERS, [*_PRIVATE_FILES, NEWEST_FILE, GIT_STAMP, *files]
    )


def _in_files(root: Path, every_file: bool) -> Iterator[Misplaced]:
    kinds = [f"{RECORDS}/{kind}" for kind in RECORD_TYPES]
    yield from misplaced(root, [*_TREE_FOLDERS, *kinds], _TREE_FILES)
    for top in (RECORDS, EVIDENCE, TOMBSTONES) if every_file else ():
        for folder, inside, _ in os.walk(root / top):
            for name in sorted(inside):
                if name.endswith((".md", ".json")):
                    yield Misplaced(Path(folder, name), is_folder=True)
