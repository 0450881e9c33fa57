"""Stores of any size for benchmarks: real records with real quotes, written in large batches."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gitmem.documents import make_evidence
from gitmem.domain.layout import MAIN, PROPOSALS
from gitmem.domain.objects import ZERO, Identity
from gitmem.domain.review import PERSON, Review
from gitmem.repo import NewCommit, RefUpdate
from gitmem.services.begin import begin
from gitmem.store import Draft, Entry, Origin, Store, checks_review, make_draft

PERSON_NAME = "human:Ada <ada@example.org>"
START = 1_764_500_000
SESSION = "bench-20260101-000000000000"
_BATCH = 1000
_PLACES = ("indentation", "migration", "deployment", "缩进", "数据库", "logging", "部署", "review")
_RULES = Identity("rules", "noreply@gitmem.invalid")


def statement_of(number: int) -> str:
    """What the record of this number says, different for each."""
    place = _PLACES[number % len(_PLACES)]
    return f"For {place} in module {number} we always use setting {number * 7919 % 10007}."


def entry(number: int) -> Entry:
    """One record with one quote, different for each number."""
    text = statement_of(number)
    quote = make_evidence(
        session=SESSION,
        message=number,
        cls="human",
        attested="file",
        at="2026-01-01T00:00:00Z",
        digest="sha256:" + f"{number:064x}",
        quote=text,
    )
    body = f"{text}\n**Why:** it was measured."
    return Entry(f"module-{number}", "project", text, body, (quote,))


def approved(store: Store, numbers: Sequence[int], nonce: int) -> tuple[Draft, list[Review]]:
    """A proposal of the records of ``numbers``, with the checks' and a person's yes."""
    now = START + nonce
    origin = Origin("extract", "rules", SESSION, "file", f"{nonce:032x}"[::-1], now)
    entries = [entry(number) for number in numbers]
    ground = store.facts.ground(store.head().accepted, [e.name for e in entries])
    draft = make_draft(ground, origin, entries, {})
    approval = Review(PERSON_NAME, PERSON, "approve", draft.proposal.change, None, (), now)
    return draft, [checks_review(draft, [], now), approval]


def put(store: Store, numbers: Sequence[int], nonce: int) -> str:
    """Propose the records of ``numbers`` in one approved proposal; return its id."""
    draft, reviews = approved(store, numbers, nonce)
    store.put_proposal(draft, reviews, _RULES)
    return draft.proposal.id


def put_each(store: Store, numbers: Sequence[int]) -> list[str]:
    """Propose each record by itself, all with one write; return the ids of the proposals."""
    commits: list[NewCommit] = []
    ends: dict[str, int] = {}
    for number in numbers:
        draft, reviews = approved(store, [number], number)
        before = len(commits)
        for commit in store._commits(draft, reviews, _RULES):
            parents = tuple(_behind(parent, before) for parent in commit.parents)
            commits.append(replace(commit, parents=parents))
        ends[draft.proposal.id] = len(commits) - 1
    with store.repo.lock():
        oids = store.repo.write(commits)
        store.repo.publish(
            [RefUpdate(PROPOSALS + name, oids[at], ZERO) for name, at in ends.items()]
        )
    return list(ends)


def _behind(parent: str, before: int) -> str:
    return f":{int(parent[1:]) + before}" if parent.startswith(":") else parent


def build(path: Path, records: int, *, files: bool) -> Store:
    """Make a store with so many records and open it; with ``files`` they are checked out."""
    store = empty(path)
    for start in range(0, records, _BATCH):
        numbers = range(start, min(start + _BATCH, records))
        store.merge(put(store, numbers, start + 1))
    if files:
        git(path, "read-tree", "-m", "-u", MAIN)
    return store


def empty(path: Path) -> Store:
    """Make a store without records or checked-out files, as ``clone --no-checkout`` does."""
    store = begin(path, "0" * 32, START)
    git(path, "rm", "-r", "-q", "--", ".")
    (store.repo.git_dir / "index").unlink()
    return store


def git(folder: Path, *args: str) -> str:
    """Run plain git in a folder; what it prints."""
    done = subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True)
    return done.stdout.decode("utf-8").strip()
