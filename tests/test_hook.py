"""What the installed hooks do when a person uses plain git on a store."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

import pytest

from gitmem import MemoryStore
from gitmem.cache import Projection
from gitmem.domain.layout import CACHE
from gitmem.domain.review import Review
from gitmem.repo import note_worktree
from gitmem.store import Store
from tests.store.stories import ADA, MAIN, change_set, clock, opened, plain, propose, rev

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are shell scripts")

ROOT = Path(__file__).parents[1]
NEW_RECORD = "records/project/db-postgres.md"
REVISED = "records/user/use-tabs.md"
REVISION = "缩进改用四个空格，不再用 tab。"
EVENTS = ("post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-commit")
HEAVY = {"click", "detect_secrets", "filelock", "git", "openai", "pydantic", "rich", "yaml"}

# A merge that is killed when main has moved and nothing else has followed yet.
KILLED_MERGE = """
import os, signal, sys
from pathlib import Path
from gitmem.cache import Projection
from gitmem.domain.layout import CACHE
from gitmem.repo import Repo
from gitmem.store import Store

def kill(words):
    if "ls-files" in words:
        os.kill(os.getpid(), signal.SIGKILL)

repo = Repo.open(Path(sys.argv[1]), trace=kill)
Store(repo, Projection.open(repo.private / CACHE)).merge(sys.argv[2])
"""


class Done(NamedTuple):
    code: int
    err: str


Run = Callable[..., Done]


@pytest.fixture(autouse=True)
def _hooks_find_this_gitmem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")


def run(root: Path, *args: str, env: Mapping[str, str] | None = None) -> Done:
    """Real git, as a person runs it, with the hooks."""
    done = subprocess.run(
        ["git", *args],
        cwd=root,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return Done(done.returncode, done.stderr)


def well(root: Path, *args: str) -> str:
    """The same, for a command that has to go well; what was said meanwhile."""
    done = run(root, *args)
    assert done.code == 0, f"{args}\n{done.err}"
    return done.err


# --- a merge that was cut off ----------------------------------------------------------------


def approved(root: Path) -> str:
    """A proposal that adds one record and revises another, approved and not merged yet."""
    change = change_set("db-postgres", "我们的数据库用 PostgreSQL 16，别用 MySQL。")
    revision = change_set("use-tabs", REVISION, record_type="user")
    change["messages"] += revision["messages"]
    change["records"] += revision["records"]
    change["records"][1]["evidence"][0]["message"] = 1
    with opened(root) as memory:
        result = memory.propose(change)
        proposal = result.proposal
        assert proposal and len(result.records) == 2
        digest = memory.diff(proposal).change
    store = Store.open(root)
    review = Review(f"human:{ADA}", "person", "approve", digest, None, (), int(clock()))
    store.add_review(proposal, rev(root, f"refs/heads/proposals/{proposal}"), review)
    store.close()
    return proposal


def kill_merge(root: Path, proposal: str) -> None:
    tip = rev(root, MAIN)
    words = [sys.executable, "-c", KILLED_MERGE, str(root), proposal]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == -9, done.stderr.decode()
    assert rev(root, f"{MAIN}^1") == tip, "main has moved"
    assert (root / ".git/gitmem/worktree-at").exists()


@pytest.fixture(scope="module")
def _approved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    root = tmp_path_factory.mktemp("approved") / "我的 记忆"
    with MemoryStore.init(root, clock=clock) as memory:
        memory.remember("Use tabs.", name="use-tabs", type="user", person=ADA)
    return root, approved(root)


@pytest.fixture(scope="module")
def _cut_off(_approved: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cut") / "我的 记忆"
    shutil.copytree(_approved[0], root, symlinks=True)
    kill_merge(root, _approved[1])
    return root


def copied(source: Path, tmp_path: Path) -> Path:
    root = tmp_path / source.name
    shutil.copytree(source, root, symlinks=True)
    run(root, "update-index", "-q", "--refresh")
    return root


@pytest.fixture
def cut(_cut_off: Path, tmp_path: Path) -> Path:
    """A store whose newest merge has not reached its files, since the process was killed."""
    root = copied(_cut_off, tmp_path)
    assert not (root / NEW_RECORD).exists()
    assert plain(root, "diff", "--cached", "--name-status", "HEAD", "--", NEW_RECORD) == (
        f"D\t{NEW_RECORD}"
    )
    return root


@pytest.fixture
def root(_approved: tuple[Path, str], tmp_path: Path) -> Path:
    """A store that is in order, with one approved proposal."""
    return copied(_approved[0], tmp_path)


def assert_kept(root: Path, *, edited: Mapping[str, str] | None = None) -> None:
    """The merge stands: in memory, in the tip and its manifest, and in the files."""
    merge = plain(root, "log", "--merges", "-1", "--format=%H", MAIN)
    differing = plain(root, "diff", "--name-only", "-z", merge, MAIN).split("\0")[:-1]
    assert sorted(differing) == sorted(edited or {})
    for path, text in (edited or {}).items():
        assert plain(root, "show", f"{MAIN}:{path}") == text.strip()
    with opened(root) as memory:
        assert [line.name for line in memory.list()] == ["use-tabs", "db-postgres"]
        assert memory.show("use-tabs").body.strip() == REVISION
    assert not (root / ".git/gitmem/worktree-at").exists()


def assert_clean(root: Path) -> None:
    assert plain(root, "status", "--porcelain") == ""


def test_a_commit_of_everything_undoes_no_merge_that_was_cut_off(cut: Path) -> None:
    (cut / "README.md").write_text("我的\n")
    assert "gitmem adopt" in well(cut, "commit", "-q", "-a", "-m", "note")
    assert_kept(cut, edited={"README.md": "我的\n"})
    assert_clean(cut)
    assert (cut / NEW_RECORD).exists()


@pytest.mark.parametrize("paths", [["README.md"], ["README.md", "records", "manifest.json"]])
def test_a_commit_of_paths_undoes_no_merge_that_was_cut_off(cut: Path, paths: list[str]) -> None:
    (cut / "README.md").write_text("我的\n")
    well(cut, "commit", "-q", "-m", "note", "--", *paths)
    assert_kept(cut, edited={"README.md": "我的\n"})
    assert_clean(cut)


def test_a_commit_of_what_is_staged_undoes_no_merge_that_was_cut_off(cut: Path) -> None:
    (cut / "README.md").write_text("staged\n")
    (cut / "笔记.txt").write_text("new\n")
    well(cut, "add", "README.md", "笔记.txt")
    (cut / "README.md").write_text("and dirty\n")
    well(cut, "commit", "-q", "-m", "note")
    assert_kept(cut, edited={"README.md": "staged\n", "笔记.txt": "new\n"})
    assert plain(cut, "diff", "--name-only") == "README.md"
    assert (cut / "README.md").read_text() == "and dirty\n"


def test_a_stash_taken_and_brought_back_undoes_no_merge_that_was_cut_off(cut: Path) -> None:
    (cut / "README.md").write_text("我的\n")
    well(cut, "stash")
    well(cut, "stash", "pop")
    well(cut, "commit", "-q", "-a", "-m", "note")
    assert_kept(cut, edited={"README.md": "我的\n"})
    assert_clean(cut)


@pytest.mark.parametrize("words", [["-a"], []])
def test_a_commit_that_would_only_undo_the_merge_is_stopped(cut: Path, words: list[str]) -> None:
    tip = rev(cut, MAIN)
    done = run(cut, "commit", "-q", "-m", "what is this", *words)
    assert done.code == 1
    assert "nothing was committed" in done.err and "gitmem status --store" in done.err
    assert rev(cut, MAIN) == tip
    with opened(cut) as memory:
        memory.status()
    assert_kept(cut)
    assert_clean(cut)


def test_what_both_a_merge_and_a_person_changed_is_named_before_it_is_committed(
    cut: Path,
) -> None:
    mine = (cut / REVISED).read_text() + "\nMine 我的.\n"
    (cut / REVISED).write_text(mine)
    tip = rev(cut, MAIN)
    done = run(cut, "commit", "-q", "-a", "-m", "mine")
    assert done.code == 1
    assert REVISED in done.err and NEW_RECORD not in done.err
    assert rev(cut, MAIN) == tip
    assert (cut / REVISED).read_text() == mine
    with opened(cut) as memory:
        memory.status()
    assert plain(cut, "status", "--porcelain") == f"M {REVISED}"
    well(cut, "commit", "-q", "-a", "-m", "mine, now that I have seen it")
    assert_kept(cut, edited={REVISED: mine})


def test_a_checkout_of_an_older_commit_and_back_finishes_what_was_cut_off(cut: Path) -> None:
    older = rev(cut, f"{MAIN}^1")
    well(cut, "checkout", "-q", older)
    assert_clean(cut)
    assert not (cut / NEW_RECORD).exists()
    well(cut, "checkout", "-q", "main")
    assert_kept(cut)
    assert_clean(cut)


@pytest.mark.parametrize("words", [["--detach"], ["-b", "旁支"]])
def test_what_a_checkout_carries_along_is_not_taken_for_a_change(
    cut: Path, words: list[str]
) -> None:
    (cut / "README.md").write_text("我的\n")
    well(cut, "checkout", "-q", *words)
    assert plain(cut, "status", "--porcelain") == "M README.md"
    assert (cut / NEW_RECORD).exists()
    well(cut, "commit", "-q", "-a", "-m", "elsewhere")
    assert plain(cut, "diff", "--name-only", "HEAD^", "HEAD") == "README.md"
    assert_kept(cut)


def test_a_checkout_of_a_proposals_branch_carries_nothing_into_it(cut: Path) -> None:
    proposal = propose(cut, "deploy", "We deploy on Fridays 周五.")
    well(cut, "checkout", "-q", f"proposals/{proposal}")
    assert_clean(cut)
    well(cut, "checkout", "-q", "main")
    assert_kept(cut)
    assert_clean(cut)


def test_a_merge_by_hand_that_was_begun_before_undoes_nothing(root: Path) -> None:
    well(root, "checkout", "-q", "-b", "side")
    (root / "side.txt").write_text("side\n")
    well(root, "add", "side.txt")
    well(root, "commit", "-q", "-m", "side")
    well(root, "checkout", "-q", "main")
    well(root, "merge", "-q", "--no-ff", "--no-commit", "side")
    with opened(root) as memory:
        (open_one,) = memory.proposals()
        merged = memory.approve(open_one.id, person=ADA).commit
    assert "gitmem adopt" in well(root, "commit", "-q", "-m", "merged by hand")
    assert plain(root, "diff", "--name-only", str(merged), "HEAD") == "side.txt"
    with opened(root) as memory:
        assert [line.name for line in memory.list()] == ["use-tabs", "db-postgres"]
    assert_clean(root)


def test_a_linked_work_tree_on_main_is_healed_and_another_one_left_alone(
    root: Path, _approved: tuple[Path, str], tmp_path: Path
) -> None:
    well(root, "checkout", "-q", "--detach")
    linked, other = tmp_path / "链接", tmp_path / "other"
    well(root, "worktree", "add", "-q", str(linked), "main")
    well(root, "worktree", "add", "-q", "-b", "mine", str(other), "main")
    kill_merge(root, _approved[1])
    (other / "README.md").write_text("mine\n")
    well(other, "commit", "-q", "-a", "-m", "mine")
    assert plain(other, "diff", "--name-only", "HEAD^", "HEAD") == "README.md"
    (linked / "README.md").write_text("我的\n")
    assert "gitmem adopt" in well(linked, "commit", "-q", "-a", "-m", "note")
    assert_kept(root, edited={"README.md": "我的\n"})
    assert_clean(linked)
    assert_clean(root)
    assert not (root / NEW_RECORD).exists()


def test_a_commit_told_where_the_repository_is_is_healed_too(cut: Path, tmp_path: Path) -> None:
    (cut / "README.md").write_text("我的\n")
    where = {"GIT_DIR": str(cut / ".git"), "GIT_WORK_TREE": str(cut)}
    done = run(tmp_path, "commit", "-q", "-a", "-m", "note", env=where)
    assert done.code == 0, done.err
    assert_kept(cut, edited={"README.md": "我的\n"})


def test_a_commit_beside_a_merge_that_has_not_moved_main_yet_does_not_wait(root: Path) -> None:
    store = Store.open(root)
    try:
        with store.repo.lock():
            note_worktree(store.repo, rev(root, MAIN))
            assert "gitmem adopt" in well(root, "commit", "-q", "--allow-empty", "-m", "meanwhile")
            assert (root / ".git/gitmem/worktree-at").exists()
    finally:
        store.close()
    assert_clean(root)


def test_many_changed_files_are_brought_along_behind_a_healed_index(cut: Path) -> None:
    """Far more paths than are looked at one by one: git's own way sees the index only."""
    with opened(cut) as memory:
        memory.status()
    for number in range(210):
        (cut / f"{number}.txt").write_text("new\n")
    well(cut, "add", ".")
    well(cut, "commit", "-q", "-m", "many")
    note = cut / ".git/gitmem/worktree-at"
    well(cut, "-c", "core.hooksPath=/dev/null", "checkout", "-q", "HEAD^", "--", ".")
    well(cut, "rm", "-q", "--", *(f"{number}.txt" for number in range(210)))
    note.write_text(json.dumps({".": rev(cut, "HEAD^")}))
    (cut / "README.md").write_text("我的\n")
    well(cut, "commit", "-q", "-a", "-m", "note")
    assert plain(cut, "diff", "--name-only", "HEAD^", "HEAD") == "README.md"
    assert (cut / "209.txt").read_text() == "new\n"
    assert_clean(cut)


