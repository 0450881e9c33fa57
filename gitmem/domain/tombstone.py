"""Tombstones: facts that a person rejected or forgot. They do not come back by themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitmem.domain.canonical import canonical_file, is_canonical, sha256_hex
from gitmem.domain.text import normalise_statement, one_line
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput

MAX_TOMBSTONE_BYTES = 4096
#: Characters of a reason; longer ones are refused where they are given.
MAX_REASON = 500


class Tombstone(BaseModel):
    """One file under ``tombstones/``. ``hash`` is the SHA-256 of the normalised statement."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid", strict=True)

    version: int = Field(ge=1, le=1)
    id: str
    names: list[str]
    who: list[str]
    when: str
    reason: str
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")

    @property
    def key(self) -> str:
        """The 40 hex that name its file."""
        return self.hash[:40]

    @property
    def verb(self) -> str:
        """What a person did with the fact, as in "you forgot this"."""
        return "forgot" if self.id.startswith("forget-") else "rejected"

    @property
    def decision(self) -> str:
        """When, by which decision and why, on one line: ``on 2026-11-30 (forget-...): why``."""
        when = f"on {one_line(self.when[:10])} ({one_line(self.id)})"
        return f"{when}: {one_line(self.reason)}" if self.reason else when

    def to_bytes(self) -> bytes:
        """Return the canonical file."""
        return canonical_file(self.model_dump())


@dataclass(frozen=True, slots=True)
class Buried:
    """A tombstone and the very statement that it buries, where that text still is."""

    tombstone: Tombstone
    statement: str


@lru_cache(maxsize=2048)  # a merge asks three times of each record, which has 4 KB at most
def statement_hash(statement: str) -> str:
    """Return the SHA-256 by which a fact is recognised, whatever its case and punctuation."""
    return sha256_hex(normalise_statement(statement).encode("utf-8"))


def parse_tombstone(data: bytes, where: str) -> Tombstone:
    """Parse a tombstone, strictly.

    Raises:
        InvalidInput: it has another shape, or is not in canonical form.
    """
    if len(data) > MAX_TOMBSTONE_BYTES:
        raise InvalidInput(
            f"{len(data)} bytes; a tombstone has at most {MAX_TOMBSTONE_BYTES}", where=where
        )
    try:
        tombstone = Tombstone.model_validate(json.loads(data))
    except ValidationError as error:
        raise InvalidInput(first_problem(error), where=where) from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is no JSON: {error}", where=where) from error
    if not is_canonical(tombstone.model_dump(), data):
        raise InvalidInput("is not in canonical form", where=where)
    return tombstone
