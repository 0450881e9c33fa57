"""How a person's text is cut into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.rules.sentences import IN_CODE, IN_QUOTE, MAX_SENTENCE, split


def own(text: str) -> list[str]:
    return [sentence.text for sentence in split(text) if not sentence.aside]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        (
            "用制表符。不要用空格！好吗？好；行",
            ["用制表符。", "不要用空格！", "好吗？", "好；", "行"],
        ),
        (
            "See config.py for 3.11, e.g. line 2. Then go.",
            ["See config.py for 3.11, e.g. line 2.", "Then go."],
        ),
        ("Use Node.js v18.2.0. Ask J. Smith.", ["Use Node.js v18.2.0.", "Ask J. Smith."]),
        ("See https://a.example/x?y=1. Thanks", ["See https://a.example/x?y=1.", "Thanks"]),
        (
            "Tabs, spaces, etc. are fine. Etc. Next",
            ["Tabs, spaces, etc. are fine.", "Etc.", "Next"],
        ),
        ("用 tabs.以后不改。", ["用 tabs.", "以后不改。"]),
        ("I use tabs... except in Python.", ["I use tabs... except in Python."]),
        ('He said "No. Never." Then left.', ['He said "No. Never." Then left.']),
        ("他说“不要。绝不。”然后走了。", ["他说“不要。绝不。”然后走了。"]),
        ("- one\n- two\n3. three", ["one", "two", "three"]),
        ("One\nTwo\n\nThree", ["One", "Two", "Three"]),
        (
            "A line that the editor wrapped somewhere\nin the middle of it.",
            ["A line that the editor wrapped somewhere\nin the middle of it."],
        ),
        ("", []),
        (" \n\t\n ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert own(text) == sentences


@pytest.mark.parametrize(
    ("text", "aside"),
    [
        ("```\nnever\n```", IN_CODE),
        ("~~~py\nnever\n~~~", IN_CODE),
        ("    indented", IN_CODE),
        ("# heading", IN_CODE),
        ("$ git push", IN_CODE),
        ("+added line", IN_CODE),
        ("import os", IN_CODE),
        ("def never(self):", IN_CODE),
        ("> quoted", IN_QUOTE),
        ("| a | b |", IN_QUOTE),
        ("2026-01-02 10:11:12 never", IN_QUOTE),
        ("ERROR: never", IN_QUOTE),
        ("Traceback (most recent call last):", IN_QUOTE),
        ("ValueError: never", IN_QUOTE),
        ("src/a.py:12:5: never", IN_QUOTE),
    ],
)
def test_what_a_person_did_not_say_is_set_aside(text: str, aside: str) -> None:
    assert {sentence.aside for sentence in split(text)} == {aside}


def test_what_follows_a_paste_is_not_the_persons() -> None:
    assert own("Look:\n\nHere is the log:\nnever\nalways") == ["Look:", "Here is the log:"]
    assert own("下面是同事的邮件：\n禁止推送") == ["下面是同事的邮件："]
    assert own("<note>\nnever\n</note>\nMine.") == ["Mine."]


def test_a_person_goes_on_after_a_fence() -> None:
    assert own("Here is the config:\n```\nx: 1\n```\nNever change it.")[-1] == "Never change it."


def test_lines_under_a_heading_know_it() -> None:
    assert [(s.text, s.intro) for s in split("For now:\n- one\n- two\n\nThree")] == [
        ("For now:", ""),
        ("one", "For now:"),
        ("two", "For now:"),
        ("Three", ""),
    ]


@given(st.text(max_size=400) | st.text("a. \n-`\"“”'。>|", max_size=200))
def test_every_sentence_is_a_slice_of_the_text(text: str) -> None:
    for sentence in split(text):
        assert sentence.text in text
        assert len(sentence.masked) == len(sentence.text) <= MAX_SENTENCE
