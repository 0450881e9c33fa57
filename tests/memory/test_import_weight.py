"""A program that reads memory loads what reading needs, and nothing more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import MemoryStore
from tests.memory.words import ADA

ROOT = Path(__file__).parents[2]
HEAVY = {"click", "detect_secrets", "filelock", "git", "openai", "pydantic", "pypinyin", "yaml"}


def loaded_by(code: str, *args: str) -> set[str]:
    """The packages that a fresh Python has loaded after ``code``."""
    tail = "\nimport json, sys; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + tail, *args],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    modules = json.loads(done.stdout.splitlines()[-1])
    assert "gitmem.memory.reading" in modules
    return {module.partition(".")[0] for module in modules}


@pytest.fixture
def tabs(memory: MemoryStore) -> MemoryStore:
    memory.remember("用制表符缩进，not spaces.", name="use-tabs", type="feedback", person=ADA)
    return memory


def test_importing_the_store_loads_nothing_heavy() -> None:
    assert loaded_by("from gitmem import MemoryStore") & HEAVY == set()


def test_reading_what_is_up_to_date_loads_nothing_heavy(tabs: MemoryStore) -> None:
    code = (
        "import sys; from gitmem import MemoryStore\n"
        "with MemoryStore.open(sys.argv[1]) as memory:\n"
        "    assert [line.name for line in memory.list()] == ['use-tabs']\n"
        "    assert memory.show('use-tabs').evidence[0].cls == 'human'\n"
        "    assert memory.search('制表符')[0].name == 'use-tabs'\n"
    )
    assert loaded_by(code, str(tabs.path)) & HEAVY == set()


def test_a_command_that_looks_at_no_text_compiles_no_patterns_of_secrets() -> None:
    code = (
        "import sys, gitmem.memory.reading, gitmem.store\n"
        "from gitmem.redaction import find_secrets\n"
        "patterns = {'gitmem.redaction.' + m for m in ('keys', 'plugins', 'sayings', 'values')}\n"
        "assert not patterns & set(sys.modules)\n"
        "assert find_secrets('密码是 hunter2') and patterns <= set(sys.modules)\n"
    )
    assert "detect_secrets" not in loaded_by(code)


def test_the_measure_sees_what_is_heavy(tabs: MemoryStore) -> None:
    code = (
        "import sys; from gitmem import MemoryStore\n"
        "with MemoryStore.open(sys.argv[1]) as memory: memory.status()\n"
    )
    assert {"pydantic", "yaml", "filelock"} <= loaded_by(code, str(tabs.path))
