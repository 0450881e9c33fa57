"""What the rules know of English: what calls for memory, and what speaks against it.

The patterns are applied to the masked text of one sentence, at most 600 characters long.
"""

from __future__ import annotations

import re

from gitmem.rules.grammar import Guard, Rule, guard, rule

# Where a clause may begin.
_S = r"(?:^|[,;:(—–\"'“‘]\s*|\s-\s|\b(?:and|but|so|then|please|also|just|to)\s+)"
_ADVERBS = (
    r"(?:(?:really|strongly|generally|usually|normally|typically|much|still|personally|always|also"
    r"|definitely|absolutely|mostly|mainly|just|very much|truly|do|tend to) )*"
)
_FREQUENCY = r"(?:always|usually|normally|generally|typically|mostly|mainly|tend to|almost always)"
_POINTING = r"(?:it|this|that|these|those|them|the|your|how|what|where|his|her|their|him|its)\b"
# Verbs of happening and noticing: "I always get this error" tells of a problem, not of a habit.
_HAPPENING = (
    r"(?:get|see|have|end|forget|run into|hit|receive|had|got|saw|thought|wonder\w*|lose|fail"
    r"|struggle|need|know|knew|said|say|find|found|feel|felt|hear|heard|make mistakes|mix up"
    r"|understood|understand|seem|confuse|went|was|were|been|did|made|took|gave|tried|assumed"
    r"|believed|worked|wanted|asked|mean|meant|suspect|has|is|are)\b"
)
_PAST = (
    r"(?:(?!embed|feed|need|seed|exceed|proceed|succeed|shed|shred|speed|bleed|breed)\w+ed|had"
    r"|seen|been|saw|heard|got|knew|known|thought|mind|ending|again|once|did|done|was|were|is|are"
    r"|made|took|gave|went|came|found|said|told|ran|wrote|came|noticed|works|gets|happens"
    r"|returns|fails|stops|ends|runs|sees|finishes|completes|a|the|in|on|fully|quite|really)\b"
)
_HABIT = (
    r"(?:use|want|commit|push|deploy|work|eat|drink|write|touch|merge|rebase|format|put|leave|mix"
    r"|run|store|share|take|open|trust|release|ship|squash|force|edit|change|log|mock|hard-?code"
    r"|amend|skip|drop|delete|install|upgrade|pin|read|accept|schedule|send|call|inline|nest|test"
    r"|document|comment|review|build|import|add|check|save|keep)\b"
)
_ROLE = (
    r"(?:engineer|developer|programmer|designer|scientist|student|teacher|doctor|physician|nurse"
    r"|manager|lead|analyst|researcher|architect|admin(?:istrator)?|consultant|writer|lawyer"
    r"|freelancer|founder|professor|sre|dba|devops|maintainer|accountant|biologist|physicist"
    r"|mathematician|statistician|economist|journalist|translator|vegetarian|vegan|beginner"
    r"|director|cto|ceo|contractor|tester|pilot|musician|photographer|artist|linguist|chemist"
    r"|librarian|parent|native speaker)s?\b"
)
LOCATOR = (
    r"(?:https?://\S|www\.\S|#[a-z][\w-]+|[~.]?/?[\w.-]+/[\w./-]*|[\w-]+\.(?:md|rst|txt|pdf|html?"
    r"|adoc|ya?ml|toml|json|org|com|io|dev|internal|local)\b|\ue000|\ue001"
    r"|(?-i:Confluence|Notion|Grafana|Jira|Linear|Slack|Sentry|Datadog|Kibana|GitHub|GitLab"
    r"|SharePoint|Google (?:Drive|Docs)|Figma|Miro|Trello|Asana|Zendesk|Dropbox|PagerDuty"
    r"|Bitbucket|Looker|Tableau|Metabase|Prometheus|Jenkins|Backstage|Airtable|Teams|Discord"
    r"|Zulip|Redmine|Phabricator|YouTrack|Obsidian|Swagger)\b|(?:the|our) (?:\w+ )?wiki\b)"
)
_PLACE = rf"(?:the |our |a |my )?(?:[\w-]+ ){{0,4}}?{LOCATOR}"
_TOPIC = (
    r"(?:docs?|documentation|run-?books?|play-?books?|wiki|dashboards?|specs?|specification|designs?"
    r"|mock-?ups?|guides?|guidelines?|handbook|manual|logs|metrics|tracker|tickets|bugs|issues"
    r"|backlog|roadmap|schemas?|diagrams?|references?|examples?|templates?|changelog|notes|reports?"
    r"|policy|policies|procedure|checklist|faq|tutorial|catalog(?:ue)?|repo(?:sitory)?|alerts"
    r"|requirements|decisions|ADRs?|contracts?|glossary|contacts|instructions)"
)
# A named thing: capitalised, a version, a number, code.
_NAMED = r"(?-i:[A-Z][\w.+#-]+|v?\d[\w.]*|\ue000+)"

