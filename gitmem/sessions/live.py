"""A conversation that goes on while it is captured: each turn adds its messages, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from gitmem.domain.pairing import check_pairs
from gitmem.errors import InvalidInput
from gitmem.sessions.artifacts import Artifacts
from gitmem.sessions.files import SessionFiles
from gitmem.transcripts.openai import Continuing


class LiveSession:
    """One conversation of a program, which gives its whole history after each turn.

    What was captured is never read, masked or written again, however long the history is; that
    it is still its beginning is compared each time.
    """

    def __init__(self) -> None:
        self.id: str | None = None
        self._captured: list[Mapping[str, Any]] = []
        self._reading = Continuing()
        self._before = ""
        self._end = 0

    def __len__(self) -> int:
        return len(self._captured)

    def new_in(self, history: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return an own copy of what is new in a history.

        Raises:
            InvalidInput: calls and results do not pair, or it does not begin with what was
                given before: it was compacted, or is another conversation's.
        """
        count = len(self._captured)
        if list(history[:count]) != self._captured:
            raise InvalidInput(
                "does not begin with the messages that were given before",
                where="history",
                hint="Give the whole history, not what was sent to the model after a compaction; "
                "a new conversation needs a session of its own.",
            )
        new = deepcopy(list(history[count:]))
        check_pairs(new)  # what came before was complete when it came
        return new

    def capture(
        self,
        sessions: SessionFiles,
        artifacts: Artifacts,
        new: Sequence[Mapping[str, Any]],
        now: str,
    ) -> str:
        """Store what is new; return the session's id. The caller holds the store's lock.

        Raises:
            InvalidInput: a message is none.
        """
        raws = [artifacts.shortened(raw) for raw in self._reading.read(new)]
        session_id, added = self.id or "", None
        if session_id:
            where = (len(self._captured), self._before, self._end)
            added = sessions.add(session_id, raws, *where)
        if added is None:
            # The first turn; or somebody else went on with that session in another way.
            read = Continuing().read([*self._captured, *new])
            whole = [artifacts.shortened(raw) for raw in read]
            with sessions.stage(whole) as staged:
                kept = sessions.keep(staged, "openai", attested="session", now=now, source=None)
            session_id = kept.session.id
            texts = [part.text for raw in whole for part in raw.parts]
            added = (texts[-1] if texts else "", sessions.end(session_id))
            self.id = session_id
        self._before, self._end = added
        self._captured += new
        return session_id
