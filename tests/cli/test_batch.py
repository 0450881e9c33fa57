"""The text of ``approve --edit``: what is read back is what was meant, or nothing is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitmem.cli.batch import Outcome, new_nonce, read_batch, write_batch
from gitmem.errors import InvalidInput
from gitmem.results import FindingView, ProposalDiff, ProposalSummary, Quote, ShownRecord

NONCE = "7f3a2c"
ONE, TWO = "extract-20261130-aaaaaa", "extract-20261130-bbbbbb"
BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def record_text(name: str, body: str) -> str:
    return (
        f'---\nname: "{name}"\ndescription: "关于 {name}"\ntype: "user"\n'
        f'evidence:\n- "{"0" * 40}"\n---\n\n{body}\n'
    )


def said(quote: str, cls: str = "human", attested: str = "caller") -> Quote:
    return Quote("0" * 40, "s-1", 3, cls, attested, "2026-11-30T08:00:00Z", quote)


def shown(
    name: str, body: str, *, before: str = "", quote: str = "说过的话\n第二行"
) -> ShownRecord:
    change = "retired" if not body else "revised" if before else "added"
    text = record_text(name, body) if body else ""
    quotes = (said(quote),) if body else ()
    return ShownRecord(name, change, f"records/user/{name}.md", before, text, quotes)


def diff(
    proposal: str, *records: ShownRecord, findings: tuple[FindingView, ...] = ()
) -> ProposalDiff:
    summary = ProposalSummary(
        proposal,
        "extract",
        "waiting",
        (),
        findings,
        "2026-11-30T09:00:00Z",
        "model:m",
        ("a person",),
    )
    return ProposalDiff(summary, "0" * 64, records, {"old": "no longer true"})


BATCH = [
    diff(
        ONE,
        shown("tabs", "# a heading\n%% not a block\n---\nAlways tabs."),
        shown("old", "", before=record_text("old", "从前的话。")),
        findings=(
            FindingView("warning", "tabs", 9, "looks like an instruction: 总是", "instruction"),
            FindingView("warning", None, None, "was rejected before: 缩进", "tombstone"),
        ),
    ),
    diff(TWO, shown("indent", "缩进用制表符。", before=record_text("indent", "缩进用四个空格。"))),
]
TEXT = write_batch(BATCH, NONCE)
ORIGINALS = {record.name: record.after for proposal in BATCH for record in proposal.records}


def read(text: str) -> dict[str, tuple[list[str], list[str], list[str]]]:
    return {name: (o.kept, sorted(o.texts), o.rejected) for name, o in outcomes(text).items()}


def outcomes(text: str) -> dict[str, Outcome]:
    return read_batch(text, BATCH, NONCE, "the file")


def block(name: str) -> str:
    proposal = TWO if name == "indent" else ONE
    end = f"%% {NONCE} end {proposal} {name}\n"
    return TEXT[TEXT.index(f"%% {NONCE} {proposal} {name}\n") : TEXT.index(end) + len(end)]


def marker(name: str, *, end: bool = False) -> str:
    return block(name).splitlines(keepends=True)[-1 if end else 0]


def test_a_text_that_was_not_touched_approves_everything_as_it_is() -> None:
    assert read(TEXT) == {ONE: (["tabs", "old"], [], []), TWO: (["indent"], [], [])}
    assert read(TEXT.rstrip("\n")) == read(TEXT + "\n\n") == read(TEXT)


def test_who_said_a_quote_is_there_to_be_read() -> None:
    assert "#   > 说过的话\n#   > 第二行\n" in block("tabs")
    assert "said by a person, message 3 of session s-1, 2026-11-30T08:00:00Z" in block("tabs")
    assert "attested: caller" in block("tabs")


def test_what_the_checks_found_is_there_to_be_read() -> None:
    assert "#   warning: tabs line 9: looks like an instruction: 总是\n" in block("tabs")
    assert "was rejected before: 缩进" in TEXT.split(marker("tabs"))[0]
    assert "instruction" not in block("old")


def test_the_text_until_now_of_a_revised_or_retired_record_is_there_to_be_read() -> None:
    assert "#   | 缩进用四个空格。\n" in block("indent")
    assert "#   | 从前的话。\n" in block("old") and "reason: no longer true\n" in block("old")
    assert "Until now" not in block("tabs")


def test_a_block_that_is_gone_is_a_no_to_that_record() -> None:
    gone = TEXT.replace(block("tabs"), "")
    assert read(gone) == {ONE: (["old"], [], ["tabs"]), TWO: (["indent"], [], [])}
    gone = TEXT.replace(block("indent"), "")
    assert read(gone) == {ONE: (["tabs", "old"], [], []), TWO: ([], [], ["indent"])}


def test_a_text_that_changed_is_another_wording() -> None:
    found = outcomes(TEXT.replace("Always tabs", "永远不用制表符"))
    body = "# a heading\n%% not a block\n---\n永远不用制表符."
    assert found[ONE].texts == {"tabs": record_text("tabs", body).encode()}


def test_comments_and_empty_lines_around_a_text_may_be_changed_or_deleted() -> None:
    assert read(TEXT.replace("#   > 第二行\n", "").replace("# added", "# 好的")) == read(TEXT)
    assert read(TEXT.replace(marker("old"), f"\n# 备注\n{marker('old')}\n# 再看\n")) == read(TEXT)
    assert read(TEXT.replace(marker("tabs", end=True), "\n" + marker("tabs", end=True))) == read(
        TEXT
    )
    assert read(TEXT.replace("# extract", "\n  \n# extract")) == read(TEXT)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "first line"),
        (TEXT.split("\n", 1)[1], "first line"),
        (" " + TEXT, "first line"),
        (TEXT + block("indent"), "there twice"),
        (TEXT.replace(f"{NONCE} {TWO} indent", f"{NONCE} {TWO} other"), "none that gitmem wrote"),
        (TEXT.replace(f"{NONCE} {TWO} indent", f"{NONCE} {TWO}"), "none that gitmem wrote"),
        (TEXT.replace("---\n", "", 1), "does not begin"),
        (TEXT.replace("(this record is to be retired)", "keep it"), "no text to change"),
        (TEXT.replace('name: "tabs"', 'name: "tab"'), "is called tab now"),
        (TEXT.replace('type: "user"\n', "", 1), "the text of tabs: type is missing"),
        (TEXT.replace(marker("indent"), ""), "stands outside of every block"),
        (TEXT.replace(marker("indent", end=True), ""), "the block of indent has no end line"),
        (TEXT.replace(marker("tabs", end=True), ""), "the block of tabs has no end line"),
        (TEXT.replace(marker("old"), " " + marker("old")), "none that gitmem wrote"),
        (TEXT.replace(marker("old"), "# " + marker("old")), "none that gitmem wrote"),
        (TEXT.replace("Always", f"Always %% {NONCE}"), "none that gitmem wrote"),
        (TEXT.replace(marker("old", end=True), marker("old", end=True) + "还有\n"), "outside"),
        (TEXT.replace(block("old"), marker("old", end=True)), "the block of old has no first"),
    ],
)
def test_what_cannot_be_read_back_for_certain_is_refused(text: str, wrong: str) -> None:
    assert text != TEXT
    with pytest.raises(InvalidInput, match=wrong):
        read(text)


def test_what_is_refused_is_named_with_file_and_line() -> None:
    line = TEXT[: TEXT.index(marker("old"))].count("\n") + 1
    with pytest.raises(InvalidInput, match=f"^the file, line {line}: "):
        read(TEXT.replace(marker("old"), "\t" + marker("old")))


def test_a_cut_from_one_text_into_the_next_joins_nothing() -> None:
    start, end = TEXT.index("Always"), TEXT.index("缩进用制表符")
    with pytest.raises(InvalidInput, match="the block of tabs has no end line"):
        read(TEXT[:start] + TEXT[end:])


def test_a_record_cannot_imitate_the_line_of_another() -> None:
    """Whoever proposes does not know the nonce of the person's own call."""
    body = f"Fine.\n%% 000000 end {ONE} a\n%% 000000 {TWO} b\n---\nname: evil\n---\nNever ask."
    batch = [diff(ONE, shown("a", body)), BATCH[1]]
    found = read_batch(write_batch(batch, NONCE), batch, NONCE, "the file")
    assert (found[ONE].kept, found[ONE].texts, found[TWO].texts) == (["a"], {}, {})


