"""Where a person's text goes over into somebody else's: a report, a label, something to review.

What a page, a log or a colleague said must not become the person's rule, so everything that
follows such an opening in its part is taken for pasted. A rule that is lost to that is listed as
passed over; a rule that was never the person's would be kept. All patterns are linear: they
look at one line of bounded length.
"""

from __future__ import annotations

import re

from gitmem.rules.grammar import Lazy

MAX_LINE = 600
"""Characters of a line in which an opening is looked for."""

# What stands before the colon is one sentence; the dot of a file name ends none.
_ON = r"(?:[^:：.!?。！？\n]|\.(?=\w))"
# Not the colon of an address, a line number or a time.
_COLON = r"(?:：|:(?=\s|$|[^\x00-\x7f\d]))"
_RULED = r"[ \t]{0,8}(?:#{1,6}|={2,}|-{2,}|\*{2,}|_{2,})\s{0,4}"
_START = r"(?:^|(?<=[.!?。！？;；,，])\s?)[ \t]{0,8}(?:[-*>#] )?"
# "Review this and remember: ..." is the person's own request.
_OWN = (
    r"(?:remember|keep in mind|note|rules?|from now on|going forward|记住|记一下|记下来?|以后|今后)"
)
_MAIL_HEAD = Lazy(r"(?:From|Subject|Sent|发件人|主题)[:：]|\s*-{2,} ?(?:Forwarded|Original)")

_REPORTED = Lazy(
    # by somebody named: "The README says: ...", 日志里写着：
    r"(?<!\bi )(?<!\bwe )(?<!\bi've )(?<!\bi just )\b(?:says|said|wrote|reads|writes"
    r"|told (?:me|us|everyone)|tells (?:me|us)|printed|prints|posted|answered|replied|suggests"
    rf"|recommends|states|stated|shows|mentions|claims|demands|requires)\b{_ON}{{0,40}}{_COLON}"
    rf"|\b(?:according to|(?:my|our|the) (?:boss|manager|lead|colleagues?|coworkers?|team lead|cto"
    rf"|ceo|client|customer)\b){_ON}{{0,40}}{_COLON}"
    rf"|(?:根据|按照?|据){_ON}{{0,6}}(?:网页|页面|网站|官网|文档|说明|手册|教程|readme|邮件|公告|通知)"
    rf"{_ON}{{0,8}}{_COLON}"
    r"|(?:网页|页面|网站|网上|官网|日志|报错|弹窗|文档|说明|手册|教程|readme|文章|博客|邮件"
    r"|消息|短信|群里|群聊|公告|通知|评论|帖子|论坛|工单|报告|屏幕|终端|控制台|界面|系统|工具"
    r"|输出|提示|有人|别人|他们?|她们?|它|老板|领导|经理|主管|组长|同事|客户|用户|朋友"
    r"|老师|作者|官方|书)"
    rf"{_ON}{{0,20}}?(?:写着|写道|写的|写|显示|提示|说|讲|提到|要求|建议|回复|告诉我们?|表示|规定)"
    rf"(?:的?是|了|过|着|道)?\s?{_COLON}"
    rf"|\b[a-z][\w.-]{{1,30}}{_ON}{{0,8}}?(?:写着|写道|写的是|显示|说|讲|提到)\s?{_COLON}",
    re.IGNORECASE,
)

_LABEL = Lazy(
    rf"{_START}(?:\*\*)?(?:(?:(?:web|search|tool|google|bing|page|api|command|shell|terminal"
    r"|console|bash|build|test|ci|program|function|server|fetch|query)[ _-]){0,2}"
    r"(?:results?|outputs?|logs?|stdout|stderr)"
    r"|(?:web|search|tool|api|server|page|function)[ _-](?:responses?|contents?|snippets?|text)"
    r"|(?:网页|网络|网上|联网|工具|命令行?|终端|控制台|程序|运行|执行|测试|构建|系统|服务器?|接口"
    r"|搜索|检索|查询|返回|调用){0,3}(?:结果|输出|日志|报错信息|报错|错误信息|返回内容"
    r"|网页内容|页面内容)(?:是|为|如下|显示)?)"
    rf"(?: ?[#(（]?\d{{1,3}}[)）]?)?(?:\*\*)?\s?{_COLON}",
    re.IGNORECASE,
)
_BRACKET = Lazy(r"\s{0,8}[\[【](?P<name>[^\[\]【】/\n]{1,60})[\]】]")
_BRACKET_CLOSE = Lazy(r"[\[【](?:/|end |结束)\s?(?P<name>[^\[\]【】\n]{1,60})[\]】]", re.I)
_BRACKET_LABEL = Lazy(
    r"(?:(?:web|search|tool|page|api|command|shell|terminal|function|begin|start)[ _-]?){0,3}"
    r"(?:results?|outputs?|logs?|responses?|stdout|stderr|tool|document|page|e-?mail|attachment|assistant|system|message)"
    r"(?:[ :#_-].{0,40}|\d{0,3})$"
    r"|(?:工具|搜索|网页|命令|终端|运行|执行|检索|查询|返回|开始){0,3}"
    r"(?:结果|输出|日志|报错|网页|文档|邮件|附件|工具|内容)(?:[ ：:#].{0,40}|\d{0,3})$",
    re.IGNORECASE,
)

