"""Reviews: empty commits on a proposal's branch, and the definitions of reviewers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from gitmem.domain.actors import is_person
from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.objects import is_oid
from gitmem.errors import InvalidInput

Verdict = Literal["approve", "request_changes", "reject", "inconclusive"]
VERDICTS = ("approve", "request_changes", "reject", "inconclusive")
#: Reviewer names that are no files: the deterministic checks, and a person.
CHECKS = "checks"
PERSON = "person"
RESERVED = (CHECKS, PERSON)
_FINDING = re.compile(
    r"(?P<severity>blocker|warning) (?P<code>[a-z]+(?:-[a-z]+)*) "
    r"(?P<record>[a-z0-9-]{1,80}|-)(?::(?P<line>[1-9][0-9]{0,5}))? (?P<text>.+)\Z",
    re.DOTALL,
)
_HASH = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check or a reviewer found. ``line`` counts from 1 in the record's file."""

    severity: Literal["blocker", "warning"]
    code: str
    text: str
    record: str | None = None
    line: int | None = None

    def to_trailer(self) -> str:
        """Return the value of a ``Finding`` trailer.

        Raises:
            InvalidInput: its parts could not be read back; such a branch could never be merged.
        """
        place = self.record or "-"
        if self.record and self.line:
            place += f":{self.line}"
        value = f"{self.severity} {self.code} {place} {self.text}"
        if _FINDING.match(value) is None:
            raise InvalidInput(f"no finding that could be read back: {value[:80]!r}")
        return value


def parse_finding(value: str) -> Finding:
    """Parse the value of a ``Finding`` trailer.

    Raises:
        InvalidInput: it has another form.
    """
    match = _FINDING.match(value)
    if match is None:
        raise InvalidInput(f"no finding: {value[:80]!r}")
    record = None if match["record"] == "-" else match["record"]
    line = int(match["line"]) if match["line"] else None
    severity: Literal["blocker", "warning"] = (
        "blocker" if match["severity"] == "blocker" else "warning"
    )
    return Finding(severity, match["code"], match["text"], record, line)


@dataclass(frozen=True, slots=True)
class Review:
    """One review. ``change`` is the hash it judged; ``rubric`` the blob of the reviewer's file.

    Of a model ``asked`` says which one was asked for, where the endpoint reports another id, and
    ``usage`` what it took.
    """

    by: str
    reviewer: str
    verdict: Verdict
    change: str
    rubric: str | None
    findings: tuple[Finding, ...]
    at: int
    reason: str = ""
    oid: str = ""
    asked: str = ""
    usage: str = ""

    @property
    def by_person(self) -> bool:
        """Whether a person gave it."""
        return self.reviewer == PERSON


def review_message(review: Review, proposal_id: str) -> CommitMessage:
    """Return the message of a review's commit."""
    trailers = [
        ("Reviewed-By", review.by),
        ("Reviewer", review.reviewer),
        ("Verdict", review.verdict),
        ("Reviewed-Change", review.change),
    ]
    if review.rubric:
        trailers.append(("Reviewed-Rubric", review.rubric))
    for key, value in (("Reason", review.reason), ("Asked", review.asked), ("Usage", review.usage)):
        if value:
            trailers.append((key, value))
    trailers += [("Finding", finding.to_trailer()) for finding in review.findings]
    subject = f"review {proposal_id}: {review.reviewer}: {review.verdict}"
    body = tuple(
        f"{f.severity}: {f.record + ': ' if f.record else ''}{f.text}" for f in review.findings
    )
    return CommitMessage(subject, body, tuple(trailers))


def read_review(message: CommitMessage, at: int, oid: str) -> Review:
    """Return the review that a commit message describes.

    Raises:
        InvalidInput: a trailer is missing, doubled or malformed; such a review counts for
            nothing and makes its branch unmergeable, since a lost refusal would be a hole.
    """
    verdict = message.need("Verdict")
    if verdict not in VERDICTS:
        raise InvalidInput(f"{verdict[:40]!r} is no verdict; it is one of {', '.join(VERDICTS)}")
    change = message.need("Reviewed-Change")
    if not _HASH.match(change):
        raise InvalidInput("the trailer Reviewed-Change is no SHA-256")
    rubric = message.one("Reviewed-Rubric")
    if rubric is not None and not is_oid(rubric):
        raise InvalidInput("the trailer Reviewed-Rubric is no blob id")
    by, reviewer = message.need("Reviewed-By"), message.need("Reviewer")
    if (reviewer == PERSON) != is_person(by):
        raise InvalidInput(f"the reviewer {reviewer[:80]!r} cannot be {by[:80]!r}")
    return Review(
        by=by,
        reviewer=reviewer,
        verdict=verdict,  # type: ignore[arg-type]  # checked above
        change=change,
        rubric=rubric,
        findings=tuple(parse_finding(value) for value in message.all("Finding")),
        at=at,
        reason=message.one("Reason") or "",
        oid=oid,
        asked=message.one("Asked") or "",
        usage=message.one("Usage") or "",
    )


class ReviewerDefinition(BaseModel):
    """The frontmatter of a file under ``reviewers/``, with the blob id of the file."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid", strict=True)

    name: str
    applies_to: tuple[str, ...]
    blocking: bool
    role: str
    blob: str
    rubric: str
