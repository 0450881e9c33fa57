"""The first screen: `gitmem` alone, with and without a store."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cli.root import COMMANDS
from tests.cli.harness import RunCommand, RunOnTerminal
from tests.conftest import RunGit

LINES = 20
SAID = "Always run the linter before a commit, because CI is slow."


def commands(lines: list[str]) -> list[list[str]]:
    """The commands that the steps of a screen end with."""
    return [shlex.split(line.rsplit(": ", 1)[1]) for line in lines if ": gitmem" in line]


def test_without_a_store_it_says_what_gitmem_is_and_how_to_begin(gitmem: RunCommand) -> None:
    done = gitmem()
    lines = done.out.splitlines()
    assert len(lines) < LINES
    assert lines[0] == "gitmem: pull requests for an agent's memory."
    assert any("There is no memory here: no .memory in " in line for line in lines)
    assert [words[:2] for words in commands(lines)] == [
        ["gitmem", "init"],
        ["gitmem", "remember"],
        ["gitmem", "extract"],
        ["gitmem", "--help"],
    ]
    assert done.err == ""


def test_its_first_commands_work_one_after_the_other(gitmem: RunCommand) -> None:
    for words in commands(gitmem().out.splitlines()):
        yes = ["--yes"] if words[1] == "remember" else []
        gitmem(*words[1:], *yes)
    assert gitmem("list").out


def test_without_a_store_its_json_has_none(gitmem: RunCommand) -> None:
    found = gitmem("--json").json
    assert set(found) == {"store", "next"}
    assert found["store"] is None
    assert found["next"][0].endswith(": gitmem init")


def test_with_a_store_it_is_a_short_status(gitmem: RunCommand, tabs: Path) -> None:
    (tabs.parent / "chat.json").write_text(json.dumps([{"role": "user", "content": SAID}]))
    gitmem("extract", "chat.json")
    text = gitmem().out
    assert len(text.splitlines()) < LINES
    for words in (str(tabs), "1 (1 user)", "1 open, 1 waiting for a person", "gitmem --help"):
        assert words in text
    first = commands(text.splitlines())[0]
    assert "linter" in gitmem(*first[1:]).out
    assert gitmem("--json").json == gitmem("status", "--json").json


def test_a_store_with_very_many_worries_still_fits_a_screen(
    gitmem: RunCommand, tabs: Path, git: RunGit
) -> None:
    for number in range(30):
        git(tabs, "update-ref", f"refs/heads/proposals/extract-20261130-{number:06x}", "main")
    git(tabs, "commit", "-q", "--no-verify", "--allow-empty", "-m", "by hand")
    (tabs / "records" / "user" / "用户.md").write_text("x")
    done = gitmem()
    assert len(done.out.splitlines()) < LINES
    assert "30 open" in done.out


def test_a_store_that_was_named_must_be_there(gitmem: RunCommand, store: Path) -> None:
    assert "nowhere" in gitmem("--store", "nowhere", code=1).err
    assert "nowhere" in gitmem(env={"GITMEM_STORE": "nowhere"}, code=1).err


def test_a_repository_that_is_no_memory_is_told_as_such(
    gitmem: RunCommand, tmp_path: Path, git: RunGit
) -> None:
    git(tmp_path, "init", "-q", ".memory")
    assert "but no memory" in gitmem(code=1).err


def test_on_a_terminal_it_is_the_same(terminal: RunOnTerminal, tabs: Path) -> None:
    done = terminal(env={"NO_COLOR": "1"})
    assert done.code == 0
    assert str(tabs) in done.out and "gitmem --help" in done.out


@pytest.mark.parametrize("call", [(), ("status",)])
def test_what_to_do_next_names_the_store_as_the_call_did(
    gitmem: RunCommand, tmp_path: Path, call: tuple[str, ...]
) -> None:
    elsewhere = tmp_path / "a folder" / "记忆"
    MemoryStore.init(elsewhere).close()
    named = ("--store", str(elsewhere))
    (first, *_) = commands(gitmem(*named, *call).out.splitlines())
    assert first[:3] == ["gitmem", *named]
    step = gitmem(*named, *call, "--json").json["next"][0]
    assert commands([step]) == [first]
    gitmem(*first[1:], "--yes")
    assert gitmem(*named, "list").out


@pytest.mark.parametrize("how", [["a b/记忆"], ["--store", "a b/记忆"]])
def test_the_first_steps_of_a_new_store_name_it(
    gitmem: RunCommand, tmp_path: Path, how: list[str]
) -> None:
    (tmp_path / "a b").mkdir()
    (first, *_) = commands(gitmem("init", *how).out.splitlines())
    gitmem(*first[1:], "--yes")
    assert gitmem("--store", "a b/记忆", "list").out


def test_help_is_still_the_list_of_commands(gitmem: RunCommand) -> None:
    assert all(f"  {name} " in gitmem("--help").out for name in list(COMMANDS)[:3])
