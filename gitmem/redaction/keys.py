"""Secrets that are known by their own form: vendors' keys, private keys, URLs, headers.

Every pattern starts at a word's beginning and uses possessive quantifiers or short bounds, so
that it is linear in the text whatever the text is.
"""

from __future__ import annotations

import base64
import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.redaction.finding import Span
from gitmem.redaction.places import lines_with, matches
from gitmem.redaction.values import is_placeholder, is_random


@dataclass(frozen=True)
class Fixed:
    """A key of a known length: a prefix and ``length`` more characters of one class.

    A key with ``fewer`` characters at the end of a text, or with a line break inside, is a key
    that was cut or wrapped.
    """

    kind: str
    prefix: str
    chars: str
    length: int

    def pattern(self) -> re.Pattern[str]:
        """Return the pattern of the prefix and all that may belong to the key."""
        return re.compile(
            rf"(?<![A-Za-z0-9_])(?P<p>{self.prefix})(?P<body>[{self.chars}]{{0,{self.length}}}+)"
        )


FIXED = (
    Fixed("aws-key", "A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA", "A-Z0-9", 16),
    Fixed("github-token", "gh[pousr]_", "A-Za-z0-9", 36),
    Fixed("github-token", "github_pat_", "A-Za-z0-9_", 82),
    Fixed("gitlab-token", "glpat-", r"A-Za-z0-9_-", 20),
    Fixed("google-key", "AIza", r"A-Za-z0-9_-", 35),
    Fixed("npm-token", "npm_", "A-Za-z0-9", 36),
    Fixed("aliyun-key", "LTAI", "A-Za-z0-9", 20),
    Fixed("tencent-key", "AKID", "A-Za-z0-9", 32),
    Fixed("huggingface-token", "hf_", "A-Za-z0-9", 34),
)
_FIXED = tuple((rule, rule.pattern(), re.compile(f"[{rule.chars}]++")) for rule in FIXED)
#: Aliyun and GitHub also issue shorter or longer ones; a whole word of this length is a key.
_SHORTEST = {"aliyun-key": 12, "github-token": 30, "tencent-key": 26, "npm-token": 30}
#: What may stand in a key that was wrapped: a line end, with or without joined string literals.
_WRAP = re.compile(r"(?:\\?\r?\n[ \t>|]{0,16}|[\"'] ?[+,]?[ \t]{0,4}\r?\n[ \t]{0,32}[\"'])")
#: So many characters of a key that was cut at the end of a text are one.
_CUT = 4

_BODY = r"[A-Za-z0-9_-]"
_FREE: tuple[tuple[str, str, int], ...] = (
    # kind, pattern, length of the fixed beginning
    ("anthropic-key", rf"sk-ant-{_BODY}{{16,}}+", 7),
    ("openai-key", rf"sk-(?:proj-|svcacct-|admin-|or-v1-|live-|test-)?{_BODY}{{16,}}+", 3),
    ("stripe-key", r"(?:[sr]k|whsec)_(?:(?:live|test|prod)_)?[A-Za-z0-9]{16,}+", 8),
    ("slack-token", r"xox[abcdeoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}+", 5),
    ("slack-token", r"xapp-[0-9]-[A-Za-z0-9-]{20,}+", 5),
    ("slack-webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/+-]{20,}+", 16),
    ("pypi-token", rf"pypi-{_BODY}{{16,}}+", 5),
    ("gitlab-token", rf"gl(?:dt|ft|soat|rt|cbt|ptt|agent|imt)-{_BODY}{{16,}}+", 5),
    ("sendgrid-key", rf"SG\.{_BODY}{{16,32}}+\.{_BODY}{{32,64}}+", 3),
    ("google-token", rf"ya29\.{_BODY}{{20,}}+", 5),
    ("google-token", rf"GOCSPX-{_BODY}{{20,}}+", 7),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{40,}+", 7),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}+", 6),
    ("databricks-token", r"dapi[a-f0-9]{32}", 4),
    ("vault-token", rf"hv[sbr]\.{_BODY}{{24,}}+", 4),
    ("artifactory-token", r"AKC[A-Za-z0-9]{10,200}+", 3),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", 16),
    ("telegram-token", rf"[0-9]{{8,10}}:AA{_BODY}{{33}}", 0),
    ("groq-key", r"gsk_[A-Za-z0-9]{20,}+", 4),
    ("xai-key", r"xai-[A-Za-z0-9]{20,}+", 4),
)
_FREE_RULES = tuple(
    (kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})"), prefix)
    for kind, pattern, prefix in _FREE
)
#: One quick search says where any of the rules above can begin to find something.
_FREE_ANY = re.compile(
    r"(?<![A-Za-z0-9_])(?:sk-|[sr]k_|whsec_|xox|xapp-|hooks\.|pypi-|gl[a-z]{2,5}-|SG\.|ya29|GOCSPX"
    r"|do[opr]_v1|shp[a-z]{2}_|AKC|dapi|hv[sbr]\.|AGE-|[0-9]{8,10}:AA|gsk_|xai-)"
)
_FIXED_ANY = re.compile(
    r"(?<![A-Za-z0-9_])(?:A3T|A[KSBC][IC]A|AKID|LTAI|gh[pousr]_|github_|glpat-|AIza|npm_|hf_)"
)

