"""A person's text cut into sentences, told apart from what was pasted, quoted or is code.

Every sentence is a verbatim slice of its part. Beside it stands a *masked* form of the same
length in which inline code and quoted words are blanked, so that rules look only at what the
person says in their own voice. All patterns are linear, and long runs are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitmem.domain.session import Message
from gitmem.rules import pasted

MAX_SENTENCE = 600
"""Characters; what goes on longer without an end is pasted text, not a statement."""

CODE = "\ue000"
QUOTED = "\ue001"

IN_CODE = "code"
IN_QUOTE = "quoted or pasted text"
TOO_LONG = "too long for a statement"

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CLOSERS = "\"')\\]”’」』）》"
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r" {0,3}(?:[-*+] |\d{1,3}[.)] )?(```+|~~~+)")
_TAG_OPEN = re.compile(r"\s{0,8}<([A-Za-z][\w.-]{0,60})(?:\s[^<>]{0,300})?>")
_TAG_CLOSE = re.compile(r"</([A-Za-z][\w.-]{0,60})>")
_LIST = re.compile(
    r"\s{0,12}(?:[-*•+–]\s+|\d{1,3}[.)]\s+|\d{1,3}、\s*|[一二三四五六七八九十]{1,3}、\s*"
    r"|[(（]\d{1,2}[)）]\s*)(?:\[[ xX]\]\s+)?"
)
_REPLY_LINE = re.compile(r"\s{0,6}[>＞»]")
_QUOTE_LINE = re.compile(r"\s{0,6}[>＞»|]|\s{0,6}\"[^\"]*\"\s*[,:]?\s*$")
_CODE_LINE = re.compile(
    r"(?:\t| {4,})\S"  # indented
    r"|\s*(?:#|//|/\*|\*/|--\s|\$ |>>>|@@|[{}\[\]]|<[A-Za-z/!?])"  # comment, prompt, tag
    r"|[+-]{1,3}[^\s+-]"  # a diff
    r"|\s*(?:def|class|func|fn|function) \w{1,80}\s?[(:{]|\s*from [\w.]{1,80} import "
    r"|\s*import [\w.{*]|\s*(?:const|let|var) [\w{\[]{1,80},? ?[=:]|\s*return\b[^.,]{0,200}$"
    r"|\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER|DROP) "
    r"|.{0,400}[;{}]\s*$"
)
_LOG_LINE = re.compile(
    r"\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\s*\[?\d\d:\d\d:\d\d"
    r"|\s*[\[(<]?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|NOTICE|CRITICAL)\b"
    r"|\s*Traceback |\s+at \S{1,200}\(|\s*File \"|\S{1,300}:\d{1,6}:(?:\d{1,6}:?)?\s"
    r"|[\w.]{0,80}(?:Error|Exception|Warning|error|warning): "
    r"|(?:From|To|Cc|Subject|Date|Sent|发件人|收件人|主题|日期)[:：]"
)
_MASKS = re.compile(
    r"(?P<code>``[^`\n]{1,400}``|`[^`\n]{1,400}`)"
    r"|“[^”]*(?:”|$)|「[^」]*(?:」|$)|『[^』]*(?:』|$)|\"[^\"]*(?:\"|$)|‘[^’\n]{1,300}’"
    r"|(?<![\w'])'(?=\S)(?:[^'\n]|'(?=\w)){1,300}'(?!\w)"
)
_END = re.compile(
    rf"[。！？；][。！？；!?…]*[{_CLOSERS}]*"
    rf"|[!?]+(?=$|[\s{_CLOSERS}{CJK}])[{_CLOSERS}]*"
    rf"|\.(?=$|\s|[{CJK}]|[{_CLOSERS}]+(?:\s|$))[{_CLOSERS}]*"
)
_ABBREVIATIONS = frozenset(
    """
    e.g i.e eg ie vs mr mrs ms dr st cf approx resp fig al inc ltd co jr sr prof dept est min
    max ver incl excl a.k.a aka w.r.t
    """.split()  # noqa: SIM905
)
# A short line goes on in the next where it ends with a word that ends no sentence, or the next
# one begins with a word that begins none.
_OPEN_END = re.compile(
    r"\b(?:i|we|you|always|never|usually|generally|normally|typically|really|not|don't|the|an?|my"
    r"|our|your|to|of|and|or|but|in|on|at|for|with|from|by|over|than|that|is|are|be|use|using"
    r"|prefer|like|must|should|will|can|when|if|because|before|after|every|all|any|please"
    r"|remember)$"
    r"|(?:我们?|你|请|一直|总是|始终|永远|从不|喜欢|偏好|习惯|希望|必须|务必|应该|不要|禁止|一律|统一"
    r"|决定|记住|以后|今后|每次|所有|的|和|与|或|在|把|用|是|都|要|先|对|从|到|给|为|因为|如果)$",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"(?:to|of|and|or|but|in|on|at|for|with|without|from|by|over|than|that|because|instead|rather"
    r"|unless|whenever|into|only)\b|(?:的|和|与|或|而|因为|以免|否则|时|之前|之后)"
)
_LAST_WORD = re.compile(r"[A-Za-z][A-Za-z.]{0,11}$")


class Sentence(NamedTuple):
    """One sentence of a human part.

    ``aside`` tells why it is not the person's own statement ("" where it may be one).
    ``intro`` is the line ending in a colon under which it stands. ``masked`` has the length of
    ``text``.
    """

    message: int
    text: str
    masked: str
    aside: str = ""
    intro: str = ""


def sentences(message: Message) -> Iterator[Sentence]:
    """Yield the sentences of the human text parts of ``message``, in order."""
    for part in message.parts:
        if part.kind == "text" and part.cls == "human":
            yield from split(part.text, message.index)


def split(text: str, message: int = 0) -> Iterator[Sentence]:
    """Yield the sentences of one text."""
    for block, aside in _blocks(text):
        if aside:
            for line in block.splitlines():
                item = _LIST.match(line)
                words = line[item.end() if item else 0 :].strip()[:MAX_SENTENCE]
                yield Sentence(message, words, words, aside)
        else:
            yield from _paragraph(block, message)


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Cut into paragraphs of the person's own lines and runs of lines that are something else."""
    held: list[str] = []
    aside = ""
    for line, kind in _lines(text):
        blank = not line.strip()
        if held and (kind != aside or (blank and not kind)):
            yield "".join(held), aside
            held = []
        aside = kind
        if not blank:
            held.append(line)
    if held:
        yield "".join(held), aside


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Each line, or piece of one, with why it is not the person's own, or ""."""
    reader = _LineReader(text)
    for match in _LINE.finditer(text):
        yield from reader.read(match.group(), match.end())


