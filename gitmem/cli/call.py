"""What every command shares: the options that may stand anywhere, and opening the store."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from gitmem.cli.output import Output
from gitmem.errors import NotFound

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore


@dataclass
class Call:
    """The options of one call, wherever they stood, and where its output goes."""

    store: str | None = None
    json: bool = False
    verbose: bool = False
    debug: bool = False
    output: Output = field(default_factory=Output)

    @contextmanager
    def opened(self) -> Iterator[MemoryStore]:
        """Open the store, and at the end tell what it noted on the way."""
        from gitmem.memory import MemoryStore

        store = MemoryStore.open(self.store)
        try:
            if self.verbose:
                self.output.note(f"the store is {store.path}")
            yield store
        finally:
            self.output.notes(store.notes)
            store.close()


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


@contextmanager
def naming_records(store: MemoryStore, name: str) -> Iterator[None]:
    """Where a record is not found, name the ones that are spelt like it."""
    try:
        yield
    except NotFound as error:
        names = [record.name for record in store.list()]
        close = difflib.get_close_matches(name, names)
        if name in names or not close or "Did you mean" in error.hint:
            raise
        hint = f"Did you mean {', '.join(close)}?\n{error.hint}".rstrip()
        raise NotFound(error.message, hint=hint) from error
