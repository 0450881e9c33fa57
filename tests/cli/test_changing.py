"""init, remember, edit and forget: shown, asked about, done or left alone."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.harness import RunCommand, RunOnTerminal
from tests.conftest import RunGit

TEXT = "Always run the tests before a commit."


def main_of(git: RunGit, store: Path) -> str:
    return git(store, "rev-parse", "refs/heads/main").strip()


def editor(tmp_path: Path, code: str) -> dict[str, str]:
    """An editor that runs Python on ``text``, the content of the file it is given."""
    program = tmp_path / "editor.py"
    program.write_text(
        "import sys\npath = sys.argv[1]\ntext = open(path, encoding='utf-8').read()\n"
        f"{code}\nopen(path, 'w', encoding='utf-8').write(text)\n",
        encoding="utf-8",
    )
    return {"VISUAL": f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}"}


def test_init_says_where_and_what_next(gitmem: RunCommand, tmp_path: Path) -> None:
    done = gitmem("init")
    assert str(tmp_path / ".memory") in done.out
    assert "gitmem " in done.out.partition("next:")[2]
    assert gitmem("list").out == ""


def test_init_takes_a_path_in_three_ways(gitmem: RunCommand, tmp_path: Path) -> None:
    assert gitmem("init", "a", "--json").json["path"] == str(tmp_path / "a")
    assert gitmem("init", "--store=b", "--json").json["path"] == str(tmp_path / "b")
    third = gitmem("init", "--json", env={"GITMEM_STORE": str(tmp_path / "c")})
    assert third.json["path"] == str(tmp_path / "c")
    assert "different places" in gitmem("init", "d", "--store=e", code=2).err


def test_init_twice_is_refused(gitmem: RunCommand, store: Path) -> None:
    assert gitmem("init", code=1).err.startswith("error: ")


def test_remember_needs_a_yes_without_a_terminal(
    gitmem: RunCommand, store: Path, git: RunGit
) -> None:
    before = git(store, "for-each-ref")
    done = gitmem("remember", TEXT, code=4)
    assert "--yes" in done.err
    assert git(store, "for-each-ref") == before


def test_remember_with_yes_shows_what_it_did(gitmem: RunCommand, store: Path) -> None:
    done = gitmem("remember", TEXT, "--name=run-tests", "--type=feedback", "--yes")
    assert "added run-tests" in done.out
    assert f"> {TEXT}" in done.out
    assert "merged" in done.out
    (record,) = gitmem("list", "--json").json
    assert (record["name"], record["type"]) == ("run-tests", "feedback")


def test_remember_in_json_is_one_document(gitmem: RunCommand, store: Path) -> None:
    result = gitmem("remember", TEXT, "--yes", "--json").json
    assert {"proposal", "state", "records", "findings", "dropped"} <= set(result)
    assert result["state"] == "merged"
    assert result["proposal"].startswith("remember-")


def test_remember_reads_words_and_standard_input(gitmem: RunCommand, store: Path) -> None:
    gitmem("remember", "Always", "use", "tabs", "here.", "--name=one", "--yes")
    gitmem("remember", "-", "--name=two", "--yes", stdin="这个项目只用制表符缩进。\n")
    assert gitmem("show", "one", "--json").json["body"] == "Always use tabs here."
    assert gitmem("show", "two", "--json").json["body"] == "这个项目只用制表符缩进。"


def test_standard_input_that_is_no_text_is_refused(gitmem: RunCommand, store: Path) -> None:
    done = gitmem("remember", "-", "--yes", stdin=b"good\nb\xffd", code=1)
    assert "standard input, line 2" in done.err


@pytest.mark.parametrize("answer", ["n\n", "\n", "\x04", "yes please\n"])
def test_anything_but_yes_on_a_terminal_changes_nothing(
    terminal: RunOnTerminal, store: Path, git: RunGit, answer: str
) -> None:
    before = git(store, "for-each-ref")
    done = terminal("remember", TEXT, answers=[answer])
    assert done.code == 1
    assert "Remember this? [y/N]" in done.out.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert "Nothing was changed." in done.out
    assert git(store, "for-each-ref") == before


@pytest.mark.parametrize("answer", ["y\n", "YES\n", "ｙ\n"])
def test_a_yes_on_a_terminal_makes_the_change(
    terminal: RunOnTerminal, gitmem: RunCommand, store: Path, answer: str
) -> None:
    done = terminal("remember", TEXT, "--name=run-tests", answers=[answer])
    assert done.code == 0
    assert done.out.index(TEXT) < done.out.index("[y/N]")
    assert gitmem("list").out.startswith("run-tests\t")


def test_an_interrupt_at_the_question_changes_nothing(
    terminal: RunOnTerminal, store: Path, git: RunGit
) -> None:
    before = git(store, "for-each-ref")
    done = terminal("remember", TEXT, answers=["\x03"])
    assert done.code == 130
    assert "Traceback" not in done.out
    assert git(store, "for-each-ref") == before


def test_the_person_can_be_named(gitmem: RunCommand, store: Path) -> None:
    gitmem("remember", TEXT, "--name=x", "--as", "小李 <li@example.org>", "--yes")
    assert gitmem("log", "--json").json[0]["approved_by"] == ["human:小李 <li@example.org>"]


def test_a_secret_in_the_name_of_a_person_stays_out_of_history(
    gitmem: RunCommand, store: Path, git: RunGit
) -> None:
    key = (
        "sk-ant-"
        + "api03-"
        + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7bC9dE1fG3hI5jK7lM9nO1pQ3rS5tU7vW"
    )
    before = git(store, "for-each-ref")
    name = f"Eve {key} <eve@example.org>"
    given = gitmem("remember", TEXT, "--as", name, "--yes", code=1)
    meant = gitmem("remember", TEXT, "--yes", env={"GITMEM_USER": name}, code=1)
    for done in (given, meant):
        assert "looks like a secret" in done.err and "GITMEM_USER" in done.err
        assert key not in done.err + done.out
    assert git(store, "for-each-ref") == before


@pytest.mark.parametrize(
    "call",
    [
        ["remember", TEXT, "--as="],
        ["remember", TEXT, "--name="],
        ["remember", TEXT, "--type="],
        ["remember", TEXT, "--description="],
        ["remember", ""],
        ["edit", "use-tabs", "--type="],
        ["edit", "use-tabs", "--supersedes="],
        ["edit", ""],
        ["forget", "use-tabs", "--reason="],
        ["approve", ""],
        ["reject", "", "--reason=x"],
        ["diff", ""],
        ["list", "--type="],
        ["log", ""],
        ["extract", ""],
        ["extract", "a.json", "--format="],
        ["propose", ""],
        ["init", ""],
    ],
    ids=" ".join,
)
def test_what_is_given_and_empty_is_refused(
    gitmem: RunCommand, tabs: Path, git: RunGit, call: list[str]
) -> None:
    before = git(tabs, "for-each-ref")
    yes = ["--yes"] if call[0] in ("remember", "edit", "forget", "approve", "reject") else []
    assert "it is empty" in gitmem(*call, *yes, code=2).err
    assert git(tabs, "for-each-ref") == before


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "call",
    [
        ["remember", "总是用制表符缩进", "--yes"],
        ["remember", TEXT, "--as", "小李 <li@example.org>", "--yes"],
        ["edit", "use-tabs", "--description", "用制表符", "--yes"],
        ["search", "缩进"],
        ["list", "--type", "用户"],
    ],
    ids=lambda call: call[0],
)
def test_text_that_the_locale_cannot_read_is_said_to_be_the_locales_fault(
    gitmem: RunCommand, tabs: Path, call: list[str]
) -> None:
    error = gitmem(*call, env=ASCII, code=2).err
    assert "this terminal's encoding" in error and "LC_ALL=C.UTF-8" in error
    assert "surrogate" not in error


def test_a_file_may_have_a_name_that_the_locale_cannot_read(
    gitmem: RunCommand, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "对话.json").write_text(
        '[{"role": "user", "content": "I prefer tabs over spaces."}]', encoding="utf-8"
    )
    found = gitmem("extract", "对话.json", "--json", env=ASCII).json
    assert found["proposal"]


def test_a_person_who_is_no_person_is_refused_and_shown_escaped(
    gitmem: RunCommand, store: Path
) -> None:
    done = gitmem("remember", TEXT, "--as", "Eve\x1b[2J", "--yes", code=None)
    assert done.code in (1, 2)
    assert "\x1b" not in done.err


def test_edit_with_options_needs_no_editor(gitmem: RunCommand, tabs: Path) -> None:
    gitmem("edit", "use-tabs", "--description=Tabs, always", "--yes")
    gitmem("edit", "use-tabs", "--body=-", "--yes", stdin="Use tabs in every file.\n")
    record = gitmem("show", "use-tabs", "--json").json
    assert record["description"] == "Tabs, always"
    assert record["body"] == "Use tabs in every file."


def test_edit_without_a_terminal_says_which_options_there_are(
    gitmem: RunCommand, tabs: Path
) -> None:
    assert "--body" in gitmem("edit", "use-tabs", code=2).err


def test_edit_opens_the_record_in_an_editor(
    terminal: RunOnTerminal, gitmem: RunCommand, tabs: Path, tmp_path: Path
) -> None:
    env = editor(tmp_path, "text = text.replace('not spaces', '不要空格')")
    done = terminal("edit", "use-tabs", env=env, answers=["y\n"])
    assert done.code == 0
    assert gitmem("show", "use-tabs", "--json").json["body"] == (
        "Use tabs, 不要空格, for indentation."
    )
    assert "kept in" not in done.out


def test_an_editor_that_changes_nothing_changes_nothing(
    terminal: RunOnTerminal, tabs: Path, tmp_path: Path, git: RunGit
) -> None:
    before = git(tabs, "for-each-ref")
    done = terminal("edit", "use-tabs", env=editor(tmp_path, "pass"))
    assert done.code == 0
    assert "Nothing to change." in done.out
    assert git(tabs, "for-each-ref") == before


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("text = text.replace('type:', 'kind:') + 'MY WORDS'", "expected 'description"),
        ("text = text.replace('type: user', 'type: rumour') + 'MY WORDS'", "rumour"),
        ("text += 'MY WORDS' + 'x' * 5000", "4096"),
    ],
)
def test_an_edit_that_fails_changes_nothing_and_keeps_what_was_typed(
    terminal: RunOnTerminal, tabs: Path, tmp_path: Path, git: RunGit, code: str, words: str
) -> None:
    before = git(tabs, "for-each-ref")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**editor(tmp_path, code), "TMPDIR": str(scratch)}
    done = terminal("edit", "use-tabs", env=env, answers=["y\n"])
    assert done.code in (1, 2)
    assert words in done.out
    assert git(tabs, "for-each-ref") == before
    (kept,) = scratch.glob("gitmem-edit-*")
    assert "MY WORDS" in kept.read_text(encoding="utf-8")
    assert kept.name in "".join(done.out.split())


def test_a_no_keeps_what_was_typed_too(
    terminal: RunOnTerminal, tabs: Path, tmp_path: Path, git: RunGit
) -> None:
    before = git(tabs, "for-each-ref")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**editor(tmp_path, "text += '我的话'"), "TMPDIR": str(scratch)}
    done = terminal("edit", "use-tabs", env=env, answers=["n\n"])
    assert done.code == 1
    assert git(tabs, "for-each-ref") == before
    (kept,) = scratch.glob("gitmem-edit-*")
    assert "我的话" in kept.read_text(encoding="utf-8")


def test_how_long_how_surely_and_in_whose_place_are_options(gitmem: RunCommand, tabs: Path) -> None:
    gitmem("remember", TEXT, "--name=old", "--valid-until=2026-12-31", "--yes")
    assert gitmem("show", "old", "--json").json["valid_until"] == "2026-12-31"
    done = gitmem(
        "edit", "use-tabs", "--valid-from=2026-01-31", "--valid-until=2027-01-31",
        "--status=unconfirmed", "--supersedes=old", "--yes",
    )  # fmt: skip
    assert "> use-tabs is valid from 2026-01-31." in done.out
    record = gitmem("show", "use-tabs", "--json").json
    assert (record["valid_from"], record["valid_until"]) == ("2026-01-31", "2027-01-31")
    assert (record["status"], record["supersedes"]) == ("unconfirmed", ["old"])
    options = ["--valid-from=none", "--valid-until=none", "--status=confirmed", "--supersedes=none"]
    gitmem("edit", "use-tabs", *options, "--yes")
    record = gitmem("show", "use-tabs", "--json").json
    assert not {"valid_from", "valid_until", "status"} & set(record)
    assert record["supersedes"] == []


def test_terms_that_cannot_be_are_refused(gitmem: RunCommand, tabs: Path, git: RunGit) -> None:
    before = git(tabs, "for-each-ref")
    for option, words in (
        ("--valid-from=31.1.2026", "valid_from: '31.1.2026' is not a date like 2026-11-30"),
        ("--supersedes=use-spaces", "nothing is remembered as use-spaces"),
        ("--supersedes=a,,b", "supersedes: "),
        ("--supersedes=用空格", "supersedes: "),
    ):
        assert words in gitmem("edit", "use-tabs", option, "--yes", code=1).err
    assert git(tabs, "for-each-ref") == before


def test_the_editor_takes_the_lines_that_need_not_be_there(
    terminal: RunOnTerminal, gitmem: RunCommand, tabs: Path, tmp_path: Path
) -> None:
    gitmem("edit", "use-tabs", "--valid-from=2026-01-31", "--status=unconfirmed", "--yes")
    code = (
        "text = text.replace('\\nvalid_from: 2026-01-31', '\\nvalid_until: 2026-12-31')"
        ".replace('\\nstatus: unconfirmed', '')"
    )
    assert terminal("edit", "use-tabs", env=editor(tmp_path, code), answers=["y\n"]).code == 0
    record = gitmem("show", "use-tabs", "--json").json
    assert record["valid_until"] == "2026-12-31"
    assert not {"valid_from", "status"} & set(record)


def test_an_editor_that_is_not_there_is_named(
    terminal: RunOnTerminal, tabs: Path, git: RunGit
) -> None:
    done = terminal("edit", "use-tabs", env={"VISUAL": "no-such-editor"})
    assert done.code == 1
    assert "VISUAL" in done.out


def test_forget_retires_the_record_and_keeps_its_history(
    gitmem: RunCommand, terminal: RunOnTerminal, tabs: Path, git: RunGit
) -> None:
    before = main_of(git, tabs)
    assert terminal("forget", "use-tabs", answers=["n\n"]).code == 1
    assert main_of(git, tabs) == before
    done = terminal("forget", "use-tabs", "--reason=changed my mind", answers=["y\n"])
    assert done.code == 0
    assert "changed my mind" in done.out
    assert gitmem("list").out == ""
    newest = gitmem("log", "use-tabs", "--json").json[0]
    assert newest["records"] == [{"name": "use-tabs", "change": "retired"}]


def test_a_limit_that_is_broken_is_named_with_its_size(gitmem: RunCommand, store: Path) -> None:
    done = gitmem("remember", "x " * 4000, "--yes", code=1)
    assert "4096" in done.err or "1000" in done.err
    assert os.listdir(store / "records") == [] if (store / "records").exists() else True


def test_no_identity_at_all_still_works_and_says_so(gitmem: RunCommand, store: Path) -> None:
    done = gitmem("remember", TEXT, "--yes", env={"GITMEM_USER": ""})
    assert "note: " in done.err
    assert "@" in gitmem("log", "--json").json[0]["approved_by"][0]
