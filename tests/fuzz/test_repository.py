"""What lies in a git directory in any state: refs, pointers, notes, and git's own objects."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.config import find_store
from gitmem.domain.layout import MAIN
from gitmem.errors import GitmemError
from gitmem.repo import Repo
from gitmem.repo.begun import read_begun, write_begun
from gitmem.repo.discovery import find_git_dir
from gitmem.repo.hooks import look, shim
from gitmem.repo.person import configured_person
from gitmem.repo.refs import read_ref, symbolic_target
from gitmem.repo.revisions import find_commit
from gitmem.repo.worktree_note import parsed_note, read_note
from gitmem.store.newest import read_newest
from gitmem.store.root import check_root
from tests.fuzz.mutations import any_text, broken, dumped, fewer, nested, outcome
from tests.fuzz.readers import COMMIT, OID, TREE
from tests.store.stories import plain

Scratch = Callable[[], Path]


@contextmanager
def git_dir(**files: bytes) -> Iterator[Path]:
    """A work tree whose git directory has these files beside the least that git needs."""
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        root = Path(folder)
        for name in ("objects", "refs/heads/proposals", "gitmem", "hooks"):
            (root / ".git" / name).mkdir(parents=True)
        (root / ".git/HEAD").write_bytes(b"ref: refs/heads/main\n")
        (root / ".git/config").write_bytes(b"[core]\n\trepositoryformatversion = 0\n")
        for name, data in files.items():
            (root / ".git" / name.replace("__", "/")).write_bytes(data)
        yield root


REF_FILES = (f"{OID}\n".encode(), b"ref: refs/heads/other\n", b"ref: refs/heads/main\n")
GOOD = f"{'ab' * 20} refs/heads/good\n".encode()
PACKED = (
    b"# pack-refs with: peeled fully-peeled sorted \n" + f"{OID} refs/heads/main\n".encode(),
    f"{OID} refs/heads/main\n^{OID}\n{OID} refs/tags/main\n".encode(),
)


@given(broken(*REF_FILES), broken(*REF_FILES), broken(*PACKED))
def test_refs_in_any_state_are_an_id_nothing_or_an_error_and_leave_others_alone(
    head: bytes, loose: bytes, packed: bytes
) -> None:
    with git_dir(HEAD=head, refs__heads__main=loose) as root:
        common = root / ".git"
        (common / "packed-refs").write_bytes(GOOD + packed)
        for name in (MAIN, "HEAD", "refs/heads/other", "refs/tags/main"):
            found = outcome(lambda name=name: read_ref(common, name))  # type: ignore[misc]
            if isinstance(found, GitmemError) or found is None:
                continue
            assert len(found) == 40 and int(found, 16) >= 0
        outcome(lambda: symbolic_target(common))
        assert read_ref(common, "refs/heads/good") == "ab" * 20


@given(any_text())
def test_a_ref_of_any_name_is_an_id_nothing_or_an_error(name: str) -> None:
    with git_dir(refs__heads__main=REF_FILES[0]) as root:
        for ref in (name, f"refs/heads/{name}"):
            outcome(lambda ref=ref: read_ref(root / ".git", ref))  # type: ignore[misc]
            outcome(lambda ref=ref: symbolic_target(root / ".git", ref))  # type: ignore[misc]


POINTERS = (b"gitdir: .real\n", b"gitdir: ../x/.git/worktrees/x\n", b"../..\n", b".\n")


@given(broken(*POINTERS), broken(*POINTERS), broken(*REF_FILES))
def test_a_folder_whose_git_file_points_anywhere_is_a_repository_or_none(
    pointer: bytes, common: bytes, head: bytes
) -> None:
    with git_dir(HEAD=head, commondir=common) as root:
        os.rename(root / ".git", root / ".real")
        (root / ".git").write_bytes(pointer)
        for folder in (root, root / ".real"):
            outcome(lambda folder=folder: find_git_dir(folder))  # type: ignore[misc]
        os.mkdir(root / ".memory")
        (root / ".memory/.git").write_bytes(pointer)
        here = Path.cwd()
        os.chdir(root)
        try:
            outcome(lambda: find_store(None, {}))
        finally:
            os.chdir(here)


# --- gitmem's own notes ------------------------------------------------------------------------

BEGUN = {"main": {"records/user/a.md": [OID, "", None, None], "b": [OID, OID, OID, OID]}}
NOTES = (
    dumped({"": OID, "/work/tree": OID}),
    dumped(BEGUN),
    f"{OID}\n".encode(),
    dumped({"": nested(3)}),
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"9" * 5000,
    b"git version 2.39.5\0/usr/bin/git\0" + b"1" * 5000,
)


@given(broken(*NOTES))
def test_a_note_in_any_state_is_read_or_passed_over(data: bytes) -> None:
    names = ("worktree-at", "begun-on", "root", "newest", "git-version")
    with git_dir(**{f"gitmem__{name}": data for name in names}) as root, Repo(root) as repo:
        noted = outcome(lambda: parsed_note(repo.private / "worktree-at"))
        assert noted is None or all(len(oid) == 40 for oid in noted.values())
        begun = read_begun(repo)
        write_begun(repo, begun)
        assert {key: rows for key, rows in begun.items() if rows} == read_begun(repo)
        outcome(lambda: check_root(repo, OID))
        assert (read_newest(repo) or OID).strip("0123456789abcdef") == ""
        outcome(lambda: read_note(repo))


@fewer(4)
@given(broken(shim("pre-commit"), b"#!/bin/sh\nexec something else\n"))
def test_a_hook_in_any_state_is_gitmems_own_or_another_ones(data: bytes) -> None:
    with git_dir(hooks__pre_commit=b"", **{"hooks__pre-commit": data}) as root:
        report = outcome(lambda: look(root / ".git"))
        assert isinstance(report, GitmemError) or len(report.hooks) == 5


@fewer(4)
@given(broken(b"[user]\n\tname = Ada\n\temail = ada@example.org\n[core]\n\tbare = false\n"))
def test_settings_in_any_state_name_a_person_or_nobody(data: bytes) -> None:
    with git_dir(config=data) as root:
        outcome(lambda: configured_person(root / ".git"))
        outcome(lambda: Repo.open(root).close())


# --- git's objects -----------------------------------------------------------------------------


def write_loose(common: Path, kind: bytes, data: bytes, header: bytes | None = None) -> str:
    """Write an object as git stores it, whatever it holds; its id."""
    head = kind + b" " + str(len(data)).encode() + b"\0" if header is None else header
    oid = hashlib.sha1(head + data).hexdigest()
    write_file(common, oid, zlib.compress(head + data))
    return oid


def write_file(common: Path, oid: str, data: bytes) -> None:
    path = common / "objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.write_bytes(data)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    root = tmp_path_factory.mktemp("objects") / "repository"
    root.mkdir()
    plain(root, "init", "-q", "-b", "main", ".")
    with Repo.open(root) as repo:
        write_loose(repo.git_dir, b"blob", b"good")
        yield repo


TAG = f"object {OID}\ntype commit\ntag v1\ntagger Ada <a@b> 1 +0000\n\nmessage\n".encode()
HEADERS = (b"commit 3\0", b"tree 99999999999999999999\0", b"blob -1\0", b"\0", b"nonsense 4\0")


def read_all(repo: Repo, oid: str) -> None:
    """Every way to read an object; the good one beside it is read after each."""
    good = hashlib.sha1(b"blob 4\0good").hexdigest()
    reads: list[Callable[[], Any]] = [
        lambda: repo.reader.commit(oid),
        lambda: repo.reader.tree(oid),
        lambda: repo.reader.blob(oid, max_bytes=10_000),
        lambda: repo.reader.read(f"{oid}:records", max_bytes=10_000),
        lambda: list(repo.reader.read_many([oid, good], max_bytes=100)),
        lambda: repo.reader.resolve(f"{oid}^{{tree}}"),
        lambda: list(repo.first_parents(oid)),
    ]
    for read in reads:
        outcome(read)
        assert repo.reader.blob(good) == b"good"


@fewer(4)
@given(st.data())
def test_an_object_in_any_state_is_read_or_named_and_the_next_one_is_read(
    repository: Repo, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from([b"commit", b"tree", b"tag", b"blob"]))
    content = data.draw(broken(COMMIT, TREE, TAG))
    header = data.draw(st.sampled_from([None, None, None, *HEADERS]))
    read_all(repository, write_loose(repository.git_dir, kind, content, header))


@fewer(4)
@given(broken(zlib.compress(b"commit %d\0" % len(COMMIT) + COMMIT), zlib.compress(b"blob 4\0good")))
def test_an_object_whose_file_is_damaged_is_named_and_the_next_one_is_read(
    repository: Repo, data: bytes
) -> None:
    oid = hashlib.sha1(data).hexdigest()
    write_file(repository.git_dir, oid, data)
    read_all(repository, oid)


@fewer(4)
@given(any_text())
def test_whatever_a_person_calls_a_commit_names_one_or_none(repository: Repo, text: str) -> None:
    for revision in (text, f"main{text}", f"{OID}{text}", f"HEAD@{{{text}}}"):
        assert find_commit(repository.runner, revision) is None
        outcome(lambda revision=revision: repository.reader.resolve(revision))  # type: ignore[misc]
        outcome(lambda revision=revision: repository.reader.read(revision))  # type: ignore[misc]


def test_the_notes_that_are_broken_here_are_whole_where_they_are_not() -> None:
    """What the tests above break is read as it was meant: they do not pass by reading nothing."""
    files = {"gitmem__worktree-at": NOTES[0], "gitmem__begun-on": NOTES[1]}
    with git_dir(**files) as root, Repo(root) as repo:
        assert parsed_note(repo.private / "worktree-at") == json.loads(NOTES[0])
        assert len(read_begun(repo)["main"]) == 2
