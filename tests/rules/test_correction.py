"""A statement that changes an earlier one, or a record of the store, takes its place."""

from __future__ import annotations

import pytest

from gitmem.domain.proposal_item import Item
from gitmem.domain.session import Message
from gitmem.rules import KnownRecord, propose

OK = ("assistant", "OK.")


def one(messages: list[Message], *known: KnownRecord, new_from: int = 0) -> Item:
    (item,) = propose(messages, known, new_from).items
    return item


@pytest.mark.parametrize(
    ("first", "correction", "body"),
    [
        (
            "Use 2 spaces for indentation.",
            "Actually, use 4 spaces.",
            "Use 4 spaces for indentation.",
        ),
        (
            "We use Postgres 15 in production.",
            "No, it's Postgres 16, not 15.",
            "We use Postgres 16 in production.",
        ),
        (
            "Remember that the API listens on port 8080.",
            "Sorry, I meant 8081.",
            "The API listens on port 8081.",
        ),
        (
            "Always use port 80 for service 1.",
            "Correction: always use port 90 for service 1.",
            "Always use port 90 for service 1.",
        ),
        ("本地数据库的端口是 5432。", "更正：端口是 5433。", "本地数据库的端口是 5433。"),
        ("本地数据库的端口是 5432。", "不对，应该是 5433。", "本地数据库的端口是 5433。"),
        ("我喜欢用制表符缩进。", "我改主意了，用空格。", "我喜欢用空格缩进。"),
        ("统一用 5.7 版本的 MySQL。", "改成 8.0 版本。", "统一用 8.0 版本的 MySQL。"),
    ],
)
def test_a_value_is_put_in_the_place_of_the_old_one(
    turns, first: str, correction: str, body: str
) -> None:
    item = one(turns(first, OK, correction))
    assert item.body == body
    assert [(c.message, c.quote) for c in item.evidence] == [(0, first), (2, correction)]


@pytest.mark.parametrize(
    ("first", "correction", "body"),
    [
        ("I prefer tabs over spaces.", "I changed my mind, I prefer spaces.", "I prefer spaces."),
        (
            "We decided to use Postgres.",
            "Never mind, we're going with MySQL.",
            "We're going with MySQL.",
        ),
        (
            "我们决定用 MySQL。",
            "更正：我们决定用 Postgres，不用 MySQL。",
            "我们决定用 Postgres，不用 MySQL。",
        ),
        ("以后提交信息都用中文。", "更正：以后提交信息都用英文。", "以后提交信息都用英文。"),
        ("I live in Osaka.", "I moved to Kyoto.", "I moved to Kyoto."),
        (
            "The docs are at docs/a.md.",
            "The docs are now at docs/b.md.",
            "The docs are now at docs/b.md.",
        ),
        (
            "I like ORMs in small projects.",
            "I changed my mind, I hate ORMs in small projects.",
            "I hate ORMs in small projects.",
        ),
        (
            "后端代码一律用制表符缩进。",
            "更正：后端代码一律用空格缩进。",
            "后端代码一律用空格缩进。",
        ),
    ],
)
def test_a_statement_that_stands_alone_replaces_the_old_one(
    turns, first: str, correction: str, body: str
) -> None:
    result = propose(turns(first, OK, correction), [])
    assert [item.body for item in result.items] == [body]
    assert [c.quote for c in result.items[0].evidence] == [correction]
    assert [(p.message, p.reason) for p in result.passed_over] == [(0, "corrected later")]


@pytest.mark.parametrize(
    ("record", "text", "body"),
    [
        (
            KnownRecord(
                "indent",
                "feedback",
                "Tabs for indentation",
                "I prefer tabs for indentation.\n**Why:** habit.\n**How to apply:** everywhere.",
            ),
            "Actually, I prefer spaces for indentation.",
            "I prefer spaces for indentation.\n**How to apply:** everywhere.",
        ),
        (
            KnownRecord("home", "user", "Lives in Osaka", "I live in Osaka."),
            "I live in Kyoto.",
            "I live in Kyoto.",
        ),
        (
            KnownRecord("home", "user", "住在大阪", "我住在大阪。"),
            "我搬到了京都。",
            "我搬到了京都。",
        ),
        (
            KnownRecord("db-port", "project", "本地端口", "本地数据库的端口是 5432。"),
            "不是 5432，是 5433。",
            "本地数据库的端口是 5433。",
        ),
        (
            KnownRecord("pg", "project", "Postgres 15", "Production runs on Postgres 15."),
            "Correction: it's Postgres 16, not 15.",
            "Production runs on Postgres 16.",
        ),
        (
            KnownRecord(
                "indent",
                "feedback",
                "Always use tabs for indentation, not spaces",
                "Always use tabs for indentation, not spaces.",
            ),
            "Correction: use spaces for indentation, not tabs.",
            "Use spaces for indentation, not tabs.",
        ),
        (
            KnownRecord("indent", "feedback", "缩进用制表符，不用空格", "缩进用制表符，不用空格。"),
            "更正：缩进用空格，不用制表符。",
            "缩进用空格，不用制表符。",
        ),
    ],
)
def test_a_changed_fact_is_a_revision_of_its_record(
    turns, record: KnownRecord, text: str, body: str
) -> None:
    item = one(turns(text), record)
    assert (item.name, item.type, item.body) == (record.name, record.type, body)
    assert item.description == body.splitlines()[0].rstrip(".。")
    assert [c.quote for c in item.evidence] == [text]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Never push to main without a review.", "Actually, never push to main on Fridays."),
        ("I prefer tabs for Go.", "I prefer spaces for Python."),
        ("Always run the tests before pushing.", "Always run the linter before pushing."),
        ("代码里不要使用全局变量。", "测试里不要使用全局变量。"),
        ("Always use port 80 for service 1.", "Always use port 90 for service 2."),
        ("Always use port 80 for service 1.", "Actually, always use port 90 for service 2."),
        ("Always use port 80 for service 1.", "Correction: always use port 90 for service 2."),
        ("所有服务 1 的请求必须用端口 80。", "所有服务 2 的请求必须用端口 90。"),
        ("所有服务 1 的请求必须用端口 80。", "更正：所有服务 2 的请求必须用端口 90。"),
        ("Always use module alpha for task A.", "Always use module beta for task B."),
        ("We use Postgres 15 in production.", "We use Postgres 16 in staging."),
        ("We use Postgres 15 in production.", "We use Postgres 16 in production."),
        ("Never run the old migration script.", "Never run the new migration script."),
        ("The docs are at docs/a.md.", "The docs are at docs/b.md."),
        ("I like ORMs in small projects.", "I hate ORMs in small projects."),
        ("以后提交信息都用中文。", "以后提交信息都用英文。"),
        ("生产环境的端口是 5432。", "更正：测试环境的端口是 5433。"),
        ("后端代码一律用制表符缩进。", "更正：前端代码一律用空格缩进。"),
        ("我们决定订单服务用 Redis 6。", "我们决定支付服务用 Redis 7。"),
        ("I prefer small deploys.", "Correction: never deploy on weekends."),
        (
            "We decided to use Postgres for the billing service.",
            "Correction: we decided to use MySQL for the orders service.",
        ),
    ],
)
def test_two_facts_about_different_things_stay_two(turns, first: str, second: str) -> None:
    items = propose(turns(first, OK, second), []).items
    assert [item.evidence[0].quote for item in items] == [first, second]
    assert items[0].name != items[1].name


