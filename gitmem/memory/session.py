"""One conversation of an agent with its memory: what it gets before a turn, what is kept after."""

from __future__ import annotations

import copy
import os
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from gitmem.config import find_store
from gitmem.errors import GitmemError
from gitmem.memory.selecting import SESSION_BYTES

if TYPE_CHECKING:
    from gitmem.memory.opened import Clock
    from gitmem.results import Selection

#: What can be wrong with messages of any making, and with a store: none of it is the caller's.
_WRONG = (
    GitmemError,
    OSError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


class MemorySession:
    """A memory around one conversation. Use it as a context manager, or :meth:`close` it.

    A turn is: :meth:`begin_turn` with what the person asks, :meth:`before_model` around every
    request of the turn, :meth:`complete` with the whole history once it is answered. What is
    worth keeping is then proposed and reviewed in a thread of its own; no failure there, and
    none in the choice of memories, ever reaches the caller: see :attr:`last_error` and
    ``gitmem status``.

    Attributes:
        last_error: why the last thing that failed did, or None.
        selection: what :meth:`begin_turn` chose last, and whether that was degraded.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        clock: Clock = time.time,
        background: bool = True,
    ) -> None:
        """Open the memory at ``path``, else ``GITMEM_STORE``, else ``.memory`` here or above.

        ``background=False`` leaves the work after a turn queued, for ``gitmem extract --queued``.

        Raises:
            NotFound: there is none.
        """
        from gitmem.memory import MemoryStore
        from gitmem.sessions import LiveSession

        self._path = Path(find_store(path, os.environ)).resolve()
        self._clock = clock
        self._memory = MemoryStore.open(self._path, clock=clock)
        self._live = LiveSession()
        self._injected: set[str] = set()
        self._room = SESSION_BYTES
        self._block = ""
        self.selection: Selection | None = None
        self.last_error: str | None = None
        self._worker = _Worker(self) if background else None

    # --- before a turn ------------------------------------------------------------------------

    def index_block(self) -> str:
        """Return what is remembered as an index for the system prompt (``MEMORY.md``).

        Stable bytes while memory is unchanged; empty when it cannot be read.
        """
        try:
            return self._memory.index_block()
        except (GitmemError, OSError) as error:
            self.last_error = str(error)
            return ""

    def begin_turn(self, query: str) -> Selection | None:
        """Choose what the turn that begins with ``query`` gets, from memory as it is now.

        What this conversation has already is not given again, unless it changed. None where
        memory cannot be read.
        """
        self._block = ""
        self.selection = None
        try:
            found = self._memory.select(query, skip=self._injected, max_bytes=self._room)
        except (GitmemError, OSError) as error:
            self.last_error = str(error)
            return None
        self._block = found.block
        self._room -= len(found.block.encode("utf-8"))
        self._injected |= set(found.injected.values())
        self.selection = found
        if found.degraded:
            self.last_error = found.reason
        return found

    def before_model(self, messages: Sequence[Any]) -> list[Any]:
        """Return the messages of a request with this turn's memories before the last user message.

        A new list: neither ``messages`` nor anything in it is changed. Give the history without
        what an earlier call added.
        """
        request = list(messages)
        if not self._block:
            return request
        at = next(
            (n for n in range(len(request) - 1, -1, -1) if _field(request[n], "role") == "user"),
            len(request),
        )
        return [*request[:at], {"role": "user", "content": self._block}, *request[at:]]

    # --- after a turn -------------------------------------------------------------------------

    def complete(self, history: Sequence[Any]) -> bool:
        """Keep a turn: the whole history so far, as message dicts or the openai client's objects.

        It is written down durably and queued, and the caller goes on; whether that worked is
        returned. ``history`` is what was said, not what was sent: without :meth:`before_model`'s
        block, and before any compaction.
        """
        try:
            session = self._captured([_plain(message) for message in history])
        except _WRONG as error:
            self.last_error = str(error) or type(error).__name__
            return False
        if session and self._worker:
            self._worker.wake()
        return True

    def _captured(self, history: list[Mapping[str, Any]]) -> str | None:
        from gitmem.domain.instants import format_instant
        from gitmem.domain.layout import ARTIFACTS, SESSIONS, SPOOL
        from gitmem.sessions import Artifacts, SessionFiles, Spool

        new = self._live.new_in(history)
        if not new:
            return None
        store = self._memory._opened()
        now = format_instant(int(self._clock()))
        with store.repo.lock():
            private = store.repo.private
            kept = (SessionFiles(private / SESSIONS), Artifacts(private / ARTIFACTS))
            session = self._live.capture(*kept, new, now)
            Spool(private / SPOOL).put(session, now)
        return session

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until what was completed is worked off; False when ``timeout`` seconds were less."""
        return self._worker.wait(timeout) if self._worker else True

    def close(self, timeout: float | None = 30.0) -> None:
        """Wait for the work in the background, at most ``timeout`` seconds, and close the memory.

        What is not done by then stays queued.
        """
        if self._worker:
            self._worker.stop(timeout)
            self._worker = None
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class _Worker:
    """The thread that works off the queue, with a memory of its own."""

    def __init__(self, session: MemorySession) -> None:
        self._session = session
        self._changed = threading.Condition()
        self._asked = self._done = 0
        self._stopping = False
        self._thread: threading.Thread | None = None

    def wake(self) -> None:
        with self._changed:
            self._asked += 1
            self._changed.notify_all()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="gitmem", daemon=True)
                self._thread.start()

    def wait(self, timeout: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._done == self._asked, timeout)

    def stop(self, timeout: float | None) -> None:
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._asked != self._done or self._stopping)
                asked = self._asked
                if asked == self._done:
                    return
            error = None
            try:
                error = self._work_off()
            finally:  # whatever happens in this thread: nobody waits for ever
                with self._changed:
                    self._session.last_error = error or self._session.last_error
                    self._done = asked
                    self._changed.notify_all()

    def _work_off(self) -> str | None:
        """Work off what is queued; return what went wrong. Nothing is raised: nobody would see."""
        from gitmem.memory import MemoryStore

        try:
            with MemoryStore.open(self._session._path, clock=self._session._clock) as memory:
                memory.work_off()
                failed = [entry.error for entry in memory.queued() if entry.error]
                return failed[-1] if failed else None
        except _WRONG as error:
            return str(error) or type(error).__name__


def _field(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _plain(message: Any) -> Mapping[str, Any]:
    """Return a message as plain data of one's own; the openai client gives objects."""
    if isinstance(message, Mapping):
        return message
    dump = getattr(message, "model_dump", None)
    if dump is None:
        raise TypeError(f"a message is a mapping, not {type(message).__name__}")
    plain: Mapping[str, Any] = dump(mode="json", exclude_none=True)
    return copy.copy(plain)
