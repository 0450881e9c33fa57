"""A record: one remembered fact.

A :class:`Record` that exists is legal: every field was checked when it was made. What its file
looks like, and how large that may be, is for :mod:`gitmem.records`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from datetime import date
from typing import Annotated, Literal, TypeAlias, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, model_validator

from gitmem.domain.layout import RECORD_TYPES, check_name
from gitmem.domain.objects import is_oid
from gitmem.domain.text import fold_whitespace, illegal_characters, is_nfc, one_line
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput

MAX_LINES = 200
"""Lines of a record's file, frontmatter included."""

MAX_BYTES = 4096
"""UTF-8 bytes of a record's file, frontmatter included."""

MAX_DESCRIPTION = 200
"""Characters of a description."""

MAX_EVIDENCE = 16
"""Quotes that one record may cite."""

MAX_DEPTH = 3
"""Levels of nesting in a frontmatter, itself being the first."""

MAX_KEY = 80
"""Characters of a key that gitmem does not know."""

Value: TypeAlias = Union[str, list["Value"], dict[str, "Value"]]  # noqa: UP007 - recursive
"""What a frontmatter may hold: text, and lists and mappings of it."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def check_text(text: str, field: str, *, allow_newlines: bool) -> None:
    """Refuse text that a record may not hold.

    That is text with characters named by :func:`gitmem.domain.text.illegal_characters`, or not in
    the normal form NFC. Raises InvalidInput with ``field``, place, code point and reason.
    """
    illegal = illegal_characters(text, allow_newlines=allow_newlines)
    if illegal:
        more = f" (and {len(illegal) - 1} more)" if len(illegal) > 1 else ""
        raise InvalidInput(
            f"{illegal[0]}{more}", where=field, hint="Take the character out; gitmem never does."
        )
    if not is_nfc(text):
        raise InvalidInput(
            "the text is not in the normal form NFC, so it would differ from the same text "
            "typed elsewhere",
            where=field,
            hint="Convert it first, for example with Python's unicodedata.normalize('NFC', text).",
        )


def _description(text: str) -> str:
    check_text(text, "description", allow_newlines=False)
    if not fold_whitespace(text):
        raise InvalidInput(
            "is empty", where="description", hint="Say the fact in one line; lists show it."
        )
    if len(text) > MAX_DESCRIPTION:
        raise InvalidInput(
            f"has {len(text)} characters; the limit is {MAX_DESCRIPTION}",
            where="description",
            hint="Keep the fact in the description and put the rest in the body.",
        )
    return text


def _body(text: str) -> str:
    check_text(text, "body", allow_newlines=True)
    if not fold_whitespace(text):
        raise InvalidInput(
            "is empty", where="body", hint="Say what is remembered, why, and how to apply it."
        )
    return text


def _name(name: str) -> str:
    check_name(name)
    return name


def _evidence(oids: tuple[str, ...]) -> tuple[str, ...]:
    if not 1 <= len(oids) <= MAX_EVIDENCE:
        raise InvalidInput(
            f"cites {len(oids)} quotes; a record cites 1 to {MAX_EVIDENCE}", where="evidence"
        )
    for oid in oids:
        if not is_oid(oid):
            raise InvalidInput(
                f"{oid[:50]!r} is not the id of a quote (40 lower-case hex digits)",
                where="evidence",
            )
    _refuse_repeats(oids, "evidence")
    return oids


def _supersedes(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        try:
            check_name(name)
        except InvalidInput as error:
            raise InvalidInput(error.reason, where="supersedes", hint=error.hint) from None
    _refuse_repeats(names, "supersedes")
    return names


def _refuse_repeats(values: tuple[str, ...], field: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise InvalidInput(f"{value} stands there twice", where=field)
        seen.add(value)


class Record(BaseModel):
    """One remembered fact, immutable and equal by value; made by :func:`make_record`.

    ``evidence`` holds blob ids; ``valid_from`` and ``valid_until`` are ISO dates, both included;
    ``status`` is ``unconfirmed`` where the evidence cannot settle a conflict; ``supersedes`` are
    names; ``extra`` are the keys that gitmem does not know, which survive every edit.
    """

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, strict=True, extra="forbid")

    name: Annotated[str, AfterValidator(_name)]
    description: Annotated[str, AfterValidator(_description)]
    type: Literal["user", "feedback", "project", "reference"]
    evidence: Annotated[tuple[str, ...], AfterValidator(_evidence)]
    body: Annotated[str, AfterValidator(_body)]
    valid_from: str | None = None
    valid_until: str | None = None
    status: Literal["unconfirmed"] | None = None
    supersedes: Annotated[tuple[str, ...], AfterValidator(_supersedes)] = ()
    extra: Mapping[str, object] = {}

    @model_validator(mode="after")
    def _check_the_rest(self) -> Record:
        if self.valid_from is not None or self.valid_until is not None:
            check_dates(self.valid_from, self.valid_until)
        if self.name in self.supersedes:
            raise InvalidInput("a record cannot supersede itself", where="supersedes")
        if self.extra:
            _check_extra(self.extra)
        return self


RECORD_KEYS = tuple(key for key in Record.model_fields if key not in ("body", "extra"))
"""The keys of a record's frontmatter that gitmem knows, in the order in which they are written."""


