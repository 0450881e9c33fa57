"""A proposal: one complete change of records with their evidence, on a branch of its own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from gitmem.domain.actors import check_proposer
from gitmem.domain.canonical import sha256_hex
from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.objects import is_oid
from gitmem.domain.record import Record
from gitmem.domain.session import Attested
from gitmem.domain.tombstone import MAX_REASON
from gitmem.errors import InvalidInput

KINDS = (
    "extract",
    "consolidate",
    "remember",
    "edit",
    "forget",
    "adopt",
    "import",
    "revert",
    "resolve",
)
#: Kinds whose quotes are what a person wrote for that very change, however short.
OWN_WORDS = ("remember", "edit", "forget", "adopt")
#: Kinds that bring back what main held once, with quotes from whatever sessions it had then.
OWN_HISTORY = ("revert", "resolve")
SHORT_QUOTES = OWN_WORDS + OWN_HISTORY
_ID = re.compile(r"(?P<kind>[a-z]+)-[0-9]{8}-[0-9a-f]{6}\Z")
#: How often a draft can be answered with another one; a policy can allow fewer.
MAX_ROUNDS = 10
_ROUND = re.compile(r"(?:[1-9]|10)\Z")
#: Longest list of names in a subject; what is left out is counted there.
_SUBJECT_NAMES = 3


@dataclass(frozen=True, slots=True)
class RecordAt:
    """Where a record lies in a tree: its path and its blob."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class RecordChange:
    """What a change does to one name."""

    name: str
    old: RecordAt | None
    new: RecordAt | None

    @property
    def kind(self) -> Literal["added", "revised", "retired"]:
        """Whether the record is added, revised or retired."""
        if self.old is None:
            return "added"
        return "retired" if self.new is None else "revised"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the commit of a proposal says about itself, and its change.

    ``proposed_by`` is ``rules``, ``human:NAME <ADDRESS>`` or ``model:ID@HOST``; ``base`` is the
    accepted commit that the change is written on; ``created_at`` is in seconds since 1970.
    ``follows`` is the draft that this one answers the findings of, ``round`` how many there were.
    """

    id: str
    kind: str
    proposed_by: str
    session: str | None
    attested: str | None
    base: str
    nonce: str
    created_at: int
    changes: tuple[RecordChange, ...]
    retire_reasons: tuple[tuple[str, str], ...] = ()
    follows: str | None = None
    round: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the change touches, sorted."""
        return tuple(change.name for change in self.changes)

    @property
    def change(self) -> str:
        """The hash that a review of this change carries."""
        return change_hash(self.changes)


def change_hash(changes: Iterable[RecordChange]) -> str:
    """Return the SHA-256 over the sorted lines ``path NUL old NUL new LF`` of a change.

    An absent blob is ``-``. A record names its evidence by blob id, so the quotes are covered.
    """
    blobs: dict[str, list[str]] = {}
    for change in changes:
        if change.old:
            blobs.setdefault(change.old.path, ["-", "-"])[0] = change.old.blob
        if change.new:
            blobs.setdefault(change.new.path, ["-", "-"])[1] = change.new.blob
    lines = (f"{path}\0{old}\0{new}\n" for path, (old, new) in sorted(blobs.items()))
    return sha256_hex("".join(lines).encode("utf-8"))


def is_proposal_id(text: str) -> bool:
    """Return whether ``text`` has the form of a proposal's id, like ``extract-20261130-7f3a2c``."""
    match = _ID.match(text)
    return match is not None and match["kind"] in KINDS


def subject_names(names: Iterable[str]) -> str:
    """Return names for a subject line: the first few, and how many more there are."""
    every = list(names)
    more = len(every) - _SUBJECT_NAMES
    return ", ".join(every[:_SUBJECT_NAMES]) + (f" and {more} more" if more > 0 else "")


