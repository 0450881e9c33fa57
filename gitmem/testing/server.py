"""A server on loopback that speaks the OpenAI chat protocol with scripted answers."""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Request = Mapping[str, Any]
"""The JSON of one chat completion that was asked for."""


@dataclass(frozen=True)
class Answer:
    """One answer of a scripted model.

    Attributes:
        text: what it says.
        tool_calls: made with :func:`tool_call`; the finish reason is then ``tool_calls``.
        model: the id that is reported: None for the one that was asked for, "" for none at all.
        usage: tokens read and written; None leaves the field out.
        status: another HTTP status than 200 answers with an error.
        error: the ``param`` of that error, as endpoints name what they do not take.
        headers: more headers, like ``Retry-After``.
        body: these very bytes instead of a chat completion.
        cut: send only so many bytes of the body, and close the connection.
        wait: answer only once this event is set.
        message: further fields of the message, like ``refusal`` or ``reasoning_content``.
        raw: these bytes instead of any HTTP response, piece by piece, and then the connection is
            closed; they may have no end, and are asked for until the client goes away.
    """

    text: str | None = ""
    tool_calls: tuple[Mapping[str, Any], ...] = ()
    finish_reason: str | None = None
    model: str | None = None
    usage: tuple[int, int] | None = (100, 20)
    status: int = 200
    error: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    cut: int | None = None
    wait: threading.Event | None = None
    message: Mapping[str, Any] = field(default_factory=dict)
    raw: Iterable[bytes] | None = None


Script = str | Answer | Callable[[Request], "str | Answer"]


def tool_call(tool: str, /, *, call_id: str = "call-1", **arguments: Any) -> Mapping[str, Any]:
    """Return a call of ``tool`` for :attr:`Answer.tool_calls`."""
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {"id": call_id, "type": "function", "function": function}


class ScriptedModels:
    """The server. Use it as a context manager: leaving it stops the server.

    Attributes:
        url: the base URL for a client, ending in ``/v1``.
        requests: every chat completion that was asked for, in order.
        headers: the headers of each, with lower-case names.

    Raises:
        AssertionError: on leaving, when something was asked that no script answered.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.unscripted: list[str] = []
        self._queued: dict[str, deque[Script]] = defaultdict(deque)
        self._always: dict[str, Script] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    @property
    def url(self) -> str:
        """The base URL, like ``http://127.0.0.1:40001/v1``."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def say(self, model: str, *answers: Script) -> Self:
        """Let ``model`` answer with these, each once, in this order.

        An answer is a text, an :class:`Answer`, or a function of the request.
        """
        with self._lock:
            self._queued[model].extend(answers)
        return self

    def always(self, model: str, answer: Script) -> Self:
        """Let ``model`` answer with this whenever nothing is queued for it."""
        with self._lock:
            self._always[model] = answer
        return self

    def asked(self, model: str) -> list[dict[str, Any]]:
        """Return what ``model`` was asked."""
        with self._lock:
            return [request for request in self.requests if request.get("model") == model]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if kind is None and self.unscripted:
            raise AssertionError(f"nobody scripted what was asked of {', '.join(self.unscripted)}")

    def _answer(self, request: dict[str, Any], headers: dict[str, str]) -> Answer:
        model = str(request.get("model"))
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            queue = self._queued[model]
            script = queue.popleft() if queue else self._always.get(model)
            if script is None:
                self.unscripted.append(model)
        if script is None:
            return Answer(status=418)
        said = script(request) if callable(script) else script
        return Answer(said) if isinstance(said, str) else said

    def _models(self) -> Sequence[str]:
        with self._lock:
            return sorted({*self._queued, *self._always})


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], models: ScriptedModels) -> None:
        super().__init__(address, _Handler)
        self.models = models

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away while it is answered is part of many tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: what was asked is kept in ``requests``."""

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            self._send(404, b"{}", {})
            return
        listed = [{"id": name, "object": "model"} for name in self.server.models._models()]
        self._send(200, _json({"object": "list", "data": listed}), {})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(length)
        if self.path != "/v1/chat/completions":
            self._send(404, b"{}", {})
            return
        request = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.models._answer(request, headers)
        if answer.wait is not None:
            answer.wait.wait()
        if answer.raw is not None:
            self.close_connection = True
            for piece in answer.raw:
                self.wfile.write(piece)
            return
        self._send(answer.status, _body(answer, request), answer.headers, answer.cut)

    def _send(
        self, status: int, body: bytes, headers: Mapping[str, str], cut: int | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def _body(answer: Answer, request: Request) -> bytes:
    if answer.body is not None:
        return answer.body
    if answer.status != 200:
        told = {"message": "scripted", "type": "error", "param": answer.error, "code": None}
        return _json({"error": told})
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, **answer.message}
    if answer.tool_calls:
        message["tool_calls"] = list(answer.tool_calls)
    usual = "tool_calls" if answer.tool_calls else "stop"
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": answer.finish_reason or usual,
    }
    completion: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "choices": [choice],
    }
    model = request.get("model") if answer.model is None else answer.model
    if model:
        completion["model"] = model
    if answer.usage is not None:
        read, written = answer.usage
        completion["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        }
    return _json(completion)
