"""One tokeniser for records in English, Chinese and code."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from itertools import pairwise
from types import ModuleType
from unicodedata import category, normalize

STEMMED_CHARACTERS = 64
"""A longer word is no English word; the stemmer would take quadratic time on some of them."""

# Function words only: a word that could be what a question is about stays.
STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are aren as at be because been before
    being below between both but by can could couldn d did didn do does doesn doing don done down
    during each either for from further had hadn has hasn have haven having he her here hers
    herself him himself his how i if in into is isn it its itself just ll m me might more most must
    mustn my myself nor of off on once only or other our ours ourselves out over own re s same
    shall shan she should shouldn so some such t than that the their theirs them themselves then
    there these they this those through to too under until up upon us ve very was wasn we were
    weren what when where whether which while who whom whose why will with would wouldn you your
    yours yourself yourselves
    """.split()  # noqa: SIM905 (a list literal would take a line a word)
)

# Scripts without spaces between words (and Hangul, whose words carry their particles): first and
# last character of each range, in order.
_UNSPACED = (
    "\u0e00\u0eff\u1000\u109f\u1100\u11ff\u1780\u17ff"  # Thai, Lao, Myanmar, Hangul, Khmer
    "\u3005\u3007\u3021\u3029\u3038\u303b"  # signs and numerals used among Han characters
    "\u3041\u3096\u3099\u309a\u309d\u309f\u30a1\u30fa\u30fc\u30ff"  # kana
    "\u3105\u312f\u3131\u318e\u31a0\u31bf\u31f0\u31ff"  # Bopomofo, Hangul, Ainu kana
    "\u3400\u4dbf\u4e00\u9fff"  # Han
    "\ua960\ua97c\uac00\ud7fb"  # Hangul
    "\uf900\ufaff\U00020000\U0003fffd"  # Han
)
_RUNS = re.compile(r"\w+(?:(?:::|[-./])\w+)*")
_KIND_RUNS = re.compile(r"c+|w+(?:(?:::|[-./])w+)*")
_COMPONENTS = re.compile(r"::|[./]")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9_.:/\-]+")

# NFKC turns a spacing sound mark into a space and a mark, which then misses its kana; the
# others are invisible inside a word, or other spellings of the hyphen.
_BEFORE_NFKC = {0x309B: "\u3099", 0x309C: "\u309a", 0x2010: "-", 0x2011: "-"} | dict.fromkeys(
    [0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)], ""
)


def tokens(text: str) -> list[str]:
    """Return the terms of ``text``, in order, repeated as often as they occur.

    - Latin words: lower-cased, stop words left out, stemmed (English Snowball).
    - Chinese, Japanese, Korean and other text without spaces: every character and every pair of
      neighbours, so that words of one, two or more characters are found without a dictionary.
    - Code identifiers: whole, by dotted component, and split at case, digits and signs.
    - Words of other scripts: whole.

    Spellings that Unicode calls compatible (full width, half width, composed or not) give the
    same terms. The result depends on the text alone. Never raises.
    """
    if text.isascii():
        return [term for run in _RUNS.findall(text) for term in _run_terms(run)]
    text = normalize("NFKC", text.translate(_BEFORE_NFKC))
    result: list[str] = []
    for match in _KIND_RUNS.finditer("".join(map(_kind, text))):
        run = text[match.start() : match.end()]
        if match[0][0] == "c":
            result.extend(run)
            result.extend(map("".join, pairwise(run)))
        else:
            result.extend(_run_terms(run))
    return result


def document(name: str, description: str, body: str) -> str:
    """Return the text by which a record is found: its name as words, description and body."""
    return f"{name.replace('-', ' ')}\n{description}\n{body}"


@lru_cache(maxsize=1 << 13)
def _kind(character: str) -> str:
    """Return ``c`` for an unspaced character, ``w`` for one of a word, a joint itself, or a space.

    A regular expression with these ranges in it takes longer to compile than all else to load.
    """
    if character in ":-./":
        return character
    position = bisect_right(_UNSPACED, character)
    if position % 2 or (position and _UNSPACED[position - 1] == character):
        return "c" if category(character)[0] in "LMN" else " "
    is_word = character == "_" or character.isalnum() or category(character)[0] == "M"
    return "w" if is_word else " "


@lru_cache(maxsize=1 << 13)
def _run_terms(run: str) -> tuple[str, ...]:
    """Terms of one run of word characters, joined or not: ``word``, ``snake_case``, ``a.b-c``."""
    run = run.strip("_")
    if run.isalpha() and (run.islower() or run.isupper() or run[1:].islower()):
        return _word_terms(run)
    terms: list[str] = []
    components = [part.strip("_-") for part in _COMPONENTS.split(run)]
    if len(components) > 1:
        terms.append(_fold(run))
    for component in filter(None, components):
        parts = _PARTS.findall(component)
        if parts == [component]:
            terms.extend(_word_terms(component))
            continue
        # `getUserName` and `getusername` are the same word to whoever types the second.
        terms.append(_stem(_fold(component)) if component.isalpha() else _fold(component))
        for part in parts:
            if len(part) > 1:
                terms.extend(_word_terms(part))
    return tuple(terms)


def _word_terms(word: str) -> tuple[str, ...]:
    return () if (folded := _fold(word)) in STOP_WORDS else (_stem(folded),)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _stem(word: str) -> str:
    """Stem a lower-case Latin word; any other word is returned as it is."""
    if not word.isalpha() or word[0] >= "\u0250" or len(word) > STEMMED_CHARACTERS:
        return word
    stemmer = _stemmer_module().EnglishStemmer()  # keeps state: one each call, for threads
    stem: str = stemmer.stemWord(word)
    return stem


@cache
def _stemmer_module() -> ModuleType:
    """Load snowballstemmer's English module without the thirty other languages.

    The package's ``__init__`` imports them all, which takes as long as starting Python. The
    English module imports two neighbours, relative to whatever package holds it.
    """
    spec = PathFinder.find_spec("snowballstemmer")
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError("No module named 'snowballstemmer'", name="snowballstemmer")
    holder = ModuleType("_gitmem_snowball")
    holder.__path__ = list(spec.submodule_search_locations)
    sys.modules[holder.__name__] = holder
    __import__("_gitmem_snowball.english_stemmer")
    return sys.modules["_gitmem_snowball.english_stemmer"]
