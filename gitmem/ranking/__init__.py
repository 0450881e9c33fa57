"""The one ranker: BM25 over one tokeniser, for records in English, Chinese and code.

Everything that ranks records uses this module: ``search``, the selector's fallback, the
catalogue's short list, the prompt hook. The hook must answer in a few tens of milliseconds, so
only light parts of the standard library and the English stemmer are imported here.

The postings live elsewhere (in the projection, or in a :class:`MemoryIndex`), in *blocks*: one
block holds the postings of one term in ``BLOCK`` neighbouring document numbers, as bytes. A query
reads few rows, and a changed document rewrites one small block for each of its terms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest, nsmallest
from math import log

from gitmem.ranking.terms import document, tokens

__all__ = [
    "BLOCK",
    "K1",
    "MAX_LENGTH",
    "QUERY_CHARACTERS",
    "QUERY_TERMS",
    "TOKENS_VERSION",
    "B",
    "Entry",
    "Index",
    "MemoryIndex",
    "changed_blocks",
    "count",
    "document",
    "rewrite",
    "search",
    "tokens",
]

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
MAX_LENGTH = 0xFFFF
"""The most terms in one document; a record of 4096 bytes has fewer than 17,000."""

_POSTING = 8  # bytes: a document number and a code

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

    def first_names(self, documents: Sequence[int], limit: int) -> Mapping[int, str]:
        """Return the names of those ``limit`` of these documents whose names come first."""
        names = self.names(documents)
        return {number: names[number] for number in nsmallest(limit, names, key=names.__getitem__)}


class MemoryIndex(Index):
    """An index of documents held in memory: for a state of the past, and for tests."""

    def __init__(self, documents: Iterable[tuple[str, str]]) -> None:
        """Index ``(name, text)`` pairs; names must differ."""
        self._names: list[str] = []
        self._total = 0
        postings: dict[tuple[str, int], dict[int, Entry]] = {}
        for number, (name, text) in enumerate(documents):
            counts, length = count(text)
            self._names.append(name)
            self._total += length
            for term, times in counts.items():
                postings.setdefault((term, number // BLOCK), {})[number] = (times, length)
        self._blocks: dict[str, list[bytes]] = {}
        for (term, _), entries in postings.items():
            self._blocks.setdefault(term, []).append(rewrite(b"", entries))

    def size(self) -> tuple[int, int]:
        return len(self._names), self._total

    def blocks(self, terms: Sequence[str]) -> Iterable[tuple[str, bytes]]:
        return [(term, block) for term in terms for block in self._blocks.get(term, ())]

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
    return _named(*_scores(terms, index, limit), index, limit) if terms and limit > 0 else []


def _scores(terms: Sequence[str], index: Index, limit: int) -> tuple[dict[int, float], float]:
    """Score documents: the best ``limit`` and all that tie with them, exactly, and maybe more.

    The second value is the least score of the best ``limit``.

    What one block of documents reached is what those of the next must reach. As soon as the
    common terms that are left cannot lift another document so far (each adds less than its idf),
    they only add to documents that are already near: a word that every record contains then
    costs next to nothing.
    """
    documents, total = index.size()
    saturation = _Saturation(total / documents if total else 1.0)
    scores: dict[int, float] = {}
    top: list[float] = []
    for parts in _by_block(terms, index, documents):
        least = top[-1] if len(top) == limit else 0.0
        found = _block_scores(parts, saturation, least)
        scores.update(found)
        if better := [score for score in found.values() if score > least]:
            top = nlargest(limit, top + better)
    return scores, top[-1] if top else 0.0


Part = tuple[float, bytes]
"""A term's idf, and its postings in one block of documents."""


def _by_block(terms: Sequence[str], index: Index, documents: int) -> Iterable[list[Part]]:
    """Return what each block of documents holds of these terms, each time rare terms first."""
    found: dict[str, list[bytes]] = {}
    for term, block in index.blocks(terms):
        found.setdefault(term, []).append(block)
    frequency = {term: sum(map(len, blocks)) // _POSTING for term, blocks in found.items()}
    by_block: dict[int, list[Part]] = {}
    for term in sorted(found, key=lambda term: (frequency[term], term))[:QUERY_TERMS]:
        # BM25's idf in the form that stays above zero: 1 + (n - df + .5) / (df + .5).
        idf = log((documents + 1) / (frequency[term] + 0.5))
        for block in found[term]:
            by_block.setdefault(_decode(block)[0][0] // BLOCK, []).append((idf, block))
    return by_block.values()


def _block_scores(parts: Sequence[Part], saturation: _Saturation, least: float) -> dict[int, float]:
    """Score the documents of one block; what cannot reach ``least`` may be left out."""
    scores = [0.0] * BLOCK  # by the place in the block: much quicker than a dict
    seen: list[array[int]] = []
    near: Iterable[int] | None = None
    rest = sum(idf for idf, _ in parts)
    # The margin covers rounding: sums of the same numbers can differ in their last bits.
    wanted = least - 1e-9
    for idf, block in parts:
        numbers, codes = _decode(block)
        if rest < wanted:
            near = _distinct(seen) if near is None else near
            near = [number for number in near if scores[number % BLOCK] + rest >= wanted]
            if len(near) * 4 < len(numbers):  # else looking each up costs more
                numbers, codes = _only(near, numbers, codes)
        for number, share in zip(numbers, map(saturation.__getitem__, codes), strict=True):
            scores[number % BLOCK] += idf * share
        seen.append(numbers)
        rest -= idf
    near = _distinct(seen) if near is None else near
    return {number: score for number in near if (score := scores[number % BLOCK]) >= least}


def _distinct(postings: Sequence[array[int]]) -> Iterable[int]:
    """Return each document number of a block that these postings have, once."""
    return postings[0] if len(postings) == 1 else set().union(*postings)


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


def _named(
    scores: Mapping[int, float], least: float, index: Index, limit: int
) -> list[tuple[str, float]]:
    above = [number for number, score in scores.items() if score > least]
    tied = [number for number, score in scores.items() if score == least]
    names = {**index.names(above), **index.first_names(tied, limit - len(above))}
    ranked = sorted((-scores[number], name) for number, name in names.items())
    return [(name, -score) for score, name in ranked]
