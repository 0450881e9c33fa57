"""The main job, from a conversation to reviewed memory, shown step by step.

Every step runs the installed command and, beside it, the git command that a person would use; what
is printed is what they printed. The last section checks what must be true now. Ends with 1 when
a step failed or something expected is missing.

Everything happens in a new folder for temporary files. It is kept, and named at the end, unless
``--clean`` is given. No network, no model, no git identity, no terminal needed.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitmem.config import AGENT_VARIABLES

HERE = Path(__file__).resolve().parent
INPUTS = ("conversation.jsonl", "correction.jsonl", "change-set.json")
STORE = ".memory"
ADA = "Ada Lovelace <ada@example.org>"
REASON = "true for this week only"

# What the conversation holds and a memory must not: a secret that was typed into it, and a
# preference that the output of a tool tries to plant.
SECRET = "hunter2-Autumn"
PLANTED = "dark mode"


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
            **{k: v for k, v in kept.items() if not k.startswith(("GIT_", "GITMEM_"))},
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

    def json(self, *args: str) -> Any:
        """Run the command with ``--json``, showing nothing; return the document."""
        return json.loads(self._run([*self._gitmem(args), "--json"]).stdout)

    def waiting(self) -> dict[str, Any]:
        """Return the one proposal that is open."""
        found = self.json("proposals")
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
        done = self._run(command)
        lines = done.stdout.rstrip().splitlines()
        if last is not None and len(lines) > last:
            lines = ["[...]", *lines[-last:]]
        print("\n".join(lines))
        if done.stderr.strip():
            print(done.stderr.rstrip())
        return done.stdout

    def _run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self._environ,
            stdin=subprocess.DEVNULL,
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


def tour(demo: Demo) -> None:
    """Go through the main job."""
    begin(demo)
    proposal = propose(demo)
    review(demo, proposal)
    approve(demo, proposal)
    ask(demo)
    correct(demo)
    reject(demo)
    verify(demo)


def begin(demo: Demo) -> None:
    demo.step("A new memory", "A memory is a git repository whose main is a ledger.")
    demo.gitmem("init")
    demo.git("log", "--oneline", "--stat", "main")


def propose(demo: Demo) -> str:
    demo.step(
        "A conversation goes in",
        "Rules read what the person wrote, in English and Chinese, and nothing else: no tool\n"
        "output, no assistant. What is worth keeping becomes a proposal, a branch. Nothing is\n"
        "remembered yet.",
    )
    demo.gitmem("extract", "conversation.jsonl")
    demo.git("branch", "--list")
    demo.gitmem("proposals")
    proposal = demo.waiting()
    demo.expect(proposal["state"] == "waiting", "the proposal waits for a person")
    texts = " ".join(record["description"] for record in proposal["records"])
    wanted = ("tabs over spaces", "迁移必须先备份", "Postgres 16", "docs/api.md", "push directly")
    kept = all(words in texts for words in wanted)
    demo.expect(kept, "what the person wants kept is proposed")
    passing = ("transaction", "SQLite", "integration tests", "Vault", "英文写注释", "Postgres 15")
    demo.expect(not any(words in texts for words in passing), "what was said in passing is not")
    demo.expect(demo.json("list") == [], "nothing is remembered before somebody approves it")
    return str(proposal["id"])


def review(demo: Demo, proposal: str) -> None:
    demo.step(
        "A person reads it",
        "Each record stands beside the verbatim quotes that it rests on. It is an ordinary\n"
        "branch, so plain git shows the same.",
    )
    demo.gitmem("diff", proposal)
    shown = demo.json("diff", proposal)["diff"]
    record = next(record for record in shown if "tabs" in record["name"])
    demo.git("log", "--format=%h %an: %<(64,trunc)%s", f"main..proposals/{proposal}")
    quotes = f":(glob)evidence/*/{record['name']}/*"
    demo.git("diff", f"main...proposals/{proposal}", "--", record["path"], quotes)
    demo.expect(all(record["quotes"] for record in shown), "every record has a quote")


def approve(demo: Demo, proposal: str) -> None:
    demo.step(
        "A person approves it",
        "One compare-and-swap moves main. The merge holds nothing that depends on this machine:\n"
        "anyone can compute it again from its parents.",
    )
    demo.gitmem("approve", proposal, "--yes", "--as", ADA, last=2)
    demo.git("log", "--first-parent", "main")
    demo.git("log", "--graph", "--format=%h %an: %<(64,trunc)%s", "main")
    demo.git("show", "main:MEMORY.md")
    view = demo.quietly("show", "main:MEMORY.md").decode("utf-8")
    names = [record["name"] for record in demo.json("list")]
    demo.expect(len(names) == 5 and all(f"[{n}]" in view for n in names), "MEMORY.md has all five")


def ask(demo: Demo) -> None:
    demo.step("Ask it", "Search finds English and Chinese; `why` tells where a belief comes from.")
    demo.gitmem("search", "tabs or spaces?")
    found = demo.json("search", "tabs or spaces?")
    demo.expect(bool(found) and "tabs" in found[0]["description"], "the tabs come first")
    demo.gitmem("search", "迁移之前要做什么？")
    found = demo.json("search", "迁移之前要做什么？")
    demo.expect(bool(found) and "备份" in found[0]["description"], "the backup comes first")
    demo.gitmem("why", found[0]["name"])
    demo.git(
        "log", "--format=%h %an: %<(64,trunc)%s", "--", f":(glob)records/**/{found[0]['name']}.md"
    )


def correct(demo: Demo) -> None:
    demo.step("The same conversation again", "What was read once is not proposed twice.")
    demo.gitmem("extract", "conversation.jsonl")
    demo.expect(demo.json("proposals") == [], "the same file again proposes nothing")

    demo.step(
        "Something has changed",
        "A later conversation corrects a record. The proposal revises it, under the same name.",
    )
    demo.show("correction.jsonl")
    demo.gitmem("extract", "correction.jsonl")
    proposal = demo.waiting()
    (record, *others) = proposal["records"]
    revised = record["change"] == "revised" and "17" in record["description"]
    demo.expect(revised and not others, "the correction is a revision of one record")
    demo.gitmem("diff", proposal["id"])
    demo.gitmem("approve", proposal["id"], "--yes", "--as", ADA, last=2)
    demo.gitmem("log", record["name"])
    demo.expect(len(demo.json("log", record["name"])) == 2, "the record has two merges behind it")


def reject(demo: Demo) -> None:
    demo.step(
        "A person says no",
        "Programs propose as well, in JSON. What a person rejects leaves a tombstone with the\n"
        "reason, and does not come back by itself.",
    )
    demo.gitmem("propose", "change-set.json")
    proposal = demo.waiting()["id"]
    demo.gitmem("reject", proposal, "--reason", REASON, "--yes", "--as", ADA, last=2)
    demo.git("log", "-1", "--stat", "--format=%h %s%n%n%b", "main")
    again = demo.gitmem("propose", "change-set.json")
    gone = demo.json("proposals") == [] and REASON in again
    demo.expect(gone, "what was rejected is not proposed again, and the reason is given")


def verify(demo: Demo) -> None:
    demo.step("Check it", "Every commit of main is computed again from its parents.")
    demo.gitmem("fsck")
    demo.gitmem("status")
    report = demo.json("fsck")
    demo.expect(report["ok"] and report["commits"] == 4, "all four commits verify")

    print("\nWhat must not be there:")
    told = (demo.folder / "conversation.jsonl").read_text(encoding="utf-8")
    demo.expect(SECRET in told and PLANTED in told, "the conversation holds a secret and a trap")
    objects = demo.quietly("cat-file", "--batch-all-objects", "--batch", "--unordered")
    demo.expect(b"Begin a memory" in objects, "every git object of the store was read")
    demo.expect(SECRET.encode() not in objects, "the secret is in no git object")
    files = [path for path in (demo.folder / STORE).rglob("*") if path.is_file()]
    sessions = [path for path in files if path.parent.name == "sessions"]
    leaks = [path for path in files if SECRET.encode() in path.read_bytes()]
    demo.expect(bool(sessions) and not leaks, "nor in any file, the kept sessions included")
    demo.expect(PLANTED.encode() not in objects, "what a tool's output planted is in no git object")
    shown = [json.dumps(demo.json("show", r["name"])) for r in demo.json("list")]
    said_by = {quote["class"] for text in shown for quote in json.loads(text)["evidence"]}
    demo.expect(said_by == {"human"}, "everything remembered rests on a person's own words")


def main() -> int:
    """Run the demonstration; return the exit code."""
    parser = argparse.ArgumentParser(description="Show the main job of gitmem, step by step.")
    parser.add_argument("--clean", action="store_true", help="remove the folder at the end")
    clean = parser.parse_args().clean
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    folder = Path(tempfile.mkdtemp(prefix="gitmem-demo-"))
    try:
        return run(folder, kept=not clean)
    finally:
        if clean:
            shutil.rmtree(folder)


def run(folder: Path, *, kept: bool) -> int:
    """Run the tour in ``folder``, say how it ended, and return the exit code."""
    for name in INPUTS:
        shutil.copy(HERE / name, folder)
    demo = Demo(folder, os.environ)
    print(f"In {folder}")
    try:
        tour(demo)
    except Failed as failure:
        print(f"\nFAILED: {failure}")
        return 1
    if demo.missing:
        print(f"\n{demo.missing} of the things above are not as they should be.")
        return 1
    print("\nEverything is as it should be." + (f" Look around: {folder}" if kept else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
