"""Locks that a killed git of gitmem's own left are told from those of other programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.repo import Repo
from gitmem.repo.own_locks import UNDER_WAY, clear_own_locks, may_leave


class Killed(Exception):
    """Stands for the end of the process: nothing after the block is done."""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.init(tmp_path / "记忆")


def leave(repo: Repo, *names: str) -> list[Path]:
    """What a git that may take these locks leaves, if it and gitmem are killed."""
    locks = [repo.git_dir / name for name in names]
    with pytest.raises(Killed), repo.lock(), may_leave(repo.runner, locks):
        for lock in locks:
            lock.parent.mkdir(parents=True, exist_ok=True)
            lock.touch()
        raise Killed
    return locks


def test_locks_that_are_our_own_are_cleared_at_once_and_named(repo: Repo) -> None:
    names = ["HEAD.lock", "packed-refs.lock", "refs/heads/main.lock", "index.lock"]
    locks = leave(repo, *names)
    with repo.lock():
        pass
    assert not any(lock.exists() for lock in locks)
    assert [sum(name in said for said in repo.healed) for name in names] == [1, 1, 1, 1]
    assert not (repo.private / UNDER_WAY).exists()


def test_a_lock_that_was_there_before_is_somebody_elses(repo: Repo) -> None:
    theirs = repo.git_dir / "index.lock"
    theirs.touch()
    (ours, _) = leave(repo, "HEAD.lock", "index.lock")
    with repo.lock():
        pass
    assert theirs.exists()
    assert not ours.exists()


@pytest.mark.parametrize("seconds", [-60, 60])
def test_a_lock_of_another_time_is_somebody_elses(repo: Repo, seconds: int) -> None:
    (lock,) = leave(repo, "index.lock")
    time = (repo.private / UNDER_WAY).stat().st_mtime + seconds
    os.utime(lock, (time, time))
    assert clear_own_locks(repo.git_dir) == []
    assert lock.exists()
    assert not (repo.private / UNDER_WAY).exists()


def test_after_a_git_that_ended_by_itself_no_lock_is_ours(repo: Repo) -> None:
    lock = repo.git_dir / "index.lock"
    with repo.lock(), may_leave(repo.runner, [lock]):
        pass
    lock.touch()
    with repo.lock():
        pass
    assert lock.exists()
    assert repo.healed == []


def test_a_lock_that_git_could_not_remove_is_cleared_when_it_has_ended(repo: Repo) -> None:
    lock, healed = repo.git_dir / "packed-refs.lock", list[str]()
    with repo.lock():
        with may_leave(repo.runner, [lock], healed):
            lock.touch()
        assert not lock.exists()
    (said,) = healed
    assert "packed-refs.lock" in said
    assert not (repo.private / UNDER_WAY).exists()


def test_who_does_not_hold_the_store_notes_nothing(repo: Repo) -> None:
    leave(repo, "index.lock")
    before = (repo.private / UNDER_WAY).read_bytes()
    with may_leave(repo.runner, [repo.git_dir / "HEAD.lock"]):
        assert (repo.private / UNDER_WAY).read_bytes() == before
    assert (repo.private / UNDER_WAY).read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1, null]", '["../victim.lock"]', '["/victim.lock"]', '["HEAD"]', "[" * 9999],
)
def test_a_damaged_note_removes_nothing(repo: Repo, text: str) -> None:
    victim = repo.git_dir.parent / "victim.lock"
    with repo.lock():
        (repo.private / UNDER_WAY).write_text(text)
    victim.touch()
    with repo.lock():
        pass
    assert victim.exists()
    assert (repo.git_dir / "HEAD").exists()
    assert not (repo.private / UNDER_WAY).exists()


def test_locks_of_writes_under_way_are_cleared_whatever_their_age(repo: Repo) -> None:
    lock = repo.git_dir / "refs/gitmem/inflight/some-write.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    with repo.lock():
        pass
    assert not lock.exists()
    assert any("inflight/some-write.lock" in said for said in repo.healed)
