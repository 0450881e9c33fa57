"""Text and JSON that a call names: a file, or ``-`` for standard input."""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import Any, BinaryIO, NoReturn

from gitmem.errors import InvalidInput, NotFound, Usage

MAX_TEXT = 1024 * 1024
"""Bytes of a text on standard input; a record holds at most 4096, so this is only a net."""

MAX_DIGITS = 400
"""Of a whole number in JSON: more than any has that is meant (a float's largest has 309)."""

MAX_CHANGE_SET = 64 * 1024 * 1024
"""Bytes of a change set, which has to be read whole (it may hold a conversation)."""


def read_text(argument: str, what: str) -> str:
    """``argument`` itself, or standard input when it is ``-``.

    Raises:
        InvalidInput: standard input is too long or not UTF-8.
        Usage: standard input is closed.
    """
    if argument != "-":
        return argument
    return _decoded(_limited(_standard_input(), MAX_TEXT, what), what)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise Usage(
            "- reads standard input, which is closed",
            hint="Pipe the text in, or name a file to read: ... - < FILE",
        )
    return sys.stdin.buffer


def read_change_set(path: str) -> dict[str, Any]:
    """Read a JSON object from a file or, for ``-``, from standard input.

    Raises:
        NotFound: there is no such file.
        Usage: standard input is closed.
        InvalidInput: it is no file, empty, too large, not UTF-8 or not a JSON object.
    """
    where = "standard input" if path == "-" else path
    text = _decoded(_read_bytes(path, where), where)
    if not text.strip():
        raise InvalidInput("it is empty", where=where, hint=_SHAPE)
    try:
        value = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_whole_number
        )
    except json.JSONDecodeError as error:
        place = f"{where}, line {error.lineno}, column {error.colno}"
        raise InvalidInput(
            f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", where=place, hint=_SHAPE
        ) from error
    except RecursionError as error:
        raise InvalidInput("it is nested too deeply", where=where, hint=_SHAPE) from error
    except ValueError as error:
        raise InvalidInput(str(error), where=where, hint="Correct it there.") from error
    if not isinstance(value, dict):
        raise InvalidInput("it holds no JSON object", where=where, hint=_SHAPE)
    return value


_SHAPE = (
    'A change set looks like {"kind": "extract", "messages": [...], "records": [...]}; '
    "see docs/cli.md."
)


def read_file(path: str, limit: int) -> bytes:
    """Return the content of a file of at most ``limit`` bytes.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it is no file, or larger.
    """
    with _opened(path, path, "Name a file.") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise InvalidInput(f"it is larger than {limit} bytes", where=path, hint="Say it shorter.")
    return data


def _read_bytes(path: str, where: str) -> bytes:
    if path == "-":
        return _limited(_standard_input(), MAX_CHANGE_SET, where)
    with _opened(path, where, "Name a file, or - for standard input.") as file:
        return _limited(file, MAX_CHANGE_SET, where)


def _opened(path: str, where: str, hint: str) -> BinaryIO:
    try:
        # Not blocking: opening a named pipe would wait for a writer for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError as error:
        raise NotFound(
            f"{where}: there is no such file",
            hint=hint,
        ) from error
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", where=where) from error
    except ValueError as error:
        raise InvalidInput(f"no name of a file: {error}", where=where) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidInput(
            "it is a folder or a device, not a file",
            where=where,
            hint=hint,
        )
    return os.fdopen(descriptor, "rb")


def _limited(file: Any, limit: int, where: str) -> bytes:
    data: bytes = file.read(limit + 1)
    if len(data) > limit:
        raise InvalidInput(
            f"it is larger than {limit} bytes", where=where, hint="Hand it in as several."
        )
    return data


def _decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"byte {error.start} is not UTF-8",
            where=f"{where}, line {line}",
            hint="Save it as UTF-8.",
        ) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"the key {key[:80]!r} is there twice in one object")
        seen[key] = value
    return seen


def _whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits; at most {MAX_DIGITS} are read")
    return int(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
