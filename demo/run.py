"""The main job, from a conversation to reviewed memory, shown step by step.

Every step runs the installed command and, beside it, the git command that a person would use; what
is printed is what they printed. The last section checks what must be true now. Ends with 1 when
a step failed or something expected is missing.

Everything happens in a new folder for temporary files. It is kept, and named at the end, unless
``--clean`` is given; ``--short`` leaves the loop with models out. No network, no model, no git
identity, no terminal needed: the models of ``loop.py`` are a script.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from loop import models_at_work
from stage import ADA, STORE, Demo, Failed

HERE = Path(__file__).resolve().parent
INPUTS = ("conversation.jsonl", "correction.jsonl", "change-set.json", "meeting.jsonl", "agent.py")
REASON = "true for this week only"

# What the conversation holds and a memory must not: a secret that was typed into it, and a
# preference that the output of a tool tries to plant.
SECRET = "hunter2-Autumn"
PLANTED = "dark mode"


def tour(demo: Demo, *, models: bool) -> None:
    """Go through the main job, and with ``models`` through the loop with them."""
    begin(demo)
    proposal = propose(demo)
    review(demo, proposal)
    approve(demo, proposal)
    ask(demo)
    correct(demo)
    reject(demo)
    if models:
        models_at_work(demo)
    verify(demo, commits=7 if models else 4)


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
    demo.expect(demo.look("list") == [], "nothing is remembered before somebody approves it")
    return str(proposal["id"])


def review(demo: Demo, proposal: str) -> None:
    demo.step(
        "A person reads it",
        "Each record stands beside the verbatim quotes that it rests on. It is an ordinary\n"
        "branch, so plain git shows the same.",
    )
    demo.gitmem("diff", proposal)
    shown = demo.look("diff", proposal)["diff"]
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
    names = [record["name"] for record in demo.look("list")]
    demo.expect(len(names) == 5 and all(f"[{n}]" in view for n in names), "MEMORY.md has all five")


def ask(demo: Demo) -> None:
    demo.step("Ask it", "Search finds English and Chinese; `why` tells where a belief comes from.")
    demo.gitmem("search", "tabs or spaces?")
    found = demo.look("search", "tabs or spaces?")
    demo.expect(bool(found) and "tabs" in found[0]["description"], "the tabs come first")
    demo.gitmem("search", "迁移之前要做什么？")
    found = demo.look("search", "迁移之前要做什么？")
    demo.expect(bool(found) and "备份" in found[0]["description"], "the backup comes first")
    demo.gitmem("why", found[0]["name"])
    demo.git(
        "log", "--format=%h %an: %<(64,trunc)%s", "--", f":(glob)records/**/{found[0]['name']}.md"
    )


def correct(demo: Demo) -> None:
    demo.step("The same conversation again", "What was read once is not proposed twice.")
    demo.gitmem("extract", "conversation.jsonl")
    demo.expect(demo.look("proposals") == [], "the same file again proposes nothing")

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
    demo.expect(len(demo.look("log", record["name"])) == 2, "the record has two merges behind it")


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
    gone = demo.look("proposals") == [] and REASON in again
    demo.expect(gone, "what was rejected is not proposed again, and the reason is given")


def verify(demo: Demo, *, commits: int) -> None:
    demo.step("Check it", "Every commit of main is computed again from its parents.")
    demo.gitmem("fsck")
    demo.gitmem("status")
    report = demo.look("fsck")
    demo.expect(report["ok"] and report["commits"] == commits, f"all {commits} commits verify")

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
    shown = [json.dumps(demo.look("show", r["name"])) for r in demo.look("list")]
    said_by = {quote["class"] for text in shown for quote in json.loads(text)["evidence"]}
    demo.expect(said_by == {"human"}, "everything remembered rests on a person's own words")


def main() -> int:
    """Run the demonstration; return the exit code."""
    parser = argparse.ArgumentParser(description="Show the main job of gitmem, step by step.")
    parser.add_argument("--clean", action="store_true", help="remove the folder at the end")
    parser.add_argument("--short", action="store_true", help="leave the loop with models out")
    asked = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    folder = Path(tempfile.mkdtemp(prefix="gitmem-demo-"))
    try:
        return run(folder, kept=not asked.clean, models=not asked.short)
    finally:
        if asked.clean:
            shutil.rmtree(folder)


def run(folder: Path, *, kept: bool, models: bool) -> int:
    """Run the tour in ``folder``, say how it ended, and return the exit code."""
    for name in INPUTS:
        shutil.copy(HERE / name, folder)
    demo = Demo(folder, os.environ)
    print(f"In {folder}")
    try:
        tour(demo, models=models)
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