# --- without gitmem --------------------------------------------------------------------------


def take_gitmem_away(root: Path, tmp_path: Path, broken: str) -> dict[str, str]:
    """Leave the hooks without the Python that they know; the environment for git."""
    for event in EVENTS:
        hook = root / ".git/hooks" / event
        hook.write_bytes(hook.read_bytes().replace(sys.executable.encode(), b"/gone/python"))
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("git", "sh", "cat"):
        (folder / name).symlink_to(cast(str, shutil.which(name)))
    if broken:
        (folder / "gitmem").write_text(f"#!/bin/sh\n{broken}\n")
        (folder / "gitmem").chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize("broken", ["", "echo Traceback >&2; echo Error >&2; exit 1", "kill -9 $$"])
def test_a_gitmem_that_is_missing_or_broken_is_harmless(
    root: Path, tmp_path: Path, broken: str
) -> None:
    env = take_gitmem_away(root, tmp_path, broken)
    for words in (
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["checkout", "-q", "-b", "新"],
        ["commit", "-q", "--amend", "--allow-empty", "-m", "y"],
        ["merge", "-q", "--ff-only", "main"],
    ):
        done = run(root, *words, env=env)
        ran = 2 if "--amend" in words else 1  # post-commit and post-rewrite
        assert len([line for line in done.err.splitlines() if line.startswith("gitmem: ")]) <= ran
        assert done.code == (128 if words[0] == "merge" else 0), done.err
    assert "Traceback" not in done.err