RULES: tuple[Rule, ...] = (
    rule("identity", "user", r"\bi(?:'m| am) (?:currently )?(?:based|located|living) in (?-i:[A-Z])"),
    rule("identity", "user", r"\bi live (?:in|near|outside) (?:the |a )?\w"),
    rule("identity", "user", r"\bi(?:'ve| have)? (?:just |recently )?moved to (?-i:[A-Z])"),
    rule("identity", "user", r"\bi(?:'m| am) (?:a|an|the) (?:[\w/-]+ ){0,4}?" + _ROLE),
    rule("identity", "user", r"\bi(?:'m| am) (?:a |an )?(?:colou?r[- ]?blind|dyslexic|left-handed)"),
    rule("identity", "user", r"\bi(?:'m| am) (?:originally )?from (?-i:[A-Z])"),
    rule("identity", "user", r"\bi(?:'m| am) allergic to \w"),
    rule("identity", "user", r"\bi work (?:at|for) (?:a |an |the )?[\w-]{3}"),
    rule("identity", "user", r"\bi work as (?:a|an|the) \w|\bi work (?:from home|remotely|part[- ]time)"),
    rule("identity", "user", r"\bi work (?:in|on) (?:the )?[\w -]{2,40}\b(?:team|department|timezone)\b"),
    rule("identity", "user", r"(?:^|[,;:]\s*|\band )my (?:full |first )?name(?:'s| is) (?-i:[A-Z])"),
    rule(
        "identity",
        "user",
        r"\bmy (?:time ?zone|native language|mother tongue|first language|pronouns?|job|role"
        r"|job title|profession|editor|ide|shell|operating system|os|keyboard layout|main language"
        r"|terminal|title) (?:is|are) (?!not\b|broken|slow|down)\w",
    ),
    rule("identity", "user", rf"{_S}(?:please )?call me (?-i:[A-Z])"),
    rule("identity", "user", r"\bi (?:only )?speak (?:fluent |native |mostly |only )?(?-i:[A-Z])"),
    rule("identity", "user", r"\bi(?:'ve| have) (?:over |about |more than )?[\w-]+ years(?: of|'|’)"),
    rule(
        "identity",
        "user",
        r"\bi(?:'ve| have) been (?:writing|using|programming|coding|working (?:in|with|as)|doing"
        r"|teaching|maintaining) [^,]{2,60}\bfor (?:over |about |more than )?[\w-]+ years",
    ),
    rule("preference", "user", rf"\bi {_ADVERBS}(?:prefer|favou?r)(?! {_POINTING}) \w"),
    rule(
        "preference",
        "user",
        rf"\bi {_ADVERBS}(?:like|love|enjoy|hate|dislike|despise|detest|can't stand|cannot stand"
        rf"|appreciate)(?! {_POINTING}| to (?:say|ask|bother|break|be|think|interrupt|know)) \w",
    ),
    rule("preference", "user", rf"\bi {_ADVERBS}(?:don't|do not) (?:really )?(?:like|enjoy)(?! {_POINTING}) \w"),
    rule("preference", "user", r"\bi (?:like|love|prefer) (?:the |my )?[\w -]{2,60} (?:over|better than"
         r"|more than|rather than|to be)\b"),
    rule("preference", "user", rf"\bi {_FREQUENCY} (?!{_HAPPENING}|{_PAST})\w"),
    rule("preference", "user", rf"\bi never (?:want to |ever )?{_HABIT}"),
    rule("preference", "user", r"\bmy (?:strong |personal |general )?preference(?: here)? is\b"),
    rule(
        "preference",
        "user",
        r"\bmy (?:preferred|favou?rite|usual|go-to|default) [\w -]{2,40} (?:is|are)\b",
    ),
    rule("preference", "user", rf"\bi(?:'m| am) (?:most )?used to (?!{_POINTING}) ?\w"),
    rule("preference", "feedback", r"\bi(?: always)? (?:want|expect|need|would like) you to"
         r" (?:always|never)\b|\bi never want you to\b"),
    rule("prohibition", "feedback", rf"{_S}never (?:ever |again )?(?!{_PAST}|{_POINTING})[a-z\ue000]"),
    rule("prohibition", "feedback", rf"{_S}(?:don't|do not) ever (?!{_PAST})\w"),
    rule(
        "prohibition",
        "feedback",
        rf"{_S}(?:don't|do not|avoid|stop) (?=.*(?:\bin (?:this|the|our|any) (?:repo|repository"
        r"|project|code ?base|workspace|team|organi[sz]ation)\b|\bin general\b|\bin production\b"
        r"|\bunder any circumstances\b|\bwithout (?:asking|my|a|an|approval|review|permission|tests"
        r"|explicit)\b|\bwhen(?:ever)? you\b|\bdirectly (?:to|on|into|in|from)\b|\banywhere\b"
        r"|\bby hand\b|\bas a rule\b|\bevery time\b|\bon (?:fri|satur|sun|mon|tues|wednes|thurs)days?"
        r"\b|\bin (?:commit messages|tests|unit tests|production code|comments|log messages|logs"
        r"|code reviews?|pull requests|answers|replies|examples|migrations)\b))",
    ),
    rule(
        "prohibition",
        "feedback",
        rf"{_S}(?:don't|do not) use (?!{_POINTING}|any of|my |our |a |an |so |too )"
        r"(?:[\w-]+ ){0,2}?(?:[\w-]{2,}[^\Ws]s|\ue000+)(?=$|[.,;:!]|\s(?:in|for|to|as|at|on|with|because"
        r"|since|when|anywhere|and|or)\b)",
    ),
    rule(
        "prohibition",
        "feedback",
        rf"(?:^|[,;:]\s*|\bplease )avoid (?!{_POINTING}|being|getting|having)(?:\w+ing\b|[\w-]+ )",
    ),
    rule(
        "prohibition",
        "feedback",
        r"\b(?:must|should|may|can|shall) never (?:be |ever )?\w|\bwe never " + _HABIT,
    ),
    rule(
        "prohibition",
        "feedback",
        r"^(?!the |this |that |it )[\w -]{3,60} (?:is|are) (?:strictly |absolutely )?(?:forbidden"
        r"|prohibited|off[- ]limits|not allowed|banned)\b",
    ),
    rule("rule", "feedback", rf"{_S}always (?!{_HAPPENING}|{_PAST}|{_POINTING})[a-z\ue000]"),
    rule("rule", "feedback", r"\b(?:you|we|everyone) (?:must|should|need to|have to|ought to) always \w"),
    rule("rule", "feedback", rf"\bwe always (?!{_HAPPENING}|{_PAST})\w"),
    rule("rule", "feedback", rf"{_S}(?:make sure|be sure)(?: to| you|that you)? (?:always|never)\b"),
    rule(
        "rule",
        "feedback",
        r"^(?:all|every|each|any) (?!of |the )[\w /-]{3,60} (?:must|has to|have to|needs? to|should)"
        r" \w",
    ),
    rule(
        "rule",
        "feedback",
        r"^(?:when|whenever|every time|each time|before|after) you (?!are|have|can|get|come|finish"
        r"|see|find|'re|done|push this)[\w -]{3,80}, (?:always|never|please|make sure|use|run|don't"
        r"|do not|add|check|ask|write|keep|include|explain|show|update|prefer)\b",
    ),
    rule(
        "rule",
        "feedback",
        r"^(?:please )?use (?!the |this |that |these |those |my |your |it )[a-z-]+"
        r"(?: [a-z-]+)?,? (?:not|instead of|rather than|over|and not) [a-z-]+,? (?:for|in|when)"
        r" (?!the |this |that |now|these |those )[a-z]",
    ),
    rule("decision", "project", r"\b(?:we|the team)(?:'ve| have| has)?(?: all| finally| now)? (?:decided"
         r"|agreed)(?: (?:to|on|that|against|not to|in favou?r of|we|for)\b|:)"),
    rule("decision", "project", r"\bi(?:'ve| have)? decided (?:that )?we(?:'ll| will|'re| are| should)"),
    rule("decision", "project", r"\bwe(?:'re| are) (?:going (?:with|for)|standardi[sz]ing on|settling on"
         r"|sticking with|moving (?:everything )?to|migrating to|dropping)"
         rf" (?!{_POINTING}|option|plan)\S"),
    rule("decision", "project", r"\bwe(?:'re| are) going to (?:use|standardi[sz]e on|adopt|keep using)"
         rf" (?!{_POINTING})\S"),
    rule("decision", "project", rf"{_S}let'?s (?:standardi[sz]e|settle) on (?!{_POINTING})\S"),
    rule("decision", "project", rf"{_S}let'?s go with (?:{_NAMED})"),
    rule("decision", "project", rf"{_S}let'?s (?:always|never) \w"),
    rule("decision", "project", r"\bwe (?:went with|chose|picked|settled on|standardi[sz]ed on"
         rf"|(?:have )?switched (?:over )?to|(?:have )?adopted)(?! {_POINTING}) \S"),
    rule("decision", "project", r"\bwe(?:'ve| have) (?:chosen|picked|settled on|standardi[sz]ed on"
         rf"|switched to|moved to|migrated to|adopted|dropped)(?! {_POINTING}) \S"),
    rule("decision", "project", r"\b(?:the|our) (?:final )?(?:decision|plan|choice)(?: now)? is"
         r" (?:settled|final|made|fixed|that|to|:)"),
    rule("decision", "project", r"\b(?:it's|it is|that's) (?:settled|decided|agreed)\b ?[:,]? ?\w"),
    rule(
        "pointer",
        "reference",
        rf"\b{_TOPIC}(?: for [\w -]{{2,40}}?)?(?: (?:is|are|live|lives|sits?|can be found|go|goes)"
        r"|'s)(?: all| now| always)?(?: (?:located|tracked|kept|documented|stored|hosted|published"
        r"|filed|maintained|collected))? (?:at|in|on|under|here:)"
        rf" {_PLACE}",
    ),
    rule("pointer", "reference", rf"\byou(?:'ll| can| will)? (?:can )?find [\w' -]{{3,60}} (?:at|in|on"
         rf"|under) {_PLACE}"),
    rule(
        "pointer",
        "reference",
        rf"{_S}(?:see|check|consult|refer to|look (?:at|in)|read|go to) {_PLACE}\S* (?:for|about|on"
        r"|when|whenever|before) \w",
    ),
    rule("pointer", "reference", rf"^for [\w' -]{{3,60}}, (?:please )?(?:see|check|consult|refer to"
         rf"|look (?:at|in)|read|go to) {_PLACE}"),
    rule("pointer", "reference", rf"\b(?:are|is) (?:tracked|documented|logged|filed) (?:at|in|on|under)"
         rf" {_PLACE}"),
    rule("fact", "project", rf"^(?:in this (?:repo|project),? )?we (?:only |now |mainly )?(?:use|run on"
         rf"|run|target|support|deploy (?:to|on|with)|host (?:on|with)) (?:the )?{_NAMED}"),
    rule("fact", "project", r"^(?:our|the|my) (?:[\w-]+ ){0,4}(?:port|version|branch|database|db|url"
         r"|host|hostname|region|bucket|framework|package manager|cluster|namespace|schema|license)"
         rf" (?:is|runs on|uses|listens on) (?:called |named |on |port )?{_NAMED}"),
    rule("fact", "project", r"^(?:our|the|my) (?:[\w-]+ ){0,3}(?:server|service|database|db|api|cluster"
         r"|app|backend|frontend|queue|cache|production|staging|instance) (?:runs|listens|is) on"
         rf" (?:port )?{_NAMED}"),
    rule("fact", "project", rf"^our (?:[\w-]+ ){{1,3}}(?:is|uses|runs on) {_NAMED}"),
)

