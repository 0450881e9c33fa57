"""Completion for the shells: their scripts, and the door by which a script asks.

click's scripts and protocol, put right where a word holds ``=``; silent where something fails.
"""

from __future__ import annotations

import sys

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    get_completion_class,
)

from gitmem.cli.call import Call
from gitmem.cli.options import COMPLETE, command
from gitmem.cli.output import Stream
from gitmem.errors import GitmemError


class _WholeWords(ShellComplete):
    """For a shell that replaces the word ``--type=us`` whole."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[str]]:
        option, equals, _ = incomplete.partition("=")
        found = super().get_completions(args, incomplete)
        if option.startswith("--") and equals:
            for item in found:
                item.value = f"{option}={item.value}"
        return found


class _Bash(BashComplete):
    """bash makes three words of ``--type=us``, and replaces the last one."""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, incomplete = super().get_completion_args()
        args: list[str] = []
        for word in words:
            follows = bool(args) and args[-1].startswith("--") and args[-1].endswith("=")
            if follows or (word == "=" and args and args[-1].startswith("--")):
                args[-1] += word
            else:
                args.append(word)
        if args and args[-1].startswith("--") and args[-1].endswith("="):
            incomplete = args.pop() + incomplete
        return args, incomplete


class _Zsh(_WholeWords, ZshComplete):
    pass


class _Fish(_WholeWords, FishComplete):
    # Else a description would end at its first comma.
    source_template = FishComplete.source_template.replace(
        'string split ","', 'string split --max 1 ","'
    )


_SHELLS: dict[str, type[ShellComplete]] = {"bash": _Bash, "zsh": _Zsh, "fish": _Fish}


def complete(group: click.Command, instruction: str) -> int:
    """Do what a shell's script asks by its variable: ``bash_source``, ``bash_complete``, ..."""
    shell, _, wanted = instruction.partition("_")
    kind = _SHELLS.get(shell) or get_completion_class(shell)
    if kind is None or wanted not in ("source", "complete"):
        return 1
    asked = kind(group, {}, "gitmem", COMPLETE)
    if wanted == "source":
        _print(asked.source())
        return 0
    try:
        asked.get_completion_args()
    except (KeyError, ValueError):  # the variables are not those of a script
        return 1
    try:
        _print(asked.complete())
    except (click.ClickException, GitmemError, OSError):
        return 1
    return 0


def _print(text: str) -> None:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(newline="\n")  # no shell likes the line ends of Windows
    if text:
        Stream(sys.stdout).block(text)


@command(
    "completion",
    example="gitmem completion bash > ~/.local/share/bash-completion/completions/gitmem",
)
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def completion(call: Call, shell: str) -> None:
    """Print the script with which a shell completes gitmem.

    Commands, options, names of records and ids of proposals are completed. Where it belongs
    (make the folder if it is not there, and open a new shell):

    \b
      bash  ~/.local/share/bash-completion/completions/gitmem
      zsh   a file _gitmem in a folder of $fpath, before compinit runs
      fish  ~/.config/fish/completions/gitmem.fish

    Or for the shell at hand alone: eval "$(gitmem completion bash)".
    """
    script = _SHELLS[shell](click.Command("gitmem"), {}, "gitmem", COMPLETE).source()
    if call.json:
        call.output.out.json({"shell": shell, "script": script})
        return
    _print(script)
