"""What a statement is about: its terms, its topics, and the places that it fills."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.ranking import tokens

# Choices that are named in few words, in both languages: "use spaces" corrects a statement about
# indentation. (name, the values that exclude one another, other words for the topic)
TOPIC = "topic "
TOPICS = tuple(
    (
        TOPIC + name,
        re.compile(values, re.IGNORECASE),
        re.compile(f"{values}|{words}", re.IGNORECASE),
    )
    for name, values, words in (
        ("indentation", r"\btabs?\b|\bspaces?\b|制表符|空格", r"\bindent\w*\b|缩进"),
        ("quotes", r"\bsingle[ -]quotes?|\bdouble[ -]quotes?|单引号|双引号", r"\bquotes\b|引号"),
        ("theme", r"\b(?:dark|light)(?= (?:mode|theme))|(?:深|浅|暗|亮)色", r"\btheme\b|主题"),
        ("package manager", r"\b(?:npm|pnpm|yarn|bun)\b", r"\bpackage manager\b|包管理器"),
        (
            "database",
            r"\b(?:postgres(?:ql)?|mysql|mariadb|sqlite|mongodb)\b",
            r"\bdatabase\b|\bdb\b|数据库",
        ),
        ("language", r"\b(?:English|Chinese|Japanese)\b|英文|英语|中文|日文", r"\blanguage\b|语言"),
        ("port", r"(?!)", r"\bports?\b|端口"),
    )
)
# Words that tell what kind of statement it is, not what it is about; as the ranking stems them.
_WEAK_TERMS = frozenset(
    """
    use prefer want like love hate alway never rememb pleas need actual correct chang mind mean
    say go let decid keep set get make sorri wait updat instead rather not no don dont right
    wrong now would should must have been new old differ thing way one is it s we i be true fals
    ok 我们 使用 喜欢 习惯 应该 必须 不要 不是 而是 更正 改成 以后 今后 统一 决定 记住 一律 改用
    换成 不对 其实 是 用 要 不 改 成 该 应 都
    """.split()  # noqa: SIM905
)
_SLOTS = tuple(
    (name, re.compile(p, re.IGNORECASE))
    for name, p in (
        (
            "home",
            r"\bi live (?:in|near|outside)\b|\bi(?:'ve| have)? (?:just |recently )?moved to\b"
            r"|\bi(?:'m| am) (?:based|located|living) in\b|我(?:现在|目前)?(?:住在|家在|常驻|base"
            r"|搬到)",
        ),
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


def topical_terms(text: str) -> frozenset[str]:
    """The terms of ``text`` that tell what it is about, and its topics."""
    found = {name for name, _, words in TOPICS if words.search(text)}
    for term in tokens(text):
        chinese_character = len(term) == 1 and not term.isascii()
        if term not in _WEAK_TERMS and not chinese_character:
            found.add(term)
    return frozenset(found)


def _sequence(text: str) -> tuple[str, ...]:
    return tuple(term for term in tokens(text) if term not in _WEAK_TERMS)


def alike(left: str, right: str) -> bool:
    """Whether two statements have the same telling words in the same order, and the same sense."""
    return _sequence(left) == _sequence(right) and bool(_NEGATIVE.search(left)) == bool(
        _NEGATIVE.search(right)
    )


def places(text: str, type: str) -> Iterator[str]:
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
    for name, values, all_words in TOPICS:
        if values.search(text):
            scope = sorted(set(_sequence(all_words.sub(" ", text))))
            yield f"choice {name} " + " ".join(scope)
