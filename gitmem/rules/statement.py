"""What one sentence is: something to remember, a correction, a withdrawal, or to be passed over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from gitmem.domain.session import REDACTION_MARK
from gitmem.domain.text import fold_whitespace, illegal_characters, quote_length, to_nfc
from gitmem.rules import chinese_marks, english_marks, matching
from gitmem.rules.grammar import Rule
from gitmem.rules.matching import HAS_CJK
from gitmem.rules.sentences import IN_QUOTE, Sentence

MIN_QUOTE = 8
MAX_QUOTE = 1000
"""Characters of a quote that evidence may hold, a CJK character counting two."""

MAX_DESCRIPTION = 200
_MAX_END = 100
"""Characters at the end of a sentence in which "please remember that" is looked for."""

_TYPOGRAPHIC = str.maketrans({"’": "'", "\n": " ", "\t": " ", "\r": " ", "\u00a0": " "})
# "Bob: never do that", "User: I like tea": a line of somebody's, unless the word is one of these.
_SPEAKER = re.compile(
    r"(?P<who>[A-Za-z][\w.-]{0,20}(?: [A-Z][\w.-]{0,20})?"
    r"|[\u4e00-\u9fff]{1,4}(?:\s?[A-Za-z]{1,12})?)"
    r"(?: ?[(（][^()（）]{1,20}[)）])?\s?[:：]\s*(?=\S)"
)
_NO_SPEAKER = frozenset(
    """
    note notes rule rules remember correction reminder decision decided preference preferences
    update edit ps fyi important also again convention conventions policy style agreed please
    constraint warning caution todo tip docs documentation memory me actually summary answer
    naming formatting indentation testing tests git commits python sql security database general
    btw one first second third finally 记住 请记住 记一下 请记一下 注意 更正 纠正 规则 决定 约定
    另外 还有 备注 提醒 补充 要求 原则 偏好 最后 总之 结论 重要 说明 对了 以后 文档 规范 习惯
    数据库 测试 提交 命名 代码 缩进 我的习惯 我的偏好 我们决定 麻烦记住 帮我记住 记下来 记下
    修正 订正 应该是 团队约定 约定好 答
    """.split()  # noqa: SIM905
)
_CONJUNCTION = re.compile(
    (
        r"^(?:(?:and|but|so|also|then) (?=\w)|(?:但是?|而且|所以|另外"
        r"|还有)(?=[\u4e00-\u9fff]))"
    ),
    re.IGNORECASE,
)
# Openings of a correction that also open other sentences.
_WEAK_MARK = re.compile(
    (
        r"(?:oh |hmm,? |ah,? )?(?:actually|wait|sorry|edit|update|其实|实际上|等等|等下|抱歉"
        r"|不好意思|算了|应该)"
    ),
    re.IGNORECASE,
)
_CAPITALISED = frozenset(
    """
    i we we're it's i'm i've we've they you the a an our my all every each any never always do
    don't avoid use please in on when whenever before after for if see make keep write run let's
    no it that this commit ask add put force migrations deployments
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Statement:
    """Something a person stated: tidied, without its reason, with the verbatim quote.

    ``kind`` and ``type`` are empty where it means nothing without what it corrects.
    """

    kind: str
    type: str
    text: str
    reason: str
    quote: str
    corrects: bool = False
    strongly: bool = False
    withdraws: bool = False

    @property
    def description(self) -> str:
        """One line of at most 200 characters: the statement itself, cut at a word if need be."""
        if len(self.text) <= MAX_DESCRIPTION:
            return self.text
        head = self.text[: MAX_DESCRIPTION - 1]
        cut = max(head.rfind(mark) for mark in " ，、；,")
        return head[: cut if cut > MAX_DESCRIPTION // 2 else None].rstrip() + "…"

    @property
    def body(self) -> str:
        """The statement as a sentence, and why, if the person said why."""
        body = as_sentence(self.text)
        return f"{body}\n**Why:** {as_sentence(self.reason)}" if self.reason else body


@dataclass(frozen=True)
class Judgement:
    """What became of a sentence; ``reason`` says why it was passed over."""

    verdict: Literal["statement", "withdrawal", "request", "reason", "passed", "nothing"]
    statement: Statement | None = None
    reason: str = ""


_NOTHING = Judgement("nothing")


def as_sentence(text: str) -> str:
    """``text`` with the full stop of its script at the end."""
    if not text or text[-1] in ".!?。！？…":
        return text
    return text + ("。" if HAS_CJK.search(text) else ".")


def is_request(sentence: Sentence) -> bool:
    """Whether ``sentence`` only asks to remember what the one before it says."""
    if sentence.aside or len(sentence.text) > _MAX_END:
        return False
    masked = sentence.masked.translate(_TYPOGRAPHIC)
    return bool(
        english_marks.BARE_REQUEST.match(masked)
        or (not masked.isascii() and chinese_marks.BARE_REQUEST.fullmatch(masked))
    )


def judge(sentence: Sentence, *, requested: bool = False) -> Judgement:
    """Tell what ``sentence`` is.

    ``requested``: the next sentence asks to remember it.
    """
    if not requested and not matching.has_cue(sentence.text):
        return _NOTHING
    plain = sentence.text.translate(_TYPOGRAPHIC)
    if sentence.aside:
        words = plain.lstrip(" >|#/*+-$")
        return _passed(sentence.aside) if matching.is_candidate(words) else _NOTHING
    if is_request(sentence):
        return Judgement("request")
    masked = sentence.masked.translate(_TYPOGRAPHIC)
    return _Reader(sentence, plain, masked, requested).judge()


def reason_of(sentence: Sentence) -> str:
    """The reason that a sentence beginning with "Because" or 原因是 gives, or ""."""
    if sentence.aside or sentence.masked.rstrip().endswith(("?", "？")):
        return ""
    opening = matching.REASON_NEXT.match(sentence.text)
    if not opening or matching.is_candidate(sentence.text[opening.end() :]):
        return ""
    return bare(sentence.text[opening.end() :]) if _unquotable(sentence.text) == "" else ""


def _passed(reason: str) -> Judgement:
    return Judgement("passed", reason=reason)


def quotable(text: str) -> bool:
    """Whether ``text`` may be a quote: 8 to 1000 characters, no secret, nothing hidden."""
    return not _unquotable(text)


def _unquotable(text: str) -> str:
    """Why this text cannot be quoted, or ""."""
    length = quote_length(text)
    if REDACTION_MARK in text:
        return "holds a redacted secret"
    if length < MIN_QUOTE:
        return "too short to quote"
    if length > MAX_QUOTE:
        return "too long for a statement"
    if illegal_characters(fold_whitespace(text), allow_newlines=False):
        return "holds characters that a record may not hold"
    return ""


def bare(text: str) -> str:
    """``text`` on one line, without the punctuation around it."""
    text = to_nfc(fold_whitespace(text)).strip(" ,，;；:：、—–")
    while text and text[-1] in ".。!！,，;；" and not text.endswith(("...", "etc.")):
        text = text[:-1].rstrip()
    return text


def _tidy(text: str) -> str:
    text = _CONJUNCTION.sub("", bare(text))
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.strip(",") in _CAPITALISED else text


_GAP = re.compile(r"\s+")


def _on_one_line(text: str, masked: str) -> tuple[str, str]:
    """Both without double white space, in the same places: patterns are written for one space.

    Between two Chinese characters a line break is none.
    """
    pieces: list[tuple[str, str]] = []
    end = 0
    for gap in _GAP.finditer(masked) if "  " in masked or "\n" in text else ():
        start, stop = gap.span()
        broken = "\n" in text[start:stop]
        if stop - start == 1 and not broken:
            continue
        chinese = broken and HAS_CJK.match(text[start - 1 : start]) and HAS_CJK.match(text, stop)
        pieces += [(text[end:start], masked[end:start]), ("", "") if chinese else (" ", " ")]
        end = stop
    pieces.append((text[end:], masked[end:]))
    return "".join(t for t, _ in pieces), "".join(m for _, m in pieces)


class _Reader:
    """Takes one sentence apart: openings from the left, the reason from the right."""

    def __init__(self, sentence: Sentence, plain: str, masked: str, requested: bool) -> None:
        self.sentence = sentence
        self.plain = plain
        self.text, self.masked = _on_one_line(sentence.text, masked)
        self.start = 0
        self.end = len(self.masked)
        self.requested = requested
        self.corrects = False
        self.strongly = False
        self.withdraws = False

    def judge(self) -> Judgement:
        speaker = _SPEAKER.match(self.masked)
        theirs = speaker is not None and not _is_heading(speaker["who"])
        self._open()
        if self._only_withdraws():
            return Judgement("withdrawal")
        if not (self.requested or self.corrects or self._may_state()):
            return self._no_rule(self._rest())
        core, reason = self._split_reason()
        rule = matching.find_rule(core)
        self.corrects = self.corrects or matching.contrasts(core)
        wanted = self.requested or matching.from_now_on(core)
        if not (rule or wanted or self.corrects):
            return self._no_rule(core)
        if theirs and (rule or wanted):
            return _passed("somebody else's words")
        against = self._guarded(core, wanted)
        if against or not self._says_something(rule, core):
            return _passed(against) if against and (rule or wanted) else _NOTHING
        unfit = _unquotable(self.sentence.text)
        if unfit:
            return _passed(unfit) if rule or wanted else _NOTHING
        return Judgement("statement", self._statement(rule, core, reason, wanted))

    def _may_state(self) -> bool:
        """Whether it is worth while to take off the reason and look closer."""
        rest = self._rest()
        return bool(
            matching.find_rule(rest) or matching.contrasts(rest) or matching.from_now_on(rest)
        )

    def _rest(self) -> str:
        return self.masked[self.start : self.end]

    def _open(self) -> None:
        """Take off "ok,", "actually,", "please remember that" and the like, in any order."""
        for _ in range(8):
            rest = self._rest()
            request = matching.REQUEST.match(rest)
            correction = matching.CORRECTION.match(rest)
            lead = matching.LEAD.match(rest)
            taken = request or correction or lead
            if taken is None or not taken.end():
                break
            self.requested = self.requested or taken is request
            if taken is correction:
                self.corrects = True
                self.strongly = self.strongly or not _WEAK_MARK.match(taken.group())
                self.withdraws = self.withdraws or bool(matching.WITHDRAWAL.match(rest))
            self.start += taken.end()
        rest = self._rest()
        at_end = matching.REQUEST_AT_END.search(rest, max(0, len(rest) - _MAX_END))
        if at_end and at_end.start() > 0:
            self.requested = True
            self.end = self.start + at_end.start()

    def _only_withdraws(self) -> bool:
        if self.requested:
            return False
        return bool(matching.WITHDRAWAL.match(self._rest())) or (
            self.withdraws and not self._rest().strip(" .。!！,，")
        )

    def _split_reason(self) -> tuple[str, str]:
        rest = self._rest()
        first = matching.REASON_FIRST.match(rest)
        if first and matching.find_rule(rest[first.end() :]):
            begin = self.start + first.start("reason")
            reason = self.text[begin : self.start + first.end("reason")]
            self.start += first.end()
            return self._rest(), bare(reason)
        for pattern in (english_marks.REASON, chinese_marks.REASON):
            found = pattern.search(rest)
            if found and quote_length(rest[: found.start()].strip()) >= MIN_QUOTE:
                tail = rest[found.end() :]
                if len(tail.strip(" .。!！")) < 2 or matching.is_candidate(tail):
                    continue
                begin = self.start + (found.end() if found["why"] else found.start("kept"))
                reason = self.text[begin : self.end]
                self.end = self.start + found.start()
                return self._rest(), bare(reason)
        return rest, ""

    def _no_rule(self, core: str) -> Judgement:
        cue = matching.WEAK_CUE.search(core)
        if cue:
            return _passed(
                self._guarded(core, False) or "an order, without a word that makes it a rule"
            )
        if QUOTED_WORDS.search(self.masked) and matching.is_candidate(self.plain):
            return _passed(IN_QUOTE)
        return _NOTHING

    def _guarded(self, core: str, wanted: bool) -> str:
        """The reason that speaks against this sentence, or ""."""
        whole = self.masked
        intro = self.sentence.intro
        for check in matching.guards(whole + intro):
            if check.weak and wanted and check.reason == "a hypothetical":
                continue
            # A reason may quote, doubt or suppose; what is stated may not.
            text = core if check.reason in _OF_THE_CORE else whole
            if check.pattern.search(text) or (
                intro and not check.weak and check.pattern.search(intro)
            ):
                return check.reason
        return ""

    def _says_something(self, rule: Rule | None, core: str) -> bool:
        """Whether there is more than "I usually run" or "then yes"."""
        if (rule and rule.kind == "identity") or (self.corrects and not rule):
            return bool(core.strip(" .。!！"))
        return bool(HAS_CJK.search(core)) or len(core.split()) > 2

    def _statement(self, rule: Rule | None, core: str, reason: str, wanted: bool) -> Statement:
        text = _tidy(self.text[self.start : self.end])
        kind, type = (rule.kind, rule.type) if rule else ("", "")
        if not rule and wanted:
            kind, type = "request", _type_of(core)
            if type == "project" and matching.from_now_on(core):
                type = "feedback"
        return Statement(
            kind=kind,
            type=type,
            text=text,
            reason=reason,
            quote=self.sentence.text,
            corrects=self.corrects,
            strongly=self.strongly,
            withdraws=self.withdraws,
        )


_OF_THE_CORE = frozenset(["somebody else's words", "a hypothetical", "about something at hand"])
QUOTED_WORDS = re.compile("\ue001")


def _is_heading(words: str) -> bool:
    """Whether what stands before a colon is "Note" or 另外记住, and not a speaker's name."""
    return words.lower() in _NO_SPEAKER or any(
        not word.isascii() and word in words for word in _NO_SPEAKER
    )


def _type_of(core: str) -> str:
    """The type of what was asked to be remembered, where no rule tells it."""
    if matching.ABOUT_ME.match(core):
        return "user"
    if matching.IMPERATIVE.match(core):
        return "feedback"
    return "project"