_JWT = re.compile(r"(?<![A-Za-z0-9_-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}", re.ASCII)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/]{200,}+")

_URL_USER = re.compile(
    r"(?<=://)(?P<user>[^\s:/@\"'`<>]{0,128}+):(?P<v>[^\s/\"'`<>]{1,256})@(?=[\w\[{.$-])"
)
_URL_TOKEN = re.compile(r"(?<=://)(?P<v>[A-Za-z0-9_.~-]{20,256}+)@(?=[\w\[.-])")
_STAND_IN_WORDS = """
pass password passwd pwd pw secret token pat key user username credentials xxx x changeme
yourpassword mypassword example 密码 口令
"""
_STAND_INS = frozenset(_STAND_IN_WORDS.split())
_HEADER = re.compile(
    r"""(?ix)
    (?: (?:proxy-)?authorization \\*["']? \s{0,4} [:=] \s{0,4} \\*["']?
        (?: (?:bearer|basic|token|digest|apikey|key|bot) \s{1,4} )?
      | (?<![\w-]) (?:bearer|basic) [ ]{1,4} )
    (?P<v> [\w.~+/=|:-]{8,4096}+ )
    """
)

_BEGIN = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}?PRIVATE KEY(?: BLOCK)? ?-{4,5}")
#: A private key is not longer than this many characters.
_MAX_BLOCK = 64 * 1024
#: What a private key consists of: lines of base64, headers, quotes and written line ends.
_KEY_BODY = re.compile(
    r"(?:[\s>|\"'+,\\]{1,8}+(?:[nr]\\?(?=[A-Za-z0-9+/=]{16}))?"
    r"(?:[A-Za-z0-9+/=]{16,}+|[A-Za-z0-9+/]{1,15}={1,2}|[A-Za-z-]{4,24}: [^\n]{1,120}))*+"
)
_BEFORE_END = re.compile(r"[\s>|\"'+,\\]*(?:[A-Za-z0-9+/=]|\\n)*")
_PUTTY = re.compile(r"Private-Lines: (?P<n>\d{1,3})\r?\n")
_PUTTY_LINES = re.compile(r"(?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\Z))*+")


def find_keys(text: str, low: str) -> Iterator[Span]:
    """Yield everything in ``text`` that is a secret by its own form; ``low`` is it folded."""
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        yield from _private_keys(text)
    by_prefix = [*_fixed(text), *_free(text)]
    if by_prefix:
        blobs = _Blobs(text)
        yield from (span for span in by_prefix if not blobs.cover(span))
    if "eyJ" in text:
        for match in _JWT.finditer(text):
            if _is_jwt(match[0]):
                yield Span(match.start(), match.end(), "jwt")
    if "://" in text and "@" in text:
        yield from _urls(text)
    yield from _headers(text, low)


def find_rest_of_key(before: str, text: str) -> Span | None:
    """Find the rest of a key at the beginning of ``text`` that was cut off in ``before``.

    Only keys of a known length: of others nobody can say that they were not complete.
    """
    tail = before.rstrip()[-200:]
    start = len(text) - len(text.lstrip())
    for rule, pattern, chars in _FIXED:
        for match in pattern.finditer(tail):
            missing = rule.length - len(match["body"])
            rest = chars.match(text, start)
            if match.end() != len(tail) or missing <= 0 or rest is None:
                continue
            key = match["body"] + rest[0]
            if len(rest[0]) == missing and _is_key(key, match["p"]):
                return Span(start, rest.end(), rule.kind)
    return None


def ends_in_key(text: str) -> bool:
    """Whether a key was perhaps cut off at the end of ``text``, and goes on in what follows it."""
    tail = text.rstrip()[-200:]
    return any(
        match.end() == len(tail) and len(match["body"]) < rule.length
        for rule, pattern, _ in _FIXED
        for match in pattern.finditer(tail)
    )


class _Blobs:
    """The long runs of base64 in a text: data, in which a key's letters are chance."""

    def __init__(self, text: str) -> None:
        runs = [match.span() for match in _BASE64_RUN.finditer(text)]
        self._starts = [start for start, _ in runs]
        self._ends = [end for _, end in runs]

    def cover(self, span: Span) -> bool:
        at = bisect.bisect_right(self._starts, span.start) - 1
        return at >= 0 and span.start < self._ends[at]


def _is_key(body: str, prefix: str) -> bool:
    varied = any(c.isdigit() for c in body) or body.upper() != body != body.lower()
    return varied and not is_placeholder(prefix + body, len(prefix))


