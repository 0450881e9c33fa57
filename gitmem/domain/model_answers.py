"""What each role of a model answers: its strict shape, and the schema that says so to an endpoint.

Each reader takes the whole text of an answer and refuses anything else than the shape. Its
errors are written to be quoted back to the model, once. Nothing is converted: ``true`` is no
name and ``"3"`` no line.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, StrictInt, StrictStr, ValidationError

from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.proposal_item import Item, Retirement
from gitmem.domain.strict_json import read_json
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput

#: Names that one selection may hold.
MAX_SELECTED = 5
#: Findings in one verdict, and characters of each text in them.
MAX_FINDINGS = 40
MAX_FINDING_TEXT = 1000
_SHOWN = 300

_Model = TypeVar("_Model", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid", strict=True)


class ModelFinding(_Strict):
    """One thing that a reviewer model found; ``line`` counts from 1 in the record's file."""

    record: StrictStr | None
    line: StrictInt | None
    evidence: StrictStr | None
    text: StrictStr
    change: StrictStr | None


class ModelVerdict(_Strict):
    """A reviewer model's whole answer."""

    verdict: Literal["approve", "request_changes", "reject"]
    findings: tuple[ModelFinding, ...]


class Rewritten(_Strict):
    """A record as a consolidation makes it; its quotes are carried over from what it keeps.

    ``status`` is ``unconfirmed`` where the sources contradict each other and nothing settles it.
    """

    name: StrictStr
    type: StrictStr
    description: StrictStr
    body: StrictStr
    status: Literal["unconfirmed"] | None = None


class Covered(_Strict):
    """Where a source of a consolidation is kept, or why it is not."""

    source: StrictStr
    kept_in: StrictStr | None = None
    reason: StrictStr | None = None


class Consolidation(_Strict):
    """A consolidator's whole answer."""

    source_names: tuple[StrictStr, ...]
    records: tuple[Rewritten, ...]
    retired: tuple[Retirement, ...]
    coverage: tuple[Covered, ...]


def read_items(text: str) -> tuple[Item, ...]:
    """Read a proposer's answer: an array of items, ``[]`` where nothing is worth keeping.

    Raises:
        InvalidInput: it has another shape; one wrong item refuses all.
    """
    value = read_json(text)
    if not isinstance(value, list):
        raise InvalidInput("the answer has to be an array of items")
    return tuple(_fitted(Item, item, f"item {n}") for n, item in enumerate(value))


def read_verdict(text: str) -> ModelVerdict:
    """Read a reviewer's answer.

    Raises:
        InvalidInput: it has another shape, or says no without saying why.
    """
    verdict = _fitted(ModelVerdict, read_json(text), "the verdict")
    if verdict.verdict != "approve" and not verdict.findings:
        raise InvalidInput(f"{verdict.verdict} needs a finding that says why")
    if len(verdict.findings) > MAX_FINDINGS:
        raise InvalidInput(f"{len(verdict.findings)} findings; the limit is {MAX_FINDINGS}")
    for number, finding in enumerate(verdict.findings):
        if not finding.text.strip():
            raise InvalidInput(f"findings.{number}.text is empty")
        if max(len(finding.text), len(finding.change or "")) > MAX_FINDING_TEXT:
            raise InvalidInput(
                f"findings.{number} is too long; the limit of a text is {MAX_FINDING_TEXT} "
                "characters"
            )
    return verdict


def read_names(text: str, known: Collection[str], limit: int = MAX_SELECTED) -> tuple[str, ...]:
    """Read a selector's answer: an array of at most ``limit`` different names out of ``known``.

    Raises:
        InvalidInput: it has another shape, or holds a name that is unknown or stands twice.
    """
    value = read_json(text)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInput("the answer has to be an array of names")
    if len(value) > limit:
        raise InvalidInput(f"{len(value)} names; the limit is {limit}")
    unknown = [name for name in value if name not in known]
    if unknown:
        raise InvalidInput(f"{unknown[0][:80]!r} is none of the names in the catalogue")
    if len(set(value)) < len(value):
        raise InvalidInput("a name stands twice")
    return tuple(value)


