"""Whatever stands on a command line or in the environment: an answer or a reason, never a bug."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gitmem import hook
from gitmem.cli.root import COMMANDS, gitmem
from gitmem.domain.text import escape_terminal
from tests.cases.calls import call
from tests.cases.conftest import Project, _project, project
from tests.cli.harness import Done
from tests.conftest import Effort
from tests.fuzz.mutations import PIECES, mutated

__all__ = ["_project", "project"]

#: Arguments that mean something somewhere, in the place of which others are put.
MEANT = (
    "use-tabs", "brief", "main", "main~1", "HEAD", "2026-11-30", "2026-11-30T12:00+08:00", "user",
    "project", "rounds", "view.lines", "signers", "none", "true", "20", "-1", "0", "1", "1000", "-",
    "openai", "claude-code", "git", "bash", "zsh", "extract-20260921-abcdef", "remember-20260921",
    "Ada <ada@example.org>", "制表符 tabs", "Always use tabs.", "--", "--yes", "-h", "--json", "",
)  # fmt: skip


def argument(chance: random.Random) -> str:
    """A text that a program can be given: any bytes but NUL."""
    if chance.random() < 0.4:
        return chance.choice(MEANT)
    seeds = [word.encode() for word in MEANT]
    return os.fsdecode(mutated(chance, [chance.choice(seeds), b"a"])[:9000].replace(b"\0", b""))


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and command of a group, with the words that call it."""
    context = click.Context(gitmem)
    for name in COMMANDS:
        command = gitmem.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                below = command.get_command(context, inner)
                assert below is not None
                yield (name, inner), below
        else:
            yield (name,), command


EVERY = list(commands())


def line(chance: random.Random, files: list[str]) -> list[str]:
    """A command line: a command, some of its options, its arguments; sometimes too many."""
    words, command = chance.choice(EVERY)
    args = []
    for parameter in command.params:
        if chance.random() < (0.3 if isinstance(parameter, click.Option) else 0.9):
            value = chance.choice(files) if chance.random() < 0.2 else argument(chance)
            if not isinstance(parameter, click.Option):
                args.append(value)
            elif parameter.name == "store" or parameter.name == "debug":
                continue
            elif parameter.is_flag:
                args.append(parameter.opts[-1])
            else:
                joined = chance.random() < 0.5 and parameter.opts[-1].startswith("--")
                args += [f"{parameter.opts[-1]}={value}"] if joined else [parameter.opts[-1], value]
    if chance.random() < 0.1:
        args.insert(chance.randint(0, len(args)), argument(chance))
    if words == ("init",):  # nowhere else than in the test's own folder
        args = (
            ["made-here"] if chance.random() < 0.5 else ["./" + "a" * chance.choice((3, 300, 5000))]
        )
    return [*words, *args]


def check(done: Done, what: object) -> None:
    """It ended as documented, and what it printed is what a terminal shows."""
    assert done.code in (0, 1, 2, 4), (what, done.code, done.err[-2000:])
    for said in (done.out, done.err):
        assert "Traceback" not in said, what
        assert not set(said) & {chr(c) for c in (*range(9), *range(11, 32), *range(127, 160))}, what
    assert escape_terminal(done.err, multiline=True) == done.err, (what, done.err)
    if done.code:
        assert "error: " in done.err or '"error"' in done.err or "Usage: " in done.err, (what, done)


def test_any_command_line_ends_in_an_answer_or_a_reason(
    project: Project, effort: Effort, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("VISUAL", "true")
    for number in range(effort.count(80, 6000)):
        chance = effort.chance("command line", number)
        (tmp_path / "file").write_bytes(mutated(chance, [*PIECES, b'{"kind": "extract"}']))
        args = line(chance, ["file", ".", *map(str, vars_of(project))])
        check(call(project.store, *args), args)
    check(call(project.store, "list"), "list")
    assert call(project.store, "fsck").code == 0


def vars_of(project: Project) -> list[str]:
    ids = project.ids
    return [ids.open, ids.refusable, ids.stale, ids.merged, ids.kept]


#: What the environment can say to gitmem, and to the programs that it asks.
VARIABLES = (
    "GITMEM_STORE", "GITMEM_USER", "COLUMNS", "LINES", "TERM", "NO_COLOR", "GIT_DIR",
    "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_QUARANTINE_PATH", "GIT_AUTHOR_NAME", "LC_ALL", "TZ",
    "CLAUDECODE", "VISUAL", "HOME",
)  # fmt: skip


def test_any_environment_ends_in_an_answer_or_a_reason(
    project: Project, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = (["status"], ["list"], ["search", "tabs"], ["log"], ["remember", "x y z", "--yes"])
    for number in range(effort.count(15, 1500)):
        chance = effort.chance("environment", number)
        with monkeypatch.context() as set_for_now:
            for name in chance.sample(VARIABLES, chance.choice((1, 2, 5))):
                set_for_now.setenv(name, argument(chance))
            check(call(project.store, *chance.choice(reads)), number)
            done = call(Path(argument(chance) or "x"), "list")
            assert done.code in (1, 2), (number, done)
    check(call(project.store, "list"), "list")


def test_any_event_of_any_hook_ends_as_documented(
    project: Project, effort: Effort, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.store)
    for number in range(effort.count(15, 600)):
        chance = effort.chance("hook", number)
        event = chance.choice([*hook.EVENTS, argument(chance)])
        with monkeypatch.context() as set_for_now:
            if chance.random() < 0.5:
                set_for_now.setenv(chance.choice(("GIT_DIR", "GIT_INDEX_FILE")), argument(chance))
            assert hook.main([event, argument(chance), argument(chance)]) in (0, 2, 4), number
