"""The projection's file: transactions, trials, and reading one state."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.cache import CommitRow, Projection, RecordRow
from gitmem.errors import Busy


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "private" / "cache.sqlite"


def row(name: str, description: str = "说明") -> RecordRow:
    return RecordRow(
        name, "user", f"records/user/{name}.md", "a" * 40, description, None, None, None,
        "remember-20261130-aaaaaa", ("human:Ada <ada@example.org>",), "2026-11-30T00:00:00Z",
    )  # fmt: skip


def put(projection: Projection, name: str, *supersedes: str, description: str = "说明") -> None:
    number = projection.numbers([name])[name]
    projection.put_record(row(name, description), number, supersedes)


def commit(oid: str, name: str) -> CommitRow:
    return CommitRow(oid, "merge", f"change-{oid}", "", ("human:Ada",), ((name, "added"),), "")


def test_what_was_written_is_there_for_the_next_who_opens(path: Path) -> None:
    first = Projection.open(path)
    with first.transaction():
        put(first, "use-tabs")
        first.put_blob("a" * 40, {"body": "缩进"})
        first.add_commit(commit("c1", "use-tabs"), ("remember-1", "merged"))
        first.put_block("tab", 0, b"\x01")
    first.close()
    second = Projection.open(path)
    assert second.record("use-tabs") == row("use-tabs")
    assert second.blob("a" * 40) == {"body": "缩进"}
    assert second.commit("c1") == commit("c1", "use-tabs")
    assert [c.oid for c in second.commits("use-tabs")] == ["c1"]
    assert second.decided("remember-1") == "merged"
    assert second.block("tab", 0) == b"\x01"
    second.close()


def test_a_transaction_that_fails_leaves_nothing(path: Path) -> None:
    projection = Projection.open(path)
    with pytest.raises(KeyboardInterrupt), projection.transaction():
        put(projection, "half")
        raise KeyboardInterrupt
    assert projection.record("half") is None
    with projection.transaction():
        put(projection, "whole")
    assert projection.record("whole")
    projection.close()


def test_a_trial_is_undone_unless_it_is_kept() -> None:
    projection = Projection.open(None)
    with projection.transaction():
        with projection.trial():
            put(projection, "tried")
            assert projection.record("tried")
        assert projection.record("tried") is None
        with projection.trial() as trial:
            put(projection, "kept")
            trial.keep()
    assert [r.name for r in projection.records()] == ["kept"]


def test_a_reader_sees_one_state_while_another_process_writes(path: Path) -> None:
    reader = Projection.open(path)
    with reader.transaction():
        put(reader, "first")
    write = (
        "import sys; from pathlib import Path; from tests.cache.test_database import *\n"
        "p = Projection.open(Path(sys.argv[1]))\n"
        "with p.transaction():\n  put(p, 'second'); put(p, 'first', description='new')\n"
    )
    with reader.reading():
        before = reader.records()
        root = Path(__file__).parents[2]
        subprocess.run([sys.executable, "-c", write, str(path)], cwd=root, check=True)
        assert reader.records() == before
        assert reader.record("second") is None
    assert [r.description for r in reader.records()] == ["new", "说明"]
    reader.close()


def test_one_who_writes_too_long_makes_others_busy_and_no_worse(path: Path) -> None:
    writer, other = Projection.open(path), Projection.open(path, wait_ms=0)
    with writer.transaction():
        put(writer, "first")
        with pytest.raises(Busy), other.transaction():
            pass
    with other.transaction():
        put(other, "second")
    assert [r.name for r in writer.records()] == ["first", "second"]
    writer.close()
    other.close()


def test_only_a_current_file_is_opened_for_reading(path: Path) -> None:
    assert Projection.read(path) is None
    assert not path.exists()
    projection = Projection.open(path)
    with projection.transaction():
        put(projection, "first")
    projection.close()
    reader = Projection.read(path)
    assert reader and reader.record("first")
    with pytest.raises(Exception, match="readonly"):
        put(reader, "second")
    reader.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE meta SET value='0' WHERE key='schema'")
    assert Projection.read(path) is None
    path.write_bytes(b"no database at all")
    assert Projection.read(path) is None


def test_a_place_that_cannot_be_written_gives_a_projection_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "cache.sqlite", tmp_path / "folder"):
        projection = Projection.open(path)
        with projection.transaction():
            put(projection, "first")
        assert projection.record("first")
        projection.close()
    assert (tmp_path / "file").read_text() == "in the way"


def test_what_a_present_record_supersedes_is_marked_and_freed_again() -> None:
    projection = Projection.open(None)
    put(projection, "new", "old")  # before the old one is there
    put(projection, "old")
    current, superseded = projection.view_rows(10)
    assert [r.name for r in current] == ["new"]
    assert [r.name for r in superseded] == ["old"]
    put(projection, "old", description="revised")
    assert [r.name for r in projection.view_rows(10)[1]] == ["old"]
    projection.remove_record("new")
    assert [r.name for r in projection.view_rows(10)[0]] == ["old"]
    assert projection.view_rows(10)[1] == []


def test_numbers_are_kept_by_a_name_and_given_once() -> None:
    projection = Projection.open(None)
    put(projection, "a")
    put(projection, "b")
    numbers = projection.numbers(["c", "b", "d", "a"])
    assert len(set(numbers.values())) == 4
    assert (numbers["a"], numbers["b"]) == (0, 1)
    assert projection.names([0, 1, 99]) == {0: "a", 1: "b"}


def test_more_names_than_a_statement_takes_are_found() -> None:
    projection = Projection.open(None)
    with projection.transaction():
        for n in range(1203):
            put(projection, f"r-{n}")
            projection.put_block(f"t{n}", 0, b"x")
    assert len(projection.names(range(1203))) == 1203
    assert len(projection.blocks([f"t{n}" for n in range(1203)])) == 1203


def test_dropping_the_chain_keeps_what_was_parsed(path: Path) -> None:
    projection = Projection.open(path)
    put(projection, "a")
    projection.put_blob("a" * 40, {"body": "x"})
    projection.set_meta("tip", "t")
    projection.add_commit(commit("c1", "a"), ("p", "merged"))
    projection.forget_chain()
    assert projection.records() == projection.commits() == []
    assert projection.meta("tip") is None and projection.decided("p") is None
    assert projection.blob("a" * 40) == {"body": "x"}
    projection.close()
    assert Projection.read(path) is not None


def test_two_projections_differ_in_anything_but_their_numbers() -> None:
    def two() -> tuple[Projection, Projection]:
        one, other = Projection.open(None), Projection.open(None)
        for projection, names in ((one, "ab"), (other, "ba")):
            for name in names:
                put(projection, name)
            projection.add_commit(commit("c1", "a"))
        return one, other

    one, other = two()
    assert one.differs_from(other) == ""
    for change in (
        lambda p: put(p, "c"),
        lambda p: put(p, "a", "b"),
        lambda p: p.set_meta("tip", "t"),
        lambda p: p.put_block("tab", 0, b"1"),
        lambda p: p.add_commit(commit("c2", "b"), ("x", "merged")),
    ):
        one, other = two()
        change(one)
        assert one.differs_from(other)
        assert other.differs_from(one)
    one, other = two()
    other.put_blob("a" * 40, {"body": "x"})
    assert one.differs_from(other)
