"""Whatever state a person's repositories are in, every command leaves that state as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.cli.root import COMMANDS
from tests.cases.calls import MAKES_A_STORE, Ids, call, reads, writes
from tests.cases.conftest import Project
from tests.store.stories import plain

TABS, GONE = "records/user/use-tabs.md", "records/user/brief.md"
EVE = ("-c", "user.name=Eve", "-c", "user.email=eve@example.org")
# What a merge brings along where main is checked out.
BROUGHT = ("records/", "evidence/", "tombstones/", "MEMORY.md", "manifest.json", "policy.yaml")
# What of a git directory gitmem may change: its own folder, objects, the branches of the memory
# with their reflogs.
OURS = ("gitmem/", "objects/", "logs/", "refs/gitmem/", "refs/heads/main", "refs/heads/proposals/")


def test_the_calls_of_these_tests_are_of_every_command(tmp_path: Path) -> None:
    ids = Ids("a", "b", "c", "d", "e")
    called = {args[0] for args in [*reads(ids), *writes(ids, tmp_path)] if args}
    assert called | MAKES_A_STORE == set(COMMANDS)


# --- the states --------------------------------------------------------------------------------


def commit(repo: Path, text: str) -> None:
    (repo / "mine.txt").write_text(text)
    plain(repo, "add", "mine.txt")
    plain(repo, "commit", "-q", "--no-verify", "-m", text)


def clean(repo: Path) -> None:
    """Nothing is under way."""


def dirty(repo: Path) -> None:
    """One file edited, one deleted, one untracked, one that git was told not to look at."""
    for name in plain(repo, "ls-files").split():
        if name in (TABS, "a.txt"):
            with (repo / name).open("a", encoding="utf-8") as file:
                file.write("mine alone 我的\n")
    if (repo / "README.md").exists():
        plain(repo, "update-index", "--skip-worktree", "README.md")
        (repo / "README.md").write_text("a README of my own\n")
        (repo / GONE).unlink()
    (repo / "untracked.txt").write_text("untracked\n")


def staged(repo: Path) -> None:
    """One file new in the index, one edited there and then edited further."""
    tracked = repo / (TABS if (repo / TABS).exists() else "a.txt")
    for text in ("staged 暂存\n", "and more\n"):
        with tracked.open("a", encoding="utf-8") as file:
            file.write(text)
        if text.startswith("staged"):
            plain(repo, "add", str(tracked))
    (repo / "staged.txt").write_text("staged\n")
    plain(repo, "add", "staged.txt")


def detached(repo: Path) -> None:
    plain(repo, "checkout", "-q", "--detach")


def rebasing(repo: Path) -> None:
    """Stopped in a rebase on a conflict, with one file staged."""
    here = plain(repo, "symbolic-ref", "--short", "HEAD")
    plain(repo, "checkout", "-q", "-b", "upstream")
    commit(repo, "one\n")
    plain(repo, "checkout", "-q", "-b", "topic", here)
    commit(repo, "two\n")
    stopped = subprocess.run(["git", *EVE, "rebase", "upstream"], cwd=repo, capture_output=True)
    assert stopped.returncode and (repo / ".git/rebase-merge").exists()
    (repo / "staged.txt").write_text("staged\n")
    plain(repo, "add", "staged.txt")


def bisecting(repo: Path) -> None:
    plain(repo, "checkout", "-q", "-b", "topic")
    for text in ("one\n", "two\n", "three\n", "four\n"):
        commit(repo, text)
    plain(repo, "bisect", "start", "topic", "topic~4")
    assert (repo / ".git/BISECT_LOG").exists()


STATES: list[Callable[[Path], None]] = [clean, dirty, staged, detached, rebasing, bisecting]


# --- what is a person's ------------------------------------------------------------------------


def everything(folder: Path, *without: str) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder, and every link: its mode and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(without) and (path.is_symlink() or path.is_file()):
            content = bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
            found[name] = (path.lstat().st_mode, content)
    return found


def untouchable(store: Path, *also_ours: str) -> dict[str, tuple[int, bytes]]:
    """What no command may change in a memory's git directory and in its files."""
    git_dir = store / ".git" if (store / ".git").exists() else store
    found = everything(git_dir, *OURS, *also_ours)
    return found | (everything(store, ".git/", *also_ours) if git_dir != store else {})


