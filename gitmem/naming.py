"""Names that gitmem itself makes for records: from the key words of the statement.

A person sees the name before anything is approved, so it must be readable: English words as they
are, Chinese ones as pinyin without tones. The same statement gives the same name everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from unicodedata import combining, normalize

from gitmem.domain.layout import MAX_NAME, is_name

MAX_WORDS = 6
"""Words in a name; a hash that makes it unique comes on top."""

_HASH_DIGITS = 4
_MAX_WORD = 24
# Addresses and paths are matched to be left out: they tell little and change.
_WORD = re.compile(
    r"https?://[^\s\u3000-\u9fff]+|[\w.~-]{0,80}/[\w./~-]*|(?P<latin>[A-Za-z0-9][A-Za-z0-9']*)"
    r"|(?P<han>[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)",
    re.ASCII,
)
_STOP_WORDS = frozenset(
    [
        "a",
        "about",
        "also",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "being",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "hers",
        "him",
        "his",
        "i",
        "i'd",
        "i'll",
        "i'm",
        "i've",
        "if",
        "in",
        "into",
        "is",
        "it",
        "it's",
        "its",
        "just",
        "let",
        "let's",
        "ll",
        "may",
        "me",
        "might",
        "mine",
        "must",
        "my",
        "of",
        "on",
        "or",
        "our",
        "ours",
        "out",
        "please",
        "re",
        "s",
        "shall",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "theirs",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "those",
        "to",
        "too",
        "us",
        "use",
        "using",
        "very",
        "was",
        "we",
        "we're",
        "we've",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "will",
        "with",
        "would",
        "you",
        "your",
        "yours",
    ]
)
# Function words first, then single characters: what is left are the words that tell.
_CHINESE_STOP = re.compile(
    "我们|你们|他们|咱们|使用|一名|一个|一位|一下|必须|应该|可以|需要|务必|一定|以后|今后"
    "|从现在起"
    "|[的了吗呢吧啊呀哦请我你您他她它们在是把被都就和与及也还很用要会得地着过将给先里最更超啊]"
)
# Words of statements that pypinyin's dictionary would cut in the wrong place.
_CHINESE_WORDS = re.compile(
    "(包管理器|服务器|变量|数据库|喜欢|习惯|偏好|讨厌|统一|禁止|决定|制表符|空格|缩进"
    "|端口|分支|仓库|密钥|迁移|部署|发布|工程师|注释"
    "|英文|中文|代码|全局|生产|推送|直接|深色|浅色|模式|时区)"
)


def name_for(statement: str, taken: Callable[[str], bool]) -> str:
    """Return a legal record name for ``statement`` that ``taken`` does not know.

    At most six words and 80 characters of ``[a-z0-9-]``. Four hex digits of the statement's
    SHA-256 are added where the name is taken or no word is left, more of them while that is
    taken as well. Deterministic; never raises for any text.
    """
    words: list[str] = []
    for word in _words(_without_accents(statement)):
        if sum(map(len, words)) + len(words) + len(word) > MAX_NAME - 2 * _HASH_DIGITS:
            break
        words.append(word)
        if len(words) == MAX_WORDS:
            break
    base = "-".join(words)
    if is_name(base) and not taken(base):
        return base
    composed = normalize("NFC", statement)
    digest = sha256(composed.encode("utf-8", "surrogatepass")).hexdigest()
    stem = base or "note"
    for digits in range(_HASH_DIGITS, len(digest), _HASH_DIGITS):
        name = f"{stem[: MAX_NAME - 1 - digits].rstrip('-')}-{digest[:digits]}"
        if not taken(name):
            return name
    # Nothing short of a store that holds every prefix of the hash gets here.
    return digest


def _without_accents(text: str) -> str:
    """``text`` with ``café`` as ``cafe``, however its é was typed, and full-width letters plain."""
    decomposed = normalize("NFKD", text)
    return normalize("NFC", "".join(c for c in decomposed if not combining(c)))


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        if match["han"]:
            yield from _pinyin(match["han"])
        elif match["latin"] and match["latin"].lower() not in _STOP_WORDS:
            yield match["latin"].lower().replace("'", "")[:_MAX_WORD]


def _pinyin(run: str) -> Iterator[str]:
    """The words of a run of Chinese: those that pypinyin's dictionary knows, the rest in pairs."""
    # Imported here: its dictionaries take longer to load than most commands to run.
    from pypinyin import lazy_pinyin
    from pypinyin.seg.mmseg import seg

    for piece in filter(None, _CHINESE_STOP.split(run)):
        loose: list[str] = []
        known = _CHINESE_WORDS.split(piece)
        for word in (
            w for i, part in enumerate(known) for w in ([part] if i % 2 else seg.cut(part))
        ):
            syllables = [s for s in lazy_pinyin(word, errors="ignore") if s.isascii()]
            if len(word) == 1:
                loose += syllables
                continue
            yield from _pairs(loose)
            loose = []
            yield from filter(None, ["".join(syllables)[:_MAX_WORD]])
        yield from _pairs(loose)


def _pairs(syllables: list[str]) -> Iterator[str]:
    for position in range(0, len(syllables), 2):
        yield "".join(syllables[position : position + 2])
