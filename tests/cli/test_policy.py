"""policy show, set and edit: shown, asked about, decided or left alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.cases.calls import call as run_here
from tests.cli.harness import ADA, RunCommand, RunOnTerminal
from tests.cli.test_changing import editor, main_of
from tests.conftest import RunGit


def test_what_show_prints_in_a_pipe_can_be_set_as_it_stands(
    gitmem: RunCommand, store: Path
) -> None:
    gitmem("policy", "set", "require_person.types", "user,feedback", "--yes", "--reason=慎重")
    shown = gitmem("policy", "show").out
    assert shown == gitmem("policy").out
    head, *lines = shown.splitlines()
    assert head.startswith(f"# set by {ADA}, ") and head.endswith(": 慎重")
    assert "require_person.types: user,feedback" in lines
    assert "signers: none" in lines
    for line in lines[:2]:
        key, _, value = line.partition(": ")
        assert gitmem("policy", "set", key, value, "--yes").out == "Nothing to change.\n"


def test_show_names_every_key_with_its_default_and_meaning(
    gitmem: RunCommand, terminal: RunOnTerminal, store: Path
) -> None:
    gitmem("policy", "set", "view.lines", "50", "--yes")
    shown = terminal("policy", "show", env={"NO_COLOR": "1"}).out
    found = gitmem("policy", "show", "--json").json
    for entry in found["keys"]:
        assert entry["key"] in shown
        assert entry["meaning"].split()[0] in shown
    row = next(line for line in shown.splitlines() if line.startswith("view.lines"))
    assert row.split()[1:3] == ["50", "200"]
    assert "set by Ada" in shown
    assert found["policy"]["view"] == {"format": 1, "lines": 50, "bytes": 25000}
    assert found["decided_by"] == [f"human:{ADA}"]


def test_a_new_store_says_that_nobody_has_set_its_policy(gitmem: RunCommand, store: Path) -> None:
    assert gitmem("policy", "show").out.startswith("# as the store began with it, ")


def test_a_value_that_begins_with_a_minus_is_a_value(
    gitmem: RunCommand, store: Path, git: RunGit
) -> None:
    before = main_of(git, store)
    for call in (["-5", "--yes"], ["--yes", "--", "-5"]):
        refused = gitmem("policy", "set", "view.lines", *call, code=1)
        assert "'-5'" in refused.err and "10 to 10000" in refused.err
    assert main_of(git, store) == before


def test_an_option_that_is_misspelt_is_no_value(gitmem: RunCommand, store: Path) -> None:
    assert "--yess" in gitmem("policy", "set", "view.lines", "50", "--yess", code=2).err


def test_set_asks_on_a_terminal_and_shows_the_difference_first(
    terminal: RunOnTerminal, gitmem: RunCommand, store: Path, git: RunGit
) -> None:
    before = main_of(git, store)
    call = ["policy", "set", "two_person", "true"]
    no = terminal(*call, answers=["n\n"], env={"NO_COLOR": "1"})
    assert no.code == 1
    assert "two_person: false -> true" in no.out
    assert '-two_person: "false"' in no.out and '+two_person: "true"' in no.out
    assert "Nothing was changed." in no.out
    assert main_of(git, store) == before
    yes = terminal(*call, answers=["是\n"], env={"NO_COLOR": "1"})
    assert yes.code == 0
    assert "decided" in yes.out and main_of(git, store) in yes.out


def test_set_in_json_is_one_document(gitmem: RunCommand, store: Path, git: RunGit) -> None:
    done = gitmem("policy", "set", "rounds", "3", "--yes", "--json").json
    assert done["state"] == "decided" and done["commit"] == main_of(git, store)
    assert done["changes"] == [{"key": "rounds", "before": 2, "after": 3}]
    same = gitmem("policy", "set", "rounds", "3", "--yes", "--json").json
    assert same == {"decision": None, "state": "unchanged", "changes": [], "commit": None}


def test_what_cannot_be_is_refused_and_changes_nothing(
    gitmem: RunCommand, store: Path, git: RunGit
) -> None:
    before = git(store, "for-each-ref")
    for call, code, words in (
        (["set", "view.line", "50", "--yes"], 2, "Did you mean view.lines"),
        (["set", "view.lines", "5", "--yes"], 1, "10 to 10000"),
        (["set", "signers", "", "--yes"], 2, "it is empty"),
        (["set", "rounds", "3"], 4, "--yes"),
        (["edit", "--yes"], 2, "Use `gitmem policy set KEY VALUE`."),
        (["sett"], 2, "sett"),
    ):
        assert words in gitmem("policy", *call, code=code).err
    assert git(store, "for-each-ref") == before


def test_no_agents_session_and_no_yes_that_the_policy_forbids(
    gitmem: RunCommand, terminal: RunOnTerminal, store: Path, git: RunGit
) -> None:
    call = ["policy", "set", "agents_may_approve", "true", "--yes"]
    assert "CLAUDECODE" in gitmem(*call, env={"CLAUDECODE": "1"}, code=1).err
    inside = terminal("policy", "edit", env={"CLAUDECODE": "1"})
    assert inside.code == 1 and "CLAUDECODE" in inside.out
    gitmem("policy", "set", "allow_yes", "false", "--yes")
    before = main_of(git, store)
    assert "does not allow --yes" in gitmem(*call, code=1).err
    back = ["policy", "set", "allow_yes", "true"]
    assert "does not allow --yes" in terminal(*back, "--yes").out
    assert main_of(git, store) == before
    assert terminal(*back, answers=["y\n"]).code == 0


def test_edit_keeps_what_was_saved_to_the_letter(
    terminal: RunOnTerminal, gitmem: RunCommand, store: Path, tmp_path: Path
) -> None:
    env = editor(tmp_path, "text = '# 谁可以批准\\n' + text.replace('\"2\"', '3  # 三轮')")
    done = terminal("policy", "edit", "--reason=多看一轮", env=env, answers=["y\n"])
    assert done.code == 0
    assert "kept in" not in done.out
    text = (store / "policy.yaml").read_text(encoding="utf-8")
    assert text.startswith("# 谁可以批准\n") and "rounds: 3  # 三轮\n" in text
    assert gitmem("policy", "show", "--json").json["reason"] == "多看一轮"
    assert gitmem("fsck").code == 0


def test_an_editor_that_changes_nothing_decides_nothing(
    terminal: RunOnTerminal, store: Path, tmp_path: Path, git: RunGit
) -> None:
    before = git(store, "for-each-ref")
    done = terminal("policy", "edit", env=editor(tmp_path, "pass"))
    assert done.code == 0
    assert "Nothing to change." in done.out
    assert git(store, "for-each-ref") == before


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("text += 'three_person: true # MINE\\n'", "three_person"),
        ("text = text.replace('\"off\"', 'required # MINE')", "cannot be required"),
        ("text += '# MINE\\n'", "Nothing was changed."),
    ],
    ids=["no policy", "a lock", "a no"],
)
def test_an_edit_that_comes_to_nothing_keeps_what_was_typed(
    terminal: RunOnTerminal, store: Path, tmp_path: Path, git: RunGit, code: str, words: str
) -> None:
    before = git(store, "for-each-ref")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**editor(tmp_path, code), "TMPDIR": str(scratch)}
    done = terminal("policy", "edit", env=env, answers=["n\n"])
    assert done.code == 1
    assert words in done.out
    assert git(store, "for-each-ref") == before
    (kept,) = scratch.glob("gitmem-policy-*.yaml")
    assert "MINE" in kept.read_text(encoding="utf-8")
    assert kept.name in "".join(done.out.split())


def test_a_change_that_somebody_else_made_while_the_editor_was_open_is_not_lost(
    terminal: RunOnTerminal, gitmem: RunCommand, store: Path, tmp_path: Path
) -> None:
    set_rounds = shlex.join(["policy", "set", "rounds", "5", "--yes"])
    code = (
        "import subprocess\n"
        f"subprocess.run([sys.executable, '-m', 'gitmem', *'{set_rounds}'.split()], check=True)\n"
        "text += '# MINE\\n'"
    )
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {**editor(tmp_path, code), "TMPDIR": str(scratch)}
    done = terminal("policy", "edit", env=env, answers=["y\n"])
    assert done.code == 4
    assert "changed on main meanwhile" in done.out
    assert gitmem("policy", "show", "--json").json["policy"]["rounds"] == 5
    assert len(list(scratch.glob("gitmem-policy-*"))) == 1


TONE = """---
name: tone
role: reviewer
applies_to: [extract]
blocking: false
---