def test_a_gitmem_in_path_is_found_when_the_known_python_is_gone(
    root: Path, tmp_path: Path
) -> None:
    env = take_gitmem_away(root, tmp_path, f'exec "{sys.executable}" -m gitmem "$@"')
    done = run(root, "commit", "-q", "--allow-empty", "-m", "x", env=env)
    assert done.code == 0 and "gitmem adopt" in done.err


def test_without_gitmem_a_commit_that_would_undo_a_merge_is_stopped(
    cut: Path, tmp_path: Path
) -> None:
    tip = rev(cut, MAIN)
    (cut / "README.md").write_text("我的\n")
    env = take_gitmem_away(cut, tmp_path, "")
    done = run(cut, "commit", "-q", "-a", "-m", "x", env=env)
    assert done.code == 1 and f"git -C '{cut}' commit --no-verify" in done.err
    assert rev(cut, MAIN) == tip


def test_without_gitmem_the_next_step_works_wherever_it_is_pasted(
    root: Path, tmp_path: Path
) -> None:
    odd = root.rename(root.with_name("it's $(touch PWNED)"))
    done = run(
        odd, "commit", "-q", "--allow-empty", "-m", "x", env=take_gitmem_away(odd, tmp_path, "")
    )
    said, command = done.err.splitlines()
    assert said == "gitmem: its post-commit hook could not run; see:"
    assert shlex.split(command) == ["gitmem", "hooks", "status", "--store", str(odd)]


