"""Who says what a chat message holds. Doubt never makes it the person's.

Programs send their own text with role user too: tool results, hooks, other agents, summaries.
They mark it with fields, and each client has its own, so that no list of such marks could be
complete. It is the other way round: a message or a part of role user is the person's only when
every field that it fills is known to be harmless (:data:`PLAIN_FIELDS`). The marks that are
known say whose it is instead; any other field makes it ``unknown``, which supports nothing, and
is named in a note. A field that holds null, false, 0 or nothing at all says nothing, except for
the id of a call.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from gitmem.domain.session import PartClass

#: Types of a part or an item that hold what a tool answered.
RESULT_TYPES = frozenset(
    {
        "tool_result",
        "tool_output",
        "function_result",
        "function_call_output",
        "custom_tool_call_output",
    }
)
TIME_FIELDS = ("at", "timestamp", "created_at", "created")
_PERSONS_TYPES = frozenset({"message", "thread.message", "text", "user", "human"})
_NAME_FIELDS = frozenset({"name", "user", "username", "author", "sender"})
_ID_FIELDS = frozenset(
    {
        "id",
        "uuid",
        "index",
        "message_id",
        "parent_id",
        "session_id",
        "conversation_id",
        "thread_id",
        "user_id",
    }
)
#: Fields that say nothing about who wrote a message.
PLAIN_FIELDS = frozenset(
    {"role", "content", "updated_at", "time", "date", "status", "weight", "lang"}
    | {"language", "locale", "attachments", "cache_control", "annotations", "metadata"}
    | {*TIME_FIELDS, *_ID_FIELDS}
)
#: Fields that say nothing about who wrote one part of a message.
_PLAIN_PART_FIELDS = frozenset(
    {"text", "id", "index", "cache_control", "annotations", "prompt_cache_breakpoint"}
)
#: Fields by which programs mark what is not the person's, in lower case without separators.
_MARKS: Mapping[str, PartClass] = {
    "toolcallid": "tool",
    "tooluseid": "tool",
    "callid": "tool",
    "tooluseresult": "tool",
    "sourcetooluseid": "tool",
    "parenttooluseid": "subagent",
    "issidechain": "subagent",
    "subagent": "subagent",
    "agentid": "subagent",
    "ismeta": "injected",
    "iscompactsummary": "injected",
    "isvisibleintranscriptonly": "injected",
}

#: Words of a participant's name that make it a program's; ``name`` alone does not make one.
_PROGRAM_WORDS_TEXT = """
agent agents subagent subagents assistant assistants bot bots chatbot planner critic tool tools
hook hooks webhook system runner executor orchestrator supervisor coordinator llm model gpt
chatgpt claude gemini copilot codex qwen deepseek kimi doubao script cron daemon mcp function
plugin proxy automation robot
"""
_PROGRAM_WORDS = frozenset(_PROGRAM_WORDS_TEXT.split())
_PROGRAM_ENDS = ("agent", "agents", "assistant", "chatbot", "webhook", "toolrunner", "gpt")
_PROGRAM_PARTS = re.compile(
    "智能体|智能體|助手|助理|机器人|機器人|代理|工具|系统|系統|模型|插件|钩子|脚本"
    "|エージェント|アシスタント|ボット|ツール|システム|에이전트|어시스턴트|챗봇|도구|시스템"
)
_PROGRAM_BOT = re.compile(
    "(?:ai|auto|build|chat|ci|code|deploy|dev|git|help|my|review|slack|support|test|web)bots?"
)
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def message_class(entry: Mapping[str, Any], role: str, agents: Collection[str]) -> PartClass:
    """Return who says what a message holds, as far as the message itself tells.

    ``agents`` are the names that assistants bore before, as :func:`plain_name` gives them.
    """
    if role in ("system", "developer"):
        return "injected"
    if role in ("tool", "function"):
        return "tool"
    if role == "unknown":
        return "unknown"
    marked = _marked(entry)
    if marked is not None and (role == "user" or marked in ("tool", "subagent")):
        return marked
    if role != "user":
        return "assistant"
    if any(_is_program(entry[field], agents) for field in _NAME_FIELDS if entry.get(field)):
        return "subagent"
    return "unknown" if foreign_field(entry) is not None else "human"


def foreign_field(entry: Mapping[str, Any]) -> str | None:
    """Name the first field of a user message that a person's own message does not have."""
    for field, value in entry.items():
        if not value:
            continue
        if field in ("type", "object"):
            known = isinstance(value, str) and value in _PERSONS_TYPES
        elif field in _NAME_FIELDS:
            known = isinstance(value, str)
        elif field == "metadata":
            known = isinstance(value, Mapping) and _is_plain_metadata(value)
        else:
            known = field in PLAIN_FIELDS
        if not known:
            return str(field)
    return None


def foreign_part_field(item: Mapping[str, Any]) -> str | None:
    """Name the first field of a user's text part that a person's own part does not have."""
    for field, value in item.items():
        plain = field in _PLAIN_PART_FIELDS or (field == "role" and value == "user")
        if value and field != "type" and not plain:
            return str(field)
    return None


def is_tool_result(item: Mapping[str, Any]) -> bool:
    """Say whether a part holds what a tool answered, whatever message carries it."""
    kind = item.get("type")
    return (isinstance(kind, str) and kind in RESULT_TYPES) or _marked(item) == "tool"


def plain_name(name: str) -> str:
    """Return a participant's name as it is compared: without case, width and what is not drawn."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if unicodedata.category(c) not in ("Cf", "Cc", "Mn"))


def _marked(entry: Mapping[str, Any]) -> PartClass | None:
    """Return whose a message or part is by a mark that programs are known to set, else None."""
    kind = entry.get("type")
    if isinstance(kind, str) and kind in RESULT_TYPES:
        return "tool"
    found: set[PartClass] = set()
    for field, value in entry.items():
        # An id of a call that is there but empty still says what the message is.
        if value or (value == "" and str(field).lower().endswith("id")):
            mark = _MARKS.get(re.sub("[-_]", "", str(field)).lower())
            if mark is not None:
                found.add(mark)
    weakest: tuple[PartClass, ...] = ("injected", "subagent", "tool")
    return next((mark for mark in weakest if mark in found), None)


def _is_plain_metadata(metadata: Mapping[str, Any]) -> bool:
    """Say whether metadata holds harmless fields alone, with nothing deeper inside."""
    return all(
        not value
        or (field in PLAIN_FIELDS - {"role", "content"} and isinstance(value, str | int | float))
        for field, value in metadata.items()
    )


def _is_program(name: Any, agents: Collection[str]) -> bool:
    """Say whether a participant's name is that of a program."""
    if not isinstance(name, str):
        return False
    shown = unicodedata.normalize("NFKC", name)
    shown = "".join(c for c in shown if unicodedata.category(c) not in ("Cf", "Cc", "Mn"))
    words = {word.lower() for word in _NAME_WORD.findall(shown)}
    return (
        plain_name(name) in agents
        or not words.isdisjoint(_PROGRAM_WORDS)
        or any(word.endswith(_PROGRAM_ENDS) or _PROGRAM_BOT.fullmatch(word) for word in words)
        or "AI" in _NAME_WORD.findall(shown)
        or _PROGRAM_PARTS.search(shown) is not None
    )
