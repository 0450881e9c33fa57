"""A stage for a demonstration: runs commands, shows them, and counts what is missing."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitmem import MemoryStore
from gitmem.config import AGENT_VARIABLES

STORE = ".memory"
ADA = "Ada Lovelace <ada@example.org>"
#: The settings of the models, in the folder of the demonstration.
CONFIG = "config.yaml"


class Failed(Exception):
    """A step ended with another exit code than it should."""


class Demo:
    """Runs commands in one folder, prints them and their output, and counts what is missing."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self.missing = 0
        self._steps = 0
        self._bold = sys.stdout.isatty() and not environ.get("NO_COLOR")
        # A demonstration decides in the name of a person that it made up. In an agent's own
        # session gitmem refuses such decisions, and these variables tell it that it is in one.
        kept = {k: v for k, v in environ.items() if k not in AGENT_VARIABLES}
        self._environ = {
            **{k: v for k, v in kept.items() if not k.startswith(("GIT_", "GITMEM_", "OPENAI_"))},
            # Nor do the person's models and keys belong here.
            "GITMEM_CONFIG": str(folder / CONFIG),
            # The person's own git settings (colours, pagers, external diffs) would change the
            # output from machine to machine.
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PAGER": "cat",
            "PYTHONUTF8": "1",
            "COLUMNS": "100",
        }

    def step(self, title: str, text: str) -> None:
        """Print the heading of a step."""
        self._steps += 1
        line = f"{self._steps}. {title}"
        print(f"\n\033[1m{line}\033[0m" if self._bold else f"\n{line}")
        print("-" * len(line))
        print(text)

    def set(self, **variables: str) -> None:
        """Set variables for every later command."""
        self._environ |= variables

    def gitmem(self, *args: str, last: int | None = None) -> str:
        """Run the command and show it; return what it printed on standard output.

        ``last``: show only so many lines, since what stands above them was shown before.
        """
        return self._shown("gitmem", self._gitmem(args), args, last)

    def git(self, *args: str) -> str:
        """Run git in the store and show it; return what it printed on standard output."""
        shown = ("-C", STORE, *args)
        return self._shown("git", ["git", *shown], shown, None)

    def show(self, name: str) -> None:
        """Show a file of the demonstration."""
        print(f"\n$ cat {name}")
        print((self.folder / name).read_text(encoding="utf-8").rstrip())

    def program(self, file: str, typed: Sequence[str]) -> str:
        """Run a Python program and show it, with lines that somebody types; return its output."""
        lines = "".join(f"{line}\n" for line in typed)
        said = " ".join(shlex.quote(line) for line in typed)
        print(f"\n$ printf '%s\\n' {said} | python {file}", flush=True)
        return self._told(self._run([sys.executable, file], lines), None)

    def look(self, what: str, *args: str) -> Any:
        """Call a method of the memory, showing nothing; return what ``--json`` would print."""
        with MemoryStore.open(self.folder / STORE) as memory:
            found = getattr(memory, what)(*args)
            if isinstance(found, list):
                return [one.to_json() for one in found]
            return found.to_json()

    def waiting(self) -> dict[str, Any]:
        """Return the one proposal that is open."""
        found = self.look("proposals")
        if len(found) != 1:
            raise Failed(f"one proposal should be open here, not {len(found)}")
        return dict(found[0])

    def quietly(self, *args: str) -> bytes:
        """Run git in the store, showing nothing; return the bytes it printed."""
        command = ["git", "-C", str(self.folder / STORE), *args]
        return subprocess.run(
            command, cwd=self.folder, env=self._environ, capture_output=True, check=True
        ).stdout

    def expect(self, true: bool, sentence: str) -> None:
        """Check one fact and say how it stands."""
        print(f"  {'ok     ' if true else 'MISSING'} {sentence}")
        self.missing += not true

    @staticmethod
    def _gitmem(args: Sequence[str]) -> list[str]:
        return [sys.executable, "-m", "gitmem", *args]

    def _shown(
        self, name: str, command: Sequence[str], args: Sequence[str], last: int | None
    ) -> str:
        print(f"\n$ {name} {' '.join(map(shlex.quote, args))}", flush=True)
        return self._told(self._run(command), last)

    @staticmethod
    def _told(done: subprocess.CompletedProcess[str], last: int | None) -> str:
        lines = done.stdout.rstrip().splitlines()
        if last is not None and len(lines) > last:
            lines = ["[...]", *lines[-last:]]
        print("\n".join(lines))
        if done.stderr.strip():
            print(done.stderr.rstrip())
        return done.stdout

    def _run(
        self, command: Sequence[str], typed: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL if typed is None else None,
            input=typed,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise Failed(
                f"exit code {done.returncode} of {shlex.join(command)}\n{done.stdout}{done.stderr}"
            )
        return done
