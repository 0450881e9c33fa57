"""A person's own changes: init, remember, edit, forget."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable

import click

from gitmem.cli.boundary import DONE, REFUSED, WAITING
from gitmem.cli.call import Call, naming_records
from gitmem.cli.editor import editing
from gitmem.cli.form import Form, read_form, write_form
from gitmem.cli.incoming import read_text
from gitmem.cli.options import command, person_option, yes_option
from gitmem.cli.output import Styled
from gitmem.cli.prompting import ask, has_terminal, require_person
from gitmem.cli.showing import show_diff, show_result
from gitmem.results import ProposalDiff, ProposalResult

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
    where = path or call.store or os.environ.get("GITMEM_STORE") or ".memory"
    with contextlib.closing(MemoryStore.init(where)) as store:
        found = store.status()
        call.output.notes(store.notes)
    if call.json:
        call.output.out.json(found.to_json())
        return
    out = call.output.out
    out.line("A new memory: ", Styled(found.path, "bold"))
    out.line(Styled(f"store {found.store}", "dim"), indent=2)
    out.line("next:")
    for step in found.next or _FIRST_STEPS:
        out.line(step, indent=2)


_FIRST_STEPS = ("gitmem extract TRANSCRIPT", 'gitmem remember "..."')


@command("remember", example='gitmem remember "Use tabs, not spaces" --type user')
@click.argument("text", nargs=-1, required=True)
@click.option("--name", help="The record's name (default: made from the text, and shown).")
@click.option("--type", metavar="TYPE", help=f"{_TYPES} (default: from the text).")
@click.option("--description", help="One line (default: from the text).")
@person_option
@yes_option
def remember(
    call: Call,
    text: tuple[str, ...],
    name: str | None,
    type: str | None,
    description: str | None,
    person: str | None,
    yes: bool,
) -> int:
    """Remember something.

    TEXT is what to remember; - reads it from standard input.
    """
    words = read_text(" ".join(text), "standard input")
    with call.opened() as store:
        require_person(store, yes=yes)
        result = store.remember(
            words,
            name=name,
            type=type,
            description=description,
            person=person,
            confirm=_confirming(call, "Remember this?", yes),
        )
    return _finish(call, result)


@command("edit", example="gitmem edit user-prefers-tabs")
@click.argument("name")
@click.option("--body", metavar="TEXT", help="The new text; - reads it from standard input.")
@click.option("--description", help="The new description, one line.")
@click.option("--type", metavar="TYPE", help=f"The new type: {_TYPES}.")
@person_option
@yes_option
def edit(
    call: Call,
    name: str,
    body: str | None,
    description: str | None,
    type: str | None,
    person: str | None,
    yes: bool,
) -> int:
    """Change a record.

    On a terminal, and without --body, --description and --type, it is opened in $VISUAL or
    $EDITOR.
    """
    given = (body, description, type) != (None, None, None)
    if not given and not has_terminal():
        raise click.UsageError("without a terminal, give --body, --description or --type.")
    if body is not None:
        body = read_text(body, "standard input")

    def change(body: str | None, description: str | None, type: str | None) -> ProposalResult:
        return store.edit(
            name,
            body=body,
            description=description,
            type=type,
            person=person,
            confirm=_confirming(call, f"Change {name}?", yes),
        )

    with call.opened() as store, naming_records(store, name):
        require_person(store, yes=yes)
        if given:
            return _finish(call, change(body, description, type))
        record = store.show(name)
        before = Form(record.summary.description, record.summary.type, record.body.strip())
        return _edit_in_editor(call, before, change)


def _edit_in_editor(
    call: Call,
    before: Form,
    change: Callable[[str | None, str | None, str | None], ProposalResult],
) -> int:
    """Open the form, and make the change that comes back."""
    instead = "use --body, --description and --type"
    with editing(call.output, write_form(before), what="edit", instead=instead) as typed:
        after = read_form(typed.data, typed.path)
        if after == before:
            typed.settle()
            return _finish(call, ProposalResult(None, "unchanged", (), (), ()))
        result = change(
            after.body if after.body != before.body else None,
            after.description if after.description != before.description else None,
            after.type if after.type != before.type else None,
        )
        if result.state != "declined":
            typed.settle()
        return _finish(call, result)


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
