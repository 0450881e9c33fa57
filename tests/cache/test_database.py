"""The projection's file: transactions, trials, and reading one state."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from array import array
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.cache import CommitRow, Damaged, Projection, RecordRow, Unusable
from gitmem.cache.comparing import difference
from gitmem.errors import Busy

#: Document 0 has 4 words, this one once.
POSTING = array("I", [0, 1 << 16 | 4]).tobytes()
RECORD = {"name": "tabs", "body": "缩进", "evidence": [], "supersedes": []}


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
        first.put_blob("a" * 40, RECORD)
        first.add_commit(commit("c1", "use-tabs"), ("remember-1", "merged"))
        first.put_block("tab", 0, b"\x01" * 8)
    first.close()
    second = Projection.open(path)
    assert second.record("use-tabs") == row("use-tabs")
    assert second.blob("a" * 40) == RECORD
    assert second.commit("c1") == commit("c1", "use-tabs")._replace(seq=1)
    assert [c.oid for c in second.commits("use-tabs")] == ["c1"]
    assert second.decided("remember-1") == "merged"
    assert second.block("tab", 0) == b"\x01" * 8
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
        db.execute("PRAGMA user_version=0")
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


def test_what_supersedes_what_on_a_day_is_told_apart_from_what_ever_did() -> None:
    projection = Projection.open(None)
    put(projection, "old")
    projection.add_commit(commit("c1", "old"))
    put(projection, "new", "old", "never-was")
    projection.put_record(
        row("later")._replace(valid_from="2026-12-01"),
        projection.numbers(["later"])["later"],
        ["new"],
    )
    assert projection.superseded_by("2026-11-30") == {"old": ("new",)}
    assert projection.superseded_by("2026-12-01") == {"new": ("later",), "old": ("new",)}
    assert projection.superseded_by("2026-12-01", "new") == {"new": ("later",)}
    assert projection.out_of_force("2026-11-30") == {"later", "old"}
    assert projection.out_of_force("2026-12-01") == {"new", "old"}
    projection.add_commit(commit("c2", "new"))
    put(projection, "new")
    projection.add_commit(commit("c3", "new"))
    assert projection.superseded_by("2026-11-30") == {}
    assert projection.sources("new") == [("never-was", 2), ("old", 2)]
    assert projection.successors("old") == [("new", 2)]


def test_numbers_are_kept_by_a_name_and_given_once() -> None:
    projection = Projection.open(None)
    put(projection, "a")
    put(projection, "b")
    numbers = projection.numbers(["c", "b", "d", "a"])
    assert len(set(numbers.values())) == 4
    assert (numbers["a"], numbers["b"]) == (0, 1)
    assert projection.names([0, 1, 0]) == {0: "a", 1: "b"}


def test_more_names_than_a_statement_takes_are_found() -> None:
    projection = Projection.open(None)
    with projection.transaction():
        for n in range(1203):
            put(projection, f"r-{n}")
            projection.put_block(f"t{n}", 0, b"x" * 8)
    assert len(projection.names(range(1203))) == 1203
    assert len(projection.blocks([f"t{n}" for n in range(1203)])) == 1203


def test_forgetting_leaves_nothing_of_what_was_parsed(path: Path) -> None:
    projection = Projection.open(path)
    with projection.transaction():
        put(projection, "a", "b")
        projection.put_blob("a" * 40, RECORD)
        projection.set_meta("tip", "t")
        projection.add_commit(commit("c1", "a"), ("p", "merged"))
    with projection.transaction():
        projection.forget_all()
    assert projection.records() == projection.commits() == []
    assert projection.meta("tip") is None and projection.decided("p") is None
    assert projection.blob("a" * 40) is None
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
    assert difference(one, other) == ""
    for change in (
        lambda p: put(p, "c"),
        lambda p: put(p, "a", "b"),
        lambda p: p.set_meta("tip", "t"),
        lambda p: p.put_block("tab", 0, POSTING),
        lambda p: p.add_commit(commit("c2", "b"), ("x", "merged")),
    ):
        one, other = two()
        change(one)
        assert difference(one, other)
        assert difference(other, one)
    one, other = two()
    other.put_blob("a" * 40, RECORD)
    assert difference(one, other)
    one, other = two()
    one.put_block("tab", 0, POSTING)
    other.put_block("tab", 0, POSTING)  # the same number, but given to another record
    assert difference(one, other) == "the words for search"


# --- whose file it is --------------------------------------------------------------------------


def sql(path: Path, *commands: str) -> list[tuple[object, ...]]:
    """Run commands as another program would; what the last one answers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for command in commands:
            answer = db.execute(command).fetchall()
        if db.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return answer


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def filled(path: Path) -> Path:
    projection = Projection.open(path)
    with projection.transaction():
        put(projection, "first")
    projection.close()
    return path


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("there", ["a database", "a text", "nothing", "our own elsewhere"])
def test_a_link_is_not_followed_wherever_it_leads(
    path: Path, tmp_path: Path, suffix: str, there: str
) -> None:
    target = tmp_path / "precious"
    if there == "a database":
        sql(target, "CREATE TABLE mine(x)")
    elif there == "a text":
        target.write_text("precious")
    elif there == "our own elsewhere":
        filled(target)
    before = content(target)
    filled(path)
    link = path.with_name(path.name + suffix)
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    assert Projection.read(path) is None
    projection = Projection.open(path)
    assert any(str(link) in note for note in projection.notes)
    with projection.transaction():
        put(projection, "second")
    assert [r.name for r in projection.records()] == ["second"]
    projection.close()
    assert content(target) == before
    assert link.is_symlink()


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    filled(tmp_path / "elsewhere" / "cache.sqlite")
    before = content(tmp_path / "elsewhere" / "cache.sqlite")
    (tmp_path / "private").symlink_to("elsewhere")
    path = tmp_path / "private" / "cache.sqlite"
    assert Projection.read(path) is None
    projection = Projection.open(path)
    assert projection.records() == [] and projection.notes
    projection.close()
    assert content(tmp_path / "elsewhere" / "cache.sqlite") == before


