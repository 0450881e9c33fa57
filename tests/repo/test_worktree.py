"""Checked-out files follow main, and a person's work stays."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.domain.objects import ZERO, Identity
from gitmem.errors import Refused
from gitmem.repo import NewCommit, RefUpdate, Repo, bring_along, finish_worktree, note_worktree
from gitmem.repo.begun import BEGUN_NOTE, Begun, read_begun
from gitmem.repo.edits import main_work_trees
from gitmem.repo.worktree import (
    clear_stale_index_lock,
    index_locks,
    make_index,
    stale_index_locks,
    without_index,
    work_trees,
)

Git = Callable[..., str]
Changes = dict[str, bytes | str | None]
Merge = Callable[..., list[str]]

ADA = (Identity("Ada", "ada@example.org"), 1_790_000_000)
MAIN = "refs/heads/main"
FIRST: Changes = {
    "MEMORY.md": b"view 1\n",
    "records/user/喜好.md": b"tabs\n",
    "records/user/old.md": b"old\n",
    "records/project/x.md": b"x\n",
}
SECOND: Changes = {
    "MEMORY.md": b"view 2\n",
    "records/user/喜好.md": b"spaces\n",
    "records/user/old.md": None,
    "records/project/x.md": None,
    "evidence/a b/新.md": b"new\n",
}


def move(repo: Repo, changes: Changes) -> tuple[str | None, str]:
    old = repo.read_ref(MAIN)
    (oid,) = repo.write([NewCommit((old,) if old else (), "m\n", ADA, ADA, changes)])
    note_worktree(repo, old)
    repo.publish([RefUpdate(MAIN, oid, old or ZERO)])
    return old, oid


def finished(root: Path) -> list[str]:
    """What is said when files are where they could not be brought before."""
    return [f"Finished bringing the files in {root} along to main."]


def merge(repo: Repo, changes: Changes) -> list[str]:
    """What a merge does: note, move main, bring the files along."""
    with repo.lock():
        return bring_along(repo, *move(repo, changes))


@pytest.fixture
def root(repo: Repo) -> Path:
    """The work tree of a store whose first files are checked out."""
    assert merge(repo, FIRST) == []
    assert repo.root
    return repo.root


def status(git: Git, root: Path) -> list[str]:
    return sorted(git(root, "status", "--porcelain", "-uall", "-z").split("\0")[:-1])


def files(root: Path) -> set[str]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {
        name for path in found if not (name := path.relative_to(root).as_posix()).startswith(".git")
    }


def test_a_clean_checkout_follows_from_nothing_to_the_newest(
    repo: Repo, root: Path, git: Git
) -> None:
    assert files(root) == set(FIRST)
    assert status(git, root) == []
    assert merge(repo, SECOND) == []
    assert files(root) == {"MEMORY.md", "records/user/喜好.md", "evidence/a b/新.md"}
    assert (root / "records/user/喜好.md").read_bytes() == b"spaces\n"
    assert status(git, root) == []
    assert not (repo.private / "worktree-at").exists()


def test_a_commit_of_everything_after_a_merge_reverts_nothing(
    repo: Repo, root: Path, git: Git
) -> None:
    (root / "MEMORY.md").write_text("mine\n")
    left = merge(repo, SECOND)
    assert left == [f"Left MEMORY.md in {root} as it is: it was changed here."]
    git(root, "commit", "-q", "-a", "-m", "note")
    assert git(root, "show", "HEAD:records/user/喜好.md") == "spaces\n"
    assert git(root, "show", "HEAD:MEMORY.md") == "mine\n"
    assert git(root, "diff", "--name-only", "HEAD^", "HEAD") == "MEMORY.md\n"


def test_dirty_staged_and_untracked_work_stays_as_it_is(repo: Repo, root: Path, git: Git) -> None:
    (root / "MEMORY.md").write_text("dirty\n")
    (root / "records/user/喜好.md").write_text("staged\n")
    (root / "records/user/mine.md").write_text("mine\n")
    git(root, "add", "records/user/喜好.md", "records/user/mine.md")
    (root / "evidence/a b").mkdir(parents=True)
    (root / "evidence/a b/新.md").write_text("in the way\n")
    (root / "untracked.txt").write_text("untracked\n")
    left = merge(repo, SECOND)
    assert len(left) == 3
    assert "another version of it is staged" in left[2]
    assert status(git, root) == sorted(
        [
            " M MEMORY.md",
            " M evidence/a b/新.md",
            "A  records/user/mine.md",
            "M  records/user/喜好.md",
            "?? untracked.txt",
        ]
    )
    assert (root / "MEMORY.md").read_text() == "dirty\n"
    assert (root / "evidence/a b/新.md").read_text() == "in the way\n"
    assert git(root, "show", ":records/user/喜好.md") == "staged\n"
    assert not (root / "records/project").exists()
    assert (root / "records/user/mine.md").read_text() == "mine\n"
    assert not list(root.rglob("*.tmp"))


def test_a_file_that_a_person_removed_is_not_brought_back(repo: Repo, root: Path, git: Git) -> None:
    (root / "MEMORY.md").unlink()
    git(root, "rm", "-q", "records/user/喜好.md")
    left = merge(repo, SECOND)
    assert not (root / "MEMORY.md").exists()
    assert not (root / "records/user/喜好.md").exists()
    assert len(left) == 2
    assert status(git, root) == [" D MEMORY.md", "D  records/user/喜好.md"]


def test_nothing_else_of_the_repository_changes(repo: Repo, root: Path, git: Git) -> None:
    git(root, "branch", "other")
    (root / "MEMORY.md").write_text("dirty\n")
    kept = {name: (repo.git_dir / name).read_bytes() for name in ("HEAD", "config")}
    merge(repo, SECOND)
    assert {name: (repo.git_dir / name).read_bytes() for name in kept} == kept
    assert not (repo.git_dir / "ORIG_HEAD").exists()
    assert not (repo.git_dir / "hooks").exists()


@pytest.mark.parametrize("way", ["detached", "branch"])
def test_a_head_that_is_not_main_is_none_of_our_business(
    repo: Repo, root: Path, git: Git, way: str
) -> None:
    git(root, "checkout", "-q", *(["--detach"] if way == "detached" else ["-b", "mine"]))
    (root / "MEMORY.md").write_text("dirty\n")
    index = (repo.git_dir / "index").read_bytes()
    head = (repo.git_dir / "HEAD").read_bytes()
    assert merge(repo, SECOND) == []
    assert (repo.git_dir / "index").read_bytes() == index
    assert (repo.git_dir / "HEAD").read_bytes() == head
    assert not (repo.private / "worktree-at").exists()
    assert files(root) == set(FIRST)


def test_linked_work_trees_on_main_follow_too(
    repo: Repo, root: Path, git: Git, tmp_path: Path
) -> None:
    git(root, "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    git(root, "worktree", "add", "-q", str(linked), "main")
    (linked / "MEMORY.md").write_text("dirty\n")
    with Repo.open(linked) as opened:
        (left,) = merge(opened, SECOND)
    assert f"MEMORY.md in {linked}" in left
    assert status(git, linked) == [" M MEMORY.md"]
    assert files(root) == set(FIRST)
    git(root, "worktree", "remove", "--force", str(linked))
    git(root, "checkout", "-q", "main")
    assert merge(repo, {"more": b"1"}) == []
    assert status(git, root) == []


def test_a_work_tree_that_does_not_point_back_is_never_written(
    repo: Repo, root: Path, tmp_path: Path, git: Git
) -> None:
    """A store that was handed over names the home of somebody else as its work tree."""
    victim = tmp_path / "victim"
    git(tmp_path, "init", "-q", "-b", "main", str(victim))
    (victim / "MEMORY.md").write_bytes(b"view 1\n")
    entry = repo.git_dir / "worktrees/evil"
    entry.mkdir(parents=True)
    (entry / "gitdir").write_text(f"{victim}/.git\n")
    (entry / "commondir").write_text("../..\n")
    (entry / "HEAD").write_text("ref: refs/heads/main\n")
    assert [tree.path for tree in work_trees(repo)] == [root]
    merge(repo, SECOND)
    assert (victim / "MEMORY.md").read_bytes() == b"view 1\n"
    assert files(victim) == {"MEMORY.md"}


def test_a_bare_store_has_no_files_to_bring_along(tmp_path: Path) -> None:
    with Repo.init(tmp_path / "bare.git", bare=True) as repo:
        merge(repo, FIRST)
        assert merge(repo, SECOND) == []
        assert not (repo.private / "worktree-at").exists()
        assert not (repo.git_dir / "MEMORY.md").exists()
        assert not (repo.git_dir / "index").exists()


@pytest.mark.parametrize("dirty", [False, True])
def test_a_folder_that_became_a_link_is_not_followed(
    repo: Repo, root: Path, tmp_path: Path, dirty: bool
) -> None:
    outside = tmp_path / "outside"
    (root / "records/user").rename(outside)
    (root / "records/user").symlink_to(outside)
    if dirty:
        (root / "MEMORY.md").write_text("dirty\n")
    left = merge(repo, SECOND)
    assert any("symbolic link" in line for line in left)
    assert (outside / "喜好.md").read_bytes() == b"tabs\n"
    assert (outside / "old.md").read_bytes() == b"old\n"
    assert (root / "records/user").is_symlink()


def test_a_file_that_became_a_link_is_not_followed(repo: Repo, root: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"view 1\n")
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(target)
    assert any("MEMORY.md" in line for line in merge(repo, SECOND))
    assert target.read_bytes() == b"view 1\n"
    assert (root / "MEMORY.md").is_symlink()


def test_a_file_checked_out_with_crlf_counts_as_unchanged(repo: Repo, root: Path, git: Git) -> None:
    git(root, "config", "core.autocrlf", "true")
    for path in files(root):
        (root / path).unlink()
    git(root, "checkout", "-q", "--", ".")
    assert (root / "records/user/喜好.md").read_bytes() == b"tabs\r\n"
    (root / "MEMORY.md").write_text("dirty\n")
    assert len(merge(repo, SECOND)) == 1
    assert (root / "records/user/喜好.md").read_bytes() == b"spaces\n"
    assert status(git, root) == [" M MEMORY.md"]


def test_skip_worktree_and_assume_unchanged_are_kept(repo: Repo, root: Path, git: Git) -> None:
    git(root, "update-index", "--skip-worktree", "records/user/喜好.md")
    git(root, "update-index", "--assume-unchanged", "MEMORY.md")
    (root / "records/user/喜好.md").unlink()
    (root / "MEMORY.md").write_text("dirty\n")
    left = merge(repo, SECOND)
    assert [line for line in left if "喜好" in line] == []
    flags = git(root, "-c", "core.quotePath=false", "ls-files", "-v").splitlines()
    assert "S records/user/喜好.md" in flags
    assert "h MEMORY.md" in flags
    assert not (root / "records/user/喜好.md").exists()
    assert (root / "MEMORY.md").read_text() == "dirty\n"


def test_while_a_merge_is_under_way_the_files_wait(repo: Repo, root: Path, git: Git) -> None:
    git(root, "checkout", "-q", "-b", "side")
    (root / "side.txt").write_text("side\n")
    git(root, "add", "side.txt")
    git(root, "commit", "-q", "-m", "side")
    git(root, "checkout", "-q", "main")
    git(root, "merge", "-q", "--no-ff", "--no-commit", "side")
    index = (repo.git_dir / "index").read_bytes()
    (said,) = merge(repo, SECOND)
    assert "a merge is under way there" in said
    assert (repo.git_dir / "index").read_bytes() == index
    assert files(root) == {*FIRST, "side.txt"}
    # The note keeps where the files are, however far main goes meanwhile.
    (said,) = merge(repo, {"more": b"1\n"})
    assert (repo.git_dir / "MERGE_HEAD").exists()
    git(root, "reset", "-q", "--merge", str(repo.read_ref(MAIN)) + "~2")
    git(root, "update-ref", MAIN, git(root, "rev-parse", "ORIG_HEAD").strip())
    assert finish_worktree(repo) == finished(root)
    assert files(root) == {"MEMORY.md", "records/user/喜好.md", "evidence/a b/新.md", "more"}
    assert status(git, root) == []
    assert finish_worktree(repo) == []


def test_while_git_holds_the_index_the_files_wait(repo: Repo, root: Path, git: Git) -> None:
    (repo.git_dir / "index.lock").touch()
    (said,) = merge(repo, SECOND)
    assert "index.lock" in said
    assert files(root) == set(FIRST)
    assert finish_worktree(repo) == [said]
    (repo.git_dir / "index.lock").unlink()
    assert finish_worktree(repo) == finished(root)
    assert status(git, root) == []
    assert (root / "MEMORY.md").read_bytes() == b"view 2\n"


KILLED = """
import os, signal, sys
from pathlib import Path
from gitmem.domain.objects import Identity
from gitmem.errors import Refused
from gitmem.repo import NewCommit, RefUpdate, Repo, note_worktree
repo = Repo.open(Path(sys.argv[1]))
ada = (Identity("Ada", "ada@example.org"), 1)
with repo.lock():
    old = repo.read_ref("refs/heads/main")
    (oid,) = repo.write([NewCommit((old,), "m", ada, ada, {"MEMORY.md": b"view 2"})])
    note_worktree(repo, old)
    if sys.argv[2] == "after":
        repo.publish([RefUpdate("refs/heads/main", oid, old)])
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("dirty", [False, True])
def test_what_a_killed_merge_left_is_finished_by_the_next_command(
    repo: Repo, root: Path, git: Git, when: str, dirty: bool
) -> None:
    if dirty:
        (root / "records/project/x.md").write_text("dirty\n")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), when],
        cwd=Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == -9
    assert (root / "MEMORY.md").read_bytes() == b"view 1\n"
    assert (repo.private / "worktree-at").exists()
    assert finish_worktree(repo) == (finished(root) if when == "after" else [])
    assert (root / "MEMORY.md").read_bytes() == (b"view 2" if when == "after" else b"view 1\n")
    assert status(git, root) == ([" M records/project/x.md"] if dirty else [])
    assert not (repo.private / "worktree-at").exists()


