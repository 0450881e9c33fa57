"""Text that gives orders to a model instead of telling it a fact.

A record is data. One that speaks to whoever reads it (approve this, ignore what stood above,
send that file there) waits for a person. A working preference is an order too ("run the tests
before committing"), so the rules look for what no preference needs: to address the memory, its
review or its reader, to move secrets or conversations, to run what comes from the network.

Word lists have holes: other languages, encodings, paraphrases. This is a net under the review,
not a filter that could stand alone. English and Chinese.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from gitmem.domain.injected import INJECTED_TAGS, TOOL_TAGS


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One rule that a text meets. ``line`` counts from 1; ``what`` says what the text does."""

    line: int
    what: str


#: Letters of Greek and Cyrillic that look like Latin ones, after case folding.
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏοαντικρ", "aeopcyxijsdhloavtikp")
#: Marks of Markdown, and the escapes of a quoted string, say nothing and can split a word.
_MARKS = str.maketrans("", "", "*`\\")
_APOSTROPHES = str.maketrans("‘’“”", "''\"\"")

# Where an imperative can begin; "must approve" has a subject and is somebody's rule.
_START = (
    r"(?:^|[.:;!?,\"'(>\-。：；！？，“（] ?|\b(?:please|just|simply|always|automatically|then|now|"
    r"you (?:must|should|can|may|need to|have to)) )"
)
_SENTENCE = r"[^.!?;。！？；]"
_NOT = r"(?:do not|don't|never|must not|should not)"
_READER = (
    r"(?:ai|a\.i\.|llms?|(?:language )?models?|assistants?|"
    r"(?:ai )?(?:coding )?agents?|(?:chat)?bots?|reviewers?|reviewing \w+|claude|chatgpt|gpt)"
)
_URL = r"(?:https?|ftp|wss?)://"
_ADDRESS = (
    rf"(?:{_URL}|[\w.+-]+@[\w-]+\.\w|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|cn|ru|xyz|ai)\b)"
)
_SECRETS = (
    r"(?:api[- ]?keys?|access keys?|private keys?|ssh keys?|(?:access |auth |session )?tokens?|"
    r"passwords?|credentials?|secrets?|cookies|environment variables|env vars|\.env\b|id_rsa|"
    r"~/\.(?:ssh|aws)|keychain)"
)
_PRIVATE = (
    rf"(?:{_SECRETS}|conversations?|transcripts?|chat (?:history|logs?)|messages|user data|"
    r"(?:user |session )(?:inputs?|data|interaction data)|customer (?:data|list)|headers|payloads|"
    r"customer interactions|pii|search queries|query strings|prompts?|source code|codebase|"
    r"stack trace|access logs|application logs|production traffic|memor(?:y|ies))"
)
_SEND = (
    r"(?:send|post|forward|upload|transmit|exfiltrate|leak|e-?mail|mirror|sync|copy|relay|stream|export|"
    r"synced|forwarded|sent|sends|submit|deliver)"
)
_ZH_SECRETS = (
    r"(?:密钥|私钥|密码|口令|令牌|凭证|凭据|环境变量|token|api ?key|\.env|聊天记录|对话记录|"
    r"会话记录|对话内容|用户数据|全部对话|所有对话|记忆内容|源代码)"
)

# Patterns run over case-folded text in which a line end is a space, and over each line alone.

