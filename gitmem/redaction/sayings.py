"""Secrets that are known by what is said about them: "the password is X", 密码是 X, PASS=X.

A noun is found first, then the words that lead from it to a value, then the value, whose form
decides (:mod:`gitmem.redaction.values`). Each step is bounded, and no step looks back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.redaction.finding import Span
from gitmem.redaction.places import lines_with, matches
from gitmem.redaction.values import Noun, is_passphrase, is_placeholder, is_random, is_value

# The first class lets the search jump from letter to letter; each branch looks at it again.
_NOUN = re.compile(
    r"""(?x) [CcKkPpSsTt密口暗通秘私令访验]
    (?: (?P<phrase> (?<=[Pp]) (?i: ass[ _-]?phrases? ) )
      | (?P<strong> (?<=[Pp]) (?i: ass[ _-]?words? | asswd | asscode | wd
                      | ass (?= \\{0,3}["'\]]{0,3} \s{0,3} [:=] ) )
          | (?<=密)码 | (?<=口)令 | (?<=暗)号 | (?<=通)行码 )
      | (?P<key> (?<=[Kk]) (?i: ey (?:[ _-]?id)? )
          | (?<=[密秘私])钥 | (?<=令)牌 | (?<=访)问码 | (?<=验)证码 )
      | (?P<weak> (?<=[Tt]) (?i: okens? ) | (?<=[Cc]) (?i: redentials? )
          | (?<=[Ss]) (?i: ecret | ig(?==) ) ) )
    """
)
#: Folded, without one of these a line has no noun.
_NOUN_WORDS = ("pass", "pwd", "key", "token", "credential", "secret", "sig=", *"码令号钥牌")
_SETTING_WORDS = ("_key", "_secret", "_token", "_credential")
_FLAG_WORDS = ("-pass", "-token", "-api", "-secret")
#: What stands before "key" or "secret" where it is a secret, and no key of a table or a map.
_QUALIFIER = re.compile(
    r"(?i)(?:api|access|secret|private|auth|account|signing|encryption|licen[sc]e|client|master"
    r"|service|shared|storage|subscription|webhook|function|session)(?:[ _.-]?access)?[ _.-]?$"
)
#: A value is judged by so many characters, and so many nouns inside one value are looked at.
_JUDGED = 256
_NESTED = 8

_PIN = re.compile(
    r"(?:(?<![A-Za-z0-9_])PIN(?![A-Za-z0-9_])"
    r"|(?i:\b(?:my|the|your|his|her|our|card|phone|door|alarm) pin\b)"
    r"|(?i:\bpin (?:code|number)\b))(?: ?码)?(?: for [\w ]{1,30}?)?\s{0,3}"
    r"(?:is|was|[:：=]|是|为)\s{0,3}[\"'“]?(?P<v>\d{4,8})(?![\w.]|-\d)"
)
_FLAG = re.compile(
    r"(?<!\S)--?(?:password|passwd|pass|token|api-?key|secret|passphrase)[= ]"
    r"(?P<v>[^\s\"'`]{4,256})",
    re.IGNORECASE,
)
#: Commands that take a password behind a short flag: words of the line, and the pattern.
_NO_PORT = r"(?!\d[\d.]*:\d|\d{2,5}(?!\S))"
_COMMANDS = tuple(
    (
        words,
        re.compile(rf"\b(?:{commands})\b[^\n]{{0,200}}?\s{flag}{_NO_PORT}(?P<v>[^\s\"']{{3,128}})"),
    )
    for words, commands, flag in (
        (("-u",), "curl|wget|https?", r"(?:-u[ =]?|--user[ =])[\"']?[^\s:\"']{1,64}:"),
        (("sshpass",), "sshpass", r"-p ?[\"']?"),
        # With a space, what follows is the name of a database.
        (("mysql", "mariadb"), r"(?:mysql|mariadb)(?:[-_]?[a-z]{1,12})?", r"-p[\"']?"),
        (("mongo",), r"mongo(?:sh|dump|restore|export|import)?", r"-p ?[\"']?"),
        (("redis-cli",), "redis-cli", r"-a ?[\"']?"),
        (("login",), r"(?:docker|podman|nerdctl|helm|oras) [a-z ]{0,12}login", r"-p ?[\"']?"),
        (("smb", "rpcclient"), r"smb[a-z]{3,8}|rpcclient", r"-U ?[\"']?[^\s%\"']{1,64}%"),
    )
)
_AS_PASSWORD = re.compile(
    r"\b(?:use|with|set|try|enter|type)\s[\"'`“]?(?P<v>[^\s\"'`”]{4,128})[\"'`”]?\s"
    r"(?:as|for)\s(?:the|my|your|our|a|its)\s(?:\w{1,20}\s){0,2}?(?:password|passphrase|passcode)\b",
    re.IGNORECASE,
)
_SETTING = re.compile(
    r"(?m)^[ \t]{0,16}(?:export |set |ENV |- )?"
    r"[A-Z][A-Z0-9_]{0,64}_(?:KEY|SECRET|TOKEN|CREDENTIALS?)"
    r"[ \t]{0,4}[=:][ \t]{0,4}[\"']?(?P<v>[^\s\"']{12,4096})"
)

#: From an English noun to what is said of it.
_LINK = re.compile(
    r"""(?ix)
    (?P<of> [ ](?:for|of|to|on|at|in|is[ ]used[ ]for)[ ][^\n,;:=?!，。："'%()\[\]{}]{1,60}? )?
    (?: (?P<stated> (?:['’]s | [ ]{1,3} (?:is|was|are|becomes|became|equals|will[ ]be))
            (?:[ ](?:now|still|currently|simply|just|always|actually|set[ ]to|changed[ ]to))?
            (?:[ ]{0,2}[:：=])?
          | [ ]{1,3} (?:(?:has[ ]been|is[ ]now)[ ])?(?:changed|set|reset|updated|rotated)[ ]to
          | [ ]{0,2}：
          | [ ]? (?:是|为|叫|改成|改为|换成|设为|设成|设置为|就是) )
      | (?P<assigned> \\{0,3}["'\]]{0,3} [ \t]{0,8} (?:->|=>|:=|={1,3}|:) ) )
    [ \t]{0,8}
    """
)
_ZH_LINK = re.compile(
    r"""(?x)
    (?P<of> [（(][^\n()（）]{1,20}[)）] )?
    (?: (?P<stated> [ ]? (?:现在|目前|已经|已|就|都|还|统一)? [ ]?
            (?:是|为|叫做?|改成|改为|换成|更新为|设为|设成|设置为|设置成|用的是|等于|[:：])
            [ ]? [:：]? )
      | (?P<assigned> \\{0,3}["'\]]{0,3} [ ]{0,4} (?:=>?|:) )
      | (?P<none> [ ]{1,2} ) )
    [ ]{0,4}
    """
)
_NO_LINK = re.compile(r"(?P<none>[ ]{1,2})(?=[\"'`]?[^\s\"'`]*\d)")

_QUOTED = re.compile(
    r"""(?x)
    (?P<open> \\{0,3}["'`] ) (?P<v> (?:(?!(?P=open))[^\n]){1,4096}? ) (?P=open)
    | [“「『‘] (?P<zh> [^\n”」』’]{1,256} ) [”」』’]
    """
)
_WORD = re.compile(r"[^\s\"'`<>“”‘’「」『』\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]{1,4096}+")
_TRAILING = ".,;:!?)]}\\…"
_LAST = re.compile(r"[ \t]*(?:$|[\n.,;:!?)\"'`，。；！？：）、”]|\Z)")
_MORE_WORDS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+){1,11}(?=[ \t]*(?:[\n.,;!?\"]|\Z))")
_ZH_PROSE_AFTER = re.compile(
    r" ?(?:加密|哈希|散列|编码|解密|格式|算法|存|位|个|次|天|年|月|开头|结尾|以|生成|类型|签名"
    r"|认证|登录|管理|保护)"
)
_ZH_WORDS = re.compile(
    r"(?:口令|暗号)(?:现在|就)?(?:是|为|改成|改为|[:：]) ?"
    r"(?P<v>[\u4e00-\u9fff]{3,10})(?=[\s，。！？；、]|\Z)"
)
_ZH_PROSE = re.compile(
    r"[的了必需要请见无未不已在由用应存可与和或后前没每从到给让被把为是怎什哪谁吗呢吧项种类空错对强弱密码明]"
)

_KINDS = {"strong": "password", "phrase": "passphrase", "key": "api-key", "weak": "token"}


def find_sayings(text: str, low: str) -> Iterator[Span]:
    """Yield every value in ``text`` of which something says that it is secret.

    ``low`` is ``text`` folded.
    """
    inspected = nested = 0
    # Up to three line breaks may stand before what makes "pass" a noun.
    for match in matches(_NOUN, text, lines_with(low, _NOUN_WORDS, after=4)):
        nested = nested + 1 if match.start() < inspected else 0
        if nested > _NESTED:
            continue
        noun, at, stated, bare = _led_to(text, match)
        if not at:
            continue
        found = _value_at(text, at, noun, stated=stated, bare=bare)
        if found.secret:
            yield Span(at + found.start, at + found.end, _KINDS[noun])
        if not nested:
            inspected = at + found.end
    yield from _other_sayings(text, low)
    yield from _on_command_lines(text, low)


def _other_sayings(text: str, low: str) -> Iterator[Span]:
    for match in matches(_PIN, text, lines_with(low, ("pin",), after=7)):
        yield Span(match.start("v"), match.end("v"), "pin")
    for match in matches(_ZH_WORDS, text, lines_with(low, ("口令", "暗号"), after=1)):
        if not _ZH_PROSE.search(match["v"]):
            yield Span(match.start("v"), match.end("v"), "password")
    for match in matches(_SETTING, text, lines_with(low, _SETTING_WORDS)):
        if is_value(match["v"], "weak", quoted=False, last=True, stated=False):
            yield Span(match.start("v"), match.end("v"), "token")
    as_password = lines_with(low, ("password", "passphrase", "passcode"), before=8)
    for match in matches(_AS_PASSWORD, text, as_password):
        yield from _password(match, last=False)


def _on_command_lines(text: str, low: str) -> Iterator[Span]:
    for match in matches(_FLAG, text, lines_with(low, _FLAG_WORDS)):
        yield from _password(match, last=False)
    for words, pattern in _COMMANDS:
        for match in matches(pattern, text, lines_with(low, words, before=1)):
            yield from _password(match, last=True)


def _password(match: re.Match[str], *, last: bool) -> Iterator[Span]:
    value = match["v"].rstrip(_TRAILING)
    if is_value(value, "strong", quoted=False, last=last, stated=True):
        yield Span(match.start("v"), match.start("v") + len(value), "password")


def _led_to(text: str, match: re.Match[str]) -> tuple[Noun, int, bool, bool]:
    """Return what kind of noun this is and where its value begins (0: it has none).

    Also whether a sentence states the value, and whether nothing but a space leads to it.
    """
    noun: Noun = match.lastgroup  # type: ignore[assignment]  # the groups are the nouns
    chinese = not match[0].isascii()
    if not chinese:
        if not _stands_alone(text, match, noun):
            return noun, 0, False, False
        qualified = match[0][0] in "KkSs" and _QUALIFIER.search(
            text[max(0, match.start() - 32) : match.start()]
        )
        if qualified:
            noun = "key"
        elif noun == "key":
            return noun, 0, False, False
    link = (_ZH_LINK if chinese else _LINK).match(text, match.end())
    if link is None and noun in ("strong", "key") and not chinese:
        link = _NO_LINK.match(text, match.end())
    if link is None:
        return noun, 0, False, False
    groups = link.groupdict()
    return noun, link.end(), bool(groups.get("stated")), bool(groups.get("none"))


def _stands_alone(text: str, match: re.Match[str], noun: Noun) -> bool:
    """Say whether a noun is a word or the last part of a name, and not the beginning of one."""
    before = text[max(0, match.start() - 1) : match.start()]
    after = text[match.end() : match.end() + 1]
    if after and after.isascii() and (after.isalnum() or after in "_-"):
        return False
    if noun in ("strong", "phrase") and len(match[0]) > 4:
        return True
    return not (before.isascii() and before.isalpha() and match[0][0].islower())


@dataclass(frozen=True)
class _Value:
    """A value that was looked at, from where it was looked for."""

    start: int
    end: int
    secret: bool


def _value_at(text: str, at: int, noun: Noun, *, stated: bool, bare: bool) -> _Value:
    quoted = _QUOTED.match(text, at)
    if quoted is not None:
        name = "zh" if quoted["zh"] else "v"
        value = quoted[name][:_JUDGED]
        # In Chinese, words in quotation marks after "the password is" are the password.
        spoken = bool(quoted["zh"]) and not value.isascii() and noun in ("strong", "phrase")
        secret = (spoken and not _ZH_PROSE.search(value)) or is_value(
            value, noun, quoted=True, last=True, stated=stated
        )
        return _Value(quoted.start(name) - at, quoted.end(name) - at, secret)
    word = _WORD.match(text, at)
    if word is None:
        return _Value(0, 0, False)
    value = _trimmed(text, word, stated)
    end = at + len(value)
    if not value or _ZH_PROSE_AFTER.match(text, end):
        return _Value(0, len(value), False)
    judged = value[:_JUDGED]
    if bare:
        secret = is_random(judged, 6) and is_value(
            judged, "strong", quoted=False, last=True, stated=False
        )
        return _Value(0, len(value), secret)
    last = _LAST.match(text, end) is not None
    if is_value(judged, noun, quoted=False, last=last, stated=stated):
        return _Value(0, len(value), True)
    words = _MORE_WORDS.match(text, at) if noun == "phrase" else None
    if words and is_passphrase(words[0]) and not is_placeholder(words[0]):
        return _Value(0, words.end() - at, True)
    return _Value(0, len(value), False)


def _trimmed(text: str, word: re.Match[str], stated: bool) -> str:
    """Return a value without what follows it: punctuation, the next field or parameter."""
    value = word[0]
    if not stated:
        value = re.split(r";(?=$|[A-Za-z ]+=)", value, maxsplit=1)[0]
        head = text[max(0, word.start() - 40) : word.start()]
        if re.search(r"[?&][\w.-]*=$", head):
            value = re.split(r"[&#]", value, maxsplit=1)[0]
        value = value.removesuffix(",")
    trimmed = value.rstrip(_TRAILING)
    # A sentence ends in one mark; "P@ss!" in a line of settings keeps its own.
    if not stated and value[len(trimmed) :] in ("!", "?", "."):
        return value
    return trimmed
