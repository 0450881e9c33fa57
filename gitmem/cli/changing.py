"""A person's own changes: init, remember, edit, forget."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import Any

import click

from gitmem.cli.boundary import DONE, REFUSED, WAITING
from gitmem.cli.call import Call, naming_records
from gitmem.cli.editor import editing
from gitmem.cli.form import Form, read_form, split_names, write_form
from gitmem.cli.incoming import read_text
from gitmem.cli.options import command, person_option, yes_option
from gitmem.cli.output import Styled
from gitmem.cli.prompting import ask, has_terminal, require_person
from gitmem.cli.showing import runnable, show_diff, show_next, show_result
from gitmem.results import ProposalDiff, ProposalResult, RecordDetail

_TYPES = "user, feedback, project or reference"


@command("init", example="gitmem init")
@click.argument("path", required=False, type=click.Path())
def init(call: Call, path: str | None) -> None:
    """Make a new store.

    PATH: where (default: --store, else GITMEM_STORE, else .memory in this folder).
    """
    from gitmem.memory import MemoryStore

    if path and call.store and path != call.store:
        raise click.UsageError("PATH and --store name different places; give one of them.")
    call.store = path or call.store
    where = call.store or os.environ.get("GITMEM_STORE") or ".memory"
    with contextlib.closing(MemoryStore.init(where)) as store:
        found = runnable(call, store.status())
        call.output.notes(store.notes)
    if call.json:
        call.output.out.json(found.to_json())
        return
    out = call.output.out
    out.line("A new memory: ", Styled(found.path, "bold"))
    out.line(Styled(f"store {found.store}", "dim"), indent=2)
    show_next(out, found.next)


@command("remember", example='gitmem remember "Use tabs, not spaces" --type user')
@click.argument("text", nargs=-1, required=True)
@click.option("--name", help="The record's name (default: made from the text, and shown).")
@click.option("--type", metavar="TYPE", help=f"{_TYPES} (default: from the text).")
@click.option("--description", help="One line (default: from the text).")
@click.option("--valid-from", metavar="DATE", help="The first day on which it holds.")
@click.option("--valid-until", metavar="DATE", help="The last day on which it holds: 2026-12-31.")
@person_option
@yes_option
def remember(
    call: Call, text: tuple[str, ...], person: str | None, yes: bool, **fields: str | None
) -> int:
    """Remember something.

    TEXT is what to remember; - reads it from standard input.
    """
    words = read_text(" ".join(text), "standard input")
    with call.opened() as store:
        require_person(store, yes=yes)
        confirm = _confirming(call, "Remember this?", yes)
        result = store.remember(words, **fields, person=person, confirm=confirm)
    return _finish(call, result)


@command("edit", example="gitmem edit user-prefers-tabs")
@click.argument("name")
@click.option("--body", metavar="TEXT", help="The new text; - reads it from standard input.")
@click.option("--description", help="The new description, one line.")
@click.option("--type", metavar="TYPE", help=f"The new type: {_TYPES}.")
@click.option("--valid-from", metavar="DATE", help="The first day on which it holds, or none.")
@click.option("--valid-until", metavar="DATE", help="The last day on which it holds, or none.")
@click.option("--status", metavar="STATUS", help="unconfirmed or confirmed.")
@click.option(
    "--supersedes",
    metavar="NAMES",
    help="All the records whose place it takes, with commas, or none.",
)
@person_option
@yes_option
def edit(call: Call, name: str, person: str | None, yes: bool, **options: str | None) -> int:
    """Change a record.

    On a terminal, and where no option says what to change, it is opened in $VISUAL or $EDITOR.
    """
    fields: dict[str, Any] = {key: value for key, value in options.items() if value is not None}
    if not fields and not has_terminal():
        raise click.UsageError("without a terminal, give --body or another option.")
    if "body" in fields:
        fields["body"] = read_text(fields["body"], "standard input")
    if "supersedes" in fields:
        fields["supersedes"] = split_names(fields["supersedes"])

    def change(fields: dict[str, Any]) -> ProposalResult:
        confirm = _confirming(call, f"Change {name}?", yes)
        return store.edit(name, **fields, person=person, confirm=confirm)

    with call.opened() as store, naming_records(store, name):
        require_person(store, yes=yes)
        if fields:
            return _finish(call, change(fields))
        return _edit_in_editor(call, _form_of(store.show(name)), change)


def _form_of(record: RecordDetail) -> Form:
    summary = record.summary
    return Form(
        description=summary.description,
        type=summary.type,
        body=record.body.strip(),
        valid_from=summary.valid_from or "",
        valid_until=summary.valid_until or "",
        status=summary.status or "",
        supersedes=record.supersedes,
    )


def _edit_in_editor(
    call: Call, before: Form, change: Callable[[dict[str, Any]], ProposalResult]
) -> int:
    """Open the form, and make the change that comes back."""
    instead = "use --body, --description and the other options"
    with editing(call.output, write_form(before), what="edit", instead=instead) as typed:
        after = read_form(typed.data, typed.path)
        if after == before:
            typed.settle()
            return _finish(call, ProposalResult(None, "unchanged", (), (), ()))
        result = change(_changed(before, after))
        if result.state != "declined":
            typed.settle()
        return _finish(call, result)


# What says of a field that it is taken away, where an empty text would not.
_TAKEN_AWAY = {"valid_from": "none", "valid_until": "none", "status": "confirmed"}


def _changed(before: Form, after: Form) -> dict[str, Any]:
    """What differs, as :meth:`MemoryStore.edit` takes it."""
    fields = {key: value for key, value in after._asdict().items() if value != getattr(before, key)}
    return {key: value or _TAKEN_AWAY.get(key, value) for key, value in fields.items()}


@command("forget", example='gitmem forget user-prefers-tabs --reason "changed my mind"')
@click.argument("name")
@click.option("--reason", default="", metavar="TEXT", help="Why; it is kept in the ledger.")
@person_option
@yes_option
def forget(call: Call, name: str, reason: str, person: str | None, yes: bool) -> int:
    """Retire a record, so that it does not come back by itself.

    It stays in the history of the store: `gitmem log NAME` still shows it.
    """
    with call.opened() as store, naming_records(store, name):
        require_person(store, yes=yes)
        result = store.forget(
            name,
            reason=reason,
            person=person,
            confirm=_confirming(call, f"Forget {name}?", yes),
        )
    return _finish(call, result)


def _confirming(call: Call, question: str, yes: bool) -> Callable[[ProposalDiff], bool]:
    """Show what will be done, and ask unless the person said yes beforehand."""

    def confirm(diff: ProposalDiff) -> bool:
        if not (yes and call.json):
            stream = call.output.out if yes else call.output.shown
            show_diff(stream, diff, store=None)
            stream.line()
        return yes or ask(call.output, question)

    return confirm


def _finish(call: Call, result: ProposalResult) -> int:
    """Print what came of it: 0 only when it is merged, or when there was nothing to change."""
    if call.json:
        call.output.out.json(result.to_json())
    elif result.state == "declined":
        call.output.out.line("Nothing was changed.")
    elif result.proposal is None and not result.dropped and not result.findings:
        call.output.out.line("Nothing to change.")
    else:
        show_result(call.output, result, findings=False)
    if result.state == "declined":
        return REFUSED
    if result.proposal is None:
        return REFUSED if result.dropped else DONE
    return DONE if result.state == "merged" else WAITING
