"""Who says what a line of a Claude Code session file holds.

Most lines of type user hold no word of the person: they carry what tools answered, what hooks
and the client added, summaries, other agents' messages. The client says so with fields of the
line. Fields that only describe the session are harmless, and each version adds some; a field
that could say where the text comes from, and is not known, makes the line ``unknown``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from gitmem.domain.session import PartClass
from gitmem.transcripts.speaker import foreign_field

#: Flags that the client sets on what it wrote itself.
_INJECTED_FLAGS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
#: Fields of a line that carries what a tool answered.
_TOOL_FIELDS = (
    "toolUseResult",
    "tool_use_result",
    "toolUseID",
    "sourceToolUseID",
    "sourceToolAssistantUUID",
    "toolDenialKind",
    "parent_tool_use_id",
)
#: Fields of a line by an agent that the session's own agent started.
_AGENT_FIELDS = ("isSidechain", "agentId", "agentName")
#: Where a prompt came from, in the words of ``origin``, ``promptSource`` and ``turnOrigin``.
_PERSON_WORDS = frozenset(
    {"human", "user", "typed", "interactive", "keyboard", "voice", "pasted", "queued"}
)
#: A program gave the prompt through the client's programming interface.
_INTERFACE_WORDS = frozenset({"sdk"})
#: Clients that a person types into, by what they call themselves. (Those of an editor or a
#: desktop use the programming interface for it; a build's runner is called an action.)
_PERSONS_CLIENT = re.compile(r"cli|claude-(?!.*(?:action|agent|sdk))[a-z0-9-]{1,40}")
#: Fields that say nothing of who wrote a line.
_PLAIN = frozenset({"type", "message", "origin", "promptSource", "turnOrigin", "entrypoint"})
_PLAIN |= {"promptId", "userType", "parentUuid", "logicalParentUuid", "isReplay", "sourcePath"}
_PLAIN |= {"userModified", "forkedFrom", "sessionKind"}
#: Words in the name of a field that may tell where the text comes from.
_TELLING = re.compile(
    r"(?:^|_)(?:is|was|has)_|agent|auto|bot|generat|hook|inject|meta(?!data)|origin|peer|plugin"
    r"|program|remote|reminder|sender|source|subagent|summar|synthetic|system|tool"
)
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def user_class(entry: Mapping[str, Any]) -> tuple[PartClass, str]:
    """Return who wrote a line of type user, and for an unknown one what makes it so."""
    filled = {field for field, value in entry.items() if value}
    if not filled.isdisjoint(_AGENT_FIELDS):
        return "subagent", ""
    if not filled.isdisjoint(_INJECTED_FLAGS):
        return "injected", ""
    if not filled.isdisjoint(_TOOL_FIELDS):
        return "tool", ""
    cls, why = _by_origin(entry)
    if cls != "human":
        return cls, why
    for field in sorted(filled - _PLAIN):
        if _is_telling(field):
            return "unknown", f"the field {field[:40]!r}"
    message = entry.get("message")
    foreign = foreign_field(message) if isinstance(message, Mapping) else None
    return ("human", "") if foreign is None else ("unknown", f"the field {foreign[:40]!r}")


def assistant_class(entry: Mapping[str, Any]) -> PartClass:
    """Return who wrote a line of type assistant: a model, one of its agents, or the client."""
    message = entry.get("message")
    model = message.get("model") if isinstance(message, Mapping) else None
    if model == "<synthetic>" or any(entry.get(flag) for flag in _INJECTED_FLAGS):
        return "injected"
    return "subagent" if any(entry.get(field) for field in _AGENT_FIELDS) else "assistant"


def queued_class(entry: Mapping[str, Any], attachment: Mapping[str, Any]) -> tuple[PartClass, str]:
    """Return who wrote a prompt that was queued while the agent worked."""
    if attachment.get("commandMode", "prompt") != "prompt":
        return "injected", ""
    inner = {key: value for key, value in entry.items() if key not in ("attachment", "rendered")}
    told = {key: attachment[key] for key in ("origin", "isMeta") if key in attachment}
    return user_class({**inner, **told})


def _by_origin(entry: Mapping[str, Any]) -> tuple[PartClass, str]:
    """Return the class by what the client says of where a prompt comes from."""
    origin = entry.get("origin")
    if origin:
        kind = origin.get("kind") if isinstance(origin, Mapping) else origin
        return ("human" if kind in ("human", "user") else "injected"), ""
    client = entry.get("entrypoint")
    typed_into = isinstance(client, str) and _PERSONS_CLIENT.fullmatch(client) is not None
    by_program = bool(client) and not typed_into
    for field in ("promptSource", "turnOrigin"):
        word = entry.get(field)
        if isinstance(word, str) and word in _INTERFACE_WORDS:
            by_program = by_program or not typed_into or client == "cli"
        elif word and not (isinstance(word, str) and word in _PERSON_WORDS):
            return "injected", ""
    if by_program:
        return "unknown", "coming from a program, by what the client says, or from one not known"
    return "human", ""


@functools.lru_cache(maxsize=1024)
def _is_telling(field: str) -> bool:
    return _TELLING.search(_CAPITAL.sub("_", field).lower().replace("-", "_")) is not None
