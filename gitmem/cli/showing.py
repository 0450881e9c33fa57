"""How records, quotes, findings and proposals look to a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gitmem.cli.output import Output, Piece, Stream, Styled

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.cli.call import Call
    from gitmem.results import (
        FindingView,
        ProposalDiff,
        ProposalResult,
        Quote,
        RecordEffect,
        ShownRecord,
        Status,
    )

_SAID_BY = {
    "human": "said by a person",
    "assistant": "said by the assistant",
    "tool": "printed by a tool",
    "subagent": "said by a subagent",
    "injected": "put in by the client",
    "unknown": "said by nobody knows whom",
}
SIGNS = {"added": "+", "revised": "~", "retired": "-"}
_STYLE_OF_CHANGE = {"added": "added", "revised": "warn", "retired": "removed"}
_STYLE_OF_STATE = {
    "merged": "good",
    "open": "good",
    "rejected": "bad",
    "stale": "bad",
    "changes_requested": "warn",
    "inconclusive": "warn",
    "waiting": "warn",
}


def state(word: str) -> Styled:
    """A proposal's state in its colour."""
    return Styled(word.replace("_", " "), _STYLE_OF_STATE.get(word, ""))


def effects(records: Iterable[RecordEffect]) -> str:
    """What a proposal does, on one line: ``+added ~revised -retired``."""
    return " ".join(f"{SIGNS.get(record.change, '?')}{record.name}" for record in records)


def show_effects(stream: Stream, records: Iterable[RecordEffect]) -> None:
    """One line for each record of a proposal."""
    for record in records:
        sign = Styled(SIGNS.get(record.change, "?"), _STYLE_OF_CHANGE.get(record.change, ""))
        kind: list[Piece] = [f" ({record.type})"] if record.type else []
        text: list[Piece] = [f"  {record.description}"] if record.description else []
        stream.line(sign, " ", Styled(record.name, "name"), *kind, *text, indent=2)


def show_quotes(stream: Stream, quotes: Iterable[Quote], *, indent: int = 2) -> None:
    """Each quote, who said it, where, and who vouches for the session."""
    for quote in quotes:
        for line in quote.quote.split("\n"):
            stream.line(Styled("> ", "dim"), line, indent=indent)
        said = _SAID_BY.get(quote.cls, quote.cls)
        stream.line(
            Styled(
                f"{said}, message {quote.message} of session {quote.session}, {quote.at} "
                f"(attested: {quote.attested}, evidence {quote.id[:12]})",
                "dim",
            ),
            indent=indent + 2,
        )


def show_findings(stream: Stream, findings: Iterable[FindingView], *, indent: int = 2) -> None:
    """Each finding: how grave, where, what."""
    for finding in findings:
        where = finding.record or ""
        if finding.line is not None:
            where += f" line {finding.line}"
        style = "bad" if finding.severity == "blocker" else "warn"
        place = f"{where.strip()}: " if where else ""
        stream.line(Styled(f"{finding.severity}: ", style), place, finding.text, indent=indent)


def show_diff(stream: Stream, diff: ProposalDiff, *, store: Path | None) -> None:
    """A proposal as a person reads it before approving. ``store`` is None for a mere draft."""
    summary = diff.summary
    if store is not None:
        stream.line(
            Styled(summary.id, "bold"),
            f"  {summary.kind}, ",
            state(summary.state),
            f", proposed by {summary.proposed_by or 'nobody named'}",
            f", {summary.created_at}" if summary.created_at else "",
        )
    for record in diff.records:
        stream.line()
        _show_record_change(stream, record, diff.retire_reasons.get(record.name, ""))
    if summary.findings:
        stream.line()
        stream.line(Styled("Findings", "bold"))
        show_findings(stream, summary.findings)
    if summary.waits_for:
        stream.line()
        stream.line(Styled("Waits for", "bold"))
        for reason in summary.waits_for:
            stream.line(reason, indent=2)
    if store is not None:
        stream.line()
        stream.line(Styled("The same with plain git", "bold"))
        from shlex import quote

        git = f"git -C {quote(str(store))}"
        stream.line(f"{git} diff main...proposals/{summary.id}", indent=2)
        stream.line(f"{git} log -1 proposals/{summary.id}", indent=2)


