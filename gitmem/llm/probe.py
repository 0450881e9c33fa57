"""Trying an endpoint: which model answers, and what it can be held to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gitmem.domain.strict_json import read_json
from gitmem.errors import InvalidInput, ModelFailed
from gitmem.llm.agent import Tool, run_agent
from gitmem.llm.budget import Budget
from gitmem.llm.client import ModelClient
from gitmem.llm.side_query import ask

_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
_JSON = 'Answer with this JSON and nothing else: {"answer": "yes"}'
_TOOLS = (
    'Call the tool `look` once. Then answer with {"answer": WORD}, WORD being what it returned.'
)
_WORD = "marmalade"


@dataclass(frozen=True, slots=True)
class Probe:
    """What an endpoint showed. ``json`` is ``schema`` where it takes one, ``plain`` where the
    model answers with JSON without, and why not otherwise; ``tools`` is ``yes``, or why not."""

    model: str
    json: str
    tools: str

    @property
    def is_usable(self) -> bool:
        """Whether it can play every role: it names its model, answers in JSON, and calls tools."""
        return bool(self.model) and self.json in ("schema", "plain") and self.tools == "yes"


def probe(client: ModelClient, budget: Budget, nonce: str) -> Probe:
    """Ask two small questions.

    Raises:
        ModelFailed: the endpoint does not answer at all.
    """
    budget.left()
    reply = client.complete([{"role": "user", "content": "Say yes."}], budget=budget)
    common: dict[str, Any] = {"role": client.settings.role, "budget": budget, "nonce": nonce}
    try:
        ask(client, prompt=_JSON, data={}, read=_answer, schema=_SCHEMA, **common)
        said = "schema" if client.takes_schema else "plain"
    except ModelFailed as error:
        said = error.message
    looked: list[str] = []

    def look(_: object) -> str:
        looked.append(_WORD)
        return _WORD

    tool = Tool("look", "Returns a word.", {"type": "object", "properties": {}}, look)
    try:
        run_agent(client, prompt=_TOOLS, data={}, tools=[tool], read=_answer, rounds=3, **common)
        tools = "yes" if looked else "it called no tool"
    except ModelFailed as error:
        tools = "yes, but its answer afterwards was no JSON" if looked else error.message
    return Probe(reply.model, said, tools)


def _answer(text: str) -> str:
    value = read_json(text)
    if not isinstance(value, dict) or not isinstance(value.get("answer"), str):
        raise InvalidInput('the answer has to be an object with "answer"')
    return str(value["answer"])
