"""Runs gitmem with something going wrong at one effect on disk. Linux, with a C compiler."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.harness import ADA, ROOT
from tests.faults.shared import Mode, Point, Shared

SOURCE = Path(__file__).with_name("shim.c")


@dataclass(frozen=True)
class Ended:
    """How a run ended. ``at`` is the point where it went wrong, None where none was reached."""

    code: int
    out: str
    err: str
    points: list[Point]
    at: Point | None


class Machine:
    """One server, and the file that its runs share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        library = folder / "shim.so"
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True
        )
        self.shared = Shared(folder / "state")
        git = shutil.which("git")
        assert git
        wrapper = folder / "bin" / "git"
        wrapper.parent.mkdir()
        set_for_git = f"LD_PRELOAD='{library}' FAULTS_STATE='{folder / 'state'}'"
        wrapper.write_text(f'#!/bin/sh\n{set_for_git} exec {git} "$@"\n')
        wrapper.chmod(0o755)
        (folder / "home").mkdir()
        self.environment = {
            "HOME": str(folder / "home"),
            "PATH": f"{wrapper.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHONHASHSEED": "0",
            "GITMEM_USER": ADA,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "LC_ALL": "C.UTF-8",
        }
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={
                **self.environment,
                "LD_PRELOAD": str(library),
                "FAULTS_STATE": str(folder / "state"),
            },
            cwd=folder,
            text=True,
        )
        assert self._line() == "ready"

    def close(self) -> None:
        """End the server."""
        assert self._server.stdin and self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def run(self, below: Path, argv: list[str], mode: Mode = Mode.OFF, target: int = -1) -> Ended:
        """Run ``gitmem ARGV``; what is below the folder ``below`` counts."""
        return self.tell({"argv": argv}, below, mode, target)

    def tell(
        self, what: dict[str, Any], below: Path, mode: Mode = Mode.OFF, target: int = -1
    ) -> Ended:
        out, err = self.folder / "out", self.folder / "err"
        files = {"out": str(out), "err": str(err)}
        self._say({**what, **files, "below": str(below), "mode": mode, "target": target})
        code = int(self._line())
        points = self.shared.points()
        return Ended(
            code,
            out.read_text("utf-8"),
            err.read_text("utf-8"),
            points,
            points[target] if self.shared.fired else None,
        )

    def settle(self) -> None:
        """Wait for git processes that outlived gitmem."""
        self._say({"settle": True})
        self._line()

    def _say(self, what: dict[str, Any]) -> None:
        assert self._server.stdin
        self._server.stdin.write(json.dumps(what) + "\n")
        self._server.stdin.flush()

    def _line(self) -> str:
        assert self._server.stdout
        line = self._server.stdout.readline()
        assert line, "the server has ended"
        return line.strip()