def test_a_program_that_lies_in_the_store_is_not_run(root: Path, tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    for name in ("gitmem", "gitmem.py", "json.py", "pathlib.py"):
        (root / name).write_text(
            f"#!/bin/sh\n: '''\ntouch '{canary}'\n'''\nopen('{canary}', 'w')\n"
        )
        (root / name).chmod(0o755)
    well(root, "commit", "-q", "--allow-empty", "-m", "with the known Python")
    env = take_gitmem_away(root, tmp_path, "")
    done = run(root, "commit", "-q", "--allow-empty", "-m", "x", env={"PATH": f".:{env['PATH']}"})
    assert done.code == 0, done.err
    assert not canary.exists()


# --- what is said, and what is brought along -------------------------------------------------


def test_a_commit_by_hand_is_told_what_it_is(root: Path, _approved: tuple[Path, str]) -> None:
    proposal = _approved[1]
    said = well(root, "commit", "-q", "--allow-empty", "-m", "x")
    assert "no memory" in said and f"gitmem adopt --store '{root}'" in said
    well(root, "checkout", "-q", "-b", "elsewhere")
    assert well(root, "commit", "-q", "--allow-empty", "-m", "x") == ""
    well(root, "checkout", "-q", "--detach")
    assert well(root, "commit", "-q", "--allow-empty", "-m", "x") == ""
    well(root, "checkout", "-q", f"proposals/{proposal}")
    said = well(root, "commit", "-q", "--allow-empty", "-m", "x")
    assert f"gitmem approve --edit --store '{root}' {proposal}" in said
    assert "gitmem adopt" not in said
    paste_undo(said, root.parent)
    with opened(root) as memory:
        assert [line.id for line in memory.proposals()] == [proposal]


def paste_undo(said: str, cwd: Path) -> None:
    """Paste what is said to take a commit off a proposal's branch."""
    (undo,) = re.findall("which keeps it aside: (.+)", said)
    folder = cwd / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "gitmem").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    (folder / "gitmem").chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    subprocess.run(["bash", "-c", undo], cwd=cwd, env=env, check=True, capture_output=True)


