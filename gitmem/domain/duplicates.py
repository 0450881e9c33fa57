"""Which statements say the same, or nearly so. Pure, and made for batches of a thousand.

Two statements are compared by their features: words, and pairs of neighbouring CJK characters.
Comparing all with all would take minutes, so only those are compared that share one of their
rarest features. That misses none: of two sets whose Dice coefficient is at least 0.75, each has
60 % of its members in the other, so the rarest 40 % (and one) of both have a member in common.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from gitmem.domain.text import normalise_statement

NEAR_DUPLICATE = 0.75
"""Dice coefficient of two statements' words from which on they are shown as close.

"Prefers tabs for indentation. Use tabs, not spaces." and the same with "Likes" reach 0.8;
facts about two settings of one tool stay near 0.5. It only makes a warning: "use tabs, not
spaces" and its opposite share every word, so nothing is ever merged or dropped by it.
"""

MAX_CLOSE = 3
"""Close statements that are named of each one; a person reads no more."""

_COMPARED = 200
"""Statements that one is compared with. More share its rarest features only where hundreds are
nearly the same; then the ones with the rarest features in common are compared."""

# The part of each set that two close ones share at least: T / (2 - T) of T = NEAR_DUPLICATE.
_SHARED = NEAR_DUPLICATE / (2 - NEAR_DUPLICATE)
_CJK_RUN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Close:
    """A statement that is close to another: ``score`` up to 1; ``same`` but for case and marks."""

    name: str
    score: float
    same: bool


@dataclass(frozen=True, slots=True)
class _Text:
    name: str
    plain: str
    features: frozenset[str]


def close_statements(
    known: Iterable[tuple[str, str]],
    new: Sequence[tuple[str, str]],
    *,
    among_new: bool = True,
) -> list[list[Close]]:
    """Return, for each of ``new``, the closest of ``known`` and of the new ones before it.

    Statements are given as (name, text). At most :data:`MAX_CLOSE` are returned for each, the
    closest first. Without ``among_new`` they are of ``known`` only.
    """
    texts = [_text(name, text) for name, text in (*known, *new)]
    counts = Counter(feature for text in texts for feature in text.features)
    same: dict[str, list[_Text]] = defaultdict(list)
    sharing: dict[str, list[_Text]] = defaultdict(list)
    found: list[list[Close]] = []
    for number, text in enumerate(texts):
        rare = _rarest(text.features, counts)
        if number >= len(texts) - len(new):
            found.append(_closest(text, same[text.plain], [sharing[f] for f in rare]))
            if not among_new:
                continue
        same[text.plain].append(text)
        for feature in rare:
            sharing[feature].append(text)
    return found


def _closest(text: _Text, same: Sequence[_Text], sharing: Sequence[Sequence[_Text]]) -> list[Close]:
    found = [Close(other.name, 1.0, True) for other in same[:MAX_CLOSE]]
    compared: dict[int, _Text] = {}
    for others in sharing:
        for other in others[: _COMPARED - len(compared)]:
            compared.setdefault(id(other), other)
    near = [
        Close(other.name, score, False)
        for other in compared.values()
        if other.plain != text.plain
        and (score := _dice(text.features, other.features)) >= NEAR_DUPLICATE
    ]
    return (found + sorted(near, key=lambda close: -close.score))[:MAX_CLOSE]


def _text(name: str, text: str) -> _Text:
    plain = normalise_statement(text)
    return _Text(name, plain, _features(plain))


def _rarest(features: frozenset[str], counts: Counter[str]) -> list[str]:
    # A little is taken off, since 0.6 of 5 must not come out as 3.0000000000000004.
    needed = ceil(_SHARED * len(features) - 1e-9)
    ordered = sorted(features, key=lambda feature: (counts[feature], feature))
    return ordered[: len(features) - needed + 1]


def _dice(ours: frozenset[str], theirs: frozenset[str]) -> float:
    if not ours or not theirs:
        return 0.0
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def _features(plain: str) -> frozenset[str]:
    features = set(_CJK_RUN.sub(" ", plain).split())
    for run in _CJK_RUN.findall(plain):
        features |= {run[i : i + 2] for i in range(len(run) - 1)} or {run}
    return frozenset(features)
