"""The one ranker: BM25 over one tokeniser, for records in English, Chinese and code.

Everything that ranks records uses this module: ``search``, the selector's fallback, the
catalogue's short list, the prompt hook. The hook must answer in a few tens of milliseconds, so
only light parts of the standard library and the English stemmer are imported here.

The postings live elsewhere (in the projection, or in a :class:`MemoryIndex`), in *blocks*: one
block holds the postings of one term in ``BLOCK`` neighbouring document numbers, as bytes. A query
reads few rows, and a changed document rewrites one small block for each of its terms.
"""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from heapq import nlargest
from importlib.machinery import PathFinder
from itertools import pairwise
from math import log
from types import ModuleType
from unicodedata import category, normalize

TOKENS_VERSION = 1
"""Rises when :func:`tokens` or the layout of a block changes: stored postings are then stale."""

K1 = 0.9
"""BM25: how soon a repeated term stops adding to the score. Memory records are short texts."""

B = 0.4
"""BM25: how much a document's length counts against it (0 not at all, 1 in full)."""

BLOCK = 4096
"""Document numbers that share one block of postings; a full block is 32 KiB."""

QUERY_CHARACTERS = 2048
"""A longer query (a pasted log) is ranked by its first and last half of this many characters."""

QUERY_TERMS = 128
"""Of a query with more terms that occur at all, this many count: the rarest, which weigh most."""

STEMMED_CHARACTERS = 64
"""A longer word is no English word; the stemmer would take quadratic time on some of them."""

MAX_LENGTH = 0xFFFF
"""The most terms in one document; a record of 4096 bytes has fewer than 17,000."""

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


Entry = tuple[int, int]
"""How often a term occurs in a document, and the document's length in terms."""


