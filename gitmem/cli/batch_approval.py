"""``gitmem approve --edit``: a batch of proposals, decided in an editor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitmem.cli.batch import Outcome, new_nonce, original_text, read_batch, write_batch
from gitmem.cli.boundary import DONE, REFUSED, WAITING, error_json, gravest, report
from gitmem.cli.call import Call
from gitmem.cli.editor import editing
from gitmem.cli.output import Stream, Styled
from gitmem.cli.prompting import ask, require_person
from gitmem.cli.showing import changed_lines, show_findings, state
from gitmem.errors import GitmemError
from gitmem.results import FindingView, MergeResult, ProposalDiff

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore

#: Why a record that was deleted in the editor is rejected, as the ledger says it.
REASON = "deleted in the editor when the proposal was read"

_CODES = {"merged": DONE, "rejected": DONE, "waiting": WAITING, "declined": REFUSED}


def approve_in_editor(
    call: Call, ids: Sequence[str], every: bool, person: str | None, yes: bool
) -> int:
    """Open the proposals in an editor and do what the person made of them.

    What cannot be read back changes nothing. The text stays where it can be found, then and
    where one of the proposals could not be decided.
    """
    with call.opened() as store:
        require_person(store, yes=yes)
        decisions = _Decisions(call, store, person, yes)
        shown: dict[str, ProposalDiff] = {}
        for given in list(store.proposal_ids()) if every else ids:
            try:
                diff = store.diff(given)
            except GitmemError as error:
                if call.debug or not every:  # who named it is told before any editor opens
                    raise
                decisions.fail(given, error)
            else:
                shown[diff.summary.id] = diff
        if shown:
            _edit(call, shown, decisions)
    if call.json:
        call.output.out.json(decisions.documents)
    elif not decisions.documents:
        call.output.out.line("No proposal is open.")
    return gravest([DONE, *decisions.codes])


def _edit(call: Call, shown: Mapping[str, ProposalDiff], decisions: _Decisions) -> None:
    proposals = list(shown.values())
    nonce = new_nonce(proposals)
    text = write_batch(proposals, nonce)
    with editing(call.output, text, what="approve", instead="approve with --only") as typed:
        outcomes = read_batch(typed.text(), proposals, nonce, typed.path)
        _announce(call.output.shown, shown, outcomes)
        if not decisions.yes and not ask(call.output, "Do this?"):
            call.output.shown.line("nothing was done")
            decisions.decline(shown)
            return
        undone = [name for name, made in outcomes.items() if not decisions.take(shown[name], made)]
        if not undone:
            typed.settle()
        elif len(outcomes) > 1:
            done = len(outcomes) - len(undone)
            call.output.note(
                f"{done} of {len(outcomes)} proposals are decided; not decided: {', '.join(undone)}"
            )


def _announce(
    out: Stream, shown: Mapping[str, ProposalDiff], outcomes: Mapping[str, Outcome]
) -> None:
    """Say what will be done, and show each new text beside the one that was proposed."""
    for name, outcome in outcomes.items():
        out.line(Styled(name, "bold"))
        for record in shown[name].records:
            if record.name in outcome.rejected:
                out.line(Styled("reject for good", "bad"), f" {record.name}", indent=2)
                continue
            text = outcome.texts.get(record.name)
            words = "approve" if text is None else "approve, in your words"
            out.line(Styled(words, "good"), f" {record.name} ({record.change})", indent=2)
            if text is not None:
                for line in changed_lines(original_text(record), text.decode("utf-8")):
                    style = {"+": "added", "-": "removed"}.get(line[:1], "")
                    out.line(Styled(line, style), indent=4)


class _Decisions:
    """Decides proposal after proposal; one that fails does not stop the next."""

    def __init__(self, call: Call, store: MemoryStore, person: str | None, yes: bool) -> None:
        self.yes = yes
        self.codes: list[int] = []
        self.documents: list[dict[str, Any]] = []
        self._call = call
        self._store = store
        self._person = person

    def decline(self, names: Sequence[str] | Mapping[str, ProposalDiff]) -> None:
        """Note that the person said no to all of it."""
        self.codes.append(REFUSED)
        self.documents += [{"proposal": name, "state": "declined"} for name in names]

    def take(self, shown: ProposalDiff, outcome: Outcome) -> bool:
        """Decide a proposal as the person did, and print what came of it; False: nothing did."""
        name = shown.summary.id
        try:
            done = self._decide(shown, outcome)
        except GitmemError as error:
            if self._call.debug:
                raise
            self.fail(name, error)
            return False
        if done.state == "declined":
            self.decline([name])
        else:
            self.codes.append(_CODES.get(done.state, WAITING))
            self.documents.append(done.to_json())
        if not self._call.json:
            said = name if done.state == "declined" else done.proposal
            self._call.output.out.line(Styled(said, "bold"), ": ", state(done.state))
        self._call.output.notes(done.notes)
        return done.state != "declined"

    def fail(self, name: str, error: GitmemError) -> None:
        """Note and print that a proposal could not be decided, and why."""
        message = error.message if name in error.message else f"{name}: {error.message}"
        self.codes.append(error.exit_code)
        said = error_json(message, error.hint, error.exit_code)
        self.documents.append({"proposal": name, "state": "failed", **said})
        if not self._call.json:
            report(self._call.output, message, error.hint, error.exit_code)

    def _decide(self, shown: ProposalDiff, outcome: Outcome) -> MergeResult:
        name, change, person = shown.summary.id, shown.change, self._person
        if not outcome.kept:
            return self._store.reject(name, reason=REASON, person=person, expected_change=change)
        if not outcome.texts and not outcome.rejected:
            return self._store.approve(name, person=person, expected_change=change)
        return self._store.approve_part(
            name,
            only=outcome.kept,
            texts=outcome.texts,
            rejected=outcome.rejected,
            person=person,
            expected_change=change,
            confirm=self._confirming(shown),
        )

    def _confirming(self, shown: ProposalDiff) -> Callable[[ProposalDiff], bool]:
        """Ask once more where the person's own words bring up what the proposal's did not."""

        def confirm(draft: ProposalDiff) -> bool:
            found = _new_findings(shown.summary.findings, draft.summary.findings)
            if found and self.yes:
                self._call.output.notes(
                    f"{one.severity}: {one.record or shown.summary.id}: {one.text}" for one in found
                )
            if not found or self.yes:
                return True
            stream = self._call.output.shown
            stream.line(Styled(shown.summary.id, "bold"), ": your words bring this up")
            show_findings(stream, found)
            return ask(self._call.output, "Approve them all the same?")

        return confirm


def _new_findings(known: Sequence[FindingView], found: Sequence[FindingView]) -> list[FindingView]:
    """Return what was found and not known; on which line does not matter, how often does."""
    left = Counter((one.severity, one.code, one.record, one.text) for one in known)
    new = []
    for one in found:
        key = (one.severity, one.code, one.record, one.text)
        left[key] -= 1
        if left[key] < 0:
            new.append(one)
    return new
