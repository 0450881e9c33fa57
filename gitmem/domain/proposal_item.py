"""What a proposer hands in: records with quotes, before they are checked against anything.

The same shape comes from a model, from the rules and from ``gitmem propose FILE``. Keys beyond
these are refused: a proposer has no field by which it could vouch for itself. Nothing is
converted: ``"1"`` and ``true`` are no index of a message.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, StrictInt, StrictStr


class Citation(BaseModel):
    """A verbatim quote and the index of the message it stands in."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid")

    message: StrictInt
    quote: StrictStr


class Item(BaseModel):
    """One proposed record. A name that exists in the store means a revision of that record."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid")

    name: StrictStr
    type: StrictStr
    description: StrictStr
    body: StrictStr
    evidence: tuple[Citation, ...]


class Retirement(BaseModel):
    """A record that a change set takes out of memory, and why."""

    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid")

    name: StrictStr
    reason: StrictStr
