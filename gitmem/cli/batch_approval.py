"""``gitmem approve --edit``: a batch of proposals, decided in an editor."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gitmem.cli.batch import Outcome, read_batch, write_batch
from gitmem.cli.boundary import DONE, REFUSED, error_json, gravest, report_error
from gitmem.cli.call import Call
from gitmem.cli.editor import editing
from gitmem.cli.output import Styled
from gitmem.cli.prompting import ask, require_person
from gitmem.cli.showing import state
from gitmem.errors import GitmemError
from gitmem.results import MergeResult, ProposalDiff

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore

#: Why a record that was deleted in the editor is rejected, as the ledger says it.
REASON = "deleted in the editor when the proposal was read"


def approve_in_editor(
    call: Call, ids: Sequence[str], every: bool, person: str | None, yes: bool
) -> int:
    """Open the proposals in an editor and do what the person made of them.

    What cannot be read back changes nothing, and the text stays where it can be found.
    """
    with call.opened() as store:
        require_person(store, yes=yes)
        wanted = [line.id for line in store.proposals()] if every else list(dict.fromkeys(ids))
        shown = {diff.summary.id: diff for diff in map(store.diff, wanted)}
        if not shown:
            call.output.out.line("No proposal is open.")
            return DONE
        nonce = secrets.token_hex(3)
        text = write_batch(list(shown.values()), nonce)
        with editing(call.output, text, what="approve", instead="approve with --only") as typed:
            outcomes = read_batch(typed.text(), list(shown.values()), nonce, typed.path)
            _announce(call, outcomes)
            if not yes and not ask(call.output, "Do this?"):
                call.output.shown.line("nothing was done")
                return REFUSED
            codes, documents = _carry_out(call, store, shown, outcomes, person)
            if not any(codes):
                typed.settle()
    if call.json:
        call.output.out.json(documents)
    return gravest(codes)


def _announce(call: Call, outcomes: dict[str, Outcome]) -> None:
    out = call.output.shown
    for name, outcome in outcomes.items():
        out.line(Styled(name, "bold"))
        for kept in outcome.kept:
            words = "approve, in your words" if kept in outcome.texts else "approve"
            out.line(Styled(words, "good"), f" {kept}", indent=2)
        for gone in outcome.rejected:
            out.line(Styled("reject", "bad"), f" {gone}", indent=2)


def _carry_out(
    call: Call,
    store: MemoryStore,
    shown: dict[str, ProposalDiff],
    outcomes: dict[str, Outcome],
    person: str | None,
) -> tuple[list[int], list[dict[str, Any]]]:
    """Decide each proposal by itself; one that fails does not stop the next."""
    codes, documents = [DONE], []
    for name, outcome in outcomes.items():
        try:
            done = _decide(store, shown[name], outcome, person)
        except GitmemError as error:
            if call.debug:
                raise
            codes.append(error.exit_code)
            said = error_json(error.message, error.hint, error.exit_code)
            documents.append({"proposal": name, "state": "failed", **said})
            if not call.json:
                report_error(call.output, error)
            continue
        documents.append(done.to_json())
        if not call.json:
            call.output.out.line(Styled(done.proposal, "bold"), ": ", state(done.state))
        call.output.notes(done.notes)
    return codes, documents


def _decide(
    store: MemoryStore, shown: ProposalDiff, outcome: Outcome, person: str | None
) -> MergeResult:
    name = shown.summary.id
    if not outcome.kept:
        return store.reject(name, reason=REASON, person=person)
    if not outcome.texts and not outcome.rejected:
        return store.approve(name, person=person, expected_change=shown.change)
    return store.approve_part(
        name,
        only=outcome.kept,
        texts=outcome.texts,
        rejected=outcome.rejected,
        person=person,
        expected_change=shown.change,
    )
