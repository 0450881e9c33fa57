"""Write ``docs/cli.md`` out of what ``--help`` prints, or check that it is up to date.

``make docs`` writes it; a test runs this with ``--check``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

import gitmem.cli

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 88

INTRODUCTION = """\
# Command line

Made from `--help` by `make docs`: change the help texts, not this page.

| exit code | means |
|---|---|
| 0 | done |
| 1 | refused, or failed for a reason that the message names |
| 2 | the call itself is wrong |
| 3 | a bug in gitmem; the message names a log to paste |
| 4 | waiting for a person, or made on a base that has moved on |
| 130 | interrupted |
"""


def main(arguments: list[str]) -> int:
    page = INTRODUCTION + "".join(sections(root(), "gitmem", None))
    if arguments != ["--check"]:
        PAGE.write_text(page, encoding="utf-8", newline="\n")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page:
        return 0
    print("docs/cli.md is not what --help prints. Run: make docs", file=sys.stderr)
    return 1


def root() -> click.Group:
    """The group that ``gitmem`` runs."""
    return next(value for value in vars(gitmem.cli).values() if isinstance(value, click.Group))


def sections(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    """One section for the command and each visible one below it, in the order of ``--help``."""
    context = click.Context(
        command, info_name=name, parent=parent, terminal_width=WIDTH, max_content_width=WIDTH
    )
    lines = [line.rstrip() for line in command.get_help(context).splitlines()]
    yield "\n".join(["", f"## {context.command_path}", "", "```text", *lines, "```", ""])
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from sections(found, child, context)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
