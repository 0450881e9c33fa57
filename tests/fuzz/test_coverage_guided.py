"""The long form of the fuzzing of readers, led by what it reaches; where atheris is installed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Effort

ROOT = Path(__file__).parents[2]


def test_inputs_that_reach_new_code_reach_no_bug(effort: Effort, tmp_path: Path) -> None:
    if not effort.soak:
        pytest.skip("part of the long form only")
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris is not installed; pip install atheris")
    command = [sys.executable, "-m", "tests.fuzz.coverage_guided", str(tmp_path)]
    limits = ["-runs=1000000", "-max_len=8192", "-timeout=60", "-rss_limit_mb=4096"]
    done = subprocess.run(
        [*command, *limits, f"-seed={effort.seed}", f"-artifact_prefix={tmp_path}/found-"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    found = {path.name: path.read_bytes()[:2000] for path in tmp_path.glob("found-*")}
    assert done.returncode == 0 and not found, (found, done.stderr.decode()[-4000:])
