"""``gitmem`` alone: what it is, how things stand, and what to type next."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from gitmem.cli.output import Output, Styled
from gitmem.cli.showing import counted_proposals, counted_records, runnable, show_next, show_worries
from gitmem.config import STORE_VARIABLE, find_store
from gitmem.errors import NotFound

if TYPE_CHECKING:
    from gitmem.cli.call import Call
    from gitmem.results import Status

FIRST_STEPS = (
    "Make a memory: gitmem init",
    'Remember something: gitmem remember "We use tabs, not spaces."',
    "Let it read a conversation; see how: gitmem extract --help",
)
_HELP = "Every command: gitmem --help"

# Lines of the first screen, which is to be seen at a glance.
_STEPS = 6
_WORRIES = 3


def welcome(call: Call) -> None:
    """Print the first screen.

    Raises:
        NotFound: the store that was named is not there.
    """
    if not call.store and not os.environ.get(STORE_VARIABLE):
        try:
            find_store(None, os.environ)
        except NotFound as error:
            _without_store(call.output, error)
            return
    with call.opened() as store:
        found = runnable(call, store.status())
    _with_store(call.output, found)


def _without_store(output: Output, error: NotFound) -> None:
    if output.as_json:
        output.out.json({"store": None, "next": list(FIRST_STEPS)})
        return
    out = output.out
    out.line(Styled("gitmem", "bold"), ": pull requests for an agent's memory.")
    out.line("Every change is a proposal with its evidence, reviewed before it is remembered.")
    out.line()
    out.line(error.message[:1].upper() + error.message[1:], ".")
    show_next(out, FIRST_STEPS)
    out.line()
    out.line(_HELP)


def _with_store(output: Output, found: Status) -> None:
    if output.as_json:
        output.out.json(found.to_json())
        return
    out = output.out
    out.line(Styled("memory     ", "dim"), found.path)
    out.line(Styled("records    ", "dim"), counted_records(found))
    out.line(
        Styled("proposals  ", "dim"),
        counted_proposals(found),
    )
    worries = (found.problems[:_WORRIES], found.warnings[:_WORRIES])
    show_worries(out, replace(found, problems=worries[0], warnings=worries[1]))
    show_next(out, islice(found.next, _STEPS))
    out.line()
    out.line(_HELP)