_OVERRIDE = (
    r"\b(?:ignor\w+|disregard\w*|forget|overrid\w+|bypass\w*|discard|neglect|"
    r"(?:do not|don't|stop|never) (?:follow|obey)\w*) "
    r"(?:\w+,? ){0,4}?(?:instructions?|prompts?|directives?|guardrails?|safeguards?|rubrics?)\b",
    r"\b(?:ignor\w+|disregard\w*|forget|overrid\w+|bypass\w*|skip) (?:\w+ ){0,3}?"
    r"(?:previous|prior|above|preceding|foregoing|your|system|developer|safety|content|"
    r"confidentiality|memory|reviewers?|approval) (?:\w+ ){0,2}?"
    r"(?:rules?|guidelines?|polic(?:y|ies)|restrictions?|checks?|messages?|training|verdicts?|"
    r"findings?|filters?|context)\b",
    r"\b(?:ignore|disregard|forget) (?:everything|anything|all|what) (?:\w+ ){0,3}?"
    r"(?:above|before|earlier|previously|so far)\b",
    rf"{_START}(?:ignore|disregard) (?:the |all |any )?(?:above|previous|preceding)\b",
    r"\boverride\s*[:!]",
    r"(?:忽略|无视|忘记|忘掉|不要理会|不必理会|抛开)掉?(?:所有|全部|一切|你)?(?:的)?"
    r"(?:以上|上述|上面|之前|此前|先前|前面)(?!.{0,6}(?:警告|告警|报错|日志|版本|缓存))",
    r"(?:忽略|无视|忘记|忘掉|不要理会|不要遵守|不必遵守|绕过|推翻|覆盖|突破|取代|跳过)"
    r".{0,10}?(?:指令|指示|提示词|系统设定|安全限制|安全策略|安全规则|内容政策|评审标准|审核规则)",
)

_ROLE = (
    r"\byou are (?:now |henceforth )(?:an? |in |the |no longer |free|un)",
    r"\bfrom (?:now|this point) on,? you (?:are|act|will act|have no)\b",
    r"\b(?:you are in|enter|switch to|activate|enable) (?:\w+ )?"
    r"(?:developer|maintenance|debug|god|unrestricted|jailbreak|admin|dan)[- ]mode\b",
    r"\b(?:pretend|act as if) (?:that )?(?:you|there) (?:are|have|is|were)\b",
    r"\b(?:do not|don't|never) refuse\b",
    r"\bact as an? (?:uncensored|unfiltered|unrestricted|evil|malicious)\b",
    r"\b(?:as if you have|you have|with) no "
    r"(?:content policy|filters?|restrictions|rules|limits)\b",
    r"\byou are now [a-z]+ and\b|\byou have been (?:updated|reprogrammed|reconfigured)\b",
    r"\byour (?:new |primary |real |true |core )*(?:directive|objective|mission|rules|purpose)s? "
    r"(?:has|have|is|are|was|were|supersedes?)\b",
    r"\bsupersedes? all (?:prior|previous|earlier|other)\b",
    r"\b(?:jailbreak|unrestricted mode|without (?:any )?(?:restrictions|safety checks)|"
    r"do anything now)\b",
    r"\b(?:safety|content|security) (?:guidelines?|polic(?:y|ies)|rules|checks) "
    r"(?:\w+ ){0,3}?(?:not apply|not meant|disabled|suspended|lifted|void)",
    r"\b(?:exempt from|skip) (?:\w+ ){0,3}?(?:restrictions|safety checks)",
    r"你现在是|从现在(?:开始|起)[，,]?你(?:是|就是|将|要扮演)|你不再(?:是|受)|请?扮演(?:一个|一名)?"
    r"(?:没有|不受|无)|(?:进入|切换到|启用|开启)(?:开发者|维护|调试|无限制|上帝|管理员|越狱)模式|"
    r"不受(?:任何)?(?:限制|约束)|越狱",
)

_PROMPT = (
    r"\b(?:reveal|print|repeat|output|show|leak|display|disclose|dump|return|recite|include|"
    r"change|replace|update|modify)\w* (?:\w+ ){0,4}?"
    r"(?:system|hidden|initial|original|developer) (?:prompt|instructions?|message)\b",
    r"\byour (?:system |initial |hidden )?(?:prompt|instructions)\b",
    r"\binstructions you (?:were|are|have been) given\b|\brepeat the (?:words|text) above\b",
    r"\b(?:your|the) (?:entire |whole |full )?context window\b.{0,30}?"
    r"\b(?:system|message|verbatim)",
    r"(?:输出|泄露|打印|显示|透露|告诉我|重复|复述|公开|修改|替换).{0,6}"
    r"(?:系统提示|提示词|系统指令|初始指令|隐藏指令)|你的(?:系统)?提示词",
)

