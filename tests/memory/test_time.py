"""Memory as of a commit or a date, the life of a fact, and what holds on which day."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused
from tests.memory.timeline import at, fact, merged, on, proposed
from tests.memory.words import ADA, BEN
from tests.store.stories import copy, plain, rev

POSTGRES = "数据库用 PostgreSQL 16，不用 MySQL。"
TUESDAYS = "We deploy on Tuesdays only, after the tests."
QUERIES = ("数据库", "deploy Tuesdays", "PostgreSQL 周二", "zebra")
LAST_DAY = "2026-09-09"

Answers = dict[str, Any]


def answers(memory: MemoryStore, moment: str | None = None) -> Answers:
    """All that can be read, as JSON."""
    names = [line.name for line in memory.list(at=moment)]
    return {
        "list": [line.to_json() for line in memory.list(at=moment)],
        "show": [memory.show(name, at=moment).to_json() for name in names],
        "why": [memory.why(name, at=moment).to_json() for name in names],
        "log": [entry.to_json() for entry in memory.log(at=moment)],
        "search": [
            [hit.to_json() for hit in memory.search(query, all=every, at=moment)]
            for query in QUERIES
            for every in (False, True)
        ],
    }


@pytest.fixture(scope="module")
def _told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Answers]]:
    """A memory with a past, and what it answered at each commit when that was the newest."""
    root = tmp_path_factory.mktemp("told") / "memory"
    MemoryStore.init(root, clock=lambda: at("2026-09-01")).close()
    then: dict[str, Answers] = {}

    def note(day: str) -> None:
        with on(root, day) as memory:
            then[rev(root, "main")] = answers(memory)

    note("2026-09-01")
    merged(root, "2026-09-02", fact("db-postgres", POSTGRES, valid_until="2026-12-31"))
    note("2026-09-02")
    merged(root, "2026-09-03", fact("old-name", TUESDAYS, status="unconfirmed"))
    note("2026-09-03")
    renamed = fact("new-name", "We deploy on Tuesdays.", quotes_of=["old-name"])
    merged(root, "2026-09-05", renamed, retire=["old-name"])
    note("2026-09-05")
    merged(
        root,
        "2026-09-07",
        fact(
            "deploys",
            "部署只在周二进行，数据库是 PostgreSQL。",
            quotes_of=["new-name", "db-postgres"],
            supersedes=["new-name", "db-postgres"],
        ),
    )
    note("2026-09-07")
    with on(root, LAST_DAY) as memory:
        memory.forget("new-name", person=ADA)
    note(LAST_DAY)
    return root, then


@pytest.fixture
def told(_told: tuple[Path, dict[str, Answers]], tmp_path: Path) -> Path:
    return copy(_told[0], tmp_path / "memory")


@pytest.fixture
def memory(told: Path) -> Iterator[MemoryStore]:
    with on(told, LAST_DAY) as memory:
        yield memory


def names_at(memory: MemoryStore, moment: str | None) -> list[str]:
    return [line.name for line in memory.list(at=moment)]


def refused(memory: MemoryStore, moment: str) -> GitmemError:
    """The moment is refused by everything that takes one, with the same words."""
    errors = []
    for ask in (
        lambda: memory.list(at=moment),
        lambda: memory.show("deploys", at=moment),
        lambda: memory.search("数据库", at=moment),
        lambda: memory.log(at=moment),
        lambda: memory.why("deploys", at=moment),
    ):
        with pytest.raises(GitmemError) as caught:
            ask()
        errors.append(caught.value)
    assert len({(type(error), str(error)) for error in errors}) == 1
    return errors[0]


# --- which moment ------------------------------------------------------------------------------


def test_at_a_commit_everything_is_answered_as_when_it_was_the_newest(
    _told: tuple[Path, dict[str, Answers]], memory: MemoryStore
) -> None:
    _, then = _told
    assert len(then) == 6
    for oid, expected in then.items():
        assert answers(memory, oid) == expected
    assert [note for note in memory.notes if "left out" not in note] == []


def test_what_is_answered_of_the_past_does_not_need_the_cache(
    _told: tuple[Path, dict[str, Answers]], told: Path
) -> None:
    for file in (told / ".git/gitmem").glob("cache.sqlite*"):
        file.unlink()
    with on(told, "2031-01-01") as memory:
        for oid, expected in _told[1].items():
            assert answers(memory, oid) == expected


def test_a_commit_may_be_named_in_every_way_that_git_users_know(
    memory: MemoryStore, told: Path
) -> None:
    oid = rev(told, "main~2")
    plain(told, "tag", "v1", oid)
    plain(told, "tag", "-a", "-m", "发布", "发布-1", oid)
    proposal = next(entry.change for entry in memory.log() if entry.commit == oid)
    ways = [
        oid, oid.upper(), oid[:12], oid[:7], "main~2", "main^^", "refs/heads/main~2", "HEAD~2",
        "heads/main~2", "v1", "tags/v1", "v1^{}", "v1~0", "发布-1", proposal, proposal[:-2],
    ]  # fmt: skip
    for way in ways:
        assert names_at(memory, way) == ["db-postgres", "new-name"], way
    assert memory.notes == []


def test_a_tag_named_main_does_not_stand_for_the_branch(memory: MemoryStore, told: Path) -> None:
    plain(told, "tag", "main", "refs/heads/main~4")
    assert names_at(memory, "main") == names_at(memory, None) == ["db-postgres", "deploys"]
    assert names_at(memory, "main~1") == ["db-postgres", "deploys", "new-name"]
    assert names_at(memory, "tags/main") == ["db-postgres"]


@pytest.mark.parametrize(
    ("moment", "names"),
    [
        ("2026-09-01", []),
        ("2026-09-02", ["db-postgres"]),
        ("2026-09-02T11:59:59Z", []),
        ("2026-09-02T12:00", ["db-postgres"]),
        ("2026-09-02 12:00:00", ["db-postgres"]),
        ("2026-09-02T19:59+08:00", []),
        ("2026-09-02T20:00+08:00", ["db-postgres"]),
        ("2026-09-02t05:00-0700", ["db-postgres"]),
        ("2026-9-4", ["db-postgres", "old-name"]),
        ("2026-09-06", ["db-postgres", "new-name"]),
        ("2026-09-08", ["db-postgres", "deploys", "new-name"]),
        ("2026-09-09", ["db-postgres", "deploys"]),
    ],
)
def test_a_date_is_the_newest_commit_that_is_not_later(
    memory: MemoryStore, moment: str, names: list[str]
) -> None:
    assert names_at(memory, moment) == names
    assert memory.notes == []


@pytest.mark.parametrize("moment", ["2026-09-10", "9999-12-31", "2026-09-09T23:00"])
def test_what_has_not_come_yet_is_the_present_and_says_so(memory: MemoryStore, moment: str) -> None:
    assert memory.list(at=moment) == memory.list()
    assert memory.notes == [f"{moment} has not come yet; this is what is remembered now"]


@pytest.mark.parametrize("moment", ["2026-08-31", "2026-09-01T11:59", "1969-12-31", "0001-01-01"])
def test_before_the_first_commit_is_refused_with_its_date(memory: MemoryStore, moment: str) -> None:
    error = refused(memory, moment)
    assert isinstance(error, NotFound)
    assert "2026-09-01T12:00:00Z" in error.message
    assert "2026-09-01" in error.hint


@pytest.mark.parametrize(
    "moment",
    ["2026-02-30", "2026-13-01", "0000-01-01", "2026-09-02T25:00", "2026-09-02T10:00+9900"],
)
def test_a_day_that_is_not_in_the_calendar_is_refused(memory: MemoryStore, moment: str) -> None:
    assert isinstance(refused(memory, moment), InvalidInput)


def test_where_dates_on_main_fall_its_order_counts_and_a_note_says_so(told: Path) -> None:
    merged(told, "2026-09-30", fact("late", "The report is due on the last day."))
    merged(told, "2026-09-20", fact("early", "报告用中文写。"))
    before, after = ["db-postgres", "deploys"], ["db-postgres", "deploys", "early", "late"]
    with on(told, "2026-10-10") as memory:
        assert names_at(memory, "2026-09-19") == before
        assert names_at(memory, "2026-09-30") == after
        assert memory.notes == []
        assert names_at(memory, "2026-09-25") == after
        (note,) = memory.notes
    assert "do not rise" in note and "1 of the commits" in note


@pytest.mark.parametrize(
    "moment",
    [
        "--help", "-h", "--all", "--output=stolen", "-", "", " ", "nonsense", "没有", "main..HEAD",
        "^main", "main:MEMORY.md", "main^{tree}", "main~99", "0" * 40, "abcdef", "a\0b", "a\nb",
        "\ud800", "x" * 5000, "remember-20260101-abcdef", "2026", "yesterday",
    ],
    ids=lambda moment: ascii(moment)[:20],
)  # fmt: skip
def test_what_names_no_moment_is_refused_and_is_no_option_of_git(
    memory: MemoryStore, told: Path, moment: str
) -> None:
    before = sorted(str(path) for path in told.rglob("*") if "gitmem" not in path.parts)
    error = refused(memory, moment)
    assert isinstance(error, NotFound)
    assert "names no commit and no date" in error.message
    assert "2026-10-01" in error.hint and "main~3" in error.hint
    assert len(error.message) < 200
    assert sorted(str(p) for p in told.rglob("*") if "gitmem" not in p.parts) == before


def test_a_proposal_may_be_named_by_the_beginning_of_its_id_if_that_is_one(
    memory: MemoryStore, told: Path
) -> None:
    for number in range(3):
        port = fact(f"port-{number}", f"服务 {number} 在端口 700{number} 上。")
        merged(told, "2026-09-09", port, digits=f"abcd0{number}")
    assert names_at(memory, "consolidate-20260909-abcd01")[-2:] == ["port-0", "port-1"]
    error = refused(memory, "consolidate-20260909-abcd0")
    assert "is the beginning of 3 ids" in error.message
    assert "names no commit" in refused(memory, "consolidate-20260909-").message


def test_a_commit_beside_mains_own_line_is_refused(memory: MemoryStore, told: Path) -> None:
    waiting = proposed(told, LAST_DAY, fact("waiting", "新的服务器在香港。"))
    merged_tip = rev(told, "main^2")
    foreign = plain(told, "commit-tree", "main^{tree}", "-m", "another root")
    for moment in (f"proposals/{waiting}", merged_tip, foreign):
        error = refused(memory, moment)
        assert isinstance(error, Refused)
        assert "not on main's own line" in error.message
    assert isinstance(refused(memory, waiting), NotFound)


def test_a_stray_stands_for_the_accepted_commit_before_it(memory: MemoryStore, told: Path) -> None:
    plain(told, "commit", "-q", "--allow-empty", "-m", "手工")
    plain(told, "commit", "-q", "--allow-empty", "-m", "by hand again")
    accepted = rev(told, "main~2")
    for moment in ("main", "main~1"):
        memory.notes.clear()
        assert names_at(memory, moment) == ["db-postgres", "deploys"]
        (note,) = memory.notes
        assert "is a stray and no memory" in note and accepted[:12] in note
    memory.notes.clear()
    assert names_at(memory, accepted) == ["db-postgres", "deploys"]
    assert memory.notes == []


def test_the_past_costs_three_git_processes_and_no_verification(told: Path) -> None:
    with on(told, LAST_DAY) as memory:
        memory.log()
        commands: list[str] = []
        memory._opened().repo.runner.trace = lambda words: commands.append(words[1])
        assert names_at(memory, "main~3") == ["db-postgres", "old-name"]
    assert sorted(set(commands)) == sorted(commands)
    assert set(commands) <= {"rev-parse", "ls-tree", "cat-file"}


def test_a_record_that_cannot_be_read_any_more_is_left_out_and_named(told: Path) -> None:
    path = "records/project/old-name.md"
    blob = rev(told, f"main~3:{path}")
    with on(told, LAST_DAY) as memory:
        memory.log()
        for pack in (told / ".git/objects/pack").glob("*.pack"):
            data = pack.read_bytes()
            for file in pack.parent.glob(f"{pack.stem}.*"):
                file.unlink()
            plain(told, "unpack-objects", "-q", stdin=data)
        (told / ".git/objects" / blob[:2] / blob[2:]).unlink()
        assert names_at(memory, "main~3") == ["db-postgres"]
        assert memory.notes == [f"{path} is left out: its content is missing"]
        with pytest.raises(NotFound, match="old-name"):
            memory.show("old-name", at="main~3")


def test_what_was_not_remembered_then_is_answered_with_the_names_of_then(
    memory: MemoryStore,
) -> None:
    with pytest.raises(NotFound) as caught:
        memory.show("old-nam", at="main~3")
    assert "Did you mean old-name" in caught.value.hint
    with pytest.raises(NotFound, match="deploys"):
        memory.why("deploys", at="main~2")
    with pytest.raises(NotFound, match="deploys up to then"):
        memory.log("deploys", at="main~2")


# --- the life of a fact ------------------------------------------------------------------------


def life(memory: MemoryStore, name: str, moment: str | None = None) -> list[tuple[str, str]]:
    """The days of a log and the names that it goes by, the oldest first."""
    return [(entry.at[8:10], entry.via) for entry in reversed(memory.log(name, at=moment))]


def test_a_log_goes_back_and_forth_through_renames_and_consolidations(
    memory: MemoryStore,
) -> None:
    assert life(memory, "old-name") == [
        ("03", ""), ("05", ""), ("07", "deploys"), ("09", "new-name"),
    ]  # fmt: skip
    assert life(memory, "new-name") == [
        ("03", "old-name"),
        ("05", ""),
        ("07", "deploys"),
        ("09", ""),
    ]
    assert life(memory, "db-postgres") == [("02", ""), ("07", "deploys")]
    assert life(memory, "deploys") == [
        ("02", "db-postgres"), ("03", "old-name"), ("05", "new-name"), ("07", ""),
    ]  # fmt: skip
    entry = memory.log("old-name")[1]
    assert entry.to_json()["via"] == "deploys"
    assert entry.records == (("deploys", "added"),)


def test_a_log_of_then_knows_nothing_of_what_came_later(memory: MemoryStore) -> None:
    assert life(memory, "old-name", "2026-09-06") == [("03", ""), ("05", "")]
    assert life(memory, "old-name", "2026-09-04") == [("03", "")]
    assert life(memory, "new-name", "main~2") == [("03", "old-name"), ("05", "")]


def test_a_log_with_a_limit_has_the_newest(memory: MemoryStore) -> None:
    assert [entry.via for entry in memory.log("old-name", limit=3)] == [
        "new-name", "deploys", "",
    ]  # fmt: skip


def test_a_name_used_again_for_something_else_does_not_mix_two_lives(
    memory: MemoryStore, told: Path
) -> None:
    merged(told, "2026-09-12", fact("old-name", "旧名字现在是另一件事。"))
    merged(told, "2026-09-13", fact("old-name", "旧名字现在还是另一件事，改过。"))
    assert life(memory, "new-name")[0] == ("03", "old-name")
    assert {day for day, _ in life(memory, "new-name")} == {"03", "05", "07", "09"}
    assert {day for day, _ in life(memory, "deploys")} == {"02", "03", "05", "07"}
    assert life(memory, "old-name")[-2:] == [("12", ""), ("13", "")]


def test_retiring_one_record_and_adding_another_is_no_rename(
    memory: MemoryStore, told: Path
) -> None:
    merged(told, "2026-09-12", fact("hosting", "The site is hosted in Shanghai."))
    merged(told, "2026-09-13", fact("colours", "按钮用蓝色。"), retire=["hosting"])
    assert life(memory, "colours") == [("13", "")]
    assert life(memory, "hosting") == [("12", ""), ("13", "")]


def test_records_that_supersede_each_other_end_a_log(memory: MemoryStore, told: Path) -> None:
    merged(
        told,
        "2026-09-12",
        fact("yin", "阴在左边，阳在右边。", supersedes=["yang"]),
        fact("yang", "阳在左边，阴在右边。", supersedes=["yin"]),
    )
    merged(
        told, "2026-09-13", fact("yin", "阴在上面，阳在下面。", supersedes=["yang", "never-was"])
    )
    assert life(memory, "yin") == [("12", ""), ("13", "")]
    assert [source.name for source in memory.why("yin").sources] == ["yang"]
    with on(told, "2026-09-13") as then:
        assert {hit.name for hit in then.search("阴阳 左边")} == {"yin", "yang"}


def test_why_goes_back_to_the_first_quotes(memory: MemoryStore) -> None:
    why = memory.why("deploys")
    assert [entry.change for entry in why.history] == ["added"]
    sources = {source.name: source for source in why.sources}
    assert {name: source.became for name, source in sources.items()} == {
        "new-name": "deploys",
        "db-postgres": "deploys",
        "old-name": "new-name",
    }
    assert sources["old-name"].evidence[0].quote == TUESDAYS
    assert sources["old-name"].description == TUESDAYS
    assert [e.change for e in sources["old-name"].history] == ["retired", "added"]
    assert [e.approved_at[:10] for e in sources["db-postgres"].history] == ["2026-09-02"]
    raw = why.to_json()
    assert set(raw) == {"name", "record", "evidence", "history", "contexts", "missing", "sources"}
    assert raw["evidence"] == raw["record"]["evidence"]
    assert set(raw["sources"][0]) == {
        "name", "became", "type", "description", "evidence", "history",
    }  # fmt: skip
    assert set(raw["sources"][0]["history"][0]) == set(raw["history"][0])
    assert memory.why("db-postgres").sources == ()
    assert [source.name for source in memory.why("new-name", at="main~1").sources] == ["old-name"]


# --- what holds on which day -------------------------------------------------------------------


@pytest.fixture(scope="module")
def _dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dated") / "memory"
    MemoryStore.init(root, clock=lambda: at("2026-01-01")).close()
    merged(
        root,
        "2026-01-02",
        fact("port-a", "服务端口 alpha 是 8001。"),
        fact("port-b", "服务端口 beta 是 8002。", valid_until="2026-06-30", status="unconfirmed"),
        fact(
            "port-c", "服务端口 gamma 是 8003。", valid_from="2026-07-01", valid_until="2026-08-31"
        ),
        fact("port-d", "服务端口 delta 是 8004。", supersedes=["port-a"], valid_from="2026-05-01"),
    )
    return root


@pytest.fixture
def dated(_dated: Path, tmp_path: Path) -> Path:
    return copy(_dated, tmp_path / "memory")


PORTS = [
    ("2026-02-01", ["", "unconfirmed, until 2026-06-30", "from 2026-07-01, until 2026-08-31",
                    "from 2026-05-01"], ["port-a", "port-b"]),
    ("2026-05-01", ["superseded by port-d", "unconfirmed, until 2026-06-30",
                    "from 2026-07-01, until 2026-08-31", ""], ["port-b", "port-d"]),
    ("2026-06-30", ["superseded by port-d", "unconfirmed, until 2026-06-30",
                    "from 2026-07-01, until 2026-08-31", ""], ["port-b", "port-d"]),
    ("2026-07-01", ["superseded by port-d", "unconfirmed, expired 2026-06-30",
                    "until 2026-08-31", ""], ["port-c", "port-d"]),
    ("2026-09-01", ["superseded by port-d", "unconfirmed, expired 2026-06-30",
                    "expired 2026-08-31", ""], ["port-d"]),
]  # fmt: skip


@pytest.mark.parametrize(("day", "marks", "found"), PORTS, ids=[day for day, *_ in PORTS])
def test_lists_mark_and_searches_leave_out_what_does_not_hold_that_day(
    dated: Path, day: str, marks: list[str], found: list[str]
) -> None:
    with on(dated, day) as memory:
        assert [", ".join(line.marks) for line in memory.list()] == marks
        assert memory.notes == []
        assert sorted(hit.name for hit in memory.search("服务端口")) == found
        left_out = 4 - len(found)
        what = "1 match is" if left_out == 1 else f"{left_out} matches are"
        assert memory.notes == [
            f"{what} left out, being expired, not valid yet or superseded; --all shows all"
        ]
        memory.notes.clear()
        every = memory.search("服务端口", all=True)
        assert sorted(hit.name for hit in every) == ["port-a", "port-b", "port-c", "port-d"]
        assert sorted((hit.name, ", ".join(hit.marks)) for hit in every) == [
            (f"port-{letter}", mark) for letter, mark in zip("abcd", marks, strict=True)
        ]
        assert memory.notes == []


@pytest.mark.parametrize(("day", "marks", "found"), PORTS, ids=[day for day, *_ in PORTS])
def test_a_date_to_look_back_to_is_the_day_on_which_things_hold(
    dated: Path, day: str, marks: list[str], found: list[str]
) -> None:
    with on(dated, "2030-01-01") as memory:
        merged(dated, "2026-12-01", fact("later", "后来才有的服务端口 8005。"))
        assert [", ".join(line.marks) for line in memory.list(at=day)] == marks
        assert sorted(hit.name for hit in memory.search("服务端口", at=day)) == found
        assert ", ".join(memory.show("port-b", at=day).summary.marks) == marks[1]
        assert [line.validity for line in memory.list(at="main~1")] == [
            None, None, "future", "future",
        ]  # fmt: skip


def test_a_search_with_a_limit_is_filled_up_with_what_holds(dated: Path) -> None:
    with on(dated, "2026-09-01") as memory:
        merged(dated, "2026-09-01", *[
            fact(f"old-port-{n}", f"旧服务端口 {n} 已停用。", valid_until="2026-08-01")
            for n in range(9)
        ])  # fmt: skip
        assert [hit.name for hit in memory.search("旧服务端口 delta 8004", limit=1)] == ["port-d"]
        assert [hit.name for hit in memory.search("旧服务端口", limit=3)] == ["port-d"]
        assert "12 matches are left out" in memory.notes[-1]


def test_nothing_is_said_where_nothing_is_left_out(dated: Path) -> None:
    with on(dated, "2026-09-01") as memory:
        assert [hit.name for hit in memory.search("delta")] == ["port-d"]
        assert memory.notes == []


def test_json_says_what_does_not_hold_and_adds_no_empty_keys(dated: Path) -> None:
    with on(dated, "2026-09-01") as memory:
        lines = {line.name: line.to_json() for line in memory.list()}
        hits = {hit.name: hit.to_json() for hit in memory.search("服务端口", all=True)}
    plain_keys = {"name", "type", "description", "blob", "change", "approved_at"}
    assert set(lines["port-a"]) == plain_keys | {"superseded_by"}
    assert set(lines["port-b"]) == plain_keys | {"status", "valid_until", "validity"}
    assert set(hits["port-d"]) == {"name", "description", "score", "valid_from"}
    assert (hits["port-b"]["validity"], hits["port-b"]["status"]) == ("expired", "unconfirmed")
    assert hits["port-a"]["superseded_by"] == ["port-d"]


def test_the_view_shows_terms_but_no_day(dated: Path) -> None:
    view = (dated / "MEMORY.md").read_text(encoding="utf-8")
    assert "8002。 (unconfirmed; until 2026-06-30)\n" in view
    assert "8003。 (from 2026-07-01; until 2026-08-31)\n" in view
    assert "8001。\n" in view
    for file in (dated / ".git/gitmem").glob("cache.sqlite*"):
        file.unlink()
    with on(dated, "2040-02-29") as memory:
        assert memory.fsck().ok
        memory.remember("另一件事。", name="other", type="user", person=ADA)
    assert "8002。 (unconfirmed; until 2026-06-30)\n" in (dated / "MEMORY.md").read_text("utf-8")


# --- records that supersede each other ---------------------------------------------------------


def test_records_that_would_supersede_each_other_are_refused(memory: MemoryStore) -> None:
    for name in ("one", "two", "three"):
        memory.remember(f"斑马的事实：{name}。", name=name, type="project", person=ADA)
    memory.edit("one", supersedes=["two"], person=ADA)
    memory.edit("two", supersedes=["three"], person=ADA)
    for name, other in (("two", "one"), ("three", "one")):
        with pytest.raises(Refused, match=f"{name}: it cannot supersede {other}"):
            memory.edit(name, supersedes=[other], person=ADA)
    memory.edit("one", supersedes=[], person=ADA)
    memory.edit("three", supersedes=["one"], person=ADA)
    assert memory.fsck().ok


def test_records_that_came_to_supersede_each_other_are_both_found(memory: MemoryStore) -> None:
    """Each was legal when it was proposed; merged one after the other, they are a circle."""
    for name in ("one", "two", "old"):
        memory.remember(f"斑马的事实：{name}。", name=name, type="project", person=ADA)
    memory.set_policy("two_person", "true", person=ADA)
    waiting = [
        memory.edit(name, supersedes=others, person=ADA).proposal
        for name, others in (("one", ["two", "old"]), ("two", ["one"]))
    ]
    for proposal in waiting:
        memory.approve(str(proposal), person=BEN)
    assert {hit.name for hit in memory.search("斑马")} == {"one", "two"}
    marked = {line.name: line.superseded_by for line in memory.list()}
    assert [marked[name] for name in ("one", "two", "old")] == [(), (), ("one",)]
    for name in ("one", "two"):
        assert memory.log(name) and memory.why(name)
    assert memory.fsck().ok