def _show_record_change(stream: Stream, record: ShownRecord, reason: str) -> None:
    style = _STYLE_OF_CHANGE.get(record.change, "")
    stream.line(Styled(record.change, style), " ", Styled(record.name, "bold"), f"  {record.path}")
    if reason:
        stream.line("reason: ", reason, indent=2)
    for line in changed_lines(record.before, record.after):
        style = {"+": "added", "-": "removed"}.get(line[:1], "")
        stream.line(Styled(line, style) if style else line, indent=2)
    if record.quotes:
        stream.line("Quotes:", indent=2)
        show_quotes(stream, record.quotes, indent=4)


def lines_of(text: str) -> list[str]:
    """The lines of a file, without what ends them: cut where git and editors cut."""
    return text.removesuffix("\n").split("\n") if text else []


def changed_lines(before: str, after: str) -> list[str]:
    """Every line of both texts with its sign: a record is short enough to be read whole."""
    import difflib  # list and search pass through this module as well

    lines = difflib.ndiff(lines_of(before), lines_of(after))
    return [line.rstrip() for line in lines if not line.startswith("?")]


def show_result(output: Output, result: ProposalResult, *, findings: bool) -> None:
    """What came of a change; ``findings``: with what the checks found, not shown before."""
    stream = output.out
    if result.proposal:
        stream.line(Styled(result.proposal, "bold"), ": ", state(result.state))
        show_effects(stream, result.records)
    if findings:
        show_findings(stream, result.findings)
    if result.dropped:
        stream.line("Not proposed:")
        for dropped in result.dropped:
            stream.line(Styled(dropped.name, "name"), f": {dropped.reason}", indent=2)
    if result.questions:
        took = counted_questions(result.questions, result.tokens)
        stream.line(Styled(took, "dim"), indent=2)
    output.notes(result.notes)


def runnable(call: Call, found: Status) -> Status:
    """``found`` with commands to do next that name the store as this call named it."""
    if not call.store:
        return found
    from dataclasses import replace  # show passes through this module as well
    from shlex import quote

    named = f": gitmem --store {quote(call.store)} "
    steps = (named.join(step.rsplit(": gitmem ", 1)) for step in found.next)
    return replace(found, next=tuple(steps))


def show_status(out: Stream, found: Status) -> None:
    """The state of a store."""
    rows: list[tuple[str, Piece]] = [
        ("store", found.path),
        ("accepted", found.manifest_commit),
        ("records", counted_records(found)),
        ("proposals", counted_proposals(found)),
        ("queued turns", f"{found.spool}"),
    ]
    if found.usage:
        rows.append(("models today", "; ".join(_took(*each) for each in found.usage.items())))
    rows += [("stray commit", Styled(stray, "warn")) for stray in found.strays]
    for label, value in rows:
        out.line(Styled(f"{label:<14}", "dim"), value)
    show_worries(out, found)
    show_next(out, found.next)


def _took(role: str, took: Mapping[str, int]) -> str:
    return f"{role} {counted_questions(took['questions'], took['tokens'])}"


def counted_questions(questions: int, tokens: int) -> str:
    """What was asked of a model, and what it took."""
    return f"{questions} {'question' if questions == 1 else 'questions'}, {tokens} tokens"


def counted_proposals(found: Status) -> str:
    """How many proposals are open, and how many of those that were looked at wait."""
    of = f" of the first {found.looked_at}" if found.looked_at < found.open_proposals else ""
    return f"{found.open_proposals} open, {found.waiting}{of} waiting for a person"


def counted_records(found: Status) -> str:
    """How many records of which types."""
    types = ", ".join(f"{count} {name}" for name, count in sorted(found.by_type.items()) if count)
    return f"{found.count}" + (f" ({types})" if types else "")


def show_worries(out: Stream, found: Status) -> None:
    """What is not as it should be."""
    for problem in found.problems:
        out.line(Styled("problem: ", "bad"), f"{problem.path}: {problem.reason}")
    for warning in found.warnings:
        out.line(Styled("warning: ", "warn"), warning)


def show_next(out: Stream, steps: Iterable[str]) -> None:
    """What to do next: why, and the command."""
    for number, step in enumerate(steps):
        if number == 0:
            out.line("next:")
        out.line(step, indent=2)