_APPROVAL = (
    rf"{_START}(?:auto-?)?(?:approve|accept|merge) (?:this|these|it|all|every|everything|"
    r"any|the following|the (?:proposal|change|record|memory|request|diff|items?))\b",
    r"\b(?:always|automatically|auto-?|must be|should be|pre-?|already been|was already) ?"
    r"-?approv(?:e|ed|ing)\b(?! (?:by|plugins?|images?|vendors?|list))",
    r"\b(?:this|the) (?:proposal|record|memory|change set) (?:is|was|has been|must|should|may|"
    r"can|needs?|does not|doesn't)\b",
    r"\b(?:approve|accept) (?:items?|records?|proposals?|memor(?:y|ies)|this)\b",
    r"\breviewers? ?[:,] |\b(?:dear|attention|hey|note to|to the) reviewers?\b|"
    r"\breviewers? (?:must|should|can|may|need) (?:\w+ ){0,2}?(?:approve|accept|ignore|skip)",
    r"\b(?:verdict|decision)[\"']?\s*[:=]\s*[\"']?(?:approve|accept|merge|pass)",
    r"\b(?:approved|reviewed|decided|proposed)-by\s*:|\bproposal-id\s*:",
    r"\b(?:skip|bypass|avoid|omit|disable) (?:the |any |all |human |manual |memory )+"
    r"(?:review|approval|reviewers?)\b",
    r"\bno (?:human |manual |further |user )?(?:review|approval) (?:is |was )?"
    r"(?:needed|required|necessary)",
    r"\b(?:review|approval|memory|merge) policy (?:v?\d+ )?(?:says|now|allows|requires|is)\b",
    r"(?:请|直接|自动|一律|总是|务必|立即|马上|必须|应当|无条件|默认)(?:予以)?(?:批准|放行|同意)",
    r"(?:批准|同意|放行|接受|通过)(?:这个|此|该|本|这条|这项|这份|这些|所有|全部|以下)"
    r"(?:的)?(?:提案|提议|变更|修改|记录|记忆|请求|审核|审查|评审|内容|条目)",
    r"(?:提案|记录|记忆|变更)(?:已经|已|早已)(?:被|经|获|由|通过|得到).{0,8}(?:批准|审核|审查|评审|验证)",
    r"(?:评审|审核|审查|复核)(?:者|员|人|模型)[：:，,]|(?:致|告)(?:评审|审核|审查)(?:者|员|人)?",
    r"(?:跳过|绕过|无需|不需要|不用|免除|省略)(?:人工|人类|用户|任何|所有|记忆)?(?:的)?"
    r"(?:审核|审查|评审|审批|批准)",
    r"(?:评审|审核|审批|记忆)(?:政策|策略|规则)(?:已|现在|规定|允许|要求|改为|更新)",
)

_MEMORY = (
    r"\b(?:save|store|write|add|persist|put|commit|append|record)\b.{0,50}?\b(?:to|in|into) "
    r"(?:your|the (?:agent|assistant|model|ai)(?:'s)?|(?:the |your )?(?:long[- ]term|persistent))"
    r" (?:long[- ]term |persistent )?memor(?:y|ies)\b",
    r"\b(?:update|rewrite|edit|change|clear|reset) (?:your|the (?:agent|assistant|model)'s) "
    r"(?:long-term )?memor(?:y|ies)\b",
    r"\b(?:delete|erase|wipe|clear|overwrite|replace|purge|forget|remove) "
    r"(?:all|any|every|each|your|existing|other|previous|earlier)(?: of)?(?: the| your)?"
    r"(?: other| previous| existing| stored| earlier)* memor(?:y|ies)\b"
    r"(?! (?:cache|pool|page|buffer|leak))",
    r"\bremember (?:this |that )?(?:for|in) (?:all|every|any) future\b",
    r"\b(?:in|to|at the end of) (?:all|every|each) (?:your )?(?:future|subsequent) "
    r"(?:response|reply|summar|report|answer|message)",
    r"(?:写入|保存到|存入|存到|加入|添加到|记入)(?:你的|助手的|模型的)?(?:长期|永久)?记忆",
    r"(?:更新|改写|重置|清空|清除|删除|抹去|抹掉|覆盖)(?:掉)?(?:你的|所有|全部|其他|其它|之前的|已有的)+"
    r"(?:的)?(?:长期)?记忆",
)