@pytest.mark.parametrize("text", ["", "[]", '{"x": 1}', '{".": "../x"}', "\0"])
def test_a_damaged_note_is_dropped_and_told(repo: Repo, root: Path, text: str) -> None:
    note = repo.private / "worktree-at"
    note.write_text(text)
    (said,) = finish_worktree(repo)
    assert "damaged" in said
    assert not note.exists()


def test_a_note_of_a_commit_that_is_gone_is_dropped_and_told(repo: Repo, root: Path) -> None:
    note = repo.private / "worktree-at"
    note.write_text('{".": "' + "1" * 40 + '"}')
    (said,) = finish_worktree(repo)
    assert "is gone" in said
    assert not note.exists()


def test_finishing_leaves_it_to_a_writer_that_is_at_work(repo: Repo, root: Path) -> None:
    note = repo.private / "worktree-at"
    note.write_text('{".": "' + str(repo.read_ref(MAIN)) + '"}')
    with Repo.open(root) as other, other.lock():
        assert finish_worktree(repo) == []
        assert note.exists()
    assert finish_worktree(repo) == []
    assert not note.exists()


def test_a_filter_of_the_stores_configuration_is_not_run_and_files_still_follow(
    repo: Repo, root: Path, git: Git, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    git(root, "config", "filter.x.smudge", f"touch '{canary}'; cat")
    git(root, "config", "filter.x.clean", f"touch '{canary}'; cat")
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info/attributes").write_text("* filter=x\n")
    assert merge(repo, SECOND) == []
    assert (root / "MEMORY.md").read_bytes() == b"view 2\n"
    assert not canary.exists()


@pytest.mark.skipif(os.name != "posix", reason="modes are a POSIX thing")
def test_a_replaced_file_keeps_its_mode(repo: Repo, root: Path) -> None:
    (root / "MEMORY.md").chmod(0o600)
    (root / "records/project/x.md").write_text("dirty\n")
    merge(repo, SECOND)
    assert (root / "MEMORY.md").stat().st_mode & 0o777 == 0o600
    assert (root / "evidence/a b/新.md").stat().st_mode & 0o111 == 0


# --- an index that is locked, or gone ----------------------------------------------------------


def test_files_that_wait_for_a_lock_say_which_and_how_to_remove_it(
    tmp_path: Path, git: Git
) -> None:
    with Repo.init(tmp_path / "a store; touch PWN") as repo:
        assert repo.root
        merge(repo, FIRST)
        lock = repo.git_dir / "index.lock"
        lock.touch()
        (said,) = merge(repo, SECOND)
        (note,) = main_work_trees(repo)[1]
        for sentence in (said, note):
            command = sentence[sentence.index("rm ") :]
            lock.touch()
            subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
            assert not lock.exists()
        assert finish_worktree(repo) == finished(repo.root)
        assert status(git, repo.root) == []
    assert not list(tmp_path.rglob("PWN*"))


def test_only_an_old_lock_is_moved_away_and_it_is_kept(repo: Repo, root: Path, git: Git) -> None:
    linked = root.parent / "linked"
    git(root, "worktree", "add", "-q", "--detach", str(linked))
    locks = [repo.git_dir / "index.lock", repo.git_dir / "worktrees/linked/index.lock"]
    for lock, age in zip(locks, (601, 599), strict=True):
        lock.write_bytes(b"half an index")
        os.utime(lock, (10_000 - age, 10_000 - age))
    assert index_locks(repo, 10_000) == [(locks[0], 601), (locks[1], 599)]
    assert stale_index_locks(repo, 10_000) == locks[:1]
    assert clear_stale_index_lock(repo, locks[1], 10_000) is None
    for _ in range(2):
        kept = clear_stale_index_lock(repo, locks[0], 10_000)
        assert kept and kept.parent == repo.private / "damaged"
        assert kept.read_bytes() == b"half an index"
        locks[0].write_bytes(b"half an index")
        os.utime(locks[0], (1, 1))
    assert len(list((repo.private / "damaged").iterdir())) == 2
    assert locks[1].exists()


KILLED_GIT = """
import resource, sys
from pathlib import Path
from gitmem.repo import Repo, finish_worktree
repo = Repo.open(Path(sys.argv[1]))
repo.runner.run(["version"])
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
print(*finish_worktree(repo))
"""


@pytest.mark.skipif(os.name != "posix", reason="limits are a POSIX thing")
@pytest.mark.parametrize("theirs", [False, True])
def test_a_git_of_ours_that_is_killed_leaves_no_lock_on_the_index(
    repo: Repo, root: Path, git: Git, theirs: bool
) -> None:
    lock = repo.git_dir / "index.lock"
    lock.touch()
    merge(repo, SECOND)
    if not theirs:
        lock.unlink()
    done = subprocess.run(
        [sys.executable, "-c", KILLED_GIT, str(root)],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
    )
    assert b"still as before" in done.stdout
    assert lock.exists() is theirs
    lock.unlink(missing_ok=True)
    assert finish_worktree(repo) == finished(root)
    assert status(git, root) == []


def test_an_index_that_is_gone_is_made_anew_where_the_files_are(
    repo: Repo, root: Path, git: Git
) -> None:
    assert without_index(repo) == []
    (root / "MEMORY.md").write_text("mine\n")
    (repo.git_dir / "index").unlink()
    (tree,) = without_index(repo)
    (said,) = merge(repo, SECOND)
    assert "gitmem fsck --repair" in said
    assert not (repo.git_dir / "index").exists()
    before = {path: (root / path).read_bytes() for path in files(root)}
    make_index(repo, tree)
    assert {path: (root / path).read_bytes() for path in files(root)} == before
    assert without_index(repo) == []
    left, said = finish_worktree(repo)
    assert "MEMORY.md" in left
    assert [said] == finished(root)
    assert status(git, root) == [" M MEMORY.md"]
    with pytest.raises(Refused):
        make_index(repo, tree)


def test_where_nothing_was_ever_checked_out_no_index_is_missing(repo: Repo, root: Path) -> None:
    (repo.git_dir / "index").unlink()
    for path in files(root):
        (root / path).unlink()
    assert without_index(repo) == []
    assert merge(repo, SECOND) == []
    assert files(root) == set()


# --- what is under way, and what a file was begun on --------------------------------------------


@pytest.mark.parametrize("how", ["revert", "rebase"])
def test_a_revert_or_a_rebase_that_waits_for_a_person_is_told(
    repo: Repo, root: Path, git: Git, how: str
) -> None:
    base = repo.read_ref(MAIN)
    merge(repo, {"MEMORY.md": b"view 2\n"})
    merge(repo, {"MEMORY.md": b"view 3\n"})
    if how == "revert":
        args = ["revert", "--no-edit", "HEAD~1"]
    else:
        git(root, "branch", "side", str(base))
        git(root, "checkout", "-q", "side")
        (root / "MEMORY.md").write_text("view 4\n")
        git(root, "commit", "-q", "-a", "-m", "4")
        git(root, "checkout", "-q", "main")
        args = ["rebase", "-q", "side"]
    done = subprocess.run(["git", *args], cwd=root, capture_output=True, check=False)
    assert done.returncode != 0
    trees, notes = main_work_trees(repo)
    assert (trees, len(notes)) == ([], 1)
    assert f"a {how} is under way there" in notes[0]
    assert notes[0].endswith(f"git -C {root} status")
    git(root, how, "--abort")
    assert main_work_trees(repo) == (work_trees(repo), [])


def test_a_record_that_is_left_is_noted_with_what_it_was_begun_on(
    repo: Repo, root: Path, git: Git
) -> None:
    mine, other = "records/user/mine.md", "records/user/other.md"
    merge(repo, {mine: b"1\n", other: b"1\n"})
    first = git(root, "rev-parse", f"HEAD:{mine}").strip()
    (root / mine).write_text("1 and mine\n")
    (root / "MEMORY.md").write_text("no record\n")
    (root / "records/user/new.md").write_text("mine\n")
    merge(repo, {mine: b"2\n", "MEMORY.md": b"view 2\n", "records/user/new.md": b"theirs\n"})
    merge(repo, {mine: b"3\n", other: b"2\n"})
    noted = {mine: Begun(first, first), "records/user/new.md": Begun("", "")}
    assert read_begun(repo) == {".": noted}
    (root / "records/user/new.md").write_text("theirs\n")
    merge(repo, {mine: b"1\n", "records/user/new.md": b"newer\n"})
    assert not (repo.private / BEGUN_NOTE).exists()