def test_an_amended_review_on_a_proposals_branch_can_be_taken_off(
    root: Path, _approved: tuple[Path, str]
) -> None:
    """What is left is a proposal again, which status says how to go on with."""
    proposal = _approved[1]
    before = rev(root, f"refs/heads/proposals/{proposal}~1")
    well(root, "checkout", "-q", f"proposals/{proposal}")
    said = well(root, "commit", "-q", "--amend", "--allow-empty", "-m", "in nicer words 更好")
    amended = rev(root, "HEAD")
    paste_undo(said, root.parent)
    assert plain(root, "symbolic-ref", "HEAD") == MAIN
    assert rev(root, f"refs/heads/proposals/{proposal}") == before
    assert amended in plain(root, "rev-list", "--glob=refs/gitmem/kept").split()
    with opened(root) as memory:
        assert [line.id for line in memory.proposals()] == [proposal]


def test_a_linked_work_tree_is_told_how_it_can_leave_the_branch(
    root: Path, tmp_path: Path, _approved: tuple[Path, str]
) -> None:
    """There main cannot be checked out, since it is in the other work tree."""
    linked = tmp_path / "linked"
    well(root, "worktree", "add", "-q", str(linked), f"proposals/{_approved[1]}")
    said = well(linked, "commit", "-q", "--allow-empty", "-m", "x")
    paste_undo(said, tmp_path)
    with opened(root) as memory:
        assert [line.id for line in memory.proposals()] == [_approved[1]]
        assert memory.fsck().ok


