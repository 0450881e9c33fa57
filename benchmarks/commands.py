"""Fresh processes: list, show and search, against Python's start and one git's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from clock import Rounds, Spent, spent
from stores import build

LIMIT = 5.0
FLOOR = "python -c pass and git rev-parse"


def measure(folder: Path, size: int, rounds: int) -> dict[str, object]:
    """Time commands in a store of ``size`` records with its files checked out."""
    path = folder / f"store-{size}-files"
    if not path.exists():
        build(path, size, files=True).close()
    gitmem = [sys.executable, "-m", "gitmem", "--store", str(path)]
    commands = {
        "list": [*gitmem, "list"],
        "show": [*gitmem, "show", f"module-{size // 2}"],
        "search": [*gitmem, "search", "数据库 migration setting"],
    }
    times = Rounds()
    for _ in range(rounds):
        for name, command in commands.items():
            times.note(f"{name} at {size:,} records", _run(command))
        start = _run([sys.executable, "-c", "pass"])
        times.note("python -c pass", start)
        git = _run(["git", "-C", str(path), "rev-parse", "HEAD"])
        times.note(FLOOR, Spent(start.passed + git.passed, start.worked + git.worked))
    ratios = {
        f"{name} at {size:,} records / python + git": times.ratio(
            f"{name} at {size:,} records", FLOOR, LIMIT, "worked"
        )
        for name in commands
    }
    return {"milliseconds": times.figures(), "ratios": ratios, "sizes": [size]}


def _run(command: list[str]) -> Spent:
    return spent(lambda: subprocess.run(command, check=True, capture_output=True))