@pytest.mark.parametrize("mark", [0, 7])
def test_a_database_of_another_program_is_left_alone(path: Path, mark: int) -> None:
    path.parent.mkdir()
    sql(path, "CREATE TABLE bookmarks(url)", f"PRAGMA application_id={mark}")
    before = content(path)
    for _ in range(2):
        assert Projection.read(path) is None
        projection = Projection.open(path)
        (note,) = projection.notes
        assert str(path) in note and "another program's" in note
        with projection.transaction():
            put(projection, "first")
        projection.start_over()
        projection.close()
    assert content(path) == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_a_file_of_another_user_is_left_alone(path: Path) -> None:
    os.chown(filled(path), 4321, 4321)
    assert Projection.read(path) is None
    projection = Projection.open(path)
    assert "another user" in projection.notes[0]
    assert projection.records() == []
    projection.close()
    assert os.stat(path).st_uid == 4321
    os.chown(path.parent, 4321, 4321)  # who may use that user's store uses this file of it too
    reader = Projection.read(path)
    assert reader is not None
    reader.close()


# --- what another program changed --------------------------------------------------------------

HAND = [
    "UPDATE records SET description='x'",
    "DELETE FROM records",
    "INSERT INTO supersedes VALUES('a', 'b')",
    "INSERT INTO lineage VALUES('a', 'b', 1)",
    "UPDATE blobs SET json='{'",
    "UPDATE blobs SET json=json",
    "INSERT INTO meta VALUES('strays', 'zzz')",
    "UPDATE blocks SET data=x'00'",
    "DELETE FROM commits",
    "DELETE FROM touched",
    "UPDATE decided SET what='rejected'",
    "DROP TABLE blocks",
    "DROP INDEX records_in_order",
    "DROP TRIGGER records_update",
    "ALTER TABLE records RENAME TO old",
    "CREATE VIEW spy AS SELECT * FROM records",
    "DELETE FROM seal",
    "DROP TABLE seal",
    "UPDATE seal SET sealed=-7",
    "PRAGMA user_version=99",
]


@pytest.fixture
def whole(path: Path) -> Path:
    projection = Projection.open(path)
    with projection.transaction():
        put(projection, "first")
        projection.put_blob("a" * 40, RECORD)
        projection.put_block("tab", 0, POSTING)
        projection.add_commit(commit("c1", "first"), ("p", "merged"))
    projection.check()
    projection.close()
    return path


