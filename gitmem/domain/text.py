r"""Rules about text: which characters may be kept, how long a quote is, how to show it.

What a person approves and what a model reads must be the same text, so characters that hide,
reorder or forge text are refused where text comes in, and escaped where text is shown.

A record that is legal on one machine must be legal on every other, and every machine computes the
same ids. So nothing here asks the interpreter what a character is, not by a ``\w`` either: sets of
characters are written out below, and :mod:`gitmem.domain.unicode14` knows the rest, whatever
Unicode version Python has. Code points that are unassigned there are legal (an emoji of a later
year), while private-use ones are not: what they show depends on the fonts of whoever looks.

Standard library only: the prompt hook imports this module.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache, lru_cache

from gitmem.domain.unicode14 import (
    fold,
    is_letter_or_number,
    is_mark,
    is_nfc,
    is_separator,
    is_virama,
    to_nfc,
)

__all__ = [
    "IllegalCharacter",
    "escape_markdown",
    "escape_terminal",
    "fold_whitespace",
    "illegal_characters",
    "is_nfc",
    "is_plain",
    "normalise_statement",
    "one_line",
    "quote_length",
    "to_nfc",
]

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_LINE_CONTROLS = "\t\n"
_REORDERING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_BREAKS = "\u2028\u2029"
_JOINERS = "\u200c\u200d"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TAGS = "\U000e0020-\U000e007f"
# Default_Ignorable_Code_Point and the general category Cf, without the sets above and without the
# prepended marks of Arabic, Syriac and Kaithi, which are of category Cf but are drawn.
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"
)
_SURROGATES = "\ud800-\udfff"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17)
)

_REASONS = (
    (_LINE_CONTROLS, "a line break or tab where one line is wanted"),
    (_CONTROLS, "a control character"),
    (_REORDERING, "a mark that changes the order in which text is shown"),
    (_BREAKS, "an invisible line break"),
    (_JOINERS, "an invisible joiner where no script and no emoji needs one"),
    (_SELECTORS, "a variation selector that no character before it takes"),
    (_TAGS, "an invisible tag outside a flag"),
    (_INVISIBLE, "invisible"),
    (_SURROGATES, "half of a surrogate pair"),
    (_PRIVATE, "for private use, without a meaning that others know"),
    (_NONCHARACTERS, "not a character"),
)
_SUSPECT_IN_BODY = "".join(characters for characters, _ in _REASONS[1:])
_SUSPECT_IN_LINE = _LINE_CONTROLS + _SUSPECT_IN_BODY

# Extended_Pictographic of Unicode's emoji-data.txt; its ranges hold reserved code points for
# the emoji to come.
_PICTOGRAPH = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605"
    "\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733\u2734"
    "\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1\u27b0\u27bf\u2934"
    "\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001f0ff"
    "\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171\U0001f17e\U0001f17f\U0001f18e"
    "\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5\U0001f201-\U0001f20f\U0001f21a\U0001f22f"
    "\U0001f232-\U0001f23a\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa\U0001f400-\U0001f53d"
    "\U0001f546-\U0001f64f\U0001f680-\U0001f6ff\U0001f774-\U0001f77f\U0001f7d5-\U0001f7ff"
    "\U0001f80c-\U0001f80f\U0001f848-\U0001f84f\U0001f85a-\U0001f85f\U0001f888-\U0001f88f"
    "\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001faff"
    "\U0001fc00-\U0001fffd"
)
_SKIN_TONE = "\U0001f3fb-\U0001f3ff"
# Only the three flags that Unicode recommends for interchange: any other tag sequence would be a
# place to hide words in.
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
)
_FLAG_LENGTH = 7
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
# The Ideographic Variation Database uses VS17 to VS48; more of them would only carry hidden bits.
_LAST_HAN_SELECTOR = "\U000e011f"
_MONGOLIAN = "\u1820-\u18aa"
_ARABIC_OR_SYRIAC = "\u0600-\u074f\u0750-\u077f\u0860-\u08ff"
# The separators that str.isspace() knew in Unicode 14: White_Space and four controls.
_WHITESPACE = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"

_WIDE = (
    "\u1100-\u11ff\u2e80-\u303f\u3041-\u33ff\ua960-\ua97f\uac00-\ud7ff\ufe30-\ufe4f"
    f"\uff01-\uffdc\uffe0-\uffe6\U0001aff0-\U0001b16f{_HAN}"
)
# Common writing, none of which is ever suspect: first and last character of each range, in order.
_PLAIN = " ~\u00ae\u034e\u0370\u052f\u2010\u2027\u2e80\u3163\u3165\ud7ff\uff01\uff9f"
_IGNORED_IN_STATEMENTS = f"{_JOINERS}{_SELECTORS}{_TAGS}{_INVISIBLE}{_REORDERING}"

_MARKDOWN = (
    r"[\\`*~\[\]<|$@]"  # code, emphasis, links, HTML and autolinks, tables, mathematics, mentions
    r"|&(?=#?[0-9A-Za-z]+;)"  # character references
    r"|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])"  # inside an ASCII word it is no emphasis
    r"|(?<=:)/(?=/)|(?<=(?<![0-9A-Za-z])www)\."  # addresses that many renderers turn into links
)
_MARKDOWN_BLOCK = r"[#>+=:-]|[0-9]+(?=[.)])"


@cache
def _any_of(characters: str, times: str = "") -> re.Pattern[str]:
    """A pattern for one of ``characters``, compiled when it is first needed.

    Compiling them all takes longer than starting Python, and the prompt hook needs none.
    """
    return re.compile(f"[{characters}]{times}")


class IllegalCharacter:
    """One character that may not be kept, and where it stands.

    ``line`` and ``column`` count from 1, in lines ended by LF and in characters; ``codepoint`` is
    its number; ``reason`` completes the sentence "it is ...".
    """

    __slots__ = ("codepoint", "column", "line", "reason")

    def __init__(self, line: int, column: int, codepoint: int, reason: str) -> None:
        self.line = line
        self.column = column
        self.codepoint = codepoint
        self.reason = reason

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: U+{self.codepoint:04X} is {self.reason}"

    __repr__ = __str__


def illegal_characters(text: str, *, allow_newlines: bool) -> list[IllegalCharacter]:
    """Every character of ``text`` that a record may not hold, in order.

    Refused: controls, characters that reorder text, invisible ones, private use, noncharacters and
    halves of surrogate pairs. ``allow_newlines`` admits LF and TAB (a body); CR never.

    Kept where writing needs them: joiners and selectors inside emoji and the three recommended
    tag flags; ZWJ and ZWNJ around a virama (RFC 5892, appendix A) and ZWNJ inside words with Arabic
    or Syriac letters; one variation selector after a Han or Mongolian character.
    """
    found = []
    for position, reason in _illegal(text, allow_newlines):
        line_start = text.rfind("\n", 0, position) + 1
        line = text.count("\n", 0, position) + 1
        found.append(IllegalCharacter(line, position - line_start + 1, ord(text[position]), reason))
    return found


def _illegal(text: str, allow_newlines: bool) -> Iterator[tuple[int, str]]:
    suspect = _any_of(_SUSPECT_IN_BODY if allow_newlines else _SUSPECT_IN_LINE)
    for match in suspect.finditer(text):
        if not _is_needed(text, match.start()):
            character = match.group()
            yield (
                match.start(),
                next(reason for kind, reason in _REASONS if _any_of(kind).match(character)),
            )


def _is_needed(text: str, position: int) -> bool:
    """Whether a joiner, selector or tag stands where a script or an emoji needs it."""
    character = text[position]
    before = text[position - 1] if position else ""
    after = text[position + 1 : position + 2]
    if character == "\u200d":
        return _joins_emoji(text, position) or _by_virama(before, after)
    if character == "\u200c":
        return _by_virama(before, after) or _parts_arabic_word(text, position)
    if "\ufe0e" <= character <= "\ufe0f":
        return bool(_any_of(_PICTOGRAPH).match(before)) or (
            before != "" and before in "0123456789#*" and after == "\u20e3"
        )
    if "\ufe00" <= character <= "\ufe02" or "\U000e0100" <= character <= _LAST_HAN_SELECTOR:
        return bool(_any_of(_HAN).match(before))
    if "\u180b" <= character <= "\u180d" or character == "\u180f":
        return bool(_any_of(_MONGOLIAN).match(before))
    if "\U000e0020" <= character <= "\U000e007f":
        start = text.rfind("\U0001f3f4", max(0, position - _FLAG_LENGTH + 1), position)
        return start >= 0 and text.startswith(_FLAGS, start)
    return False


def _joins_emoji(text: str, position: int) -> bool:
    last = position - 1
    if last > 0 and text[last] == "\ufe0f":
        last -= 1
    before, after = text[max(last, 0) : position], text[position + 1 : position + 2]
    ends_emoji = _any_of(_PICTOGRAPH + _SKIN_TONE).match(before)
    return bool(ends_emoji and _any_of(_PICTOGRAPH).match(after))


def _by_virama(before: str, after: str) -> bool:
    """After a virama (half forms), or between a letter or number and one (Bengali)."""
    return is_virama(before) or (is_letter_or_number(before) and is_virama(after))


def _parts_arabic_word(text: str, position: int) -> bool:
    """Whether a ZWNJ stands inside a word: between two letters, one of them Arabic or Syriac.

    Writers of Persian put it after letters that do not join as well, and between a Latin
    abbreviation and its ending, so joining types are not asked for.
    """
    left = position - 1
    while left >= 0 and is_mark(text[left]):
        left -= 1
    before, after = text[left : left + 1] if left >= 0 else "", text[position + 1 : position + 2]
    if not (is_letter_or_number(before) and is_letter_or_number(after)):
        return False
    return bool(_any_of(_ARABIC_OR_SYRIAC).match(before) or _any_of(_ARABIC_OR_SYRIAC).match(after))


def fold_whitespace(text: str) -> str:
    """``text`` with every run of white space as one space, and none at its ends."""
    if text.isascii():
        return " ".join(text.split())
    return " ".join(_any_of(f"^{_WHITESPACE}", "+").findall(text))


def quote_length(text: str) -> int:
    """The length by which quotes are limited: a CJK character counts two, any other one.

    CJK: Han, kana, bopomofo, hangul, and CJK or full-width punctuation.
    """
    return len(text) + len(_any_of(_WIDE).findall(text))


def normalise_statement(text: str) -> str:
    """What two statements of the same fact have in common; tombstones are named by its hash.

    Joiners, variation selectors and other invisible characters are dropped; then NFKC, case
    folding, NFKC; every run of other characters is one space, and none is left at the ends. Kept
    are letters, numbers, combining marks, mathematical symbols (``x < 5`` is not ``x > 5``), what
    Unicode 14 did not know, and ``#`` and ``%`` right after a letter or number (C# is not C). The
    store format freezes this function.
    """
    folded = fold(_any_of(_IGNORED_IN_STATEMENTS).sub("", text))
    kept = _any_of("#%").sub(_attached, folded)
    spaces = {ord(c): " " for c in set(kept) if c not in "#%" and is_separator(c)}
    return fold_whitespace(kept.translate(spaces))


def _attached(match: re.Match[str]) -> str:
    start = match.start()
    before = match.string[start - 1 : start] if start else ""
    return match.group() if is_letter_or_number(before) else " "


def is_plain(text: str) -> bool:
    """Whether ``text`` is of common characters on one line, so that nothing in it is escaped.

    True of nearly all that a list shows, and found quickly; where it is False, look closer. What
    is put together of plain texts is plain.
    """
    if text.isascii():
        return text.isprintable()  # of ASCII, every Python says the same
    return all(map(_is_plain_character, set(text)))


@lru_cache(maxsize=1 << 13)
def _is_plain_character(character: str) -> bool:
    """By bisection: a pattern of these ranges takes longer to compile than a list to print."""
    position = bisect_right(_PLAIN, character)
    return position % 2 == 1 or (position > 0 and _PLAIN[position - 1] == character)


def escape_terminal(text: str, *, multiline: bool = False) -> str:
    r"""``text`` so that a terminal shows all of it and obeys none of it.

    Every character that :func:`illegal_characters` names becomes ``\xNN`` or ``\u{NNNN}``: escape
    sequences, carriage returns, text that reorders or hides. ``multiline`` keeps LF and TAB.
    """
    if is_plain(text):
        return text
    # A joiner may have been needed by a neighbour that is escaped now, so look again.
    while illegal := [position for position, _ in _illegal(text, multiline)]:
        pieces = []
        end = 0
        for position in illegal:
            code = ord(text[position])
            escaped = f"\\x{code:02x}" if code <= 0xFF else f"\\u{{{code:04x}}}"
            pieces += [text[end:position], escaped]
            end = position + 1
        text = "".join([*pieces, text[end:]])
    return text


@lru_cache(maxsize=4096)
def escape_markdown(text: str) -> str:
    """``text`` on one line, as Markdown that renders as exactly that text.

    Safe anywhere in a CommonMark line, also at its start. White space is folded first. Addresses
    are kept from becoming links, in the renderers that do that, as far as escapes can.
    """
    line = fold_whitespace(text)
    start = ""
    block = re.match(_MARKDOWN_BLOCK, line)
    if block:
        # an ordered list's number is disarmed by escaping what follows it
        cut = block.end() + 1 if block.group().isdigit() else block.end()
        marker = line[:cut]
        start, line = f"{marker[:-1]}\\{marker[-1]}", line[cut:]
        # the look-behinds of _MARKDOWN must not take the cut for the start of a word
        if line.startswith("_"):
            start, line = f"{start}\\_", line[1:]
    return start + re.sub(_MARKDOWN, lambda match: f"\\{match.group()}", line)


def one_line(text: str) -> str:
    """``text`` for one line of a message or a list: white space folded, the rest escaped."""
    return escape_terminal(fold_whitespace(text))
