"""Commits that a person made on main by hand: no memory, passed over, and not lost."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import NotFound, Refused
from gitmem.results import ProposalResult
from tests.memory.words import why_dropped
from tests.store.stories import (
    ADA,
    MAIN,
    QUOTE,
    assert_stray,
    commit_text,
    fsck,
    names,
    opened,
    plain,
    propose,
    remembered,
    rev,
    set_main,
)

TABS = "records/user/use-tabs.md"
DB = "records/project/db-postgres.md"
SAID = "缩进一律用制表符，宽度为四。"
BODY = "Use tabs, not spaces, for indentation."
ANSWERS = "---\nname: short-answers\ndescription: 喜欢简短的回答\ntype: user\n---\n\n回答要简短。\n"


def adopt(root: Path, commit: str | None = None) -> ProposalResult:
    with opened(root) as memory:
        return memory.adopt(commit, person=ADA)


def approve(root: Path, proposal: str | None) -> str:
    assert proposal
    with opened(root) as memory:
        return memory.approve(proposal, person=ADA).commit


def edit(root: Path, new: str = SAID, old: str = BODY, path: str = TABS) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")


def commit_all(root: Path, subject: str = "by hand 手改") -> str:
    plain(root, "add", "-A")
    plain(root, "commit", "-q", "--allow-empty", "-m", subject)
    return rev(root, MAIN)


def skipped(root: Path, commit: str) -> list[str]:
    lines = commit_text(root, commit).split("\n")
    return [line.removeprefix("Skipped: ") for line in lines if line.startswith("Skipped: ")]


def problems(root: Path) -> list[str]:
    """What fsck says but for a main that was moved back, as amending a merge does."""
    return [line for line in fsck(root) if not line.startswith("refs/gitmem/kept/main-")]


# --- each kind of stray ------------------------------------------------------------------------


def an_edit(root: Path, proposal: str) -> None:
    edit(root)
    commit_all(root)


def a_merge_amended(root: Path, proposal: str) -> None:
    approve(root, proposal)
    plain(root, "commit", "-q", "--amend", "-m", "nicer words")


def a_merge_reverted(root: Path, proposal: str) -> None:
    plain(root, "revert", "--no-edit", "-m", "1", "HEAD")


def an_unrelated_branch(root: Path, proposal: str) -> None:
    tree = plain(root, "mktree", stdin=f"100644 blob {rev(root, 'HEAD:README.md')}\tfremd.txt\n")
    other = plain(root, "commit-tree", "-m", "another project", tree)
    plain(root, "merge", "-q", "--allow-unrelated-histories", "-m", "join", other)


def a_policy(root: Path, proposal: str) -> None:
    edit(root, 'two_person: "true"', 'two_person: "false"', "policy.yaml")
    commit_all(root)


def a_manifest(root: Path, proposal: str) -> None:
    edit(root, '"count":7', '"count":1', "manifest.json")
    commit_all(root)


def nothing(root: Path, proposal: str) -> None:
    commit_all(root)


def an_octopus(root: Path, proposal: str) -> None:
    tree, tip = rev(root, "HEAD^{tree}"), rev(root, f"proposals/{proposal}")
    parents = ["-p", rev(root, "HEAD"), "-p", tip, "-p", rev(root, "HEAD~1")]
    set_main(root, plain(root, "commit-tree", *parents, "-m", "all", tree))


@pytest.mark.parametrize(
    ("act", "by"),
    [
        (a_merge_amended, "merge"),
        (an_unrelated_branch, "merge"),
        (an_edit, "decision"),
        (a_merge_reverted, "decision"),
        (a_policy, "decision"),
        (a_manifest, "decision"),
        (nothing, "decision"),
        (an_octopus, "decision"),
    ],
)
def test_a_stray_is_no_memory_and_the_next_commit_of_main_passes_over_it(
    root: Path, proposal: str, act: Callable[[Path, str], None], by: str
) -> None:
    other, old = propose(root, "deploy", "部署只在星期五进行。"), rev(root, MAIN)
    before = remembered(root)
    act(root, proposal)
    stray = rev(root, MAIN)
    assert_stray(root, stray, before)
    with opened(root) as memory:
        assert memory.status().manifest_commit == old
        if by == "merge":
            after = memory.approve(other, person=ADA).commit
        else:
            after = memory.reject(other, reason="不对", person=ADA).commit
    assert rev(root, f"{after}^1") == stray
    assert skipped(root, after) == [stray]
    assert names(root) == ["use-tabs", *(["deploy"] if by == "merge" else [])]
    assert problems(root) == []
    assert plain(root, "status", "--porcelain") == ""
    with opened(root) as memory:
        assert memory.status().strays == ()
        assert [problem.where for problem in memory.fsck().passed_over] == [stray]


@pytest.mark.parametrize("act", [a_manifest, an_unrelated_branch, nothing, an_octopus])
def test_a_stray_that_changes_no_record_gives_nothing_to_adopt(
    root: Path, proposal: str, act: Callable[[Path, str], None]
) -> None:
    act(root, proposal)
    result = adopt(root)
    assert (result.proposal, result.state, result.dropped) == (None, "nothing", ())


def test_files_of_another_project_are_counted_and_left(root: Path, proposal: str) -> None:
    an_unrelated_branch(root, proposal)
    assert adopt(root).notes == ("no part of memory, and left as they are: fremd.txt",)


# --- adopting ----------------------------------------------------------------------------------


def test_what_was_committed_by_hand_is_proposed_and_merged_past_the_stray(root: Path) -> None:
    edit(root)
    (root / "records/user/short-answers.md").write_text(ANSWERS, encoding="utf-8")
    stray, base = commit_all(root), rev(root, f"{MAIN}~1")
    result = adopt(root)
    assert rev(root, MAIN) == stray
    assert [(record.name, record.change) for record in result.records] == [
        ("short-answers", "added"),
        ("use-tabs", "revised"),
    ]
    assert rev(root, f"proposals/{result.proposal}~2") == base
    merge = approve(root, result.proposal)
    assert skipped(root, merge) == [stray]
    assert names(root) == ["short-answers", "use-tabs"]
    with opened(root) as memory:
        assert [q.quote for q in memory.show("use-tabs").evidence] == [BODY, SAID]
    assert plain(root, "status", "--porcelain") == ""
    assert problems(root) == []


def test_what_stands_in_the_files_counts_on_top_of_the_strays(root: Path) -> None:
    edit(root)
    (root / "records/user/short-answers.md").write_text(ANSWERS, encoding="utf-8")
    commit_all(root)
    edit(root, "还是用空格，宽度为二。", SAID)
    (root / "records/user/short-answers.md").unlink()
    result = adopt(root)
    assert [record.name for record in result.records] == ["use-tabs"]
    approve(root, result.proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == "还是用空格，宽度为二。"
    assert plain(root, "status", "--porcelain") == ""


def test_strays_that_undo_each_other_leave_nothing_to_adopt(root: Path) -> None:
    edit(root)
    commit_all(root)
    plain(root, "revert", "--no-edit", "HEAD")
    assert adopt(root).state == "nothing"


def test_an_edit_that_is_committed_after_it_was_adopted_is_the_same_edit(root: Path) -> None:
    edit(root)
    first = adopt(root)
    plain(root, "commit", "-q", "-a", "-m", "note")
    assert adopt(root).proposal == first.proposal
    approve(root, first.proposal)
    assert plain(root, "status", "--porcelain") == ""


def test_a_reverted_merge_retires_what_it_had_brought(root: Path, proposal: str) -> None:
    a_merge_reverted(root, proposal)
    result = adopt(root)
    assert [(record.name, record.change) for record in result.records] == [("use-tabs", "retired")]
    assert result.dropped == ()
    approve(root, result.proposal)
    assert names(root) == []
    assert plain(root, "status", "--porcelain") == ""


def test_a_text_brought_back_by_a_revert_is_proposed_with_its_quote(root: Path) -> None:
    with opened(root) as memory:
        memory.edit("use-tabs", body=SAID, person=ADA)
    plain(root, "revert", "--no-edit", "-m", "1", "HEAD")
    result = adopt(root)
    assert result.dropped == ()
    approve(root, result.proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == BODY
    assert plain(root, "status", "--porcelain") == ""


def test_a_record_that_a_commit_moved_is_revised_where_it_lies(root: Path) -> None:
    (root / "records/feedback").mkdir()
    edit(root, 'type: "feedback"', 'type: "user"')
    plain(root, "mv", TABS, "records/feedback/use-tabs.md")
    commit_all(root)
    result = adopt(root)
    assert [(record.name, record.change) for record in result.records] == [("use-tabs", "revised")]
    approve(root, result.proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").summary.type == "feedback"
    assert (root / TABS).exists() and not (root / "records/feedback").exists()
    assert plain(root, "status", "--porcelain") == ""


def test_a_link_that_was_committed_in_a_records_place_is_named(root: Path) -> None:
    (root / TABS).unlink()
    (root / TABS).symlink_to("/etc/hostname")
    plain(root, "commit", "-q", "-a", "-m", "link")
    result = adopt(root)
    assert result.proposal is None
    assert "symbolic link" in why_dropped(result)["use-tabs"]


def test_a_committed_policy_is_decided_about(root: Path, proposal: str) -> None:
    a_policy(root, proposal)
    stray = rev(root, MAIN)
    with opened(root) as memory:
        assert memory.policy().decided_by == ()
        result = memory.adopt(person=ADA)
        assert result.state == "decided"
        assert memory.policy().decided_by == (f"human:{ADA}",)
    assert skipped(root, rev(root, MAIN)) == [stray]
    assert plain(root, "status", "--porcelain") == ""
    assert problems(root) == []


# --- proposals that git merged -----------------------------------------------------------------


@pytest.mark.parametrize("how", ["--no-ff", "--ff-only", "--squash"])
def test_a_proposal_that_git_merged_is_pointed_to(root: Path, proposal: str, how: str) -> None:
    plain(root, "merge", "-q", how, f"proposals/{proposal}")
    if how == "--squash":
        plain(root, "commit", "-q", "-m", "squashed")
    result = adopt(root)
    assert (result.proposal, result.state, result.dropped) == (proposal, "waiting", ())
    assert result.notes[-1].endswith(f"gitmem approve {proposal}")
    approve(root, proposal)
    assert names(root) == ["use-tabs", "db-postgres"]
    assert plain(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("how", ["--no-ff", "--ff-only"])
def test_a_proposal_that_git_merged_and_whose_branch_is_gone_can_be_opened_again(
    root: Path, proposal: str, how: str
) -> None:
    tip = rev(root, f"proposals/{proposal}")
    plain(root, "merge", "-q", how, f"proposals/{proposal}")
    plain(root, "branch", "-q", "-D", f"proposals/{proposal}")
    result = adopt(root)
    assert (result.proposal, result.state) == (None, "nothing")
    command = shlex.split(result.notes[-1].partition("to open it again: ")[2])
    assert command[0] == "git" and command[-1] == tip
    plain(root, *command[1:])
    approve(root, proposal)
    with opened(root) as memory:
        assert [quote.quote for quote in memory.show("db-postgres").evidence] == [QUOTE]


def test_an_amended_merge_is_the_proposal_that_it_merged(root: Path, proposal: str) -> None:
    a_merge_amended(root, proposal)
    result = adopt(root)
    command = shlex.split(result.notes[-1].partition("to open it again: ")[2])
    plain(root, *command[1:])
    approve(root, proposal)
    assert names(root) == ["use-tabs", "db-postgres"]
    assert plain(root, "status", "--porcelain") == ""
    assert problems(root) == []


def test_what_a_person_added_to_a_merge_by_hand_is_theirs(root: Path, proposal: str) -> None:
    plain(root, "merge", "-q", "--no-ff", "-m", "mine", f"proposals/{proposal}")
    edit(root, "数据库用 PostgreSQL 17，别用别的。", QUOTE, DB)
    plain(root, "commit", "-q", "-a", "--amend", "-m", "mine, and better")
    result = adopt(root)
    assert result.proposal and result.proposal != proposal
    with opened(root) as memory:
        (record,) = memory.diff(result.proposal).records
    assert [quote.attested for quote in record.quotes] == ["caller"]
    approve(root, result.proposal)
    assert plain(root, "status", "--porcelain") == ""


# --- one stray that was passed over ------------------------------------------------------------


def test_a_stray_that_a_merge_passed_over_is_adopted_by_its_id(root: Path, proposal: str) -> None:
    edit(root)
    (root / "records/user/short-answers.md").write_text(ANSWERS, encoding="utf-8")
    stray = commit_all(root)
    approve(root, proposal)
    assert BODY in (root / TABS).read_text()
    assert adopt(root).state == "nothing"
    result = adopt(root, stray[:8])
    assert [record.name for record in result.records] == ["short-answers", "use-tabs"]
    assert adopt(root, stray).proposal == result.proposal
    approve(root, result.proposal)
    assert names(root) == ["short-answers", "use-tabs", "db-postgres"]
    assert SAID in (root / TABS).read_text(encoding="utf-8")
    assert plain(root, "status", "--porcelain") == ""


def test_strays_that_a_merge_passed_over_are_named_until_they_are_adopted(
    root: Path, proposal: str
) -> None:
    assert adopt(root).notes == ()
    edit(root)
    first = commit_all(root)
    (root / "records/user/short-answers.md").write_text(ANSWERS, encoding="utf-8")
    second = commit_all(root)
    nothing(root, proposal)
    approve(root, proposal)
    notes = adopt(root).notes
    assert [note[:12] for note in notes] == [second[:12], first[:12]]
    assert "short-answers" in notes[0] and "use-tabs" in notes[1]
    assert all(note.endswith(f"gitmem adopt {note[:12]}") for note in notes)
    adopted, rejected = adopt(root, first).proposal, adopt(root, second).proposal
    assert adopt(root).notes == ()
    approve(root, adopted)
    with opened(root) as memory:
        memory.reject(rejected or "", reason="不对", person=ADA)
        memory.edit("use-tabs", body=BODY, person=ADA)
    assert adopt(root).notes == ()


def test_strays_that_undid_each_other_before_they_were_passed_over_are_not_named(
    root: Path, proposal: str
) -> None:
    edit(root)
    commit_all(root)
    plain(root, "revert", "--no-edit", "HEAD")
    approve(root, proposal)
    assert adopt(root).notes == ()


def test_a_policy_that_was_passed_over_is_named_and_of_many_strays_the_newest_three(
    root: Path, proposal: str
) -> None:
    for number in range(4):
        path = root / f"records/user/n{number}.md"
        path.write_text(ANSWERS.replace("short-answers", path.stem), encoding="utf-8")
        commit_all(root)
    a_policy(root, proposal)
    approve(root, proposal)
    notes = adopt(root).notes
    assert len(notes) == 4
    assert "policy.yaml" in notes[0]
    assert notes[3] == "and 2 older ones, which are named by: gitmem fsck"


def test_what_has_changed_since_is_left_and_named_with_how_to_read_it(root: Path) -> None:
    edit(root)
    (root / "records/user/short-answers.md").write_text(ANSWERS, encoding="utf-8")
    stray = commit_all(root)
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs of width 8.", person=ADA)
    result = adopt(root, stray)
    assert [record.name for record in result.records] == ["short-answers"]
    reason = why_dropped(result)[TABS]
    assert "has changed since" in reason
    command = shlex.split(reason.partition("to read it: ")[2])
    assert SAID in plain(root, *command[1:])


def pasted(command: str, folder: Path) -> str:
    """Run a command in a shell in another folder; nothing that is named in it may run."""
    done = subprocess.run(["bash", "-c", command], cwd=folder, check=True, capture_output=True)
    assert not list(folder.rglob("PWN*"))
    return done.stdout.decode("utf-8")


def test_how_to_read_what_has_changed_since_works_whatever_the_file_is_called(
    root: Path, tmp_path: Path
) -> None:
    path = "records/user/a $(touch PWN);'`touch PWN`.md"
    for said in ("first\n", "second\n"):
        (root / path).write_text(said)
        stray = commit_all(root)
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs of width 8.", person=ADA)
    command = why_dropped(adopt(root, stray))[path].partition("to read it: ")[2]
    assert pasted(command, tmp_path) == "second\n"


def test_a_quote_is_put_back_alone_whatever_its_file_is_called(root: Path, tmp_path: Path) -> None:
    paths = ["evidence/a*;touch PWN.md", "evidence/ab;touch PWN.md"]
    for path in paths:
        (root / path).write_text("kept\n")
    commit_all(root)
    for path in paths:
        (root / path).write_text("mine\n")
    reason = why_dropped(adopt(root))[paths[0]]
    pasted(reason.partition("to put it back: ")[2], tmp_path)
    assert [(root / path).read_text() for path in paths] == ["kept\n", "mine\n"]


def test_of_two_strays_the_later_one_alone_is_not_taken_apart(root: Path, proposal: str) -> None:
    edit(root)
    first = commit_all(root)
    edit(root, "还是用空格，宽度为二。", SAID)
    second = commit_all(root)
    approve(root, proposal)
    assert list(why_dropped(adopt(root, second))) == [TABS]
    assert [record.name for record in adopt(root, first).records] == ["use-tabs"]


def test_only_a_stray_can_be_named(root: Path, proposal: str) -> None:
    merge = approve(root, proposal)
    for commit, error in (
        (merge, Refused),
        (merge[:7], Refused),
        ("0" * 40, NotFound),
        ("main", NotFound),
        (merge[:2], NotFound),
        ("", NotFound),
    ):
        with pytest.raises(error) as caught:
            adopt(root, commit)
        assert "gitmem fsck" in caught.value.hint
