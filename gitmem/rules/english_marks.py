"""What opens, closes and speaks against a statement in English.

The patterns are applied to the masked text of one sentence, at most 600 characters long.
"""

from __future__ import annotations

import re

from gitmem.rules.english import CLAUSE
from gitmem.rules.grammar import Guard, Lazy, guard

_R = r"(?:please )?(?:remember|keep in mind|bear in mind|don't forget|do not forget|note down)"
#: What opens an explicit request; the rest of the sentence is what to remember.
REQUEST = Lazy(
    rf"(?:i(?:'d| would) like you to |i want you to |you should |you must )?{_R}"
    r"(?:,? (?:that|this)(?: for (?:later|the future|next time))?[,:]? (?!this\b|that\b)"
    r"|\s?[:—–-] ?"
    r"|, |(?: for (?:later|the future))[,:]? (?:that )?| (?=(?:i|we|my|our|all|every|never"
    r"|always)\b)"
    r"| to (?=(?:always|never)\b)"
    r"| to (?=.*\b(?:whenever|when you|every time|before every|before each|after every|after each"
    r"|each time)\b))"
    r"|(?:please )?(?:make a note|take note|note|please note)(?: (?:for (?:the future"
    r"|later)|in memory))"
    r"?(?<!note)[,:]? (?:that )?|(?:please )?make a (?:mental )?note (?:of this: |that )"
    r"|(?:just )?for (?:the )?future(?: reference)?[,:] |for all future [\w ]{2,30}[,:] "
    r"|(?:starting now|from (?:now|here|today|this point) (?:on(?:wards?|ward)?)|from today"
    r"|going forward|henceforth)[,:]? "
    r"|in (?:the )?future[,:]? (?=(?:always|never|please|use|don't|do not|write|run|ask"
    r"|add|make)\b)"
    r"|as a (?:general )?rule[,:] |(?:my |our |the )?(?:house |general |standing )?rule[:,] "
    r"|(?:please )?(?:add|save|store|put|write|commit) (?:this |that |it |the following )?"
    r"(?:to|in|into) (?:your |the |long-term )?memory[:,] (?:that )?",
    re.IGNORECASE,
)
#: The same at the end of a sentence.
REQUEST_AT_END = Lazy(
    r"(?:(?:[,;—–]|\s-) (?:so )?(?:please )?(?:remember|keep in mind|note) (?:that|this|it)"
    r"(?: for (?:later|the future|next time))?|[,;—–-]? ?from (?:now|this point|today"
    r"|here) on(?:wards?)?"
    r"|,? ?going forward|,? in (?:the )?future"
    r"|,? for (?:the )?future reference)(?:,? please)?[.!\s]*$",
    re.IGNORECASE,
)
#: A request without content: it is about the sentence before.
BARE_REQUEST = Lazy(
    r"(?:so |and )?(?:please )?(?:remember|note|save|store|keep|memori[sz]e) (?:that|this|it)"
    r"(?: (?:for (?:later|the future|next time|future sessions)|in (?:your )?memory|in mind"
    r"|to (?:your )?memory))?(?:,? please)?[.! ]*$"
    r"|(?:please )?(?:add|save) (?:this|that|it) to (?:your )?memory[.! ]*$",
    re.IGNORECASE,
)
#: After an explicit request: what reads like an order is feedback.
IMPERATIVE = Lazy(
    r"(?:please |to )?(?:always|never|use|run|write|don't|do not|avoid|keep|make|add|ask"
    r"|check|put"
    r"|prefer|stop|start|include|explain|answer|reply|commit|name|format|test|update|show"
    r"|give|call"
    r"|follow|skip|back up|document|squash|sign|pin|wrap|limit|you (?:must|should))\b"
    r"|[\w -]{2,60} (?:must|should|needs? to|ha(?:s|ve) to)\b",
    re.IGNORECASE,
)
ABOUT_ME = Lazy(r"(?:i|i'm|i've|i'd|my)\b", re.IGNORECASE)