def _fixed(text: str) -> Iterator[Span]:
    starts = [match.start() for match in _FIXED_ANY.finditer(text)]
    for rule, pattern, chars in _FIXED:
        for match in _from_starts(pattern, text, starts):
            body, end = match["body"], match.end()
            more = chars.match(text, end)
            if len(body) < rule.length:
                end = _end_of_part(text, rule, match, chars)
            elif more is not None:
                # Longer than known: a newer form of the key, unless it is a plain long word.
                end = more.end()
            if end and _is_key(body, match["p"]):
                yield Span(match.start(), end, rule.kind)


def _from_starts(pattern: re.Pattern[str], text: str, starts: list[int]) -> Iterator[re.Match[str]]:
    """Yield what ``finditer`` would, where a match can begin at ``starts`` alone."""
    end = 0
    for start in starts:
        match = pattern.match(text, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield match


def _end_of_part(text: str, rule: Fixed, match: re.Match[str], chars: re.Pattern[str]) -> int:
    """Return where a key shorter than usual ends: short by nature, wrapped, or cut; else 0."""
    body, end = match["body"], match.end()
    wrap = _WRAP.match(text, end)
    rest = chars.match(text, wrap.end()) if wrap else None
    if rest and len(body) + len(rest[0]) == rule.length and body:
        return rest.end()
    if len(body) >= _SHORTEST.get(rule.kind, rule.length):
        return end
    at_end = not text[end : end + 64].strip() and len(text) - end <= 64
    return end if at_end and len(body) >= _CUT and any(c.isdigit() for c in body) else 0


def _free(text: str) -> Iterator[Span]:
    starts = [match.start() for match in _FREE_ANY.finditer(text)]
    for kind, rule, prefix in _FREE_RULES:
        for match in _from_starts(rule, text, starts):
            key = match[0].rstrip("-_")
            if is_placeholder(key, prefix) or not _has_random_run(key[prefix:]):
                continue
            yield Span(match.start(), match.start() + len(key), kind)


def _has_random_run(key: str) -> bool:
    """Say whether a piece of a key mixes letters with digits over a length no name has."""
    return any(
        is_random(piece, 10) or (len(piece) >= 24 and piece.lower() != piece)
        for piece in re.split(r"[-_./:]", key)
    )


def _is_jwt(token: str) -> bool:
    head = token.split(".", 1)[0]
    try:
        decoded = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4))
    except ValueError:
        return False
    return decoded.startswith(b"{") and b'"' in decoded


def _urls(text: str) -> Iterator[Span]:
    for match in _URL_USER.finditer(text):
        value = match["v"]
        if value.lower() not in _STAND_INS and not is_placeholder(value):
            yield Span(match.start("v"), match.end("v"), "url-password")
    for match in _URL_TOKEN.finditer(text):
        if is_random(match["v"], 20) and not is_placeholder(match["v"]):
            yield Span(match.start("v"), match.end("v"), "url-password")


def _headers(text: str, low: str) -> Iterator[Span]:
    # White space in a header can hold line breaks, at most four in each of three places.
    places = lines_with(low, ("authorization", "bearer", "basic"), after=12)
    for match in matches(_HEADER, text, places):
        value = match["v"].rstrip(".,:")
        mixed = len(value) >= 12 and value.lower() != value != value.upper() and "/" not in value
        if (is_random(value) or mixed or value.endswith("=")) and not is_placeholder(value):
            yield Span(match.start("v"), match.start("v") + len(value), "auth-header")


def _private_keys(text: str) -> Iterator[Span]:
    """Yield private-key blocks: whole, without their end, or without their beginning."""
    ends = [match.span() for match in _END.finditer(text)]
    starts = [start for start, _ in ends]
    closed: set[int] = set()
    after = 0
    for begin in _BEGIN.finditer(text):
        if begin.start() < after:
            continue
        at = bisect.bisect_left(starts, begin.end())
        whole = at < len(ends) and ends[at][0] - begin.end() <= _MAX_BLOCK
        if whole and re.search(r"[A-Za-z0-9+/]{16}", text[begin.end() : ends[at][0]]):
            after = ends[at][1]
            closed.add(at)
        elif whole:
            continue
        else:
            body = _KEY_BODY.match(text, begin.end())
            after = body.end() if body else begin.end()
            if after - begin.end() < 16:
                continue
        yield Span(begin.start(), after, "private-key")
    for index, (start, end) in enumerate(ends):
        if index not in closed:
            body_start = _body_before(text, start)
            if start - body_start >= 32:
                yield Span(body_start, end, "private-key")
    for match in _PUTTY.finditer(text):
        lines = _PUTTY_LINES.match(text, match.end())
        if lines and lines.end() - match.end() >= 16:
            yield Span(match.end(), lines.end(), "private-key")


def _body_before(text: str, end: int) -> int:
    """Return where the base64 lines that end before ``end`` begin."""
    start = end
    while start > 0 and end - start < _MAX_BLOCK:
        line_end = start - 1 if text[start - 1] == "\n" else start
        line_start = max(text.rfind("\n", max(0, line_end - 200), line_end) + 1, line_end - 200)
        if not re.fullmatch(r"[ \t>|]{0,8}[A-Za-z0-9+/=]{1,100}\r?", text[line_start:line_end]):
            break
        start = line_start
    return start
