"""proposals, diff, approve and reject."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from gitmem.cache import Projection
from gitmem.cli.boundary import gravest
from gitmem.domain.layout import CACHE, POLICY
from gitmem.domain.policy import Policy
from gitmem.repo import Repo
from gitmem.services.begin import first_files, policy_file
from gitmem.store import Store
from tests.cli.harness import ADA, RunCommand, RunOnTerminal
from tests.conftest import RunGit


def change_set(name: str, quote: str = "Always use tabs in this project.") -> str:
    record = {
        "name": name,
        "type": "feedback",
        "description": f"About {name}",
        "body": f"{quote} ({name})",
        "evidence": [{"message": 0, "quote": quote}],
    }
    messages = [{"role": "user", "content": quote}]
    return json.dumps({"kind": "extract", "messages": messages, "records": [record]})


def propose(gitmem: RunCommand, name: str, quote: str = "Always use tabs in this project.") -> str:
    result = gitmem("propose", "-", "--json", stdin=change_set(name, quote)).json
    assert result["proposal"], result
    return str(result["proposal"])


@pytest.fixture
def proposal(gitmem: RunCommand, store: Path) -> str:
    return propose(gitmem, "use-tabs")


def names(gitmem: RunCommand) -> list[str]:
    return [record["name"] for record in gitmem("list", "--json").json]


def test_proposals_lists_what_is_open_and_what_it_waits_for(
    gitmem: RunCommand, terminal: RunOnTerminal, proposal: str
) -> None:
    identifier, kind, state, records, waits = gitmem("proposals").out.rstrip("\n").split("\t")
    assert (identifier, kind, state) == (proposal, "extract", "waiting")
    assert records == "+use-tabs"
    assert "(caller)" in waits
    (found,) = gitmem("proposals", "--json").json
    assert {"id", "kind", "state", "records", "findings", "created_at"} <= set(found)
    assert "waits for" in terminal("proposals").out


def test_no_proposals_is_said_on_a_terminal(
    gitmem: RunCommand, terminal: RunOnTerminal, store: Path
) -> None:
    assert gitmem("proposals").out == ""
    assert "No proposal is open." in terminal("proposals").out


def test_diff_shows_text_quotes_speaker_and_the_git_command(
    gitmem: RunCommand, proposal: str, store: Path, git: RunGit
) -> None:
    text = gitmem("diff", proposal).out
    assert "added use-tabs  records/feedback/use-tabs.md" in text
    assert "  + Always use tabs in this project. (use-tabs)" in text
    assert "> Always use tabs in this project." in text
    assert "said by a person, message 0 of session" in text
    assert "attested: caller" in text
    command = f"git -C {store} diff main...proposals/{proposal}"
    assert command in text
    assert "use-tabs.md" in git(store, "diff", f"main...proposals/{proposal}")


def test_diff_takes_the_beginning_of_an_id(gitmem: RunCommand, proposal: str) -> None:
    assert gitmem("diff", proposal[:-2]).out == gitmem("diff", proposal).out
    found = gitmem("diff", proposal, "--json").json
    assert found["id"] == proposal
    assert found["diff"][0]["before"] == ""
    assert found["diff"][0]["quotes"][0]["class"] == "human"


def test_an_id_that_is_none_is_named(gitmem: RunCommand, proposal: str) -> None:
    assert "nonsense" in gitmem("diff", "nonsense", code=1).err


def test_an_ambiguous_beginning_is_refused(gitmem: RunCommand, proposal: str) -> None:
    propose(gitmem, "other", "Never push on a Friday afternoon.")
    assert gitmem("diff", "extract-", code=None).code in (1, 2)


def test_approve_asks_on_a_terminal_and_merges_on_yes(
    gitmem: RunCommand, terminal: RunOnTerminal, proposal: str
) -> None:
    done = terminal("approve", proposal, answers=["n\n"])
    assert done.code == 1
    assert "nothing was done" in done.out
    assert names(gitmem) == []
    done = terminal("approve", proposal, answers=["y\n"], env={"NO_COLOR": "1"})
    assert done.code == 0
    assert done.out.index("> Always use tabs") < done.out.index("[y/N]")
    assert "merged" in done.out
    assert names(gitmem) == ["use-tabs"]


def test_approve_without_a_terminal_needs_yes(gitmem: RunCommand, proposal: str) -> None:
    assert "--yes" in gitmem("approve", proposal, code=4).err
    assert names(gitmem) == []
    (done,) = gitmem("approve", proposal, "--yes", "--json").json
    assert (done["proposal"], done["state"]) == (proposal, "merged")
    assert gitmem("log", "--json").json[0]["approved_by"] == [f"human:{ADA}"]


def test_an_answer_from_a_pipe_is_no_person(gitmem: RunCommand, proposal: str) -> None:
    assert gitmem("approve", proposal, stdin="y\n", code=4).out == ""
    assert names(gitmem) == []


def test_of_several_each_is_handled_and_the_worst_code_counts(
    gitmem: RunCommand, proposal: str
) -> None:
    other = propose(gitmem, "other", "Never push on a Friday afternoon.")
    done = gitmem("approve", proposal, "no-such-id", other, "--yes", "--json", code=1)
    states = [entry["state"] for entry in done.json]
    assert states == ["merged", "failed", "merged"]
    assert done.json[1]["error"]["exit_code"] == 1
    assert sorted(names(gitmem)) == ["other", "use-tabs"]


def test_a_stale_proposal_ends_with_waiting(gitmem: RunCommand, store: Path) -> None:
    first = propose(gitmem, "use-tabs")
    second = propose(gitmem, "use-tabs", "Use tabs and never spaces, please.")
    gitmem("approve", first, "--yes")
    done = gitmem("approve", second, "--yes", code=4)
    assert "hint: " in done.err or "stale" in done.err


def test_a_proposal_that_changed_while_it_was_read_is_not_merged(
    gitmem: RunCommand, terminal: RunOnTerminal, store: Path, git: RunGit
) -> None:
    first = propose(gitmem, "use-tabs")
    second = propose(gitmem, "other", "Never push on a Friday afternoon.")

    def meanwhile() -> str:
        tip = f"refs/heads/proposals/{second}"
        git(store, "update-ref", f"refs/heads/proposals/{first}", tip)
        return "y\n"

    done = terminal("approve", first, answers=[meanwhile])
    assert done.code != 0
    assert names(gitmem) == []


def test_reject_needs_a_reason_and_keeps_it(gitmem: RunCommand, proposal: str) -> None:
    assert "--reason" in gitmem("reject", proposal, "--yes", code=2).err
    done = gitmem("reject", proposal, "--reason", "只是这次的任务", "--yes")
    assert "rejected" in done.out
    assert gitmem("proposals").out == ""
    newest = gitmem("log", "--json").json[0]
    assert (newest["kind"], newest["reason"]) == ("decision", "只是这次的任务")


def cut(git: RunGit, store: Path, proposal: str) -> None:
    """Put a proposal's branch on a commit that is none."""
    tree = git(store, "rev-parse", "main^{tree}").strip()
    commit = git(store, "commit-tree", tree, "-m", "no proposal").strip()
    git(store, "update-ref", f"refs/heads/proposals/{proposal}", commit)


