"""One round in a person's editor: a text goes out, what they saved comes back.

What a person typed is never lost: unless something came of it, the file stays and is named.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from gitmem.cli.output import Output
from gitmem.errors import GitmemError, InvalidInput

MAX_TYPED = 16 * 1024 * 1024
"""Bytes that are read back; thousands of records fit in, an editor gone wild does not."""


class Typed:
    """What came back from the editor. ``path`` is where it lies, for messages about lines of it."""

    def __init__(self, path: str, written: bytes) -> None:
        self.path = path
        self.data = written
        self._written = written
        self._settled = False

    @property
    def unchanged(self) -> bool:
        """Whether the person saved what they were given."""
        return self.data == self._written

    def text(self) -> str:
        """What was saved, as text: without a byte order mark, lines ending with LF.

        Raises:
            InvalidInput: it is not UTF-8.
        """
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            raise InvalidInput(
                f"byte {error.start} is not UTF-8",
                where=f"{self.path}, line {line}",
                hint="Save it as UTF-8.",
            ) from error
        return text.replace("\r\n", "\n")

    def settle(self) -> None:
        """Say that something came of it: the file need not be kept."""
        self._settled = True

    @property
    def _kept(self) -> bool:
        return not (self._settled or self.unchanged)


@contextmanager
def editing(
    output: Output, text: str, *, what: str, suffix: str = ".md", instead: str = ""
) -> Iterator[Typed]:
    """Open ``text`` in ``$VISUAL`` or ``$EDITOR`` and yield what was saved.

    At the end of the block, however it ends, the file is removed if it is unchanged or the
    block has called :meth:`Typed.settle`; else it stays, and the person is told where.

    Args:
        what: a word for the file's name, ``gitmem-<what>-...``.
        suffix: by which an editor knows the kind of text.
        instead: what else the person can do where no editor starts, as the end of a sentence.

    Raises:
        GitmemError: the editor failed, or took the file away.
        InvalidInput: what was saved is over :data:`MAX_TYPED`.
    """
    written = text.encode("utf-8")
    descriptor, path = tempfile.mkstemp(prefix=f"gitmem-{what}-", suffix=suffix)
    with os.fdopen(descriptor, "wb") as file:
        file.write(written)
    typed = Typed(path, written)
    try:
        try:
            _run_editor(path, instead)
        finally:  # an editor that fails may have saved before
            _read_back(typed)
        _check_size(typed)
        yield typed
    finally:
        if typed._kept:
            output.note(f"what you typed is kept in {path}")
        else:
            with suppress(FileNotFoundError):  # an editor took it away, and that has been said
                os.unlink(path)


def _run_editor(path: str, instead: str) -> None:
    try:
        click.edit(filename=path)
    except click.ClickException as error:
        raise GitmemError(
            f"the editor failed: {error.format_message()}",
            hint=f"Set VISUAL or EDITOR{', or ' if instead else ''}{instead}.",
        ) from error


def _read_back(typed: Typed) -> None:
    try:
        with open(typed.path, "rb") as file:
            typed.data = file.read(MAX_TYPED + 1)
    except OSError as error:
        raise GitmemError(
            f"the editor left nothing to read at {typed.path}: {error.strerror}",
            hint="It has to save to the file that it is given.",
        ) from error


def _check_size(typed: Typed) -> None:
    if len(typed.data) > MAX_TYPED:
        raise InvalidInput(f"it is larger than {MAX_TYPED} bytes", where=typed.path)
