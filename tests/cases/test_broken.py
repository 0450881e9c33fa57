"""What is broken around a memory is named, with its reason, and stops no more than it must."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.calls import call, reads
from tests.cases.conftest import Project
from tests.cli.harness import RunCommand
from tests.store.stories import plain

# Answered from files alone, with no need of git.
WITHOUT_GIT = {"", "list", "show", "search", "completion"}


def emptied(store: Path) -> list[Path]:
    files = sorted((store / ".git/gitmem/sessions").glob("*.jsonl"))
    for path in files:
        path.write_bytes(b"")
    return files


def test_why_is_told_beside_sessions_that_cannot_be_read(project: Project) -> None:
    whole = call(project.store, "why", "use-tabs")
    files = emptied(project.store)
    done = call(project.store, "why", "use-tabs")
    assert done.code == 0
    assert done.out.count("the session cannot be read: ") == whole.out.count("(attested: ") > 0
    assert done.out.partition("History")[2].partition("Before")[0] in whole.out
    named = [path for path in files if f"{path}:1: damaged session file" in done.err]
    assert named, done.err
    raw = call(project.store, "why", "use-tabs", "--json")
    assert raw.code == 0 and raw.json["contexts"] == {} and raw.json["history"]
    assert set(raw.json["missing"]) == {quote["id"] for quote in raw.json["evidence"]}
    assert str(named[0]) in raw.err


@pytest.mark.parametrize(("file", "more"), [("config", "[坏\n"), ("HEAD", "\x1b[2J\n")])
def test_a_repository_that_git_does_not_take_is_one_error_with_gits_reason(
    project: Project, file: str, more: str
) -> None:
    broken = project.store / ".git" / file
    broken.write_text(more + ("" if file == "HEAD" else broken.read_text()), encoding="utf-8")
    for args in [*reads(project.ids), ["fsck", "--repair"], ["forget", "brief", "--yes"]]:
        if (args or [""])[0] in WITHOUT_GIT and "--at" not in args:
            continue
        done = call(project.store, *args)
        error, *hint = done.err.splitlines()
        assert (done.code, done.out) == (1, ""), (args, done)
        assert error.startswith(f"error: {broken}: ") and "fatal: " in error, (args, done)
        assert len(hint) == 1 and hint[0].startswith("hint: "), (args, done)


def test_init_claims_no_hiding_that_a_projects_own_rules_undo(
    gitmem: RunCommand, tmp_path: Path
) -> None:
    plain(tmp_path, "init", "-q", ".")
    (tmp_path / ".gitignore").write_text(".*\n!.memory\n")
    said = gitmem("init").err
    assert ".memory is not hidden" in said and "/.memory/" in said
    assert ".memory/" in plain(tmp_path, "status", "--porcelain")


def test_init_in_an_empty_repository_of_another_kind_says_which_kind(
    gitmem: RunCommand, tmp_path: Path
) -> None:
    plain(tmp_path, "init", "-q", "--object-format=sha256", ".memory")
    done = gitmem("init", code=1)
    assert "sha256" in done.err and "Name another folder" in done.err


def test_one_stray_is_one(project: Project) -> None:
    for number, said in ((1, "1 commit on main is a stray and no memory"), (2, "2 commits on")):
        plain(project.store, "commit", "-q", "--allow-empty", "--no-verify", "-m", f"奇 {number}")
        assert said in call(project.store, "list").err
