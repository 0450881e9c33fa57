"""The tables of the projection, and the seal that tells who wrote them."""

from __future__ import annotations

from collections.abc import Iterator

#: ``gmem``: marks a database as gitmem's own. Nothing is ever dropped in another one.
APPLICATION = 0x676D656D
#: Raised whenever a table, or what a parsed blob looks like, changes; other files are rebuilt.
SCHEMA = 3

_TABLES = {
    "meta": "key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "blobs": "oid TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID",
    "records": """
  name TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE, rank INTEGER NOT NULL,
  path TEXT NOT NULL, blob TEXT NOT NULL, description TEXT NOT NULL, status TEXT,
  valid_from TEXT, valid_until TEXT, superseded INTEGER NOT NULL, change TEXT NOT NULL,
  approved_by TEXT NOT NULL, approved_at TEXT NOT NULL)""",
    "supersedes": "name TEXT NOT NULL, by TEXT NOT NULL, PRIMARY KEY(name, by)) WITHOUT ROWID",
    "lineage": """
  name TEXT NOT NULL, by TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY(name, by, seq)) WITHOUT ROWID""",
    "commits": """
  seq INTEGER PRIMARY KEY, oid TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, change TEXT NOT NULL,
  at TEXT NOT NULL, approved_by TEXT NOT NULL, records TEXT NOT NULL, reason TEXT NOT NULL)""",
    "touched": "name TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(name, seq)) WITHOUT ROWID",
    "decided": "id TEXT PRIMARY KEY, what TEXT NOT NULL, seq INTEGER NOT NULL) WITHOUT ROWID",
    "blocks": """
  term TEXT NOT NULL, block INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY(term, block)) WITHOUT ROWID""",
}
_INDEXES = (
    "CREATE INDEX records_in_order ON records(superseded, rank, name)",
    "CREATE INDEX records_dated ON records(valid_until) WHERE valid_from NOT NULL"
    " OR valid_until NOT NULL",
    "CREATE INDEX supersedes_by ON supersedes(by)",
    "CREATE INDEX lineage_by ON lineage(by)",
)
# Every change of a row is counted by a trigger, whoever makes it; a transaction of gitmem ends
# by sealing the count. Where the two differ, another program was at it. ``cookie`` is SQLite's
# own counter of changes to the tables themselves, so that a trigger cannot go unseen either.
_SEAL = "CREATE TABLE seal(changes INTEGER NOT NULL, sealed INTEGER NOT NULL, cookie INTEGER)"


def commands() -> Iterator[str]:
    """Yield what makes the tables in an empty database; the seal is still open then."""
    yield _SEAL
    yield "INSERT INTO seal VALUES(0, 0, NULL)"
    for table, columns in _TABLES.items():
        yield f"CREATE TABLE {table}({columns}"
    yield from _INDEXES
    for table in _TABLES:
        for event in ("INSERT", "UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_{event.lower()} AFTER {event} ON {table}"
                " BEGIN UPDATE seal SET changes=changes+1; END"
            )
    yield f"PRAGMA application_id={APPLICATION}"
    yield f"PRAGMA user_version={SCHEMA}"