_R = r"(?:please )?(?:remember|keep in mind|bear in mind|don't forget|do not forget|note down)"
#: What opens an explicit request; the rest of the sentence is what to remember.
REQUEST = re.compile(
    rf"(?:i(?:'d| would) like you to |i want you to |you should |you must )?{_R}"
    r"(?:,? (?:that|this)(?: for (?:later|the future|next time))?[,:]? (?!this\b|that\b)|\s?[:—–-] ?"
    r"|, |(?: for (?:later|the future))[,:]? (?:that )?| (?=(?:i|we|my|our|all|every|never|always)\b)"
    r"| to (?=(?:always|never)\b)"
    r"| to (?=.*\b(?:whenever|when you|every time|before every|before each|after every|after each"
    r"|each time)\b))"
    r"|(?:please )?(?:make a note|take note|note|please note)(?: (?:for (?:the future|later)|in memory))"
    r"?(?<!note)[,:]? (?:that )?|(?:please )?make a (?:mental )?note (?:of this: |that )"
    r"|(?:just )?for (?:the )?future(?: reference)?[,:] |for all future [\w ]{2,30}[,:] "
    r"|(?:starting now|from (?:now|here|today|this point) (?:on(?:wards?|ward)?)|from today"
    r"|going forward|henceforth)[,:]? "
    r"|in (?:the )?future[,:]? (?=(?:always|never|please|use|don't|do not|write|run|ask|add|make)\b)"
    r"|as a (?:general )?rule[,:] |(?:my |our |the )?(?:house |general |standing )?rule[:,] "
    r"|(?:please )?(?:add|save|store|put|write|commit) (?:this |that |it |the following )?"
    r"(?:to|in|into) (?:your |the |long-term )?memory[:,] (?:that )?",
    re.IGNORECASE,
)
#: The same at the end of a sentence.
REQUEST_AT_END = re.compile(
    r"[,;:—–-]? ?(?:(?:so )?(?:please )?(?:remember|keep in mind|note) (?:that|this|it)"
    r"(?: for (?:later|the future|next time))?|from (?:now|this point|today|here) on(?:wards?)?"
    r"|going forward|in (?:the )?future|for (?:the )?future reference)(?:,? please)?[.!\s]*$",
    re.IGNORECASE,
)
#: A request without content: it is about the sentence before.
BARE_REQUEST = re.compile(
    r"(?:so |and )?(?:please )?(?:remember|note|save|store|keep|memori[sz]e) (?:that|this|it)"
    r"(?: (?:for (?:later|the future|next time|future sessions)|in (?:your )?memory|in mind"
    r"|to (?:your )?memory))?(?:,? please)?[.! ]*$"
    r"|(?:please )?(?:add|save) (?:this|that|it) to (?:your )?memory[.! ]*$",
    re.IGNORECASE,
)
#: After an explicit request: what reads like an order is feedback.
IMPERATIVE = re.compile(
    r"(?:please |to )?(?:always|never|use|run|write|don't|do not|avoid|keep|make|add|ask|check|put"
    r"|prefer|stop|start|include|explain|answer|reply|commit|name|format|test|update|show|give|call"
    r"|follow|skip|back up|document|squash|sign|pin|wrap|limit|you (?:must|should))\b"
    r"|[\w -]{2,60} (?:must|should|needs? to|ha(?:s|ve) to)\b",
    re.IGNORECASE,
)
ABOUT_ME = re.compile(r"(?:i|i'm|i've|i'd|my)\b", re.IGNORECASE)

