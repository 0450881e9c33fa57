"""The ranker's postings in a projection: equal scores, and how little is read for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

import pytest

from gitmem.cache import Damaged, Projection, RecordRow
from gitmem.cache.index import ProjectionIndex
from gitmem.ranking import MemoryIndex, changed_blocks, count, rewrite, search

TEXTS = ["缩进 tabs", "tabs tabs", "缩进", "spaces 缩进 tabs"]
QUERIES = ["tabs", "缩进", "tabs 缩进", "spaces", "缩进 spaces tabs"]
LIMITS = [1, 10, 499, 500, 501, 3000]


class Counting(Projection):
    """A projection that counts the rows that it reads."""

    rows_read = 0

    def _run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        rows = super()._run(sql, values)
        self.rows_read += len(rows)
        return rows


def filled(documents: Iterable[tuple[str, str]]) -> Counting:
    known = list(documents)
    projection = Counting.open(None)
    with projection.transaction():
        for number, (name, _) in enumerate(known):
            row = RecordRow(
                name, "user", f"records/user/{name}.md", "a" * 40, "说明", None, None, None,
                "remember-20261130-aaaaaa", ("human:Ada <ada@example.org>",),
                "2026-11-30T00:00:00Z",
            )  # fmt: skip
            projection.put_record(row, number, ())
        texts = enumerate(text for _, text in known)
        for (term, block), entries in changed_blocks([], texts).items():
            projection.put_block(term, block, rewrite(b"", entries))
        projection.set_meta("documents", str(len(known)))
        projection.set_meta("terms", str(sum(count(text)[1] for _, text in known)))
    return projection


def shuffled(size: int) -> list[tuple[str, str]]:
    draw = Random(size)
    documents = [(f"r{number}", draw.choice(TEXTS)) for number in range(size)]
    draw.shuffle(documents)
    return documents


@pytest.fixture(scope="module")
def tied() -> Iterator[tuple[list[tuple[str, str]], Counting]]:
    documents = shuffled(5000)
    projection = filled(documents)
    yield documents, projection
    projection.close()


@pytest.mark.parametrize("limit", LIMITS)
def test_a_projection_answers_as_an_index_in_memory_does(
    tied: tuple[list[tuple[str, str]], Counting], limit: int
) -> None:
    documents, projection = tied
    memory = MemoryIndex(documents)
    for query in QUERIES:
        assert search(query, ProjectionIndex(projection), limit) == search(query, memory, limit)


@pytest.mark.parametrize("limit", LIMITS)
def test_the_first_names_are_those_of_all_in_order(
    tied: tuple[list[tuple[str, str]], Counting], limit: int
) -> None:
    documents, projection = tied
    for wanted in (range(5000), range(0, 5000, 7), range(4000, 4600), range(3), range(0)):
        first = sorted(documents[number][0] for number in wanted)[:limit]
        assert sorted(projection.first_names(wanted, limit).values()) == first
        assert sorted(MemoryIndex(documents).first_names(wanted, limit).values()) == first


def test_a_search_that_thousands_match_alike_reads_few_of_their_names(
    tied: tuple[list[tuple[str, str]], Counting],
) -> None:
    documents, projection = tied
    assert sum(text == "缩进" for _, text in documents) > 1000
    projection.rows_read = 0
    assert len(search("缩进", ProjectionIndex(projection), 10)) == 10
    assert projection.rows_read < 520


def test_names_that_come_last_cost_at_most_twice_what_all_of_them_would() -> None:
    names = [f"a{number:04}" for number in range(4000)] + [f"z{n:04}" for n in range(1200)]
    projection = filled((name, "缩进" if name[0] == "z" else "tabs") for name in names)
    projection.rows_read = 0
    found = search("缩进", ProjectionIndex(projection), 3)
    assert [name for name, _ in found] == ["z0000", "z0001", "z0002"]
    assert 1200 <= projection.rows_read < 2 * 1200 + 20
    projection.close()


def test_a_posting_of_a_document_that_is_not_there_is_damage() -> None:
    projection = filled(shuffled(700))
    with pytest.raises(Damaged, match="a document that is not there"):
        projection.first_names(range(600, 1400), 200)
    with pytest.raises(Damaged, match="a document that is not there"):
        projection.first_names([699, 700], 1)
    projection.close()
