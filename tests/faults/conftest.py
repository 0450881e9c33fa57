"""What the tests of faults share: the machine that makes them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

import pytest

from tests.faults.machine import Machine
from tests.faults.points import Bench


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A server that makes faults; skipped where there is nothing to make it with."""
    if sys.platform != "linux":
        pytest.skip("faults are made with LD_PRELOAD and /proc, as Linux has them")
    if shutil.which("cc") is None:
        pytest.skip("no C compiler (cc) is here to build what makes the faults")
    made = Machine(tmp_path_factory.mktemp("faults"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def bench(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Copies of one memory, and what each operation does on disk."""
    return Bench(machine, tmp_path_factory.mktemp("bench"))
