"""MEMORY.md: the view that an agent reads first. Derived, rebuilt by every merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.text import escape_markdown

HEADER = "# Memory\n"
EMPTY_NOTE = "\nNothing is remembered yet.\n"


class ViewRow(NamedTuple):
    """What the view shows of one record."""

    name: str
    type: str
    description: str
    path: str


def view_order(row: ViewRow) -> tuple[int, str]:
    """Sort by type (user, feedback, project, reference), then by name."""
    return RECORD_TYPES.index(row.type), row.name


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
    shown = sorted([*current, *superseded], key=view_order)
    if len(shown) == total:
        whole = _render([_Line.of(row) for row in shown], 0)
        if _fits(whole, max_lines, max_bytes):
            return whole
    lines = [_Line.of(row) for row in sorted(current, key=view_order)]
    kept = _longest_prefix([], lines, total, max_lines, max_bytes)
    if len(kept) == len(lines):
        more = [_Line.of(row) for row in sorted(superseded, key=view_order)]
        kept = _longest_prefix(kept, more, total, max_lines, max_bytes)
    return _render(kept, total - len(kept))


class _Line(NamedTuple):
    """A row as it is shown, escaped once."""

    order: tuple[int, str]
    type: str
    text: str

    @classmethod
    def of(cls, row: ViewRow) -> _Line:
        text = f"- [{row.name}]({row.path}) — {escape_markdown(row.description)}\n"
        return cls(view_order(row), row.type, text)


def _longest_prefix(
    kept: list[_Line], more: list[_Line], total: int, max_lines: int, max_bytes: int
) -> list[_Line]:
    low, high = 0, len(more)
    while low < high:
        middle = (low + high + 1) // 2
        count = len(kept) + middle
        text = _render([*kept, *more[:middle]], total - count)
        low, high = (middle, high) if _fits(text, max_lines, max_bytes) else (low, middle - 1)
    return [*kept, *more[:low]]


def _fits(text: bytes, max_lines: int, max_bytes: int) -> bool:
    return text.count(b"\n") <= max_lines and len(text) <= max_bytes


def _render(rows: list[_Line], left_out: int) -> bytes:
    parts = [HEADER]
    for record_type in RECORD_TYPES:
        group = [row for row in rows if row.type == record_type]
        if group:
            parts.append(f"\n## {record_type}\n\n")
            parts += [row.text for row in sorted(group, key=lambda row: row.order)]
    if not rows and not left_out:
        parts.append(EMPTY_NOTE)
    if left_out:
        verb = "record is" if left_out == 1 else "records are"
        parts.append(f"\n{left_out} more {verb} not shown here; `gitmem list` shows all.\n")
    return "".join(parts).encode("utf-8")
