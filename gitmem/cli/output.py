"""What reaches the terminal: escaped text, tables, colour, JSON.

Nothing in this package prints in any other way. A piece of text is escaped here, after it left
the caller and before colour is added, so that no command can forget it.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from gitmem.domain.text import escape_terminal, is_plain

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Attributes as terminals count them, and as rich calls them.
STYLES = {
    "": ("", ""),
    "added": ("32", "green"),
    "bad": ("1;31", "bold red"),
    "bold": ("1", "bold"),
    "dim": ("2", "dim"),
    "good": ("32", "green"),
    "name": ("36", "cyan"),
    "removed": ("31", "red"),
    "warn": ("33", "yellow"),
}

# Columns of a terminal: between two columns of a table, and for text to be readable in one.
_GAP = 2
_LEAST_TEXT = 16

_CREDENTIALS = r"([A-Za-z][A-Za-z0-9+.-]{0,40}://)[^\s/@'\"]*@"


class Styled(NamedTuple):
    """A piece of text with one of :data:`STYLES`."""

    text: str
    style: str


Piece = str | Styled


def without_credentials(text: str) -> str:
    """``text`` with the user name and password of every address cut out."""
    return re.sub(_CREDENTIALS, r"\1", text)


def json_text(document: Any, *, indent: int | None = 2) -> str:
    """``document`` as JSON that a terminal shows and does not obey.

    Text stays readable (Chinese is not escaped); control, invisible and reordering characters
    become JSON escapes, which any reader turns back into the same characters.
    """
    import json  # most calls print none

    text = _indented(document) if indent == 2 else json.dumps(document, ensure_ascii=False)
    unsafe = {c for c in set(text) if c > "~" and escape_terminal(c, multiline=True) != c}
    return text.translate({ord(c): json.dumps(c)[1:-1] for c in unsafe}) if unsafe else text


def _indented(document: Any) -> str:
    """``json.dumps(document, ensure_ascii=False, indent=2)``, sooner where that is a long list.

    json's own encoder in C knows no indentation. An object that holds no other needs none of it
    within: a separator with a line break in it does the same.
    """
    import json

    if not (isinstance(document, list) and document and all(map(_is_flat, document))):
        return json.dumps(document, ensure_ascii=False, indent=2)
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",\n    ", ": ")).encode
    entries = (f"  {{\n    {encode(entry)[1:-1]}\n  }}" for entry in document)
    return "[\n" + ",\n".join(entries) + "\n]"


def _is_flat(entry: Any) -> bool:
    """Whether it is a JSON object that holds something, but no list and no other object."""
    nested = (list, tuple, dict)
    is_object = isinstance(entry, dict) and bool(entry)
    return is_object and not any(isinstance(value, nested) for value in entry.values())


class Stream:
    """Standard output or standard error, as a terminal or as a pipe."""

    def __init__(self, file: TextIO | None) -> None:
        self._file = file
        self.terminal = file is not None and file.isatty()
        # On Windows only the newer terminals understand colours; they say so by this variable.
        windows = os.name == "nt" and "WT_SESSION" not in os.environ
        self.dumb = windows or (os.name != "nt" and os.environ.get("TERM") in (None, "", "dumb"))
        self.colour = self.terminal and not self.dumb and not os.environ.get("NO_COLOR")

    def line(self, *pieces: Piece, indent: int = 0) -> None:
        """Print one line; a line break inside a piece is shown escaped."""
        self._write(" " * indent + "".join(map(self._rendered, pieces)))

    def block(self, text: str, *, indent: int = 0, style: str = "") -> None:
        """Print text of several lines."""
        for line in text.rstrip("\n").split("\n"):
            self._write(" " * indent + self._shown(line, style, multiline=True))

    def table(
        self,
        headings: Sequence[str],
        rows: Iterable[Sequence[Piece]],
        *,
        whole: Sequence[str] = (),
    ) -> None:
        """Print a table: aligned with headings on a terminal, else lines of fields between tabs.

        ``whole``: columns that are not broken over lines, so that they can be copied. Where
        they leave no room for the others, each row becomes a few lines.
        """
        if self.terminal:
            self._rich_table(headings, rows, whole)
            return
        lines = _lines([[c if isinstance(c, str) else c.text for c in row] for row in rows])
        if lines:
            self._write("\n".join(lines))

    def json(self, document: Any, *, indent: int | None = 2) -> None:
        """Print one JSON document; ``indent=None``: on one line."""
        self._write(json_text(document, indent=indent))

    def prompt(self, question: str) -> None:
        """Print a question and stay on its line."""
        self._write(self._rendered(Styled(question, "bold")) + " ", newline=False)

    def _rendered(self, piece: Piece) -> str:
        if isinstance(piece, Styled):
            return self._shown(piece.text, piece.style)
        return self._shown(piece, "")

    def _shown(self, text: str, style: str, *, multiline: bool = False) -> str:
        safe = escape_terminal(text, multiline=multiline)
        return f"\x1b[{STYLES[style][0]}m{safe}\x1b[0m" if self.colour and style else safe

    def _write(self, text: str, *, newline: bool = True) -> None:
        if self._file is None:  # it was closed by the caller
            return
        self._file.write(f"{text}\n" if newline else text)
        if self.terminal:
            self._file.flush()

    def _rich_table(
        self, headings: Sequence[str], rows: Iterable[Sequence[Piece]], whole: Sequence[str]
    ) -> None:
        # rich takes longer to import than everything else together; a pipe never pays for it.
        from rich.console import Console
        from rich.text import Text

        console = Console(
            file=self._file,
            color_system="standard" if self.colour else None,
            highlight=False,
            markup=False,
            emoji=False,
        )
        # Text, not str: in a str, rich would take square brackets for markup.
        cells = [
            [Text(escape_terminal(text), STYLES[s][1]) for text, s in map(_styled, row)]
            for row in rows
        ]
        if _needed(headings, cells, whole) <= console.width:
            _print_table(console, headings, cells, whole)
        else:
            _print_blocks(console, headings, cells, whole)


def _lines(rows: list[list[str]]) -> list[str]:
    """Rows for a pipe. Long lists are printed there, so what is common is asked about at once."""
    if not is_plain("".join(itertools.chain.from_iterable(rows))):
        rows = [list(map(escape_terminal, cells)) for cells in rows]
    return ["\t".join(cells) for cells in rows]


def _styled(piece: Piece) -> Styled:
    return piece if isinstance(piece, Styled) else Styled(piece, "")


def _needed(headings: Sequence[str], rows: list[list[Text]], whole: Sequence[str]) -> int:
    """The columns of a terminal that a table takes whose ``whole`` cells stay on one line."""
    widths = [
        max(len(heading), *(row[at].cell_len for row in rows)) if heading in whole and rows else 0
        for at, heading in enumerate(headings)
    ]
    text = [_LEAST_TEXT if heading not in whole else 0 for heading in headings] if whole else []
    return sum(widths) + sum(text) + _GAP * (len(headings) - 1)


def _print_table(
    console: Console, headings: Sequence[str], rows: list[list[Text]], whole: Sequence[str]
) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in whole)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _print_blocks(
    console: Console, headings: Sequence[str], rows: list[list[Text]], whole: Sequence[str]
) -> None:
    """A few lines for each row: first what is to be copied, never broken by us, then its text.

    What is longer than the terminal is wide is left to the terminal to break: that is how it can
    still be copied in one piece.
    """
    from rich.padding import Padding
    from rich.text import Text

    for row in rows:
        named = dict(zip(headings, row, strict=True))
        line = Text(" " * _GAP).join(named[heading] for heading in headings if heading in whole)
        if line.cell_len <= console.width:
            console.print(line)
        else:
            for heading in headings:
                if heading in whole:
                    console.print(named[heading], soft_wrap=True)
        for heading in headings:
            if heading not in whole and named[heading]:
                console.print(Padding(named[heading], (0, 0, 0, _GAP)), overflow="fold")


class Output:
    """The two streams of one call. ``as_json``: standard output gets one JSON document."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.out = Stream(sys.stdout)
        self.err = Stream(sys.stderr)
        self._told: set[str] = set()

    @property
    def shown(self) -> Stream:
        """Where a person reads before answering: never into a pipe, nor beside JSON."""
        return self.err if self.as_json or not self.out.terminal else self.out

    def note(self, sentence: str) -> None:
        """Tell a person something on standard error, once."""
        if sentence not in self._told:
            self._told.add(sentence)
            self.err.line(Styled("note: ", "warn"), without_credentials(sentence))

    def notes(self, sentences: Iterable[str]) -> None:
        """Tell several things."""
        for sentence in sentences:
            self.note(sentence)


def prepare_streams(*, as_json: bool) -> None:
    """Make sure that no text fails to be printed: JSON is UTF-8, the rest falls back to escapes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            if as_json:
                stream.reconfigure(encoding="utf-8", errors="backslashreplace")
            else:
                stream.reconfigure(errors="backslashreplace")
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
