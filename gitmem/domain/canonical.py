"""Canonical JSON: the one byte form of a manifest, a tombstone and a message.

Sorted keys, ``,`` and ``:`` without spaces, UTF-8 without escapes, one LF at the end of a
file. A second implementation has to produce the same bytes, so nothing here may depend on a
platform or on a library's default.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """Return the canonical UTF-8 bytes of ``value``, without a final newline.

    Raises:
        ValueError: the value holds NaN, infinity or a lone surrogate.
        TypeError: the value holds something that JSON has no form for.
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return text.encode("utf-8")


def canonical_file(value: Any) -> bytes:
    """Return the canonical bytes of ``value`` as a file: one line, one LF at its end."""
    return canonical_json(value) + b"\n"


def is_canonical(value: Any, data: bytes) -> bool:
    """Return whether ``data`` is the one file of ``value``; it may hold what JSON has no form for.

    JSON can spell half of a surrogate pair, and Python reads it, but no UTF-8 file can hold it.
    """
    try:
        return canonical_file(value) == data
    except (ValueError, RecursionError):
        return False


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of ``data`` in lower-case hex."""
    return hashlib.sha256(data).hexdigest()
