"""The domain is a function of its arguments.

The import contracts keep modules of the operating system out of it. What is left of I/O and
clocks needs no import of its own, so it is looked for by name here.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

DOMAIN = Path(__file__).parents[2] / "gitmem" / "domain"
SOURCES = sorted(DOMAIN.rglob("*.py"))

BUILTINS = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}
METHODS = {"now", "today", "utcnow", "read_text", "read_bytes", "write_text", "write_bytes"}


def impure_calls(source: str) -> list[tuple[int, str]]:
    """Line and name of each call that reads the world or changes it."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in BUILTINS:
            found.append((node.lineno, node.func.id))
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            found.append((node.lineno, node.func.attr))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.name)
def test_the_domain_reads_no_file_and_no_clock(path: Path) -> None:
    assert impure_calls(path.read_text(encoding="utf-8")) == []


def test_an_impure_call_would_be_seen() -> None:
    source = "import datetime\nopen('x')\ndatetime.datetime.now()\nre.compile('x')\n"
    assert impure_calls(source) == [(2, "open"), (3, "now")]


def test_there_is_a_domain() -> None:
    assert SOURCES