@pytest.mark.parametrize(
    "text",
    [
        "Actually, run the linter first.",
        "No, the other file.",
        "更正：是第三行。",
        "Sorry, wrong window.",
    ],
)
def test_a_correction_of_the_work_changes_no_record(turns, text: str) -> None:
    first = "Always run the tests before committing."
    item = one(turns(first, OK, text))
    assert item.body == first
    assert propose(turns(text), [KnownRecord("a", "feedback", first, first)]).items == ()


@pytest.mark.parametrize(
    "rule",
    ["Always use port {port} for service {n}.", "所有服务 {n} 的请求必须用端口 {port}。"],
)
def test_hundreds_of_rules_of_one_form_stay_as_many(turns, rule: str) -> None:
    said = [rule.format(port=8000 + n, n=n) for n in range(300)]
    result = propose(turns(*said), [])
    assert [item.body for item in result.items] == said
    assert result.passed_over == ()


def test_a_value_of_one_thing_is_not_put_into_another(turns) -> None:
    first = "Always use port 80 for service 1."
    result = propose(turns(first, OK, "Correction: service 2 uses port 90, not 80."), [])
    assert [item.body for item in result.items] == [first]
    assert [left.reason for left in result.passed_over] == ["corrects something that is not known"]


def test_an_unclear_correction_of_two_records_changes_neither(turns) -> None:
    known = [
        KnownRecord("a", "project", "port of a", "The alpha service listens on port 5432."),
        KnownRecord("b", "project", "port of b", "The beta service listens on port 5432."),
    ]
    assert propose(turns("Correction: port 5433, not 5432."), known).items == ()


def test_a_correction_of_what_was_proposed_before_keeps_its_name(turns) -> None:
    first = "I prefer tabs over spaces."
    before = one(turns(first))
    messages = turns(first, OK, "Correction: I prefer spaces over tabs.")
    after = one(messages, new_from=2)
    assert after.name == before.name
    assert after.body == "I prefer spaces over tabs."


def test_within_one_conversation_the_name_tells_what_holds(turns) -> None:
    item = one(turns("The staging database port is 5432.", OK, "Correction: it's 5433, not 5432."))
    assert item.name == "staging-database-port-5433"


def test_corrections_of_corrections_end_with_the_last(turns) -> None:
    item = one(
        turns(
            "We use Postgres 14 in production.",
            "Correction: it's Postgres 15, not 14.",
            "Correction: it's Postgres 16, not 15.",
        )
    )
    assert item.body == "We use Postgres 16 in production."
    assert len(item.evidence) == 3


def test_back_to_what_the_record_says_is_no_change(turns) -> None:
    known = KnownRecord("home", "user", "I live in Osaka", "I live in Osaka.")
    assert (
        propose(turns("I live in Kyoto.", OK, "Correction: I live in Osaka."), [known]).items == ()
    )


@pytest.mark.parametrize(
    ("first", "withdrawal"),
    [
        ("I prefer tabs over spaces.", "Leave that aside."),
        ("I prefer tabs over spaces.", "Forget what I said about tabs."),
        ("以后都用英文写注释。", "算了，当我没说。"),
    ],
)
def test_the_next_message_can_withdraw(turns, first: str, withdrawal: str) -> None:
    result = propose(turns(first, OK, withdrawal + " I live in Osaka."), [])
    assert [item.body for item in result.items] == ["I live in Osaka."]
    assert [(p.message, p.reason) for p in result.passed_over] == [(0, "withdrawn")]


def test_a_withdrawn_revision_leaves_the_record_as_it_is(turns) -> None:
    known = KnownRecord("home", "user", "I live in Osaka", "I live in Osaka.")
    assert propose(turns("I live in Kyoto.", OK, "Forget that."), [known]).items == ()


def test_a_withdrawal_names_what_it_withdraws(turns) -> None:
    messages = turns(
        "I prefer tabs over spaces.", "I live in Osaka.", "Forget what I said about tabs."
    )
    assert one(messages).body == "I live in Osaka."