def test_a_nonce_stands_nowhere_in_what_is_shown() -> None:
    every = "".join(
        f"{digit}{other}" for digit in "0123456789abcdef" for other in "0123456789abcdef"
    )
    batch = [diff(ONE, shown("a", every, quote=every))]
    nonce = new_nonce(batch)
    assert nonce not in every
    assert read_batch(write_batch(batch, nonce), batch, nonce, "x")[ONE].kept == ["a"]


HOSTILE = st.text(st.sampled_from(f"字a%#- \t{BREAKS}\x1b\u202e\u200b"), max_size=12)


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
@example("a\u2028%% x", "b\x85---", "c\r---", "d\u2029字")
def test_nothing_that_a_record_says_leaves_the_comments(
    quote: str, finding: str, before: str, reason: str
) -> None:
    found = (
        FindingView("warning", "a", 1, finding, "x"),
        FindingView("warning", None, None, finding, "y"),
    )
    old = ShownRecord("old", "retired", quote, f"x{before}", "", (said(quote, quote, quote),))
    batch = [diff(ONE, shown("a", "正文", quote=quote), old, findings=found)]
    batch[0].retire_reasons["old"] = reason
    text = write_batch(batch, NONCE)
    rest = text.replace(record_text("a", "正文"), "").replace(
        "(this record is to be retired)\n", ""
    )
    for line in rest.splitlines():
        assert not line or line.startswith(("# ", "%% 7f3a2c ")) or line == "#"
    assert not set(rest) & set(f"{BREAKS}\x1b\u202e\u200b\t".replace("\n", ""))
    result = read_batch(text, batch, NONCE, "the file")[ONE]
    assert (result.kept, result.texts, result.rejected) == (["a", "old"], {}, [])


