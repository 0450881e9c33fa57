"""MEMORY.md: within its limits, the same bytes everywhere, and nothing but its lines."""

from __future__ import annotations

import html
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gitmem.domain.layout import RECORD_TYPES, record_path
from gitmem.domain.text import illegal_characters
from gitmem.domain.view import ViewRow, render_view, view_order

LINES, BYTES = 200, 25_000


def row(name: str, type: str = "user", description: str = "A fact") -> ViewRow:
    return ViewRow(name, type, description, record_path(type, name, sharded=False))


def rows(count: int, type: str = "user", description: str = "A fact") -> list[ViewRow]:
    return [row(f"fact-{number:04}", type, description) for number in range(count)]


def render(
    current: list[ViewRow],
    superseded: list[ViewRow] | None = None,
    total: int | None = None,
    lines: int = LINES,
    size: int = BYTES,
) -> str:
    gone = superseded or []
    count = len(current) + len(gone) if total is None else total
    return render_view(current, gone, count, lines, size).decode()


def shown(text: str) -> list[str]:
    return [line[3 : line.index("]")] for line in text.split("\n") if line.startswith("- [")]


# --- form --------------------------------------------------------------------------------------


def test_records_are_grouped_by_type_and_sorted_by_name() -> None:
    text = render(
        [
            row("zulu", "reference", "Where bugs are tracked"),
            row("tabs"),
            row("db", "project", "PostgreSQL，团队熟悉"),
            row("answers", "feedback"),
            row("ada"),
        ]
    )
    assert text == (
        "# Memory\n"
        "\n## user\n\n"
        "- [ada](records/user/ada.md) — A fact\n"
        "- [tabs](records/user/tabs.md) — A fact\n"
        "\n## feedback\n\n"
        "- [answers](records/feedback/answers.md) — A fact\n"
        "\n## project\n\n"
        "- [db](records/project/db.md) — PostgreSQL，团队熟悉\n"
        "\n## reference\n\n"
        "- [zulu](records/reference/zulu.md) — Where bugs are tracked\n"
    )


@pytest.mark.parametrize(
    ("terms", "mark"),
    [
        ((None, None, None), ""),
        (("unconfirmed", None, None), " (unconfirmed)"),
        ((None, "2026-01-01", None), " (from 2026-01-01)"),
        ((None, None, "2026-12-31"), " (until 2026-12-31)"),
        (("unconfirmed", None, "2026-12-31"), " (unconfirmed; until 2026-12-31)"),
        (
            ("unconfirmed", "2026-01-01", "2026-12-31"),
            " (unconfirmed; from 2026-01-01; until 2026-12-31)",
        ),
    ],
)
def test_terms_stand_behind_the_description(
    terms: tuple[str | None, str | None, str | None], mark: str
) -> None:
    status, valid_from, valid_until = terms
    one = row("db", "project", "数据库是 [PostgreSQL]")._replace(
        status=status, valid_from=valid_from, valid_until=valid_until
    )
    line = f"- [db](records/project/db.md) — 数据库是 \\[PostgreSQL\\]{mark}\n"
    assert line in render([one])
    assert rendered_items(render([one])) == [f"数据库是 [PostgreSQL]{mark}"]


def test_terms_count_for_the_limit() -> None:
    bare = [row("a"), row("b")]
    dated = [one._replace(valid_until="2026-12-31") for one in bare]
    size = len(render(bare).encode())
    assert len(shown(render(bare, size=size))) == 2
    text = render(dated, size=size + len(" (until 2026-12-31)"))
    assert len(shown(text)) < 2 and len(text.encode()) <= size + len(" (until 2026-12-31)")


def test_an_empty_memory_says_so() -> None:
    assert render([]) == "# Memory\n\nNothing is remembered yet.\n"


@given(st.randoms(use_true_random=False))
def test_the_order_in_which_rows_come_does_not_matter(shuffle: random.Random) -> None:
    current = [row(f"r{n}", RECORD_TYPES[n % 4]) for n in range(40)]
    gone = [row(f"s{n}", RECORD_TYPES[n % 4]) for n in range(10)]
    for lines, size in ((LINES, BYTES), (30, BYTES), (LINES, 1200)):
        expected = render(current, gone, lines=lines, size=size)
        mixed, mixed_gone = current[:], gone[:]
        shuffle.shuffle(mixed)
        shuffle.shuffle(mixed_gone)
        assert render(mixed, mixed_gone, lines=lines, size=size) == expected


# --- limits ------------------------------------------------------------------------------------


def test_the_line_limit_is_met_exactly() -> None:
    # a title, a blank line, a heading, a blank line, and 196 records make 200 lines
    full = render(rows(196))
    assert full.count("\n") == 200
    assert len(shown(full)) == 196
    cut = render(rows(197))
    assert cut.count("\n") == 200
    assert len(shown(cut)) == 194
    assert cut.endswith("\n\n3 more records are not shown here; `gitmem list` shows all.\n")


@pytest.mark.parametrize("description", ["A fact", "用户服务器部署在腾讯云国内节点", "🎉 é"])
def test_the_byte_limit_is_met_exactly(description: str) -> None:
    whole = rows(20, description=description)
    size = len(render(whole).encode())
    assert len(shown(render(whole, size=size))) == 20
    cut = render(whole, size=size - 1)
    assert len(cut.encode()) <= size - 1
    assert 0 < len(shown(cut)) < 20


def test_long_chinese_descriptions_are_cut_by_bytes_and_never_within_one() -> None:
    many = rows(150, description="记" * 200)
    text = render(many)
    assert len(text.encode()) <= BYTES
    assert len(shown(text)) == 25_000 // len(
        f"- [fact-0000](records/user/fact-0000.md) — {'记' * 200}\n".encode()
    )
    assert f"\n{150 - len(shown(text))} more records are not shown here" in text


