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
    shown = (char if _PLAIN.match(char) else _as_bytes(char) for char in text)
    return "$'" + "".join(shown) + "'"


def _as_bytes(char: str) -> str:
    # Halves of surrogate pairs stand for bytes of a name that is no UTF-8, or for nothing at all.
    is_byte = "\udc80" <= char <= "\udcff"
    data = char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")
    return "".join(f"\\x{byte:02x}" for byte in data)


def shell_argument(text: str) -> str:
    """``text`` as the last words of a command: none that begins with ``-`` becomes an option."""
    return f"-- {shell_word(text)}" if text.startswith("-") else shell_word(text)
