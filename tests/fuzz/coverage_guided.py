"""Fuzzing that follows what it reaches: ``python -m tests.fuzz.coverage_guided CORPUS [-runs=N]``.

Needs the package ``atheris``, which is no part of the development environment. The first byte of an
input says which reader gets the rest; conversations are read through their files.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["gitmem"]):
    from gitmem.errors import GitmemError
    from gitmem.redaction import redact
    from gitmem.rules import propose
    from gitmem.sessions import SessionFiles
    from gitmem.transcripts import read_transcript
    from tests.fuzz.explosions import message
    from tests.fuzz.mutations import as_text, check_error
    from tests.fuzz.readers import READERS, attempt

_FILE = Path(tempfile.gettempdir(), f"fuzz-{os.getpid()}")


def _conversation(format: str | None, data: bytes) -> None:
    _FILE.write_bytes(data)
    try:
        read_transcript(_FILE, format)
    except GitmemError as error:
        check_error(error)


def _session(data: bytes) -> None:
    path = _FILE.with_name("x-1.jsonl")
    path.write_bytes(data)
    with contextlib.suppress(GitmemError):
        session = SessionFiles(path.parent).load("x-1")
        list(session.messages if session else ())


def _text(data: bytes) -> None:
    text = as_text(data)
    redact(text)
    propose([message(text)], [])


def one_input(data: bytes) -> None:
    """Give ``data`` to the reader that its first byte names."""
    if not data:
        return
    which, rest = data[0], data[1:]
    if which < len(READERS):
        attempt(READERS[which], rest)
    elif which < 100:
        _text(rest)
    elif which < 150:
        _session(rest)
    else:
        _conversation((None, "openai", "claude-code")[which % 3], rest)


def write_corpus(folder: Path) -> None:
    """Write the whole inputs that everything starts with."""
    from tests.fuzz.test_text import SAID
    from tests.fuzz.test_transcripts import FILES, STORED

    kinds = [(n, reader.seeds) for n, reader in enumerate(READERS)]
    kinds += [(99, tuple(text.encode() for text in SAID)), (149, STORED)]
    kinds += [(which, FILES) for which in (150, 151, 152)]
    for which, seeds in kinds:
        for number, seed in enumerate(seeds):
            (folder / f"{which}-{number}").write_bytes(bytes([which]) + seed)


if __name__ == "__main__":
    write_corpus(Path(sys.argv[1]))
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
