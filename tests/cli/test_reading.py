"""status, list, show, log, why and search, in a pipe, in JSON and on a terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitmem import MemoryStore
from tests.cli.harness import ADA, RunCommand, RunOnTerminal
from tests.conftest import RunGit
from tests.memory.timeline import at, fact, merged
from tests.store.stories import copy


def test_list_in_a_pipe_is_one_line_for_each_record(gitmem: RunCommand, tabs: Path) -> None:
    name, kind, description, approved = gitmem("list").out.rstrip("\n").split("\t")
    assert (name, kind, description) == ("use-tabs", "user", "User prefers tabs")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", approved)


def test_list_in_json_has_the_documented_keys(gitmem: RunCommand, tabs: Path) -> None:
    (record,) = gitmem("list", "--json").json
    assert set(record) == {"name", "type", "description", "blob", "change", "approved_at"}
    assert re.fullmatch(r"[0-9a-f]{40}", record["blob"])
    assert record["change"].startswith("remember-")


def test_list_can_be_limited_to_a_type(gitmem: RunCommand, tabs: Path) -> None:
    assert gitmem("list", "--type=user").out.startswith("use-tabs\t")
    assert gitmem("list", "--type=project").out == ""
    assert "feedback" in gitmem("list", "--type=rumour", code=2).err


def test_an_empty_list_is_told_on_a_terminal_and_silent_in_a_pipe(
    gitmem: RunCommand, terminal: RunOnTerminal, store: Path
) -> None:
    assert gitmem("list").out == ""
    assert gitmem("list", "--json").json == []
    assert "Nothing is remembered yet." in terminal("list").out


def test_list_on_a_terminal_is_a_table_with_colour(terminal: RunOnTerminal, tabs: Path) -> None:
    done = terminal("list")
    assert done.code == 0
    assert "description" in done.out and "User prefers tabs" in done.out
    assert "\x1b[" in done.out
    assert "\x1b" not in terminal("list", env={"NO_COLOR": "1"}).out


def test_show_prints_the_record_and_its_quotes(gitmem: RunCommand, tabs: Path) -> None:
    text = gitmem("show", "use-tabs").out
    assert text.startswith("use-tabs  user\nUser prefers tabs\n")
    assert "\nUse tabs, not spaces, for indentation.\n" in text
    assert "  > Use tabs, not spaces, for indentation.\n" in text
    assert "said by a person" in text


def test_show_in_json_has_the_documented_keys(gitmem: RunCommand, tabs: Path) -> None:
    record = gitmem("show", "use-tabs", "--json").json
    assert record["body"] == "Use tabs, not spaces, for indentation."
    (quote,) = record["evidence"]
    assert set(quote) == {"id", "session", "message", "class", "attested", "at", "quote"}
    assert quote["class"] == "human"
    assert quote["quote"] == "Use tabs, not spaces, for indentation."


@pytest.mark.parametrize("command", ["show", "why", "log", "forget"])
def test_a_misspelt_name_is_answered_with_the_right_one(
    gitmem: RunCommand, tabs: Path, command: str
) -> None:
    more = ["--yes"] if command == "forget" else []
    done = gitmem(command, "use-tab", *more, code=1)
    assert "error: " in done.err
    assert "Did you mean use-tabs?" in done.err


def test_log_is_the_ledger_newest_first(gitmem: RunCommand, tabs: Path, git: RunGit) -> None:
    entries = gitmem("log", "--json").json
    commits = git(tabs, "log", "--first-parent", "--format=%H", "main").split()
    assert [entry["commit"] for entry in entries] == commits
    assert [entry["kind"] for entry in entries] == ["merge", "genesis"]
    assert entries[0]["records"] == [{"name": "use-tabs", "change": "added"}]
    assert entries[0]["approved_by"] == [f"human:{ADA}"]
    lines = gitmem("log").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == commits
    assert "+use-tabs" in lines[0]


def test_log_can_be_limited_and_follow_one_record(gitmem: RunCommand, tabs: Path) -> None:
    assert len(gitmem("log", "-n", "1", "--json").json) == 1
    assert [entry["kind"] for entry in gitmem("log", "use-tabs", "--json").json] == ["merge"]
    assert "--limit" in gitmem("log", "-n", "0", code=2).err


def test_why_tells_who_said_it_who_approved_it_and_when(gitmem: RunCommand, tabs: Path) -> None:
    found = gitmem("why", "use-tabs", "--json").json
    (entry,) = found["history"]
    assert entry["kind"] == "remember"
    assert entry["approved_by"] == [f"human:{ADA}"]
    assert {review["reviewer"] for review in entry["reviews"]} == {"checks", "person"}
    assert found["evidence"] == found["record"]["evidence"]
    text = gitmem("why", "use-tabs").out
    for words in ("> Use tabs, not spaces", ADA, entry["approved_at"], entry["merge"], "checks"):
        assert words in text


def test_search_finds_english_and_chinese(gitmem: RunCommand, tabs: Path) -> None:
    gitmem("remember", "数据库迁移必须先在测试环境运行。", "--name=db-migration", "--yes")
    assert gitmem("search", "indentation").out.split("\t")[1] == "use-tabs"
    (hit,) = gitmem("search", "数据库", "--json").json
    assert set(hit) == {"name", "description", "score"}
    assert hit["name"] == "db-migration"
    assert hit["score"] > 0
    assert "数据库" in gitmem("search", "数据库").out


def test_search_without_a_hit_is_no_error(
    gitmem: RunCommand, terminal: RunOnTerminal, tabs: Path
) -> None:
    assert gitmem("search", "zebra").out == ""
    assert gitmem("search", "zebra", "--json").json == []
    assert "Nothing that is remembered matches." in terminal("search", "zebra").out


def test_status_counts_and_says_what_next(gitmem: RunCommand, tabs: Path) -> None:
    found = gitmem("status", "--json").json
    assert {
        "store", "path", "manifest_commit", "records", "proposals", "spool", "strays",
        "problems", "warnings", "next",
    } <= set(found)  # fmt: skip
    assert found["records"]["count"] == 1
    assert found["records"]["by_type"]["user"] == 1
    text = gitmem("status").out
    assert "1 user" in text
    assert found["manifest_commit"] in text


def test_status_names_a_stray_and_shows_its_text_escaped(
    gitmem: RunCommand, terminal: RunOnTerminal, tabs: Path, git: RunGit
) -> None:
    subject = "evil\x1b]52;c;ZXZpbA==\x07\x1b[2J\u202e\x9b"
    tree = git(tabs, "rev-parse", "main^{tree}").strip()
    stray = git(tabs, "commit-tree", tree, "-p", "main", "-m", subject).strip()
    git(tabs, "update-ref", "refs/heads/main", stray)
    assert stray in str(gitmem("status", "--json").json["strays"])
    for command in (["status"], ["log"], ["list"], ["fsck"]):
        done = terminal(*command, env={"TERM": "dumb"})
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", done.out)
        assert stray[:12] in done.out or command == ["list"]


def test_every_read_says_that_there_are_strays(gitmem: RunCommand, tabs: Path, git: RunGit) -> None:
    tree = git(tabs, "rev-parse", "main^{tree}").strip()
    stray = git(tabs, "commit-tree", tree, "-p", "main", "-m", "by hand").strip()
    git(tabs, "update-ref", "refs/heads/main", stray)
    for call in (["list"], ["show", "use-tabs"], ["why", "use-tabs"], ["log"], ["log", "use-tabs"]):
        assert gitmem(*call).err.count("1 commit on main is a stray and no memory") == 1, call


@pytest.mark.parametrize("where", ["before", "after"])
def test_the_store_may_be_named_before_and_after_the_command(
    gitmem: RunCommand, tabs: Path, tmp_path: Path, where: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    option = f"--store={tabs}"
    args = [option, "list"] if where == "before" else ["list", option]
    assert gitmem(*args, cwd=elsewhere).out.startswith("use-tabs\t")
    assert gitmem("--json", *args, cwd=elsewhere).json[0]["name"] == "use-tabs"


def test_the_store_may_be_named_in_the_environment(
    gitmem: RunCommand, tabs: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert gitmem("list", cwd=elsewhere, env={"GITMEM_STORE": str(tabs)}).out


def test_verbose_says_which_store_is_used(gitmem: RunCommand, tabs: Path) -> None:
    assert str(tabs) in gitmem("list", "-v").err
    assert gitmem("list").err == ""


def test_json_is_utf8_whatever_the_language_of_the_machine(gitmem: RunCommand, store: Path) -> None:
    gitmem("remember", "用户喜欢制表符，不要空格。", "--name=zhi-biao-fu", "--yes")
    done = gitmem("list", "--json", env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert "用户喜欢制表符" in done.out
    assert json.loads(done.out)[0]["name"] == "zhi-biao-fu"


# --- moments of the past, and what holds when --------------------------------------------------


@pytest.fixture(scope="module")
def _dated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("dated") / "memory"
    MemoryStore.init(root, clock=lambda: at("2026-01-01")).close()
    merged(root, "2026-01-02", fact("tabs-then", "缩进用制表符，tab 宽四格。", type="user"))
    merged(
        root,
        "2026-01-04",
        fact("tabs-now", "缩进用制表符。", quotes_of=["tabs-then"], type="user"),
        retire=["tabs-then"],
    )
    merged(
        root,
        "2026-01-06",
        fact("tabs-once", "缩进曾用空格。", valid_until="2020-01-01", status="unconfirmed"),
        fact("tabs-old", "缩进是旧规矩。"),
        fact("tabs-rule", "缩进按新规矩。", supersedes=["tabs-old"], valid_until="9998-12-31"),
    )
    return root


@pytest.fixture
def dated(_dated: Path, tmp_path: Path) -> Path:
    return copy(_dated, tmp_path / ".memory")


def test_every_reading_command_can_look_back(gitmem: RunCommand, dated: Path) -> None:
    assert [line["name"] for line in gitmem("list", "--at", "2026-01-03", "--json").json] == [
        "tabs-then"
    ]
    assert gitmem("list", "--at=main~1").out.startswith("tabs-now\tuser\t缩进用制表符。\t")
    assert gitmem("show", "tabs-then", "--at", "2026-01-02T20:00+08:00").out.startswith(
        "tabs-then  user\n缩进用制表符，tab 宽四格。\n"
    )
    assert gitmem("search", "缩进", "--at", "main~2").out.split("\t")[1] == "tabs-then"
    assert [entry["kind"] for entry in gitmem("log", "--at=main~2", "--json").json] == [
        "merge", "genesis",
    ]  # fmt: skip
    why = gitmem("why", "tabs-now", "--at=2026-01-05", "--json").json
    assert [source["name"] for source in why["sources"]] == ["tabs-then"]
    assert "has not come yet" in gitmem("list", "--at", "9999-01-01").err


def test_a_moment_that_is_none_is_refused_in_words(gitmem: RunCommand, dated: Path) -> None:
    done = gitmem("show", "tabs-nwo", "--at", "--help", code=1)
    assert done.out == ""
    assert "'--help' names no commit and no date" in done.err
    assert "Did you mean" not in done.err
    assert "2026-01-01T12:00:00Z" in gitmem("list", "--at", "2025-12-31", code=1).err
    assert "empty" in gitmem("list", "--at=", code=2).err
    assert gitmem("list", "--at", "2026-02-30", "--json", code=1).error["message"]


def test_a_log_says_by_way_of_which_name(gitmem: RunCommand, dated: Path) -> None:
    lines = gitmem("log", "tabs-now").out.splitlines()
    assert "+tabs-now -tabs-then" in lines[0]
    assert "+tabs-then [by way of tabs-then]" in lines[1]
    assert [entry["via"] for entry in gitmem("log", "tabs-now", "--json").json] == ["", "tabs-then"]


def test_why_shows_what_a_record_was_before(gitmem: RunCommand, dated: Path) -> None:
    text = gitmem("why", "tabs-now").out
    before = text.index("Before: tabs-then, became tabs-now")
    assert text.index("> 缩进用制表符，tab 宽四格。") < before
    assert "added, consolidate" in text[before:]
    assert text.count("> 缩进用制表符，tab 宽四格。") == 1, "the same quote is told once"


def test_a_list_marks_what_is_not_plainly_so(gitmem: RunCommand, dated: Path) -> None:
    out = gitmem("list").out
    assert "缩进曾用空格。 [unconfirmed] [expired 2020-01-01]\t" in out
    assert "缩进是旧规矩。 [superseded by tabs-rule]\t" in out
    assert "缩进按新规矩。 [until 9998-12-31]\t" in out
    shown = gitmem("show", "tabs-once").out
    assert "status: unconfirmed\nvalid until: 2020-01-01 (expired)\n" in shown
    assert "superseded by: tabs-rule" in gitmem("show", "tabs-old").out


def test_a_search_leaves_out_what_does_not_hold_and_counts_it_on_standard_error(
    gitmem: RunCommand, dated: Path
) -> None:
    done = gitmem("search", "缩进", "--json")
    assert {hit["name"] for hit in done.json} == {"tabs-now", "tabs-rule"}
    assert "2 matches are left out" in done.err and "--all" in done.err
    every = gitmem("search", "缩进", "--all", "--json")
    assert {hit["name"] for hit in every.json} == {
        "tabs-now", "tabs-once", "tabs-old", "tabs-rule",
    }  # fmt: skip
    assert every.err == ""
    assert (
        "缩进曾用空格。 [unconfirmed] [expired 2020-01-01]" in gitmem("search", "--all", "曾用").out
    )
