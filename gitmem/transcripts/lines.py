"""The lines of a JSON Lines file, one at a time, whatever they hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from gitmem.transcripts.base import MAX_LINE, Tally
from gitmem.transcripts.position import Position

BOM = b"\xef\xbb\xbf"
BLANK = b" \t\r\n\0"
#: Bytes of a line that is too long that are passed over at once.
_PIECE = 1024 * 1024
#: Entries without a line feed between them that are read.
_MAX_SPLICED = 100
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not blank. ``place`` names it; ``whole`` says that a line feed ends it."""

    place: str
    text: str
    whole: bool


def read_lines(source: BinaryIO, tally: Tally, position: Position | None = None) -> Iterator[Line]:
    """Yield every line that holds something; blank ones are passed over.

    ``position`` is where the source is, and goes along with it; None: at its beginning.

    A line ends with the byte 0x0A and with nothing else: what Unicode calls a line separator
    may stand in a JSON string. A line of more than MAX_LINE bytes is refused by its place, and
    never held in memory.
    """
    position = position or Position()
    while data := source.readline(MAX_LINE + 1):
        position.take(data)
        position.lines += 1
        place = f"line {position.lines}"
        if len(data) > MAX_LINE:
            whole = data.endswith(b"\n")
            length = len(data)
            del data
            length = _length(source, length, whole, position)
            tally.refuse(place, f"{length} bytes long; the limit is {MAX_LINE}")
            continue
        whole = data.endswith(b"\n")
        if data.startswith(b"\0"):
            tally.note("a run of NUL bytes left out")
        data = data.removeprefix(BOM).strip(BLANK)
        if data:
            yield Line(place, decode(data, tally), whole)


def _length(source: BinaryIO, length: int, whole: bool, position: Position) -> int:
    """Return the bytes of the line whose first ``length`` were read, and read to its end."""
    while not whole and (piece := source.readline(_PIECE)):
        position.take(piece)
        length += len(piece)
        whole = piece.endswith(b"\n")
    return length


def decode(data: bytes, tally: Tally) -> str:
    """Return bytes as text; what is not UTF-8 is replaced and noted."""
    data = data.removeprefix(BOM).strip(b"\0")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        tally.note("bytes that are not UTF-8 replaced with U+FFFD")
        return data.decode("utf-8", "replace")


def json_values(line: Line) -> tuple[list[Any], str]:
    """Return the JSON values that a line holds, and what is wrong with it (empty: nothing).

    A line holds one. Where a program lost the line feed between two, both are whole and there
    is no doubt where the first ends; what follows a value and is none is left out. A value that
    stands inside something broken is not looked for: it may be a part of what a tool answered.
    """
    try:
        return [_DECODER.decode(line.text)], ""
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return _spliced(line.text)
        cut = "" if line.whole else " (the last line; it may be cut off)"
        return [], f"not JSON{cut}"
    except MemoryError:
        return [], "does not fit into the memory that there is"
    except (ValueError, RecursionError):
        return [], "a number too long or values nested too deep"


def _spliced(text: str) -> tuple[list[Any], str]:
    values: list[Any] = []
    at = 0
    while at < len(text):
        if len(values) == _MAX_SPLICED:
            return values, f"only its first {_MAX_SPLICED} entries are read"
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError, MemoryError):
            return values, "what follows its first entry is not JSON"
        values.append(value)
        while at < len(text) and text[at] in " \t\r\0":
            at += 1
    return values, ""
