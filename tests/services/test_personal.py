"""What a person says is cut into quotes that cover all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem import MemoryStore
from gitmem.domain.evidence import MAX_QUOTE, MIN_QUOTE
from gitmem.domain.record import MAX_DESCRIPTION
from gitmem.domain.text import fold_whitespace, quote_length
from gitmem.errors import InvalidInput, Refused
from gitmem.services.personal import cut_into_quotes, describe

ADA = "Ada <ada@example.org>"


def length(text: str) -> int:
    return quote_length(fold_whitespace(text))


def bare(text: str) -> str:
    return "".join(text.split())


PIECES = st.sampled_from(
    ["Ok. ", "好。", "Use tabs! ", "数据库迁移必须先备份。", "x" * 400, "字" * 200, "\n\n"]
)


@given(st.lists(PIECES, min_size=1, max_size=40).map("".join).filter(str.strip))
def test_the_quotes_cover_the_text_and_each_is_long_enough(text: str) -> None:
    pieces = cut_into_quotes(text)
    assert bare("".join(pieces)) == bare(text)
    assert all(length(piece) <= MAX_QUOTE for piece in pieces)
    assert len(pieces) == 1 or all(length(piece) >= MIN_QUOTE for piece in pieces)
    assert all(fold_whitespace(piece) in fold_whitespace(text) for piece in pieces)


@pytest.mark.parametrize(
    "text",
    [
        "Use tabs in every file. " * 45 + "Ok.",
        "Ok. " + "x" * 999 + ".",
        "数据库迁移必须先备份。" * 50 + "好。",
        "字" * 1_000,
        "x" * 3_900,
        "word " * 780,
        "a\n" * 60 + "b" * 1_200,
    ],
    ids=["short end", "short start", "chinese", "no mark", "no blank", "no sentence", "lines"],
)
def test_a_long_text_needs_no_more_quotes_than_a_record_may_cite(text: str) -> None:
    pieces = cut_into_quotes(text)
    assert bare("".join(pieces)) == bare(text)
    assert 2 <= len(pieces) <= 12
    assert all(MIN_QUOTE <= length(piece) <= MAX_QUOTE for piece in pieces)


def test_a_text_is_cut_between_sentences_where_there_are_any() -> None:
    text = "数据库迁移必须先备份。Always run the tests. " * 30
    assert all(piece.endswith(("。", ".")) for piece in cut_into_quotes(text))


def test_a_run_of_blanks_is_no_quote() -> None:
    text = "x" * 600 + " " * 3_000 + "y" * 600
    pieces = cut_into_quotes(text)
    assert bare("".join(pieces)) == bare(text)
    assert all(length(piece) >= MIN_QUOTE for piece in pieces)


def test_every_sentence_of_a_long_text_is_quoted_in_memory(memory: MemoryStore) -> None:
    sentences = [f"规则 {n}：before step {n} run check number {n}." for n in range(40)]
    text = " ".join([*sentences, "好。"])
    memory.remember(text, name="rules", type="feedback", person=ADA)
    quoted = [quote.quote for quote in memory.show("rules").evidence]
    assert all(any(sentence in quote for quote in quoted) for sentence in [*sentences, "好。"])


def test_a_text_that_no_record_can_hold_is_refused_with_its_size(memory: MemoryStore) -> None:
    with pytest.raises(InvalidInput, match=r"5001 bytes.*4096") as caught:
        memory.remember("字" * 1_667, name="long", person=ADA)
    assert "several facts" in caught.value.hint
    with pytest.raises(InvalidInput, match="4096"):
        memory.remember("x" * 30_000_000, person=ADA)
    assert memory.list() == []


def test_a_description_is_one_line_within_its_limit() -> None:
    assert describe("第一句。第二句。") == "第一句。"
    assert describe("First line\nsecond line") == "First line"
    assert describe("v1.2 is out! Really.") == "v1.2 is out!"
    for text in ("word " * 100, "字" * 300):
        assert len(describe(text)) <= MAX_DESCRIPTION
        assert describe(text).endswith("…")


def test_the_same_words_are_not_remembered_twice_under_two_names(tmp_path: Path) -> None:
    with MemoryStore.init(tmp_path / "m") as memory:
        first = memory.remember("提交信息一律用英文写。", person=ADA)
        with pytest.raises(Refused, match=f"already, as {first.records[0].name}"):
            memory.remember("提交信息一律用英文写", name="english-again", person=ADA)
        assert len(memory.list()) == 1
