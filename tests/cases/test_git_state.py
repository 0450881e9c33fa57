"""Whatever state a person's repositories are in, every command leaves that state as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.cli.root import COMMANDS
from tests.cases.calls import MAKES_A_STORE, NAMES, NEEDS_A_MODEL, Ids, call, reads, writes
from tests.cases.conftest import Project
from tests.conftest import Effort
from tests.store.stories import plain

TABS, GONE = "records/user/use-tabs.md", "records/user/brief.md"
EVE = ("-c", "user.name=Eve", "-c", "user.email=eve@example.org")
# What a merge brings along where main is checked out.
BROUGHT = (
    *("records/", "evidence/", "tombstones/", "reviewers/"),
    *("MEMORY.md", "manifest.json", "policy.yaml"),
)
# What of a git directory gitmem may change: its own folder, objects, the branches of the memory
# with their reflogs.
REFS = ("refs/gitmem/", "refs/heads/main", "refs/heads/proposals/")
OURS = ("gitmem/", "objects/", "logs/HEAD", *REFS, *(f"logs/{ref}" for ref in REFS))


def test_the_calls_of_these_tests_are_of_every_command(tmp_path: Path) -> None:
    ids = Ids("a", "b", "c", "d", "e", "f")
    called = {args[0] for args in [*reads(ids), *writes(ids, tmp_path)] if args}
    assert called | MAKES_A_STORE | NEEDS_A_MODEL == set(COMMANDS)


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


def conflicting(repo: Path, *by: str) -> None:
    """Stopped on a conflict in a file of the person's, with another one staged."""
    here = plain(repo, "symbolic-ref", "--short", "HEAD")
    plain(repo, "checkout", "-q", "-b", "theirs")
    commit(repo, "one\n")
    commit(repo, "two\n")
    plain(repo, "checkout", "-q", here)
    commit(repo, "mine\n")
    stopped = subprocess.run(["git", *EVE, *by], cwd=repo, capture_output=True)
    assert stopped.returncode == 1, stopped
    (repo / "staged.txt").write_text("staged\n")
    plain(repo, "add", "staged.txt")


def merging(repo: Path) -> None:
    conflicting(repo, "merge", "theirs")
    assert (repo / ".git/MERGE_HEAD").exists()


def picking(repo: Path) -> None:
    conflicting(repo, "cherry-pick", "theirs")
    assert (repo / ".git/CHERRY_PICK_HEAD").exists()


def reverting(repo: Path) -> None:
    commit(repo, "before\n")
    conflicting(repo, "revert", "HEAD~1")
    assert (repo / ".git/REVERT_HEAD").exists()


def between_picks(repo: Path) -> None:
    """One of several commits was put together and committed; the others are still to come."""
    conflicting(repo, "cherry-pick", "theirs~1", "theirs")
    (repo / "mine.txt").write_text("both\n")
    plain(repo, "add", "mine.txt")
    plain(repo, "commit", "-q", "--no-verify", "-m", "both")
    assert (repo / ".git/sequencer").exists()
    assert not (repo / ".git/CHERRY_PICK_HEAD").exists()


def sparse(repo: Path) -> None:
    """Only what people are like is checked out."""
    plain(repo, "sparse-checkout", "set", "--cone", "records/user")


def overlooked(repo: Path) -> None:
    """git was told to overlook edits of files that merges change."""
    for name, flag in ((TABS, "--assume-unchanged"), ("MEMORY.md", "--skip-worktree")):
        file = name if (repo / name).exists() else "a.txt"
        plain(repo, "update-index", flag, file)
        with (repo / file).open("a", encoding="utf-8") as edited:
            edited.write("mine alone 我的\n")


def split_index(repo: Path) -> None:
    plain(repo, "update-index", "--split-index")
    assert list((repo / ".git").glob("sharedindex.*"))


def fourth_index(repo: Path) -> None:
    plain(repo, "update-index", "--index-version", "4")


def watched_index(repo: Path) -> None:
    """What was untracked is noted in the index, and which files a monitor saw unchanged."""
    monitor = ("-c", "core.fsmonitor=printf 'token\\0' && :")
    plain(repo, *monitor, "update-index", "--force-untracked-cache", "--fsmonitor")
    plain(repo, *monitor, "status")
    index = (repo / ".git/index").read_bytes()
    assert b"UNTR" in index and b"FSMN" in index


