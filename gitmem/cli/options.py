"""How commands are declared to click: the options that all share, and their help."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.call import Call
from gitmem.errors import Usage

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: The variable by which a shell's script asks for candidates.
COMPLETE = "_GITMEM_COMPLETE"

#: What the exit codes of a command mean beyond those that all commands share.
EXIT_CODES = {
    "adopt": "0 also when there is nothing to adopt, and when the proposal waits; 1 when something "
    "could not be adopted or you say no; 4 when nobody can be asked and --yes is missing.",
    "approve": "1 when a check or the policy forbids it or you say no; 4 when it is stale, or "
    "when nobody can be asked and --yes is missing. Of several ids, the worst.",
    "consolidate": "0 also when there is nothing to tidy; 4 when it is not due.",
    "edit": "1 when it was refused or you say no; 4 when nobody can be asked and --yes is missing.",
    "config check": "1 when a model cannot play its role.",
    "extract": "0 also when there was nothing to propose, and when the proposal waits.",
    "forget": "1 when it was refused or you say no; 4 when nobody can be asked and --yes is "
    "missing.",
    "fsck": "0 when all is well, 1 when something is not as it should be.",
    "log": "1 when nothing of that name was ever remembered.",
    "hooks install": "1 when a hook could not be installed.",
    "hooks remove": "1 when a hook could not be removed.",
    "policy add-reviewer": "1 when it was refused or you say no; 4 when nobody can be asked and "
    "--yes is missing, or when the reviewers changed meanwhile.",
    "policy edit": "1 when it was refused or you say no; 4 when the policy changed meanwhile.",
    "policy remove-reviewer": "1 when it was refused or you say no; 4 when nobody can be asked and "
    "--yes is missing, or when the reviewers changed meanwhile.",
    "policy set": "1 when it was refused or you say no; 4 when nobody can be asked and --yes is "
    "missing, or when the policy changed meanwhile.",
    "propose": "0 also when the proposal waits for a person.",
    "rebase": "0 also when it stands on the newest already; 1 when it cannot be read.",
    "reopen": "1 when it cannot be proposed again.",
    "revert": "1 when nothing of it can be undone or you say no; 4 when it waits for somebody "
    "else, or when nobody can be asked and --yes is missing.",
    "reject": "1 when it was refused or you say no; 4 when nobody can be asked and --yes is "
    "missing. Of several ids, the worst.",
    "remember": "1 when it was refused or you say no; 4 when nobody can be asked and --yes is "
    "missing.",
    "review": "0 when it was merged, rejected or withdrawn; 4 when it waits. With --try, 0.",
    "search": "0 also when nothing matches.",
    "show": "1 when nothing is remembered by that name.",
    "why": "1 when nothing is remembered by that name.",
}


class _Text(click.types.StringParamType):
    """Text that a shell can complete."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        from gitmem.cli.candidates import candidates

        return candidates(ctx, param, incomplete)


_TEXT = _Text()


def _remember_option(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    call = ctx.find_root().ensure_object(Call)
    if value not in (None, False):
        if value == "":
            raise click.BadParameter("it is empty", ctx=ctx, param=parameter)
        setattr(call, str(parameter.name), value)
        call.output.as_json = call.json
    return value


def common_options() -> list[click.Parameter]:
    """The options that may stand before or after the command."""
    shared: dict[str, Any] = {"expose_value": False, "callback": _remember_option}
    return [
        click.Option(
            ["--store"],
            type=_TEXT,
            metavar="PATH",
            help="The store (default: GITMEM_STORE, else .memory here or above).",
            **shared,
        ),
        click.Option(["--json"], is_flag=True, help="Print one JSON document.", **shared),
        click.Option(["-v", "--verbose"], is_flag=True, help="Say more on the way.", **shared),
        click.Option(["--debug"], is_flag=True, help="Show the traceback of an error.", **shared),
    ]


def _legible(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Refuse what is given and empty, which would pass for not given, and what is no text.

    A path may hold any bytes: they are those of a file's name.
    """
    source = ctx.get_parameter_source(parameter.name or "")
    if source is click.core.ParameterSource.DEFAULT:
        return value
    for text in value if isinstance(value, tuple) else (value,):
        if text == "":
            raise click.BadParameter("it is empty", ctx=ctx, param=parameter)
        if isinstance(text, str) and not isinstance(parameter.type, click.Path):
            _check_decoded(text, parameter.get_error_hint(ctx))
    return value


def _check_decoded(text: str, name: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Usage(
            f"{name} holds bytes that are no text in this terminal's encoding, "
            f"{sys.getfilesystemencoding()}",
            hint="Use a locale of UTF-8, as in: LC_ALL=C.UTF-8 gitmem ...",
        ) from error


def command(name: str, *, example: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command with the common options; its help ends with ``example``."""
    epilog = f"\b\nExample:\n  {example}"
    words = example.split()
    called = " ".join(words[1 : words.index(name) + 1])  # a command of a group has two words
    if called in EXIT_CODES:
        epilog += f"\n\nEnds with {EXIT_CODES[called]}"

    def make(function: Callable[..., Any]) -> click.Command:
        made = click.command(name, epilog=epilog)(click.pass_obj(function))
        for parameter in made.params:
            parameter.callback = parameter.callback or _legible
            if parameter.type is click.STRING:
                parameter.type = _TEXT
        made.params += common_options()
        return made

    return make


person_option = click.option(
    "--as",
    "person",
    metavar='"NAME <ADDRESS>"',
    help="Who you are (default: GITMEM_USER, else git's user.name and user.email).",
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask; needed without a terminal.")
