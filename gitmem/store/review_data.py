"""What a reviewer model is given, and its read-only tools: a proposal, the store, the sessions.

All of it is data. Nothing here writes, and nothing says why the proposer proposed it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gitmem.cache.index import ProjectionIndex
from gitmem.domain.layout import ARTIFACTS
from gitmem.domain.record import MAX_BYTES
from gitmem.domain.session import Message
from gitmem.errors import InvalidInput, NotFound
from gitmem.llm import Tool
from gitmem.ranking import search
from gitmem.results import ProposalDiff
from gitmem.sessions import Artifacts, SessionFiles
from gitmem.sessions.artifacts import ARTIFACT
from gitmem.store.store import Store

#: Records that one search answers with.
HITS = 10
#: Messages that one look into a session shows, characters of a text in them, and of all.
MESSAGES = 20
MESSAGE_TEXT = 4000
SHOWN = 18_000
#: Characters of a proposal's data; a larger one is not judged.
MAX_DATA = 100_000


def review_data(diff: ProposalDiff) -> dict[str, Any]:
    """Return a proposal as data: records before and after, quotes, what the checks found."""
    return {
        "proposal": diff.summary.id,
        "kind": diff.summary.kind,
        "records": [
            {
                "name": record.name,
                "change": record.change,
                "before": _numbered(record.before),
                "after": _numbered(record.after),
                "evidence": [quote.to_json() for quote in record.quotes],
            }
            for record in diff.records
        ],
        "retire_reasons": dict(diff.retire_reasons),
        "findings_of_checks": [finding.to_json() for finding in diff.summary.findings],
    }


def review_tools(store: Store, sessions: SessionFiles, diff: ProposalDiff) -> Sequence[Tool]:
    """Return what a reviewer may look at while it judges ``diff``."""
    name = _parameters(name="string")
    return (
        Tool(
            "search_records",
            "Search the records of the store; returns names and descriptions, best first.",
            _parameters(query="string"),
            lambda asked: _search(store, _text(asked, "query")),
        ),
        Tool(
            "show_record",
            "Show one record of the store in full.",
            name,
            lambda asked: _show(store, _text(asked, "name")),
        ),
        Tool(
            "read_session",
            f"Read up to {MESSAGES} messages of a session around one of them.",
            _parameters(session="string", message="integer"),
            lambda asked: _read(sessions, _text(asked, "session"), _number(asked, "message")),
        ),
        Tool(
            "read_artifact",
            "Read what was left out of a long tool result, a page from character `start` on.",
            _parameters(artifact="string", start="integer"),
            lambda asked: _page(store, _text(asked, "artifact"), _number(asked, "start")),
        ),
        Tool(
            "show_diff",
            "Show what the proposal changes in one record: the file before and after.",
            name,
            lambda asked: _changed(diff, _text(asked, "name")),
        ),
    )


def _search(store: Store, query: str) -> list[dict[str, str]]:
    found = []
    for name, _ in search(query, ProjectionIndex(store.projection), HITS):
        row = store.projection.record(name)
        if row is not None:
            found.append({"name": name, "type": row.type, "description": row.description})
    return found


def _show(store: Store, name: str) -> str:
    row = store.projection.record(name)
    if row is None:
        raise NotFound(f"there is no record {name[:80]!r}")
    return store.repo.reader.blob(row.blob, max_bytes=MAX_BYTES).decode("utf-8")


def _read(sessions: SessionFiles, session_id: str, message: int) -> dict[str, Any]:
    session = sessions.load(session_id)
    if session is None:
        raise NotFound("that session is not on this machine")
    total = len(session.messages)
    if not 0 <= message < total:
        raise InvalidInput(f"the session has messages 0 to {total - 1}")
    around = sorted(
        range(max(0, message - MESSAGES), min(total, message + MESSAGES + 1)),
        key=lambda index: (abs(index - message), index),
    )
    shown: dict[int, dict[str, Any]] = {}
    room = SHOWN
    for index in around[:MESSAGES]:
        one = said(session.messages[index], SHOWN // 2 if index == message else MESSAGE_TEXT)
        room -= len(str(one))
        if room < 0 and shown:
            break
        shown[index] = one
    return {
        "session": session_id,
        "attested": session.attested,
        "of": total,
        "messages": [shown[index] for index in sorted(shown)],
    }


def _page(store: Store, name: str, start: int) -> dict[str, Any]:
    text, of = Artifacts(store.repo.private / ARTIFACTS).read(name, start)
    return {"artifact": name, "start": start, "of": of, "text": text}


def said(message: Message, limit: int = MESSAGE_TEXT) -> dict[str, Any]:
    """Return one message as data: who really said each part, and what.

    A text of more than ``limit`` characters is shown by its beginning and its end.
    """
    parts = [
        {"class": part.cls, "kind": part.kind, "text": _short(part.text, limit)}
        for part in message.parts
    ]
    return {"index": message.index, "at": message.at, "role": message.role, "parts": parts}


def _short(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    artifact = ARTIFACT.search(text)
    where = f"; artifact {artifact[1]}" if artifact else ""
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out{where}]\n{text[-half:]}"


def _changed(diff: ProposalDiff, name: str) -> dict[str, str]:
    for record in diff.records:
        if record.name == name:
            return {"before": _numbered(record.before), "after": _numbered(record.after)}
    raise NotFound(f"the proposal does not touch {name[:80]!r}")


def _numbered(text: str) -> str:
    """Return a file with the number of each line before it, as findings count them."""
    return "\n".join(f"{n:>3} {line}" for n, line in enumerate(text.splitlines(), start=1))


def _parameters(**types: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in types.items()},
        "required": list(types),
        "additionalProperties": False,
    }


def _text(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or set(asked) - {name, "message", "start"}:
        raise InvalidInput(f"give {name} as a text, and nothing else")
    return value


def _number(asked: Mapping[str, Any], name: str) -> int:
    value = asked.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InvalidInput(f"give {name} as a number")
    return value
