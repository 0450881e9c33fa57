"""The text that ``gitmem approve --edit`` opens in an editor, and what a person made of it.

Each record is a block between a first and an end line of its own. A block that is gone is a no
to that record, a text that changed is another wording. What cannot be read back for certain
changes nothing: no line is taken for something else than it was written as.
"""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile

from gitmem.cli.output import Stream
from gitmem.cli.showing import show_findings, show_quotes, state
from gitmem.errors import InvalidInput
from gitmem.records import read_record
from gitmem.results import ProposalDiff, ShownRecord

_Key = tuple[str, str]  # a proposal's id and a record's name

_MARK = "%%"
_FENCE = "---"
_RETIRE = "(this record is to be retired)"
_INTRODUCTION = """\
# What stands here when you save and close is approved, after one more question.
# - To reject a record for good, delete its block: from its first line, which begins with %%,
#   through its end line, which begins with %% as well.
# - To approve a text in your words, change it below its ---.
# - Leave this first line, and the lines that begin with %%, exactly as they are.
# Lines that begin with # outside of a text are there to be read; changing them changes nothing.
# Delete the first line, or make the editor fail (in vim: :cq), and nothing happens.
"""
_HINT = (
    "Nothing was changed. Run it again; to reject a record, delete its block from its first "
    "line through its end line."
)


@dataclass(slots=True)
class Outcome:
    """What a person made of one proposal: names that stay, new texts, names that go."""

    kept: list[str] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)


def new_nonce(proposals: Sequence[ProposalDiff]) -> str:
    """Return random hex digits that stand nowhere in what these proposals say."""
    while True:
        nonce = secrets.token_hex(3)
        own = 1 + 2 * sum(len(proposal.records) for proposal in proposals)
        if write_batch(proposals, nonce).count(nonce) == own:
            return nonce


def write_batch(proposals: Sequence[ProposalDiff], nonce: str) -> str:
    """Return the text to edit. ``nonce`` marks its lines, so that no record can imitate them."""
    parts = [f"{_opening(nonce)}\n", _INTRODUCTION]
    for proposal in proposals:
        parts += ["\n", _commented(_show_proposal, proposal)]
        for record in proposal.records:
            key = (proposal.summary.id, record.name)
            parts += [
                f"\n{_begin(nonce, key)}\n",
                _commented(_show_record, proposal, record),
                original_text(record),
                f"{_end(nonce, key)}\n",
            ]
    return "".join(parts)


def original_text(record: ShownRecord) -> str:
    """Return what stands in a block before the person changes it."""
    after = record.after.replace("\r\n", "\n").strip("\n")
    return f"{after or _RETIRE}\n"


def _opening(nonce: str) -> str:
    return f"{_MARK} {nonce} gitmem approve --edit"


def _begin(nonce: str, key: _Key) -> str:
    return f"{_MARK} {nonce} {' '.join(key)}"


def _end(nonce: str, key: _Key) -> str:
    return f"{_MARK} {nonce} end {' '.join(key)}"


def _commented(show: Callable[..., None], *what: ProposalDiff | ShownRecord) -> str:
    """Return what ``show`` prints as comments; the stream escapes whatever could end a line."""
    printed = io.StringIO()
    show(Stream(printed), *what)
    return "".join(f"# {line}".rstrip() + "\n" for line in printed.getvalue().split("\n")[:-1])


def _show_proposal(stream: Stream, proposal: ProposalDiff) -> None:
    """What concerns a proposal and none of its records."""
    summary = proposal.summary
    by = f", proposed by {summary.proposed_by or 'nobody named'}"
    at = f", {summary.created_at}" if summary.created_at else ""
    stream.line(f"{summary.id}: {summary.kind}, ", state(summary.state), by, at)
    names = {record.name for record in proposal.records}
    show_findings(stream, (found for found in summary.findings if found.record not in names))
    for reason in summary.waits_for:
        stream.line("waits for: ", reason, indent=2)


def _show_record(stream: Stream, proposal: ProposalDiff, record: ShownRecord) -> None:
    """What a person has to know of a record beside its new text: also the text until now."""
    stream.line(record.change, f" {record.name}  {record.path}")
    reason = proposal.retire_reasons.get(record.name)
    if reason:
        stream.line("reason: ", reason, indent=2)
    findings = proposal.summary.findings
    show_findings(stream, (found for found in findings if found.record == record.name))
    show_quotes(stream, record.quotes)
    if record.before:
        stream.line("Until now it reads:", indent=2)
        for line in record.before.rstrip("\n").split("\n"):
            stream.line("| ", line, indent=2)


