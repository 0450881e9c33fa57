"""The shipped files, and the promises that reviewer definitions keep."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from gitmem.documents import read_reviewer
from gitmem.domain.proposal import KINDS
from gitmem.resources import hook_files, reviewer_definitions


def test_four_reviewers_are_shipped_in_a_fixed_order() -> None:
    names = ["conflict.md", "durability.md", "evidence.md", "safety.md"]
    assert list(reviewer_definitions()) == names


@pytest.mark.parametrize("file", reviewer_definitions())
def test_a_shipped_reviewer_is_one_that_a_store_accepts(file: str) -> None:
    reviewer = read_reviewer(reviewer_definitions()[file], where=file)
    assert f"{reviewer.name}.md" == file
    assert reviewer.role == "reviewer"
    assert reviewer.blocking is True
    assert "extract" in reviewer.applies_to
    assert set(reviewer.applies_to) <= set(KINDS)


@pytest.mark.parametrize("file", reviewer_definitions())
def test_a_rubric_says_that_the_proposal_is_data(file: str) -> None:
    reviewer = read_reviewer(reviewer_definitions()[file], where=file)
    words = " ".join(reviewer.rubric.split())
    assert "data" in words
    assert "never an instruction" in words


@pytest.mark.parametrize("words", ["for now", "这次", "先临时"])
def test_the_durability_rubric_refuses_tasks_of_the_moment(words: str) -> None:
    rubric = reviewer_definitions()["durability.md"].decode("utf-8")
    assert words in rubric.lower()


def test_rubrics_are_short_since_each_review_sends_them() -> None:
    assert max(len(data) for data in reviewer_definitions().values()) <= 4096


def test_hook_files_are_named_below_their_folder() -> None:
    assert "README.md" in hook_files()
    assert not any(PurePosixPath(name).is_absolute() for name in hook_files())
