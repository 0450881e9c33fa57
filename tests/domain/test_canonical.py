"""Canonical JSON: the same value has the same bytes everywhere."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.canonical import canonical_file, canonical_json, sha256_hex

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(VALUES)
def test_reading_gives_the_value_back_and_writing_again_the_same_bytes(value: object) -> None:
    data = canonical_json(value)
    assert json.loads(data) == value
    assert canonical_json(json.loads(data)) == data
    assert b"\n" not in data


@given(st.dictionaries(TEXT, st.integers(), min_size=2))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def test_the_form_is_sorted_tight_and_unescaped() -> None:
    value = {"b": [1, "中文 é"], "a": None, "\u2028": True}
    assert canonical_json(value) == '{"a":null,"b":[1,"中文 é"],"\u2028":true}'.encode()
    assert canonical_file({}) == b"{}\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800", {"x": -math.inf}])
def test_what_json_cannot_say_everywhere_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical_json(value)


def test_what_json_has_no_form_for_is_refused() -> None:
    with pytest.raises(TypeError):
        canonical_json({"x": b"bytes"})


def test_the_hash_is_sha256_in_lower_case() -> None:
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_hex(b"abc") == known
