"""No input that is made for it takes more time or memory than its length allows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.conftest import Effort

pytest.importorskip("resource", reason="limits of a process are there on POSIX systems only")

from tests.fuzz.explosions import cases

ROOT = Path(__file__).parents[2]


def run(names: Sequence[str]) -> None:
    """Run these cases in a process with limits; name the one that passed them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.explosions"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=json.dumps(names).encode(),
        capture_output=True,
        check=False,
    )
    said = done.stdout.decode().splitlines()
    unfinished = [line.removeprefix("begin ") for line in said if line.startswith("begin ")][-1:]
    assert done.returncode == 0, (unfinished, done.returncode, done.stderr.decode()[-3000:])
    assert said[-1] == f"end {names[-1]}"


#: Cases that took for ever once.
ONCE = (
    "short model: ':1111'",
    "tree: '1'",
    "git's words: 'a'",
    "git's words: 'a://'",
    "error: 'a'",
    "document: deep array",
    "document: alias bomb",
)


def test_nothing_that_is_made_to_explode_does(effort: Effort) -> None:
    every = list(cases())
    if not effort.soak:
        run([*ONCE, *effort.chance("explosions").sample(every, 4)])
        return
    for at in range(0, len(every), 100):
        run(every[at : at + 100])


ENDLESS = {
    "memory": "limits(resource.RLIMIT_AS, (10**9, 10**9)); bytes(2 * 10**9)",
    "time": "limits(resource.RLIMIT_CPU, (1, 2))\nwhile True: pass",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_process_that_passes_a_limit_does_not_end_well(what: str) -> None:
    program = f"import resource; limits = resource.setrlimit\n{ENDLESS[what]}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode != 0
