"""A file that a person began before main changed its record: nothing of either is undone."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitmem.repo.begun import BEGUN_NOTE
from gitmem.results import ProposalResult
from tests.memory.words import why_dropped
from tests.store.stories import ADA, BEN, names, opened, plain

TABS = "records/user/use-tabs.md"
BODY = "Use tabs, not spaces, for indentation."
MINE = "缩进一律用制表符，宽度为四。"
THEIRS = "Tabs of width 8, says Otto. 奥托说的。"
BOTH = "制表符，宽度为四或八。"


def adopt(root: Path, who: str = ADA) -> ProposalResult:
    with opened(root) as memory:
        return memory.adopt(person=who)


def approve(root: Path, proposal: str | None) -> None:
    assert proposal
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)


def edit(root: Path, old: str, new: str) -> None:
    text = (root / TABS).read_text(encoding="utf-8")
    assert old in text
    (root / TABS).write_text(text.replace(old, new), encoding="utf-8")


def otto_says(root: Path, **fields: Any) -> str:
    with opened(root) as memory:
        proposal = memory.edit("use-tabs", person=BEN, **fields).proposal
    assert proposal
    return proposal


def shown(root: Path) -> tuple[str, str, list[str]]:
    with opened(root) as memory:
        record = memory.show("use-tabs")
    return record.summary.description, record.body, [q.quote for q in record.evidence]


def note(root: Path) -> Path:
    return root / ".git/gitmem" / BEGUN_NOTE


def test_what_main_changed_in_another_field_stays_and_so_does_what_was_said(root: Path) -> None:
    edit(root, "User prefers tabs", "喜欢制表符")
    otto_says(root, body=THEIRS)
    result = adopt(root)
    assert result.dropped == ()
    approve(root, result.proposal)
    assert shown(root) == ("喜欢制表符", THEIRS, [BODY, THEIRS, "喜欢制表符"])
    assert plain(root, "status", "--porcelain") == ""
    assert not note(root).exists()


def test_fields_that_gitmem_does_not_know_are_put_together_one_by_one(root: Path) -> None:
    edit(root, 'type: "user"', 'type: "user"\nteam: 蓝队')
    with opened(root) as memory:
        memory.edit("use-tabs", valid_until="2030-01-01", person=BEN)
    approve(root, adopt(root).proposal)
    text = (root / TABS).read_text(encoding="utf-8")
    assert 'team: "蓝队"' in text and 'valid_until: "2030-01-01"' in text
    assert plain(root, "status", "--porcelain") == ""


def test_a_field_that_both_changed_is_named_until_a_person_has_put_both_together(
    root: Path,
) -> None:
    edit(root, BODY, MINE)
    proposal = otto_says(root, body=THEIRS)
    for _ in range(2):
        result = adopt(root)
        assert result.proposal is None
        reason = why_dropped(result)["use-tabs"]
        assert proposal in reason and "both you and main changed body" in reason
        assert "gitmem show use-tabs" in reason
    assert shown(root)[1:] == (THEIRS, [BODY, THEIRS])
    edit(root, MINE, BOTH)
    approve(root, adopt(root).proposal)
    assert shown(root)[1:] == (BOTH, [BODY, THEIRS, BOTH])
    assert plain(root, "status", "--porcelain") == ""
    assert not note(root).exists()


def test_a_field_that_nobody_was_told_of_is_not_taken_back_with_the_one_that_was(
    root: Path,
) -> None:
    """Both changed the body, and main the description as well; the person mends the body only."""
    edit(root, BODY, MINE)
    otto_says(root, body=THEIRS)
    otto_says(root, description="Otto's tabs")
    dropped = why_dropped(adopt(root))
    assert "both you and main changed body" in dropped["use-tabs"]
    edit(root, MINE, BOTH)
    approve(root, adopt(root).proposal)
    assert shown(root)[:2] == ("Otto's tabs", BOTH)


def test_a_field_of_a_persons_own_is_told_once_whatever_it_is_called(root: Path) -> None:
    edit(root, "type:", "my own key: first\ntype:")
    approve(root, adopt(root, BEN).proposal)
    edit(root, '"first"', '"theirs"')
    theirs = adopt(root, BEN).proposal
    edit(root, '"theirs"', '"mine"')
    approve(root, theirs)
    otto_says(root, description="Otto's tabs")
    assert "my own key" in why_dropped(adopt(root))["use-tabs"]
    edit(root, '"mine"', '"both"')
    approve(root, adopt(root).proposal)
    assert shown(root)[0] == "Otto's tabs"
    assert '"my own key": "both"' in plain(root, "show", f"main:{TABS}")


def test_a_person_may_take_back_the_field_that_they_were_told_of(root: Path) -> None:
    edit(root, BODY, MINE)
    otto_says(root, body=THEIRS, description="Otto's tabs")
    assert "body" in why_dropped(adopt(root))["use-tabs"]
    edit(root, MINE, BODY)
    approve(root, adopt(root).proposal)
    assert shown(root)[:2] == ("Otto's tabs", BODY)


def test_what_main_changes_after_it_was_told_is_told_again(root: Path) -> None:
    edit(root, BODY, MINE)
    otto_says(root, body=THEIRS)
    adopt(root)
    edit(root, MINE, BOTH)
    again = otto_says(root, body="Spaces after all, says Otto.")
    assert again in why_dropped(adopt(root))["use-tabs"]
    assert shown(root)[1] == "Spaces after all, says Otto."


def test_what_the_same_person_adopted_from_the_file_before_is_no_change_of_another(
    root: Path,
) -> None:
    edit(root, BODY, MINE)
    first = adopt(root)
    edit(root, MINE, BOTH)
    approve(root, first.proposal)
    otto_says(root, description="Tabs, says Otto")
    result = adopt(root)
    assert result.dropped == ()
    approve(root, result.proposal)
    assert shown(root)[:2] == ("Tabs, says Otto", BOTH)


def test_what_somebody_else_adopted_meanwhile_is_not_taken_back(root: Path) -> None:
    edit(root, BODY, THEIRS)
    first = adopt(root, BEN)
    edit(root, THEIRS, MINE)
    approve(root, first.proposal)
    assert first.proposal and first.proposal in why_dropped(adopt(root))["use-tabs"]
    assert shown(root)[1] == THEIRS


def test_a_record_that_main_changed_is_not_retired_because_its_older_file_was_deleted(
    root: Path,
) -> None:
    (root / TABS).unlink()
    otto_says(root, body=THEIRS)
    reason = why_dropped(adopt(root))["use-tabs"]
    assert "is deleted, but main changed it" in reason
    assert names(root) == ["use-tabs"]
    command = reason.partition("to put it back: ")[2]
    subprocess.run(["bash", "-c", command], check=True, capture_output=True)
    assert adopt(root).state == "nothing"
    (root / TABS).unlink()
    approve(root, adopt(root).proposal)
    assert names(root) == []


def test_a_record_that_main_retired_does_not_come_back_by_an_older_edit(root: Path) -> None:
    edit(root, BODY, MINE)
    with opened(root) as memory:
        memory.forget("use-tabs", reason="no longer", person=BEN)
    assert "main retired use-tabs" in why_dropped(adopt(root))["use-tabs"]
    assert names(root) == []
    edit(root, MINE, BOTH)
    approve(root, adopt(root).proposal)
    assert shown(root)[1] == BOTH


def test_words_of_a_commit_by_hand_that_was_passed_over_are_still_the_persons(root: Path) -> None:
    edit(root, BODY, MINE)
    plain(root, "commit", "-q", "-a", "-m", "by hand")
    edit(root, "User prefers tabs", "喜欢制表符")
    with opened(root) as memory:
        memory.remember("Lunch is at noon.", person=BEN)
    approve(root, adopt(root).proposal)
    assert shown(root)[:2] == ("喜欢制表符", MINE)


def test_an_older_form_that_was_committed_takes_nothing_back_either(root: Path) -> None:
    edit(root, BODY, MINE)
    proposal = otto_says(root, body=THEIRS)
    plain(root, "commit", "-q", "-a", "-m", "by hand")
    assert proposal in why_dropped(adopt(root))["use-tabs"]
    edit(root, MINE, BOTH)
    approve(root, adopt(root).proposal)
    assert shown(root)[1:] == (BOTH, [BODY, THEIRS, BOTH])
    assert plain(root, "status", "--porcelain") == ""


def test_an_edit_that_was_staged_follows_too(root: Path) -> None:
    edit(root, "User prefers tabs", "喜欢制表符")
    plain(root, "add", TABS)
    otto_says(root, body=THEIRS)
    approve(root, adopt(root).proposal)
    assert shown(root)[:2] == ("喜欢制表符", THEIRS)
    assert plain(root, "status", "--porcelain") == ""


def test_a_comment_keeps_a_file_from_being_replaced_by_what_carries_its_fields(
    root: Path,
) -> None:
    edit(root, "User prefers tabs", "喜欢制表符")
    edit(root, "---\nname", "---\n# 我的备注\nname")
    otto_says(root, body=THEIRS)
    mine = (root / TABS).read_bytes()
    approve(root, adopt(root).proposal)
    assert (root / TABS).read_bytes() == mine
    again = adopt(root)
    assert again.state == "nothing"
    assert any("main has all that you changed" in said for said in again.notes)


ROWS = '{".": {"records/user/use-tabs.md": ["x", "", null, null], "y": 1}, "z": []}'


@pytest.mark.parametrize("text", ["[]", "{", ROWS, "[" * 99999])
def test_a_damaged_note_is_no_obstacle(root: Path, text: str) -> None:
    edit(root, BODY, MINE)
    otto_says(root, body=THEIRS)
    note(root).write_text(text)
    assert adopt(root).proposal


@pytest.mark.skipif(os.name != "posix", reason="needs a pipe")
def test_a_pipe_in_the_notes_place_is_replaced(root: Path) -> None:
    os.mkfifo(note(root))
    edit(root, BODY, MINE)
    otto_says(root, body=THEIRS)
    assert note(root).is_file()
    assert "main changed it" in why_dropped(adopt(root))["use-tabs"]


def test_an_edit_on_a_form_that_main_has_again_is_one_like_any_other(root: Path) -> None:
    edit(root, BODY, MINE)
    proposal = otto_says(root, body=THEIRS)
    assert note(root).exists()
    with opened(root) as memory:
        memory.revert(proposal, person=BEN)
    assert not note(root).exists()
    assert adopt(root).dropped == ()
