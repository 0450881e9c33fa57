"""The ranker: what is found by what, in which order, and that it is the same everywhere."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.ranking import (
    BLOCK,
    K1,
    MAX_LENGTH,
    QUERY_CHARACTERS,
    QUERY_TERMS,
    B,
    Entry,
    Index,
    MemoryIndex,
    changed_blocks,
    count,
    document,
    rewrite,
    search,
    tokens,
)

ROOT = Path(__file__).parents[1]

RECORDS = {
    "deploy-tencent": "用户服务器部署在腾讯云国内节点",
    "database-rule": "数据库迁移前必须先备份，不要直接改生产库",
    "prefers-tabs": "User prefers tabs for indentation, in Python 和 TypeScript",
    "run-tests": "Run the tests with pytest before every commit",
    "auth-service": "Token refresh lives in user_service.refreshToken, src/auth/session_store.py",
    "coffee": "The user likes coffee without sugar",
    "language": "Answers are written in Chinese, code comments in English",
}


def names(query: str, records: Mapping[str, str] = RECORDS, limit: int = 5) -> list[str]:
    index = MemoryIndex((name, document(name, text, "")) for name, text in records.items())
    return [name for name, _ in search(query, index, limit)]


# What finds what


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("腾讯云", "deploy-tencent"),
        ("腾讯", "deploy-tencent"),
        ("节点", "deploy-tencent"),
        ("服务器在哪里？", "deploy-tencent"),
        ("备份", "database-rule"),
        ("生产库能直接改吗", "database-rule"),
        ("库", "database-rule"),
    ],
)
def test_chinese_is_found_by_phrase_by_two_characters_and_by_one(query: str, found: str) -> None:
    assert names(query)[0] == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("preferring a tab", "prefers-tabs"),
        ("how are we testing?", "run-tests"),
        ("committed", "run-tests"),
        ("indent INDENTATION", "prefers-tabs"),
        ("written answer", "language"),
    ],
)
def test_english_is_found_by_its_stems_whatever_the_case(query: str, found: str) -> None:
    assert names(query)[0] == found


def test_text_that_mixes_scripts_is_found_by_either() -> None:
    assert names("python")[0] == "prefers-tabs"
    assert names("用TypeScript写的代码")[0] == "prefers-tabs"
    assert tokens("我用Python语言") == ["我", "用", "我用", "python", "语", "言", "语言"]


@pytest.mark.parametrize(
    "query",
    [
        "user_service.refreshToken",
        "refreshToken",
        "refresh token",
        "refreshtoken",
        "REFRESH_TOKEN",
        "user_service",
        "session_store",
        "session_store.py",
        "sessionStore",
        "auth/session-store",
    ],
)
def test_code_identifiers_are_found_whole_and_by_their_parts(query: str) -> None:
    assert names(query)[0] == "auth-service"


@pytest.mark.parametrize(
    ("identifier", "terms"),
    [
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("parseHTTPResponse", ["parsehttprespons", "pars", "http", "respons"]),
        ("dry-run", ["dry-run", "dri", "run"]),
        ("utf8", ["utf8", "utf"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("app.user_id", ["app.user_id", "app", "user_id", "user", "id"]),
        ("2026-11-30", ["2026-11-30", "2026", "11", "30"]),
        ("__init__", ["init"]),
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("名字_name", ["名", "字", "名字", "name"]),
    ],
)
def test_an_identifier_gives_these_terms(identifier: str, terms: list[str]) -> None:
    assert tokens(identifier) == terms


def test_the_words_of_a_records_name_count() -> None:
    assert names("tencent") == ["deploy-tencent"]
    assert document("a-b", "one line", "body") == "a b\none line\nbody"


def test_a_word_that_no_record_has_does_not_empty_the_result() -> None:
    assert names("xylophone coffee")[0] == "coffee"
    assert names("腾讯云 xylophone 量子")[0] == "deploy-tencent"


def test_a_query_whose_words_no_record_has_finds_nothing() -> None:
    assert names("xylophone") == []
    assert names("鲸鱼") == []


@pytest.mark.parametrize(
    "query", ["", " \n\t", "。！？，", "the of and", "--- ... ::", "\u200b\ufe0f"]
)
def test_a_query_without_words_finds_nothing(query: str) -> None:
    assert names(query) == []


def test_an_empty_memory_answers_with_nothing() -> None:
    assert search("coffee", MemoryIndex([]), 5) == []
    assert search("coffee", MemoryIndex([("empty", ""), ("signs", "...")]), 5) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("カ\u309b", "ガ"),
        ("カ\u3099", "ガ"),
        ("ｶﾞ", "ガ"),
        ("ハ\u309c", "パ"),
        ("cafe\u0301", "café"),
        ("ＡＰＩ　設計", "api 設計"),
        ("STRASSE", "straße"),
        ("\u1112\u1161\u11ab", "한"),
        ("co\u00adoperate", "cooperate"),
        ("腾\u200b讯", "腾讯"),
        ("ﬁle", "file"),
        ("well\u2010known", "well-known"),
    ],
)
def test_spellings_that_look_the_same_are_the_same(one: str, other: str) -> None:
    assert tokens(one) == tokens(other) != []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Привет, МИР!", ["привет", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("ΑΘΗΝΑ", ["αθηνα"]),
        ("ลาว", ["ล", "า", "ว", "ลา", "าว"]),
        ("人々", ["人", "々", "人々"]),
        ("ラーメン", ["ラ", "ー", "メ", "ン", "ラー", "ーメ", "メン"]),
        ("\U00020000\U00020001", ["\U00020000", "\U00020001", "\U00020000\U00020001"]),
    ],
)
def test_other_scripts_give_whole_words_or_pairs(text: str, terms: list[str]) -> None:
    assert tokens(text) == terms


def test_contractions_leave_no_fragments() -> None:
    assert tokens("I don't think it's theirs") == tokens("I don’t think it’s theirs") == ["think"]


def test_stems_are_those_of_the_snowball_library() -> None:
    from snowballstemmer import stemmer

    english = stemmer("english")
    words = "running ponies generously happiness relational dying skies news university"
    for word in words.split():
        assert tokens(word) == [english.stemWord(word)]


# Scores and order


def test_a_score_is_bm25_with_the_documented_constants() -> None:
    index = MemoryIndex([("a", "coffee coffee milk"), ("b", "coffee"), ("c", "tea with milk")])
    length = {"a": 3, "b": 1, "c": 2}
    average = sum(length.values()) / 3

    def share(times: int, name: str) -> float:
        return times / (times + K1 * (1 - B + B * length[name] / average))

    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    scores = dict(search("coffee milk", index, 5))
    assert scores == pytest.approx(
        {
            "a": idf * (share(2, "a") + share(1, "a")),
            "b": idf * share(1, "b"),
            "c": idf * share(1, "c"),
        }
    )


def test_the_rarer_word_and_the_shorter_record_weigh_more() -> None:
    records = {"a": "tea tea", "b": "tea coffee", "c": "tea milk", "d": "tea " * 3 + "x y z w v"}
    assert names("coffee tea", records)[0] == "b"
    assert names("milk", {"long": "milk " + "word " * 50, "short": "milk word"}) == [
        "short",
        "long",
    ]


def test_equal_scores_are_ordered_by_name_even_at_the_cut() -> None:
    records = [(name, "coffee") for name in ("d", "b", "e", "a", "c")]
    assert [name for name, _ in search("coffee", MemoryIndex(records), 3)] == ["a", "b", "c"]
    assert search("coffee", MemoryIndex(records), 3) == search(
        "coffee", MemoryIndex(reversed(records)), 3
    )


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_gives_nothing(limit: int) -> None:
    assert names("coffee", limit=limit) == []


def test_the_limit_takes_the_best_of_all() -> None:
    every = names("user code 腾讯 the coffee tests", limit=100)
    assert len(every) > 3
    assert names("user code 腾讯 the coffee tests", limit=3) == every[:3]


def by_definition(
    documents: Sequence[tuple[str, str]], query: str, limit: int
) -> list[tuple[str, float]]:
    """BM25 one document at a time, without an index and without leaving anything out."""
    counted = [(name, *count(text)) for name, text in documents]
    average = sum(length for _, _, length in counted) / len(counted)
    found_in = {
        term: sum(term in counts for _, counts, _ in counted) for term in set(tokens(query))
    }
    ranked = []
    for name, counts, length in counted:
        score = 0.0
        for term in sorted(found_in, key=lambda term: (found_in[term], term)):
            if term in counts:
                idf = math.log((len(counted) + 1) / (found_in[term] + 0.5))
                norm = K1 * (1 - B + B * length / average)
                score += idf * (counts[term] / (counts[term] + norm))
        if score:
            ranked.append((name, score))
    return sorted(ranked, key=lambda pair: (-pair[1], pair[0]))[:limit]


@pytest.mark.parametrize("limit", [1, 5, 40])
@pytest.mark.parametrize("seed", range(4))
def test_leaving_out_hopeless_records_changes_neither_scores_nor_order(
    seed: int, limit: int
) -> None:
    draw = Random(seed)
    words = [f"word{chr(97 + place)}" for place in range(20)]
    weights = [1 / (place + 1) for place in range(20)]
    documents = [
        (f"r{number:04d}", "user " + " ".join(draw.choices(words, weights, k=draw.randint(1, 12))))
        for number in range(2500)
    ]
    index = MemoryIndex(documents)
    for _ in range(5):
        query = "user " + " ".join(draw.sample(words, 4))
        assert search(query, index, limit) == by_definition(documents, query, limit)


@pytest.mark.parametrize("limit", [1, 7, 600])
def test_records_of_equal_score_in_several_blocks_are_ordered_by_name(limit: int) -> None:
    draw = Random(limit)
    texts = ["coffee", "coffee milk", "coffee milk milk", "用户 coffee", "milk 用户"]
    documents = [(f"r{number}", draw.choice(texts)) for number in range(2 * BLOCK + 90)]
    draw.shuffle(documents)
    index = MemoryIndex(documents)
    for query in ("coffee", "milk", "coffee milk", "用户 milk", "tea 用户 coffee milk"):
        assert search(query, index, limit) == by_definition(documents, query, limit)


@given(
    st.lists(st.sampled_from(["tea", "tea milk", "milk", "milk 腾讯", "腾讯 tea tea"]), min_size=1),
    st.sampled_from(["tea", "tea milk", "腾讯", "腾讯 milk tea"]),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_any_ties_are_ordered_as_if_every_record_was_looked_at(
    texts: list[str], query: str, limit: int, draw: Random
) -> None:
    documents = [(f"r{number}", text) for number, text in enumerate(texts)]
    draw.shuffle(documents)
    expected = by_definition(documents, query, limit)
    assert search(query, MemoryIndex(documents), limit) == expected


# Postings that live elsewhere


class Rows(Index):
    """Blocks as the rows of a table, in no order that the ranker could rely on."""

    def __init__(self) -> None:
        self.texts: dict[int, tuple[str, str]] = {}
        self.rows: dict[tuple[str, int], bytes] = {}

    def change(self, number: int, name: str, text: str | None) -> int:
        """Put, replace or (None) remove a document; return how many rows that touched."""
        old = [(number, self.texts[number][1])] if number in self.texts else []
        changes = changed_blocks(old, [] if text is None else [(number, text)])
        for key, entries in changes.items():
            self.rows[key] = rewrite(self.rows.get(key, b""), entries)
            if not self.rows[key]:
                del self.rows[key]
        self.texts.pop(number, None)
        if text is not None:
            self.texts[number] = (name, text)
        return len(changes)

    def size(self) -> tuple[int, int]:
        return len(self.texts), sum(count(text)[1] for _, text in self.texts.values())

    def blocks(self, terms: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(term, row) for (term, _), row in reversed(self.rows.items()) if term in terms]

    def names(self, documents: Sequence[int]) -> Mapping[int, str]:
        return {number: self.texts[number][0] for number in documents}


def test_changing_documents_one_by_one_gives_the_index_of_the_result() -> None:
    rows = Rows()
    rows.change(0, "a", "coffee and tea")
    rows.change(BLOCK, "b", "coffee with milk")
    rows.change(3 * BLOCK + 7, "c", "coffee coffee 腾讯云")
    rows.change(BLOCK, "b", "tea with milk milk")
    rows.change(0, "a", None)
    rows.change(1, "d", "tea")
    fresh = MemoryIndex([("b", "tea with milk milk"), ("c", "coffee coffee 腾讯云"), ("d", "tea")])
    for query in ("coffee", "tea", "milk tea", "腾讯", "coffee milk tea"):
        assert search(query, rows, 5) == search(query, fresh, 5) != []
    for number in list(rows.texts):
        rows.change(number, "", None)
    assert rows.rows == {}
    assert search("coffee", rows, 5) == []


def test_a_changed_document_touches_only_the_rows_of_its_own_words() -> None:
    rows = Rows()
    for number in range(300):
        rows.change(number, f"r{number}", f"user number{number} likes coffee")
    assert rows.change(7, "r7", "user likes tea") == len({"user", "like", "coffe", "tea"}) + 2


@given(
    st.lists(
        st.tuples(
            st.integers(0, 40),
            st.none()
            | st.integers(1, 9).flatmap(
                lambda times: st.tuples(st.just(times), st.integers(times, MAX_LENGTH))
            ),
        ),
        max_size=60,
    )
)
def test_a_block_depends_on_what_is_in_it_and_not_on_its_history(
    steps: list[tuple[int, Entry | None]],
) -> None:
    block = b""
    wanted: dict[int, Entry | None] = {}
    for number, entry in steps:
        block = rewrite(block, {number: entry})
        wanted[number] = entry
    assert block == rewrite(b"", wanted)
    assert len(block) == 8 * sum(entry is not None for entry in wanted.values())


@pytest.mark.parametrize(
    ("number", "entry"),
    [(1, (1, MAX_LENGTH + 1)), (1, (0, 5)), (1, (6, 5)), (-1, (1, 5)), (1 << 32, (1, 5))],
)
def test_what_does_not_fit_in_a_block_is_refused(number: int, entry: Entry) -> None:
    with pytest.raises(ValueError, match=f"document {number} .*out of range"):
        rewrite(b"", {number: entry})


# The same everywhere, on any input


PROGRAM = """
import json, sys
from gitmem.ranking import MemoryIndex, search, tokens
records, queries = json.load(sys.stdin)
index = MemoryIndex(records)
print(json.dumps([[tokens(q), search(q, index, 5)] for q in queries]))
"""


def fresh_python(program: str, stdin: str = "", **env: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", program],
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", **env},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout


def test_every_process_gives_the_same_answer_whatever_its_hash_seed() -> None:
    records = [*RECORDS.items(), *((f"same-{n}", "likes coffee, 腾讯云") for n in range(9))]
    queries = ["腾讯云 coffee likes", "user_service refreshToken tests", "code 数据库 user in"]
    question = json.dumps([records, queries])
    answers = {fresh_python(PROGRAM, question, PYTHONHASHSEED=seed) for seed in ("0", "1", "4711")}
    index = MemoryIndex(records)
    here = [[tokens(query), [list(hit) for hit in search(query, index, 5)]] for query in queries]
    assert [json.loads(answer) for answer in answers] == [here]


def test_ranking_loads_nothing_heavy_and_of_the_stemmers_only_english() -> None:
    loaded = fresh_python(
        "import sys; before = set(sys.modules)\n"
        "from gitmem.ranking import MemoryIndex, search\n"
        "assert search('running 腾讯', MemoryIndex([('a', 'runs 腾讯云')]), 5)\n"
        "print(*(set(sys.modules) - before))"
    ).split()
    top = {name.partition(".")[0] for name in loaded} - {"gitmem", "_gitmem_snowball"}
    assert top <= sys.stdlib_module_names
    assert not top & {"dataclasses", "inspect", "asyncio", "logging", "pathlib", "subprocess"}
    assert {name for name in loaded if name.endswith("_stemmer")} == {
        "_gitmem_snowball.english_stemmer"
    }


@given(st.text(st.characters(), max_size=200))
def test_any_text_has_terms_that_find_it_again(text: str) -> None:
    terms = tokens(text)
    assert all(terms)
    assert not any(term.isspace() or "\n" in term for term in terms)
    found = search(text, MemoryIndex([("this", text), ("other", "unrelated")]), 5)
    assert [name for name, _ in found][:1] == (["this"] if terms else [])


@given(st.text(st.characters(categories=["L", "M", "N", "P", "Z"]), max_size=60))
def test_composed_and_decomposed_text_have_the_same_terms(text: str) -> None:
    assert tokens(normalize("NFC", text)) == tokens(normalize("NFD", text))


def test_only_both_ends_of_a_huge_query_count() -> None:
    filler = "filler " * 200_000
    assert names(f"coffee {filler}")[0] == "coffee"
    assert names(f"{filler} coffee")[0] == "coffee"
    half = "filler " * QUERY_CHARACTERS
    assert names(f"{half} coffee {half}") == []


def test_of_a_query_with_very_many_words_the_rarest_count() -> None:
    rare = [f"q{chr(97 + number // 12)}{chr(97 + number % 12)}x" for number in range(QUERY_TERMS)]
    records = dict.fromkeys("uv", " ".join(rare)) | dict.fromkeys("xyz", "tea")
    assert names("tea " + " ".join(rare), records) == ["u", "v"]
    assert names("tea " + " ".join(rare[1:]), records) == ["u", "v", "x", "y", "z"]


@pytest.mark.parametrize(
    "unit", ["y", "ay", "a_", "aB", "1a", "a.", "腾", "カ\u3099", "\u0301", "::"]
)
def test_a_megabyte_without_a_space_is_read_in_one_pass(unit: str) -> None:
    # A quadratic step anywhere would take hours here.
    terms = tokens(unit * (1_000_000 // len(unit)))
    assert len(terms) <= 2_000_000


def test_a_record_of_the_largest_size_fits_in_a_block() -> None:
    for unit in ("腾", "㌖", "a_", "aB1", "ﷺ"):
        text = unit * (4096 // len(unit.encode()))
        counts, length = count(text)
        blocks = [rewrite(b"", {0: (times, length)}) for times in counts.values()]
        assert {len(block) for block in blocks} == {8}