class _LineReader:
    """Knows in what a line stands: a fence, a tag, a bracket, or text that was pasted."""

    def __init__(self, text: str) -> None:
        self._fence = ""
        self._closing = ""
        self._pasted = False
        # Presented, and none of it seen: a fence or a quotation that comes next is all of it.
        self._presented = False
        self._tags = {match[1]: match.start() for match in _TAG_CLOSE.finditer(text)}
        self._brackets = pasted.bracketed_until(text)

    def read(self, line: str, end: int) -> Iterator[tuple[str, str]]:
        """Yield ``line``, which ends at ``end``, in one or two pieces."""
        opening = _FENCE.match(line)
        if self._fence:
            yield line, IN_CODE
            if opening and opening[1].startswith(self._fence) and not line.strip("`~ \t\r\n"):
                self._fence = ""
        elif line.isspace():
            yield line, IN_QUOTE if self._pasted or self._closing else ""
        elif opening:
            self._fence = opening[1]
            self._shown()
            yield line, IN_CODE
        elif self._closing:
            yield line, IN_QUOTE
            if pasted.closes(line, self._closing):
                self._closing = ""
        else:
            yield from self._text(line, end)

    def _text(self, line: str, end: int) -> Iterator[tuple[str, str]]:
        kind = _kind(line)
        tag = _TAG_OPEN.match(line)
        bracket = pasted.bracket_name(line)
        if tag and self._tags.get(tag[1], 0) >= end:
            self._closing = f"</{tag[1]}>"
        elif self._brackets.get(bracket, -1) > end - len(line):
            self._closing = "" if pasted.closes(line, f"[{bracket}") else f"[{bracket}"
            yield line, IN_QUOTE
            return
        if _REPLY_LINE.match(line):
            self._shown()
        self._presented = False
        begin = None if self._pasted else pasted.pasted_from(line)
        if begin is None:
            yield line, kind or (IN_QUOTE if self._pasted else "")
        elif not line[begin:].strip():
            yield line, kind
            self._pasted = self._presented = True
        elif kind:
            yield line, kind
        else:
            yield line[:begin], ""
            yield line[begin:], IN_QUOTE
            self._pasted = True

    def _shown(self) -> None:
        if self._presented:
            self._pasted = self._presented = False