def unborn(repo: Path) -> None:
    plain(repo, "checkout", "-q", "--orphan", "fresh")


def stashed(repo: Path) -> None:
    dirty(repo)
    plain(repo, "stash", "--include-untracked")


def annotated(repo: Path) -> None:
    """With a note at the newest commit, and another commit in its place."""
    plain(repo, "notes", "add", "-m", "a note 注")
    plain(repo, "tag", "main")  # which git takes for the branch where only "main" is said
    other = plain(repo, "commit-tree", "HEAD^{tree}", "-m", "in its place")
    plain(repo, "replace", "HEAD", other)


STATES: list[Callable[[Path], None]] = [clean, dirty, staged, detached, rebasing, bisecting]
RARE: list[Callable[[Path], None]] = [
    merging, picking, reverting, between_picks, sparse, overlooked, split_index, fourth_index,
    watched_index, unborn, stashed, annotated,
]  # fmt: skip
# How a person ends what is under way in which nothing of main's may reach the files.
ENDS = {
    merging: ("merge", "--abort"),
    picking: ("cherry-pick", "--quit"),
    reverting: ("revert", "--quit"),
    between_picks: ("cherry-pick", "--quit"),
}


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
    git_dir = store / ".git" if (store / ".git").is_dir() else store
    found = everything(git_dir, *OURS, *also_ours)
    return found | (everything(store, ".git/", *also_ours) if git_dir != store else {})


def staged_by_the_person(store: Path) -> list[str]:
    """The index's entries that no merge brings along, with their ids and flags."""
    lines = plain(store, "ls-files", "-z", "-s", "-v").split("\0")
    return [line for line in lines if not line.partition("\t")[2].startswith(BROUGHT)]


def brought(store: Path) -> list[str]:
    """What git says of the files that merges bring along; it may write its index."""
    lines = plain(store, "status", "--porcelain", "-z", "--untracked-files=all").split("\0")
    return [line for line in lines if line[3:].startswith(BROUGHT)]


def put_in(state: Callable[[Path], None], project: Project) -> bool:
    """Put both repositories into ``state``; whether the memory's files follow main there."""
    state(project.root)
    state(project.store)
    head = (project.store / ".git/HEAD").read_text()
    return head == "ref: refs/heads/main\n" and state not in ENDS


def check_reads(project: Project, calls: list[list[str]]) -> None:
    around, before = everything(project.root, ".memory/"), untouchable(project.store)
    for args in calls:
        done = call(project.store, *args)
        # By the state: there are strays, or edits that git was told to overlook.
        expected = (0, 1) if args[:1] in (["fsck"], ["adopt"]) else (0,)
        assert done.code in expected, (args, done)
        assert untouchable(project.store) == before, args
    assert everything(project.root, ".memory/") == around


def check_writes(project: Project, calls: list[list[str]], *, follows: bool) -> None:
    root, store, _ = project
    ours = ("index", "sharedindex.", *BROUGHT) if follows else ()
    around, index, before = (
        everything(root, ".memory/"),
        staged_by_the_person(store),
        untouchable(store, *ours),
    )
    for args in calls:
        done = call(store, *args)
        assert done.code == 0, (args, done)
        asked = ("hooks/",) if args[0] == "hooks" else ()
        left = {name: what for name, what in before.items() if not name.startswith(asked or "//")}
        assert untouchable(store, *ours, *asked) == left, args
        assert staged_by_the_person(store) == index, args
    assert everything(root, ".memory/") == around


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_every_command_leaves_a_persons_state_as_it_is(
    project: Project, tmp_path: Path, state: Callable[[Path], None]
) -> None:
    """That of the memory, and that of the project around it."""
    store, ids = project.store, project.ids
    follows = put_in(state, project)
    check_reads(project, reads(ids))
    edited = (store / TABS).read_bytes()
    for args in writes(ids, tmp_path / "input"):
        check_writes(project, [args], follows=follows)
        assert state not in (dirty, staged) or (store / TABS).read_bytes() == edited, args
        assert state is not dirty or not (store / GONE).exists(), args
    listed = {record["name"] for record in call(store, "list", "--json").json}
    assert listed == NAMES
    assert call(store, "fsck").code == 0


