"""What the projection holds, and the questions it answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import nsmallest
from operator import itemgetter
from typing import Any, NamedTuple

from gitmem.cache.chain import Chain
from gitmem.cache.superseding import Edge, without_circles
from gitmem.domain.layout import RECORD_TYPES
from gitmem.domain.view import ViewRow

#: SQLite's historical limit of variables in a statement is 999.
_BATCH = 500
#: Bytes of a block for each document in it: its number and its code, 32 bits each.
_POSTING = 8
#: Records that are superseded by one which is valid on a day, or was. In this order (CROSS JOIN
#: keeps it), since most of what was ever superseded is retired.
_SUPERSEDED = (
    "records old CROSS JOIN supersedes s ON s.name=old.name CROSS JOIN records new ON new.name=s.by"
    " WHERE old.superseded=1 AND (new.valid_from IS NULL OR new.valid_from<=?1)"
)
_TYPES = dict(enumerate(RECORD_TYPES))
_RECORD_KEYS = {"name", "body", "evidence", "supersedes"}
_QUOTE_KEYS = {"session", "message", "cls", "attested", "at", "quote", "digest"}


class RecordRow(NamedTuple):
    """A record of the newest accepted commit, and who approved its present form."""

    name: str
    type: str
    path: str
    blob: str
    description: str
    status: str | None
    valid_from: str | None
    valid_until: str | None
    change: str
    approved_by: tuple[str, ...]
    approved_at: str


class Projection(Chain):
    """The records of the newest accepted commit, and how they came to be.

    Contents that cannot be what gitmem wrote are ``Damaged``, never another error.
    """

    # --- blobs ----------------------------------------------------------------------------

    def blob(self, oid: str) -> dict[str, Any] | None:
        """Return the record or quote in a blob that an accepted commit brought in, else None."""
        rows = self._run("SELECT json FROM blobs WHERE oid=?", (oid,))
        if not rows:
            return None
        with self._decoding():
            parsed: dict[str, Any] = json.loads(rows[0][0])
            if not (parsed.keys() >= _RECORD_KEYS or parsed.keys() >= _QUOTE_KEYS):
                raise ValueError(f"blob {oid} is neither a record nor a quote")
        return parsed

    def put_blob(self, oid: str, parsed: Mapping[str, Any]) -> None:
        """Keep what was parsed out of a blob, for readers; verification reads git itself."""
        text = json.dumps(parsed, ensure_ascii=False)
        self._run("INSERT OR REPLACE INTO blobs VALUES(?,?)", (oid, text))

    # --- records --------------------------------------------------------------------------

    def record(self, name: str) -> RecordRow | None:
        """Return the row of one record."""
        rows = self._rows("WHERE name=?", (name,))
        return rows[0] if rows else None

    def records(self, record_type: str | None = None) -> list[RecordRow]:
        """Return the rows of all records, by type and name."""
        if record_type is None:
            return self._rows("ORDER BY rank, name", ())
        rank = RECORD_TYPES.index(record_type)
        return self._rows("WHERE rank=? ORDER BY name", (rank,))

    def supersedes(self, name: str) -> list[str]:
        """Return what the record ``name`` supersedes, remembered or not."""
        rows = self._run("SELECT name FROM supersedes WHERE by=? ORDER BY name", (name,))
        return [str(old) for (old,) in rows]

    def view_rows(self, limit: int) -> tuple[list[ViewRow], list[ViewRow]]:
        """Return the first ``limit`` records that stand, and that are superseded, in order."""
        return self._view_rows(0, limit), self._view_rows(1, limit)

    def _view_rows(self, superseded: int, limit: int) -> list[ViewRow]:
        found = self._run(
            "SELECT name, rank, description, path, status, valid_from, valid_until FROM records"
            " WHERE superseded=? ORDER BY rank, name LIMIT ?",
            (superseded, limit),
        )
        with self._decoding():
            return [ViewRow(name, _TYPES[rank], *rest) for name, rank, *rest in found]

    def superseded_by(self, day: str, name: str | None = None) -> dict[str, tuple[str, ...]]:
        """Return which records (or whether ``name``) are superseded on ``day``, and by which.

        What is not valid yet on that day supersedes nothing yet; nor do records that supersede
        each other in a circle. Days are ISO dates, UTC.
        """
        found: dict[str, tuple[str, ...]] = {}
        if name is not None and not self._run(
            f"SELECT 1 FROM {_SUPERSEDED} AND old.name=?2 LIMIT 1", (day, name)
        ):
            return found
        for superseded, by in self._superseded(day):
            if name in (None, superseded):
                found[superseded] = (*found.get(superseded, ()), by)
        return found

    def _superseded(self, day: str) -> list[Edge]:
        query = f"SELECT old.name, s.by FROM {_SUPERSEDED} ORDER BY old.name, s.by"
        with self._decoding():
            return without_circles((str(old), str(by)) for old, by in self._run(query, (day,)))

    def out_of_force(self, day: str) -> set[str]:
        """Return the names that are superseded on ``day``, expired or not valid yet."""
        found = self._run(
            "SELECT name FROM records WHERE (valid_from NOT NULL OR valid_until NOT NULL)"
            " AND (valid_until<?1 OR valid_from>?1)",
            (day,),
        )
        return {name for (name,) in found} | {old for old, _ in self._superseded(day)}

    def count(self) -> int:
        """Return the number of records."""
        return int(self._run("SELECT COUNT(*) FROM records")[0][0])

    def _rows(self, where: str, values: Sequence[Any]) -> list[RecordRow]:
        found = self._run(
            "SELECT name, rank, path, blob, description, status, valid_from, valid_until, change,"
            f" approved_by, approved_at FROM records {where}",
            values,
        )
        with self._decoding():
            return [
                RecordRow._make((name, _TYPES[rank], *rest, _people(approved_by), at))
                for name, rank, *rest, approved_by, at in found
            ]

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Return the document numbers of names, a new one for each name that has none."""
        found: dict[str, int] = {}
        top = self._run("SELECT COALESCE(MAX(number), -1) FROM records")[0][0]
        for name in names:
            rows = self._run("SELECT number FROM records WHERE name=?", (name,))
            if not rows:
                top += 1
            found[name] = rows[0][0] if rows else top
        return found

    def put_record(self, row: RecordRow, number: int, supersedes: Iterable[str]) -> None:
        """Insert or replace a record, and what it supersedes."""
        self._run("DELETE FROM records WHERE name=?", (row.name,))
        self._run(
            "INSERT INTO records VALUES(?,?,?,?,?,?,?,?,?,0,?,?,?)",
            (
                row.name,
                number,
                RECORD_TYPES.index(row.type),
                row.path,
                row.blob,
                row.description,
                row.status,
                row.valid_from,
                row.valid_until,
                row.change,
                json.dumps(row.approved_by, ensure_ascii=False),
                row.approved_at,
            ),
        )
        self._set_supersedes(row.name, supersedes)

    def remove_record(self, name: str) -> None:
        """Take a record out."""
        self._run("DELETE FROM records WHERE name=?", (name,))
        self._set_supersedes(name, ())

    def _set_supersedes(self, by: str, names: Iterable[str]) -> None:
        old = {row[0] for row in self._run("SELECT name FROM supersedes WHERE by=?", (by,))}
        new = set(names)
        self._run_many(
            "INSERT OR IGNORE INTO lineage SELECT ?, ?, COALESCE(MAX(seq), 0) + 1 FROM commits",
            [(name, by) for name in new - old],
        )
        self._run("DELETE FROM supersedes WHERE by=?", (by,))
        self._run_many("INSERT INTO supersedes VALUES(?,?)", [(name, by) for name in new])
        for name in sorted(old | new | {by}):
            self._run(
                "UPDATE records SET superseded=EXISTS(SELECT 1 FROM supersedes WHERE name=?1)"
                " WHERE name=?1",
                (name,),
            )

    def forget_all(self) -> None:
        """Empty the projection, parsed blobs and all; inside a transaction."""
        self._create()

    # --- postings -------------------------------------------------------------------------

    def size(self) -> tuple[int, int]:
        """Return the number of documents and of their terms."""
        with self._decoding():
            return int(self.meta("documents") or 0), int(self.meta("terms") or 0)

    def block(self, term: str, block: int) -> bytes:
        """Return one block of postings, empty where there is none."""
        rows = self._run("SELECT data FROM blocks WHERE term=? AND block=?", (term, block))
        return self._checked(rows[0][0]) if rows else b""

    def _checked(self, data: Any) -> bytes:
        if not isinstance(data, bytes) or not data or len(data) % _POSTING:
            raise self.damaged("a block of postings is cut off")
        return data

    def put_block(self, term: str, block: int, data: bytes) -> None:
        """Keep a block of postings; an empty one is taken out."""
        if data:
            self._run("INSERT OR REPLACE INTO blocks VALUES(?,?,?)", (term, block, data))
        else:
            self._run("DELETE FROM blocks WHERE term=? AND block=?", (term, block))

    def blocks(self, terms: Sequence[str]) -> list[tuple[str, bytes]]:
        """Return every block of these terms."""
        found: list[tuple[str, bytes]] = []
        for part in _batches(terms):
            marks = ",".join("?" * len(part))
            rows = self._run(
                f"SELECT term, data FROM blocks WHERE term IN ({marks}) ORDER BY term, block", part
            )
            found += [(term, self._checked(data)) for term, data in rows]
        return found

    def names(self, numbers: Sequence[int]) -> dict[int, str]:
        """Return the names behind document numbers; each must be a record's."""
        found: dict[int, str] = {}
        for part in _batches(numbers):
            marks = ",".join("?" * len(part))
            query = f"SELECT number, name FROM records WHERE number IN ({marks})"
            found.update((number, name) for number, name in self._run(query, part))
        if len(found) != len(set(numbers)):
            raise self.damaged("a posting names a document that is not there")
        return found

    def first_names(self, numbers: Sequence[int], limit: int) -> dict[int, str]:
        """Return the names of those ``limit`` of these documents whose names come first.

        Where there are many, names are gone through in order until enough are found, for as long
        as that reads less than to ask for all of them.
        """
        wanted = set(numbers)
        found: dict[int, str] = {}
        after = ""
        for _ in range(len(wanted) // _BATCH if limit < len(wanted) else 0):
            rows = self._run(
                "SELECT number, name FROM records WHERE name>? ORDER BY name LIMIT ?",
                (after, _BATCH),
            )
            found.update((number, name) for number, name in rows if number in wanted)
            if len(found) >= limit or not rows:
                break
            after = rows[-1][1]
        if len(found) < limit:
            found = self.names(numbers)
        return dict(nsmallest(limit, found.items(), key=itemgetter(1)))


@lru_cache(maxsize=256)
def _people(text: str) -> tuple[str, ...]:
    """Return who approved; most records of a store were approved by the same few."""
    return tuple(json.loads(text))


def _batches(values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]