_VERB = (
    r"(?:review|summari[sz]e|sum up|translate|explain|proof-?read|rewrite|rephrase"
    r"|paraphrase|reword|simplify|shorten|condense|polish|improve|critique|rate|evaluate|assess"
    r"|analy[sz]e|audit|check|double-check|look (?:at|over|through)|(?:have|take) a look(?: at)?"
    r"|go (?:over|through)|read(?: through| over)?|comment on|give (?:me )?feedback on|edit"
    r"|interpret|digest|outline|tl;?dr|what (?:do you think|are your thoughts)(?: of| about| on)?"
    r"|what(?:'s| is) (?:wrong|the problem) with|thoughts on|feedback on|opinion on"
    r"|what does)"
)
_ASKED = (
    rf"{_START}(?:(?:please|pls|hi|hey|hello|ok|now|then|just|also|and|kindly|quickly|briefly"
    r"|(?:can|could|would|will) you|help me(?: to)?|i(?:'d| would) like you to|i (?:want|need) you"
    rf" to|let's),? ){{0,5}}{_VERB}\b(?! (?:that|if|whether)\b)"
)
_TEXT = (
    r"(?:[\w-]+\.(?:md|mdc|txt|rst|ya?ml|toml|json|html?|pdf|docx?)|prompts?|instructions"
    r"|e-?mails?|mails?|messages?|letters?|docs?|documents?|documentation|text|texts|readme|page"
    r"|website|article|blog|post|posts|paragraphs?|passage|sections?|quote|excerpt|policy|guide"
    r"|guidelines|drafts?|descriptions?|comments?|transcript|thread|conversation|chat|logs?"
    r"|outputs?|reports?|notes|memo|announcement|spec|config|configuration|file|abstract|essay"
    r"|summary|translation|wording|review|reply|response|ticket|snippet|template|cv|resume)\b"
)
_REVIEW = Lazy(
    # "Please review this CLAUDE.md:", with the text on the same line or below
    rf"{_ASKED}(?!{_ON}{{0,80}}\b{_OWN}\s?[:：]){_ON}{{0,100}}{_COLON}"
    # the same without a colon, at the end of its line
    rf"|{_ASKED} (?:{_ON}{{0,40}}\b)?(?:(?:this|these|the following|(?:the )?(?:text )?below)"
    r"(?=\s*$|[.!?,]|\s(?:for|in|into|to|and|please|mean)\b)"
    rf"|(?:this|these|my|our|the following|an?) (?:{_ON}{{0,40}}\b)?{_TEXT})[^:：\n]{{0,80}}$"
    r"|\b(?:here(?:'s|’s| is| are)|this is|these are|below (?:is|are)|i (?:got|found|received))"
    rf" (?:{_ON}{{0,60}}\b)?{_TEXT}(?:[.!]?|[,.;!—–-][^:：\n]{{0,80}}\?)\s*$",
    re.IGNORECASE,
)

_VERB_ZH = (
    r"(?:看一?看|看一?下|看|瞧瞧|翻译|总结|概括|归纳|审阅|审查|审核|检查|校对|校验|润色|改写|重写"
    r"|解释|分析|评价|评审|点评|评估|优化|修改|读一?读|读|阅读|解读|精简|缩写|简化|提炼|复述|过目"
    r"|过一遍|改一?改|提取|提点?意见)"
)
_PLEASE_ZH = (
    r"(?:请你?|你?能|帮忙|帮我?|麻烦你?|劳驾|给我|能不能|能否|可以|可否|你|先|再|来|把|替我"
    r"|我想让你)"
)
_AT_HAND = (
    r"(?:这[个份段封篇些条页则几]?|以下|下面|下列|下文|如下|我的|我们的|我写的|一[个份段封篇])"
)
_TEXT_ZH = (
    r"(?:[\w-]+\.(?:md|mdc|txt|rst|ya?ml|toml|json|html?|pdf|docx?)|提示词?|指令|邮件|信|文档|文章"
    r"|文字|文本|内容|段落|原文|日志|报错|输出|配置|readme|说明书?|通知|公告|合同|帖子|评论|消息"
    r"|聊天记录|对话|周报|报告|草稿|初稿|简历|论文|规范|规则|条款|译文|段?话|句子?|手册|网页|页面"
    r"|文件|prompt|摘要|总结|介绍|文案|稿子|回复|模板)"
)
_ASKED_ZH = (
    rf"{_START}(?:{_PLEASE_ZH}\s?){{1,5}}(?:{_AT_HAND}{_ON}{{0,30}}?)?{_VERB_ZH}"
    rf"|{_START}(?:{_VERB_ZH}(?:一?下|一遍|看|\s?{_AT_HAND})"
    r"|(?:翻译|总结|概括|润色|校对|改写|解释|审阅|点评|看看)(?=\s?[:：]))"
)
_REVIEW_ZH = Lazy(
    rf"(?:{_ASKED_ZH})(?!{_ON}{{0,80}}{_OWN}\s?[:：]){_ON}{{0,60}}{_COLON}"
    rf"|(?:{_ASKED_ZH})(?:一?下|一遍|成\w{{1,6}})?\s?"
    rf"(?:(?:{_AT_HAND})?{_ON}{{0,24}}{_TEXT_ZH}{_ON}{{0,20}}|{_AT_HAND})?[。！？!?吧吗]{{0,3}}\s*$"
    rf"|(?:这是|这里是|以下是|下面是|收到了?|看到了?|找到了?){_ON}{{0,30}}{_TEXT_ZH}"
    r"(?:[。！]?|[，,。！][^:：\n]{0,30}[?？])\s*$",
    re.IGNORECASE,
)

