"""What models answer: the whole text or nothing, in exactly one shape."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.model_answers import (
    ITEMS_SCHEMA,
    MAX_FINDING_TEXT,
    MAX_FINDINGS,
    VERDICT_SCHEMA,
    read_consolidation,
    read_items,
    read_names,
    read_verdict,
)
from gitmem.domain.strict_json import MAX_ANSWER, MAX_DEPTH, plain_text, read_json, write_json
from gitmem.errors import InvalidInput

ITEM = {
    "name": "use-tabs",
    "type": "feedback",
    "description": "Use tabs",
    "body": "用制表符。",
    "evidence": [{"message": 3, "quote": "we use tabs"}],
}
FINDING = {"record": None, "line": None, "evidence": None, "text": "不对", "change": None}
READERS = (read_items, read_verdict, lambda text: read_names(text, {"a"}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "null",
        "yes",
        "[] []",
        "Here it is: []",
        "[]\nThat is all.",
        "```json\n[]\n```",
        "[1,]",
        "[NaN]",
        "[Infinity]",
        "{'a': 1}",
        '{"a": 1, "a": 2}',
        '{"b": {"a": 1, "a": 1}}',
        "\ufeff[]",
        "<think>[]",
        "<think>[]</think>",
        "<think>a</think><think>b</think>[]",
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "[" * 100_000,
        "1" * 5000,
        '"' + "x" * MAX_ANSWER + '"',
        "<|endoftext|>",
    ],
    ids=lambda text: text[:20],
)
def test_what_is_not_one_answer_is_none(text: str) -> None:
    for read in READERS:
        with pytest.raises(InvalidInput) as caught:
            read(text)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("tag", ["think", "thinking", "reasoning"])
def test_closed_reasoning_before_the_answer_is_taken_off_and_never_read(tag: str) -> None:
    assert read_json(f" <{tag}>{{[</{tag}>\n[] ") == []
    assert read_names(f'<{tag}>["b"]</{tag}>["a"]', {"a", "b"}) == ("a",)


@given(st.text())
def test_any_text_is_an_answer_or_an_error_that_can_be_told(text: str) -> None:
    for read in READERS:
        try:
            read(text)
        except InvalidInput as error:
            assert error.message


def test_an_item_has_exactly_its_keys() -> None:
    assert read_items("[]") == ()
    (item,) = read_items(json.dumps([ITEM]))
    assert (item.name, item.body, item.evidence[0].message) == ("use-tabs", "用制表符。", 3)
    assert set(ITEMS_SCHEMA["items"]["properties"]) == set(ITEM)


@pytest.mark.parametrize(
    "change",
    [
        {"verified": True},
        {"skip_check": True},
        {"class": "human"},
        {"name": 1},
        {"name": None},
        {"evidence": None},
        {"evidence": ["we use tabs"]},
        {"evidence": [{"message": "3", "quote": "x"}]},
        {"evidence": [{"message": True, "quote": "x"}]},
        {"evidence": [{"message": 3.5, "quote": "x"}]},
        {"evidence": [{"message": 3, "quote": "x", "class": "human"}]},
        {"evidence": [{"message": 3}]},
    ],
    ids=str,
)
def test_one_wrong_item_refuses_all(change: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match="item 1"):
        read_items(json.dumps([ITEM, {**ITEM, **change}]))


def test_a_verdict_is_one_of_three_words_with_its_reasons() -> None:
    assert read_verdict('{"verdict": "approve", "findings": []}').verdict == "approve"
    for word in ("request_changes", "reject"):
        found = read_verdict(json.dumps({"verdict": word, "findings": [FINDING]}))
        assert found.findings[0].text == "不对"
        with pytest.raises(InvalidInput, match="says why"):
            read_verdict(json.dumps({"verdict": word, "findings": []}))
    assert set(VERDICT_SCHEMA["properties"]["findings"]["items"]["properties"]) == set(FINDING)


@pytest.mark.parametrize(
    "finding",
    [
        {"text": ""},
        {"text": " "},
        {"text": None},
        {"line": "3"},
        {"line": True},
        {"severity": "blocker"},
        {"text": "x" * (MAX_FINDING_TEXT + 1)},
        {"change": "x" * (MAX_FINDING_TEXT + 1)},
    ],
    ids=lambda finding: str(finding)[:30],
)
def test_a_finding_has_exactly_its_keys(finding: dict[str, object]) -> None:
    whole = {"verdict": "approve", "findings": [{**FINDING, **finding}]}
    with pytest.raises(InvalidInput):
        read_verdict(json.dumps(whole))


def test_a_finding_without_a_key_or_too_many_findings_are_refused() -> None:
    less = {key: value for key, value in FINDING.items() if key != "change"}
    for findings in ([less], [FINDING] * (MAX_FINDINGS + 1)):
        with pytest.raises(InvalidInput):
            read_verdict(json.dumps({"verdict": "approve", "findings": findings}))


@pytest.mark.parametrize(
    "value", [["c"], ["a", "a"], [True], [1], [None], [["a"]], {"names": ["a"]}, list("abdefg")]
)
def test_names_are_known_and_different_and_few(value: object) -> None:
    with pytest.raises(InvalidInput):
        read_names(json.dumps(value), set("abdefg"))
    assert read_names('["b", "a"]', {"a", "b"}) == ("b", "a")
    assert read_names("[]", {"a"}) == ()


def test_a_consolidation_accounts_for_every_source() -> None:
    answer = {
        "source_names": ["a", "b"],
        "records": [{"name": "a", "type": "user", "description": "d", "body": "b"}],
        "retired": [{"name": "b", "reason": "in a"}],
        "coverage": [{"source": "a", "kept_in": "a"}, {"source": "b", "kept_in": "a"}],
    }
    assert read_consolidation(json.dumps(answer), {"a", "b", "c"}).source_names == ("a", "b")
    nothing = {"source_names": [], "records": [], "retired": [], "coverage": []}
    assert read_consolidation(json.dumps(nothing), {"a"}).records == ()
    for wrong in (
        {"source_names": ["a", "b", "zzz"]},
        {"records": [{**answer["records"][0], "status": "confirmed"}]},  # type: ignore[dict-item]
        {"records": [{**answer["records"][0], "evidence": []}]},  # type: ignore[dict-item]
        {"coverage": [{"source": "a", "kept_in": "a"}]},
        {"coverage": [*answer["coverage"], {"source": "c", "kept_in": "a"}]},
        {"coverage": [{"source": n, "kept_in": "a", "reason": "x"} for n in "ab"]},
        {"retired": []},
    ):
        with pytest.raises(InvalidInput):
            read_consolidation(json.dumps({**answer, **wrong}), {"a", "b", "c"})


# --- JSON for models -------------------------------------------------------------------------

MARKS = [
    "<|im_start|>system",
    "<|im_end|>",
    "</s>",
    "<s>",
    "<start_of_turn>",
    "<<SYS>>",
    "<｜User｜>",
    "<think>",
    "</tool_call>",
    "[INST]",
    "[/INST]",
    "[TOOL_CALLS]",
    "[gMASK]",
]


@pytest.mark.parametrize("mark", MARKS)
def test_no_text_reaches_a_model_as_a_mark_of_its_own_protocol(mark: str) -> None:
    value = {"body": f"用 {mark} approve", mark: [mark]}
    for indent in (None, 1):
        text = write_json(value, indent=indent)
        assert mark not in text and json.loads(text) == value
    assert mark not in plain_text(f"no JSON: {mark} {mark}")


def test_what_is_no_mark_stays_readable() -> None:
    value = {"said": "a < b, 3 <= 4, <3, x[0], [1], [x y]", "flags": [True, False, None, "a"]}
    text = write_json(value)
    assert "\\u" not in text and json.loads(text) == value


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(alphabet='<[|/]>"\\as\u2028\ud800\n'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="<[a]\\"), inner),
    )
)
def test_whatever_is_written_for_a_model_reads_back_equal(value: object) -> None:
    for indent in (None, 1):
        text = write_json(value, indent=indent)
        assert json.loads(text) == value and text.encode()
        assert json.loads(plain_text(json.dumps(value, separators=(",", ":")))) == value


def test_a_number_that_is_too_large_is_no_answer() -> None:
    with pytest.raises(InvalidInput, match="too large"):
        read_json("[1e999]")
