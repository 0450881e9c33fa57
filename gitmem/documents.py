"""Evidence, policy, reviewers and reasons: what they look like. Records: see gitmem.records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from gitmem.domain.evidence import MAX_EVIDENCE_BYTES, MAX_QUOTE, Evidence
from gitmem.domain.instants import parse_instant
from gitmem.domain.layout import POLICY, REVIEWERS, is_name
from gitmem.domain.objects import blob_id
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy, make_policy
from gitmem.domain.policy_keys import as_text
from gitmem.domain.proposal import KINDS
from gitmem.domain.review import RESERVED, ReviewerDefinition
from gitmem.domain.session import REDACTION_MARK
from gitmem.domain.text import fold_whitespace, illegal_characters, quote_length, to_nfc
from gitmem.domain.tombstone import MAX_REASON
from gitmem.domain.validation import first_problem, typed_fields
from gitmem.errors import InvalidInput, Usage
from gitmem.records import (
    read_frontmatter,
    read_yaml_mapping,
    write_frontmatter,
    write_yaml_mapping,
)
from gitmem.redaction import find_secrets

#: A rubric is read by a model with every review; this is about 8,000 tokens.
MAX_REVIEWER_BYTES = 32_768


def make_evidence(where: str = "evidence", /, **fields: Any) -> Evidence:
    """Build evidence out of fields; ``class`` may be given as ``cls``.

    Raises:
        InvalidInput: a field breaks a rule, or the quote holds characters that may not be kept.
    """
    try:
        evidence = Evidence(**fields)
    except ValidationError as error:
        raise InvalidInput(first_problem(error), where=where) from error
    length = quote_length(fold_whitespace(evidence.quote))
    if length > MAX_QUOTE:
        raise InvalidInput(
            f"the quote has {length} characters; at most {MAX_QUOTE} are allowed", where=where
        )
    if REDACTION_MARK in evidence.quote:
        raise InvalidInput("the quote contains a redacted secret", where=where)
    parse_instant(evidence.at)
    illegal = illegal_characters(evidence.quote, allow_newlines=True)
    if illegal:
        raise InvalidInput(f"the quote holds {illegal[0]}", where=where)
    return evidence


def write_evidence(evidence: Evidence) -> bytes:
    """Return the bytes of an evidence file; their blob id is the file's name.

    Raises:
        InvalidInput: the file would be larger than its limit.
    """
    fields = {key: str(value) for key, value in evidence.model_dump(by_alias=True).items()}
    quote = fields.pop("quote")
    data = write_frontmatter(fields, quote)
    if len(data) > MAX_EVIDENCE_BYTES:
        raise InvalidInput(
            f"the evidence has {len(data)} bytes; at most {MAX_EVIDENCE_BYTES} are allowed",
            hint="Quote the sentence that says it, not the whole message.",
        )
    return data


def read_evidence(data: bytes, where: str) -> Evidence:
    """Parse an evidence file, strictly: what it says must be written in gitmem's own form.

    Raises:
        InvalidInput: naming the file and what is wrong.
    """
    front = read_frontmatter(data, where=where, max_bytes=MAX_EVIDENCE_BYTES)
    number = front.fields.get("message")
    if not isinstance(number, str) or not number.isascii() or not number.isdecimal():
        raise InvalidInput("message is no index of a message", where=where)
    fields: Mapping[str, Any] = {**front.fields, "message": int(number[:8]), "quote": front.body}
    if "cls" in front.fields:
        raise InvalidInput("cls is no key of evidence", where=where)
    evidence = make_evidence(where, **fields)
    if write_evidence(evidence) != data:
        raise InvalidInput("is not in the form that gitmem writes", where=where)
    return evidence


def read_policy(data: bytes, where: str = POLICY) -> Policy:
    """Parse a policy; keys that it leaves out have their defaults.

    Raises:
        InvalidInput: an unknown key, a value out of range, or no YAML at all.
    """
    return make_policy(read_yaml_mapping(data, where=where, max_bytes=MAX_POLICY_BYTES), where)


def policy_file(policy: Policy) -> bytes:
    """Return ``policy.yaml`` with every key, so that a person sees what there is to set."""
    return write_yaml_mapping(as_text(policy))


def read_policy_by_hand(text: str, before: str) -> Policy:
    """Parse a policy that a person wrote in place of ``before``.

    Stricter than :func:`read_policy`, for what is about to become history: its comments too
    must be what they look like, and no secret may come in with them.

    Raises:
        InvalidInput: as for :func:`read_policy`; it is empty, or holds hidden characters, or a
            secret that ``before`` does not hold already.
    """
    if not text.strip():  # how people give up in an editor, and not how they ask for defaults
        raise InvalidInput("is empty", where=POLICY, hint="For the defaults alone, write {}.")
    policy = read_policy(text.encode("utf-8", "surrogatepass"))
    _check_plain(text, POLICY, before)
    return policy


def clean_reason(reason: str, what: str, *, needed: bool) -> str:
    """Return the reason of a decision as main keeps it: one line, composed.

    Args:
        what: is decided, as in "a rejection".
        needed: whether it may not be left out.

    Raises:
        Usage: it is missing or too long.
        InvalidInput: it holds a secret, or characters that are not kept.
    """
    reason = fold_whitespace(to_nfc(reason))
    if needed and not reason:
        raise Usage(f"{what} needs a reason", hint="Say in a sentence why.")
    if len(reason) > MAX_REASON:
        raise Usage(
            f"the reason of {what} has at most {MAX_REASON} characters, not {len(reason)}",
            hint="Say in a sentence why.",
        )
    if find_secrets(reason):
        raise InvalidInput(
            "the reason holds what looks like a secret; it would travel with main",
            hint="Nothing was written. Say it without the secret.",
        )
    illegal = illegal_characters(reason, allow_newlines=False)
    if illegal:
        raise InvalidInput(str(illegal[0]), where="the reason", hint="Type it anew.")
    return reason


def read_reviewer(data: bytes, where: str) -> ReviewerDefinition:
    """Parse a reviewer's definition.

    Raises:
        InvalidInput: a key is missing, unknown or of the wrong kind.
    """
    front = read_frontmatter(data, where=where, max_bytes=MAX_REVIEWER_BYTES)
    stem = where.rpartition("/")[2].removesuffix(".md")
    if stem in RESERVED or not is_name(stem):
        raise InvalidInput(f"{stem[:80]!r} cannot be the name of a reviewer's file", where=where)
    own = sorted({"blob", "rubric"} & front.fields.keys())
    if own:
        raise InvalidInput(f"{own[0]} is no key of a reviewer", where=where)
    if front.fields.get("name") != stem:
        raise InvalidInput(f"its name must be {stem}, as its file is called", where=where)
    try:
        fields = typed_fields(ReviewerDefinition, front.fields)
        return ReviewerDefinition.model_validate(
            {**fields, "blob": blob_id(data), "rubric": front.body}
        )
    except ValidationError as error:
        raise InvalidInput(first_problem(error), where=where) from error


def read_reviewer_by_hand(data: bytes, stem: str, before: str) -> ReviewerDefinition:
    """Parse a definition that a person puts in place of ``before``, as ``reviewers/STEM.md``.

    Stricter than :func:`read_reviewer`, for what is about to become history, and what models
    will be told: all of it must be what it looks like, and it must ask for something.

    Raises:
        InvalidInput: as for :func:`read_reviewer`; it names no kind of proposal or one that does
            not exist, or a role that is none, or has no rubric; or it holds hidden characters, or
            a secret that ``before`` does not hold already.
    """
    where = f"{REVIEWERS}/{stem}.md"
    if not is_name(stem):  # a path would be read by its end
        raise InvalidInput(f"{stem[:80]!r} cannot be the name of a reviewer")
    definition = read_reviewer(data, where)
    if definition.role != "reviewer":
        raise InvalidInput(
            f"the role is {definition.role[:40]!r}; it has to be reviewer", where=where
        )
    unknown = [kind for kind in definition.applies_to if kind not in KINDS]
    if unknown or not definition.applies_to:
        what = f"{unknown[0][:40]!r} is no kind of proposal" if unknown else "it judges no kind"
        raise InvalidInput(
            f"applies_to: {what}", where=where, hint=f"Name some of {', '.join(KINDS)}."
        )
    if not definition.rubric.strip():
        raise InvalidInput(
            "has no rubric", where=where, hint="Say below the --- what it has to judge."
        )
    _check_plain(data.decode("utf-8"), where, before)
    return definition


def _check_plain(text: str, where: str, before: str) -> None:
    """Refuse hidden characters, and secrets that ``before`` does not hold already."""
    illegal = illegal_characters(text, allow_newlines=True)
    if illegal:
        raise InvalidInput(str(illegal[0]), where=where, hint="Take it out.")
    for found in find_secrets(text):
        if text[found.start : found.end] not in before:
            raise InvalidInput(
                f"holds what looks like a secret ({found.kind}); it would travel with main",
                where=f"{where}:{found.line}",
                hint="Take it out.",
            )
