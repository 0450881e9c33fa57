"""adopt, as a person calls it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.cli.harness import RunCommand, RunOnTerminal

TABS = "records/user/use-tabs.md"
SAID = "缩进一律用制表符，宽度为四。"


def edit(store: Path, old: str = "Use tabs, not spaces, for indentation.", new: str = SAID) -> None:
    text = (store / TABS).read_text(encoding="utf-8")
    assert old in text
    (store / TABS).write_text(text.replace(old, new), encoding="utf-8")


def git(store: Path, *args: str) -> str:
    who = ["-c", "user.name=Eve", "-c", "user.email=eve@example.org"]
    done = subprocess.run(["git", *who, *args], cwd=store, capture_output=True, check=True)
    return done.stdout.decode("utf-8").strip()


def test_the_difference_is_shown_and_a_yes_makes_a_proposal(
    tabs: Path, terminal: RunOnTerminal, gitmem: RunCommand
) -> None:
    edit(tabs)
    done = terminal("adopt", answers=["是\n"])
    assert done.code == 0, done.out
    assert f"+ {SAID}" in done.out and "Propose this?" in done.out
    (proposal,) = gitmem("proposals", "--json").json
    assert f"gitmem approve {proposal['id']}" in done.out
    gitmem("approve", proposal["id"], "--yes")
    assert SAID in gitmem("show", "use-tabs").out
    assert git(tabs, "status", "--porcelain") == ""


def test_a_no_proposes_nothing(tabs: Path, terminal: RunOnTerminal, gitmem: RunCommand) -> None:
    edit(tabs)
    done = terminal("adopt", answers=["n\n"])
    assert done.code == 1
    assert "Nothing was proposed." in done.out
    assert gitmem("proposals", "--json").json == []


def test_without_a_terminal_a_yes_is_needed_as_soon_as_there_is_something(
    tabs: Path, gitmem: RunCommand
) -> None:
    assert gitmem("adopt").out == "Nothing to adopt.\n"
    assert gitmem("adopt", "--json").json["proposal"] is None
    edit(tabs)
    done = gitmem("adopt", code=4)
    assert "--yes" in done.err
    done = gitmem("adopt", "--yes", env={"CLAUDECODE": "1"}, code=1)
    assert "agent" in done.err
    assert gitmem("proposals", "--json").json == []
    made = gitmem("adopt", "--yes", "--as", "本 <ben@example.org>", "--json").json
    assert (made["state"], made["dropped"]) == ("waiting", [])
    assert made["records"][0]["name"] == "use-tabs"
    (proposal,) = gitmem("proposals", "--json").json
    assert proposal["id"] == made["proposal"]
    assert proposal["proposed_by"] == "human:本 <ben@example.org>"


def test_what_cannot_be_adopted_is_named_and_is_no_success(tabs: Path, gitmem: RunCommand) -> None:
    edit(tabs)
    edit(tabs, 'description: "User prefers tabs"', "description: 制表符 #1")
    (tabs / "records/user/short.md").write_text(
        "---\nname: short\ndescription: 回答要简短\ntype: user\n---\n\n不要客套。\n",
        encoding="utf-8",
    )
    done = gitmem("adopt", "--yes", code=1)
    assert f"use-tabs: {TABS}:3: text after # is ignored" in done.out
    assert "+short" in done.out.replace(" ", "")
    assert "gitmem approve adopt-" in done.out


def test_a_changed_policy_is_shown_and_decided(
    tabs: Path, terminal: RunOnTerminal, gitmem: RunCommand
) -> None:
    path = tabs / "policy.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('two_person: "false"', 'two_person: "true"'), encoding="utf-8")
    done = terminal("adopt", answers=["y\n"])
    assert done.code == 0, done.out
    assert '+two_person: "true"' in done.out.replace(" ", "").replace(":", ": ")
    assert "decided in policy-" in done.out
    assert gitmem("policy", "--json").json["policy"]["two_person"] is True
    assert git(tabs, "status", "--porcelain") == ""


def test_every_read_names_a_stray_once_and_adopt_takes_it(tabs: Path, gitmem: RunCommand) -> None:
    edit(tabs)
    git(tabs, "commit", "-q", "-a", "-m", "by hand")
    stray = git(tabs, "rev-parse", "HEAD")
    reads = (["list"], ["show", "use-tabs"], ["search", "tabs", "--json"], ["why", "use-tabs"])
    for read in reads:
        assert gitmem(*read).err.count("stray") == 1, read
    assert gitmem("status", "--json").json["strays"] == [stray]
    assert stray in gitmem("fsck", code=1).out
    made = gitmem("adopt", "--yes", "--json").json
    gitmem("approve", made["proposal"], "--yes")
    assert "stray" not in gitmem("list").err
    assert gitmem("adopt", stray[:10], "--yes").out.endswith("Nothing to adopt.\n")
    gitmem("fsck")