LEAD = re.compile(
    r"(?:ok(?:ay)?|so|well|also|and|but|oh|hey|hi|hello|please|btw|by the way|one more thing"
    r"|another thing|one last thing|first of all|first|second|secondly|finally|lastly|ps|p\.s|fyi"
    r"|yes|yeah|yep|right|thanks|thank you|great|sure|perfect|got it|cool|nice|good|note|important"
    r"|reminder|preference|in general|generally|as always|again|personally|for the record|anyway"
    r"|to be clear|just so you know|heads up|one thing|decision|rule|exactly)(?:\s?[,:;.!—–-]+\s*|\s+"
    r"(?=(?:please|remember|never|always|i|we|also|don't|do not|from now)\b))",
    re.IGNORECASE,
)
#: Opens a sentence that corrects what was said.
CORRECTION = re.compile(
    r"(?:(?:oh |oops,? |ah,? |hmm,? )?(?:actually|correction|scratch that|strike that|sorry"
    r"|my mistake|my bad|on second thoughts?|edit|update|no wait|wait|wait no|no,? actually|no|nope"
    r"|i (?:was wrong|misspoke|meant|mean)|i(?:'ve| have)? changed my mind|change of plans?"
    r"|never ?mind(?: that)?|forget that|let me correct (?:that|myself)|i stand corrected"
    r"|make that|not quite)\s?[,:;.!—–-]+\s*|i meant (?:to say )?|actually |make that )"
    r"(?:and |but |no, |actually,? |sorry, )?",
    re.IGNORECASE,
)
#: Withdraws: what was said is not to be kept.
WITHDRAWAL = re.compile(
    r"(?:please |just |and |actually,? |no,? |ok(?:ay)?,? |oh,? )*(?:forget (?:that|it|what i|about"
    r" (?:that|it|my|what)|i said|the last|everything)|never ?mind|scratch that|strike that|ignore"
    r" (?:that|what i|my (?:last|previous))|disregard|just kidding|only kidding|jk\b|kidding"
    r"|i(?:'m| was) (?:just |only )?(?:kidding|joking)|i take (?:that|it) back|i didn't mean (?:that|it)"
    r"|don't (?:remember|save|store|record|note|memori[sz]e)|do not (?:remember|save|store|record"
    r"|memori[sz]e)|i (?:don't|do not) want (?:you to|this|that|it|any of)[^.]{0,20}? ?(?:remember|sav|stor"
    r"|keep|record|memor)\w*|no need to (?:remember|save|note|store|record)|(?:you )?(?:don't|do not)"
    r" (?:need|have) to (?:remember|save|note|store)|not any ?more|leave (?:that|it) aside|cancel that"
    r"|on second thoughts?,? (?:no|never mind|leave|drop|skip|don't))",
    re.IGNORECASE,
)