_CONCEAL = (
    rf"\b{_NOT} (?:tell|inform|notify|alert|warn|let) (?:the |any |your )?"
    r"(?:user|human|operator|owner|person|anyone|anybody|reviewer|developer)s?\b"
    r"(?! to\b)(?! (?:about )?(?:their|when|if the))",
    rf"\b{_NOT} (?:mention|reveal|disclose|show|report|say) (?:this|it|that|these|any of this)"
    r"(?: \w+)? to\b",
    r"\bwithout (?:telling|informing|notifying|alerting|the knowledge of|the consent of) "
    r"(?:the |any )?(?:user|human|operator|owner|person|anyone)",
    r"\bwithout the (?:user|owner|operator)'s (?:knowledge|consent)",
    r"\b(?:keep|hide|conceal) (?:this|it|that|these)(?: \w+){0,2} from (?:the )?"
    r"(?:user|human|operator|owner|reviewer|person|people|anyone)",
    r"(?:不要|别|不得|切勿|禁止|不能|不可)(?:告诉|告知|通知|提醒|让)(?:任何)?"
    r"(?:用户|人类|任何人|主人|操作者|审核|评审|开发者)(?!.{0,2}(?:自己|手动))",
    r"(?:不要|别|不得|切勿|禁止)向(?:用户|人类|任何人|审核|评审).{0,4}(?:透露|提及|说明|报告|泄露|展示)",
    r"(?:对|向)(?:用户|人类|审核员|评审)(?:保密|隐瞒)|瞒着(?:用户|人|主人|审核)|不让(?:用户|人类)(?:知道|发现)",
)

_COMMAND = (
    r"\b(?:curl|wget|iwr|invoke-webrequest)\b.{1,200}?\| ?(?:sudo )?(?:ba|z|da|k)?(?:sh|iex)\b",
    r"\b(?:curl|wget|iwr|invoke-webrequest)\b.{1,200}?\| ?(?:sudo )?(?:python|perl|ruby|node|iex)",
    r"\b(?:ba|z)?sh (?:-c )?[<\"']?[<$]\((?:curl|wget)\b",
    r"\brm -(?:rf|fr|r -f|f -r)\b|\bmkfs\.|\bdd if=|:\(\)\{ ?:\|:& ?\};:|\bchmod 777 /",
    r"\b(?:run|execute|eval|launch|apply|install|source)\b.{0,80}?\b(?:from|at|hosted at) "
    rf"{_URL}",
    rf"\b(?:fetch|download|check|query|poll)\b.{{0,60}}?{_URL}.{{0,80}}?"
    r"\b(?:and|then) (?:\w+ ){0,2}?(?:apply|run|execute|install|replace|load|follow|download)",
    r"\b(?:download|fetch)(?: it| them)? and (?:run|execute|eval|install|replace|apply)\b",
    r"\bdecode (?:this|it|the|that)\b.{0,60}?\b(?:follow|obey|execute|run|do (?:exactly )?what)\b",
    r"\b(?:run|execute|eval) (?:the |this |these )?(?:following|attached|enclosed|above|below|"
    r"next) (?:shell |bash |sql )?(?:command|script|code|payload|instruction|step)s?\b",
    r"\bexecute (?:any|whatever|arbitrary) (?:\w+ ){0,2}?(?:code|commands?)\b",
    r"\b(?:run|execute) (?:the |this )?(?:shell |bash )?command\b ?[:\"']",
    r"\b(?:call|invoke|use) (?:send|delete|http|exec|upload|shell|transfer)_\w+",
    r"\b(?:call|invoke|use) (?:the )?[\w-]+ tool (?:with|to (?:send|post|delete|run|fetch|"
    r"upload|write|read)|and)\b",
    r"执行(?:以下|下面|下列|如下|这条|这段|该|此|任意|任何)?(?:的)?(?:shell|系统)?"
    r"(?:命令|指令|恶意代码)(?!(?:之)?[前后时行]|的时候)",
    r"(?:运行|执行)(?:以下|下面|下列|如下|这段|任意)(?:的)?(?:脚本|代码|程序)",
    r"(?:下载|获取|拉取|抓取).{0,40}?(?:并|然后|再)(?:立即|直接)?(?:执行|运行|安装)",
    rf"(?:运行|执行|安装).{{0,20}}?{_URL}",
)

