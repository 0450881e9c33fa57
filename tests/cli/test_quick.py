"""The quick way understands a call as click does, or leaves it to click."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.cli.call import Call
from gitmem.cli.quick import understand
from gitmem.cli.root import gitmem as group
from tests.cli.harness import RunCommand, environment

TEXT = """
    list show search status user x 用户 --json --store --store=x --store= --stor --type
    --type=user --type=-x -n --limit --limit=3 -n3 -n=3 3 0 -1 +3 1_0 ３ 9999999999
    --at --at=main --at=2026-10-01 --all -v -vn --debug -h -- - --as --yes =
"""
WORDS = st.sampled_from(TEXT.split())


def by_click(args: list[str]) -> tuple[str, dict[str, object], Call]:
    """What click makes of a call, without running it."""
    with group.make_context("gitmem", list(args)) as root:
        name, command, rest = group.resolve_command(root, [*root._protected_args, *root.args])
        assert command is not None and name is not None
        with command.make_context(name, rest, parent=root) as context:
            return name, context.params, root.find_object(Call) or Call()


@given(st.lists(WORDS, max_size=7))
@example(["show", ""])
@example(["show", "a b"])
@example(["list", "--type="])
@example(["list", "--store=a", "--store", "b"])
@example(["--store", "list", "list", "--json"])
@example(["search", "tabs", "-n", "3", "and", "spaces", "--json"])
def test_what_is_understood_quickly_is_what_click_understands(args: list[str]) -> None:
    quick = understand(args)
    if quick is None:
        return
    name, params, call = by_click(args)
    assert quick.command == name
    assert (quick.store, quick.json) == (call.store, call.json)
    wanted: dict[str, object] = {
        "list": {"type": quick.values.get("type"), "at": None},
        "show": {"name": " ".join(quick.arguments), "at": None},
        "search": {
            "query": tuple(quick.arguments),
            "limit": int(quick.values.get("limit", "10")),
            "every": False,
            "at": None,
        },
    }[name]
    assert params == wanted


@pytest.mark.parametrize(
    "args",
    [
        ["list"],
        ["list", "--json"],
        ["--store", "x", "list", "--type", "user"],
        ["show", "use-tabs", "--json"],
        ["search", "数据库", "迁移", "--limit=3"],
    ],
)
def test_the_common_calls_are_understood_quickly(args: list[str]) -> None:
    assert understand(args) is not None


@pytest.mark.parametrize(
    "args",
    [
        ["status"],
        ["list", "-h"],
        ["show"],
        ["show", "a", "b"],
        ["search"],
        ["list", "-v"],
        ["list", "--at", "main~1"],
        ["show", "use-tabs", "--at=2026-10-01"],
        ["search", "tabs", "--all"],
    ],
)
def test_the_others_are_left_to_click(args: list[str]) -> None:
    assert understand(args) is None


@pytest.mark.parametrize("command", [["list"], ["show", "use-tabs", "--json"], ["search", "tabs"]])
def test_the_quick_way_loads_no_click(tabs: Path, gitmem: RunCommand, command: list[str]) -> None:
    gitmem(*command)
    code = (
        "import sys\nfrom gitmem.cli import main\ncode = main(sys.argv[1:])\n"
        "print(sorted({'click', 'rich', 'yaml', 'pydantic', 'git'} & set(sys.modules)), "
        "file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        env=environment(None),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert done.stdout == gitmem(*command).out


def test_click_would_answer_the_same(tabs: Path, gitmem: RunCommand) -> None:
    for command in (["list"], ["show", "use-tabs"], ["search", "tabs"]):
        quick = gitmem(*command)
        assert quick.out
        # -v is left to click.
        assert gitmem(*command, "-v").out == quick.out
