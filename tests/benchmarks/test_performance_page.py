"""docs/performance.md says what the last benchmark run found, and nothing else."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
RESULTS = ROOT / "benchmarks" / "results.json"


@pytest.fixture(scope="module")
def report() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "benchmark_report", ROOT / "benchmarks" / "report.py"
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return found


def test_the_page_is_what_the_figures_give(report: ModuleType, results: dict[str, Any]) -> None:
    assert PAGE.read_text(encoding="utf-8") == report.page(results)
    assert "matplotlib" not in sys.modules


def test_another_figure_gives_another_page(report: ModuleType, results: dict[str, Any]) -> None:
    for part in (part for part in results.values() if part["ratios"]):
        name = next(iter(part["ratios"]))
        part["ratios"][name]["passed"] += 1
        assert PAGE.read_text(encoding="utf-8") != report.page(results)
        part["ratios"][name]["passed"] -= 1


def test_no_place_of_the_page_is_left_without_its_figures() -> None:
    assert not re.findall(r"\{\w+: \w+\}", PAGE.read_text(encoding="utf-8"))
    assert PAGE.with_suffix(".svg").read_text(encoding="utf-8").startswith("<?xml")


def test_every_part_says_the_machine_the_time_and_the_command(results: dict[str, Any]) -> None:
    assert set(results) == {"merge", "snapshot", "history", "growth", "commands"}
    for name, part in results.items():
        assert part["command"].startswith(f"make bench PARTS={name}")
        assert part["seconds"] > 0
        assert {"processors", "python", "git", "load"} <= part["machine"].keys()


def test_the_page_says_of_a_broken_limit_that_it_is_broken(
    report: ModuleType, results: dict[str, Any]
) -> None:
    kept = next(row for row in report.rows({"merge": results["merge"]}) if row.limit is not None)
    ratio = results["merge"]["ratios"][kept.name]
    ratio[kept.by] = kept.limit
    assert "(broken)" not in report.ratios({"ratios": {kept.name: ratio}})
    ratio[kept.by] = kept.limit + 0.01
    assert f"{kept.limit:g} (broken) |" in report.ratios({"ratios": {kept.name: ratio}})


def test_a_merge_is_measured_from_a_hundred_to_a_hundred_thousand_records(
    results: dict[str, Any],
) -> None:
    assert results["merge"]["sizes"] == [100, 1_000, 10_000, 100_000]
