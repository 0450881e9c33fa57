"""MEMORY.md: the view that an agent reads first. Derived, rebuilt by every merge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.text import escape_markdown

HEADER = "# Memory\n"
EMPTY_NOTE = "\nNothing is remembered yet.\n"

#: Lines that one process keeps: every merge renders the view of the base and its own, which differ
#: in a line or two.
_LINES_KEPT = 1024


class ViewRow(NamedTuple):
    """What the view shows of one record. ``status`` is ``unconfirmed``; the dates are ISO."""

    name: str
    type: str
    description: str
    path: str
    status: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None


def view_order(row: ViewRow) -> tuple[int, str]:
    """Sort by type (user, feedback, project, reference), then by name."""
    return RECORD_TYPES.index(row.type), row.name


def view_mark(row: ViewRow) -> str:
    """Return what stands behind a description, like `` (unconfirmed; until 2026-12-31)``.

    It is made of the record alone, never of the day: the same memory has the same view whenever
    it is rendered. Whoever reads it knows what day it is.
    """
    said = [row.status] if row.status else []
    said += [f"from {row.valid_from}"] if row.valid_from else []
    said += [f"until {row.valid_until}"] if row.valid_until else []
    return f" ({'; '.join(said)})" if said else ""


def render_view(
    current: Sequence[ViewRow],
    superseded: Sequence[ViewRow],
    total: int,
    max_lines: int,
    max_bytes: int,
) -> bytes:
    """Return the bytes of MEMORY.md.

    ``superseded`` are the records that another present record names in ``supersedes``; they
    are left out first. Then lines are cut from the end of the order type, name. Each sequence
    may itself be cut after ``max_lines`` rows in that order: what is behind cannot be shown.
    """
    lines = [_line(row) for row in sorted(current, key=view_order)]
    more = [_line(row) for row in sorted(superseded, key=view_order)]
    if len(lines) + len(more) == total and _fits([*lines, *more], 0, max_lines, max_bytes):
        return _render([*lines, *more], 0)
    kept = _longest_prefix([], lines, total, max_lines, max_bytes)
    if len(kept) == len(lines):
        kept = _longest_prefix(kept, more, total, max_lines, max_bytes)
    return _render(kept, total - len(kept))


class _Line(NamedTuple):
    """A row as it is shown, escaped once; ``size`` is in bytes."""

    order: tuple[int, str]
    text: str
    size: int


@lru_cache(maxsize=_LINES_KEPT)
def _line(row: ViewRow) -> _Line:
    described = escape_markdown(row.description) + view_mark(row)
    text = f"- [{row.name}]({row.path}) — {described}\n"
    return _Line(view_order(row), text, len(text.encode("utf-8")))


def _longest_prefix(
    kept: list[_Line], more: list[_Line], total: int, max_lines: int, max_bytes: int
) -> list[_Line]:
    low, high = 0, len(more)
    while low < high:
        middle = (low + high + 1) // 2
        left_out = total - len(kept) - middle
        fits = _fits([*kept, *more[:middle]], left_out, max_lines, max_bytes)
        low, high = (middle, high) if fits else (low, middle - 1)
    return [*kept, *more[:low]]


def _fits(rows: list[_Line], left_out: int, max_lines: int, max_bytes: int) -> bool:
    around = "".join(
        [HEADER, *(_heading(rank) for rank in _ranks(rows)), _footer(len(rows), left_out)]
    )
    lines = around.count("\n") + len(rows)
    size = len(around.encode("utf-8")) + sum([row.size for row in rows])
    return lines <= max_lines and size <= max_bytes


def _render(rows: list[_Line], left_out: int) -> bytes:
    parts = [HEADER]
    ordered = sorted(rows)
    for rank in _ranks(rows):
        parts.append(_heading(rank))
        parts += [row.text for row in ordered if row.order[0] == rank]
    parts.append(_footer(len(rows), left_out))
    return "".join(parts).encode("utf-8")


def _ranks(rows: list[_Line]) -> list[int]:
    return sorted({row.order[0] for row in rows})


def _heading(rank: int) -> str:
    return f"\n## {RECORD_TYPES[rank]}\n\n"


def _footer(shown: int, left_out: int) -> str:
    if left_out:
        verb = "record is" if left_out == 1 else "records are"
        return f"\n{left_out} more {verb} not shown here; `gitmem list` shows all.\n"
    return "" if shown else EMPTY_NOTE
