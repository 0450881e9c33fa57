"""gitmem called from git's own hooks: those of the project around a memory, and the memory's.

git tells a hook by variables which repository, index and objects it is at. Each test does the same
work in a twin without hooks: a person's commits must come out the same.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from gitmem import MemoryStore
from tests.cases.calls import call
from tests.cases.conftest import Project
from tests.cases.test_git_state import BROUGHT, everything
from tests.store.stories import plain

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are shell scripts")

ROOT = Path(__file__).parents[2]
OF_A_MEMORY = (*BROUGHT, "README.md", "reviewers/")
BEFORE = {"use-tabs", "brief", "old-port"}
# git commits with another index than the work tree's, and exports settings and places.
LOOKS = ("prepare-commit-msg", "post-commit", "post-checkout", "post-merge", "post-rewrite")
DOINGS = {
    "commit -a": ["git -c core.abbrev=9 commit -q -a -m all"],
    "commit PATH": ["git commit -q -m one a.txt", "git commit -q -m rest"],
    "commit --amend": ["git commit -q --amend -a -m again"],
    "stash": ["git stash -q", "git stash apply -q --index"],
    "rebase": ["git commit -q -a -m mine", "git rebase -q other"],
    "merge": ["git commit -q -a -m mine", "git merge -q -m both other"],
}


@pytest.fixture(autouse=True)
def _hooks_find_this_gitmem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    script(folder / "gitmem", f'exec "{sys.executable}" -P -m gitmem "$@"')
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Eve")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "eve@example.org")
        monkeypatch.setenv(f"GIT_{role}_DATE", "@1790000000 +0000")


def script(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def once(mark: str, command: str) -> str:
    """A hook's line that runs a command the first time, and stops git where that fails."""
    return f'[ -e "$done/{mark}" ] || {{ : >"$done/{mark}"; {command} || exit 1; }}'


def remember(name: str) -> str:
    return once(name, f"gitmem remember 'The {name} hook ran 钩子.' --name={name} --yes")


def hook(git_dir: Path, name: str, line: str, done: Path) -> None:
    """Put a hook there; in ``done`` it leaves what was said, and marks."""
    done.mkdir(exist_ok=True)
    script(git_dir / "hooks" / name, f"done='{done}'\nexec >>\"$done/said\" 2>&1\n{line}")


def run(folder: Path, lines: Sequence[str]) -> None:
    for line in lines:
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, (line, done)


def prepared(root: Path) -> None:
    """On a branch of one's own: one file edited, one staged and edited on, one untracked."""
    plain(root, "checkout", "-q", "-b", "other")
    (root / "other.txt").write_text("other\n")
    plain(root, "add", "other.txt")
    plain(root, "commit", "-q", "-m", "other")
    plain(root, "checkout", "-q", "-b", "work", "trunk")
    (root / "a.txt").write_text("edited 改\n")
    (root / "b.txt").write_text("staged\n")
    plain(root, "add", "b.txt")
    (root / "b.txt").write_text("and on\n")
    (root / "untracked.txt").write_text("untracked\n")


def outcome(root: Path) -> list[str]:
    """What a person's work has become, whatever stands in a memory below."""
    quiet = ("-c", "core.hooksPath=/dev/null")
    return [
        plain(root, *quiet, "log", "--all", "--format=%T %s %an", "--topo-order"),
        plain(root, *quiet, "ls-tree", "-r", "HEAD"),
        plain(root, *quiet, "status", "--porcelain"),
        plain(root, *quiet, "diff"),
        plain(root, *quiet, "diff", "--cached"),
    ]


def assert_apart(project: Path, store: Path) -> None:
    """Nothing of one repository is in the other."""
    tracked = plain(store, "ls-tree", "-r", "--name-only", "main").splitlines()
    assert all(name.startswith(OF_A_MEMORY) for name in tracked)
    assert plain(store, "status", "--porcelain") == ""
    ids = "--batch-all-objects", "--batch-check=%(objectname)"
    mine, its = (set(plain(at, "cat-file", *ids).split()) for at in (project, store))
    assert not mine & its
    assert call(store, "fsck").code == 0


def names(store: Path) -> set[str]:
    return {record["name"] for record in call(store, "list", "--json").json}


@pytest.mark.parametrize("doing", DOINGS)
def test_a_projects_hooks_reach_its_memory_and_a_commit_is_what_the_person_meant(
    project: Project, tmp_path: Path, doing: str
) -> None:
    root, store, ids = project
    prepared(root)
    twin = tmp_path / "twin"
    shutil.copytree(root, twin, symlinks=True, ignore=shutil.ignore_patterns(".memory"))
    plain(twin, "update-index", "-q", "--refresh")
    plain(root, "update-index", "-q", "--refresh")
    done = tmp_path / "done"
    hook(root / ".git", "pre-commit", remember("pre-commit"), done)
    hook(root / ".git", "pre-rebase", remember("pre-rebase"), done)
    approve = once("approved", f"gitmem approve {ids.open} --yes")
    hook(root / ".git", "reference-transaction", f"[ $1 != committed ] || {approve}", done)
    looks = LOOKS if doing == "commit -a" else LOOKS[-1:]
    for name in looks:
        hook(root / ".git", name, f'gitmem list && : >"$done/{name}"', done)
    run(twin, DOINGS[doing])
    run(root, DOINGS[doing])
    assert outcome(root) == outcome(twin), (done / "said").read_text()
    ran = {path.name for path in done.iterdir()}
    expected = {"db-choice", *({"pre-commit", "pre-rebase"} & ran)}
    assert "approved" in ran and ("pre-commit" in ran) == (doing != "stash")
    assert names(store) == BEFORE | expected
    assert_apart(root, store)