LEAD = Lazy(
    r"(?:ok(?:ay)?|so|well|also|and|but|oh|hey|hi|hello|please|btw|by the way|first of all"
    r"|first|second|secondly|finally|lastly|ps|p\.s|fyi"
    r"|yes|yeah|yep|right|thanks|thank you|great|sure|perfect|got it|cool|nice|good|note"
    r"|important"
    r"|reminder|preference|in general|generally|as always|again|personally|for the record|anyway"
    r"|to be clear|just so you know|heads up|decision|rule|exactly|(?:(?:one|another|a"
    r"|last|final|first|next|two|few|some|small|quick|important) )+"
    r"(?:more |last |final )?(?:things?|notes?|points?|rules?|preferences?|requests?"
    r"|remarks?)(?: first| though)?)(?:\s?[,:;.!—–-]+\s*|\s+"
    r"(?=(?:please|remember|never|always|i|we|also|don't|do not|from now)\b))",
    re.IGNORECASE,
)
#: Opens a sentence that corrects what was said.
CORRECTION = Lazy(
    r"(?:(?:oh |oops,? |ah,? |hmm,? )?(?:actually|(?:(?:one|a|small|quick|another"
    r"|minor) )*correction|scratch that|strike that|sorry"
    r"|my mistake|my bad|on second thoughts?|edit|update|no wait|wait|wait no"
    r"|no,? actually|no|nope"
    r"|i (?:was wrong|misspoke|meant|mean)|i(?:'ve| have)? changed my mind|change of plans?"
    r"|never ?mind(?: that)?|forget that|let me correct (?:that|myself)|i stand corrected"
    r"|make that|not quite)\s?[,:;.!—–-]+\s*|i meant (?:to say )?|actually |make that )"
    r"(?:and |but |no, |actually,? |sorry, )?",
    re.IGNORECASE,
)
#: Sets one value against another: it may correct what was said.
CONTRAST = Lazy(
    (
        r"(?:it's|it is|that's|that is|(?:the|our|my) [\w -]{2,40} (?:is"
        r"|are)) [^,]{1,40},? not \S"
    ),
    re.IGNORECASE,
)
#: Withdraws: what was said is not to be kept.
WITHDRAWAL = Lazy(
    r"(?:please |just |and |actually,? |no,? |ok(?:ay)?,? |oh,? )*(?:forget (?:that|it"
    r"|what i|about"
    r" (?:that|it|my|what)|i said|the last|everything)|never ?mind|scratch that"
    r"|strike that|ignore"
    r" (?:that|what i|my (?:last|previous))|disregard|just kidding|only kidding|jk\b|kidding"
    r"|i(?:'m| was) (?:just |only )?(?:kidding|joking)|i take (?:that|it) back"
    r"|i didn't mean (?:that|it)"
    r"|don't (?:remember|save|store|record|note|memori[sz]e)|do not (?:remember|save|store|record"
    r"|memori[sz]e)|i (?:don't|do not) want (?:you to|this|that|it"
    r"|any of)[^.]{0,20}? ?(?:remember|sav|stor"
    r"|keep|record|memor)\w*|no need to (?:remember|save|note|store|record)"
    r"|(?:you )?(?:don't|do not)"
    r" (?:need|have) to (?:remember|save|note|store)|not any ?more|leave (?:that|it) aside"
    r"|cancel that"
    r"|on second thoughts?,? (?:no|never mind|leave|drop|skip|don't))",
    re.IGNORECASE,
)