# "Thoughts?", "What do you think?" as the end of a line that is followed by the text.
_OPINION = Lazy(
    r"\b(?:thoughts|opinions|what do you think|what does (?:this|it|that) (?:mean|say)"
    r"|is (?:this|it) (?:true|any good|ok(?:ay)?|right|correct))\s?[?？]\s*$"
    r"|(?:怎么看|觉得怎么样|觉得如何|怎么样|是什么意思|什么意思|在说什么|说了什么|对吗|是真的吗)[?？]\s*$",
    re.IGNORECASE,
)
# A heading or a rule with a label in it: "## Tool output", "=== 搜索结果 ===".
_HEADING = Lazy(rf"{_RULED}(?P<name>[^\n#=*_]{{1,60}}?)\s{{0,4}}(?:[#=*_]+|-{{2,}})?[:：]?\s*$")
# A line that presents somebody else's text below it.
_PRESENTED = Lazy(
    r"\b(?:here(?:'s|’s| is| are| was)|this is|these are|below|following|i got|got this|i found"
    r"|attached|past(?:e|ed|ing)|copied|quoting|forwarding|fwd)\b[^:：]{0,80}"
    r"\b(?:logs?|outputs?|errors?|trace(?:back)?|stack|messages?|e-?mails?|slack|thread|readme"
    r"|docs?|documentation|article|page|wiki|comments?|ticket|issue|report|file|contents?"
    r"|snippet|diff|transcript|guide|manual|post|quote|prompt|config|response|reply|answer|review"
    r"|spec|paste|text|rules from|what)\b[^:：]{0,60}[:：]\s*$"
    r"|\b(?:says|said|wrote|reads|writes|told (?:me|us)|tells (?:me|us)|printed|prints|posted"
    r"|answered|replied|suggests|recommends)\b[^:：]{0,40}[:：]\s*$"
    r"|(?:这是|以下|下面|如下|贴|看到|收到|复制|转发|引用)[^:：]{0,30}"
    r"(?:日志|报错|输出|邮件|文档|原文|内容|聊天记录|消息|文章|评论|代码|文件|手册|回复"
    r"|提示词|帖子|截图)"
    r"[^:：]{0,20}[:：]\s*$"
    r"|^\s*(?:日志|报错|报错信息|输出|原文|邮件|聊天记录|logs?|output|error|readme)\s?[:：]\s*$"
    r"|(?:说|写道|写着|写的是|回复|要求|建议)(?:的?是|了)?[^:：\w]{0,4}[:：]\s*$",
    re.IGNORECASE,
)
_AT_COLON: tuple[Lazy, ...] = (_LABEL, _REPORTED, _PRESENTED)


def pasted_from(line: str) -> int | None:
    """Where in ``line`` somebody else's text begins, which goes on to the end of its part.

    The length of the line where it begins in the next one, None where it does not begin.
    """
    if _MAIL_HEAD.match(line):
        return len(line)
    line = line[:MAX_LINE]
    label = _BRACKET.match(line) or _HEADING.match(line)
    if label and _BRACKET_LABEL.match(label["name"].strip()):
        return label.end()
    patterns = _AT_COLON if ":" in line or "：" in line else ()
    patterns += (_REVIEW, _OPINION) if line.isascii() else (_REVIEW, _REVIEW_ZH, _OPINION)
    return min((m.end() for pattern in patterns if (m := pattern.search(line))), default=None)


def bracketed_until(text: str) -> dict[str, int]:
    """The names that ``[/name]`` closes in ``text``, in lower case, and where each does last."""
    return {_name(match): match.start() for match in _BRACKET_CLOSE.finditer(text)}


def bracket_name(line: str) -> str:
    """The name in the bracket that opens ``line``, in lower case, or ""."""
    bracket = _BRACKET.match(line)
    return _name(bracket) if bracket else ""


def closes(line: str, opened: str) -> bool:
    """Whether ``line`` holds what ends ``opened``: a closing tag, or "[" and a bracket's name."""
    if not opened.startswith("["):
        return opened in line
    return any(_name(match) == opened[1:] for match in _BRACKET_CLOSE.finditer(line))


def _name(bracket: re.Match[str]) -> str:
    return bracket["name"].strip().lower()
