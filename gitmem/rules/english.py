"""What calls for memory in English: patterns, with the kind and the type of record that they give.

They are applied to the masked text of one sentence, at most 600 characters long.
"""

from __future__ import annotations

from gitmem.rules.grammar import Rule, rules

# Where a clause may begin.
CLAUSE = r"(?:^|[,;:(—–\"'“‘]\s*|\s-\s|\b(?:and|but|so|then|please|also|just)\s+)"
_ADVERBS = (
    r"(?:(?:really|strongly|generally|usually|normally|typically|much|still|personally"
    r"|always|also"
    r"|definitely|absolutely|mostly|mainly|just|very much|truly|do|tend to) )*"
)
_FREQUENCY = r"(?:always|usually|normally|generally|typically|mostly|mainly|tend to|almost always)"
_POINTING = (
    r"(?:options?|approach|variant|solution|plan|choice|number|it|this|that|these|those"
    r"|them|the|your|how|what|where|his|her|their|him|its)\b"
)
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
    r"(?:docs?|documentation|run-?books?|play-?books?|wiki|dashboards?|specs?"
    r"|specification|designs?"
    r"|mock-?ups?|guides?|guidelines?|handbook|manual|logs|metrics|tracker|tickets|bugs|issues"
    r"|backlog|roadmap|schemas?|diagrams?|references?|examples?|templates?|changelog|notes"
    r"|reports?"
    r"|policy|policies|procedure|checklist|faq|tutorial|catalog(?:ue)?|repo(?:sitory)?|alerts"
    r"|requirements|decisions|ADRs?|contracts?|glossary|contacts|instructions)"
)
# Work of one kind, wherever it is done: "in integration tests", but not "in the failing tests".
_KIND_OF_WORK = (
    r"(?!(?:the|this|that|these|those|my|your|its|his|her|their|a|an|two|both|some) )"
    r"(?:all |any |our )?(?:[a-z][\w-]+ ){0,2}?(?:tests|commit messages|commits|comments"
    r"|log messages|logs|code reviews?|pull requests|answers|replies|examples|migrations"
    r"|scripts|templates|handlers|controllers|docstrings|(?:production|shared|library|async"
    r"|new) code)\b"
)
# A named thing: capitalised, a version, a number, code.
_NAMED = r"(?-i:[A-Z][\w.+#-]+|v?\d[\w.]*|\ue000+)"

# Cues of the rules below, see Rule.
_IDENTITY = """
    i'm am live moved work my call speak years
    """.split()  # noqa: SIM905
_TASTE = """
    prefer favor favour like love enjoy hate dislike despise detest stand always usually normally
    generally typically mostly mainly tend almost
    """.split()  # noqa: SIM905
_PROHIBITION = """
    never ever don't not avoid stop forbidden prohibited limits allowed banned
    """.split()  # noqa: SIM905
_RULE = """
    always repo repository project code codebase sure all every each any when whenever before
    after
    """.split()  # noqa: SIM905
_DECISION = """
    decided agreed going standardizing standardising settling sticking moving migrating dropping
    let's lets went chose picked settled standardized standardised switched adopted chosen moved
    migrated dropped decision plan choice
    """.split()  # noqa: SIM905
_TOPICS = """
    doc docs documentation run runbook runbooks play playbook playbooks wiki dashboard dashboards
    spec specs specification design designs mock mockup mockups guide guides guideline guidelines
    handbook manual logs metrics tracker tickets bugs issues backlog roadmap schema schemas
    diagram diagrams reference references example examples template templates changelog notes
    report reports policy policies procedure checklist faq tutorial catalog catalogue repo
    repository alerts requirements decisions adr adrs contract contracts glossary contacts
    instructions
    """.split()  # noqa: SIM905
_LOOKING = """
    find see check consult refer look read go tracked documented logged filed
    """.split()  # noqa: SIM905
_FACT = """
    use run target support deploy host is runs uses listens our
    """.split()  # noqa: SIM905

