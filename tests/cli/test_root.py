"""The group: help, versions, unknown commands, options that stand anywhere, a fast start."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from gitmem import __version__
from gitmem.cli.options import EXIT_CODES
from gitmem.cli.root import COMMANDS, SECTIONS
from gitmem.cli.root import gitmem as group
from tests.cli.harness import RunCommand, environment


def called(*words: str) -> click.Command:
    """The command of these words, as ``policy set``."""
    found: click.Command = group
    for word in words:
        assert isinstance(found, click.Group)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None
        found = inner
    return found


def _every_call() -> list[str]:
    names = []
    for name in COMMANDS:
        names.append(name)
        if isinstance(made := called(name), click.Group):
            names += [f"{name} {inner}" for inner in made.list_commands(click.Context(made))]
    return names


EVERY = _every_call()


def options_of(name: str) -> set[str]:
    return {option for parameter in called(*name.split()).params for option in parameter.opts}


def help_of(name: str) -> str:
    command = called(*name.split())
    return command.get_help(click.Context(command, info_name=f"gitmem {name}"))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_one_line_of_help_is_the_commands_own(name: str) -> None:
    assert called(name).get_short_help_str(limit=200) == COMMANDS[name][1]
    assert called(name).name == name


@pytest.mark.parametrize("name", EVERY)
def test_help_has_an_example_that_calls_the_command(name: str) -> None:
    assert f"Example:\n    gitmem {name}" in help_of(name)


@pytest.mark.parametrize("name", EVERY)
def test_every_command_takes_the_common_options(name: str) -> None:
    assert options_of(name) >= {"--store", "--json", "--verbose", "--debug"}


@pytest.mark.parametrize("name", ["remember", "edit", "forget", "approve", "reject"])
def test_a_command_for_people_takes_their_name_and_their_yes(name: str) -> None:
    assert options_of(name) >= {"--as", "--yes"}


@pytest.mark.parametrize("name", EVERY)
def test_what_exit_codes_mean_is_told_where_it_matters(name: str) -> None:
    matters = "--yes" in options_of(name) or name in ("fsck", "search")
    assert (name in EXIT_CODES) or not matters
    ends = f"Ends with {EXIT_CODES.get(name, '')}"
    assert (ends in " ".join(help_of(name).split())) == (name in EXIT_CODES)


def test_exit_codes_are_told_of_commands_that_there_are() -> None:
    assert set(EXIT_CODES) <= set(EVERY)


def test_every_command_stands_in_one_section() -> None:
    assert sum(map(len, SECTIONS.values())) == len(COMMANDS)


def test_help_lists_every_command_and_loads_none(gitmem: RunCommand) -> None:
    done = gitmem("--help")
    for name, (_, line) in COMMANDS.items():
        assert f"  {name} " in done.out
        assert line in done.out
    code = (
        "import json, sys\nfrom gitmem.cli import main\ncode = main(['--help'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    listed = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(None),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    loaded = [name for name in json.loads(listed.stderr) if name.startswith("gitmem.")]
    own = {"", ".boundary", ".call", ".options", ".output", ".quick", ".root"}
    cli = {name for name in loaded if name.startswith("gitmem.cli")}
    assert cli == {f"gitmem.cli{name}" for name in own}
    assert "gitmem.memory" not in loaded


def test_the_version_is_told(gitmem: RunCommand) -> None:
    assert gitmem("--version").out == f"gitmem {__version__}\n"


@pytest.mark.parametrize(
    ("typed", "meant"), [("lst", "list"), ("aprove", "approve"), ("proposal", "proposals")]
)
def test_an_unknown_command_is_answered_with_what_was_meant(
    gitmem: RunCommand, typed: str, meant: str
) -> None:
    done = gitmem(typed, code=2)
    assert f"there is no command '{typed}'" in done.err
    assert meant in done.err


def test_an_unknown_command_like_no_other_is_answered_with_help(gitmem: RunCommand) -> None:
    done = gitmem("\x1b[2Jxyzzy", code=2)
    assert "Did you mean" not in done.err
    assert "gitmem --help" in done.err
    assert "\x1b" not in done.err


def test_a_usage_error_names_the_command_to_ask_for_help(gitmem: RunCommand) -> None:
    assert "gitmem list --help" in gitmem("list", "--colour", code=2).err
    error = gitmem("show", "--json", code=2).error
    assert error["exit_code"] == 2
    assert "NAME" in error["message"]


def test_an_empty_store_option_is_refused(gitmem: RunCommand) -> None:
    assert "--store" in gitmem("list", "--store", "", code=2).err


@pytest.mark.parametrize("args", [["--store=nowhere", "list"], ["list", "--store=nowhere"]])
def test_a_store_that_is_not_there_is_named(gitmem: RunCommand, args: list[str]) -> None:
    assert "nowhere" in gitmem(*args, code=1).err


def test_no_store_at_all_says_how_to_make_one(gitmem: RunCommand) -> None:
    assert "gitmem init" in gitmem("list", code=1).err
