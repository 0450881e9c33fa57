"""A person's memory from its first commit on: remember, look, change, forget, remember again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.errors import InvalidInput, NotFound, Refused, Usage, Waiting
from gitmem.results import ProposalDiff
from tests.memory.words import (
    ADA,
    BEN,
    DAY,
    NOW,
    change_set,
    item,
    opened,
    state,
    user,
    why_dropped,
)
from tests.store.stories import copy, plain

TABS = "Use tabs, not spaces, for indentation, because screen readers announce each one once."
SERVER = "用户服务器部署在腾讯云国内节点，数据库用 PostgreSQL 16。"
PARSER = "The parser lives in ledger/parse_invoice.py; start there when importing fails."


@pytest.fixture(scope="module")
def _filled(_empty: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copy(_empty, tmp_path_factory.mktemp("filled") / "memory")
    with opened(root) as memory:
        memory.remember(TABS, name="use-tabs", type="feedback", person=ADA)
        memory.remember(SERVER, name="server-place", type="project", person=BEN)
        memory.remember(PARSER, name="parser-entry", type="reference", person=ADA)
    return root


@pytest.fixture
def filled(_filled: Path, tmp_path: Path) -> Iterator[MemoryStore]:
    with opened(copy(_filled, tmp_path / "memory")) as memory:
        yield memory


def test_a_new_memory_is_empty_and_says_what_to_do_first(memory: MemoryStore) -> None:
    status = memory.status()
    assert (status.count, status.open_proposals, status.problems) == (0, 0, ())
    assert any("gitmem remember" in step for step in status.next)
    assert memory.list() == [] == memory.proposals()
    assert [entry.kind for entry in memory.log()] == ["genesis"]
    assert memory.fsck().ok


def test_a_folder_that_is_not_empty_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("我的", encoding="utf-8")
    with pytest.raises(Refused, match="not empty"):
        MemoryStore.init(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_what_was_remembered_is_listed_by_type_and_shown_with_its_quote(
    filled: MemoryStore,
) -> None:
    assert [line.name for line in filled.list()] == ["use-tabs", "server-place", "parser-entry"]
    assert [line.name for line in filled.list(type="project")] == ["server-place"]
    shown = filled.show("server-place")
    assert shown.body == SERVER
    (quote,) = shown.evidence
    assert (quote.quote, quote.cls, quote.attested) == (SERVER, "human", "caller")
    assert quote.at == "2026-09-21T14:13:20Z"


def test_a_description_is_the_first_sentence(memory: MemoryStore) -> None:
    text = "数据库迁移必须先备份。去年升级时丢过一次数据。"
    result = memory.remember(text, type="feedback", person=BEN)
    assert result.records[0].description == "数据库迁移必须先备份。"
    assert result.records[0].name.isascii()
    assert memory.show(result.records[0].name).body == text


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("腾讯云", "server-place"),
        ("部署", "server-place"),
        ("indenting with tab", "use-tabs"),
        ("parse_invoice", "parser-entry"),
        ("invoice", "parser-entry"),
        ("数据库 PostgreSQL", "server-place"),
        ("where is postgresql deployed zzzabsent", "server-place"),
    ],
)
def test_a_search_finds_words_stems_identifiers_and_chinese(
    filled: MemoryStore, query: str, name: str
) -> None:
    assert [hit.name for hit in filled.search(query)][:1] == [name]


def test_a_search_for_nothing_known_finds_nothing(filled: MemoryStore) -> None:
    assert filled.search("kubernetes 缓存") == []
    with pytest.raises(Usage, match="1 to 1000"):
        filled.search("tabs", limit=0)


def test_a_mistyped_name_is_answered_with_the_close_ones(filled: MemoryStore) -> None:
    with pytest.raises(NotFound, match="use-tab") as caught:
        filled.show("use-tab")
    assert "use-tabs" in caught.value.hint
    with pytest.raises(NotFound, match="gitmem list"):
        filled.edit("没有这个", body="x", person=ADA)


def test_why_tells_quote_session_proposer_reviews_approval_and_merge(filled: MemoryStore) -> None:
    why = filled.why("use-tabs")
    (entry,) = why.history
    assert (entry.kind, entry.change) == ("remember", "added")
    assert entry.proposed_by == f"human:{ADA}"
    assert entry.approved_by == (f"human:{ADA}",)
    assert [review.reviewer for review in entry.reviews] == ["checks", "person"]
    assert entry.merge in {line.commit for line in filled.log("use-tabs")}
    (quote,) = why.record.evidence
    assert quote.session == entry.session
    assert why.contexts[quote.id] == TABS


def test_the_ledger_reads_in_plain_git(filled: MemoryStore) -> None:
    subjects = plain(filled.path, "log", "--first-parent", "--format=%s", "main").splitlines()
    assert [subject.split(": ")[-1] for subject in subjects] == [
        "parser-entry",
        "server-place",
        "use-tabs",
        "Begin a memory",
    ]
    view = (filled.path / "MEMORY.md").read_text(encoding="utf-8")
    assert all(name in view for name in ("use-tabs", "server-place", "parser-entry"))
    assert plain(filled.path, "status", "--porcelain") == ""


def test_a_log_is_cut_at_its_limit(filled: MemoryStore) -> None:
    assert [entry.records[0][0] for entry in filled.log(limit=2)] == [
        "parser-entry",
        "server-place",
    ]
    assert [entry.kind for entry in filled.log("use-tabs")] == ["merge"]
    with pytest.raises(NotFound, match="没有这个"):
        filled.log("没有这个")
    for limit in (0, -1):
        with pytest.raises(Usage, match=f"not {limit}"):
            filled.log(limit=limit)


# --- a person is shown the change first ------------------------------------------------------


def test_nothing_is_written_before_the_person_says_yes(memory: MemoryStore) -> None:
    before = state(memory.path)
    seen: list[ProposalDiff] = []

    def no(diff: ProposalDiff) -> bool:
        seen.append(diff)
        assert state(memory.path) == before
        return False

    result = memory.remember(TABS, name="use-tabs", person=ADA, confirm=no)
    assert (result.state, result.proposal, result.merge) == ("declined", None, None)
    assert state(memory.path) == before
    assert seen[0].records[0].quotes[0].quote == TABS
    assert TABS in seen[0].records[0].after


@pytest.mark.parametrize("kind", ["remember", "edit", "forget"])
def test_a_change_that_another_program_made_meanwhile_is_not_overwritten(
    filled: MemoryStore, kind: str
) -> None:
    name = "new-fact" if kind == "remember" else "use-tabs"
    text = "缩进用四个空格。"

    def yes_after_another(diff: ProposalDiff) -> bool:
        with opened(filled.path) as other:
            if kind == "remember":
                other.remember(text, name=name, type="feedback", person=BEN)
            else:
                other.edit(name, body=text, person=BEN)
        return bool(diff.records)

    with pytest.raises(Waiting, match=f"{name} changed on main meanwhile") as caught:
        if kind == "remember":
            filled.remember(
                "部署只在每周二进行。", name=name, person=ADA, confirm=yes_after_another
            )
        elif kind == "edit":
            filled.edit(name, body="Use tabs.", person=ADA, confirm=yes_after_another)
        else:
            filled.forget(name, person=ADA, confirm=yes_after_another)
    assert "nothing was written" in caught.value.message
    assert filled.show(name).body == text
    assert filled.proposals() == []


def test_a_yes_counts_although_something_else_was_merged_meanwhile(filled: MemoryStore) -> None:
    def yes_after_another(diff: ProposalDiff) -> bool:
        with opened(filled.path) as other:
            other.forget("use-tabs", person=BEN)
        return bool(diff.records)

    filled.remember("端口是 8081。", name="port", person=ADA, confirm=yes_after_another)
    assert {"port", "use-tabs"} & {line.name for line in filled.list()} == {"port"}
    assert filled.fsck().ok


def test_a_taken_name_is_refused_and_names_the_command_that_changes_it(
    filled: MemoryStore,
) -> None:
    with pytest.raises(Refused, match="gitmem edit use-tabs"):
        filled.remember("Tabs again, please.", name="use-tabs", person=ADA)


@pytest.mark.parametrize("kind", ["remember", "edit"])
def test_an_unknown_type_is_named_with_those_that_exist(filled: MemoryStore, kind: str) -> None:
    before = state(filled.path)
    with pytest.raises(InvalidInput, match=r"'想法'.*user, feedback, project, reference"):
        if kind == "edit":
            filled.edit("use-tabs", type="想法", person=ADA)
        else:
            filled.remember(TABS, name="other", type="想法", person=ADA)
    assert state(filled.path) == before


# --- edit ------------------------------------------------------------------------------------


def test_an_edit_keeps_the_old_quote_and_adds_the_persons_new_words(filled: MemoryStore) -> None:
    body = "Use tabs in Python and Go; Makefiles need them anyway."
    result = filled.edit("use-tabs", body=body, description="缩进用制表符", person=BEN)
    assert result.state == "merged"
    shown = filled.show("use-tabs")
    assert (shown.body, shown.summary.description) == (body, "缩进用制表符")
    quotes = [quote.quote for quote in shown.evidence]
    assert quotes[0] == TABS and body in quotes[1] and "缩进用制表符" in quotes[1]
    assert [entry.kind for entry in filled.why("use-tabs").history] == ["edit", "remember"]
    assert result.findings == ()


def test_an_edit_says_when_what_an_old_quote_was_said_in_is_not_here(filled: MemoryStore) -> None:
    for path in (filled.path / ".git/gitmem/sessions").iterdir():
        path.unlink()
    result = filled.edit("use-tabs", description="缩进用制表符", person=BEN)
    assert [finding.code for finding in result.findings] == ["session-absent"]
    assert filled.why("use-tabs").contexts.keys() == {filled.show("use-tabs").evidence[1].id}


def test_line_ends_of_another_system_are_no_fault(memory: MemoryStore) -> None:
    text = "Line one is here.\r\n第二行在这里。"
    memory.remember(text, name="lines", type="project", person=ADA)
    assert memory.show("lines").body == "Line one is here.\n第二行在这里。"
    with pytest.raises(Usage, match="nothing of lines would change"):
        memory.edit("lines", body=text + "\r\n", person=ADA)


def test_an_edit_of_nothing_says_so(filled: MemoryStore) -> None:
    with pytest.raises(Usage, match="nothing of use-tabs would change"):
        filled.edit("use-tabs", body=TABS, person=ADA)


def test_quotes_are_kept_up_to_sixteen(memory: MemoryStore) -> None:
    memory.remember(TABS, name="use-tabs", type="feedback", person=ADA)
    for number in range(16):
        text = f"Use tabs in all {number + 2} services that we have."
        memory.edit("use-tabs", body=text, person=ADA)
    quotes = [quote.quote for quote in memory.show("use-tabs").evidence]
    assert len(quotes) == 16
    assert quotes[0] == TABS
    assert quotes[-1] == "Use tabs in all 17 services that we have."


def test_a_new_type_drops_the_quotes_that_cannot_support_it(memory: MemoryStore) -> None:
    said = "The linter configuration says indent-style is tab."
    tool = {"role": "tool", "tool_call_id": "c1", "content": said}
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    messages = [user("Look."), {"role": "assistant", "content": None, "tool_calls": [call]}, tool]
    proposed = memory.propose(change_set(messages, item(said, 2, name="indent-style")))
    assert proposed.proposal
    memory.approve(proposed.proposal, person=ADA)
    assert [quote.cls for quote in memory.show("indent-style").evidence] == ["tool"]
    with pytest.raises(Refused, match="a person said"):
        memory.edit("indent-style", type="user", person=ADA)
    memory.edit("indent-style", type="user", body="I want tabs everywhere.", person=ADA)
    shown = memory.show("indent-style")
    assert shown.summary.type == "user"
    assert [(q.cls, q.quote) for q in shown.evidence] == [("human", "I want tabs everywhere.")]


def test_a_new_type_alone_puts_no_words_into_the_persons_mouth(filled: MemoryStore) -> None:
    before = filled.show("use-tabs").evidence
    filled.edit("use-tabs", type="user", person=BEN)
    shown = filled.show("use-tabs")
    assert shown.summary.type == "user"
    assert shown.evidence == before


# --- forget ----------------------------------------------------------------------------------


def test_what_was_forgotten_does_not_come_back_until_a_person_brings_it(
    filled: MemoryStore,
) -> None:
    filled.forget("use-tabs", reason="我们改用空格了", person=BEN)
    assert "use-tabs" not in [line.name for line in filled.list()]
    assert filled.search("indentation") == []
    assert plain(filled.path, "ls-tree", "-r", "--name-only", "main", "tombstones/") != ""
    assert "use-tabs" not in (filled.path / "MEMORY.md").read_text(encoding="utf-8")

    # The same fact, in other marks and case, by a proposer: dropped, naming who and when.
    said = user(TABS)
    known = item(TABS, name="tabs-again", type="feedback", description=TABS, body=TABS.upper())
    with opened(filled.path, NOW + DAY) as later:
        result = later.propose(change_set([said], known))
    assert (result.state, result.proposal) == ("nothing", None)
    reason = why_dropped(result)["tabs-again"]
    assert "本 <ben@example.org>" in reason and "2026-09-21" in reason
    assert "我们改用空格了" in reason

    filled.remember(TABS, name="use-tabs", type="feedback", description=TABS, person=ADA)
    assert filled.show("use-tabs").body == TABS
    assert plain(filled.path, "ls-tree", "-r", "--name-only", "main", "tombstones/") == ""
    assert filled.fsck().ok


def test_a_reason_that_is_too_long_or_holds_a_secret_is_refused(filled: MemoryStore) -> None:
    before = state(filled.path)
    with pytest.raises(Usage, match="500 characters, not 501"):
        filled.forget("use-tabs", reason="长" * 501, person=ADA)
    with pytest.raises(InvalidInput, match="secret"):
        filled.forget("use-tabs", reason="the password is hunter2-Autumn", person=ADA)
    assert state(filled.path) == before
    filled.forget("use-tabs", reason="长" * 500, person=ADA)
    assert filled.fsck().ok