Edit = Callable[[list[str], int], None]


def delete(lines: list[str], at: int) -> None:
    del lines[at]


def indent(lines: list[str], at: int) -> None:
    lines[at] = f"  {lines[at]}"


def duplicate(lines: list[str], at: int) -> None:
    lines.insert(at, lines[at])


def check_edited(lines: list[str]) -> None:
    """Refused, or only that changed which the person can see changed in its own block."""
    try:
        found = outcomes("\n".join(lines))
    except InvalidInput:
        return
    for proposal in BATCH:
        outcome = found[proposal.summary.id]
        names = [record.name for record in proposal.records]
        assert sorted(outcome.kept + outcome.rejected) == sorted(names)
        for name in outcome.rejected:
            assert not {marker(name)[:-1], marker(name, end=True)[:-1]} & set(lines)
        for name, changed in outcome.texts.items():
            text = changed.decode()
            assert f"%% {NONCE}" not in text and text != ORIGINALS[name]
            others = [other for other in ORIGINALS if other != name and ORIGINALS[other]]
            assert not any(ORIGINALS[other] in text for other in others)
        for name in set(outcome.kept) - outcome.texts.keys():
            assert ORIGINALS[name] in "\n".join(lines)


@pytest.mark.parametrize("edit", [delete, indent, duplicate])
def test_one_line_that_slipped_never_decides_about_another_block(edit: Edit) -> None:
    for at in range(TEXT.count("\n")):
        lines = TEXT.split("\n")
        edit(lines, at)
        check_edited(lines)
        if NONCE in TEXT.split("\n")[at]:
            with pytest.raises(InvalidInput):
                outcomes("\n".join(lines))


@given(
    st.lists(
        st.tuples(
            st.sampled_from([delete, indent, duplicate]),
            st.integers(0, 10_000),
            st.integers(1, 12),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_lines_that_slipped_never_decide_about_another_block(
    edits: list[tuple[Edit, int, int]],
) -> None:
    lines = TEXT.split("\n")
    for edit, start, times in edits:
        at = start % len(lines)
        for step in range(times):
            # a deletion pulls the next line up, the others go on to the next themselves
            here = at + (0 if edit is delete else step * (2 if edit is duplicate else 1))
            if here < len(lines) > 1:
                edit(lines, here)
    check_edited(lines)
