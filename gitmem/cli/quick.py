"""The common calls of list, show and search, understood without click.

Importing click costs three times what starting Python costs, and an agent makes these calls in
every turn. What is not understood here, down to the last odd option, is left to click; a test
holds that whatever is understood here, click understands in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from gitmem.cli.call import Call

#: Of each command: its options that take a value, and how many arguments it has.
_COMMANDS: dict[str, tuple[dict[str, str], range]] = {
    "list": ({"--type": "type"}, range(1)),
    "show": ({}, range(1, 2)),
    "search": ({"--limit": "limit", "-n": "limit"}, range(1, 1_000_000)),
}
_MAX_DIGITS = 6


class Quick(NamedTuple):
    """A call that was understood. ``values`` are those of the command's own options."""

    command: str
    arguments: list[str]
    values: dict[str, str]
    store: str | None
    json: bool


def understand(args: Sequence[str]) -> Quick | None:
    """Return what ``args`` ask for, or None where click is needed to tell."""
    words: list[str] = []
    values: dict[str, str] = {}
    json = False
    rest = iter(args)
    for word in rest:
        if word == "--json":
            json = True
        elif word.startswith("--store") or (words and word.startswith("-")):
            name, equals, value = word.partition("=")
            options = _COMMANDS[words[0]][0] if words else {}
            key = "store" if name == "--store" else options.get(name, "")
            if not equals:
                value = next(rest, "")
            if not key or (equals and not name.startswith("--")) or value[:1] in ("", "-"):
                return None
            values[key] = value
        elif word[:1] in ("", "-") or (not words and word not in _COMMANDS):
            return None
        else:
            words.append(word)
    if not all(map(_is_text, [*words, *values.values()])):
        return None
    if not words or len(words) - 1 not in _COMMANDS[words[0]][1]:
        return None
    limit = values.get("limit", "1")
    if not (limit.isascii() and limit.isdigit() and int(limit[:_MAX_DIGITS])):
        return None
    if len(limit) > _MAX_DIGITS:
        return None
    return Quick(words[0], words[1:], values, values.pop("store", None), json)


def _is_text(word: str) -> bool:
    """Whether the terminal's encoding could read the word; a surrogate stands for what it can't."""
    return word.isascii() or not any("\ud800" <= character <= "\udfff" for character in word)


def answer(args: Sequence[str]) -> int | None:
    """Answer ``args`` and return the exit code, or None where click is needed."""
    asked = None if "_GITMEM_COMPLETE" in os.environ else understand(args)
    if asked is None:
        return None
    from gitmem.cli import answers

    call = Call()
    call.store, call.json = asked.store, asked.json
    if asked.command == "list":
        return answers.answer_list(call, asked.values.get("type"))
    if asked.command == "show":
        return answers.answer_show(call, asked.arguments[0])
    limit = int(asked.values.get("limit", answers.SEARCH_LIMIT))
    return answers.answer_search(call, " ".join(asked.arguments), limit)