class Index(ABC):
    """Where postings come from, asked in batches."""

    @abstractmethod
    def size(self) -> tuple[int, int]:
        """Return the number of documents and the sum of their lengths in terms."""

    @abstractmethod
    def blocks(self, terms: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        """Yield each term with each of its blocks, in any order; unknown terms yield nothing."""

    @abstractmethod
    def names(self, documents: Sequence[int]) -> Mapping[int, str]:
        """Return the names of these document numbers."""


class MemoryIndex(Index):
    """An index of documents held in memory: for a state of the past, and for tests."""

    def __init__(self, documents: Iterable[tuple[str, str]]) -> None:
        """Index ``(name, text)`` pairs; names must differ."""
        self._names: list[str] = []
        self._total = 0
        postings: dict[str, dict[int, Entry]] = {}
        for number, (name, text) in enumerate(documents):
            counts, length = count(text)
            self._names.append(name)
            self._total += length
            for term, times in counts.items():
                postings.setdefault(term, {})[number] = (times, length)
        self._blocks = {term: rewrite(b"", entries) for term, entries in postings.items()}

    def size(self) -> tuple[int, int]:
        return len(self._names), self._total

    def blocks(self, terms: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(term, self._blocks[term]) for term in terms if term in self._blocks]

    def names(self, documents: Sequence[int]) -> Mapping[int, str]:
        return {number: self._names[number] for number in documents}


def count(text: str) -> tuple[dict[str, int], int]:
    """Return how often each term occurs in ``text``, and the text's length in terms."""
    counts: dict[str, int] = {}
    terms = tokens(text)
    for term in terms:
        counts[term] = counts.get(term, 0) + 1
    return counts, len(terms)


def changed_blocks(
    old: Iterable[tuple[int, str]], new: Iterable[tuple[int, str]]
) -> dict[tuple[str, int], dict[int, Entry | None]]:
    """Return what becomes of which block when documents come, go or change.

    ``old`` and ``new`` are ``(document number, text)``; a document that changes keeps its number
    and stands in both. The result maps ``(term, number // BLOCK)`` to the argument that
    :func:`rewrite` takes for that block.
    """
    changes: dict[tuple[str, int], dict[int, Entry | None]] = {}
    for number, text in old:
        for term in count(text)[0]:
            changes.setdefault((term, number // BLOCK), {})[number] = None
    for number, text in new:
        counts, length = count(text)
        for term, times in counts.items():
            changes.setdefault((term, number // BLOCK), {})[number] = (times, length)
    return changes


def rewrite(block: bytes, changes: Mapping[int, Entry | None]) -> bytes:
    """Return ``block`` with documents added, replaced or (``None``) taken out.

    ``b""`` is the empty block: what a new one starts from, and what is left when the last
    document goes (the row can then be deleted). Blocks are in this machine's byte order. Raises
    ``ValueError`` for more than ``MAX_LENGTH`` terms or a number that does not fit in 32 bits.
    """
    numbers, codes = _decode(block)
    for number, entry in sorted(changes.items()):
        place = bisect_left(numbers, number)
        if place < len(numbers) and numbers[place] == number:
            del numbers[place], codes[place]
        if entry is not None:
            times, length = entry
            if not 0 < times <= length <= MAX_LENGTH or not 0 <= number < 1 << 32:
                raise ValueError(f"document {number} with {times} of {length} terms: out of range")
            numbers.insert(place, number)
            codes.insert(place, times << 16 | length)
    return (numbers + codes).tobytes()


def _decode(block: bytes) -> tuple[array[int], array[int]]:
    """Split a block: document numbers in order, then as many codes ``times << 16 | length``."""
    packed = array("I", block)
    half = len(packed) // 2
    return packed[:half], packed[half:]


def search(query: str, index: Index, limit: int) -> list[tuple[str, float]]:
    """Return the names of the ``limit`` best documents with their scores, best first.

    A document needs one of the query's terms, not all; one without any is not returned. Equal
    scores are ordered by name. A long query is bounded by ``QUERY_CHARACTERS`` and
    ``QUERY_TERMS``. The index must not change under the call (one read transaction).
    """
    if len(query) > QUERY_CHARACTERS:
        half = QUERY_CHARACTERS // 2
        query = f"{query[:half]}\n{query[-half:]}"
    terms = list(dict.fromkeys(tokens(query)))
    return _named(_scores(terms, index, limit), index, limit) if terms and limit > 0 else []


def _scores(terms: Sequence[str], index: Index, limit: int) -> dict[int, float]:
    """Score documents: the best ``limit``, and all that tie with them, exactly.

    Rare terms come first. As soon as the common terms that are left cannot lift a new document
    into the best ``limit`` (each adds less than its idf), they only add to documents that are
    already near the top: a word that every record contains then costs next to nothing.
    """
    documents, total = index.size()
    saturation = _Saturation(total / documents if total else 1.0)
    postings = _postings(terms, index)
    order = sorted(postings, key=lambda term: (len(postings[term][0]), term))[:QUERY_TERMS]
    # BM25's idf in the form that stays above zero: 1 + (n - df + .5) / (df + .5).
    idfs = {term: log((documents + 1) / (len(postings[term][0]) + 0.5)) for term in order}
    rest = sum(idfs.values())
    scores: dict[int, float] = {}
    for term in order:
        (numbers, codes), idf = postings[term], idfs[term]
        if len(numbers) > 512 and len(numbers) * 4 > len(scores):  # else looking costs more
            near = _near_the_top(scores, rest, limit)
            if near is not None and len(near) * 2 < len(numbers):
                scores = near
                numbers, codes = _only(near, numbers, codes)
        get = scores.get
        for number, share in zip(numbers, map(saturation.__getitem__, codes), strict=True):
            scores[number] = get(number, 0.0) + idf * share
        rest -= idf
    return scores


def _postings(terms: Sequence[str], index: Index) -> dict[str, tuple[array[int], array[int]]]:
    blocks: dict[str, list[tuple[array[int], array[int]]]] = {}
    for term, block in index.blocks(terms):
        blocks.setdefault(term, []).append(_decode(block))
    postings: dict[str, tuple[array[int], array[int]]] = {}
    for term, parts in blocks.items():
        numbers, codes = array("I"), array("I")
        for more_numbers, more_codes in sorted(parts, key=lambda part: part[0][:1]):
            numbers.extend(more_numbers)
            codes.extend(more_codes)
        postings[term] = numbers, codes
    return postings


class _Saturation(dict[int, float]):
    """BM25's share of a term in a document, between 0 and 1, worked out once for each code."""

    def __init__(self, average: float) -> None:
        super().__init__()
        self._average = average

    def __missing__(self, code: int) -> float:
        times, length = code >> 16, code & MAX_LENGTH
        share = times / (times + K1 * (1 - B + B * length / self._average))
        self[code] = share
        return share


def _near_the_top(scores: dict[int, float], rest: float, limit: int) -> dict[int, float] | None:
    """Return the documents that can still reach the best ``limit``; None if others can too."""
    if len(scores) < limit:
        return None
    # The margin covers rounding: sums of the same numbers can differ in their last bits.
    least = nlargest(limit, scores.values())[-1] - 1e-9
    if rest >= least:
        return None
    return {number: score for number, score in scores.items() if score + rest >= least}


def _only(
    wanted: Iterable[int], numbers: array[int], codes: array[int]
) -> tuple[array[int], array[int]]:
    """Return the postings of these documents alone, looking each up."""
    some_numbers, some_codes = array("I"), array("I")
    for number in wanted:
        place = bisect_left(numbers, number)
        if place < len(numbers) and numbers[place] == number:
            some_numbers.append(number)
            some_codes.append(codes[place])
    return some_numbers, some_codes


def _named(scores: dict[int, float], index: Index, limit: int) -> list[tuple[str, float]]:
    if not scores:
        return []
    least = nlargest(limit, scores.values())[-1]
    best = [number for number, score in scores.items() if score >= least]
    names = index.names(best)
    ranked = sorted((-scores[number], names[number]) for number in best)
    return [(name, -score) for score, name in ranked[:limit]]
