"""The rules of a store: policy show, set, edit, reviewers, add-reviewer, remove-reviewer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import click

from gitmem.cli.boundary import DONE, REFUSED
from gitmem.cli.call import Call
from gitmem.cli.editor import editing
from gitmem.cli.incoming import read_file
from gitmem.cli.options import command, common_options, person_option, yes_option
from gitmem.cli.output import Piece, Stream, Styled
from gitmem.cli.prompting import ask, has_terminal, require_person
from gitmem.cli.showing import lines_of
from gitmem.domain.policy_keys import value_text
from gitmem.errors import Usage
from gitmem.results import PolicyDiff, PolicyResult, PolicyView, ReviewerDiff, ReviewerResult

_EXAMPLE = "\b\nExample:\n  gitmem policy set require_person.types user,feedback"
_INSTEAD = "`gitmem policy set KEY VALUE`"

reason_option = click.option("--reason", default="", metavar="TEXT", help="Why; main keeps it.")


@click.group("policy", invoke_without_command=True, params=[*common_options()], epilog=_EXAMPLE)
@click.pass_context
def policy(ctx: click.Context) -> int | None:
    """Show or change the rules by which proposals are merged.

    They are people's alone. A change is a decision on main, with its author and date; it binds
    from then on, proposals that are open too. Without a command the policy is shown.
    """
    return _show(ctx.ensure_object(Call)) if ctx.invoked_subcommand is None else None


@command("show", example="gitmem policy show")
def show(call: Call) -> int:
    """Show every key, its default and what it means."""
    return _show(call)


def _show(call: Call) -> int:
    with call.opened() as store:
        found = store.policy()
    out = call.output.out
    if call.json:
        out.json(found.to_json())
    elif out.terminal:
        _show_table(out, found)
    else:
        for line in _plain_lines(found):
            out.line(line)
    return DONE


def _show_table(out: Stream, found: PolicyView) -> None:
    rows: list[list[Piece]] = []
    for entry in found.keys:
        value, default = value_text(entry.value), value_text(entry.default)
        shown = Styled(value, "" if value == default else "bold")
        rows.append([Styled(entry.key, "name"), shown, Styled(default, "dim"), entry.meaning])
    out.table(["key", "value", "default", "meaning"], rows, whole=["key"])
    out.line()
    out.line(Styled(_last_change(found), "dim"))


def _plain_lines(found: PolicyView) -> Iterator[str]:
    """What ``policy set`` takes, a line for each key; the rest behind a ``#``."""
    yield f"# {_last_change(found)}"
    for entry in found.keys:
        yield f"{entry.key}: {value_text(entry.value)}"


def _last_change(found: PolicyView) -> str:
    if not found.decided_by:
        return f"as the store began with it, {found.decided_at}"
    who = ", ".join(who.removeprefix("human:") for who in found.decided_by)
    why = f": {found.reason}" if found.reason else ""
    return f"set by {who}, {found.decided_at}, in {found.decision}{why}"


@command("set", example="gitmem policy set view.lines 100")
@click.argument("key")
@click.argument("value")
@reason_option
@person_option
@yes_option
def set_value(call: Call, key: str, value: str, reason: str, person: str | None, yes: bool) -> int:
    """Set one key of the policy.

    KEY is written as `gitmem policy show` does, as in view.lines. VALUE: a list has commas, as in
    hook,session; none is the empty list.
    """
    with call.opened() as store:
        require_person(store, yes=yes)
        result = store.set_policy(
            key, value, reason=reason, person=person, confirm=confirming_policy(call, yes)
        )
    return _finish(call, result)


@command("edit", example="gitmem policy edit")
@reason_option
@person_option
@yes_option
def edit(call: Call, reason: str, person: str | None, yes: bool) -> int:
    """Open policy.yaml in $VISUAL or $EDITOR.

    What you save is kept to the letter, comments too, if it can be read as a policy.
    """
    if not has_terminal():
        raise Usage("without a terminal no editor can be opened", hint=f"Use {_INSTEAD}.")
    with call.opened() as store:
        require_person(store, yes=yes)
        before = store.policy()
        with editing(
            call.output, before.text, what="policy", suffix=".yaml", instead=f"use {_INSTEAD}"
        ) as typed:
            result = store.replace_policy(
                typed.text(),
                expected=before.blob,
                reason=reason,
                person=person,
                confirm=confirming_policy(call, yes),
            )
            if result.state != "declined":
                typed.settle()
    return _finish(call, result)


# A value may begin with a minus; whether it is in range is not for the parser of options to say.
set_value.context_settings["ignore_unknown_options"] = True


def confirming_policy(call: Call, yes: bool) -> Callable[[PolicyDiff], bool]:
    """Show what will change, and ask unless the person said yes beforehand."""

    def confirm(diff: PolicyDiff) -> bool:
        if not (yes and call.json):
            _show_diff(call.output.out if yes else call.output.shown, diff)
        return yes or ask(call.output, "Change the policy?")

    return confirm


