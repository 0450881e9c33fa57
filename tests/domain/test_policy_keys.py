"""The keys of the policy: all named, and set as they are shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.policy import Policy, RequirePerson, ViewLimits
from gitmem.domain.policy_keys import (
    MEANINGS,
    as_text,
    policy_values,
    value_text,
    with_value,
)
from gitmem.errors import InvalidInput

POLICIES = st.builds(
    Policy,
    auto_merge_sources=st.sampled_from([(), ("hook",), ("caller", "file")]),
    require_person=st.builds(
        RequirePerson,
        kinds=st.sampled_from([(), ("edit", "import")]),
        types=st.sampled_from([(), ("user",)]),
    ),
    two_person=st.booleans(),
    signers=st.sampled_from([(), ("小李 <li@example.org> ssh-ed25519 AAAA",)]),
    rounds=st.integers(0, 10),
    allow_yes=st.booleans(),
    view=st.builds(ViewLimits, lines=st.integers(10, 10_000)),
)


def test_every_key_has_a_meaning_on_one_line() -> None:
    assert list(MEANINGS) == list(policy_values(Policy()))
    assert all(meaning and "\n" not in meaning for meaning in MEANINGS.values())


@given(POLICIES)
def test_what_is_shown_of_a_policy_sets_the_same_policy(policy: Policy) -> None:
    made = Policy()
    for key, value in policy_values(policy).items():
        made = with_value(made, key, value_text(value))
    assert made == policy


@given(POLICIES, st.sampled_from(list(MEANINGS)))
def test_setting_a_key_leaves_the_others_alone(policy: Policy, key: str) -> None:
    default = value_text(policy_values(Policy())[key])
    before, after = policy_values(policy), policy_values(with_value(policy, key, default))
    assert {name for name in MEANINGS if before[name] != after[name]} <= {key}


def test_numbers_and_booleans_stand_as_text_in_the_file() -> None:
    assert as_text(Policy())["two_person"] == "false"
    assert as_text(Policy())["view"]["lines"] == "200"
    assert as_text(Policy())["signers"] == []


@pytest.mark.parametrize("text", ["", " ", ",", "hook,", "hook, ,file"])
def test_a_list_with_an_empty_item_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        with_value(Policy(), "auto_merge_sources", text)
