"""Which ids name one model: whoever wrote a proposal must not be the one who approves it."""

from __future__ import annotations

import pytest

from gitmem.domain.actors import model_key, model_name, model_skeleton, same_model

ONE = [
    "alpha-1",
    "Alpha-1",
    "vendor-x/alpha-1",
    "models\\alpha-1",
    "/srv/models/alpha-1.gguf",
    "alpha-1-latest",
    "alpha-1:latest",
    "alpha-1:free",
    "alpha-1:8b-instruct-q4_K_M",
    "alpha-1-2026-01-01",
    "alpha-1-20260101",
    "alpha-1-0613",
    "alpha_1",
    "alpha 1",
    "alpha-1-Q4_K_M.gguf",
    "alpha-1.IQ2_XXS.gguf",
    "alpha-1-GPTQ-Int4",
    "alpha-1-AWQ",
    "hub.example/them/alpha-1-GGUF:Q8_0",
    "vendor.alpha-1",
    "us.vendor.alpha-1",
    "ft:alpha-1:ours::7",
]
OTHERS = ["beta-2", "alpha-2", "alpha-1-mini", "gpt-4.1", "gpt-4o", "qwen2.5-7b", "qwen3-7b", "q4"]


def test_ids_that_differ_by_what_is_around_the_name_are_one_model() -> None:
    assert {model_skeleton(name) for name in ONE} == {"alpha1"}
    assert all(same_model(one, other) for one in ONE for other in ONE)


def test_ids_of_other_models_stay_apart() -> None:
    named = [model_skeleton(name) for name in ["alpha-1", *OTHERS]]
    assert len(set(named)) == len(named) and all(named)


@pytest.mark.parametrize("name", ["", "vendor/", "---", "模型", ":free", "ft:"])
def test_an_id_without_a_name_has_no_skeleton(name: str) -> None:
    assert model_skeleton(name) == ""


def test_what_the_recorded_rule_takes_for_one_model_this_does_too() -> None:
    pairs = [(one, other) for one in [*ONE, *OTHERS] for other in [*ONE, *OTHERS]]
    for one, other in pairs:
        if model_key(f"model:{one}@host") == model_key(f"model:{other}@host") is not None:
            assert same_model(one, other), (one, other)


def test_only_a_model_has_a_models_name() -> None:
    assert model_name("model:a/b-1@host:8080") == "a/b-1"
    assert [model_name(who) for who in ("rules", "human:Ada <a@b.example>", "model:@h")] == [""] * 3
