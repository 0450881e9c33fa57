"""A person uses git's own commands in the store: no memory is undone, faked or lost by them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.results import ProposalResult
from tests.store.stories import (
    ADA,
    MAIN,
    QUOTE,
    fsck,
    names,
    opened,
    plain,
    propose,
    remembered,
    rev,
)

TABS = "records/user/use-tabs.md"
DB = "records/project/db-postgres.md"
SAID = "缩进一律用制表符，宽度为四。"
BODY = "Use tabs, not spaces, for indentation."


def adopt(root: Path) -> ProposalResult:
    with opened(root) as memory:
        return memory.adopt(person=ADA)


def approve(root: Path, proposal: str | None) -> None:
    assert proposal
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)


def edit(root: Path, new: str = SAID, old: str = BODY) -> bytes:
    text = (root / TABS).read_text(encoding="utf-8")
    assert old in text
    (root / TABS).write_text(text.replace(old, new), encoding="utf-8")
    return (root / TABS).read_bytes()


def status(root: Path) -> str:
    return plain(root, "status", "--porcelain")


@pytest.mark.parametrize("args", [("-a",), (TABS,)], ids=["everything", "one path"])
def test_a_commit_of_an_edit_after_a_merge_takes_nothing_of_the_merge_away(
    root: Path, proposal: str, args: tuple[str, ...]
) -> None:
    edit(root)
    approve(root, proposal)
    before, merge = remembered(root), rev(root, MAIN)
    plain(root, "commit", "-q", "-m", "mine 我的", *args)
    assert plain(root, "diff", "--name-only", merge, MAIN) == TABS
    assert remembered(root) == before
    approve(root, adopt(root).proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == SAID
    assert names(root) == ["use-tabs", "db-postgres"]
    assert status(root) == ""
    assert fsck(root) == []


def test_a_stash_is_as_good_as_an_edit_once_it_is_back(root: Path, proposal: str) -> None:
    mine = edit(root)
    plain(root, "stash", "-q")
    assert adopt(root).state == "nothing"
    approve(root, proposal)
    plain(root, "stash", "pop", "-q")
    assert (root / TABS).read_bytes() == mine
    assert status(root) == f"M {TABS}"
    approve(root, adopt(root).proposal)
    assert status(root) == ""


def test_an_edit_that_was_stashed_while_its_proposal_was_merged_is_no_loss(root: Path) -> None:
    edit(root)
    result = adopt(root)
    plain(root, "stash", "-q")
    approve(root, result.proposal)
    assert status(root) == ""
    plain(root, "stash", "drop", "-q")
    with opened(root) as memory:
        assert memory.show("use-tabs").body == SAID


# --- something else is checked out -------------------------------------------------------------


def an_older_commit(root: Path, proposal: str) -> str:
    plain(root, "checkout", "-q", "HEAD~1")
    return "a commit of its own"


def the_branch_of_the_proposal(root: Path, proposal: str) -> str:
    plain(root, "checkout", "-q", f"proposals/{proposal}")
    return f"proposals/{proposal}"


def a_branch_of_ones_own(root: Path, proposal: str) -> str:
    plain(root, "checkout", "-q", "-b", "draft-草稿")
    return "draft-草稿"


@pytest.mark.parametrize(
    "away", [an_older_commit, the_branch_of_the_proposal, a_branch_of_ones_own]
)
def test_with_something_else_checked_out_every_command_goes_by_main(
    root: Path, proposal: str, away: Callable[[Path, str], str]
) -> None:
    other = propose(root, "deploy", "部署只在星期五进行。")
    before = remembered(root)
    where = away(root, proposal)
    here = {path: path.read_bytes() for path in (root / "records").rglob("*.md")}
    head = (root / ".git/HEAD").read_bytes()
    (root / "records/user").mkdir(parents=True, exist_ok=True)
    (root / "records/user/mine.md").write_text("mine\n", encoding="utf-8")
    assert remembered(root) == before
    with opened(root) as memory:
        assert [hit.name for hit in memory.search("tabs")] == ["use-tabs"]
        assert memory.status().count == 1
        assert memory.fsck().ok
        result = memory.adopt(person=ADA)
        assert (result.proposal, result.state) == (None, "nothing")
        (note,) = result.notes
        assert where in note and "not on main" in note
        memory.reject(other, reason="不对", person=ADA)
        memory.remember("Answer briefly.", name="brief", type="user", person=ADA)
    assert names(root) == ["brief", "use-tabs"]
    assert {path: path.read_bytes() for path in here} == here
    assert (root / ".git/HEAD").read_bytes() == head
    plain(root, "checkout", "-q", "main")
    assert status(root) == "?? records/user/mine.md"
    assert (root / "records/user/brief.md").exists()


def test_main_is_as_it_was_after_a_look_at_an_older_commit(root: Path, proposal: str) -> None:
    approve(root, proposal)
    before = remembered(root)
    plain(root, "checkout", "-q", "HEAD~1")
    assert not (root / DB).exists()
    assert adopt(root).state == "nothing"
    plain(root, "checkout", "-q", "main")
    assert adopt(root).state == "nothing"
    assert remembered(root) == before
    assert status(root) == ""


def test_older_files_checked_out_on_main_are_an_edit_and_no_memory(
    root: Path, proposal: str
) -> None:
    with opened(root) as memory:
        memory.edit("use-tabs", body=SAID, person=ADA)
    before = remembered(root)
    plain(root, "checkout", "-q", "HEAD~1", "--", TABS)
    assert remembered(root) == before
    result = adopt(root)
    assert [(record.name, record.change) for record in result.records] == [("use-tabs", "revised")]
    approve(root, result.proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == BODY
    assert status(root) == ""


def test_in_the_middle_of_a_merge_no_file_is_looked_at(root: Path, proposal: str) -> None:
    plain(root, "merge", "-q", "--no-ff", "--no-commit", f"proposals/{proposal}")
    edit(root)
    result = adopt(root)
    assert (result.proposal, result.state) == (None, "nothing")
    assert "a merge is under way there" in result.notes[0]
    plain(root, "merge", "--quit")
    assert [record.name for record in adopt(root).records] == ["use-tabs"]


# --- linked work trees -------------------------------------------------------------------------


def test_a_linked_work_tree_on_another_branch_gives_nothing_and_says_so(
    root: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    plain(root, "worktree", "add", "-q", "-b", "side", str(linked))
    edit(linked)
    assert adopt(root).state == "nothing"
    result = adopt(linked)
    assert result.state == "nothing"
    assert str(linked) in result.notes[0] and "side" in result.notes[0]
    edit(root, "在主目录里改的一句话。")
    result = adopt(linked)
    assert [record.name for record in result.records] == ["use-tabs"]
    approve(linked, result.proposal)
    assert status(root) == ""
    assert status(linked) == f"M {TABS}"


def test_a_linked_work_tree_on_main_is_looked_at(root: Path, tmp_path: Path) -> None:
    plain(root, "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    plain(root, "worktree", "add", "-q", str(linked), "main")
    edit(root, "改在不相干的地方。")
    edit(linked)
    for place in (root, linked):
        result = adopt(place)
        assert [record.name for record in result.records] == ["use-tabs"]
    approve(root, result.proposal)
    with opened(linked) as memory:
        assert memory.show("use-tabs").body == SAID
    assert status(linked) == ""
    assert status(root) == f"M {TABS}"


def test_of_two_edits_of_one_record_the_second_is_named(root: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    plain(root, "worktree", "add", "-q", "--force", str(linked), "main")
    edit(root)
    theirs = edit(linked, QUOTE)
    result = adopt(root)
    (dropped,) = result.dropped
    assert dropped.name == TABS and str(linked) in dropped.reason
    approve(root, result.proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == SAID
    assert status(root) == ""
    assert (linked / TABS).read_bytes() == theirs
    assert adopt(root).proposal
