"""The manifest: a few pins that cover the whole memory, of constant size."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitmem.domain.canonical import canonical_file, is_canonical
from gitmem.domain.validation import first_problem
from gitmem.errors import InvalidInput

MANIFEST_VERSION = 1
MAX_MANIFEST_BYTES = 16_384
_OID = r"^[0-9a-f]{40}$"


class _Strict(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid", strict=True)


class ByType(_Strict):
    """How many records there are of each type."""

    feedback: int = Field(default=0, ge=0)
    project: int = Field(default=0, ge=0)
    reference: int = Field(default=0, ge=0)
    user: int = Field(default=0, ge=0)


class FolderPin(_Strict):
    """The tree of a folder and how many files lie in it."""

    tree: str = Field(pattern=_OID)
    count: int = Field(ge=0)


class RecordsPin(FolderPin):
    """The tree of ``records/``, with the number of records of each type."""

    by_type: ByType


class Manifest(_Strict):
    """The content of ``manifest.json``; see docs/format.md."""

    version: Literal[1]
    records: RecordsPin
    evidence: FolderPin
    tombstones: FolderPin
    policy: str = Field(pattern=_OID)
    reviewers: str = Field(pattern=_OID)
    change: str
    approved_by: list[str]
    approved_at: str

    def to_bytes(self) -> bytes:
        """Return the canonical file."""
        return canonical_file(self.model_dump())


def parse_manifest(data: bytes, where: str = "manifest.json") -> Manifest:
    """Parse a manifest, strictly.

    Raises:
        InvalidInput: it is no canonical JSON of this shape, or of a newer version.
    """
    if len(data) > MAX_MANIFEST_BYTES:
        raise InvalidInput(
            f"{len(data)} bytes; a manifest has at most {MAX_MANIFEST_BYTES}", where=where
        )
    check_version(data, where)
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"is no JSON: {error}", where=where) from error
    try:
        manifest = Manifest.model_validate(raw)
    except ValidationError as error:
        raise InvalidInput(first_problem(error), where=where) from error
    if not is_canonical(manifest.model_dump(), data):
        raise InvalidInput("is not in canonical form", where=where)
    return manifest


def check_version(data: bytes, where: str = "manifest.json") -> None:
    """Refuse a manifest of a version that this gitmem does not know; anything else passes.

    Raises:
        InvalidInput: the version is a larger number than :data:`MANIFEST_VERSION`.
    """
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError):
        return
    version = raw.get("version") if isinstance(raw, dict) else None
    if isinstance(version, int) and version > MANIFEST_VERSION:
        raise InvalidInput(
            f"was written in format version {version}; this gitmem reads up to {MANIFEST_VERSION}",
            where=where,
            hint="Install a newer gitmem, then try again.",
        )