def _kind(line: str) -> str:
    if _QUOTE_LINE.match(line) or line.count("|") > 1 or _LOG_LINE.match(line):
        return IN_QUOTE
    if _CODE_LINE.match(line) and not _LIST.match(line):
        return IN_CODE
    return ""


def _paragraph(block: str, message: int) -> Iterator[Sentence]:
    masked = _MASKS.sub(
        lambda match: (CODE if match["code"] else QUOTED) * len(match.group()), block
    )
    intro = ""
    in_list = False
    for start, end in _units(block, masked):
        item = _LIST.match(block, start, end)
        if intro and in_list and not item:
            intro = ""
        in_list = bool(item)
        start = item.end() if item else start
        for begin, stop in _cut(masked, start, end):
            text = block[begin:stop]
            if text.strip():
                yield _sentence(message, block, masked, (begin, stop), intro)
        if block[start:end].rstrip().endswith((":", "：")):
            intro = block[start:end].strip()[:MAX_SENTENCE]
        elif not in_list:
            intro = ""


def _sentence(message: int, block: str, masked: str, span: tuple[int, int], intro: str) -> Sentence:
    text = block[span[0] : span[1]]
    left = span[0] + len(text) - len(text.lstrip())
    right = span[0] + len(text.rstrip())
    aside = TOO_LONG if right - left > MAX_SENTENCE else ""
    right = min(right, left + MAX_SENTENCE)
    return Sentence(message, block[left:right], masked[left:right], aside, intro)


def _units(block: str, masked: str) -> Iterator[tuple[int, int]]:
    """Spans of one or several lines; a line that was only wrapped goes with the one before."""
    start = position = 0
    while True:
        newline = masked.find("\n", position)
        if newline < 0:
            yield start, len(block)
            return
        position = newline + 1
        if not _wrapped(block, start, newline):
            yield start, newline
            start = position


def _wrapped(block: str, start: int, newline: int) -> bool:
    before = block[max(start, newline - 2 * MAX_SENTENCE) : newline]
    before = before[before.rfind("\n") + 1 :].rstrip()
    after = block[newline + 1 : newline + 40]
    if not before or not after.strip() or _LIST.match(after):
        return False
    head = after.lstrip()[0]
    if before[-1] in ",，、":
        return True
    if before[-1] in ".。!！?？;；:：":
        return False
    chinese = re.match(f"[{CJK}]", before[-1]) and re.match(f"[{CJK}]", head)
    if not (chinese or "a" <= head <= "z"):
        return False
    goes_on = _OPEN_END.search(before) or _GOES_ON.match(after.lstrip())
    return bool(len(before) >= 30 or goes_on)


def _cut(masked: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in _END.finditer(masked, start, end):
        if match.group()[0] == "." and _goes_on(masked, match.start(), end):
            continue
        yield start, match.end()
        start = match.end()
    yield start, end


def _goes_on(masked: str, dot: int, end: int) -> bool:
    """Whether this dot ends an abbreviation, an initial or an ellipsis, not a sentence."""
    after = masked[dot + 1 : min(end, dot + 40)].lstrip()
    if masked[dot - 1 : dot] == "." and (not after or after[0].islower()):
        return bool(after)
    word = _LAST_WORD.search(masked[max(0, dot - 12) : dot])
    if word is None:
        return False
    if word.group().lower() in _ABBREVIATIONS:
        return True
    if word.group().lower() in ("etc", "a.m", "p.m"):
        return bool(after) and not after[0].isupper()
    if word.group().lower() == "no":
        return bool(re.match(r"\d", after))
    return len(word.group()) == 1 and word.group().isupper() and word.group() != "I"