def test_from_a_linked_work_tree_a_projects_hooks_reach_the_memory_of_the_main_one(
    project: Project, tmp_path: Path
) -> None:
    root, store, _ = project
    linked, done = tmp_path / "linked 工作区", tmp_path / "done"
    plain(root, "worktree", "add", "-q", "-b", "side", str(linked))
    hook(root / ".git", "pre-commit", remember("pre-commit"), done)
    hook(root / ".git", "post-commit", 'gitmem fsck && : >"$done/post-commit"', done)
    before = everything(root, ".memory/", ".git/")
    index = (root / ".git/index").read_bytes()
    (linked / "sub").mkdir()
    (linked / "sub/new.txt").write_text("new\n")
    (linked / "a.txt").write_text("edited\n")
    plain(linked, "add", "sub")
    run(linked / "sub", ["git commit -q -m one ../a.txt", "git commit -q -a -m rest"])
    changed = plain(linked, "log", "-2", "--name-only", "--format=").split()
    assert changed == ["sub/new.txt", "a.txt"]
    assert {"pre-commit", "post-commit"} <= {path.name for path in done.iterdir()}
    assert names(store) == BEFORE | {"pre-commit"}
    assert everything(root, ".memory/", ".git/") == before
    assert (root / ".git/index").read_bytes() == index
    assert_apart(root, store)


def test_inside_a_push_that_a_project_receives_its_memory_can_be_written(
    project: Project, tmp_path: Path
) -> None:
    """What is pushed lies in quarantine meanwhile; nothing of the memory gets there."""
    root, store, _ = project
    bare, done = tmp_path / "bare.git", tmp_path / "done"
    plain(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    call_it = f"export GITMEM_STORE='{store}'; " + remember("pre-receive")
    hook(bare, "pre-receive", '[ -n "$GIT_QUARANTINE_PATH" ] || exit 1; ' + call_it, done)
    (root / "a.txt").write_text("pushed\n")
    plain(root, "commit", "-q", "-a", "-m", "pushed")
    plain(root, "push", "-q", str(bare), "trunk")
    assert plain(bare, "rev-parse", "trunk") == plain(root, "rev-parse", "trunk")
    assert names(store) == BEFORE | {"pre-receive"}
    assert_apart(bare, store)


def test_inside_a_push_that_a_memory_receives_it_says_why_it_does_nothing(
    project: Project, tmp_path: Path
) -> None:
    bare, done = tmp_path / "bare.git", tmp_path / "done"
    plain(tmp_path, "clone", "-q", "--bare", str(project.store), str(bare))
    hook(bare, "pre-receive", "gitmem --store . status || exit 1", done)
    refs = plain(bare, "for-each-ref")
    pushed = subprocess.run(
        ["git", "push", str(bare), "main:refs/heads/pushed"],
        cwd=project.store,
        capture_output=True,
        check=False,
    )
    assert pushed.returncode == 1
    assert "GIT_QUARANTINE_PATH" in (done / "said").read_text()
    assert plain(bare, "for-each-ref") == refs


@pytest.mark.parametrize("name", ["pre-commit", "prepare-commit-msg", "post-commit"])
def test_a_persons_own_hook_in_the_memory_may_call_gitmem_while_git_commits(
    project: Project, tmp_path: Path, name: str
) -> None:
    """Beside the installed hooks. Where main moves under git, git refuses and nothing is lost."""
    store, done = project.store, tmp_path / "done"
    with MemoryStore.open(store) as memory:
        memory.install_hooks()
    hook(
        store / ".git", f"{name}.before-gitmem" if name in INSTALLED else name, remember(name), done
    )
    (store / "README.md").write_text("mine 我的\n")
    (store / "staged.txt").write_text("staged\n")
    plain(store, "add", "staged.txt")
    words = ["git", "commit", "-q", "-a", "-m", "note"]
    first = subprocess.run(words, cwd=store, capture_output=True, text=True)
    assert names(store) == BEFORE | {name}, (done / "said").read_text()
    if name == "post-commit":
        assert first.returncode == 0, first
        mine = plain(store, "log", "--format=%H", "--grep=note", "-1", "--all")
    else:
        assert first.returncode == 128 and "cannot lock ref" in first.stderr, first
        assert call(store, "status").code == 0
        assert (store / "README.md").read_text() == "mine 我的\n"
        assert subprocess.run(words, cwd=store, capture_output=True).returncode == 0
        mine = plain(store, "rev-parse", "main")
    changed = plain(store, "diff", "--name-only", f"{mine}^", mine).split()
    assert changed == ["README.md", "staged.txt"]
    assert names(store) == BEFORE | {name}
    assert (store / f"records/user/{name}.md").exists() or call(store, "show", name).code == 0
    assert (
        plain(store, "status", "--porcelain", "--", "records", "MEMORY.md", "manifest.json") == ""
    )


INSTALLED = ("post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-commit")
