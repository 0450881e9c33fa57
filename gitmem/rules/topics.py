"""What a statement is about and what it says of it: its terms, topics, sense and place."""

from __future__ import annotations

import re

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
# Of those, the ones without which two statements may say the same.
_SAYING_TERMS = _WEAK_TERMS - frozenset(
    """
    new old differ right wrong now instead true fals one get set make 改成 改用 换成
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
_LIMITED = re.compile(
    r"\b(?:for|when|while|during|on|if|at (?:work|home)|sometimes|also|second)\b"
    r"|时候|如果|周末|有时|也|第二",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:now|no longer|not any ?more|switched|moved|migrated|changed)\b"
    r"|改成|改为|改用|换成|换用|搬到|搬去|不再|迁移到|切换到",
    re.IGNORECASE,
)
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


def sense(text: str) -> tuple[bool, tuple[str, ...]]:
    """What ``text`` says: whether it denies, and its telling words in their order."""
    said = tuple(term for term in tokens(text) if term not in _SAYING_TERMS)
    return bool(_NEGATIVE.search(text)), said


def only_place(text: str, type: str) -> str:
    """The place that a person fills once (where they live) and that ``text`` fills, or "".

    A text that limits itself ("my editor for Java") fills none.
    """
    if type != "user" or _LIMITED.search(text):
        return ""
    return next((name for name, pattern in _SLOTS if pattern.search(text)), "")


def says_that_it_changed(text: str) -> bool:
    """Whether ``text`` itself says that something was otherwise before."""
    return bool(_CHANGED.search(text))
