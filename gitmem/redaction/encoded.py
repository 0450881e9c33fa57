"""Secrets that only need decoding: base64 of a text that says or is one."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from gitmem.redaction.finding import Span
from gitmem.redaction.keys import find_keys
from gitmem.redaction.places import folded
from gitmem.redaction.sayings import find_sayings

#: Long enough for "password: abc"; longer ones are files, in which nobody looks for one line.
_BLOB = re.compile(r"(?<![\w+/=-])(?P<v>[A-Za-z0-9+/_-]{16,4096}+)={0,2}(?![\w+/=-])")


def find_encoded(text: str) -> Iterator[Span]:
    """Yield every word that is base64 of a text in which a secret stands; decoded once."""
    for match in _BLOB.finditer(text):
        decoded = _decoded(match["v"])
        if decoded is None:
            continue
        low = folded(decoded)
        inner = next(iter((*find_sayings(decoded, low), *find_keys(decoded, low))), None)
        if inner is not None:
            yield Span(match.start(), match.end(), inner.kind)


def _decoded(word: str) -> str | None:
    """Return the text that a word is base64 of, or None where it is none."""
    try:
        data = base64.b64decode(word + "=" * (-len(word) % 4), altchars=b"-_", validate=False)
        text = data.decode("utf-8")
    except ValueError:
        return None
    return text if all(c.isprintable() or c in "\r\n\t" for c in text) else None
