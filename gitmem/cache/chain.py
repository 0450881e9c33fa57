"""The chain of main as the projection holds it: its commits, and what came of what."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from gitmem.cache.database import Database


class CommitRow(NamedTuple):
    """A commit of main in the order of the chain: genesis, merge, decision or stray.

    ``seq`` is its place in the chain, the root's being 1; 0 in a row that is yet to be added.
    """

    oid: str
    kind: str
    change: str
    at: str
    approved_by: tuple[str, ...]
    records: tuple[tuple[str, str], ...]
    reason: str
    seq: int = 0


class Chain(Database):
    """The commits of main in order, what they touched, and what they decided."""

    @contextmanager
    def _decoding(self) -> Iterator[None]:
        try:
            yield
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise self.damaged(f"{type(error).__name__}: {error}") from error

    def add_commit(self, row: CommitRow, decided: tuple[str, str] | None = None) -> None:
        """Append a commit of main. ``decided`` is a proposal's id and what became of it."""
        self._run(
            "INSERT INTO commits(oid, kind, change, at, approved_by, records, reason)"
            " VALUES(?,?,?,?,?,?,?)",
            (
                row.oid,
                row.kind,
                row.change,
                row.at,
                json.dumps(row.approved_by, ensure_ascii=False),
                json.dumps(row.records),
                row.reason,
            ),
        )
        seq = self._run("SELECT last_insert_rowid()")[0][0]
        names = sorted({name for name, _ in row.records})
        self._run_many("INSERT INTO touched VALUES(?,?)", [(name, seq) for name in names])
        if decided:
            self._run("INSERT INTO decided VALUES(?,?,?)", (*decided, seq))

    def commit(self, oid: str) -> CommitRow | None:
        """Return the row of a commit of main, None where it is not in the chain."""
        rows = self._commits("WHERE oid=?", (oid,))
        return rows[0] if rows else None

    def commits(
        self, name: str | None = None, limit: int | None = None, *, last: int | None = None
    ) -> list[CommitRow]:
        """Return commits of main, newest first.

        Args:
            name: only those that touched it.
            limit: at most so many.
            last: none behind this place in the chain.
        """
        where, values = "WHERE 1", []
        if name is not None:
            where, values = "WHERE seq IN (SELECT seq FROM touched WHERE name=?)", [name]
        where += "" if last is None else f" AND seq<={int(last)}"
        tail = "ORDER BY seq DESC" + ("" if limit is None else f" LIMIT {int(limit)}")
        return self._commits(f"{where} {tail}", values)

    def accepted(self, last: int | None = None, at: str | None = None) -> CommitRow | None:
        """Return the newest accepted commit, None where there is none.

        Args:
            last: none behind this place in the chain.
            at: none whose own date (UTC text, as in a row) is later.
        """
        where, values = "WHERE kind!='stray'", []
        if at is not None:
            where, values = where + " AND at<=?", [at]
        where += "" if last is None else f" AND seq<={int(last)}"
        rows = self._commits(f"{where} ORDER BY seq DESC LIMIT 1", values)
        return rows[0] if rows else None

    def dates(self, last: int, at: str) -> tuple[str, int]:
        """Return the earliest date of accepted commits, and how many up to ``last`` are later
        than ``at``."""
        first, later = self._run(
            "SELECT MIN(at), COUNT(*) FILTER (WHERE seq<=? AND at>?) FROM commits"
            " WHERE kind!='stray'",
            (last, at),
        )[0]
        return first or "", later

    def called(self, change: str) -> list[CommitRow]:
        """Return the accepted commits whose proposal or decision has an id that begins so."""
        values = (change, len(change))
        return self._commits("WHERE kind!='stray' AND substr(change, 1, ?2)=?1", values)

    def beginning(self, digits: str) -> list[CommitRow]:
        """Return the commits of main whose id begins with these hex digits."""
        return self._commits("WHERE oid>=? AND oid<?", (digits, digits + "g"))

    def approvals(self, last: int) -> dict[str, CommitRow]:
        """Return for each name the last commit up to the place ``last`` that touched it."""
        newest = "SELECT MAX(seq) FROM touched WHERE seq<=? GROUP BY name"
        rows = self._commits(f"WHERE seq IN ({newest}) ORDER BY seq", (last,))
        return {name: row for row in rows for name, _ in row.records}

    def sources(self, by: str) -> list[tuple[str, int]]:
        """Return what a record ever superseded, and from which place in the chain on."""
        found = self._run("SELECT name, seq FROM lineage WHERE by=? ORDER BY seq, name", (by,))
        return [(name, seq) for name, seq in found]

    def successors(self, name: str) -> list[tuple[str, int]]:
        """Return by what a record was ever superseded, and from which place in the chain on."""
        found = self._run("SELECT by, seq FROM lineage WHERE name=? ORDER BY seq, by", (name,))
        return [(by, seq) for by, seq in found]

    def _commits(self, where: str, values: Sequence[Any]) -> list[CommitRow]:
        found = self._run(
            f"SELECT oid, kind, change, at, approved_by, records, reason, seq FROM commits {where}",
            values,
        )
        with self._decoding():
            return [
                CommitRow(
                    oid=r[0],
                    kind=r[1],
                    change=r[2],
                    at=r[3],
                    approved_by=tuple(json.loads(r[4])),
                    records=tuple((name, change) for name, change in json.loads(r[5])),
                    reason=r[6],
                    seq=r[7],
                )
                for r in found
            ]

    def decided(self, proposal: str) -> str | None:
        """Return ``merged`` or ``rejected`` where main decided a proposal."""
        rows = self._run("SELECT what FROM decided WHERE id=?", (proposal,))
        return rows[0][0] if rows else None

    def decision(self, proposal: str) -> CommitRow | None:
        """Return the commit of main that merged or rejected a proposal, None where none did."""
        rows = self._commits("WHERE seq=(SELECT seq FROM decided WHERE id=?)", (proposal,))
        return rows[0] if rows else None

    def changed_since(self, oid: str | None) -> set[str]:
        """Return the names that accepted commits after ``oid`` touched; None: since the first."""
        after = "COALESCE((SELECT seq FROM commits WHERE oid=?), -1)"
        rows = self._run(f"SELECT DISTINCT name FROM touched WHERE seq>{after}", (oid or "",))
        return {row[0] for row in rows}

    def decided_on(self, day: str) -> list[str]:
        """Return the ids of decided proposals that were made on ``day``, like ``20261130``."""
        return [
            row[0] for row in self._run("SELECT id FROM decided WHERE id GLOB ?", (f"*-{day}-*",))
        ]

    def last_merges(self, count: int) -> list[CommitRow]:
        """Return the newest merges of main, at most ``count``."""
        return self._commits("WHERE kind='merge' ORDER BY seq DESC LIMIT ?", (count,))

    def has_change(self, change: str) -> bool:
        """Whether an accepted commit of main is the change of this id."""
        query = "SELECT 1 FROM commits WHERE change=? AND kind<>'stray' LIMIT 1"
        return bool(self._run(query, (change,)))

    def first_commit(self) -> str | None:
        """Return the root of main, which is the store's id."""
        rows = self._run("SELECT oid FROM commits ORDER BY seq LIMIT 1")
        return rows[0][0] if rows else None
