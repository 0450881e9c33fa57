"""What becomes a proposed record, and what does not."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.domain.layout import RECORD_TYPES, is_name
from gitmem.domain.session import Message, Part
from gitmem.domain.text import quote_length
from gitmem.rules import KnownRecord, chinese, english, propose
from gitmem.rules.grammar import hints


def _examples() -> Any:
    # Test files are imported one by one, so a table beside them is loaded by its path.
    path = Path(__file__).with_name("examples.py")
    spec = importlib.util.spec_from_file_location("rules_examples", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = _examples()


def said(text: str, cls: str = "human", kind: str = "text") -> list[Message]:
    part = Part.model_validate({"kind": kind, "class": cls, "text": text})
    return [Message(index=0, role="user", parts=(part,))]


@pytest.mark.parametrize(("text", "type"), EXAMPLES.POSITIVE)
def test_what_a_person_states_for_good_is_proposed_with_its_quote(text: str, type: str) -> None:
    (item,) = propose(said(text), []).items
    assert item.type == type
    assert is_name(item.name)
    assert all(citation.message == 0 and citation.quote in text for citation in item.evidence)
    assert 8 <= quote_length(item.evidence[0].quote) <= 1000
    assert 0 < len(item.description) <= 200
    assert "\n" not in item.description


@pytest.mark.parametrize("text", [text for text, _why in EXAMPLES.NEGATIVE])
def test_what_is_not_meant_for_good_gives_nothing(text: str) -> None:
    assert propose(said(text), []).items == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Should I always use tabs?", "a question"),
        ("以后都用英文写提交信息吗？", "a question"),
        ("Maybe we should never deploy on Fridays.", "a hypothetical"),
        ("假如以后都用英文，新人会看不懂。", "a hypothetical"),
        ("He said we should never use global state.", "somebody else's words"),
        ("老板说绝不能在周五部署。", "somebody else's words"),
        ("For now, never run the slow tests.", "a task of the moment"),
        ("记住这次先不跑测试。", "a task of the moment"),
        ("For now, skip the slow integration tests.", "a task of the moment"),
        ("Skip the slow integration tests for now.", "a task of the moment"),
        ("这次先跳过慢的集成测试。", "a task of the moment"),
        ("暂时不用管样式。", "a task of the moment"),
        ("这个文件必须用两个空格缩进。", "a task of the moment"),
        ("那个接口必须返回 JSON。", "about something at hand"),
        ("你写的测试必须通过。", "an order, without a word that makes it a rule"),
        ("代码必须改成异步的。", "an order, without a word that makes it a rule"),
        ("服务必须重启。", "an order, without a word that makes it a rule"),
        ("他说接口必须返回 JSON。", "somebody else's words"),
        ("```\nalways use tabs for it\n```", "code"),
        ("> Never commit secrets.", "quoted or pasted text"),
        ("Don't run the tests again.", "an order, without a word that makes it a rule"),
        ("Remember that the password is [redacted:password].", "holds a redacted secret"),
        ("I prefer tabs over spaces. Forget that.", "withdrawn"),
        ("我住在大阪。当我没说。", "withdrawn"),
        ("I prefer tabs over\u202e spaces.", "holds characters that a record may not hold"),
    ],
)
def test_what_is_passed_over_is_listed_with_the_reason(text: str, reason: str) -> None:
    result = propose(said(text), [])
    assert result.items == ()
    assert [(left.message, left.reason) for left in result.passed_over] == [(0, reason)]
    assert result.passed_over[0].quote in text


@pytest.mark.parametrize("cls", ["assistant", "tool", "subagent", "injected", "unknown"])
def test_only_a_person_is_heard(cls: str) -> None:
    text = "Remember that the user prefers dark mode. I prefer dark mode. 记住我喜欢深色模式。"
    assert propose(said(text, cls), []) == propose([], [])


@pytest.mark.parametrize("kind", ["tool_result", "tool_call", "image", "other"])
def test_only_text_is_heard(kind: str) -> None:
    assert propose(said("I prefer dark mode.", kind=kind), []).items == ()


@pytest.mark.parametrize(
    ("text", "body"),
    [
        (
            "Please remember that I prefer tabs because they are accessible.",
            "I prefer tabs.\n**Why:** they are accessible.",
        ),
        (
            "Because we lost data last year, never run a migration without a backup.",
            "Never run a migration without a backup.\n**Why:** we lost data last year.",
        ),
        (
            "I prefer small commits so that reviews stay short.",
            "I prefer small commits.\n**Why:** so that reviews stay short.",
        ),
        (
            "I prefer small commits. The reason is bisecting.",
            "I prefer small commits.\n**Why:** bisecting.",
        ),
        (
            "记住，迁移前必须先备份，因为去年丢过数据。",
            "迁移前必须先备份。\n**Why:** 去年丢过数据。",
        ),
        ("因为要兼容老系统，我们决定用 Java 8。", "我们决定用 Java 8。\n**Why:** 要兼容老系统。"),
        ("绝不直接改线上数据，以免破坏账本。", "绝不直接改线上数据。\n**Why:** 以免破坏账本。"),
        ("I always rebase since 2019.", "I always rebase since 2019."),
        ("I hate trailing whitespace!", "I hate trailing whitespace."),
    ],
)
def test_the_body_is_the_statement_and_the_reason_that_was_given(text: str, body: str) -> None:
    (item,) = propose(said(text), []).items
    assert item.body == body


def test_a_reason_in_the_next_sentence_is_quoted_too() -> None:
    (item,) = propose(said("I prefer small commits. The reason is bisecting."), []).items
    assert [citation.quote for citation in item.evidence] == [
        "I prefer small commits.",
        "The reason is bisecting.",
    ]


def test_a_request_that_follows_the_statement_counts() -> None:
    (item,) = propose(said("The release train leaves on Thursday. Remember that."), []).items
    assert item.body == "The release train leaves on Thursday."
    assert [citation.quote for citation in item.evidence] == [
        "The release train leaves on Thursday.",
        "Remember that.",
    ]


def test_a_quote_is_the_whole_sentence_with_its_condition() -> None:
    text = (
        "Hi.  Never deploy on Fridays unless the on-call engineer agrees, because of 2024! Thanks."
    )
    (item,) = propose(said("Remember: " + text[5:]), []).items
    assert item.evidence[0].quote == "Remember: " + text[5:].removesuffix(" Thanks.")


def test_a_sentence_wrapped_over_two_lines_is_one() -> None:
    text = "I prefer tabs over spaces in every language that we use,\nbecause they are accessible."
    (item,) = propose(said(text), []).items
    assert item.evidence[0].quote == text
    assert item.description == "I prefer tabs over spaces in every language that we use"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n  "])
@pytest.mark.parametrize(
    ("lines", "body"),
    [
        (("I always", "prefer tabs over spaces."), "I always prefer tabs over spaces."),
        (("I never push", "to main on Fridays."), "I never push to main on Fridays."),
        (("我一直", "喜欢用制表符缩进。"), "我一直喜欢用制表符缩进。"),
        (("前端必须", "用两个空格缩进。"), "前端必须用两个空格缩进。"),
    ],
)
def test_a_sentence_broken_over_short_lines_is_one(
    lines: tuple[str, str], body: str, end: str
) -> None:
    (item,) = propose(said(end.join(lines)), []).items
    assert item.body == body
    assert item.evidence[0].quote == end.join(lines)


def test_short_lines_that_are_sentences_stay_apart() -> None:
    items = propose(said("sounds good\nalways run the tests first\nnever push to main"), []).items
    assert [item.body for item in items] == [
        "Always run the tests first.",
        "Never push to main.",
    ]


def test_double_blanks_hide_no_rule() -> None:
    (item,) = propose(said("I  always prefer   tabs over spaces."), []).items
    assert item.body == "I always prefer tabs over spaces."


@pytest.mark.parametrize(
    "text",
    [
        *(text for text, _ in EXAMPLES.POSITIVE),
        *(text for text, _ in EXAMPLES.NEGATIVE),
    ],
)
def test_every_sentence_that_a_rule_finds_holds_one_of_its_cues(text: str) -> None:
    for spelling in (text, text.upper(), text.replace("'", "\u2019")):
        plain = spelling.replace("\u2019", "'")
        for rule in (*english.RULES, *chinese.RULES):
            if rule.pattern.search(plain):
                assert not rule.cues.isdisjoint(hints(spelling)), rule.pattern.pattern


def test_a_list_under_a_passing_heading_gives_nothing() -> None:
    assert propose(said("Just for this PR:\n- never use mocks\n- always use tabs"), []).items == ()
    assert propose(said("Bob's mail says:\n\nNever use mocks.\nAlways use tabs."), []).items == ()
    assert propose(said("这次先这样：\n- 统一用 pnpm\n- 禁止推送主分支"), []).items == ()


def test_a_list_of_rules_gives_one_record_each() -> None:
    text = (
        "My rules:\n1. Never commit secrets to git.\n"
        "2. 提交信息一律用英文。\n- Always run the tests."
    )
    items = propose(said(text), []).items
    assert [item.body for item in items] == [
        "Never commit secrets to git.",
        "提交信息一律用英文。",
        "Always run the tests.",
    ]


def test_pasted_text_without_a_sentence_end_gives_nothing() -> None:
    result = propose(said("I prefer tabs " + "and more words " * 60), [])
    assert result.items == ()
    assert [left.reason for left in result.passed_over] == ["too long for a statement"]


def test_identifiers_in_code_marks_are_part_of_a_statement() -> None:
    (item,) = propose(said("Never import `config.py` from the `domain` package."), []).items
    assert item.body == "Never import `config.py` from the `domain` package."


def test_a_long_statement_has_a_short_description() -> None:
    text = "I prefer " + "functions that do one thing and have a clear name, " * 4 + "always."
    (item,) = propose(said(text), []).items
    assert 150 < len(item.description) <= 200
    assert item.description.endswith("…")


def test_the_same_statement_twice_is_one_record() -> None:
    text = "I prefer tabs over spaces. Yes, I prefer tabs over spaces!"
    result = propose(said(text), [])
    assert len(result.items) == 1
    assert [left.reason for left in result.passed_over] == ["said before"]


@pytest.mark.parametrize(
    "body",
    ["I prefer tabs over spaces.\n**Why:** reading.", "i prefer TABS over spaces", "Anything."],
)
def test_what_is_known_is_not_proposed_again(body: str) -> None:
    known = KnownRecord("tabs", "user", "I prefer tabs over spaces", body)
    result = propose(said("I prefer tabs over spaces."), [known])
    assert result.items == ()
    assert [left.reason for left in result.passed_over] == ["already known"]


def test_a_name_that_the_store_has_for_something_else_is_not_taken() -> None:
    known = KnownRecord("prefer-tabs-over-spaces", "project", "A talk", "Title of a talk in May.")
    (item,) = propose(said("I prefer tabs over spaces."), [known]).items
    assert item.name.startswith("prefer-tabs-over-spaces-")


def test_messages_seen_before_are_context_only() -> None:
    messages = [
        *said("I prefer tabs over spaces."),
        said("I live in Osaka.")[0].model_copy(update={"index": 1}),
    ]
    assert [item.body for item in propose(messages, [], 1).items] == ["I live in Osaka."]
    assert propose(messages, [], 2) == propose([], [])


_PIECES = st.sampled_from(
    [
        *(text for text, _ in EXAMPLES.POSITIVE),
        *(text for text, _ in EXAMPLES.NEGATIVE),
        "because it is faster",
        "因为更快",
        "Actually, ",
        "更正：",
        "Forget that.",
        "Remember that.",
        "请记住。",
        "\n",
        "\r\n",
        "\n- ",
        "```",
        '"',
        "“",
        "`",
        "> ",
        "<x>",
        "</x>",
        "not 15",
        "不是 15",
        ":",
    ]
)
_TEXTS = st.lists(_PIECES | st.text(max_size=20), max_size=8).map("".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.sampled_from(["human", "assistant"]), _TEXTS), max_size=5),
    st.integers(0, 3),
)
def test_any_conversation_gives_legal_items_whose_quotes_stand_in_human_parts(
    spoken: list[tuple[str, str]], new_from: int
) -> None:
    messages = [
        said(text, cls)[0].model_copy(update={"index": index})
        for index, (cls, text) in enumerate(spoken)
    ]
    known = [KnownRecord("tabs", "user", "I prefer tabs", "I prefer tabs over spaces.")]
    result = propose(messages, known, new_from)
    assert len({item.name for item in result.items}) == len(result.items)
    for item in result.items:
        assert is_name(item.name)
        assert item.type in RECORD_TYPES
        assert 0 < len(item.description) <= 200
        assert any(citation.message >= new_from for citation in item.evidence)
        for citation in item.evidence:
            cls, text = spoken[citation.message]
            assert cls == "human"
            assert citation.quote in text
            assert 8 <= quote_length(citation.quote) <= 1000
    for left in result.passed_over:
        assert left.message >= new_from
        assert left.quote in spoken[left.message][1]


@pytest.mark.parametrize(
    "text",
    [
        "never " * 200_000,
        "I prefer tabs, " * 60_000,
        "<a>\n" * 200_000,
        "' '" * 300_000,
        '"never' * 200_000,
        "不要" * 500_000,
        "记住" * 500_000,
        "e.g. " * 200_000,
        "I prefer tabs.\n" * 3_000,
        "\n" * 1_000_000,
        "-" * 1_000_000,
        "please remember, actually, " * 40_000,
        "a:" * 500_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_megabyte_of_anything_is_read_to_its_end(text: str) -> None:
    assert len(propose(said(text), []).items) <= 1
