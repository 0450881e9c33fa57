"""Completion in the shells themselves: what they are offered, and that nothing else happens."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import MemoryStore
from tests.cli.harness import ADA, RunCommand, environment
from tests.conftest import RunGit

# What a shell would do something about, were it to reach a command line or be read as a format.
HOSTILE = "100%s: $(touch hacked), `touch hacked`; 数据库 *"
BRANCH = "proposals/$(touch${IFS}hacked)"

# Answers as readline would ask: the words of the line, the last one being typed.
BASH = """
. ../scripts/bash
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
_gitmem_completion gitmem
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""
# Without a terminal zsh has no completion system; these two stand for what it would be given.
ZSH = """
compdef() { : }
_describe() { print -rl -- "${completions_with_descriptions[@]}" }
compadd() { print -rl -- "${completions[@]}" }
. ../scripts/zsh
words=("$@"); CURRENT=$#
_gitmem_completion
"""
FISH = "source ../scripts/fish; complete -C $argv[1]"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose memory has two records and an open proposal, and a script for each shell."""
    folder = tmp_path_factory.mktemp("completion")
    chat = folder / "chat.json"
    said = "Always run the linter before a commit in this project, because CI is slow."
    chat.write_text(json.dumps([{"role": "user", "content": said}]))
    (folder / "project").mkdir()
    with MemoryStore.init(folder / "project" / ".memory") as memory:
        memory.remember(
            "Use tabs, not spaces.", name="use-tabs", description="Tabs, never spaces", person=ADA
        )
        memory.remember(
            "数据库迁移必须先备份。",
            name="db-backup",
            type="project",
            description=HOSTILE,
            person=ADA,
        )
        assert memory.extract(chat).proposal
    (folder / "scripts").mkdir()
    for shell in ("bash", "zsh", "fish"):
        script = subprocess.check_output([sys.executable, "-m", "gitmem", "completion", shell])
        (folder / "scripts" / shell).write_bytes(script)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project to work in, with the command `gitmem` on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    gitmem = programs / "gitmem"
    gitmem.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    gitmem.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "project"
    monkeypatch.chdir(folder)
    return folder


Ask = Callable[..., list[str]]


def asked(*command: str) -> list[str]:
    """The lines that a shell shows; it must say nothing else."""
    done = subprocess.run(
        command, env=environment(None), capture_output=True, encoding="utf-8", check=False
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def bash(*words: str) -> list[str]:
    return asked("bash", "--norc", "-c", BASH, "bash", "gitmem", *words)


def zsh(*words: str) -> list[str]:
    return asked("zsh", "-f", "-c", ZSH, "zsh", "gitmem", *words)


def fish(*words: str) -> list[str]:
    return asked("fish", "--no-config", "-c", FISH, " ".join(["gitmem", *words]))


needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
needs_zsh = pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
needs_fish = pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
SHELLS = [
    pytest.param(bash, marks=needs_bash),
    pytest.param(zsh, marks=needs_zsh),
    pytest.param(fish, marks=needs_fish),
]


def open_id(folder: Path) -> str:
    with MemoryStore.open(folder / ".memory") as memory:
        (proposal,) = memory.proposals()
    return proposal.id


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes_commands_options_names_and_ids(shell: Ask, here: Path) -> None:
    first = {line.split("\t")[0].split(":")[0] for line in shell("pro")}
    assert first == {"propose", "proposals"}
    assert any(line.startswith("--type") for line in shell("list", "--t"))
    assert [line[:8] for line in shell("show", "use")] == ["use-tabs"]
    (proposal,) = shell("approve", "ext")
    assert proposal.startswith(open_id(here))
    assert not (here / "hacked").exists()


@needs_zsh
def test_zsh_shows_what_a_record_and_a_proposal_say(here: Path) -> None:
    assert zsh("why", "use") == ["use-tabs:Tabs, never spaces"]
    assert zsh("why", "db") == [f"db-backup:{HOSTILE}"]
    (proposal,) = zsh("diff", "")
    assert ":extract\\: " in proposal or ":extract: " in proposal
    assert not (here / "hacked").exists()


@needs_fish
def test_fish_shows_a_description_whole(here: Path) -> None:
    assert fish("why", "use") == ["use-tabs\tTabs, never spaces"]
    assert fish("forget", "db") == [f"db-backup\t{HOSTILE}"]
    assert not (here / "hacked").exists()


@needs_bash
def test_every_place_has_its_candidates(here: Path) -> None:
    for command in ("log", "forget"):
        assert sorted(bash(command, "")) == ["db-backup", "use-tabs"]
    assert bash("list", "--type", "") == ["user", "feedback", "project", "reference"]
    assert "openai" in bash("extract", "--format", "")
    assert bash("completion", "") == ["bash", "zsh", "fish"]
    assert bash("policy", "s") == ["set", "show"]
    assert bash("policy", "set", "view.") == ["view.format", "view.lines", "view.bytes"]
    assert bash("hooks", "install", "") == ["git"]
    assert bash("remember", "use") == []
    assert bash("remember", "--name", "use") == []


@needs_bash
def test_an_id_that_is_there_already_is_not_offered_again(here: Path) -> None:
    proposal = open_id(here)
    assert bash("approve", "") == [proposal]
    assert bash("approve", proposal, "") == []
    assert bash("reject", "--reason", "x", "") == [proposal]


@needs_bash
def test_what_was_put_aside_or_merged_is_offered_where_it_can_be_had_back(here: Path) -> None:
    with MemoryStore.open(here / ".memory") as memory:
        merged = {entry.change for entry in memory.log() if entry.kind == "merge"}
        proposal = open_id(here)
        assert bash("approve", proposal, "--only", "") == [
            record.name for record in memory.proposals()[0].records
        ]
        memory.reject(proposal, reason="太短", person=ADA)
    assert bash("reopen", "") == [proposal]
    assert set(bash("revert", "")) == merged
    assert bash("approve", "") == []


@needs_bash
def test_an_option_with_an_equals_sign_is_completed_where_bash_breaks_it(here: Path) -> None:
    assert bash("list", "--type", "=", "u") == ["user"]
    assert bash("list", "--type", "=") == ["user", "feedback", "project", "reference"]
    assert bash("--store", "=", ".memory", "show", "use") == ["use-tabs"]


@pytest.mark.parametrize("shell", SHELLS[1:])
def test_an_option_with_an_equals_sign_is_completed_as_one_word(shell: Ask, here: Path) -> None:
    assert shell("list", "--type=u") == ["--type=user"]


@needs_bash
def test_the_store_is_the_one_that_the_call_names(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(other)
    assert bash("show", "use") == []
    assert bash("--store", "../project/.memory", "show", "use") == ["use-tabs"]
    assert bash("show", "--store", str(here / ".memory"), "use") == ["use-tabs"]
    monkeypatch.setenv("HOME", str(tmp_path))
    assert bash("show", "--store", "~/project/.memory", "use") == ["use-tabs"]


@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_store_nothing_is_offered_and_nothing_said(shell: Ask, here: Path) -> None:
    shutil.rmtree(here / ".memory")
    assert shell("show", "") == []
    assert shell("approve", "") == []
    assert shell("nonsense", "") == []


@needs_bash
def test_a_store_that_is_no_memory_offers_nothing(here: Path, git: RunGit) -> None:
    shutil.rmtree(here / ".memory")
    git(here, "init", "-q", ".memory")
    assert bash("show", "") == []
    assert bash("diff", "") == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_branch_with_a_hostile_name_is_not_offered(shell: Ask, here: Path, git: RunGit) -> None:
    git(here / ".memory", "update-ref", f"refs/heads/{BRANCH}", "main")
    proposal = open_id_beside_others(here)
    (line,) = shell("reject", "")
    assert line.startswith(proposal)
    assert not list(here.rglob("hacked"))


def open_id_beside_others(folder: Path) -> str:
    with MemoryStore.open(folder / ".memory") as memory:
        return next(name for name in memory.proposal_ids() if name.startswith("extract-"))


def test_names_are_completed_without_git(here: Path, gitmem: RunCommand, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    typed = {"COMP_WORDS": "gitmem show u", "COMP_CWORD": "2", "_GITMEM_COMPLETE": "bash_complete"}
    assert gitmem(env={**typed, "PATH": str(empty)}).out == "plain,use-tabs\n"


@pytest.mark.parametrize("asks", ["bash_complete", "bash_nonsense", "tcsh_complete", "", "_"])
def test_a_script_that_asks_wrongly_gets_no_answer(gitmem: RunCommand, asks: str) -> None:
    done = gitmem(env={"_GITMEM_COMPLETE": asks}, code=1)
    assert (done.out, done.err) == ("", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_printed_whole(gitmem: RunCommand, shell: str) -> None:
    script = gitmem("completion", shell).out
    assert f"_GITMEM_COMPLETE={shell}_complete" in script
    assert gitmem(env={"_GITMEM_COMPLETE": f"{shell}_source"}).out == script
    assert gitmem("completion", shell, "--json").json == {"shell": shell, "script": script}


def test_help_says_where_each_script_belongs(gitmem: RunCommand) -> None:
    text = gitmem("completion", "--help").out
    for place in ("bash-completion/completions/gitmem", "$fpath", "fish/completions/gitmem.fish"):
        assert place in text
    assert "'powershell'" in gitmem("completion", "powershell", code=2).err
