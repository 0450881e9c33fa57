"""What reading never pays for: the libraries that only writing needs.

Every check runs in a fresh Python, since this one has loaded nearly everything already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

HEAVY = {
    "detect_secrets",
    "filelock",
    "git",
    "openai",
    "pydantic",
    "pypinyin",
    "requests",
    "rich",
    "yaml",
}

LIGHT_MODULES = [
    "gitmem",
    "gitmem.__main__",
    "gitmem.cache",
    "gitmem.cli",
    "gitmem.domain",
    "gitmem.domain.layout",
    "gitmem.domain.objects",
    "gitmem.domain.text",
    "gitmem.errors",
    "gitmem.ranking",
]


def python(*args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "GITMEM_USER": "Ada <ada@example.org>"}
    return subprocess.run(
        [sys.executable, *args],
        env=env,
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=True,
    )


def loaded(importtime: str) -> set[str]:
    """The top-level packages in what ``python -X importtime`` wrote."""
    lines = [line for line in importtime.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_a_module_on_the_read_path_is_light(module: str) -> None:
    code = f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"
    modules = set(json.loads(python("-c", code).stdout))
    assert module in modules
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()


def test_importing_gitmem_loads_no_other_part_of_it() -> None:
    code = "import json, sys, gitmem; print(json.dumps(sorted(sys.modules)))"
    modules = json.loads(python("-c", code).stdout)
    assert [name for name in modules if name.startswith("gitmem")] == ["gitmem"]


@pytest.mark.parametrize(
    "command",
    [
        ["list", "--json"],
        ["search", "tabs", "--json"],
        ["show", "use-tabs", "--json"],
        ["--help"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_that_reads_is_light(command: list[str]) -> None:
    python("-m", "gitmem", "init")
    remember = ["remember", "Use tabs, not spaces.", "--name", "use-tabs", "--yes"]
    python("-m", "gitmem", *remember)
    # The first reading may still have to bring the projection up to date.
    python("-m", "gitmem", *command)
    done = python("-X", "importtime", "-m", "gitmem", *command)
    assert "tabs" in done.stdout or command == ["--help"]
    assert "gitmem" in loaded(done.stderr)
    assert loaded(done.stderr) & HEAVY == set()


def test_the_measure_sees_a_heavy_import() -> None:
    assert loaded(python("-X", "importtime", "-c", "import yaml").stderr) & HEAVY == {"yaml"}
