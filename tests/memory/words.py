"""Conversations, change sets and looks into a store that the tests of its operations share."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitmem import MemoryStore
from gitmem.results import ProposalResult

NOW = 1_790_000_000
DAY = 86_400
ADA = "Ada <ada@example.org>"
BEN = "本 <ben@example.org>"


def opened(root: Path, now: int = NOW) -> MemoryStore:
    return MemoryStore.open(root, clock=lambda: now)


def item(quote: str, message: int = 0, **other: Any) -> dict[str, Any]:
    """One record of a change set that rests on one quote."""
    return {
        "name": "db-choice",
        "type": "project",
        "description": "The database is PostgreSQL 16",
        "body": "The database of the ledger is PostgreSQL 16.",
        "evidence": [{"message": message, "quote": quote}],
        **other,
    }


def change_set(
    messages: Sequence[Mapping[str, Any]], *records: Mapping[str, Any], **other: Any
) -> dict[str, Any]:
    return {"kind": "extract", "messages": list(messages), "records": list(records), **other}


def user(text: Any) -> dict[str, Any]:
    return {"role": "user", "content": text}


def why_dropped(result: ProposalResult) -> dict[str, str]:
    return {dropped.name: dropped.reason for dropped in result.dropped}


def write_lines(path: Path, messages: Sequence[Mapping[str, Any]]) -> Path:
    lines = "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)
    path.write_text(lines, encoding="utf-8")
    return path


# --- what a store has on disk ----------------------------------------------------------------


def objects(root: Path, *wanted: str) -> bytes:
    """The content of every object of the repository, or of those reachable from ``wanted``."""
    if wanted:
        listed = _git(root, "rev-list", "--objects", *wanted).decode("utf-8", "surrogateescape")
        names = "".join(line.split(" ")[0] + "\n" for line in listed.splitlines())
        return _git(root, "cat-file", "--batch", stdin=names.encode())
    return _git(root, "cat-file", "--batch", "--batch-all-objects", "--unordered")


def pushed(root: Path) -> bytes:
    """What is reachable from the branches, which is all that would ever be pushed."""
    return objects(root, "--branches")


def private_files(root: Path) -> dict[str, bytes]:
    """Every file below the store, git's objects left out: name -> content."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "objects" not in path.parts
    }


def state(root: Path) -> tuple[str, list[str]]:
    """What a refused call must leave alone: every ref, and every session file."""
    sessions = sorted(str(path) for path in (root / ".git/gitmem/sessions").glob("*"))
    return _git(root, "for-each-ref").decode("utf-8"), sessions


def _git(root: Path, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(["git", *args], cwd=root, input=stdin, capture_output=True, check=True)
    return done.stdout
