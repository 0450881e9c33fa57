"""A change costs the same few git objects whatever the size of the memory: no clock needed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitmem.documents import make_evidence
from gitmem.domain.instants import format_instant
from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.review import PERSON, Review
from gitmem.store import Entry, Origin, Store, checks_review, make_draft, person_identity
from tests.store.stories import ADA, NOW, change_set, opened, plain, propose, rev

#: Blobs of record, quote, manifest and view; the folders above them; commits of proposal,
#: checks, approval and merge.
MOST = 16
BATCH = 1000


def add_many(root: Path, first: int, count: int) -> None:
    """Add records number ``first`` to ``first + count - 1`` by one merged proposal."""
    store = Store.open(root)
    try:
        at = format_instant(NOW)
        entries = []
        for n in range(first, first + count):
            text = f"Service number {n} listens on port {10_000 + n} 端口。"
            quote = make_evidence(
                session="bulk-20260921-0123456789ab",
                message=n,
                cls="human",
                attested="caller",
                at=at,
                digest=f"sha256:{n:064x}",
                quote=text,
            )
            record_type = RECORD_TYPES[n % len(RECORD_TYPES)]
            entries.append(Entry(f"service-{n}", record_type, text, text, (quote,)))
        ground = store.facts.ground(store.head().accepted, [entry.name for entry in entries])
        nonce = f"{first:032x}"[::-1]
        who = f"human:{ADA}"
        origin = Origin("import", who, "bulk-20260921-0123456789ab", "caller", nonce, NOW)
        draft = make_draft(ground, origin, entries, {})
        approval = Review(who, PERSON, "approve", draft.proposal.change, None, (), NOW)
        reviews = [checks_review(draft, (), NOW), approval]
        store.put_proposal(draft, reviews, person_identity(who))
        store.merge(draft.proposal.id)
    finally:
        store.close()


@pytest.fixture(scope="module")
def sizes(_template: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """The same memory with 100 and with 10,000 records; bare, so that no files are copied."""
    folder = tmp_path_factory.mktemp("sizes")
    small, large = folder / "small", folder / "large"
    shutil.copytree(_template[0] / ".git", small)
    (small / "index").unlink()
    plain(small, "config", "core.bare", "true")
    add_many(small, 0, 99)
    shutil.copytree(small, large)
    for first in range(99, 9_999, BATCH):
        add_many(large, first, min(BATCH, 9_999 - first))
    return {100: small, 10_000: large}


def objects(root: Path) -> set[str]:
    """The ids of all objects of the repository, reachable or not."""
    listed = plain(root, "cat-file", "--batch-check=%(objectname)", "--batch-all-objects")
    return set(listed.split())


def from_a_conversation(root: Path, name: str) -> None:
    proposal = propose(root, name, "The staging cluster is rebuilt every 星期一 night.")
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)


def in_ones_own_words(root: Path, name: str) -> None:
    with opened(root) as memory:
        memory.remember("Backups are kept for ninety days.", name=name, type="project", person=ADA)


def revised(root: Path, name: str) -> None:
    change = change_set("service-7", "Service number 7 moved to port 7 on Monday.")
    with opened(root) as memory:
        proposal = memory.propose({**change, "records": [{**change["records"][0]}]}).proposal
        assert proposal
        memory.approve(proposal, person=ADA)


def forgotten(root: Path, name: str) -> None:
    with opened(root) as memory:
        memory.forget("service-8", reason="switched off", person=ADA)


@pytest.mark.parametrize("size", [100, 10_000])
def test_a_change_from_proposal_to_merge_writes_few_objects_at_any_size(
    sizes: dict[int, Path], size: int
) -> None:
    root = sizes[size]
    with opened(root) as memory:
        assert memory.status().count == size
    for change in (from_a_conversation, in_ones_own_words, revised, forgotten):
        before, tip = objects(root), rev(root, "main")
        change(root, f"one-more-{change.__name__.replace('_', '-')}")
        new = objects(root) - before
        assert rev(root, "main^1") == tip
        assert len(new) <= MOST, f"{change.__name__}: {len(new)}"


def test_the_view_of_a_large_memory_keeps_its_limits_and_everything_is_found(
    sizes: dict[int, Path],
) -> None:
    root = sizes[10_000]
    view = plain(root, "cat-file", "blob", "main:MEMORY.md") + "\n"
    assert len(view.splitlines()) <= 200 and len(view.encode()) <= 25_000
    with opened(root) as memory:
        assert memory.search("which port has service number 4321")[0].name == "service-4321"


def test_a_merge_starts_as_few_gits_and_asks_the_projection_as_often_at_any_size(
    sizes: dict[int, Path],
) -> None:
    asked: dict[int, int] = {}
    for size, root in sizes.items():
        add_many(root, 20_000, 1)  # a store that was merged into before has nothing to make up
        started: list[str] = []
        statements: list[str] = []
        proposal = propose(root, "counted", "The counted cluster is rebuilt every 星期二 night.")
        with opened(root) as memory:
            store = memory._opened()
            tip = store.find_proposal(proposal)[1]
            change = store.facts.branch(tip).proposal.change
            approval = Review(f"human:{ADA}", PERSON, "approve", change, None, (), NOW)
            store.add_review(proposal, tip, approval)
            store.head()
            store.repo.runner.trace = lambda words, into=started: into.append(words[1])
            store.projection._db.set_trace_callback(statements.append)
            store.merge(proposal)
        assert started == ["fast-import", "update-ref"], size
        asked[size] = len(statements)
    assert asked[10_000] <= asked[100] + 5, asked


def test_a_proposal_starts_as_few_gits_at_any_size(sizes: dict[int, Path]) -> None:
    for size, root in sizes.items():
        started: list[str] = []
        text = "The quiet cluster is rebuilt every 星期三 night."
        with opened(root) as memory:
            memory._opened().repo.runner.trace = lambda words, into=started: into.append(words[1])
            assert memory.propose(change_set("quiet", text)).proposal
        assert started.count("for-each-ref") <= 1, (size, started)
        assert sorted(set(started)) in (
            ["cat-file", "fast-import", "for-each-ref", "update-ref"],
            ["cat-file", "fast-import", "update-ref"],
        )
        assert len(started) <= 4, (size, started)


def test_a_history_is_verified_by_one_process_that_reads_and_one_that_lists(
    sizes: dict[int, Path],
) -> None:
    root = sizes[100]
    for end in ("", "-wal", "-shm"):
        (root / "gitmem" / f"cache.sqlite{end}").unlink(missing_ok=True)
    started: list[str] = []
    with opened(root) as memory:
        store = memory._opened()
        store.repo.runner.trace = lambda words: started.append(words[1])
        store.head()
    assert set(started) <= {"cat-file", "rev-list"} and len(started) <= 2, started


def test_a_proposal_looks_for_what_is_like_it_once(sizes: dict[int, Path]) -> None:
    statements: list[str] = []
    text = "The second cluster is rebuilt every 星期四 night."
    with opened(sizes[100]) as memory:
        memory._opened().projection._db.set_trace_callback(statements.append)
        assert memory.propose(change_set("second", text)).proposal
    searches = [sql for sql in statements if sql.startswith("SELECT term, data FROM blocks")]
    assert searches and len(searches) == len(set(searches))