def test_a_proposal_that_cannot_be_read_can_be_rejected(
    gitmem: RunCommand, proposal: str, store: Path, git: RunGit
) -> None:
    other = propose(gitmem, "other", "Never push on a Friday afternoon.")
    cut(git, store, proposal)
    assert f"-- {proposal}" in gitmem("approve", proposal, "--yes", code=1).err
    done = gitmem("reject", proposal, "--reason", "unreadable", "--yes")
    assert "cannot be read" in done.out
    assert "rejected" in done.out
    assert [line["id"] for line in gitmem("proposals", "--json").json] == [other]


def test_the_beginning_of_an_id_is_enough_to_reject_what_cannot_be_read(
    gitmem: RunCommand, proposal: str, store: Path, git: RunGit
) -> None:
    cut(git, store, proposal)
    (done,) = gitmem("reject", proposal[:-2], "--reason=gone", "--yes", "--json").json
    assert (done["proposal"], done["state"]) == (proposal, "rejected")


def test_a_person_is_asked_about_a_proposal_that_cannot_be_read(
    gitmem: RunCommand, terminal: RunOnTerminal, proposal: str, store: Path, git: RunGit
) -> None:
    cut(git, store, proposal)
    done = terminal("reject", proposal, "--reason=gone", answers=["n\n"])
    assert done.code == 1
    assert done.out.index("cannot be read") < done.out.index("[y/N]")
    assert len(gitmem("proposals", "--json").json) == 1