def test_what_a_hook_cannot_do_is_said_with_the_way_on_a_line_of_its_own(root: Path) -> None:
    well(root, "checkout", "-q", "-b", "elsewhere")
    plain(root, "update-ref", "-d", MAIN)
    done = run(root, "checkout", "-q", "--detach")
    first, *hints = done.err.splitlines()
    assert done.code == 0
    assert first.startswith("gitmem: ") and "is gone" in first and "fsck" not in first
    assert any("gitmem fsck --repair" in line for line in hints)


@pytest.mark.parametrize(
    "name", ["x;touch${IFS}PWNED", "-x", "it's`touch${IFS}PWNED`", "缩进\u200d"]
)
def test_what_a_branch_is_called_is_one_word_of_the_command_that_is_named(
    root: Path, tmp_path: Path, name: str
) -> None:
    plain(root, "update-ref", f"refs/heads/proposals/{name}", "HEAD")
    plain(root, "symbolic-ref", "HEAD", f"refs/heads/proposals/{name}")
    said = well(root, "commit", "-q", "--allow-empty", "-m", "x")
    assert "\u200d" not in said
    (command,) = re.findall("To change what the proposal says: (.+)", said)
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "gitmem").write_text("#!/bin/sh\nprintf '%s\\0' \"$@\" >words\n")
    (folder / "gitmem").chmod(0o755)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, check=True)
    words = (tmp_path / "words").read_text(encoding="utf-8").split("\0")[:-1]
    separator = ["--"] if name.startswith("-") else []
    assert words == ["approve", "--edit", "--store", str(root), *separator, name]
    assert not list(tmp_path.rglob("PWNED"))
    (undo,) = re.findall("which keeps it aside: (.+)", said)
    subprocess.run(["bash", "-c", undo], cwd=tmp_path, env=env, check=True)
    words = (tmp_path / "words").read_text(encoding="utf-8").split("\0")[:-1]
    assert words == ["fsck", "--repair", "--store", str(root)]
    assert plain(root, "symbolic-ref", "HEAD") == MAIN


def seen_tip(root: Path) -> str | None:
    projection = Projection.read(root / ".git/gitmem" / CACHE)
    assert projection
    with projection.reading():
        tip = projection.meta("tip")
    projection.close()
    return tip