@pytest.mark.parametrize("state", RARE, ids=lambda state: state.__name__)
def test_what_moves_main_leaves_a_rarer_state_as_it_is(
    project: Project, tmp_path: Path, state: Callable[[Path], None], effort: Effort
) -> None:
    """And, in the long form, every other command."""
    store, ids = project.store, project.ids
    follows = put_in(state, project)
    looks, changes = reads(ids), writes(ids, tmp_path / "input")
    if not effort.soak:
        looks = [["status"], ["adopt", "--yes"], *effort.chance(state.__name__).sample(looks, 2)]
        changes = [args for args in changes if {"remember", ids.open, "edit", "set"} & {*args}]
    mine = {name: (store / name).read_bytes() for name in (TABS, "MEMORY.md")}
    check_reads(project, looks)
    check_writes(project, changes, follows=follows)
    assert {"db-choice", "run-tests"} <= {r["name"] for r in call(store, "list", "--json").json}
    if state is overlooked:
        assert mine == {name: (store / name).read_bytes() for name in mine}
    elif follows:
        assert brought(store) == []
        assert "Use tabs of width 8." in (store / TABS).read_text()
    else:
        assert mine == {name: (store / name).read_bytes() for name in mine}
    check_state_after(project, state)
    # Which names what stands in another's place there.
    assert call(store, "fsck").code == (1 if state is annotated else 0)


def check_state_after(project: Project, state: Callable[[Path], None]) -> None:
    """What is particular to a state, now that main has moved."""
    store = project.store
    if state in ENDS:
        plain(store, *ENDS[state])
        assert call(store, "status").code == 0
        assert [line for line in brought(store) if not line.startswith("?")] == []
        assert "Use tabs of width 8." in (store / TABS).read_text()
    elif state is sparse:
        plain(store, "sparse-checkout", "reapply")  # git's way to leave out what came anew
        assert [path.name for path in (store / "records").iterdir()] == ["user"]
        plain(store, "sparse-checkout", "disable")
        assert brought(store) == []
    elif state is fourth_index:
        assert (store / ".git/index").read_bytes()[4:8] == bytes([0, 0, 0, 4])
    elif state is split_index:
        assert list((store / ".git").glob("sharedindex.*"))
    elif state is stashed:
        plain(store, "checkout", "-q", "--", ".")
        assert "mine alone 我的" in plain(store, "stash", "show", "-p")


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
    """Main is checked out in the linked one, which follows and is locked against removal; the
    other one holds a draft."""
    store, linked = project.store, tmp_path / "linked 工作区"
    plain(store, "checkout", "-q", "-b", "draft")
    commit(store, "a draft\n")
    plain(store, "worktree", "add", "-q", "--lock", "--reason=留着", str(linked), "main")
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


def test_in_a_memory_that_is_a_submodule_every_command_works_and_the_project_is_left_alone(
    project: Project, tmp_path: Path
) -> None:
    root, store, ids = project
    (root / ".gitmodules").write_text(
        '[submodule ".memory"]\n\tpath = .memory\n\turl = https://example.org/memory\n'
    )
    plain(root, "add", "-f", ".gitmodules", ".memory")
    plain(root, "submodule", "absorbgitdirs")
    git_dir = root / ".git/modules/.memory"
    assert (store / ".git").is_file() and git_dir.is_dir()
    plain(root, "commit", "-q", "-m", "a memory")
    around = everything(root, ".memory/", ".git/modules/")
    before, pointer = untouchable(git_dir, "index"), (store / ".git").read_bytes()
    run_all(store, ids, tmp_path / "in")
    assert everything(root, ".memory/", ".git/modules/") == around
    assert untouchable(git_dir, "index") == before
    assert (store / ".git").read_bytes() == pointer
    assert plain(store, "status", "--porcelain") == ""
    assert plain(root, "status", "--porcelain") == "M .memory"


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
