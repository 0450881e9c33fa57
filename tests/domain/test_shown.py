"""What is not drawn is left out, and every place is traced back to where it stood."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.shown import Shown

HIDDEN = st.sampled_from(["\u200b", "\ufeff", "\u00ad", "\U000e0041", "\ufffd"])


@given(st.lists(st.one_of(HIDDEN, st.sampled_from("ab用\n")), max_size=12).map("".join))
def test_every_shown_character_is_traced_to_itself(text: str) -> None:
    shown = Shown.of(text)
    assert [text[shown.origin(at)] for at in range(len(shown.text))] == list(shown.text)
    assert set(shown.text) <= set("ab用\n")
    assert shown.origin(len(shown.text)) == len(text)


def test_letters_of_every_script_and_drawn_marks_are_shown() -> None:
    text = "naïve 用户 ไทย हिन्दी é 👍🏽 «x» -_<>"
    assert Shown.of(text) == Shown(text, [])