def proposal_message(
    proposal: Proposal,
    records: Mapping[str, Record],
    quotes: Mapping[str, Iterable[str]],
) -> CommitMessage:
    """Return the message of a proposal's commit: what changes, its text and its quotes."""
    body: list[str] = []
    reasons = dict(proposal.retire_reasons)
    for change in proposal.changes:
        if body:
            body.append("")
        if change.new is None:
            reason = reasons.get(change.name, "")
            body.append(f"retired {change.name}" + (f": {reason}" if reason else ""))
            continue
        record = records[change.name]
        body.append(f"{change.kind} {change.name} ({record.type}): {record.description}")
        body += [f"    {line}".rstrip() for line in record.body.strip("\n").split("\n")]
        for quote in quotes.get(change.name, ()):
            body += [f"  > {line}" for line in quote.split("\n")]
    trailers = [
        ("Proposal-Id", proposal.id),
        ("Proposal-Kind", proposal.kind),
        ("Proposed-By", proposal.proposed_by),
    ]
    if proposal.session:
        trailers.append(("Session", proposal.session))
    if proposal.attested:
        trailers.append(("Attested", proposal.attested))
    trailers += [("Retire-Reason", f"{name} {text}") for name, text in proposal.retire_reasons]
    if proposal.follows:
        trailers += [("Follows", proposal.follows), ("Round", str(proposal.round))]
    trailers += [("Base", proposal.base), ("Nonce", proposal.nonce)]
    subject = f"{proposal.kind}: {subject_names(proposal.names)}"
    return CommitMessage(subject, tuple(body), tuple(trailers))


def rebase_message(proposal_id: str, base: str) -> CommitMessage:
    """Return the message of a commit that puts a proposal on the newer base ``base``.

    Its parents are the branch's old tip and that base; its files are what the proposal makes
    of the base. What was reviewed before counts as far as the change is the same.
    """
    trailers = (("Rebase", proposal_id), ("Base", base))
    return CommitMessage(f"rebase {proposal_id} on {base[:12]}", (), trailers)


def read_rebase(message: CommitMessage, parents: tuple[str, ...]) -> str:
    """Return the base that a rebase of a proposal names.

    Raises:
        InvalidInput: it is no commit of two parents of which the second is that base.
    """
    base = message.need("Base")
    if len(parents) != 2 or parents[1] != base:
        raise InvalidInput("its second parent is not the Base that it names")
    return base


def read_proposal(
    message: CommitMessage,
    created_at: int,
    changes: tuple[RecordChange, ...],
    rebased_on: str | None = None,
) -> Proposal:
    """Return the proposal that a commit message describes.

    ``rebased_on`` is the base that a later commit of the branch put it on: the newest counts.

    Raises:
        InvalidInput: a trailer is missing, doubled or malformed.
    """
    proposal_id = message.need("Proposal-Id")
    kind = message.need("Proposal-Kind")
    if not is_proposal_id(proposal_id) or not proposal_id.startswith(f"{kind}-"):
        raise InvalidInput(f"{proposal_id[:80]!r} is no id of a proposal of the kind {kind[:80]!r}")
    base = rebased_on or message.need("Base")
    if not is_oid(base):
        raise InvalidInput(f"the trailer Base is no commit id: {base[:80]!r}")
    attested = message.one("Attested")
    if attested is not None and attested not in get_args(Attested):
        raise InvalidInput(f"{attested[:40]!r} is no source of a session")
    follows, number = message.one("Follows"), message.one("Round")
    if (follows is None) != (number is None):
        raise InvalidInput("the trailers Follows and Round stand together, or neither does")
    if follows is not None and not is_proposal_id(follows):
        raise InvalidInput(f"the trailer Follows names no proposal: {follows[:80]!r}")
    if number is not None and not _ROUND.match(number):
        raise InvalidInput(f"the trailer Round is no number of 1 to {MAX_ROUNDS}: {number[:20]!r}")
    return Proposal(
        id=proposal_id,
        kind=kind,
        proposed_by=check_proposer(message.need("Proposed-By")),
        session=message.one("Session"),
        attested=attested,
        base=base,
        nonce=message.need("Nonce"),
        created_at=created_at,
        changes=changes,
        retire_reasons=_retire_reasons(message, changes, is_rebased=rebased_on is not None),
        follows=follows,
        round=int(number or 0),
    )


def _retire_reasons(
    message: CommitMessage, changes: tuple[RecordChange, ...], *, is_rebased: bool
) -> tuple[tuple[str, str], ...]:
    retired = {change.name for change in changes if change.kind == "retired"}
    reasons: dict[str, str] = {}
    for value in message.all("Retire-Reason"):
        name, _, reason = value.partition(" ")
        if is_rebased and name not in retired:
            continue  # main has retired it meanwhile
        if name not in retired or name in reasons or not 1 <= len(reason) <= MAX_REASON:
            raise InvalidInput(f"no reason for retiring a record: {value[:80]!r}")
        reasons[name] = reason
    return tuple(reasons.items())
