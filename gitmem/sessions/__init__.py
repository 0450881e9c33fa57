"""Canonical histories on disk: what was really said, as far as it was captured.

One file a session, ``<id>.jsonl``, only ever appended to: a header, then one line a message
(canonical JSON), and in between markers that say how far the session was consumed. Secrets
are redacted here, once, before anything is written; a stored message never changes again.

Every method that writes expects its caller to hold the store's lock. A line counts when its
line feed is there: a torn last line is not read, and is cut off before the next is written.
"""

from gitmem.sessions.aging import STATEMENT
from gitmem.sessions.artifacts import Artifacts
from gitmem.sessions.files import Captured, SessionFiles
from gitmem.sessions.format import Spans
from gitmem.sessions.history import StoredMessages
from gitmem.sessions.live import LiveSession
from gitmem.sessions.marks import Mark
from gitmem.sessions.spool import Queued, Spool

__all__ = [
    "STATEMENT",
    "Artifacts",
    "Captured",
    "LiveSession",
    "Mark",
    "Queued",
    "SessionFiles",
    "Spans",
    "Spool",
    "StoredMessages",
]
