"""How commands are declared to click: the options that all share, and their help."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

from gitmem.cli.call import Call
from gitmem.errors import Usage


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

    def make(function: Callable[..., Any]) -> click.Command:
        made = click.command(name, epilog=f"\b\nExample:\n  {example}")(click.pass_obj(function))
        for parameter in made.params:
            parameter.callback = parameter.callback or _legible
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
