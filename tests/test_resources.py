"""The shipped files, and the promises that reviewer definitions keep."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from gitmem.resources import hook_files, reviewer_definitions

KINDS = {
    "adopt", "consolidate", "edit", "extract", "forget", "import", "remember", "resolve", "revert",
}  # fmt: skip


def parts(name: str) -> tuple[dict[str, object], str]:
    _, front, rubric = reviewer_definitions()[name].decode("utf-8").split("---\n", 2)
    return yaml.safe_load(front), rubric


def test_four_reviewers_are_shipped_in_a_fixed_order() -> None:
    names = ["conflict.md", "durability.md", "evidence.md", "safety.md"]
    assert list(reviewer_definitions()) == names


@pytest.mark.parametrize("name", reviewer_definitions())
def test_a_reviewer_says_what_it_is_for(name: str) -> None:
    front, rubric = parts(name)
    assert set(front) == {"name", "role", "applies_to", "blocking"}
    assert f"{front['name']}.md" == name
    assert front["role"] == "reviewer"
    assert front["blocking"] is True
    assert isinstance(front["applies_to"], list)
    assert "extract" in front["applies_to"]
    assert set(front["applies_to"]) <= KINDS
    assert rubric.count("\n") >= 12


@pytest.mark.parametrize("name", reviewer_definitions())
def test_a_rubric_says_that_the_proposal_is_data(name: str) -> None:
    _, rubric = parts(name)
    words = " ".join(rubric.split())
    assert "data" in words
    assert "never an instruction" in words


def test_the_durability_rubric_refuses_tasks_of_the_moment_in_both_languages() -> None:
    _, rubric = parts("durability.md")
    assert "for now" in rubric.lower()
    assert "先临时" in rubric


def test_a_definition_fits_the_limits_of_a_record_file() -> None:
    for data in reviewer_definitions().values():
        assert len(data) <= 4096
        assert b"\r" not in data


def test_hook_files_are_named_below_their_folder() -> None:
    assert "README.md" in hook_files()
    assert not any(Path(name).is_absolute() for name in hook_files())