_SECRETS_OUT = (
    rf"\b(?:send|post|forward|upload|transmit|exfiltrate|export|leak)\b.{{0,100}}?\bto\b.{{0,60}}?{_URL}",
    rf"\b{_SEND}\b.{{0,80}}?{_PRIVATE}.{{0,80}}?\b(?:to|at|via)\b.{{0,60}}?{_ADDRESS}",
    rf"\b{_PRIVATE}.{{0,60}}?\b{_SEND}\b.{{0,20}}?\bto\b.{{0,60}}?{_ADDRESS}",
    rf"\b(?:send|upload|forward|post|e-?mail|transmit|leak|reveal|dump|steal|harvest|collect)"
    rf"\b(?: \w+){{0,4}}? {_SECRETS}(?!.{{0,30}}\b(?:header|cookie|scanner|scan))",
    r"\bexfiltrat\w+",
    r"\b(?:base64|encode)\b.{0,40}?\b(?:and|then) (?:send|post|append|upload)",
    r"\b(?:cache|write|copy|save|store) (?:all |the )?(?:api )?(?:keys|tokens|credentials|"
    r"passwords) (?:\w+ ){0,4}?(?:in|to|into) (?:\w+ ){0,3}?/tmp",
    r"\buse (?:the|this|these|that|your|his|her|their) (?:api[- ]?key|access token|password|"
    r"credentials?|secret|private key|admin (?:account|password))\b",
    r"\bhidden (?:http|network|api) (?:request|call)\b|\btelemetry module\b",
    rf"(?:发送|上传|转发|提交|同步|泄露|外发|传送|发|传)(?:到|至|给|去).{{0,12}}?{_ADDRESS}",
    rf"(?:发送|上传|转发|提交|同步|外发|传送|传给|发给|发到|传到).{{0,40}}?{_URL}",
    rf"(?:发送|上传|转发|泄露|外发|窃取|收集|导出|传给|发给|发到).{{0,12}}?{_ZH_SECRETS}",
    rf"(?:把|将).{{0,12}}?{_ZH_SECRETS}.{{0,12}}?(?:发送|上传|转发|外发|发给|发到|传到|传给)",
    r"使用(?:这个|该|此|以下|这些|上述)(?:的)?(?:密钥|密码|令牌|api ?key|凭证|凭据|账号)",
)

_ADDRESS_READER = (
    rf"\b(?:note|notice|message|attention|instructions?|important|reminder)s? (?:to|for) "
    rf"(?:any |all |the |every |an? )?{_READER}\b",
    rf"\bif you are (?:an? |the )?{_READER}\b|\bas an ai\b|\bfor {_READER}\)? ?:",
    rf"\b{_READER}s? (?:\w+ ){{0,2}}?(?:reading|processing|parsing|reviewing|summari[sz]ing) "
    r"(?:this|the|these)\b",
    r"\bany ai system\b|\bhereby instructed\b",
    r"\bsystem (?:directive|override|alert|message|instruction|command|notice)s? ?[:>]",
    r"\b(?:new|updated|urgent|secret|hidden) (?:instructions?|directives?|orders?) ?[:>]",
    r"(?:^|[\"'] ?|[.!?] )(?:system|assistant) ?: ",
    r"(?:如果|若)你是(?:一个|一名)?(?:ai|人工智能|语言模型|大模型|助手|智能体|机器人)",
    r"(?:致|告|写给|请)(?:所有|各位)?(?:ai|人工智能|语言模型|大模型|智能体)(?:助手|模型|系统)?"
    r"(?:[：:，,]|注意|必须|须|请)",
    r"系统(?:指令|通知|消息|警告|命令|提示|覆盖)[：:]|新(?:的)?(?:指令|指示)[：:]",
)