GUARDS: tuple[Guard, ...] = (
    guard(
        "a question",
        r"[?？][\s\"'”’)]*$|^(?:(?:and|but|so|or|hey|ok|also),? )*(?:(?:should|do|does|did|can"
        r"|could"
        r"|would|will|is|are|am|shall|may|have|has|isn't|aren't|don't|doesn't|won't) (?:i|we"
        r"|you|it"
        r"|they|there|he|she|this|that|anyone|people|somebody|someone|the)\b|(?:what|why|how"
        r"|where"
        r"|which|who|whose|whether)\b(?!ever))|\b(?:i wonder|wondering (?:if|whether|about)"
        r"|any idea"
        r"|not sure (?:if|whether|what|how)|don't know (?:if|whether)|tell me (?:if|whether"
        r"|why|how)"
        r"|is it true|does it make sense|i(?:'m| am) asking)\b",
    ),
    guard(
        "somebody else's words",
        r"\b(?!i\b|we\b|you\b)[\w.']+ (?:always |once |also |just |keeps? )?(?:says?|said"
        r"|saying|tells?"
        r"|told|claims?|claimed|wrote|writes|suggests?|suggested|recommends?|recommended|thinks?"
        r"|thought|believes?|believed|insists?|insisted|argues?|argued|mentioned|asked|stated"
        r"|states"
        r"|reads|demands?|demanded|advises?|advised|goes:|wants? (?:us|me|you"
        r"|everyone)"
        r"|swears)\b|\b(?:according to|quote|apparently|supposedly|rumou?r has it|i (?:read"
        r"|heard|saw)"
        r"|was told|were told|been told|he|she) (?:that|to|the|we|i|never|always|prefers?"
        r"|likes?|hates?)"
        r"?|\baccording to\b|\b(?:he|she|they) (?:always|never|prefers?|likes?|hates?|decided)\b",
    ),
    guard(
        "words for somewhere else",
        r"^(?:(?:please|now|then|just|also|can you|could you) )*(?:translate|rename|write"
        r"|change|replace|print|type"
        r"|display|render|insert|set|update|make|create|generate|add|summari[sz]e|rewrite"
        r"|correct|proofread|fix|explain"
        r"|say|output|label|title|echo|rephrase|shorten|put)\b[^:：]{0,60}[:：]\s*\S|\b(?:says"
        r"|saying|titled|labell?ed|reading"
        r"|text|string|message|caption|title|label|comment)[:：]\s*\S|\bthe (?:user|customer"
        r"|button|label|tooltip|hero) (?:says|prefers)",
    ),
    guard(
        "denied",
        r"\bnot (?:all|every|any|always|necessarily)\b|\b(?:don't|do not|doesn't|does not"
        r"|didn't|needn't) (?:need|have)"
        r" to\b|\bno need\b|\bno longer\b|\b(?:didn't|did not|never) (?:say|said|mean|meant)\b"
        r"|\bnot true\b|\bi don't (?:always|never)",
    ),
    guard(
        "a place in the work at hand",
        r"\b(?:find|see|check|look at)\b.{0,60}\b(?:bug|error|problem|failure|typo|crash"
        r"|stack ?trace|traceback|exception"
        r"|culprit|fix|diff|function|method|class|definition|implementation)s?\b",
    ),
    guard(
        "a hypothetical",
        r"\b(?:suppos(?:e|ing)|imagine|hypothetical\w*|assum(?:e|ing) (?:we|that|i|you)"
        r"|what if|if only"
        r"|let's say|say we|pretend|in theory|would(?:n't)?(?! like you to)|could have|i wish"
        r"|wishful"
        r"|might|maybe|perhaps|possibly|probably|i (?:think|guess|suppose)|i(?:'m| am) not sure"
        r"|(?:i'm|i am|we're|we are|been|was|were) (?:thinking|considering|tempted|inclined"
        r"|leaning"
        r"|wondering|tossing|debating)|we could|i could|not (?:yet )?decided|(?:haven't"
        r"|have not|hasn't)"
        r" (?:yet )?(?:decided|agreed|settled)|ideally|if (?:we|i|you|they|it|he|she) (?:had"
        r"|were|was"
        r"|used|did|ever|could|didn't|hadn't|wanted|chose|went)|before we decide|(?:until|once"
        r"|when)"
        r" we(?:'ve| have)? decide|in a perfect world|as if)\b|\b(?:i|we|you|they|he|she|it)'d\b"
        r"(?! like you to)",
    ),
    guard("a hypothetical", r"\b(?:if|unless|in case)\b", weak=True),
    guard(
        "a task of the moment",
        r"\b(?:for now|right now|at the moment|for the moment|at present|currently|presently"
        r"|at this"
        r" point|this time|this once|just once|one[- ]off|for the time being|for a (?:bit"
        r"|while|moment"
        r"|minute|day|few)|(?:just |only )?for (?:this|today|tonight|tomorrow)|tonight|tomorrow"
        r"|yesterday|this (?:week|morning|afternoon|evening|month|sprint|session|pr"
        r"|pull request|mr"
        r"|commit|branch|file|function|task|ticket|issue|one|run|round|test|class|module"
        r"|method|line"
        r"|bug|step|script|component|query|page|change|patch|refactor(?:ing)?|release|version"
        r"|example"
        r"|exercise|conversation|chat|demo|build|merge|deploy(?:ment)?|migration|endpoint|feature"
        r"|variable|error|case|table|column|feature|thread|prototype|experiment|spike|draft"
        r"|quarter"
        r"|year)|temporar(?:y|ily)|until (?:the|we|i|you|tomorrow|next|then|further|it|that"
        r"|this|\w+day)"
        r"|till|while (?:we|i|you|the|this|they)|not yet|yet|later|meanwhile|in the meantime|as a"
        r" (?:quick|temporary|stopgap|workaround)|quick (?:fix|hack|test|check)|in progress"
        r"|for the rest of"
        r"|as a test|next step|(?:in|within) the next|(?:these|those) (?:\w+ )?(?:files|tests"
        r"|changes|lines"
        r"|functions|classes|rows|commits|errors|warnings))\b"
        r"|(?<!from )(?<!of )(?<!starting )\btoday\b",
    ),
    guard(
        "about something at hand",
        r"\b(?:never|ever|always|avoid|don't|do not|to) \w+ (?:it|this|that|them|those|these)"
        r"(?=$|[.,;!]|\s(?:again|file|here|there|in|for|to|with|because|please|now|function"
        r"|one)\b)"
        r"|(?<!around )\bhere\b(?!:)|\bthere(?=$|[.!,])|\bthat (?:file|function|test|line"
        r"|class|method"
        r"|variable|button|loop|error|bug|branch|thing|part|change)\b|\bthe (?:other|first"
        r"|second|third"
        r"|last|same|old|new|current|failing|above|below|following) (?:\w+|one)(?=$|[.,;!])",
        weak=True,
    ),
)

