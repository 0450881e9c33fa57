"""Is this word a secret, or what people write about secrets?

Judged by form alone. Where a word could be either, its surroundings decide: a bare word after
"the password is" has to end the clause and must be none of the words that describe one.
"""

from __future__ import annotations

import re
from typing import Literal

#: How much a noun says about the word after it. ``strong``: nothing but a secret is called a
#: password; ``key``: an API key; ``weak``: a token or a secret may be anything.
Noun = Literal["strong", "phrase", "key", "weak"]

_PLACEHOLDER = re.compile(
    r"""(?ix)
    ^ [<\[({] [a-z0-9 _-]* [>\])}]* $ | ^ \$\{ | ^ \$\( | ^ \{\{ | ^ \$[a-z_]+$ | ^ %\w+%$
    | ^ \*+ $ | \.\.\. | … | \*{3} | [x•●]{4,} | ^[x#0?_.-]+$
    | (?:^|[^a-z]) your (?:[^a-z]|$) | ^your | placeholder | change[_-]?me | (?:^|[_-])insert[_-]
    | (?:^|[_-])replace[_-] | (?:^|[_-])here$ | dummy | (?:^|[_-])todo(?:$|[_-])
    | 你的 | 您的
    """
)
#: The word with which vendors end the keys in their documentation.
_EXAMPLE_KEY = re.compile(r"EXAMPLE(?:KEY|TOKEN)?$|(?:^|[_-])(?i:example|sample)(?:$|[_-])")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_REFERENCE = re.compile(
    r"""(?x)
    (?i: https?://|file:|env:|vault:|op://|arn:|ssm:|kms:|secretsmanager:|projects/|keyring:|pass: )
    | ~ | \.{0,2}/[\w.@-]+(?:/|$) | [A-Za-z]:\\ | !\w+ | ENC\[ | \$\( | \$\{ | ` | @
    """
)
_CODE = re.compile(
    r"""(?x)
    [A-Za-z_$][\w$]* (?: (?: \.|::|->|\?\. ) [A-Za-z_$][\w$]* )* \s* [(\[{] .*   # call(, index[
    | (?: [A-Za-z_$][\w$]*? (?: \.|::|->|\?\. ) )+ [A-Za-z_$]+     # config.password
    | (?:self|this|os|process|env|config|cfg|settings|request|req|args|opts|options|ctx|params
       |data|user|app|state|secrets?|var|local|module|input|values|props|session|form)
      \. [\w$.\[\]]+
    """
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[-+][\w.]+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?|\d\d?:\d\d(?::\d\d)?")
_MEASURE = re.compile(
    r"(?i)\d+(?:\s*-\s*\d+)?[- ]?(?:char|digit|byte|bit|letter|symbol|word|day|month|year|hour"
    r"|min|sec|times?\b|ms\b|kb\b|px\b|位|个|次|天|年|字|月|小时|分钟|秒)"
)
_ALGORITHM = re.compile(
    r"(?i)(?:bcrypt|scrypt|argon2(?:id|i|d)?|pbkdf2|md[45]|sha-?[0-9]{1,3}|sha3|hmac|base-?(?:32|58|64)"
    r"|aes|rsa|ecdsa|ed25519|x25519|oauth2?|utf-?8|utf-?16|hs256|rs256|es256|k8s|1password|i18n|sso|ldap"
    r"|totp|2fa|mfa|jwt|saml|http2?|tls1?|v[0-9])(?:$|[-_/ .:0-9])"
)
_BARE_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*")
_DESCRIBES = re.compile(
    r"(?:ed|ing|ly|able|ible|ful|less|ory|ous|ive|ial|ent|ant|ic|n't|-only|-free|-based|ity|ness|tion)$"
)
#: Words that follow "the password is" or "password:" without being one.
_PROSE_WORDS = """
a about above absent admin-generated admin-only again all alone already also always an and
answer any anything applied argument as at auth away back bad base base64 based be because
been before being below better between blank bool boolean both broken bug but by bytea bytes
cached char character characters checked clear clear-text cleartext common compromised
confidential configuration cookie correct credential credentials critical current data date
default deferred details different documented done down due easy either empty enough env equal
error escaped essential etc even ever expired external false field file fine first float for
forgotten format free from full function generator given gone good guessable half handled hard
hard-coded hardcoded hash hashed header here hidden how html id identical if ignored implicit
in incorrect info input int integer internal invalid issue it its json just kept key key-based
known last late later leaked left length lib like list local logic long lost manager mandatory
maybe me member memory method mine missing more my name nan needed neither never new next nil
no none nor not nothing now null number obj object of off ok old on once one only opaque open
optional or other our ours out over param parameter pass passphrase passwd password plain
plain-text plaintext policy present previous private private-only problem prompt property
protocol public pwd question random read readonly right rule rules safe salt salted same
schema secret secrets sensitive set setting shared short shown similar simple size so some
something somewhere soon spec state static still str string strong stuff such sure takes
temporary text that the their theirs them then there these they thing this those to today
token tokens tomorrow too trivial true tuple type unchanged undefined under unencrypted unique
unknown unsafe unset until unused up use useless user users utf8 uuid valid value varchar
variable vault very visible void wait was weak weird well what when where which who why will
with within without word words wrong yaml yes yesterday yet you your yours
"""
_PROSE = frozenset(_PROSE_WORDS.split())

#: Words that make a sentence of the words around them: a passphrase has none of them.
_FUNCTION_WORDS = """
a an and are as at be been but by can case character characters do does every field for from has
have if in is it its least letters long match may must need no not of on optional or please
required set should than that the this to too until was when which will with without you your
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())


def is_placeholder(value: str, prefix: int = 0) -> bool:
    """Say whether a key or a password only stands for one; ``prefix`` is the fixed beginning."""
    body = value[prefix:]
    return (
        len(set(body.lower())) <= 2
        or bool(_PLACEHOLDER.search(body))
        or bool(_EXAMPLE_KEY.search(value))
        or bool(_ENV_NAME.fullmatch(value))
    )


def is_random(value: str, least: int = 8) -> bool:
    """Say whether a word looks made by a generator: letters with digits, and no plain name."""
    if len(value) < least or not any(c.isdigit() for c in value):
        return False
    if not any(c.isalpha() for c in value):
        return False
    words = re.split(r"[-_./:]", value)
    plain = all(
        (w.isalpha() and (w.islower() or w.istitle())) or len(w) <= 2 or w.isdigit() for w in words
    )
    return not (plain and len(words) > 1)


def is_value(value: str, noun: Noun, *, quoted: bool, last: bool, stated: bool) -> bool:
    """Say whether ``value``, found after a noun, is a secret.

    ``quoted``: it stood in quotes. ``last``: the clause ends after it. ``stated``: a sentence
    says that it is the value ("is", 是), not an assignment in code.
    """
    if is_placeholder(value) or _is_other(value, quoted):
        return False
    if " " in value:
        return noun in ("strong", "phrase") and quoted and _is_phrase(value, 2)
    if noun == "weak":
        return is_random(value) or (len(value) >= 24 and _is_mixed(value))
    if noun == "key":
        return (len(value) >= 8 and any(c.isdigit() for c in value)) or len(value) >= 16
    if value.isdigit():
        return len(value) >= 4
    if _BARE_WORD.fullmatch(value):
        return _is_secret_word(value, quoted, last, stated)
    return len(value) >= 4 or (quoted and len(value) >= 3)


def is_passphrase(words: str) -> bool:
    """Say whether unquoted words after "the passphrase is" are one, not a description."""
    return _is_phrase(words, 3)


def _is_phrase(text: str, least: int) -> bool:
    words = [word.strip(",.") for word in text.lower().split()]
    if not least <= len(words) <= 12 or _DESCRIBES.search(words[0]):
        return False
    return _FUNCTION.isdisjoint(words)


def _is_other(value: str, quoted: bool) -> bool:
    """Say whether a word is plainly something else: a path, code, a version, an algorithm."""
    if (_REFERENCE.match(value) and not quoted) or _MEASURE.match(value):
        return True
    if quoted and re.match(r"(?:[a-z]+:)?//|~?/[\w.-]*(?:/|$)|\$\{|\$\(", value):
        return True
    if _VERSION.fullmatch(value) or _DATE.fullmatch(value):
        return True
    return bool(_ALGORITHM.match(value)) or (
        not quoted and bool(_CODE.fullmatch(value.lstrip("([")))
    )


def _is_mixed(value: str) -> bool:
    return value.lower() != value and value.upper() != value


def _is_secret_word(word: str, quoted: bool, last: bool, stated: bool) -> bool:
    lower = word.lower()
    if lower in _PROSE or len(word) < 4:
        return False
    inner_capital = word[1:] != word[1:].lower() and not word.isupper()
    if quoted:
        return "-" not in word or not _DESCRIBES.search(lower)
    if _DESCRIBES.search(lower) or not last:
        return stated and inner_capital and "-" not in word
    if word.isupper() and len(word) <= 5:
        return False
    return stated or not inner_capital
