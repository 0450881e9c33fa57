"""A question with one strict answer: no tools, data as JSON, one repair round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gitmem.domain.canonical import sha256_hex
from gitmem.domain.injected import mark_own
from gitmem.domain.strict_json import plain_text, write_json
from gitmem.errors import InvalidInput, ModelFailed
from gitmem.llm.budget import Budget, Usage
from gitmem.llm.client import ModelClient, Reply

T = TypeVar("T")
#: Characters of an answer that is quoted back to the model that gave it.
_QUOTED = 4000
_AGAIN = "That answer cannot be used: {}. Answer again, with the JSON alone."


@dataclass(frozen=True, slots=True)
class Asked(Generic[T]):
    """An answer that was read, who gave it, and what it took.

    ``model`` is the id that the endpoint reported; ``who`` the same as ``model:ID@HOST``.
    """

    value: T
    model: str
    who: str
    usage: Usage
    repaired: bool = False


def first_messages(
    role: str, prompt: str, data: Mapping[str, Any], nonce: str
) -> list[dict[str, Any]]:
    """Return the messages that begin every question: the role's prompt, and its data as JSON.

    The data is one message of its own, sorted by key, between two lines that carry a nonce,
    and is never formatted into the instructions. That nonce is made of ``nonce``, which nobody is
    shown, and of all that is asked: no data can hold it, whoever wrote it after whatever they saw
    before. The prompt begins with the mark by which gitmem knows its own sessions.
    """
    body = write_json(data, indent=1)
    fence = sha256_hex("\0".join((nonce, role, prompt, body)).encode())[:32]
    return [
        {"role": "system", "content": mark_own(prompt, role, fence)},
        {"role": "user", "content": f"data {fence}\n{body}\nend of data {fence}"},
    ]


def ask(
    client: ModelClient,
    *,
    role: str,
    prompt: str,
    data: Mapping[str, Any],
    read: Callable[[str], T],
    budget: Budget,
    nonce: str,
    schema: Mapping[str, Any] | None = None,
) -> Asked[T]:
    """Ask ``client`` and return what ``read`` makes of the whole answer.

    Where ``read`` refuses it, the model gets its answer back with the reason, once.

    Raises:
        ModelFailed: no usable answer, also after the repair round.
    """
    messages = first_messages(role, prompt, data, nonce)
    reply = client.complete(messages, budget=budget, schema=schema)
    return settle(client, messages, reply, read, budget, schema, Usage())


def settle(
    client: ModelClient,
    messages: list[dict[str, Any]],
    reply: Reply,
    read: Callable[[str], T],
    budget: Budget,
    schema: Mapping[str, Any] | None,
    before: Usage,
) -> Asked[T]:
    """Read the last reply of a conversation; where it is wrong, let the model mend it, once.

    Raises:
        ModelFailed: it is of no use, also after that.
    """
    value, wrong = _read(reply, read)
    if wrong is None:
        return Asked(value, reply.model, client.who(reply.model), before + reply.usage)  # type: ignore[arg-type]
    again = [
        *messages,
        {"role": "assistant", "content": plain_text(reply.text[:_QUOTED]) or "(nothing)"},
        {"role": "user", "content": _AGAIN.format(plain_text(wrong))},
    ]
    second = client.complete(again, budget=budget, schema=schema)
    usage = before + reply.usage + second.usage
    value, still = _read(second, read)
    if still is not None:
        raise ModelFailed(
            f"the {client.settings.role} ({client.settings.model} at {client.settings.host}) "
            f"gave no usable answer: {still}",
            hint="Nothing of its answer was used.",
        )
    if second.model != reply.model:
        raise ModelFailed("the endpoint answered with two different models in one conversation")
    return Asked(value, second.model, client.who(second.model), usage, repaired=True)  # type: ignore[arg-type]


def _read(reply: Reply, read: Callable[[str], T]) -> tuple[T | None, str | None]:
    """Return what was read, or why not."""
    if reply.tool_calls:
        return None, "it calls a tool"
    if reply.finish_reason != "stop":
        return None, f"it did not end by itself (finish reason {reply.finish_reason[:40]!r})"
    try:
        return read(reply.text), None
    except InvalidInput as error:
        return None, str(error.message)
