"""MEMORY.md: the view that an agent reads first. Derived, rebuilt by every merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.text import escape_markdown

HEADER = "# Memory\n"
EMPTY_NOTE = "\nNothing is remembered yet.\n"


@dataclass(frozen=True, slots=True)
class ViewRow:
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
    rows = sorted([*current, *superseded], key=view_order)
    if len(rows) == total:
        whole = _render(rows, 0)
        if _fits(whole, max_lines, max_bytes):
            return whole
    kept = _longest_prefix([], sorted(current, key=view_order), total, max_lines, max_bytes)
    if len(kept) == len(current):
        kept = _longest_prefix(
            kept, sorted(superseded, key=view_order), total, max_lines, max_bytes
        )
    return _render(kept, total - len(kept))


def _longest_prefix(
    kept: list[ViewRow], more: list[ViewRow], total: int, max_lines: int, max_bytes: int
) -> list[ViewRow]:
    low, high = 0, len(more)
    while low < high:
        middle = (low + high + 1) // 2
        count = len(kept) + middle
        text = _render([*kept, *more[:middle]], total - count)
        low, high = (middle, high) if _fits(text, max_lines, max_bytes) else (low, middle - 1)
    return [*kept, *more[:low]]


def _fits(text: bytes, max_lines: int, max_bytes: int) -> bool:
    return text.count(b"\n") <= max_lines and len(text) <= max_bytes


def _render(rows: list[ViewRow], left_out: int) -> bytes:
    lines = [HEADER]
    for record_type in RECORD_TYPES:
        group = [row for row in rows if row.type == record_type]
        if group:
            lines.append(f"\n## {record_type}\n\n")
            lines += [_line(row) for row in sorted(group, key=view_order)]
    if not rows and not left_out:
        lines.append(EMPTY_NOTE)
    if left_out:
        verb = "record is" if left_out == 1 else "records are"
        lines.append(f"\n{left_out} more {verb} not shown here; `gitmem list` shows all.\n")
    return "".join(lines).encode("utf-8")


def _line(row: ViewRow) -> str:
    return f"- [{row.name}]({row.path}) — {escape_markdown(row.description)}\n"