@pytest.mark.parametrize("command", HAND)
def test_what_another_program_changed_is_noticed_and_made_anew(whole: Path, command: str) -> None:
    open_before = Projection.open(whole)
    sql(whole, command)
    assert Projection.read(whole) is None
    with pytest.raises(Damaged), open_before.transaction():
        put(open_before, "second")
    open_before.start_over()
    open_before.check()
    with open_before.transaction():
        put(open_before, "third")
    assert [r.name for r in open_before.records()] == ["third"]
    open_before.close()
    again = Projection.read(whole)
    assert again is not None
    assert [r.name for r in again.records()] == ["third"]
    again.close()


def test_looking_and_copying_is_no_change(whole: Path) -> None:
    sql(whole, "SELECT * FROM records", "PRAGMA integrity_check")
    copied = whole.with_name("copy.sqlite")
    copied.write_bytes(whole.read_bytes())
    for path in (whole, copied):
        reader = Projection.read(path)
        assert reader is not None
        reader.close()


def test_of_two_who_find_the_same_damage_one_makes_it_anew(whole: Path) -> None:
    one, other = Projection.open(whole), Projection.open(whole)
    sql(whole, "DELETE FROM records")
    one.start_over()
    with one.transaction():
        put(one, "new")
    other.start_over()
    assert [r.name for r in other.records()] == ["new"]
    one.close()
    other.close()


def broken(path: Path, change: str) -> Projection:
    """Change the contents without a trace: what a failing disk may do."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("BEGIN")
        db.execute(change)
        db.execute("UPDATE seal SET sealed=changes")
        db.execute("COMMIT")
    reader = Projection.read(path)
    assert reader is not None
    return reader


@pytest.mark.parametrize(
    "change, ask",
    [
        ("UPDATE records SET rank=9", lambda p: p.records()),
        ("UPDATE records SET rank=-1", lambda p: p.view_rows(9)),
        ("UPDATE records SET approved_by='['", lambda p: p.record("first")),
        ("UPDATE records SET description=CAST(x'ff' AS TEXT)", lambda p: p.records()),
        ("UPDATE commits SET records='{'", lambda p: p.commits()),
        ("UPDATE commits SET records='[1]'", lambda p: p.commit("c1")),
        ("UPDATE blobs SET json='{'", lambda p: p.blob("a" * 40)),
        ("UPDATE blobs SET json='{}'", lambda p: p.blob("a" * 40)),
        ("UPDATE blobs SET json='[]'", lambda p: p.blob("a" * 40)),
        ("UPDATE blobs SET json='null'", lambda p: p.blob("a" * 40)),
        ("UPDATE blocks SET data=x'00ff00ff'", lambda p: p.blocks(["tab"])),
        ("UPDATE blocks SET data=x'00ff00ff'", lambda p: p.block("tab", 0)),
        ("UPDATE blocks SET data='text'", lambda p: p.blocks(["tab"])),
        ("INSERT INTO meta VALUES('documents', 'zz')", lambda p: p.size()),
        ("DELETE FROM records", lambda p: p.names([0])),
    ],
)
def test_contents_that_gitmem_never_writes_are_damage_and_go(
    whole: Path, change: str, ask: Callable[[Projection], object]
) -> None:
    reader = broken(whole, change)
    with pytest.raises(Damaged):
        ask(reader)
    reader.close()
    assert Projection.read(whole) is None, "not trusted any more"


# --- a file that cannot be written -------------------------------------------------------------


def test_what_is_known_comes_along_into_memory_when_the_disk_is_full(whole: Path) -> None:
    projection = Projection.open(whole)
    (pages,) = projection._run("PRAGMA page_count")[0]
    projection._run(f"PRAGMA max_page_count={pages}")
    with pytest.raises(Unusable, match="full") as caught, projection.transaction():
        for n in range(1000):
            put(projection, f"r-{n}", description="x" * 200)
    projection.go_on_in_memory(caught.value)
    assert [r.name for r in projection.records()] == ["first"]
    with projection.transaction():
        put(projection, "second")
    assert [r.name for r in projection.records()] == ["first", "second"]
    assert "full" in projection.notes[0]
    projection.close()
    reader = Projection.read(whole)
    assert reader is not None
    assert [r.name for r in reader.records()] == ["first"]
    reader.close()


def test_one_who_reads_waits_for_nobody_and_one_who_opens_is_told_of_it(whole: Path) -> None:
    with closing(sqlite3.connect(whole, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE meta SET value=value")
        assert Projection.read(whole, wait_ms=0) is None
        with pytest.raises(Busy):
            Projection.open(whole, wait_ms=0)
