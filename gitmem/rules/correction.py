"""Which record or earlier statement a new statement changes, and what it then says.

Two statements are about the same thing when they fill the same slot (where the person lives,
where the docs are), when they have the same words but for numbers and values, or, after words
like "actually" or 更正, when they clearly share what they talk about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gitmem.domain.text import normalise_statement
from gitmem.ranking import tokens

_RECENT = 40
"""Facts of one term that are looked at, the newest: keeps a long conversation linear."""

_WEAK_TERMS = frozenset(
    ["use", "prefer", "want", "like", "love", "hate", "alway", "never", "rememb", "pleas", "need", "actual", "correct", "chang", "mind", "mean", "say", "go", "let", "decid", "keep", "set", "get", "make", "sorri", "wait", "updat", "instead", "rather", "not", "no", "don", "dont", "right", "wrong", "now", "would", "should", "must", "have", "been", "new", "old", "differ", "thing", "way", "one", "is", "it", "s", "we", "i", "be", "true", "fals", "ok", "我们", "使用", "喜欢", "习惯", "应该", "必须", "不要", "不是", "而是", "更正", "改成", "以后", "今后", "统一", "决定", "记住", "一律", "改用", "换成", "不对", "其实", "是", "用", "要", "不", "改", "成", "该", "应", "都"]
)
# Words for one topic in both languages: "use spaces" corrects a statement about indentation.
_TOPIC = "topic "
_TOPICS = (
    ("indentation", r"\b(?:tabs?|spaces?|indent\w*)\b|缩进|制表符|空格"),
    ("quotes", r"\b(?:single|double)[ -]quot|单引号|双引号"),
    ("theme", r"\b(?:dark|light) (?:mode|theme)\b|(?:深|浅|暗|亮)色(?:模式|主题)?"),
    ("package manager", r"\b(?:npm|pnpm|yarn|bun)\b|包管理器"),
    ("database", r"\b(?:postgres\w*|mysql|mariadb|sqlite|mongodb|database|db)\b|数据库"),
    ("port", r"\bports?\b|端口"),
    ("line length", r"\bline (?:length|width)|行宽|每行"),
    ("commit messages", r"\bcommit messages?\b|提交(?:信息|说明)"),
)
_TOPIC_PATTERNS = tuple((name, re.compile(p, re.IGNORECASE)) for name, p in _TOPICS)
_SLOTS = tuple(
    (name, re.compile(p, re.IGNORECASE))
    for name, p in (
        ("home", r"\bi live (?:in|near|outside)\b|\bi(?:'ve| have)? (?:just |recently )?moved to\b"
         r"|\bi(?:'m| am) (?:based|located|living) in\b|我(?:现在|目前)?(?:住在|家在|常驻|base|搬到)"),
        ("employer", r"\bi work (?:at|for)\b|我在[^，。]{2,20}(?:工作|上班|任职)"),
        ("name", r"\bmy (?:full |first )?name\b|\bcall me\b|我(?:的名字)?叫|我的名字是|叫我"),
        ("timezone", r"\bmy time ?zone\b|我的时区"),
        ("editor", r"\bmy (?:editor|ide)\b|我的(?:主力)?编辑器"),
        ("shell", r"\bmy shell\b|我的 ?shell"),
        ("native language", r"\bmy (?:native language|mother tongue)\b|我的母语"),
    )
)
_POINTER = re.compile(
    r"^(?P<what>[\w' -]{3,60}?) (?:is|are|live|lives|can be found) (?:now )?(?:at|in|on|under) "
    r"|^(?P<zh>[^，。在]{2,20}?)(?:都|统一)?(?:在|位于|放在|存放在)",
    re.IGNORECASE,
)
_VALUE = re.compile(r"https?://\S+|\S*[\d/]\S*")
_NEGATIVE = re.compile(
    r"\b(?:never|not|no|don't|do not|doesn't|hate|dislike|avoid|forbidden|can't stand|stop)\b"
    r"|不|别|勿|禁|讨厌|反感|避免",
    re.IGNORECASE,
)
_WORD = r"(?:[\w.+#/:-]*[\w+#/]|[\u4e00-\u9fff]{1,12})"
_REPLACES = tuple(
    re.compile(p, re.IGNORECASE)
    for p in (
        rf"\b(?:it's |it is |that's |is |use |to )?(?P<new>{_WORD}(?: {_WORD}){{0,2}}?),? (?:and )?"
        rf"(?:not|instead of|rather than) (?P<old>{_WORD}(?: {_WORD}){{0,2}})$",
        rf"\b(?:not|instead of) (?P<old>{_WORD}(?: {_WORD}){{0,2}}?),? (?:but|it's|use)"
        rf" (?P<new>{_WORD}(?: {_WORD}){{0,2}})$",
        rf"\bfrom (?P<old>{_WORD}) to (?P<new>{_WORD})$",
        r"(?:应该?是|应为|是|用)\s?(?P<new>[^，,。是不]{1,20})[，,]?\s?(?:而?不是|不是|而非)\s?(?P<old>[^，,。]{1,20})$",
        r"不是\s?(?P<old>[^，,。]{1,20}?)[，,]?\s?(?:而是|应该是|是)\s?(?P<new>[^，,。]{1,20})$",
        r"(?:从|把|将)\s?(?P<old>[^，,。]{1,20}?)\s?(?:改成|改为|换成)了?\s?(?P<new>[^，,。]{1,20})$",
    )
)
_COUNTED = re.compile(r"(?P<number>\d[\d.]*)(?P<gap>\s?)(?P<unit>[A-Za-z]{2,}|[\u4e00-\u9fff]{1,2})")
_NUMBERED = re.compile(r"(?P<unit>[A-Za-z]{3,}|[\u4e00-\u9fff]{2})(?P<gap>\s?)(?P<number>\d[\d.]*)")


@dataclass
class Fact:
    """A statement that is already there: a record's (``record`` its name) or an earlier one's."""

    text: str
    type: str
    turn: int
    record: str = ""
    terms: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.terms = _topical(self.text)


class Facts:
    """All that is known or was said, by what it is about."""

    def __init__(self) -> None:
        self._same: dict[str, Fact] = {}
        self._about: dict[str, Fact] = {}
        self._by_term: dict[str, list[Fact]] = {}

    def add(self, fact: Fact) -> None:
        """Make ``fact`` findable; a later one hides an earlier one of the same slot."""
        self._same[normalise_statement(fact.text)] = fact
        for key in _keys(fact.text, fact.type):
            self._about[key] = fact
        for term in fact.terms:
            self._by_term.setdefault(term, []).append(fact)

    def discard(self, fact: Fact) -> None:
        """Forget ``fact``: it was withdrawn or replaced."""
        for table in (self._same, self._about):
            for key in (normalise_statement(fact.text), *_keys(fact.text, fact.type)):
                if table.get(key) is fact:
                    del table[key]
        for term in fact.terms:
            self._by_term[term] = [other for other in self._by_term[term] if other is not fact]

    def same(self, text: str, type: str) -> Fact | None:
        """The fact that says the same: the same telling words in the same order and sense."""
        found = self._same.get(normalise_statement(text))
        if found:
            return found
        about = (self._about.get(key) for key in _keys(text, type))
        return next((fact for fact in about if fact and _alike(fact.text, text)), None)

    def revised_by(self, text: str, type: str) -> Fact | None:
        """The fact that ``text`` replaces without saying so: another value in the same place."""
        return next((fact for key in _keys(text, type) if (fact := self._about.get(key))), None)

    def corrected_by(self, text: str, turn: int, *, complete: bool, strong: bool) -> Fact | None:
        """The fact that ``text``, which says that it corrects something, is about; None if unclear.

        ``complete``: the text also makes sense alone. ``strong``: it opens with words that only
        a correction opens with ("I meant", 更正), not just "actually". Statements of this ``turn``
        and the one before need to share less than what was said or stored earlier.
        """
        wanted = _topical(text)
        near = {
            id(fact): fact for term in wanted for fact in self._by_term.get(term, [])[-_RECENT:]
        }
        ranked = sorted(
            (
                (_overlap(fact, text, wanted), fact.turn, key)
                for key, fact in near.items()
                if _corrects(fact, text, wanted, turn, complete=complete, strong=strong)
            ),
            reverse=True,
        )
        if not ranked:
            return None
        best = near[ranked[0][2]]
        rivals = {near[key].record for *rank, key in ranked if rank == list(ranked[0][:2])}
        return None if best.record and len(rivals) > 1 else best

    def latest_about(self, text: str) -> Fact | None:
        """The newest statement of the conversation that shares a word with ``text``, or None."""
        found = [
            fact
            for term in _topical(text)
            for fact in self._by_term.get(term, [])[-_RECENT:]
            if not fact.record
        ]
        return max(found, key=lambda fact: fact.turn, default=None)


def _overlap(fact: Fact, text: str, wanted: frozenset[str]) -> int:
    shared = fact.terms & wanted
    topics = sum(term.startswith(_TOPIC) for term in shared)
    old = next((found["old"] for p in _REPLACES if (found := p.search(text))), "")
    return len(shared) + topics + 2 * _contains(fact.text, old)


def _corrects(
    fact: Fact, text: str, wanted: frozenset[str], turn: int, *, complete: bool, strong: bool
) -> bool:
    overlap = _overlap(fact, text, wanted)
    if overlap < (1 if not fact.record and turn - fact.turn <= 1 else 2):
        return False
    shared = fact.terms & wanted
    if corrected_text(fact.text, text) or any(term.startswith(_TOPIC) for term in shared):
        return True
    if strong and (complete or overlap > 1):
        return True
    return complete and 2 * len(shared) > len(fact.terms | wanted)


def is_part_of(correction: str, before: str) -> bool:
    """Whether ``correction`` talks of nothing that ``before`` does not talk of too."""
    return _topical(correction) <= _topical(before)


def corrected_text(before: str, correction: str) -> str:
    """What ``before`` says with the value that ``correction`` names put in.

    "Postgres 15 in production" and "it's Postgres 16, not 15" give "Postgres 16 in production".
    Returns "" where the correction does not say which words of ``before`` it replaces.
    """
    for pattern in _REPLACES:
        found = pattern.search(correction)
        if found and _contains(before, found["old"]):
            return _replace(before, found["old"].strip(), found["new"].strip())
    for pattern in (_COUNTED, _NUMBERED):
        for new in pattern.finditer(correction):
            for old in pattern.finditer(before):
                if _unit(old) == _unit(new) and old["number"] != new["number"]:
                    begin, end = old.span("number")
                    return before[:begin] + new["number"] + before[end:]
    return ""


def _replace(before: str, old: str, new: str) -> str:
    # "Postgres 16, not 15": what stands before the old value is named again with the new one.
    head, _, last = new.rpartition(" ")
    position = before.casefold().find(old.casefold())
    if head and before[:position].casefold().rstrip().endswith(head.casefold()):
        new = last
    return before[:position] + new + before[position + len(old) :]


def _contains(text: str, words: str) -> bool:
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


def _topical(text: str) -> frozenset[str]:
    """The terms of ``text`` that tell what it is about, and its topics."""
    found = {_TOPIC + name for name, pattern in _TOPIC_PATTERNS if pattern.search(text)}
    for term in tokens(text):
        chinese_character = len(term) == 1 and not term.isascii()
        if term not in _WEAK_TERMS and not chinese_character and not term.isdigit():
            found.add(term)
    return frozenset(found)


def _sequence(text: str) -> tuple[str, ...]:
    return tuple(term for term in tokens(text) if term not in _WEAK_TERMS)


def _alike(left: str, right: str) -> bool:
    """Whether two statements have the same telling words in the same order, and the same sense."""
    return _sequence(left) == _sequence(right) and bool(_NEGATIVE.search(left)) == bool(
        _NEGATIVE.search(right)
    )


def _keys(text: str, type: str) -> Iterator[str]:
    """The places that ``text`` fills: two statements with the same key are about the same."""
    for name, pattern in _SLOTS:
        if type == "user" and pattern.search(text):
            yield f"slot {name}"
    pointer = _POINTER.match(text) if type == "reference" else None
    if pointer:
        words = sorted(set(_sequence(pointer["what"] or pointer["zh"])) - {"project", "team"})
        if words:
            yield "where " + " ".join(words)
    words = sorted(set(_sequence(_VALUE.sub(" ", text))))
    if len(words) > 1:
        yield "words " + " ".join(words)
    topics = [name for name, pattern in _TOPIC_PATTERNS[:4] if pattern.search(text)]
    if len(topics) == 1 and re.search(r"\bi (?:\w+ )?prefer\b|我\S{0,4}(?:喜欢|偏好|习惯)", text, re.I):
        rest = text
        for name, pattern in _TOPIC_PATTERNS[:4]:
            rest = pattern.sub(" ", rest) if name in topics else rest
        scope = sorted(set(_sequence(rest)))
        yield f"preference {topics[0]} " + " ".join(scope)
