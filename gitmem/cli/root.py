"""The ``gitmem`` group: which commands there are, and where each is loaded from when called.

click's own errors end here: what leaves is an exit code or a :class:`GitmemError`.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from gitmem import __version__
from gitmem.cli.call import Call
from gitmem.cli.options import COMPLETE, common_options
from gitmem.cli.output import Stream
from gitmem.errors import GitmemError, Usage

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# Where each command is, and its one line of help, so that a call loads its own module only and
# `gitmem --help` none. A test holds the lines equal to the commands' own.
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "Look": {
        "status": ("reading:status", "Show the store's state and what to do next."),
        "list": ("reading:list_records", "List what is remembered."),
        "show": ("reading:show", "Show one record with its quotes."),
        "log": ("reading:log", "Show the ledger: every merge and decision, newest first."),
        "why": ("reading:why", "Explain why a record is believed."),
        "search": ("reading:search", "Find the records that match a question best."),
        "select": (
            "reviewing:select",
            "Print the memories that a turn with this query would get.",
        ),
    },
    "Change, as a person": {
        "init": ("changing:init", "Make a new store."),
        "remember": ("changing:remember", "Remember something."),
        "edit": ("changing:edit", "Change a record."),
        "forget": ("changing:forget", "Retire a record, so that it does not come back by itself."),
    },
    "Propose": {
        "extract": ("proposing:extract", "Propose what a conversation says that is worth keeping."),
        "propose": ("proposing:propose", "Propose a change set written as JSON."),
        "adopt": (
            "adopting:adopt",
            "Propose what you edited in the store's files, or committed by hand.",
        ),
    },
    "Tidy": {
        "consolidate": (
            "consolidating:consolidate",
            "Let the consolidator model tidy the memory, and propose what it makes of it.",
        ),
    },
    "Review": {
        "proposals": ("queue:proposals", "List the proposals that are open."),
        "diff": ("queue:diff", "Show what a proposal changes, with its quotes."),
        "review": ("reviewing:review", "Let the reviewer model judge a proposal."),
        "approve": ("queue:approve", "Approve proposals and merge them."),
        "reject": ("queue:reject", "Reject proposals, so that they do not come back."),
        "rebase": (
            "reconsidering:rebase",
            "Put a stale proposal on the newest commit of main.",
        ),
        "revert": (
            "reconsidering:revert",
            "Undo a merge by a new one; what was changed after it is kept.",
        ),
        "reopen": ("reconsidering:reopen", "Propose again what was put aside."),
    },
    "Rule": {
        "policy": ("policy:policy", "Show or change the rules by which proposals are merged."),
    },
    "Check": {
        "fsck": ("checking:fsck", "Verify every commit of the ledger from its parents."),
    },
    "Set up": {
        "config": ("models:config", "Show, set or try the models of this machine."),
        "hooks": ("hooks:hooks", "Install or remove the hooks of a store."),
        "completion": (
            "completion:completion",
            "Print the script with which a shell completes gitmem.",
        ),
    },
}
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class LazyGroup(click.Group):
    """A group that imports a command's module when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"gitmem.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib  # only where something was mistyped

            close = difflib.get_close_matches(name, COMMANDS)
            guess = f" Did you mean {' or '.join(close)}?" if close else ""
            raise click.UsageError(f"there is no command {name!r}.{guess}", ctx)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        options = click.Command.shell_complete(self, ctx, incomplete)
        return options + [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[*common_options()],
    invoke_without_command=True,
    epilog="\b\nStart here:\n  gitmem init\n  gitmem extract conversation.json\n  gitmem proposals",
)
@click.version_option(__version__, prog_name="gitmem", message="%(prog)s %(version)s")
@click.pass_context
def gitmem(ctx: click.Context) -> None:
    """Pull requests for an agent's memory.

    What an agent remembers is a git repository. Every change is a proposal with verbatim quotes,
    reviewed before it is merged.
    """
    call = ctx.ensure_object(Call)
    if ctx.invoked_subcommand is None:
        from gitmem.cli.welcome import welcome

        welcome(call)


def call_command(args: list[str]) -> int:
    """Run the command that ``args`` name and return its exit code.

    Raises:
        GitmemError: what the command raised; Usage where click does not understand the call.
        KeyboardInterrupt: a person interrupted it.
    """
    return run_click(gitmem, args)


def run_click(command: click.Command, args: list[str]) -> int:
    """Run any click command as :func:`call_command` does."""
    asked = os.environ.get(COMPLETE)
    if asked is not None:
        from gitmem.cli.completion import complete

        return complete(command, asked)
    try:
        # Not command.main(): it would turn a closed pipe into exit code 1 by itself.
        with command.make_context("gitmem", list(args)) as context:
            result = command.invoke(context)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        Stream(sys.stderr).block(error.format_message())
        return Usage.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "gitmem"
        raise Usage(error.format_message(), hint=f"See: {path} --help") from error
    except click.ClickException as error:
        raise GitmemError(error.format_message()) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
