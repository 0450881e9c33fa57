"""Where a secret stands in a text; never the secret itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Span:
    """``text[start:end]`` is a secret of this kind."""

    start: int
    end: int
    kind: str
