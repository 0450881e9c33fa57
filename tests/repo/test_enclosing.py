"""A store inside another repository is hidden from it, or it is said why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.repo.enclosing import hide_from_enclosing
from tests.conftest import RunGit


@pytest.fixture
def project(tmp_path: Path, git: RunGit) -> Path:
    root = tmp_path / "项目"
    git(tmp_path, "init", "-q", "-b", "trunk", str(root))
    return root


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("x")
    return folder


def seen(git: RunGit, project: Path) -> list[str]:
    listed = git(project, "ls-files", "-z", "--others", "--exclude-standard").split("\0")
    return [name for name in listed if name.endswith("MEMORY.md")]


@pytest.mark.parametrize("name", [".memory", "子 [目录]/a*b\\c", ":(top)x", "blank at the end "])
def test_a_store_is_hidden_and_nothing_is_said_the_second_time(
    project: Path, git: RunGit, name: str
) -> None:
    store = made(project / name)
    assert seen(git, project)
    said = hide_from_enclosing(store)
    assert said.startswith(f"{store} is hidden from ")
    assert str(project / ".git/info/exclude") in said
    assert seen(git, project) == []
    assert hide_from_enclosing(store) == ""


@pytest.mark.parametrize(
    ("ignore", "rules", "line"),
    [
        (".gitignore", "/*\n!*/\n", "/sub/.memory/"),
        (".gitignore", ".*\n!.memory\n", "/sub/.memory/"),
        ("sub/.gitignore", "!.mem*", "/.memory/"),
    ],
)
def test_rules_that_show_a_store_are_named_with_the_line_that_hides_it(
    project: Path, git: RunGit, ignore: str, rules: str, line: str
) -> None:
    store, file = made(project / "sub/.memory"), project / ignore
    file.write_text(rules)
    for _ in range(2):  # also where info/exclude names it already
        said = hide_from_enclosing(store)
        assert said.startswith(f"{store} is not hidden from the repository around it: line ")
        assert f"{file} ({rules.split()[-1]}) shows it" in said
        assert said.endswith(f"add this line at the end of {file}: {line}")
    assert seen(git, project) == ["sub/.memory/MEMORY.md"]
    assert file.read_text() == rules, "a file that may be committed is the person's"
    file.write_text(rules.rstrip("\n") + f"\n{line}\n")
    assert seen(git, project) == []
    assert hide_from_enclosing(store) == ""


def test_a_store_that_the_repository_around_it_tracks_is_told(project: Path, git: RunGit) -> None:
    store = made(project / ".memory")
    git(project, "add", "-f", ".memory")
    said = hide_from_enclosing(store)
    assert "tracks it" in said and "rm -r --cached -- .memory" in said
    git(project, "rm", "-q", "-r", "--cached", "--", ".memory")
    assert hide_from_enclosing(store) == ""


def test_where_git_cannot_say_so_the_reason_is_told(project: Path) -> None:
    with (project / ".git/config").open("a") as file:
        file.write("[broken\n")
    said = hide_from_enclosing(made(project / ".memory"))
    assert "git cannot say whether it ignores it (fatal: bad config line" in said


def test_nothing_that_the_repository_around_it_names_is_run(
    project: Path, git: RunGit, tmp_path: Path
) -> None:
    canary, script = tmp_path / "canary", tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho run >> '{canary}'\n")
    script.chmod(0o755)
    git(project, "add", ".")
    for key in ("core.fsmonitor", "core.pager", "filter.x.clean", "core.hooksPath"):
        git(project, "config", key, str(script))
    (project / ".gitattributes").write_text("* filter=x\n")
    assert "is hidden" in hide_from_enclosing(made(project / ".memory"))
    assert not canary.exists()


def test_without_a_repository_around_or_with_a_bare_one_nothing_is_done(
    tmp_path: Path, git: RunGit
) -> None:
    assert hide_from_enclosing(made(tmp_path / "alone")) == ""
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    assert hide_from_enclosing(made(tmp_path / "bare.git/x")) == ""
    assert not (tmp_path / "bare.git/info/exclude").exists()
