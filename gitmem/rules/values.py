"""Puts the value that a correction names in the place of the old one."""

from __future__ import annotations

import re

from gitmem.rules.grammar import Lazy
from gitmem.rules.topics import TOPICS

_WORD = r"(?:[\w.+#/:-]*[\w+#/]|[\u4e00-\u9fff]{1,12})"
REPLACEMENTS = tuple(
    Lazy(p, re.IGNORECASE)
    for p in (
        rf"\b(?:it's |it is |that's |is |use "
        rf"|to )?(?P<new>{_WORD}(?: {_WORD}){{0,7}}?),? (?:and )?"
        rf"(?:not|instead of|rather than) (?P<old>{_WORD}(?: {_WORD}){{0,2}})$",
        rf"\b(?:not|instead of) (?P<old>{_WORD}(?: {_WORD}){{0,2}}?),? (?:but|it's|use)"
        rf" (?P<new>{_WORD}(?: {_WORD}){{0,2}})$",
        rf"\bfrom (?P<old>{_WORD}) to (?P<new>{_WORD})$",
        (
            r"(?:应该?是|应为|是|用)\s?(?P<new>[^，,。是不]{1,20})[，,]?\s?(?:而?不是|不是"
            r"|而非)\s?(?P<old>[^，,。]{1,20})$"
        ),
        r"不是\s?(?P<old>[^，,。]{1,20}?)[，,]?\s?(?:而是|应该是|是)\s?(?P<new>[^，,。]{1,20})$",
        (
            r"(?:从|把|将)\s?(?P<old>[^，,。]{1,20}?)\s?(?:改成|改为"
            r"|换成)了?\s?(?P<new>[^，,。]{1,20})$"
        ),
    )
)
_COPULA = Lazy(r"\b(?:is|are|be|use|to|on|port)\b|应该?是|是|用", re.IGNORECASE)
BARE_VALUE = Lazy(
    r"(?:it's |it is |use |port |应该?是|是|用|改成|改为)?\s?(v?\d[\w.]{0,20})$", re.IGNORECASE
)
_NUMBER = Lazy(r"(?<![\w.])v?\d[\w.]*\b")
_COUNTED = Lazy(r"(?P<number>\d[\d.]*)(?P<gap>\s?)(?P<unit>[A-Za-z]{2,}|[\u4e00-\u9fff]{1,2})")
_NUMBERED = Lazy(r"(?P<unit>[A-Za-z]{3,}|[\u4e00-\u9fff]{2})(?P<gap>\s?)(?P<number>\d[\d.]*)")


def corrected_text(before: str, correction: str) -> str:
    """What ``before`` says with the value that ``correction`` names put in.

    "Postgres 15 in production" and "it's Postgres 16, not 15" give "Postgres 16 in production".
    Returns "" where the correction does not say which words of ``before`` it replaces.
    """
    wrong, right = corrected_values(before, correction)
    if wrong:
        return _replace(before, wrong, right) if right else ""
    for pattern in (_COUNTED, _NUMBERED):
        for new in pattern.finditer(correction):
            for old in pattern.finditer(before):
                if _unit(old) == _unit(new) and old["number"] != new["number"]:
                    begin, end = old.span("number")
                    return before[:begin] + new["number"] + before[end:]
    return _another_choice(before, correction) or _another_number(before, correction)


def corrected_values(before: str, correction: str) -> tuple[str, str]:
    """The value of ``before`` that ``correction`` names as wrong, and the right one.

    ("", "") where it names none; ("15", "") where it is not clear which is the right one.
    """
    for pattern in REPLACEMENTS:
        found = pattern.search(correction)
        if found and contains(before, found["old"]):
            break
    else:
        return "", ""
    old, new = found["old"].strip(), _COPULA.compiled.split(found["new"])[-1].strip()
    if re.search(r"\d", old):
        # "Postgres 16, not 15": what stands before the old value is named again with the new one.
        numbers = _NUMBER.compiled.findall(new)
        return old, numbers[0] if len(numbers) == 1 else ""
    # "spaces for indentation, not tabs": what follows the value stands in both texts.
    position = before.casefold().find(old.casefold())
    rest = before[position + len(old) :].casefold()
    words = new.split(" ")
    for count in range(1, len(words)):
        if rest.lstrip().startswith(" ".join(words[count:]).casefold()):
            return before[position : position + len(old)], " ".join(words[:count])
    return before[position : position + len(old)], new


def _replace(before: str, old: str, new: str) -> str:
    if contains(before, new):
        return ""
    position = before.find(old)
    return before[:position] + new + before[position + len(old) :]


def _another_choice(before: str, correction: str) -> str:
    for _, values, _words in TOPICS:
        old, new = list(values.finditer(before)), list(values.finditer(correction))
        if len(old) == 1 == len(new) and old[0][0].lower() != new[0][0].lower():
            return before[: old[0].start()] + new[0][0] + before[old[0].end() :]
    return ""


def _another_number(before: str, correction: str) -> str:
    bare = BARE_VALUE.match(correction)
    numbers = list(_NUMBER.finditer(before))
    if bare is None or len(numbers) != 1 or numbers[0].group() == bare[1]:
        return ""
    return before[: numbers[0].start()] + bare[1] + before[numbers[0].end() :]


def contains(text: str, words: str) -> bool:
    words = words.strip()
    if not words:
        return False
    if words.isascii():
        return bool(
            re.search(rf"(?<![A-Za-z0-9]){re.escape(words)}(?![A-Za-z0-9])", text, re.IGNORECASE)
        )
    return words in text


def _unit(match: re.Match[str]) -> str:
    return match["unit"].lower().removesuffix("s")