_MOMENT = (
    r"(?:for (?:now|the moment|the time being|today|this (?:time|once|pr|task|session|branch))"
    r"|(?:just )?this (?:time|once)|just once|right now|at the moment|temporarily|until further"
    r" notice|today|tonight|meanwhile|in the meantime)"
)
#: Reads like an order without anything that makes it a rule.
WEAK_CUE = Lazy(
    rf"{CLAUSE}(?:don't|do not|avoid|stop|never|always) \w|\bi(?:'d| would) (?:prefer"
    rf"|rather|like)\b"
    r"|^(?:please )?remember\b|\blet'?s go with\b"
    rf"|^{_MOMENT}[,:]? (?:(?:please|just|only|also|let's) )*"
    r"(?!(?:i|we|you|it|he|she|they|that|this|these|those|the|there|my|our|a|an|is|are|was)\b)"
    r"[a-z]+ \w"
    rf"|^(?:please |just )?(?:use|skip|leave|keep|ignore|run|disable|mock|stub|avoid|hard-?code"
    rf"|comment|pin|write|put|add|test|stick|stay|assume|return|log)\b.*\b{_MOMENT}[.!]*$",
    re.IGNORECASE,
)
CUE_WORDS = frozenset(
    """
    actually adopted agreed allergic allowed always am any anymore appreciate aside avoid banned
    based branch call chose colorblind colourblind consult correction dashboard dashboards
    database decided decision despise detest dislike docs documentation don don't editor enjoy
    favor favour find forbidden forget forward future generally going hate i'm instead joking
    kidding language let's lets like limits live lives living located love meant memory mind
    mistake more mostly moved must my name never no normally not note now oops our picked plan
    port prefer prohibited refer remember rule runbook runbooks runs scratch see settled shell
    should sorry speak stand standardise standardising standardize standardizing switched
    meanwhile moment once temporarily time today tonight
    timezone tracked typically use uses usually version wait wiki work years zone
    """.split()  # noqa: SIM905
)

# "since" also tells a time.
REASON = Lazy(
    r"[,;:]?(?:\s[—–-])?\s+(?:\b(?P<why>because(?! of)|since(?! (?:\d|yesterday|last|then"
    r"|monday|the (?:"
    r"beginning|start|last|first)|day|january|version|v\d|20|19|forever|i (?:was|started)"
    r"|we started))"
    r"|as (?=(?:it|they|the|we|i|this|that|our|my|otherwise)\b)|the reason (?:is|being)(?: that)?"
    r"|— reason:)\b|(?P<kept>because of|so that|so (?=(?:we|i|it|they|the|that|nobody"
    r"|everyone|people)\b)"
    r"|in order to|otherwise|or else|to avoid|due to)\b),?\s+",
    re.IGNORECASE,
)
REASON_FIRST = Lazy(
    r"(?:because|since|as)\s(?!\d)(?P<reason>[^,]{4,300}),\s*(?:so )?", re.IGNORECASE
)
REASON_NEXT = Lazy(
    r"(?:(?:that's|this is|it's|that is) )?(?:because|(?:the |my )?reason(?:ing)?(?: is"
    r"| being|:)(?: that)?"
    r"|why[:?])\s*",
    re.IGNORECASE,
)