def test_a_pull_brings_the_projection_along(root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "克隆"
    well(tmp_path, "clone", "-q", str(root), str(clone))
    with opened(clone) as memory:
        assert memory.install_hooks().complete
    with opened(root) as memory:
        (open_one,) = memory.proposals()
        memory.approve(open_one.id, person=ADA)
    assert seen_tip(clone) != rev(root, MAIN)
    assert well(clone, "pull", "-q", "--ff-only") == ""
    assert seen_tip(clone) == rev(root, MAIN) == rev(clone, MAIN)
    assert (clone / "MEMORY.md").read_bytes() == (root / "MEMORY.md").read_bytes()
    assert_clean(clone)
    well(root, "commit", "-q", "--allow-empty", "-m", "by hand")
    assert f"gitmem adopt --store {clone}" in well(clone, "pull", "-q", "--ff-only").replace(
        "'", ""
    )
    with opened(clone) as memory:
        assert [line.name for line in memory.list()] == ["use-tabs", "db-postgres"]


def test_a_rewritten_main_is_followed(root: Path) -> None:
    well(root, "commit", "-q", "--allow-empty", "-m", "by hand")
    said = well(root, "commit", "-q", "--amend", "--allow-empty", "-m", "again")
    assert said.count("gitmem adopt") == 1
    assert seen_tip(root) == rev(root, MAIN)


def picture(root: Path) -> dict[str, bytes]:
    """The files, HEAD, refs, index and configuration: everything that is not gitmem's own."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git/gitmem/" not in path.as_posix()
    }


def hook(root: Path, *args: str, env: Mapping[str, str] | None = None) -> Done:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "gitmem", "hook", *args],
        cwd=root,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout == ""
    return Done(done.returncode, done.stderr)


def test_no_hook_touches_a_persons_work(root: Path) -> None:
    (root / "MEMORY.md").write_text("dirty\n")
    (root / REVISED).write_text("staged\n")
    well(root, "add", REVISED)
    (root / "untracked 文件").write_text("x\n")
    (root / ".git/gitmem" / CACHE).unlink()
    before = picture(root)
    for event in EVENTS:
        arguments = ["a", "b", "1"] if event == "post-checkout" else []
        assert hook(root, event, *arguments).code == 0
    assert picture(root) == before
    assert seen_tip(root) == rev(root, MAIN)


def test_variables_of_git_do_not_lead_to_another_repository(root: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    well(tmp_path, "init", "-q", "-b", "main", str(victim))
    well(victim, "commit", "-q", "--allow-empty", "-m", "x")
    before = picture(victim)
    (root / ".git/gitmem" / CACHE).unlink()
    hostile = {
        "GIT_COMMON_DIR": str(victim / ".git"),
        "GIT_OBJECT_DIRECTORY": str(victim / ".git/objects"),
        "GIT_INDEX_FILE": str(victim / ".git/index"),
        "GIT_NAMESPACE": "x",
        "GIT_WORK_TREE": str(victim),
    }
    assert hook(root, "post-merge", env=hostile) == (0, "")
    assert seen_tip(root) == rev(root, MAIN)
    assert picture(victim) == before


def test_outside_of_a_store_every_hook_is_silent(tmp_path: Path) -> None:
    well(tmp_path, "init", "-q", "-b", "main", "plain")
    for folder in (tmp_path, tmp_path / "plain"):
        assert {hook(folder, event) for event in EVENTS} == {(0, "")}
    assert hook(tmp_path, "post-nonsense").code == 2


def test_a_hook_that_cannot_do_its_work_says_so_and_what_to_do(root: Path) -> None:
    well(root, "update-ref", "refs/heads/other", MAIN)
    (root / ".git/shallow").write_text(rev(root, MAIN) + "\n")
    (root / ".git/gitmem" / CACHE).unlink()
    done = hook(root, "post-merge")
    assert done.code == 0
    what, how = done.err.splitlines()
    assert "shallow" in what and how.endswith("fetch --unshallow")


@pytest.mark.parametrize("event", EVENTS)
def test_a_hook_with_nothing_to_do_loads_nothing_heavy(root: Path, event: str) -> None:
    with opened(root) as memory:
        memory.list()
    code = (
        "import json, sys; from gitmem.hook import main; code = main(sys.argv[1:])\n"
        "print(json.dumps([code, sorted(sys.modules)]))"
    )
    words = [sys.executable, "-c", code, event, "a", "b", "1"]
    done = subprocess.run(words, cwd=root, capture_output=True, check=True)
    status, modules = json.loads(done.stdout)
    assert status == 0 and "gitmem.hook" in modules
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