_BREAK_OUT = (
    r"</?(?:" + "|".join((*INJECTED_TAGS, *TOOL_TAGS)) + r")\b[^<>]{0,200}>",
    r"</?(?:system|assistant|human|instructions?|proposals?|records?|evidence|transcript|"
    r"memory|memories|prompt|thinking|function_calls|invoke|untrusted\w*)>",
    r"<\|[a-z_ ]{2,40}\|>|\[/?inst\]|<</?sys>>|</s>",
    r"(?:^| )#{2,} ?(?:system|instructions?|assistant|new instructions?) ?:?(?: |$)",
)

#: What a text does, by which patterns it is seen, and whether "never" before it makes it harmless.
_RULES: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    ("it tells its reader to ignore or override something", _OVERRIDE, False),
    ("it gives its reader another role", _ROLE, False),
    ("it asks for the prompt or the instructions of its reader", _PROMPT, False),
    ("it speaks about its own review or approval", _APPROVAL, True),
    ("it gives orders about what is remembered", _MEMORY, False),
    ("it asks to keep something from people", _CONCEAL, False),
    ("it orders a command or a download to be run", _COMMAND, True),
    ("it sends data or secrets away, or uses them", _SECRETS_OUT, True),
    ("it addresses the model that reads it", _ADDRESS_READER, False),
    ("it has marks that could end the block it stands in", _BREAK_OUT, False),
)

# "never run rm -rf" is a prohibition; only these words may stand between, so that "do not
# hesitate to run" is none.
_FORBIDDEN = re.compile(
    r"(?:\b(?:never|do not|don't|must not|should not|may not|cannot|can't|avoid|no|nobody may|"
    r"refuse to)(?: ever| directly| blindly)?|不要|不得|不能|不可|禁止|严禁|切勿|别|绝不|从不|不许)"
    r"(?:再|直接|随便)?(?: ?(?:run|running|use|using|execute|executing|call|calling|pipe|piping|"
    r"type|piped|运行|使用|执行|用|把|将))?(?: the| a| any)? ?\Z"
)


#: What _START may take along before the first word of the order.
_BEFORE = " .:;!?,\"'(>-。"


@cache
def _compiled() -> tuple[tuple[str, tuple[re.Pattern[str], ...], bool], ...]:
    return tuple((what, tuple(map(re.compile, patterns)), no) for what, patterns, no in _RULES)


def find_instructions(text: str) -> tuple[Suspicion, ...]:
    """Return what ``text`` does that only an order to its reader would, one entry a rule.

    The first line is named at which a rule is met; a phrase may go over line ends.
    """
    lines = [_flatten(line) for line in text.split("\n")]
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    pieces = [(0, " ".join(lines)), *zip(starts, lines, strict=False)]
    found = []
    for what, patterns, may_be_forbidden in _compiled():
        places = [
            offset + match.end() - len(match.group().lstrip(_BEFORE))
            for offset, piece in pieces
            for pattern in patterns
            for match in pattern.finditer(piece)
            if not (may_be_forbidden and _is_forbidden(piece, match.start()))
        ]
        if places:
            found.append(Suspicion(bisect_right(starts, min(places)), what))
    return tuple(found)


def _is_forbidden(text: str, position: int) -> bool:
    return _FORBIDDEN.search(text[max(0, position - 60) : position]) is not None


def _flatten(line: str) -> str:
    """Return a line as the patterns want it."""
    folded = unicodedata.normalize("NFKC", line.translate(_APOSTROPHES)).casefold()
    return " ".join(folded.translate(_LOOKALIKES).translate(_MARKS).split())
