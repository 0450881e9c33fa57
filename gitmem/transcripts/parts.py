"""The parts of a message, in the shapes that OpenAI's and Anthropic's messages share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from gitmem.domain.injected import own_pieces, segments_of_parts
from gitmem.domain.session import Part, PartClass
from gitmem.transcripts.base import MAX_PARTS, Tally, part
from gitmem.transcripts.speaker import foreign_part_field, is_tool_result

_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
#: Kinds of text that only a model writes.
_MODEL_TYPES = frozenset({"output_text", "refusal"})
_IMAGE_TYPES = frozenset({"image_url", "input_image", "image", "image_file"})
_CALL_TYPES = frozenset({"tool_call", "tool_use", "function_call", "mcp_call", "server_tool_use"})


def note_field(field: str | None, of: str, tally: Tally) -> None:
    """Note the field (None: there is none) because of which no person is taken for the speaker."""
    if field is not None:
        tally.note(f"a user {of} with the field {field[:40]!r} read as from an unknown speaker")


def note_parts_left_out(content: Sequence[Any], tally: Tally) -> None:
    """Note how many parts of a message lie beyond MAX_PARTS."""
    if len(content) > MAX_PARTS:
        tally.note(f"a message with more than {MAX_PARTS} parts, of which the rest is left out")


def caller(cls: PartClass) -> PartClass:
    """Return who makes a call in a message: a person calls no tools."""
    return "unknown" if cls == "human" else cls


def content_parts(content: Any, cls: PartClass, tally: Tally) -> Iterator[Part]:
    """Yield the parts that a message's content holds, whatever its shape; ``cls`` speaks."""
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield _text_part(content, cls, tally)
    elif isinstance(content, list | tuple):
        for item in content[:MAX_PARTS]:
            yield _item_part(item, cls, tally)
        note_parts_left_out(content, tally)
    elif isinstance(content, Mapping):
        yield _item_part(content, cls, tally)
    else:
        yield part("other", "unknown")


def _item_part(item: Any, cls: PartClass, tally: Tally) -> Part:
    """Return the part that one entry of a content list is."""
    if isinstance(item, str):
        return _text_part(item, cls, tally)
    if not isinstance(item, Mapping):
        return part("other", "unknown")
    kind = item.get("type")
    if kind is None and "text" in item:
        kind = "text"
    if not isinstance(kind, str):
        return part("other", "unknown")
    if is_tool_result(item):
        return part("tool_result", "tool", tally.clean(_result_text(item)))
    if kind in _CALL_TYPES:
        return part("tool_call", caller(cls), call_text(item, tally))
    if kind in _TEXT_TYPES:
        return _typed_text_part(item, kind, cls, tally)
    return part("image" if kind in _IMAGE_TYPES else "other", cls)


def _typed_text_part(item: Mapping[str, Any], kind: str, cls: PartClass, tally: Tally) -> Part:
    if cls == "human":
        field = foreign_part_field(item)
        note_field(field, "part", tally)
        if field is not None or kind in _MODEL_TYPES:
            cls = "unknown"
    text = item.get("refusal") if kind == "refusal" else item.get("text")
    return _text_part(text, cls, tally) if isinstance(text, str) else part("other", cls)


def _text_part(text: str, cls: PartClass, tally: Tally) -> Part:
    return part("tool_result" if cls == "tool" and text else "text", cls, tally.clean(text))


def divided(parts: Sequence[Part], speaker: PartClass = "human") -> Iterator[Part]:
    """Yield a user message's parts, its text divided by who it comes from.

    The texts are read as one, because a client's tag may open in one and close in another.
    What no client put in is the speaker's.
    """
    texts = [piece.text for piece in parts if piece.cls == speaker]
    divided = iter(segments_of_parts(texts))
    for piece in parts:
        segments = next(divided) if piece.cls == speaker else ()
        for segment in segments:
            shape: Literal["text", "tool_result"]
            shape = "tool_result" if segment.cls == "tool" else "text"
            yield part(shape, speaker if segment.cls == "human" else segment.cls, segment.text)
        if not segments:
            yield piece


def without_own_blocks(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts, with gitmem's own blocks in anybody's text as injected parts.

    What was recalled is no evidence for itself, also where a tool printed it.
    """
    for piece in parts:
        pieces = own_pieces(piece.text) if piece.cls != "injected" else ()
        if len(pieces) < 2 and not any(own for _, own in pieces):
            yield piece
            continue
        for text, own in pieces:
            yield part("text" if own else piece.kind, "injected" if own else piece.cls, text)


def _result_text(item: Mapping[str, Any]) -> str:
    for key in ("content", "output", "text", "result"):
        value = item.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, list | tuple):
            texts = [piece.get("text") for piece in value if isinstance(piece, Mapping)]
            return "\n".join(text for text in texts if isinstance(text, str))
        if value is not None:
            return json_text(value)
    return ""


def call_text(call: Any, tally: Tally) -> str:
    """Return canonical JSON of a call's function name and arguments."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        function = call if isinstance(call, Mapping) else {"arguments": call}
    arguments = function.get("arguments", function.get("input"))
    if isinstance(arguments, str):
        # The model's JSON, read where it is JSON, so that no quote is hidden by escapes.
        parsed = _loads_or_none(arguments)
        arguments = arguments if parsed is None else parsed
    return tally.clean(json_text({"name": function.get("name"), "arguments": arguments}))


def json_text(value: Any) -> str:
    """Return JSON with sorted keys; what JSON cannot hold is shown as its type."""
    try:
        return json.dumps(
            value,
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
            default=lambda o: f"<{type(o).__name__}>",
        )
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__} that JSON cannot hold>"


def _loads_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