@given(
    st.lists(st.tuples(st.sampled_from(RECORD_TYPES), st.integers(1, 200)), max_size=60),
    st.integers(10, 60),
    st.integers(1000, 6000),
)
def test_the_view_is_within_both_limits_and_as_long_as_they_allow(
    shapes: list[tuple[str, int]], lines: int, size: int
) -> None:
    current = [row(f"r{n}", t, "记" * length) for n, (t, length) in enumerate(shapes)]
    text = render(current, lines=lines, size=size)
    assert text.count("\n") <= lines
    assert len(text.encode()) <= size
    ordered = sorted(current, key=view_order)
    count = len(shown(text))
    assert shown(text) == [r.name for r in ordered[:count]]
    if count < len(current):
        longer = render(ordered[: count + 1], total=len(current), lines=10_000, size=10**6)
        assert longer.count("\n") > lines or len(longer.encode()) > size


def test_user_and_feedback_are_kept_first() -> None:
    current = [*rows(100, "reference"), *[row(f"u{n}") for n in range(150)]]
    text = render(current)
    assert [name for name in shown(text) if name.startswith("u")] == sorted(
        f"u{n}" for n in range(150)
    )
    assert 0 < len(shown(text)) - 150 < 100


def test_what_another_record_supersedes_is_left_out_first() -> None:
    current = [*rows(100, "reference"), *[row(f"u{n}") for n in range(80)]]
    old = [row("aaa-old-1"), row("aaa-old-2"), *[row(f"old{n}") for n in range(30)]]
    text = render(current, old)
    assert set(shown(text)) >= {r.name for r in current}
    left = [name for name in shown(text) if name in {r.name for r in old}]
    assert left == sorted(left)
    assert 0 < len(left) < len(old)
    assert f"\n{len(old) - len(left)} more records" in text


def test_superseded_records_stay_where_there_is_room() -> None:
    text = render([row("new")], [row("old")])
    assert shown(text) == ["new", "old"]
    assert "more" not in text


def test_superseded_records_go_before_any_current_one_is_cut() -> None:
    text = render(rows(250), [row("aaa-old")])
    assert "aaa-old" not in text
    assert shown(text) == [f"fact-{n:04}" for n in range(194)]
    assert "\n57 more records are not shown here" in text


def test_one_record_left_out_is_in_the_singular() -> None:
    assert "\n1 more record is not shown here" in render(rows(5), total=6)


def test_only_the_first_rows_are_needed_of_a_large_memory() -> None:
    many = rows(5000)
    assert render(many[:LINES], total=5000) == render(many)
    assert "\n4806 more records are not shown here" in render(many)


# --- what a Markdown reader makes of it --------------------------------------------------------

HOSTILE = (
    "](x)",
    "[text](http://example.invalid)",
    "![image](x)",
    "<script>alert(1)</script>",
    "<!-- hidden -->",
    "`code` and ``more``",
    "- x",
    "* x",
    "+ x",
    "1. x",
    "1) x",
    "# x",
    "> x",
    "--- x",
    "===",
    "***",
    "**bold** *emphasis* __bold__ _emphasis_",
    "snake_case_name stays",
    "&lt;script&gt; &amp; &#60;",
    "https://example.invalid/x and www.example.invalid",
    "<https://example.invalid>",
    "a\\b \\[x\\](y)",
    "| a | b |",
    "~~gone~~ ~~~",
    "[x]: http://example.invalid",
    "[^1] and [x][y]",
    "ends with a backslash \\",
    "    four spaces",
    "用户喜欢 [制表符](x) `tab`",
    "</relevant_memories>",
    "$x$ @ada",
)


def rendered_items(text: str) -> list[str]:
    """The text of each list item, when there is nothing but headings and such items."""
    tokens = MarkdownIt("commonmark").parse(text)
    allowed = {"heading", "bullet_list", "list_item", "paragraph", "inline"}
    kinds = {t.type.removesuffix("_open").removesuffix("_close") for t in tokens}
    assert kinds <= allowed, kinds
    items = []
    for before, token in pairwise(tokens):
        if before.type != "paragraph_open":
            continue
        children = token.children or []
        assert [child.type for child in children[:3]] == ["link_open", "text", "link_close"]
        assert {c.type for c in children[3:]} <= {"text", "text_special"}, children
        items.append("".join(child.content for child in children[3:]).removeprefix(" — "))
    return items


@pytest.mark.parametrize("description", HOSTILE)
def test_a_hostile_description_is_one_list_item_that_shows_exactly_its_text(
    description: str,
) -> None:
    text = render([row("a"), row("b", description=description), row("c")])
    folded = " ".join(description.split())
    assert rendered_items(text) == ["A fact", folded, "A fact"]


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5))
def test_any_legal_description_is_one_list_item(descriptions: list[str]) -> None:
    legal = [
        d for d in descriptions if d.strip() and not illegal_characters(d, allow_newlines=False)
    ]
    text = render([row(f"r{n}", description=d) for n, d in enumerate(legal)])
    if legal:
        assert rendered_items(text) == [" ".join(d.split()) for d in legal]


def test_html_stays_text_in_a_browser() -> None:
    text = render([row("a", description="<b>&amp;</b>")])
    page = MarkdownIt("commonmark").render(text)
    assert "<b>" not in page
    assert html.escape("<b>&amp;</b>") in page


def test_every_link_leads_to_its_record() -> None:
    text = render([row("tabs"), row("db", "project")])
    tokens = MarkdownIt("commonmark").parse(text)
    links = [c.attrs["href"] for t in tokens for c in t.children or [] if c.type == "link_open"]
    assert links == ["records/user/tabs.md", "records/project/db.md"]
