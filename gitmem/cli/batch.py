"""The text that ``gitmem approve --edit`` opens in an editor, and what a person made of it.

Each record is a block under a line of its own. A block that is gone is a no to that record, a
text that changed is another wording. What cannot be read back for certain changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gitmem.errors import InvalidInput
from gitmem.results import ProposalDiff, ShownRecord

_MARK = "%%"
_FENCE = "---"
_RETIRE = "(this record is to be retired)"
_INTRODUCTION = """\
# What stands here when you save and close is approved, after one more question.
# - Delete a block, from its line that begins with %% on, to reject that record for good.
# - Change a text, below its ---, to approve it in your words.
# - Leave this first line, and the lines that begin with %%, as they are.
# Delete the first line, or make the editor fail (in vim: :cq), and nothing happens.
"""


@dataclass(slots=True)
class Outcome:
    """What a person made of one proposal: names that stay, new texts, names that go."""

    kept: list[str] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)
    rejected: list[str] = field(default_factory=list)


def write_batch(proposals: Sequence[ProposalDiff], nonce: str) -> str:
    """Return the text to edit. ``nonce`` marks its lines, so that no record can imitate them."""
    parts = [f"{_MARK} {nonce} gitmem approve --edit\n", _INTRODUCTION]
    for proposal in proposals:
        for record in proposal.records:
            parts += [f"\n{_MARK} {nonce} {proposal.summary.id} {record.name}\n"]
            parts += [f"# {record.change}\n"]
            parts += [f"#   > {line}\n" for quote in record.quotes for line in _lines(quote.quote)]
            reason = proposal.retire_reasons.get(record.name)
            parts += [f"#   {line}\n" for line in _lines(reason or "")]
            parts += [_original(record)]
    return "".join(parts)


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _original(record: ShownRecord) -> str:
    return record.after.rstrip("\n") + "\n" if record.after else _RETIRE + "\n"


def read_batch(
    text: str, proposals: Sequence[ProposalDiff], nonce: str, where: str
) -> dict[str, Outcome]:
    """Return what became of each proposal, by id.

    Raises:
        InvalidInput: the first line is gone, a block is there twice or was not there before,
            or a text lost its beginning.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != f"{_MARK} {nonce} gitmem approve --edit":
        raise InvalidInput("the first line is gone, so nothing was changed", where=where)
    originals = {
        (proposal.summary.id, record.name): _original(record)
        for proposal in proposals
        for record in proposal.records
    }
    found: dict[tuple[str, str], str] = {}
    for number, key, block in _blocks(lines, nonce, where):
        at = f"{where}, line {number}"
        if key not in originals:
            raise InvalidInput(f"there was no block {' '.join(key)!r}", where=at)
        if key in found:
            raise InvalidInput(f"the block of {key[1]} is there twice", where=at)
        found[key] = _text(block, originals[key], at)
    return _outcomes(originals, found)


def _blocks(
    lines: Sequence[str], nonce: str, where: str
) -> Iterator[tuple[int, tuple[str, str], list[str]]]:
    """Yield each block: the number of its first line, proposal and name, and its lines."""
    starts = [number for number, line in enumerate(lines) if line.startswith(f"{_MARK} {nonce}")][
        1:
    ]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        words = lines[start].split()[2:]
        if len(words) != 2:
            raise InvalidInput(
                "names no proposal and record any more", where=f"{where}, line {start + 1}"
            )
        yield start + 1, (words[0], words[1]), list(lines[start + 1 : end])


def _text(block: Sequence[str], original: str, where: str) -> str:
    """Return the record's text of a block, without the comments above it."""
    begin = next((n for n, line in enumerate(block) if not line.startswith("#")), len(block))
    text = "\n".join(block[begin:]).strip("\n") + "\n"
    if original == f"{_RETIRE}\n":
        if text != original:
            raise InvalidInput("a retirement has no text to change", where=where)
    elif not text.startswith(f"{_FENCE}\n"):
        raise InvalidInput(f"the text does not begin with {_FENCE} any more", where=where)
    return text


def _outcomes(
    originals: Mapping[tuple[str, str], str], found: Mapping[tuple[str, str], str]
) -> dict[str, Outcome]:
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
