"""The patterns of detect-secrets, applied line by line and without its machinery.

Its plugins are used for their patterns alone: nothing is verified over the network, no file
is opened, no process started. Left out are the entropy plugins and the keyword plugin, which
mask commit ids, hashes and prose, and the private-key plugin, which sees one line at a time
(:mod:`gitmem.redaction.keys` sees the block). The package is imported only when a line holds
a word that one of the patterns needs: it brings an HTTP client along.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gitmem.redaction.finding import Span
from gitmem.redaction.places import lines_with
from gitmem.redaction.values import is_placeholder

#: Longest piece of a line in characters that a pattern sees, and how far two pieces overlap.
WINDOW = 4096
OVERLAP = 512


@dataclass(frozen=True)
class Plugin:
    """One plugin of detect-secrets: where it is, and without what it finds nothing.

    ``words`` are folded; a line without one of them cannot hold what ``needs`` looks for, and
    where there is none, ``needs`` itself is quick enough for the whole text.
    ``first`` is how many of its patterns are used: Artifactory's second one needs a time that
    grows with the square of the line.
    """

    module: str
    cls: str
    kind: str
    words: tuple[str, ...]
    needs: re.Pattern[str]
    first: int | None = None


def _plugin(
    module: str, cls: str, kind: str, words: str, needs: str = "", first: int | None = None
) -> Plugin:
    by_words = "(?i:" + "|".join(map(re.escape, words.split())) + ")"
    return Plugin(module, cls, kind, tuple(words.split()), re.compile(needs or by_words), first)


PLUGINS = (
    _plugin("artifactory", "ArtifactoryDetector", "artifactory-token", "akc", "AKC", 1),
    _plugin("aws", "AWSKeyDetector", "aws-key", "aws akia asia a3t abia acca"),
    _plugin(
        "azure_storage_key", "AzureStorageKeyDetector", "azure-key", "azure accountkey account_key"
    ),
    _plugin("cloudant", "CloudantDetector", "cloudant-key", "cloudant"),
    _plugin("discord", "DiscordBotTokenDetector", "discord-token", "", r"[MNO][\w-]{23,25}\."),
    _plugin("github_token", "GitHubTokenDetector", "github-token", "ghp_ gho_ ghu_ ghs_ ghr_"),
    _plugin("ibm_cloud_iam", "IbmCloudIamDetector", "ibm-key", "ibm iam"),
    _plugin(
        "ibm_cos_hmac",
        "IbmCosHmacDetector",
        "ibm-key",
        "secret",
        "(?i:secret[-_]?(?:access)?[-_]?key)",
    ),
    _plugin("mailchimp", "MailchimpDetector", "mailchimp-key", "-us", "-us[0-9]"),
    _plugin("npm", "NpmDetector", "npm-token", "npm _authtoken"),
    _plugin("sendgrid", "SendGridDetector", "sendgrid-key", "sg.", r"SG\."),
    _plugin("slack", "SlackDetector", "slack-token", "xox hooks", "(?i:xox|hooks.slack)"),
    _plugin("softlayer", "SoftlayerDetector", "softlayer-key", "softlayer"),
    _plugin("square_oauth", "SquareOAuthDetector", "square-token", "sq0csp-"),
    _plugin("stripe", "StripeDetector", "stripe-key", "k_live_"),
    _plugin("twilio", "TwilioKeyDetector", "twilio-key", "", "(?:AC|SK)[a-z0-9]{32}"),
)
_AROUND = " \t\"':"
_WORD = re.compile(r"[A-Za-z0-9+]")


def find_with_plugins(text: str, low: str) -> Iterator[Span]:
    """Yield what the patterns of detect-secrets find, line by line; ``low`` is ``text`` folded."""
    for plugin in PLUGINS:
        for start, end in _lines(plugin, text, low):
            for at, piece in _windows(text, start, end):
                if plugin.needs.search(piece) is not None:
                    yield from _spans(plugin, piece, at)


def _lines(plugin: Plugin, text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield the lines in which a plugin can find something; a run of them is one pair."""
    if plugin.words:
        yield from lines_with(low, plugin.words)
        return
    end = -1
    for match in plugin.needs.finditer(text):
        if match.start() >= end:
            end = text.find("\n", match.end()) + 1 or len(text)
            yield text.rfind("\n", 0, match.start()) + 1, end


def _windows(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield some lines of ``text`` with their offsets; long ones in overlapping pieces."""
    for line in text[start:end].removesuffix("\n").split("\n"):
        for at in range(0, max(len(line) - OVERLAP, 1), WINDOW - OVERLAP):
            yield start + at, line[at : at + WINDOW]
        start += len(line) + 1


@functools.cache
def _patterns(plugin: Plugin) -> tuple[re.Pattern[str], ...]:
    module = importlib.import_module(f"detect_secrets.plugins.{plugin.module}")
    return tuple(getattr(module, plugin.cls).denylist)[: plugin.first]


def _spans(plugin: Plugin, line: str, offset: int) -> Iterator[Span]:
    for pattern in _patterns(plugin):
        for match in pattern.finditer(line):
            # Some plugins capture the value, one only the prefix, one what stands around it.
            groups = [index for index, value in enumerate(match.groups(), 1) if value]
            longest = max(groups, key=lambda index: len(match[index]), default=0)
            start, end = match.span(longest if longest and len(match[longest]) >= 16 else 0)
            start = end - len(line[start:end].lstrip(_AROUND + "="))
            end = start + len(line[start:end].rstrip(_AROUND))
            if _is_secret(line, start, end):
                yield Span(offset + start, offset + end, plugin.kind)


def _is_secret(line: str, start: int, end: int) -> bool:
    """Say whether a match is a word of its own, varied enough, and no example or plain hash."""
    value = line[start:end]
    inside = start and _WORD.match(line, start - 1) and _WORD.match(line, start)
    runs_on = _WORD.match(line, end) and _WORD.match(line, end - 1)
    if inside or runs_on or is_placeholder(value):
        return False
    # Git ids and hashes: hex alone is never a secret by form; a noun before it may say so.
    plain_hash = re.fullmatch(r"[0-9a-f]{32,64}|[0-9A-F]{32,64}", value) is not None
    return any(c.isdigit() for c in value) and not plain_hash