def _show_diff(stream: Stream, diff: PolicyDiff) -> None:
    for change in diff.changes:
        before, after = value_text(change.before), value_text(change.after)
        stream.line(Styled(change.key, "name"), ": ", before, " -> ", Styled(after, "bold"))
    if not diff.changes:
        stream.line("No key changes its value.")
    stream.line()
    _show_lines(stream, diff.before, diff.after)


def _show_lines(stream: Stream, before: str, after: str) -> None:
    import difflib  # only where something changes

    lines = difflib.unified_diff(lines_of(before), lines_of(after), lineterm="")
    for line in list(lines)[2:]:
        style = {"+": "added", "-": "removed", "@": "dim"}.get(line[:1], "")
        stream.line(Styled(line, style) if style else line, indent=2)
    stream.line()


def _finish(call: Call, result: PolicyResult | ReviewerResult) -> int:
    out = call.output.out
    if call.json:
        out.json(result.to_json())
    elif result.state == "unchanged":
        out.line("Nothing to change.")
    elif result.state == "declined":
        out.line("Nothing was changed.")
    else:
        out.line(Styled(result.decision or "", "bold"), ": ", Styled("decided", "good"))
        out.line(Styled(f"commit {result.commit}", "dim"), indent=2)
    return REFUSED if result.state == "declined" else DONE


# --- reviewers ---------------------------------------------------------------------------------


@command("reviewers", example="gitmem policy reviewers")
def list_reviewers(call: Call) -> int:
    """List the reviewers of the store, and what they judge.

    Each is a file reviewers/NAME.md on main, by whose rubric the reviewer model judges. Without
    the approval of every blocking one only a person lets a proposal in.
    """
    with call.opened() as store:
        found = store.reviewers()
    out = call.output.out
    if call.json:
        out.json([reviewer.to_json() for reviewer in found])
    elif not found and out.terminal:
        out.line("There is no reviewer: every proposal waits for a person.")
    else:
        rows: list[list[Piece]] = [
            [
                Styled(reviewer.name, "name"),
                "blocking" if reviewer.blocking else "advising",
                ", ".join(reviewer.kinds),
            ]
            for reviewer in found
        ]
        out.table(["name", "counts as", "judges"], rows, whole=["name", "counts as"])
    return DONE


@command("add-reviewer", example="gitmem policy add-reviewer ./tone.md")
@click.argument("file", type=click.Path())
@reason_option
@person_option
@yes_option
def add_reviewer(call: Call, file: str, reason: str, person: str | None, yes: bool) -> int:
    """Add a reviewer, or replace the one of that name.

    FILE is Markdown like those under reviewers/, and called NAME.md. What was said by the one
    before it counts no more: open proposals are judged anew.
    """
    name, dot, end = os.path.basename(file).rpartition(".")
    if (dot, end) != (".", "md"):
        raise Usage(
            f"{file} is not called NAME.md",
            hint="Call the file as the reviewer is to be called, as in tone.md.",
        )
    from gitmem.documents import MAX_REVIEWER_BYTES  # show and set need nothing of it

    data = read_file(file, MAX_REVIEWER_BYTES)
    with call.opened() as store:
        require_person(store, yes=yes)
        result = store.set_reviewer(
            name, data, reason=reason, person=person, confirm=_confirming_reviewer(call, yes)
        )
    return _finish_reviewer(call, result)


@command("remove-reviewer", example="gitmem policy remove-reviewer durability")
@click.argument("reviewer", metavar="NAME")
@reason_option
@person_option
@yes_option
def remove_reviewer(call: Call, reviewer: str, reason: str, person: str | None, yes: bool) -> int:
    """Take a reviewer away.

    What no blocking reviewer judges any more waits for a person, as everything does where none
    is left.
    """
    with call.opened() as store:
        require_person(store, yes=yes)
        result = store.remove_reviewer(
            reviewer, reason=reason, person=person, confirm=_confirming_reviewer(call, yes)
        )
    return _finish_reviewer(call, result)


def _confirming_reviewer(call: Call, yes: bool) -> Callable[[ReviewerDiff], bool]:
    """Show what will change, and ask unless the person said yes beforehand."""

    def confirm(diff: ReviewerDiff) -> bool:
        if not (yes and call.json):
            stream = call.output.out if yes else call.output.shown
            verb = "change" if diff.before and diff.after else "add" if diff.after else "remove"
            stream.line(f"{verb} the reviewer ", Styled(diff.name, "name"))
            stream.line()
            _show_lines(stream, diff.before, diff.after)
            for sentence in diff.follows:
                stream.line(Styled("note: ", "warn"), sentence)
        return yes or ask(call.output, "Change the reviewers?")

    return confirm


def _finish_reviewer(call: Call, result: ReviewerResult) -> int:
    if call.json and result.state != "declined":
        call.output.notes(result.follows)
    return _finish(call, result)


for subcommand in (show, set_value, edit, list_reviewers, add_reviewer, remove_reviewer):
    policy.add_command(subcommand)