def read_batch(
    text: str, proposals: Sequence[ProposalDiff], nonce: str, where: str
) -> dict[str, Outcome]:
    """Return what became of each proposal, by id.

    Raises:
        InvalidInput: the first line is gone; a block is there twice, was not there before, or
            lost its first or its end line; something stands outside of the blocks; a line that
            has the nonce is not as it was; a new text is no record, or another one's.
    """
    lines = text.split("\n")
    if lines[0] != _opening(nonce):
        raise InvalidInput(
            "the first line is not as it was, so nothing was changed", where=f"{where}, line 1"
        )
    originals = {
        (proposal.summary.id, record.name): original_text(record)
        for proposal in proposals
        for record in proposal.records
    }
    found: dict[_Key, str] = {}
    for number, key, block in _blocks(lines, list(originals), nonce, where):
        at = f"{where}, line {number}"
        if key in found:
            raise InvalidInput(f"the block of {key[1]} is there twice", where=at, hint=_HINT)
        found[key] = _text(block, originals[key])
        if found[key] != originals[key]:
            _check_changed(found[key], originals[key], key[1], at)
    return _outcomes(originals, found)


def _blocks(
    lines: Sequence[str], keys: Sequence[_Key], nonce: str, where: str
) -> Iterator[tuple[int, _Key, Sequence[str]]]:
    """Yield each block: the number of its first line, proposal and name, and its lines."""
    begins = {_begin(nonce, key): key for key in keys}
    ends = {_end(nonce, key): key for key in keys}
    inside: _Key | None = None
    start = 1
    for number, line in enumerate(lines[1:], start=2):
        if inside is None and line in begins:
            inside, start = begins[line], number
        elif inside is not None and line == _end(nonce, inside):
            yield start, inside, lines[start : number - 1]
            inside = None
        elif wrong := _what_is_wrong(line, inside, begins, ends, nonce):
            raise InvalidInput(wrong, where=f"{where}, line {number}", hint=_HINT)
    if inside is not None:
        raise InvalidInput(_no_end(inside), where=f"{where}, line {start}", hint=_HINT)


def _what_is_wrong(
    line: str,
    inside: _Key | None,
    begins: Mapping[str, _Key],
    ends: Mapping[str, _Key],
    nonce: str,
) -> str:
    """Return why a line cannot stand where it stands; empty where it can."""
    if line in begins or line in ends:
        return _no_end(inside) if inside else f"the block of {ends[line][1]} has no first line"
    if nonce in line:
        return f"this line has {nonce} in it, but is none that gitmem wrote"
    if inside is None and line.strip() and not line.startswith("#"):
        return "this line stands outside of every block"
    return ""


def _no_end(key: _Key) -> str:
    return f"the block of {key[1]} has no end line"


def _text(block: Sequence[str], original: str) -> str:
    """Return the text of a block, without the comments above it."""
    text = dropwhile(lambda line: line.startswith("#") or not line.strip(), block)
    return "\n".join(text).strip("\n") + "\n"


def _check_changed(text: str, original: str, name: str, where: str) -> None:
    """Refuse a new text that is no record, or not the one of the block."""
    if original == f"{_RETIRE}\n":
        raise InvalidInput("a retirement has no text to change", where=where, hint=_HINT)
    if not text.startswith(f"{_FENCE}\n"):
        raise InvalidInput(
            f"the text of {name} does not begin with {_FENCE} any more", where=where, hint=_HINT
        )
    record = read_record(text.encode("utf-8"), f"{where}, the text of {name}")
    if record.name != name:
        raise InvalidInput(
            f"{name} is called {record.name} now; a record is not renamed here",
            where=where,
            hint="Approve it under its name, or reject it and remember it anew.",
        )


def _outcomes(originals: Mapping[_Key, str], found: Mapping[_Key, str]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for key, original in originals.items():
        proposal, name = key
        outcome = outcomes.setdefault(proposal, Outcome())
        if key not in found:
            outcome.rejected.append(name)
            continue
        outcome.kept.append(name)
        if found[key] != original:
            outcome.texts[name] = found[key].encode("utf-8")
    return outcomes