语气要友好。
"""


@pytest.fixture
def tone(tmp_path: Path) -> str:
    file = tmp_path / "tone.md"
    file.write_text(TONE, encoding="utf-8")
    return str(file)


def test_reviewers_are_listed_added_and_removed_with_their_difference_shown(
    store: Path, git: RunGit, tone: str
) -> None:
    sure = ("--yes", "--as", ADA)
    done = run_here(store, "policy", "add-reviewer", tone, *sure, "--reason=语气")
    assert "add the reviewer tone" in done.out and "+语气要友好。" in done.out
    assert main_of(git, store) in done.out
    listed = run_here(store, "policy", "reviewers", "--json").json
    assert [found["name"] for found in listed][-1] == "tone"
    assert listed[-1]["kinds"] == ["extract"] and not listed[-1]["blocking"]
    assert "tone\tadvising\textract\n" in run_here(store, "policy", "reviewers").out
    gone = run_here(store, "policy", "remove-reviewer", "tone", *sure, "--json").json
    assert gone["state"] == "decided" and gone["commit"] == main_of(git, store)
    for name in ("conflict", "durability", "evidence"):
        run_here(store, "policy", "remove-reviewer", name, *sure)
    last = run_here(store, "policy", "remove-reviewer", "safety", *sure)
    assert "note: no blocking reviewer is left: every proposal will wait for a person" in last.out


def test_a_reviewer_is_changed_on_a_terminal_only_by_a_yes(
    terminal: RunOnTerminal, store: Path, git: RunGit
) -> None:
    before = main_of(git, store)
    no = terminal("policy", "remove-reviewer", "safety", answers=["n\n"], env={"NO_COLOR": "1"})
    assert no.code == 1 and "remove the reviewer safety" in no.out and "-name: " in no.out
    assert main_of(git, store) == before


def test_reviewers_are_peoples_alone_and_files_must_be_files(
    store: Path, tmp_path: Path, git: RunGit, tone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = git(store, "for-each-ref")
    for path, code, words in (
        (tone + ".txt", 2, "not called NAME.md"),
        (str(tmp_path / "none.md"), 1, "there is no such file"),
        (str(tmp_path), 2, "not called NAME.md"),
    ):
        refused = run_here(store, "policy", "add-reviewer", path, "--yes")
        assert refused.code == code and words in refused.err
    monkeypatch.setenv("CLAUDECODE", "1")
    for args in (["add-reviewer", tone], ["remove-reviewer", "safety"]):
        refused = run_here(store, "policy", *args, "--yes")
        assert refused.code == 1 and "CLAUDECODE" in refused.err
    monkeypatch.delenv("CLAUDECODE")
    for args in (["add-reviewer", tone], ["remove-reviewer", "safety"]):
        assert run_here(store, "policy", *args).code == 4
    assert git(store, "for-each-ref") == before
