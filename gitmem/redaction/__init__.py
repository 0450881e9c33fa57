"""Secrets out: what must never reach a session file, a git object, a log or a model.

Found by the patterns of detect-secrets (without entropy, which masks hashes), by the forms of
vendors' keys, and by what a sentence says: "the password is X", 密码是 X. Commit ids, UUIDs,
hashes, examples and prose stay. The result is for storing: the secret's place shows its kind.

Their hundred patterns take long to compile, so they are imported with the first text that is
looked at: many commands look at none.
"""

from __future__ import annotations

import bisect
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.domain.session import REDACTION_MARK
from gitmem.domain.shown import Shown
from gitmem.redaction.finding import Span
from gitmem.redaction.places import folded

__all__ = [
    "Redacted",
    "SecretFinding",
    "ends_in_key",
    "find_secrets",
    "marks",
    "redact",
    "redact_continuation",
]

_MARK = re.compile(re.escape(REDACTION_MARK) + r"(?P<kind>[a-z]{1,20}(?:-[a-z]{1,20}){0,2})\]")
#: Kinds that say less than a vendor's: where both fit, the vendor's is named.
_GENERAL = frozenset({"api-key", "token", "password", "auth-header"})
#: Letters and digits of East Asian width; their punctuation is no part of a key.
_FULL_WIDTH = {ord(c) + 0xFEE0: c for c in string.ascii_letters + string.digits + "-_"}
_WIDE = re.compile(f"[{''.join(map(re.escape, map(chr, _FULL_WIDTH)))}]")
#: A mask changes what stands around it, which may show another secret; then it ends.
_ROUNDS = 8


@dataclass(frozen=True)
class Redacted:
    """A text without its secrets. ``kinds`` has one entry for each that was masked, in order."""

    text: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class SecretFinding:
    """A secret: its kind, its line (from 1) and where it stands, never what it is."""

    kind: str
    line: int
    start: int
    end: int


def redact(text: str) -> Redacted:
    """Replace every secret in ``text`` with ``[redacted:KIND]``.

    Redacting the result again changes nothing. The time is linear in the length of the text.
    """
    kinds: list[str] = []
    for _ in range(_ROUNDS):
        spans = _spans(text)
        if not spans:
            break
        text = _masked(text, spans)
        kinds += [span.kind for span in spans]
    return Redacted(text, tuple(kinds))


def redact_continuation(before: str, text: str) -> Redacted:
    """Redact ``text`` that follows ``before`` in a conversation.

    A key that was cut in two, its first half at the end of ``before``, loses its second half
    here; the first one :func:`redact` masks by itself.
    """
    from gitmem.redaction.keys import find_rest_of_key

    rest = find_rest_of_key(before, text)
    if rest is None:
        return redact(text)
    done = redact(_masked(text, [rest]))
    return Redacted(done.text, (rest.kind, *done.kinds))


def ends_in_key(text: str) -> bool:
    """Whether a key was perhaps cut off at the end of ``text``, and goes on in what follows it."""
    from gitmem.redaction import keys

    return keys.ends_in_key(text)


def find_secrets(text: str) -> tuple[SecretFinding, ...]:
    """Return where secrets stand in ``text``, in order and without overlaps."""
    line_ends = [match.start() for match in re.finditer("\n", text)]
    return tuple(
        SecretFinding(s.kind, bisect.bisect_left(line_ends, s.start) + 1, s.start, s.end)
        for s in _spans(text)
    )


def marks(text: str) -> tuple[str, ...]:
    """Return the kinds of all redaction marks in ``text``, in order."""
    return tuple(match["kind"] for match in _MARK.finditer(text))


def _masked(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    end = 0
    for span in spans:
        pieces += [text[end : span.start], f"{REDACTION_MARK}{span.kind}]"]
        end = span.end
    return "".join([*pieces, text[end:]])


def _spans(text: str) -> list[Span]:
    """Return all secrets in order: overlapping ones joined, marks that stand already left out."""
    from gitmem.redaction.encoded import find_encoded
    from gitmem.redaction.keys import find_keys
    from gitmem.redaction.plugins import find_with_plugins
    from gitmem.redaction.sayings import find_sayings

    low = folded(text)
    found = [*find_keys(text, low), *find_with_plugins(text, low), *find_sayings(text, low)]
    found += find_encoded(text)
    shown = Shown.of(text)
    wide = _WIDE.search(shown.text) is not None
    plain = shown.text.translate(_FULL_WIDTH) if wide else shown.text
    if plain != text:
        # A key stays one, whatever is put into it that nobody sees, or however wide it is.
        found += [_traced(span, shown) for span in _spans(plain)]
    joined = _joined(sorted(found))
    standing = [match.span() for match in _MARK.finditer(text)]
    return [piece for span in joined for piece in _around(span, standing)] if standing else joined


def _traced(span: Span, shown: Shown) -> Span:
    return Span(shown.origin(span.start), shown.origin(span.end - 1) + 1, span.kind)


def _joined(found: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in found:
        if joined and span.start < joined[-1].end:
            last = joined.pop()
            kind = span.kind if last.kind in _GENERAL else last.kind
            joined.append(Span(last.start, max(last.end, span.end), kind))
        else:
            joined.append(span)
    return joined


def _around(span: Span, standing: list[tuple[int, int]]) -> Iterator[Span]:
    """Yield what is left of a span where redaction marks already stand inside it."""
    start = span.start
    at = bisect.bisect_right(standing, (start, start)) - 1
    for mark_start, mark_end in standing[max(at, 0) :]:
        if mark_start >= span.end:
            break
        if mark_end <= start:
            continue
        if mark_start > start:
            yield Span(start, mark_start, span.kind)
        start = mark_end
    if start < span.end:
        yield Span(start, span.end, span.kind)