RULES: tuple[Rule, ...] = (
    *rules(
        "identity",
        "user",
        _IDENTITY,
        r"\bi(?:'m| am) (?:currently )?(?:based|located|living) in (?-i:[A-Z])",
        (
            r"\bi live (?:in|near|outside) (?!hope|fear|denial|peace|terminals?|my |it\b|this|that"
            r"|here|there)\w"
        ),
        r"\bi(?:'ve| have)? (?:just |recently )?moved to (?-i:[A-Z])",
        r"\bi(?:'m| am) (?:a|an|the) (?:[\w/-]+ ){0,4}?" + _ROLE,
        (
            r"\bi(?:'m| am) (?:a |an )?(?:colou?r[- ]?blind|dyslexic|left-handed|vegetarian|vegan"
            r"|deaf|autistic)\b"
        ),
        r"\bi(?:'m| am) (?:originally )?from (?-i:[A-Z])",
        r"\bi(?:'m| am) allergic to \w",
        r"\bi work (?:at|for) (?!nights?\b|home|least|once|first|all\b|odds|this|that|it\b"
        r"|the moment|them"
        r"|him|her\b|now|speed|fun|free|myself|hours|days|weekends|weeks)\w+",
        r"\bi work as (?:a|an|the) \w|\bi work (?:from home|remotely|part[- ]time)",
        r"\bi work (?:in|on) (?:the )?[\w -]{2,40}\b(?:team|department|timezone)\b",
        r"(?:^|[,;:]\s*|\band )my (?:full |first )?name(?:'s| is) (?-i:[A-Z])",
        r"\bmy (?:time ?zone|native language|mother tongue|first language|pronouns?|job|role"
        r"|job title|profession|editor|ide|shell|operating system|os|keyboard layout"
        r"|main language"
        r"|terminal|title) (?:is|are) (?!not\b|broken|slow|down)\w",
        rf"{CLAUSE}(?:please )?call me (?-i:[A-Z])",
        r"\bi (?:only )?speak (?:fluent |native |mostly |only )?(?-i:[A-Z])",
        r"\bi(?:'ve| have) (?:over |about |more than )?[\w-]+ years(?: of|'|’)",
        r"\bi(?:'ve| have) been (?:writing|using|programming|coding|working (?:in|with|as)|doing"
        r"|teaching|maintaining) [^,]{2,60}\bfor (?:over |about |more than )?[\w-]+ years",
    ),
    *rules(
        "preference",
        "user",
        _TASTE,
        rf"\bi {_ADVERBS}(?:prefer|favou?r)(?! {_POINTING}) \w",
        rf"\bi {_ADVERBS}(?:like|love|enjoy|hate|dislike|despise|detest|can't stand|cannot stand)"
        rf"(?! {_POINTING}| to (?:say|ask|bother|break|be|think|interrupt|know|hear)) \w",
        rf"\bi {_ADVERBS}(?:don't|do not) (?:really )?(?:like|enjoy)(?! {_POINTING}) \w",
        r"\bi (?:like|love|prefer) (?:the |my )?[\w -]{2,60} (?:over|better than"
        r"|more than|rather than|to be)\b",
        rf"\bi {_FREQUENCY} (?!{_HAPPENING}|{_PAST}|do\b|am\b|can\b|would\b)\w+ \w+",
    ),
    *rules(
        "identity",
        "user",
        ["as"],
        r"\bi use [\w .+-]{2,40} as my (?:main |default |primary |daily )?(?:editor|ide|shell"
        r"|terminal"
        r"|os|operating system|browser|language|keyboard|desktop)\b",
    ),
    *rules(
        "preference",
        "user",
        ["never", "my", "used"],
        rf"\bi never (?:want to |ever )?{_HABIT}",
        r"\bmy (?:strong |personal |general )?preference(?: here)? is\b",
        r"\bmy (?:preferred|favou?rite|usual|go-to|default) [\w -]{2,40} (?:is|are)\b",
        rf"\bi(?:'m| am) (?:most )?used to (?!{_POINTING}) ?\w",
    ),
    *rules(
        "preference",
        "feedback",
        ["you"],
        r"\bi(?:'d like|(?: always)? (?:want|expect|would like)) you to"
        r" (?:always|never)\b|\bi never want you to\b",
    ),
    *rules(
        "prohibition",
        "feedback",
        _PROHIBITION,
        (
            rf"{CLAUSE}(?<![,(] )never (?:ever )?(?!{_PAST}|{_POINTING}|have|has|late"
            rf"|forget)[a-z]+ \S|, (?:and )?never {_HABIT}"
        ),
        rf"{CLAUSE}(?:don't|do not) ever (?!{_PAST})\w",
        rf"{CLAUSE}(?:don't|do not|avoid|stop) (?=.*(?:\bin (?:this|the|our|any) (?:repo"
        rf"|repository"
        r"|project|code ?base|workspace|team|organi[sz]ation)\b|\bin general\b|\bin production\b"
        r"|\bunder any circumstances\b|\bwithout (?:asking|my|a|an|approval|review|permission"
        r"|tests"
        r"|explicit)\b|\bwhen(?:ever)? you\b|\bdirectly (?:to|on|into|in|from)\b|\banywhere\b"
        r"|\bby hand\b|\bas a rule\b|\bevery time\b|\bon (?:fri|satur|sun|mon|tues|wednes"
        r"|thurs)days?"
        rf"\b|\bin {_KIND_OF_WORK}))",
        rf"{CLAUSE}(?:don't|do not) use (?!{_POINTING}|any of|my |our |a |an |so |too )"
        r"(?:[\w-]+ ){0,2}?(?:[\w-]{2,}[^\Ws]s|\ue000+)(?=$|[.,;:!]|\s(?:in|for|to|as|at|on"
        r"|with|because"
        r"|since|when|anywhere|and|or)\b)",
        (
            rf"(?:^|[,;:]\s*|\bplease )avoid (?!{_POINTING}|being|getting|having)(?:\w+ing\b"
            rf"|[\w-]+ )"
        ),
        r"(?<!\bit )(?<!\bthis )(?<!\bthat )(?<!\bthese )(?<!\bthose )(?<!\bthere )\b(?:must"
        r"|should|may|can|shall) never"
        r" (?!see|happen|fail|reach|occur|get\b|return|have|be (?:null|none|empty|called"
        r"|reached|true|false|zero"
        r"|negative|less|more|greater|smaller|nil|undefined|possible|able|forget)\b)\w"
        r"|\bwe never " + _HABIT,
        r"^(?!the |this |that |it )[\w -]{3,60} (?:is|are) (?:strictly |absolutely )?(?:forbidden"
        r"|prohibited|off[- ]limits|not allowed|banned)\b",
    ),
    *rules(
        "rule",
        "feedback",
        _RULE,
        (
            rf"{CLAUSE}(?<![,(] )always (?!{_HAPPENING}|{_PAST}|{_POINTING})[a-z]+ \S"
            rf"|, (?:and )?always {_HABIT}"
        ),
        r"\b(?:you|we|everyone) (?:must|should|need to|have to|ought to) always \w",
        r"\bin this (?:repo|repository|project|code ?base),? we (?:only |always )?(?:use|write"
        r"|follow|avoid|keep"
        r"|name|format|put|prefer|don't|do not)\b",
        rf"\bwe always (?!{_HAPPENING}|{_PAST})\w",
        rf"{CLAUSE}(?:make sure|be sure)(?: to| you|that you)? (?:always|never)\b",
        r"^(?:all|every|each|any) (?!of |the )[\w /-]{3,60} (?:must|has to|have to|needs? to"
        r"|should)"
        r" \w",
        r"^(?:when|whenever|every time|each time|before|after) you (?!are|have|can|get|come"
        r"|finish"
        r"|see|find|'re|done|push this)[\w -]{3,80}, (?:always|never|please|make sure|use|run"
        r"|don't"
        r"|do not|add|check|ask|write|keep|include|explain|show|update|prefer)\b",
    ),
    *rules(
        "rule",
        "feedback",
        ["use"],
        r"^(?:please )?use (?:\d+ )?[a-z -]{2,24} for (?:indentation|indenting|quotes|quoting"
        r"|strings|line endings|commit messages"
        r"|naming|file names|identifiers|branch names|variable names|timestamps|dates)\b"
        r"|^(?:please )?use (?!the |this |that |these |those |my |your |it )(?:\d+ )?[a-z-]+"
        r"(?: [a-z-]+)?,? (?:not|instead of|rather than|over|and not) [a-z-]+"
        r"(?: [a-z-]+)?,? (?:for|in|when)"
        r" (?!the |this |that |now|these |those )[a-z]",
    ),
    *rules(
        "decision",
        "project",
        _DECISION,
        r"\b(?:we|the team)(?:'ve| have| has)?(?: all| finally| now)? (?:decided"
        r"|agreed)(?: (?:to|on|that|against|not to|in favou?r of|we|for)\b|:)",
        r"\bi(?:'ve| have)? decided (?:that )?we(?:'ll| will|'re| are| should)",
        r"\bwe(?:'re| are) (?:going (?:with|for)|standardi[sz]ing on|settling on"
        r"|sticking with|moving (?:everything )?to|migrating to|dropping)"
        rf" (?!{_POINTING}|option|plan)\S",
        r"\bwe(?:'re| are) going to (?:use|standardi[sz]e on|adopt|keep using)"
        rf" (?!{_POINTING})\S",
        rf"{CLAUSE}let'?s (?:standardi[sz]e|settle) on (?!{_POINTING})\S",
        rf"{CLAUSE}let'?s go with (?:{_NAMED})",
        rf"{CLAUSE}let'?s (?:always|never) {_HABIT}",
        r"\bwe (?:went with|chose|picked|settled on|standardi[sz]ed on"
        rf"|(?:have )?switched (?:over )?to|(?:have )?adopted)(?! {_POINTING}) [^\W\d]",
        r"\bwe(?:'ve| have) (?:chosen|picked|settled on|standardi[sz]ed on"
        rf"|switched to|moved to|migrated to|adopted|dropped)(?! {_POINTING}) \S",
        r"\b(?:the|our) (?:final )?(?:decision|plan|choice)(?: now)? is"
        r" (?:settled|final|made|fixed|that|to|:)",
        r"\b(?:it's|it is|that's) (?:settled|decided|agreed)\b ?[:,]? ?\w",
    ),
    *rules(
        "pointer",
        "reference",
        _TOPICS,
        rf"\b{_TOPIC}(?: for [\w -]{{2,40}}?)?(?: (?:is|are|live|lives|sits?|can be found|go"
        rf"|goes)"
        r"|'s)(?: all| now| always)?(?: (?:located|tracked|kept|documented|stored|hosted"
        r"|published"
        r"|filed|maintained|collected))? (?:at|in|on|under|here:)"
        rf" {_PLACE}",
    ),
    *rules(
        "pointer",
        "reference",
        _LOOKING,
        rf"\byou(?:'ll| can| will)? (?:can )?find [\w' -]{{3,60}} (?:at|in|on"
        rf"|under) {_PLACE}",
        rf"{CLAUSE}(?:see|check|consult|refer to|look (?:at|in)|read|go to) {_PLACE}\S* (?:for"
        rf"|about|on"
        r"|when|whenever|before) \w",
        rf"^for [\w' -]{{3,60}}, (?:please )?(?:see|check|consult|refer to"
        rf"|look (?:at|in)|read|go to) {_PLACE}",
        rf"\b(?:are|is) (?:tracked|documented|logged|filed) (?:at|in|on|under)"
        rf" {_PLACE}",
    ),
    *rules(
        "fact",
        "project",
        _FACT,
        rf"^(?:in this (?:repo|project),? )?we (?:only |now |mainly )?(?:use|run on"
        rf"|run|target|support|deploy (?:to|on|with)|host (?:on|with)) (?:the )?{_NAMED}",
        r"^(?:our|the|my) (?:[\w-]+ ){0,4}(?:port|version|branch|database|db|url"
        r"|host|hostname|region|bucket|framework|package manager|cluster|namespace|schema"
        r"|license)"
        rf" (?:is|runs on|uses|listens on) (?:called |named |on |port )?{_NAMED}",
        r"^(?:our|the|my) (?:[\w-]+ ){0,3}(?:server|service|database|db|api|cluster"
        r"|app|backend|frontend|queue|cache|production|staging|instance) (?:runs|listens|is) on"
        rf" (?:port )?{_NAMED}",
        rf"^our (?:[\w-]+ ){{1,3}}(?:is|uses|runs on) {_NAMED}",
    ),
)
