"""The sizes that keep the code readable, measured on the syntax tree."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "gitmem"
SOURCES = sorted(PACKAGE.rglob("*.py"))

FUNCTION_LINES = 60
FUNCTION_LINES_P90 = 30
FILE_LINES = 400
BROAD_EXCEPTS = 2
VAGUE_NAMES = {"helper", "helpers", "manager", "managers", "misc", "util", "utils"}


def functions(source: str) -> list[tuple[str, int, int]]:
    """Name, first line and length of every function; decorators do not count."""
    return [
        (node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def broad_excepts(source: str) -> list[int]:
    """Lines of the handlers that catch everything."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
        names = {c.id for c in caught if isinstance(c, ast.Name)}
        if node.type is None or names & {"Exception", "BaseException"}:
            lines.append(node.lineno)
    return lines


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_there_is_code_to_measure() -> None:
    assert len(SOURCES) > 5


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_files_and_functions_are_short(path: Path) -> None:
    assert len(text(path).splitlines()) <= FILE_LINES
    too_long = [f for f in functions(text(path)) if f[2] > FUNCTION_LINES]
    assert too_long == [], "name, line, length"


def test_nine_functions_in_ten_fit_on_a_screen() -> None:
    lengths = sorted(length for path in SOURCES for _, _, length in functions(text(path)))
    assert lengths[int(len(lengths) * 0.9)] <= FUNCTION_LINES_P90


def test_errors_are_caught_by_name() -> None:
    found = [f"{path.name}:{line}" for path in SOURCES for line in broad_excepts(text(path))]
    assert len(found) <= BROAD_EXCEPTS, found


def test_modules_are_named_after_what_they_hold() -> None:
    vague = [p for p in SOURCES if VAGUE_NAMES & set(p.stem.strip("_").split("_"))]
    assert vague == []


def test_every_module_says_what_it_owns() -> None:
    silent = [
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        if text(path).strip() and not ast.get_docstring(ast.parse(text(path)))
    ]
    assert silent == []


def test_the_measures_see_what_they_measure() -> None:
    source = "@wrap\nasync def f():\n  try:\n    g()\n  except (OSError, Exception):\n    h()\n"
    assert functions(source) == [("f", 2, 5)]
    assert broad_excepts(source) == [5]
    assert broad_excepts("try:\n    pass\nexcept:\n    pass\n") == [3]
    assert broad_excepts("try:\n    pass\nexcept OSError:\n    pass\n") == []
