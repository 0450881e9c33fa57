"""JSON for models, and reading what they answer: the whole answer, or nothing.

Nothing is cut out of prose or out of a code fence, and nothing is mended: a reader that finds
JSON somewhere in a text finds it where somebody planted it, too.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from gitmem.errors import InvalidInput

#: Characters of the longest answer that is looked at.
MAX_ANSWER = 256 * 1024
#: Levels of arrays and objects in one another.
MAX_DEPTH = 20
# What could be a mark of some model's own protocol, as <|im_start|>, </s>, [INST] or <think>:
# servers read these out of any text, and what follows one is then nobody's data any more.
_MARK = re.compile(r"<(?=[^\s\d=])|\[(?!(?:true|false|null)\])(?=/?[A-Za-z_]{2,30}\])")
# They end a line for some readers, or are no text at all, and JSON leaves them as they are.
_LINES = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_REASONING = ("think", "thinking", "reasoning")


def write_json(value: Any, *, indent: int | None = None) -> str:
    """Return ``value`` as JSON for a model: sorted by key, every text inside its quotes.

    The beginnings of what could be marks of the model's own protocol are written as escapes,
    which any reader of JSON reads back equal.
    """
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=indent)
    return plain_text(text)


def plain_text(text: str) -> str:
    """Return ``text`` with the beginnings of such marks as JSON writes them in a string.

    JSON stays the same JSON: outside of its strings there are none.
    """
    return _LINES.sub(_escape, _MARK.sub(_escape, text))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def strip_reasoning(text: str) -> str:
    """Return ``text`` without one closed block of reasoning at its beginning.

    Models that think aloud begin with ``<think>...</think>``; what counts is what follows it.

    Raises:
        InvalidInput: the block is not closed, so there is no answer yet.
    """
    text = text.strip()
    for tag in _REASONING:
        if text.startswith(f"<{tag}>"):
            _, closed, answer = text.partition(f"</{tag}>")
            if not closed:
                raise InvalidInput("the reasoning before the answer does not end")
            return answer.strip()
    return text


def read_json(text: str) -> Any:
    """Return the value that ``text`` is, as a whole, in strict JSON.

    Raises:
        InvalidInput: it is empty, too long, no JSON, has something around the JSON, a key twice
            in one object, NaN or infinity, or is nested too deep.
    """
    text = strip_reasoning(text)
    if not text:
        raise InvalidInput("the answer is empty")
    if len(text) > MAX_ANSWER:
        raise InvalidInput(f"the answer has {len(text)} characters; the limit is {MAX_ANSWER}")
    if text.startswith("```"):
        raise InvalidInput("the answer stands in a code fence; it has to be the JSON alone")
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number
        )
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"the answer is not one JSON value and nothing else: {error.msg} at line "
            f"{error.lineno}, column {error.colno}"
        ) from error
    except RecursionError as error:
        raise InvalidInput(f"the answer is nested deeper than {MAX_DEPTH} levels") from error
    except ValueError as error:  # a number of thousands of digits
        raise InvalidInput("the answer holds a number that is too long") from error
    if _depth(value) > MAX_DEPTH:
        raise InvalidInput(f"the answer is nested deeper than {MAX_DEPTH} levels")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InvalidInput(f"the key {twice[:40]!r} stands twice in one object")
    return found


def _constant(word: str) -> NoReturn:
    raise InvalidInput(f"{word} is no JSON")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise InvalidInput("the answer holds a number that is too large")
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        inner = [list(v.values()) if isinstance(v, dict) else v for v in level]
        level = [v for held in inner if isinstance(held, list) for v in held]
    return depth
