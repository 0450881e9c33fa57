"""Speed as ratios of one run on one machine.

    python benchmarks/run.py [merge] [snapshot] [history] [growth] [commands] [--sizes 100 1000 ...]

Each part is one run: what it compares was done in turn, so that a busy machine slows both sides.
The figures go into ``benchmarks/results.json`` (parts that were not asked for stay as they are),
and from there, by ``report.py``, into ``docs/performance.md``. The exit status is 1 where a limit
is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commands
import history
import merging
import report
import snapshot

RESULTS = Path(__file__).with_name("results.json")
SIZES = [100, 1_000, 10_000]
MERGES = 1_000


def machine() -> dict[str, Any]:
    """What the figures depend on, and how busy it was."""
    version = subprocess.run(["git", "version"], capture_output=True, text=True, check=True)
    return {
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "git": version.stdout.strip().removeprefix("git version "),
        "sqlite": sqlite3.sqlite_version,
        "load": round(os.getloadavg()[0], 1),
    }


def parts(options: argparse.Namespace, folder: Path) -> dict[str, Callable[[], dict[str, Any]]]:
    """What can be measured, by name."""
    sizes, rounds = options.sizes, options.rounds
    looked_at = [size for size in sizes if size <= 10_000] or sizes[:1]
    return {
        "merge": lambda: merging.measure(folder, sizes, rounds),
        "snapshot": lambda: snapshot.measure(folder, looked_at, min(rounds, 7)),
        "history": lambda: history.verify(folder, options.merges),
        "growth": lambda: history.growth(folder, options.merges),
        "commands": lambda: commands.measure(folder, min(1_000, sizes[-1]), rounds),
    }


def main() -> int:
    """Measure, keep, print; 1 when a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="by default all of them")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="records in a store")
    parser.add_argument("--merges", type=int, default=MERGES, help="merges of the long history")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--folder", type=Path, help="where stores are made, and found again")
    options = parser.parse_args()
    results = json.loads(options.json.read_text()) if options.json.exists() else {}
    with tempfile.TemporaryDirectory() as temporary:
        known = parts(options, options.folder or Path(temporary))
        if unknown := set(options.parts) - known.keys():
            parser.error(f"there is no part {min(unknown)}; there are {', '.join(known)}")
        for name in options.parts or known:
            before, start = machine(), time.monotonic()
            found = known[name]()
            found["machine"] = before
            found["seconds"] = round(time.monotonic() - start)
            found["command"] = _command(name, options)
            results[name] = found
            options.json.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
    return _tell({name: results[name] for name in options.parts or known})


def _command(name: str, options: argparse.Namespace) -> str:
    words = f"make bench PARTS={name}"
    if name in ("history", "growth") and options.merges != MERGES:
        words += f" MERGES={options.merges}"
    if name in ("merge", "snapshot") and options.sizes != SIZES:
        words += f' SIZES="{" ".join(map(str, options.sizes))}"'
    return words


def _tell(results: dict[str, Any]) -> int:
    broken = 0
    for row in report.rows(results):
        verdict = "" if row.is_kept else "  BROKEN"
        limit = "" if row.limit is None else f"limit {row.limit:g}"
        print(f"{row.name:68} {row.passed:8.2f} {row.worked:8.2f}{row.unit:3} {limit}{verdict}")
        broken += not row.is_kept
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
