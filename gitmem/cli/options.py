"""How commands are declared to click: the options that all share, and their help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from gitmem.cli.call import Call


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


def command(name: str, *, example: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a function a command with the common options; its help ends with ``example``."""

    def make(function: Callable[..., Any]) -> click.Command:
        made = click.command(name, epilog=f"\b\nExample:\n  {example}")(click.pass_obj(function))
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