def staged_by_the_person(store: Path) -> list[str]:
    """The index's entries that no merge brings along, with their ids and flags."""
    lines = plain(store, "ls-files", "-z", "-s", "-v").split("\0")
    return [line for line in lines if not line.partition("\t")[2].startswith(BROUGHT)]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_command_leaves_a_persons_state_as_it_is(
    project: Project, tmp_path: Path, state: Callable[[Path], None]
) -> None:
    """That of the memory, and that of the project around it."""
    root, store, ids = project
    state(root)
    state(store)
    around, before = everything(root, ".memory/"), untouchable(store)
    for args in reads(ids):
        assert call(store, *args).code == 0, args
        assert untouchable(store) == before, args
    ours: tuple[str, ...] = ()
    if plain(store, "rev-parse", "--abbrev-ref", "HEAD") == "main":
        ours = ("index", *BROUGHT)
    index, before = staged_by_the_person(store), untouchable(store, *ours)
    edited = (store / TABS).read_bytes()
    for args in writes(ids, tmp_path / "input"):
        done = call(store, *args)
        assert done.code == 0, (args, done)
        assert untouchable(store, *ours) == before, args
        assert staged_by_the_person(store) == index, args
        assert state not in (dirty, staged) or (store / TABS).read_bytes() == edited, args
        assert state is not dirty or not (store / GONE).exists(), args
    assert everything(root, ".memory/") == around
    listed = {record["name"] for record in call(store, "list", "--json").json}
    assert listed == {"use-tabs", "db-choice", "run-tests"}
    assert call(store, "fsck").code == 0


def run_all(store: Path, ids: Ids, folder: Path) -> None:
    for args in [*reads(ids), *writes(ids, folder)]:
        done = call(store, *args)
        assert done.code == 0, (args, done)


def test_in_a_bare_memory_every_command_works(project: Project, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    (project.store / ".git").rename(bare)
    (bare / "index").unlink()
    plain(bare, "config", "core.bare", "true")
    before = untouchable(bare)
    run_all(bare, project.ids, tmp_path / "in")
    assert untouchable(bare) == before
    assert call(bare, "fsck").code == 0


def test_from_a_linked_work_tree_every_command_works_and_leaves_the_other_alone(
    project: Project, tmp_path: Path
) -> None:
    """Main is checked out in the linked one, which follows; the other one holds a draft."""
    store, linked = project.store, tmp_path / "linked 工作区"
    plain(store, "checkout", "-q", "-b", "draft")
    commit(store, "a draft\n")
    plain(store, "worktree", "add", "-q", str(linked), "main")
    (store / "mine.txt").write_text("edited\n")
    (linked / "untracked.txt").write_text("untracked\n")
    private = "worktrees/linked-工作区/index"
    before = untouchable(store, private)
    pointer = (linked / ".git").read_bytes()
    run_all(linked, project.ids, tmp_path / "in")
    assert untouchable(store, private) == before
    assert (linked / ".git").read_bytes() == pointer
    assert plain(linked, "status", "--porcelain") == "?? untracked.txt"
    assert call(store, "list").out == call(linked, "list").out != ""


def test_a_rebase_of_main_that_is_given_up_loses_no_merge(project: Project, tmp_path: Path) -> None:
    """git sets main back to where the rebase began; what was merged meanwhile is found again."""
    store, ids = project.store, project.ids
    plain(store, "branch", "upstream")
    commit(store, "two\n")
    plain(store, "checkout", "-q", "upstream")
    commit(store, "one\n")
    plain(store, "checkout", "-q", "main")
    stopped = subprocess.run(["git", *EVE, "rebase", "upstream"], cwd=store, capture_output=True)
    assert stopped.returncode and (store / ".git/rebase-merge").exists()
    assert call(store, "approve", ids.open, "--yes").code == 0
    plain(store, "rebase", "--abort")
    assert "main was moved back" in call(store, "status").out
    assert call(store, "fsck").code == 1
    assert call(store, "fsck", "--repair").code == 0
    assert "db-choice" in call(store, "list").out
    assert call(store, "fsck").code == 0
