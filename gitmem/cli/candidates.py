"""What may stand at a place of a call, for the shell that completes it.

What a shell is told is safe to put on its command line: names and ids are held to plain
characters here as well, and what a record says is escaped. Where something is wrong (no store,
a damaged one) there are no candidates and nothing is said: a person is in the middle of typing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from gitmem.cli.call import Call
from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.text import escape_terminal
from gitmem.errors import GitmemError

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore

#: Names, ids and keys as a shell may get them: it would not quote anything else.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")

# Commits of main, the newest, whose merges are offered.
_RECENT = 200

Found = Iterable[tuple[str, str]]
Source = Callable[[click.Context], Found]


def candidates(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Return what can be typed for ``parameter`` and begins with ``incomplete``."""
    if isinstance(parameter, click.Option) and parameter.name == "store":
        return [CompletionItem(incomplete, type="dir")]
    source = _source(ctx, parameter)
    given = ctx.params.get(parameter.name or "")
    typed = given if isinstance(given, tuple) else ()
    try:
        return [
            CompletionItem(value, help=escape_terminal(help) or None)
            for value, help in (source(ctx) if source else ())
            if value.startswith(incomplete) and value not in typed and _PLAIN.fullmatch(value)
        ]
    except (GitmemError, OSError):
        return []


def _source(ctx: click.Context, parameter: click.Parameter) -> Source | None:
    name = parameter.name or ""
    if isinstance(parameter, click.Option):
        return _OF_OPTIONS.get(name)
    if (parameter.metavar or "").rstrip(".") == "ID":
        return _OF_IDS.get(ctx.command.name or "", _open_ids)
    return _OF_ARGUMENTS.get(name)


@contextmanager
def _store(ctx: click.Context) -> Iterator[MemoryStore]:
    from gitmem.memory import MemoryStore

    named = ctx.find_root().ensure_object(Call).store
    # The shell hands over what was typed before it has read it.
    with MemoryStore.open(os.path.expanduser(named) if named else None) as store:
        yield store


def _records(ctx: click.Context) -> Found:
    with _store(ctx) as store:
        return [(record.name, record.description) for record in store.list()]


def _open_ids(ctx: click.Context) -> Found:
    with _store(ctx) as store:
        return store.proposal_ids().items()


def _proposed_records(ctx: click.Context) -> Found:
    """The records of the proposals that the call names already, else of every open one."""
    ids = ctx.params.get("ids") or ("",)
    with _store(ctx) as store:
        return [
            (record.name, record.description)
            for proposal in store.proposals()
            if any(proposal.id.startswith(given) for given in ids)
            for record in proposal.records
        ]


def _kept_ids(ctx: click.Context) -> Found:
    with _store(ctx) as store:
        return [
            (kept.id, f"{kept.state}: {', '.join(record.name for record in kept.records)}")
            for kept in store.kept()
        ]


def _merged_ids(ctx: click.Context) -> Found:
    with _store(ctx) as store:
        return [
            (entry.change, ", ".join(name for name, _ in entry.records))
            for entry in store.log(limit=_RECENT)
            if entry.kind == "merge"
        ]


def _types(ctx: click.Context) -> Found:
    return dict.fromkeys(RECORD_TYPES, "").items()


def _formats(ctx: click.Context) -> Found:
    from gitmem.transcripts import ADAPTERS

    return dict.fromkeys(ADAPTERS, "").items()


def _policy_keys(ctx: click.Context) -> Found:
    from gitmem.domain.policy_keys import MEANINGS

    return MEANINGS.items()


def _reviewers(ctx: click.Context) -> Found:
    with _store(ctx) as store:
        return [(found.name, f"judges {', '.join(found.kinds)}") for found in store.reviewers()]


def _hook_targets(ctx: click.Context) -> Found:
    from gitmem.services.hooking import TARGETS

    return dict.fromkeys(TARGETS, "").items()


# By the names that the commands give their parameters.
_OF_OPTIONS: Mapping[str, Source] = {
    "format": _formats,
    "only": _proposed_records,
    "reviewer": _reviewers,
    "type": _types,
}
_OF_ARGUMENTS: Mapping[str, Source] = {
    "key": _policy_keys,
    "name": _records,
    "reviewer": _reviewers,
    "target": _hook_targets,
}
# By the commands whose ID is not that of an open proposal.
_OF_IDS: Mapping[str, Source] = {"reopen": _kept_ids, "revert": _merged_ids}