GUARDS: tuple[Guard, ...] = (
    guard(
        "a question",
        r"[?？][\s\"'”’)]*$|^(?:(?:and|but|so|or|hey|ok|also),? )*(?:(?:should|do|does|did|can|could"
        r"|would|will|is|are|am|shall|may|have|has|isn't|aren't|don't|doesn't|won't) (?:i|we|you|it"
        r"|they|there|he|she|this|that|anyone|people|somebody|someone|the)\b|(?:what|why|how|where"
        r"|which|who|whose|whether)\b(?!ever))|\b(?:i wonder|wondering (?:if|whether|about)|any idea"
        r"|not sure (?:if|whether|what|how)|don't know (?:if|whether)|tell me (?:if|whether|why|how)"
        r"|is it true|does it make sense|i(?:'m| am) asking)\b",
    ),
    guard(
        "somebody else's words",
        r"\b(?!i\b|we\b|you\b)[\w.']+ (?:always |once |also |just |keeps? )?(?:says?|said|saying|tells?"
        r"|told|claims?|claimed|wrote|writes|suggests?|suggested|recommends?|recommended|thinks?"
        r"|thought|believes?|believed|insists?|insisted|argues?|argued|mentioned|asked|stated|states"
        r"|quoted?|quotes|reads|demands?|demanded|advises?|advised|goes:|wants? (?:us|me|you|everyone)"
        r"|swears)\b|\b(?:according to|quote|apparently|supposedly|rumou?r has it|i (?:read|heard|saw)"
        r"|was told|were told|been told|he|she) (?:that|to|the|we|i|never|always|prefers?|likes?|hates?)"
        r"?|\baccording to\b|\b(?:he|she|they) (?:always|never|prefers?|likes?|hates?|decided)\b",
    ),
    guard(
        "a hypothetical",
        r"\b(?:suppos(?:e|ing)|imagine|hypothetical\w*|assum(?:e|ing) (?:we|that|i|you)|what if|if only"
        r"|let's say|say we|pretend|in theory|would(?:n't)?(?! like you to)|could have|i wish|wishful"
        r"|might|maybe|perhaps|possibly|probably|i (?:think|guess|suppose)|i(?:'m| am) not sure"
        r"|(?:i'm|i am|we're|we are|been|was|were) (?:thinking|considering|tempted|inclined|leaning"
        r"|wondering|tossing|debating)|we could|i could|not (?:yet )?decided|(?:haven't|have not|hasn't)"
        r" (?:yet )?(?:decided|agreed|settled)|ideally|if (?:we|i|you|they|it|he|she) (?:had|were|was"
        r"|used|did|ever|could|didn't|hadn't|wanted|chose|went)|before we decide|(?:until|once|when)"
        r" we(?:'ve| have)? decide|in a perfect world|as if)\b|\b(?:i|we|you|they|he|she|it)'d\b"
        r"(?! like you to)",
    ),
    guard("a hypothetical", r"\b(?:if|unless|in case)\b", weak=True),
    guard(
        "a task of the moment",
        r"\b(?:for now|right now|at the moment|for the moment|at present|currently|presently|at this"
        r" point|this time|this once|just once|one[- ]off|for the time being|for a (?:bit|while|moment"
        r"|minute|day|few)|(?:just |only )?for (?:this|today|tonight|tomorrow)|tonight|tomorrow"
        r"|yesterday|this (?:week|morning|afternoon|evening|month|sprint|session|pr|pull request|mr"
        r"|commit|branch|file|function|task|ticket|issue|one|run|round|test|class|module|method|line"
        r"|bug|step|script|component|query|page|change|patch|refactor(?:ing)?|release|version|example"
        r"|exercise|conversation|chat|demo|build|merge|deploy(?:ment)?|migration|endpoint|feature"
        r"|variable|error|case|table|column|feature|thread|prototype|experiment|spike|draft|quarter"
        r"|year)|temporar(?:y|ily)|until (?:the|we|i|you|tomorrow|next|then|further|it|that|this|\w+day)"
        r"|till|while (?:we|i|you|the|this|they)|not yet|yet|later|meanwhile|in the meantime|as a"
        r" (?:quick|temporary|stopgap|workaround)|quick (?:fix|hack|test|check)|in progress|for the rest of"
        r"|as a test|next step|(?:in|within) the next|(?:these|those) (?:\w+ )?(?:files|tests|changes|lines"
        r"|functions|classes|rows|commits|errors|warnings))\b|(?<!from )(?<!of )(?<!starting )\btoday\b",
    ),
    guard(
        "about something at hand",
        r"\b(?:never|ever|always|avoid|don't|do not|to) \w+ (?:it|this|that|them|those|these)"
        r"(?=$|[.,;!]|\s(?:again|file|here|there|in|for|to|with|because|please|now|function|one)\b)"
        r"|(?<!around )\bhere\b(?!:)|\bthere(?=$|[.!,])|\bthat (?:file|function|test|line|class|method"
        r"|variable|button|loop|error|bug|branch|thing|part|change)\b|\bthe (?:other|first|second|third"
        r"|last|same|old|new|current|failing|above|below|following) (?:\w+|one)(?=$|[.,;!])",
        weak=True,
    ),
)

