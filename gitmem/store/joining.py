"""Two changes of one record put together, field by field.

A field that only one of two changed is theirs; where both changed it to something else, a person
has to say which it is.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gitmem.domain.record import Record, make_record
from gitmem.domain.text import fold_whitespace
from gitmem.errors import InvalidInput
from gitmem.records import read_record
from gitmem.store.same_text import ANY_QUOTES, has_comments, same_record

_FIELDS = ("type", "description", "body", "valid_from", "valid_until", "status", "supersedes")


def join(base: Record | None, mine: Record, theirs: Record) -> tuple[Record | None, list[str]]:
    """Put together what ``mine`` and ``theirs`` changed in ``base``, None where both are new.

    Returns the record, with the quotes of ``theirs``, and the names of the fields that both
    changed to something else; the record is None where there are any.

    Raises:
        InvalidInput: the two together break a rule.
    """
    clashing: list[str] = []
    fields: dict[str, Any] = {}
    for name in _FIELDS:
        sides = [getattr(side, name, None) for side in (base, mine, theirs)]
        fields[name] = _joined(name, sides, clashing)
    extra: dict[str, Any] = {}
    for name in sorted({*mine.extra, *theirs.extra}):
        sides = [side.extra.get(name) if side else None for side in (base, mine, theirs)]
        if (value := _joined(name, sides, clashing)) is not None:
            extra[name] = value
    if clashing:
        return None, clashing
    return make_record(name=theirs.name, evidence=theirs.evidence, extra=extra, **fields), []


def composed(seen: Record | None, past: Record | None, told: Collection[str]) -> Record | None:
    """Return ``past`` with the fields ``told`` of ``seen``: on what each field was begun.

    It is ``seen`` where one of the two is not there, or the two together break a rule.
    """
    if seen is None or past is None:
        return seen
    fields = {name: getattr(seen if name in told else past, name) for name in _FIELDS}
    extra: dict[str, Any] = {k: value for k, value in past.extra.items() if k not in told}
    extra |= {name: value for name, value in seen.extra.items() if name in told}
    try:
        return make_record(name=seen.name, evidence=seen.evidence, extra=extra, **fields)
    except InvalidInput:
        return seen


def _joined(name: str, sides: list[Any], clashing: list[str]) -> Any:
    base, mine, theirs = sides
    if _same(mine, theirs) or _same(mine, base):
        return theirs
    if not _same(theirs, base):
        clashing.append(name)
    return mine


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return fold_whitespace(one) == fold_whitespace(other)
    return bool(one == other)


def carries(mine: bytes, begun: bytes, new: bytes) -> bool:
    """Whether ``new`` has everything that a person changed in the file ``mine`` since ``begun``.

    A comment in the fields stands in no record, so a file with one is never done.
    """
    try:
        base, edited, theirs = (
            read_record(data, "", evidence=ANY_QUOTES) for data in (begun, mine, new)
        )
        joined, _ = join(base, edited, theirs)
    except InvalidInput:
        return False
    return joined is not None and same_record(joined, theirs) and not has_comments(mine)
