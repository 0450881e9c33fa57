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
from gitmem.redaction.values import is_placeholder

#: Longest piece of a line in characters that a pattern sees, and how far two pieces overlap.
WINDOW = 4096
OVERLAP = 512


@dataclass(frozen=True)
class Plugin:
    """One plugin of detect-secrets: where it is, and a word without which it finds nothing.

    ``first`` is how many of its patterns are used: Artifactory's second one needs a time that
    grows with the square of the line.
    """

    module: str
    cls: str
    kind: str
    needs: re.Pattern[str]
    first: int | None = None


def _plugin(module: str, cls: str, kind: str, needs: str, first: int | None = None) -> Plugin:
    return Plugin(module, cls, kind, re.compile(needs), first)


PLUGINS = (
    _plugin("artifactory", "ArtifactoryDetector", "artifactory-token", "AKC", 1),
    _plugin("aws", "AWSKeyDetector", "aws-key", "(?i:aws|AKIA|ASIA|A3T|ABIA|ACCA)"),
    _plugin("azure_storage_key", "AzureStorageKeyDetector", "azure-key", "(?i:azure|account_?key)"),
    _plugin("cloudant", "CloudantDetector", "cloudant-key", "(?i:cloudant)"),
    _plugin("discord", "DiscordBotTokenDetector", "discord-token", r"[MNO][\w-]{23,25}\."),
    _plugin("github_token", "GitHubTokenDetector", "github-token", "gh[pousr]_"),
    _plugin("ibm_cloud_iam", "IbmCloudIamDetector", "ibm-key", "(?i:ibm|iam)"),
    _plugin("ibm_cos_hmac", "IbmCosHmacDetector", "ibm-key", "(?i:secret[-_]?(?:access)?[-_]?key)"),
    _plugin("mailchimp", "MailchimpDetector", "mailchimp-key", "-us[0-9]"),
    _plugin("npm", "NpmDetector", "npm-token", "(?i:npm)|_authToken"),
    _plugin("sendgrid", "SendGridDetector", "sendgrid-key", r"SG\."),
    _plugin("slack", "SlackDetector", "slack-token", "(?i:xox|hooks.slack)"),
    _plugin("softlayer", "SoftlayerDetector", "softlayer-key", "(?i:softlayer)"),
    _plugin("square_oauth", "SquareOAuthDetector", "square-token", "sq0csp-"),
    _plugin("stripe", "StripeDetector", "stripe-key", "k_live_"),
    _plugin("twilio", "TwilioKeyDetector", "twilio-key", "(?:AC|SK)[a-z0-9]{32}"),
)
_ANY = re.compile("|".join(f"(?:{plugin.needs.pattern})" for plugin in PLUGINS))
_AROUND = " \t\"':"
_WORD = re.compile(r"[A-Za-z0-9+]")


def find_with_plugins(text: str) -> Iterator[Span]:
    """Yield what the patterns of detect-secrets find, line by line."""
    if _ANY.search(text) is None:
        return
    for start, line in _windows(text):
        if _ANY.search(line) is None:
            continue
        for plugin in PLUGINS:
            if plugin.needs.search(line) is not None:
                yield from _spans(plugin, line, start)


def _windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of ``text`` with their offsets; long ones in overlapping pieces."""
    start = 0
    for line in text.split("\n"):
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
