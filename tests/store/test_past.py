"""A state of the past is the projection that stood at main then, read out of git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cache import Projection, RecordRow
from gitmem.cache.index import ProjectionIndex
from gitmem.errors import NotFound
from gitmem.ranking import search
from gitmem.store import Store
from gitmem.store.past import Moment, find_moment, remembered_at
from tests.memory.timeline import at, fact, merged, on
from tests.store.stories import ADA, BEN, copy, plain, rev

NOW = at("2026-10-01")
QUERIES = ("tabs indentation", "缩进", "数据库 PostgreSQL", "port 7001")


@pytest.fixture(scope="module")
def _long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory in whose past records were added, revised, retired, superseded; and a stray."""
    root = tmp_path_factory.mktemp("long") / "memory"
    with MemoryStore.init(root, clock=lambda: at("2026-09-01")) as memory:
        memory.remember("用制表符缩进，不用空格。", name="use-tabs", type="feedback", person=ADA)
        memory.remember("数据库用 PostgreSQL 16。", name="db-choice", type="project", person=BEN)
    merged(
        root,
        "2026-09-03",
        *[fact(f"port-{n}", f"服务 {n} listens on port 70{n:02}.") for n in range(30)],
        fact("tab-width", "Tabs are shown four wide.", supersedes=["use-tabs"], type="feedback"),
    )
    plain(root, "commit", "-q", "--allow-empty", "-m", "by hand")
    with on(root, "2026-09-04") as memory:
        memory.edit("db-choice", body="数据库改用 MySQL 8。", person=ADA)
        memory.forget("use-tabs", person=BEN)
    with on(root, "2026-09-05") as memory:
        memory.edit("tab-width", type="user", person=ADA)
    return root


def rows(projection: Projection) -> list[RecordRow]:
    return projection.records()


def asked(projection: Projection) -> list[object]:
    """All that readers ask of a projection of records, by name."""
    hits = [search(query, ProjectionIndex(projection), 50) for query in QUERIES]
    texts = [projection.blob(row.blob) for row in projection.records()]
    days = ("2026-09-03", "2026-12-31")
    return [
        rows(projection), texts, projection.size(), hits, projection.count(),
        [projection.superseded_by(day) for day in days],
        [projection.out_of_force(day) & {row.name for row in rows(projection)} for day in days],
    ]  # fmt: skip


def read_at(root: Path, text: str, ask: Callable[[Projection], object]) -> object:
    store = Store.open(root)
    try:
        with store.snapshot():
            moment = find_moment(store, text, NOW)
            with remembered_at(store, moment, words=True) as past:
                return ask(past)
    finally:
        store.close()


@pytest.mark.parametrize("back", range(8))
def test_the_past_is_what_a_memory_that_ends_there_holds(
    _long: Path, tmp_path: Path, back: int
) -> None:
    root = copy(_long, tmp_path / "memory")
    then = tmp_path / "then"
    plain(tmp_path, "clone", "-q", str(root), str(then))
    plain(then, "reset", "-q", "--hard", rev(root, f"main~{back}"))
    assert read_at(root, f"main~{back}", asked) == read_at(then, "main", asked)


def test_quotes_come_with_the_record_that_they_are_wanted_of(_long: Path, tmp_path: Path) -> None:
    store = Store.open(copy(_long, tmp_path / "memory"))
    try:
        with store.snapshot():
            moment = find_moment(store, "2026-09-03", NOW)
            with remembered_at(store, moment, quotes_of="db-choice") as past:
                for name, there in (("db-choice", True), ("port-7", False)):
                    row = past.record(name)
                    record = past.blob(row.blob) if row else None
                    assert record is not None
                    quotes = [past.blob(oid) for oid in record["evidence"]]
                    assert [quote is not None for quote in quotes] == [there]
    finally:
        store.close()


def test_the_present_is_not_read_again(_long: Path, tmp_path: Path) -> None:
    root = copy(_long, tmp_path / "memory")
    store = Store.open(root)
    try:
        with store.snapshot() as head:
            moment = find_moment(store, "main", NOW)
            assert moment == Moment(head.accepted, 8, "2026-09-05")
            with remembered_at(store, moment) as past:
                assert past is store.projection
    finally:
        store.close()


def test_a_stray_before_the_first_record_stands_for_the_first_commit(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    MemoryStore.init(root, clock=lambda: at("2026-09-01")).close()
    plain(root, "commit", "-q", "--allow-empty", "-m", "手工")
    store = Store.open(root)
    try:
        with store.snapshot():
            moment = find_moment(store, "main", NOW)
            assert moment == Moment(rev(root, "main~1"), 1, "2026-09-01")
            with pytest.raises(NotFound, match="no commit and no date"):
                find_moment(store, "main~2", NOW)
    finally:
        store.close()