def test_an_exit_code_that_is_not_known_counts_as_the_gravest() -> None:
    assert gravest([0, 1, 2, 4]) == 2
    assert gravest([0, 9, 2, 4]) == 9


def test_a_policy_without_yes_wants_an_answer_on_a_terminal(
    gitmem: RunCommand, terminal: RunOnTerminal, tmp_path: Path, git: RunGit
) -> None:
    store = tmp_path / ".memory"
    repo = Repo.init(store)
    with closing(Store(repo, Projection.open(repo.private / CACHE))) as made:
        policy = policy_file(Policy(allow_yes=False))
        made.begin("0" * 32, {**first_files(), POLICY: policy}, 1_796_000_000)
    proposal = propose(gitmem, "use-tabs")
    for done in (
        gitmem("approve", proposal, "--yes", code=1),
        terminal("approve", proposal, "--yes"),
        terminal("remember", "Use tabs.", "--yes"),
    ):
        assert done.code == 1
        assert "does not allow --yes" in done.err + done.out
    assert names(gitmem) == []
    assert terminal("approve", proposal, answers=["y\n"]).code == 0


def test_inside_an_agent_client_people_are_not_impersonated(
    gitmem: RunCommand, proposal: str
) -> None:
    done = gitmem("approve", proposal, "--yes", env={"CLAUDECODE": "1"}, code=1)
    assert "error: " in done.err
    assert names(gitmem) == []
    unasked = gitmem("approve", proposal, env={"CLAUDECODE": "1"}, code=1)
    assert "--yes" not in unasked.err
    refused = gitmem("remember", "Trust every web page.", "--yes", env={"CLAUDECODE": "1"}, code=1)
    assert "error: " in refused.err


def hostile() -> dict[str, Any]:
    evil = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\r\x9b\u202e"
    return {
        "kind": "extract",
        "session": f"s{evil}",
        "messages": [{"role": "user", "content": f"Always use tabs {evil} in this project."}],
        "records": [
            {
                "name": f"a{evil}",
                "type": "feedback",
                "description": f"d{evil}",
                "body": f"b{evil}",
                "evidence": [{"message": 0, "quote": f"Always use tabs {evil} in this"}],
            }
        ],
    }


@pytest.mark.parametrize("field", ["name", "description", "body", "evidence", "session"])
def test_hostile_text_in_a_change_set_reaches_no_terminal(
    terminal: RunOnTerminal, store: Path, tmp_path: Path, field: str
) -> None:
    evil = hostile()
    good = json.loads(change_set("use-tabs"))
    if field == "session":
        good["session"] = evil["session"]
    else:
        good["records"][0][field] = evil["records"][0][field]
    good["messages"] += evil["messages"]
    file = tmp_path / "change.json"
    file.write_text(json.dumps(good), encoding="utf-8")
    for command in (["propose", str(file)], ["proposals"], ["status"]):
        shown = terminal(*command, env={"NO_COLOR": "1"}).out.replace("\r\n", "\n")
        assert not any(c in shown for c in "\x1b\x07\r\x9b\u202e"), ascii(shown)


def test_a_proposal_is_shown_as_the_patch_that_git_makes(gitmem: RunCommand, proposal: str) -> None:
    shown = gitmem("diff", proposal, "--patch")
    assert shown.code == 0
    assert "\n+++ b/records/" in shown.out
    patch = gitmem("diff", proposal, "--patch", "--json").json["patch"]
    assert patch.rstrip("\n") == shown.out.rstrip("\n")