def check_dates(valid_from: str | None, valid_until: str | None) -> None:
    """Refuse what is no ISO date, and a last day before the first (InvalidInput)."""
    for field, text in (("valid_from", valid_from), ("valid_until", valid_until)):
        if text is not None and not _is_date(text):
            raise InvalidInput(
                f"{text[:50]!r} is not a date like 2026-11-30", where=field, hint="Or leave it out."
            )
    if valid_from is not None and valid_until is not None and valid_from > valid_until:
        raise InvalidInput(f"{valid_until} is before valid_from {valid_from}", where="valid_until")


def _is_date(text: str) -> bool:
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _check_extra(extra: Mapping[str, object]) -> None:
    for key, value in extra.items():
        if key in RECORD_KEYS:
            raise InvalidInput(f"{key} is a field of its own", where="extra")
        _check_key(key)
        _check_value(value, one_line(key), depth=1)


def _check_key(key: str) -> None:
    if not key or len(key) > MAX_KEY or key == "<<":
        raise InvalidInput(
            f"{key[: MAX_KEY + 1]!r} cannot be a key: a key has 1 to {MAX_KEY} characters, and "
            "'<<' would merge mappings",
            where="extra",
        )
    check_text(key, f"key {key!r}", allow_newlines=False)


def _check_value(value: object, field: str, depth: int) -> None:
    if isinstance(value, str):
        check_text(value, field, allow_newlines=True)
        return
    if not isinstance(value, (list, dict)):
        raise InvalidInput(
            f"holds {type(value).__name__}; only text, lists and mappings of text are kept",
            where=field,
        )
    if depth >= MAX_DEPTH:
        raise InvalidInput(f"is nested deeper than {MAX_DEPTH} levels", where=field)
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise InvalidInput(f"has a key that is {type(key).__name__}", where=field)
            _check_key(key)
    for item in value.values() if isinstance(value, dict) else value:
        _check_value(item, field, depth + 1)


def make_record(
    *,
    name: str,
    description: str,
    type: str,
    evidence: Iterable[str],
    body: str,
    valid_from: str | None = None,
    valid_until: str | None = None,
    status: str | None = None,
    supersedes: Iterable[str] = (),
    extra: Mapping[str, Value] | None = None,
) -> Record:
    """Make a record of checked fields.

    Raises InvalidInput whose ``where`` is the first field that breaks a rule, and whose message
    gives the limit and the size. Nothing is cut, trimmed or normalised.
    """
    if type not in RECORD_TYPES:
        raise InvalidInput(f"{type[:80]!r} is not one of {', '.join(RECORD_TYPES)}", where="type")
    if status not in (None, "unconfirmed"):
        raise InvalidInput(
            f"{status[:80]!r} is not 'unconfirmed'; leave it out for a settled fact", where="status"
        )
    try:
        return Record.model_validate(
            {
                "name": name,
                "description": description,
                "type": type,
                "evidence": _as_tuple(evidence, "evidence"),
                "body": body,
                "valid_from": valid_from,
                "valid_until": valid_until,
                "status": status,
                "supersedes": _as_tuple(supersedes, "supersedes"),
                "extra": deepcopy(dict(extra or {})),
            }
        )
    except ValidationError as error:
        field, _, message = first_problem(error).partition(": ")
        raise InvalidInput(message, where=field) from None


def _as_tuple(values: Iterable[str], field: str) -> tuple[str, ...]:
    # a string is iterable too, and would become a tuple of letters
    if isinstance(values, (str, Mapping)):
        raise InvalidInput("must be a list", where=field)
    return tuple(values)


def with_evidence(record: Record, evidence: Iterable[str]) -> Record:
    """``record`` citing ``evidence`` in place of what it cites; InvalidInput as in make_record."""
    fields = {key: getattr(record, key) for key in Record.model_fields}
    return make_record(**{**fields, "evidence": evidence})


def statement(record: Record) -> str:
    """What ``record`` states: description and body, as duplicates and tombstones compare it."""
    return f"{record.description}\n{record.body}"
