"""What goes over the wire to an endpoint, and how much of what comes back is let in.

The ``openai`` package adds what it finds in its own variables (headers that were meant for its
own host, another host to ask, a log of all it does), and reads the body of an error whatever its
length. Here is what gitmem sends, and no more; and a reply ends where its time or room does.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

import httpx2

T = TypeVar("T")
#: Bytes of the longest reply that is read.
MAX_REPLY = 8 * 1024 * 1024
#: What a request says besides its body. Compressed replies are not asked for, and not unpacked:
#: a small one can hold a very large one.
_SENT = ("host", "content-type", "content-length", "connection")
_OURS = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "gitmem"}
#: Loggers of the packages in between. What they would log of a question is the user's own.
_LOGGERS = (
    "openai",
    "openai._base_client",
    "openai._response",
    "openai._legacy_response",
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.proxy",
    "httpcore2.socks",
)
_asking: ContextVar[bool] = ContextVar("gitmem asks a model", default=False)


class Unreadable(httpx2.DecodingError):
    """A reply is of a kind that is not read; says why."""


class Wire(httpx2.Client):
    """Connections to one endpoint: never to where it redirects, and for this machine past any
    proxy. ``timeout`` is in seconds, of one reply to its end; ``key`` is sent to nobody else."""

    def __init__(self, *, key: str, local: bool, tls: bool, timeout: float) -> None:
        super().__init__(
            follow_redirects=False,
            trust_env=not local,
            # Without TLS there is nothing to verify, and the list of authorities is long.
            verify=tls,
        )
        self._key = key
        self._seconds = timeout

    def send(self, request: httpx2.Request, **how: Any) -> httpx2.Response:
        """Send a request with gitmem's own headers, and bound what is read of the reply."""
        kept = {name: request.headers[name] for name in _SENT if name in request.headers}
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={**kept, **_OURS, "Authorization": f"Bearer {self._key}"},
            stream=request.stream,
            extensions=request.extensions,
        )
        until = time.monotonic() + self._seconds
        response = super().send(sent, **{**how, "stream": True, "follow_redirects": False})
        response.request = request  # by whose headers the package knows what it wanted
        response.stream = _Bounded(response, until)
        return response


class _Bounded(httpx2.SyncByteStream):
    """The body of a reply, up to a size and a time."""

    def __init__(self, response: httpx2.Response, until: float) -> None:
        self._request = response.request
        assert isinstance(response.stream, httpx2.SyncByteStream)
        self._stream = response.stream
        self._until = until
        self._packed = response.headers.get("content-encoding", "identity").lower() != "identity"

    def __iter__(self) -> Iterator[bytes]:
        if self._packed:
            raise Unreadable("the reply is compressed, unasked", request=self._request)
        size = 0
        for piece in self._stream:
            size += len(piece)
            if size > MAX_REPLY:
                raise Unreadable(
                    f"the reply is longer than {MAX_REPLY} bytes", request=self._request
                )
            if time.monotonic() > self._until:
                raise httpx2.ReadTimeout("the reply does not end", request=self._request)
            yield piece

    def close(self) -> None:
        self._stream.close()


class _Outcome:
    """What a thread came to: as a context manager it takes what was raised to whoever waits."""

    error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> Literal[True]:
        self.error = error
        return True


def within(seconds: float, ask: Callable[[], T]) -> T:
    """Return what ``ask`` does, unless it takes longer: names that nobody resolves, and replies
    that begin without end, have no other bound. What it then still does is left to itself.

    Raises:
        TimeoutError: it takes longer.
    """
    outcome = _Outcome()
    done: list[T] = []

    def run() -> None:
        with outcome:
            _asking.set(True)
            done.append(ask())

    thread = threading.Thread(target=run, name="gitmem-model", daemon=True)
    thread.start()
    thread.join(seconds)
    if outcome.error is not None:
        raise outcome.error
    if not done:
        raise TimeoutError
    return done[0]


def quieten() -> None:
    """Keep questions out of the logs of the packages in between, whatever those were told."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_unheard)


def _unheard(record: logging.LogRecord) -> bool:
    return not _asking.get()
