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
from gitmem.errors import InvalidInput, NotFound, Refused, Usage
from gitmem.services.personal import describe
from gitmem.store.statements import cut_into_quotes
from tests.memory.words import change_set, item, state, user

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


# --- how long, how surely, in whose place ------------------------------------------------------


def quotes_of(memory: MemoryStore, name: str) -> list[str]:
    return [quote.quote for quote in memory.show(name).evidence]


def test_how_long_a_fact_holds_is_remembered_with_the_words_that_say_so(
    memory: MemoryStore,
) -> None:
    memory.remember(
        "这个月的发布由小李负责。",
        name="release-duty",
        type="project",
        valid_from="2026-11-01",
        valid_until="2026-11-30",
        person=ADA,
    )
    record = memory.show("release-duty")
    assert record.summary.valid_from == "2026-11-01"
    assert record.summary.valid_until == "2026-11-30"
    assert record.body == record.summary.description == "这个月的发布由小李负责。"
    assert quotes_of(memory, "release-duty") == [
        "这个月的发布由小李负责。\n\nThis is valid from 2026-11-01. This is valid until 2026-11-30."
    ]
    memory.edit("release-duty", valid_until="2026-12-31", person=ADA)
    assert quotes_of(memory, "release-duty")[1:] == ["release-duty is valid until 2026-12-31."]
    (newest, _) = memory.why("release-duty").history
    assert newest.session == memory.show("release-duty").evidence[-1].session
    assert memory.fsck().ok


def test_each_term_is_changed_by_itself_and_taken_away_again(memory: MemoryStore) -> None:
    for name, text in (("old-rule", "Run the tests at night."), ("rule", "合并前先跑测试。")):
        memory.remember(text, name=name, type="feedback", person=ADA)
    memory.edit("rule", status="unconfirmed", supersedes=["old-rule"], person=ADA)
    record = memory.show("rule")
    assert (record.summary.status, record.supersedes) == ("unconfirmed", ("old-rule",))
    memory.edit("rule", body="合并前先跑全部测试。", valid_from="2026-01-31", person=ADA)
    record = memory.show("rule")
    assert (record.summary.status, record.supersedes) == ("unconfirmed", ("old-rule",))
    assert record.summary.valid_from == "2026-01-31"
    memory.forget("old-rule", person=ADA)
    memory.edit("rule", description="Tests come first", person=ADA)
    assert memory.show("rule").supersedes == ("old-rule",)
    memory.edit("rule", valid_from="none", status="confirmed", supersedes=(), person=ADA)
    record = memory.show("rule")
    assert (record.summary.valid_from, record.summary.status, record.supersedes) == (None, None, ())
    assert quotes_of(memory, "rule")[-1] == (
        "rule has no first day. rule is confirmed. rule takes the place of no other."
    )
    with pytest.raises(Usage, match="nothing of rule would change"):
        memory.edit("rule", valid_until="none", status="confirmed", supersedes=(), person=ADA)


def test_terms_that_cannot_be_are_refused_and_nothing_is_written(memory: MemoryStore) -> None:
    memory.remember("合并前先跑测试。", name="rule", valid_from="2026-11-01", person=ADA)
    before = state(memory.path)
    with pytest.raises(InvalidInput, match="is before valid_from 2026-11-01"):
        memory.edit("rule", valid_until="2026-10-31", person=ADA)
    with pytest.raises(InvalidInput, match="'tomorrow' is not a date like"):
        memory.remember("Tests run at night now.", valid_from="tomorrow", person=ADA)
    with pytest.raises(NotFound, match="nothing is remembered as old-rule") as caught:
        memory.edit("rule", supersedes=["old-rule"], person=ADA)
    assert "gitmem list" in caught.value.hint
    with pytest.raises(InvalidInput, match="cannot supersede itself"):
        memory.edit("rule", supersedes=["rule"], person=ADA)
    with pytest.raises(InvalidInput, match="supersedes"):
        memory.edit("rule", supersedes=["../rule"], person=ADA)
    assert state(memory.path) == before


def test_saying_how_long_it_holds_does_not_make_a_tools_words_a_persons(
    memory: MemoryStore,
) -> None:
    """A preference needs a person's words about the preference itself."""
    said = "The user seems to prefer tabs over spaces."
    messages = [user("Look at my code."), {"role": "assistant", "content": said}]
    fact = item(said, 1, name="tabs", description=said, body=said)
    proposal = memory.propose(change_set(messages, fact)).proposal
    assert proposal
    memory.approve(proposal, person=ADA)
    with pytest.raises(Refused, match="nothing that a person said is quoted by tabs"):
        memory.edit("tabs", type="user", valid_until="2026-12-31", person=ADA)
    memory.edit("tabs", valid_until="2026-12-31", person=ADA)
    assert memory.show("tabs").summary.valid_until == "2026-12-31"


def test_where_a_record_cites_all_it_may_its_quotes_are_not_pushed_out(
    memory: MemoryStore,
) -> None:
    words = [f"第 {n} 步：run check number {n} before the release." for n in range(16)]
    fact = item(words[0], name="steps", body="\n".join(words))
    fact["evidence"] = [{"message": n, "quote": text} for n, text in enumerate(words)]
    proposal = memory.propose(change_set([user(text) for text in words], fact)).proposal
    assert proposal
    memory.approve(proposal, person=ADA)
    memory.edit("steps", valid_until="2026-12-31", person=ADA)
    assert sorted(quotes_of(memory, "steps")) == sorted(words)
    assert memory.show("steps").summary.valid_until == "2026-12-31"
    assert memory.fsck().ok
