"""Words of the commands that a person is told to paste into a shell.

Names of files and branches come from outside, and may hold anything: a command must do what it
says with every one of them, and nothing else.
"""

from __future__ import annotations

import re
from shlex import quote

from gitmem.domain.text import one_line

_PLAIN = re.compile(r"[A-Za-z0-9_./-]")


def shell_word(text: str) -> str:
    r"""``text`` as one word of a command line, which :func:`one_line` leaves as it is.

    Where it cannot stand in a line as it is (control characters, hidden ones, white space that
    would be folded), it is written as its bytes in the quotes ``$'\xNN'`` of bash, zsh and ksh.
    """
    if text.isprintable() and one_line(text) == text:
        return quote(text)
    data = text.encode("utf-8", "surrogateescape").decode("latin-1")
    shown = (char if _PLAIN.match(char) else f"\\x{ord(char):02x}" for char in data)
    return "$'" + "".join(shown) + "'"


def shell_argument(text: str) -> str:
    """``text`` as the last words of a command: none that begins with ``-`` becomes an option."""
    return f"-- {shell_word(text)}" if text.startswith("-") else shell_word(text)
