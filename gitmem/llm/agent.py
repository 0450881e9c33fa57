"""A model with read-only tools: a bounded number of rounds, then one strict answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from gitmem.domain.strict_json import plain_text, write_json
from gitmem.errors import GitmemError, InvalidInput, ModelFailed
from gitmem.llm.budget import Budget, Usage
from gitmem.llm.client import ModelClient, Reply, ToolCall
from gitmem.llm.side_query import Asked, first_messages, settle

T = TypeVar("T")
#: Rounds of tool calls before the answer has to come.
ROUNDS = 8
#: Calls in one round, and characters of one result that are passed on.
MAX_CALLS = 8
MAX_RESULT = 20_000
#: Characters that it may write beside and into the calls of one round.
MAX_SAID = 100_000


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call. ``parameters`` is the JSON schema of the arguments.

    ``run`` only reads; it raises a GitmemError for arguments that it cannot serve, which is
    told to the model. What it returns goes to the model as data.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    run: Callable[[Mapping[str, Any]], Any]

    def declared(self) -> dict[str, Any]:
        """Return the tool as the protocol declares it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": dict(self.parameters),
        }
        return {"type": "function", "function": function}


def run_agent(
    client: ModelClient,
    *,
    role: str,
    prompt: str,
    data: Mapping[str, Any],
    tools: Sequence[Tool],
    read: Callable[[str], T],
    budget: Budget,
    nonce: str,
    schema: Mapping[str, Any] | None = None,
    rounds: int = ROUNDS,
) -> Asked[T]:
    """Let ``client`` look around with ``tools``, and return what ``read`` makes of its answer.

    Raises:
        ModelFailed: no usable answer, more rounds than allowed, or another model answered in
            between.
    """
    messages = first_messages(role, prompt, data, nonce)
    declared = [tool.declared() for tool in tools]
    known = {tool.name: tool for tool in tools}
    usage, model = Usage(), None
    for _ in range(rounds + 1):
        # The schema is of the answer; with tools it would forbid to call one on some endpoints.
        reply = client.complete(messages, budget=budget, tools=declared)
        if model is not None and reply.model != model:
            raise ModelFailed("the endpoint answered with two different models in one conversation")
        model = reply.model
        if not reply.tool_calls:
            return settle(client, messages, reply, read, budget, schema, usage)
        if len(reply.tool_calls) > MAX_CALLS:
            raise ModelFailed(f"the {role} called {len(reply.tool_calls)} tools at once")
        if _size(reply) > MAX_SAID:
            raise ModelFailed(f"the {role} wrote more than {MAX_SAID} characters around its tools")
        usage += reply.usage
        messages += [_said(reply), *(_answered(call, known) for call in reply.tool_calls)]
    raise ModelFailed(f"the {role} used its {rounds} rounds of tools and gave no answer")


def _size(reply: Reply) -> int:
    calls = (len(call.id) + len(call.name) + len(call.arguments) for call in reply.tool_calls)
    return len(reply.text) + sum(calls)


def _said(reply: Reply) -> dict[str, Any]:
    calls = [
        {
            "id": plain_text(call.id),
            "type": "function",
            "function": {"name": plain_text(call.name), "arguments": plain_text(call.arguments)},
        }
        for call in reply.tool_calls
    ]
    return {"role": "assistant", "content": plain_text(reply.text) or None, "tool_calls": calls}


def _answered(call: ToolCall, known: Mapping[str, Tool]) -> dict[str, Any]:
    """Return the result of one call as the message that the model gets: JSON, and data."""
    try:
        tool = known.get(call.name)
        if tool is None:
            raise InvalidInput(f"there is no tool {call.name[:80]!r}")
        result: Any = {"result": tool.run(_arguments(call))}
    except GitmemError as error:
        result = {"error": error.message}
    text = write_json(result)
    if len(text) > MAX_RESULT:
        cut = {"cut_off_at": MAX_RESULT, "of": len(text), "beginning": text[:MAX_RESULT]}
        text = write_json(cut)
    return {"role": "tool", "tool_call_id": plain_text(call.id), "content": text}


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    try:
        value = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidInput("the arguments are no JSON object")
    return value