def read_consolidation(text: str, sources: Collection[str]) -> Consolidation:
    """Read a consolidator's answer about ``sources``, the names of the records it was shown.

    All lists empty mean that nothing is to be done.

    Raises:
        InvalidInput: it has another shape; a source is unknown, doubled, contradictory, or not
            accounted for; or nothing would be left of them.
    """
    answer = _fitted(Consolidation, read_json(text), "the answer")
    named = answer.source_names
    if not (named or answer.records or answer.retired or answer.coverage):
        return answer
    _check_sources(named, sources)
    made = [item.name for item in answer.records]
    gone = [retired.name for retired in answer.retired]
    if not made:
        raise InvalidInput("records is empty; a consolidation keeps what its sources say")
    _once(made, "records")
    _once(gone, "retired")
    both = sorted(set(made) & set(gone))
    if both:
        raise InvalidInput(f"{both[0]!r} is both a record and retired")
    strange = sorted((set(gone) | set(made) & set(sources)) - set(named))
    if strange:
        raise InvalidInput(f"{strange[0]!r} is changed and not among source_names")
    _check_coverage(answer, made)
    rootless = set(made) - {covered.kept_in for covered in answer.coverage}
    if rootless:
        raise InvalidInput(f"{min(rootless)!r} keeps nothing of any source")
    return answer


def _check_sources(named: tuple[str, ...], sources: Collection[str]) -> None:
    if not named:
        raise InvalidInput("source_names is empty")
    _once(named, "source_names")
    unknown = [name for name in named if name not in sources]
    if unknown:
        raise InvalidInput(f"{unknown[0][:80]!r} is none of the records that were given")


def _check_coverage(answer: Consolidation, made: Collection[str]) -> None:
    """Every source is kept in a record of the result, or goes with a reason."""
    _once([covered.source for covered in answer.coverage], "coverage")
    missing = set(answer.source_names) - {covered.source for covered in answer.coverage}
    if missing:
        raise InvalidInput(f"coverage says nothing of {min(missing)!r}")
    for covered in answer.coverage:
        if covered.source not in answer.source_names:
            raise InvalidInput(f"coverage names {covered.source[:80]!r}, which is no source")
        if bool(covered.kept_in) == bool(covered.reason):
            raise InvalidInput(
                f"coverage of {covered.source!r} needs either kept_in or a reason, and not both"
            )
        if covered.kept_in and covered.kept_in not in made:
            raise InvalidInput(
                f"coverage of {covered.source!r} names {covered.kept_in[:80]!r}, which is none of "
                "the records in the answer"
            )
        if covered.source not in made and covered.source not in {r.name for r in answer.retired}:
            raise InvalidInput(f"{covered.source!r} is neither revised nor retired")


def _once(names: Collection[str], field: str) -> None:
    if len(set(names)) < len(names):
        raise InvalidInput(f"a name stands twice in {field}")


def _fitted(model: type[_Model], value: Any, what: str) -> _Model:
    if not isinstance(value, dict):
        raise InvalidInput(f"{what} has to be an object")
    try:
        # From JSON, so that an array is a tuple, and nothing else is converted.
        return model.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise InvalidInput(f"{what}: {first_problem(error)}"[:_SHOWN]) from error


def _schema(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT: dict[str, Any] = {"type": "string"}
_MAYBE: dict[str, Any] = {"type": ["string", "null"]}


def _list(of: Any) -> dict[str, Any]:
    return {"type": "array", "items": of}


_TYPE: dict[str, Any] = {"type": "string", "enum": list(RECORD_TYPES)}
_ITEM = _schema(
    name=_TEXT,
    type=_TYPE,
    description=_TEXT,
    body=_TEXT,
    evidence=_list(_schema(message={"type": "integer"}, quote=_TEXT)),
)
#: JSON schemas of the answers, for endpoints that hold a model to one.
ITEMS_SCHEMA = _list(_ITEM)
NAMES_SCHEMA = _list(_TEXT)
VERDICT_SCHEMA = _schema(
    verdict={"type": "string", "enum": ["approve", "request_changes", "reject"]},
    findings=_list(
        _schema(
            record=_MAYBE,
            line={"type": ["integer", "null"]},
            evidence=_MAYBE,
            text=_TEXT,
            change=_MAYBE,
        )
    ),
)
CONSOLIDATION_SCHEMA = _schema(
    source_names=_list(_TEXT),
    records=_list(
        _schema(
            name=_TEXT,
            type=_TYPE,
            description=_TEXT,
            body=_TEXT,
            status={"type": ["string", "null"], "enum": ["unconfirmed", None]},
        )
    ),
    retired=_list(_schema(name=_TEXT, reason=_TEXT)),
    coverage=_list(_schema(source=_TEXT, kept_in=_MAYBE, reason=_MAYBE)),
)