#: Reads like an order without anything that makes it a rule.
WEAK_CUE = re.compile(
    rf"{_S}(?:don't|do not|avoid|stop|never|always) \w|\bi(?:'d| would) (?:prefer|rather|like)\b"
    r"|^(?:please )?remember\b|\blet'?s go with\b",
    re.IGNORECASE,
)
CUE_WORDS = frozenset(
    ["never", "always", "now", "not", "any", "anymore", "more", "joking", "prefer", "favor", "favour", "like", "love", "enjoy", "hate", "dislike", "despise", "detest", "stand", "remember", "mind", "forget", "note", "avoid", "don", "don't", "must", "should", "forbidden", "prohibited", "limits", "allowed", "banned", "decided", "agreed", "going", "settled", "standardise", "standardize", "standardizing", "standardising", "chose", "picked", "switched", "adopted", "decision", "plan", "live", "lives", "based", "living", "located", "moved", "allergic", "work", "call", "speak", "years", "timezone", "zone", "language", "name", "docs", "documentation", "runbook", "runbooks", "wiki", "dashboard", "dashboards", "see", "find", "refer", "consult", "future", "forward", "rule", "memory", "correction", "actually", "meant", "usually", "normally", "generally", "typically", "mostly", "scratch", "kidding", "aside", "wait", "oops", "sorry", "mistake", "port", "version", "branch", "database", "use", "uses", "runs", "tracked", "colorblind", "colourblind", "editor", "shell", "appreciate", "let's", "lets", "no", "instead", "i'm", "my", "our"]
)

# "since" also tells a time.
REASON = re.compile(
    r"[,;:]?(?:\s[—–-])?\s+(?:\b(?P<why>because(?! of)|since(?! (?:\d|yesterday|last|then|monday|the (?:"
    r"beginning|start|last|first)|day|january|version|v\d|20|19|forever|i (?:was|started)|we started))"
    r"|as (?=(?:it|they|the|we|i|this|that|our|my|otherwise)\b)|the reason (?:is|being)(?: that)?"
    r"|— reason:)\b|(?P<kept>because of|so that|so (?=(?:we|i|it|they|the|that|nobody|everyone|people)\b)"
    r"|in order to|otherwise|or else|to avoid|due to)\b),?\s+",
    re.IGNORECASE,
)
REASON_FIRST = re.compile(r"(?:because|since|as)\s(?!\d)(?P<reason>[^,]{4,300}),\s*(?:so )?", re.IGNORECASE)
REASON_NEXT = re.compile(
    r"(?:(?:that's|this is|it's|that is) )?(?:because|(?:the |my )?reason(?:ing)?(?: is| being|:)(?: that)?"
    r"|why[:?])\s*",
    re.IGNORECASE,
)
