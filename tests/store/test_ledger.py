"""Main as the projection knows it: the same however it was learned, and refused when foreign."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cache import Projection
from gitmem.errors import Busy, GitFailed, NotFound
from gitmem.repo import Repo
from gitmem.store import Store
from tests.store.stories import (
    ADA,
    BEN,
    MAIN,
    clock,
    copy,
    fsck,
    names,
    opened,
    plain,
    propose,
    refused,
    remembered,
    rev,
)

CACHE = ".git/gitmem/cache.sqlite"
TABLES = {
    "records": "SELECT name, rank, path, blob, description, status, valid_from, valid_until,"
    " superseded, change, approved_by, approved_at FROM records ORDER BY name",
    "supersedes": "SELECT * FROM supersedes ORDER BY name, by",
    "commits": "SELECT oid, kind, change, at, approved_by, records, reason FROM commits"
    " ORDER BY seq",
    "touched": "SELECT touched.name, oid FROM touched JOIN commits USING(seq) ORDER BY 1, 2",
    "decided": "SELECT id, what, oid FROM decided JOIN commits USING(seq) ORDER BY id",
    "meta": "SELECT key, value FROM meta ORDER BY key",
    "terms": "SELECT DISTINCT term FROM blocks ORDER BY term",
}
ASKED = ("tabs indentation", "数据库", "PostgreSQL", "deploy on Fridays", "周五")


def sql(path: Path, *commands: str) -> list[tuple[object, ...]]:
    """Run commands on a database as another program would; what the last one answers."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for command in commands:
            answer = db.execute(command).fetchall()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return answer


def tables(root: Path) -> dict[str, list[tuple[object, ...]]]:
    return {name: sql(root / CACHE, query) for name, query in TABLES.items()}


def found(root: Path) -> list[object]:
    with opened(root) as memory:
        return [[(hit.name, hit.score) for hit in memory.search(query)] for query in ASKED]


@pytest.fixture
def past(root: Path, proposal: str) -> Path:
    """A memory with every kind of commit in its past, strays among them."""
    gone = propose(root, "deploy-fridays", "We deploy on Fridays, in the afternoon.")
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
        memory.edit("use-tabs", body="Use tabs, not spaces, for 缩进。", person=BEN)
        memory.reject(gone, reason="周五不发布", person=ADA)
    (root / "records/user/stray.md").write_text("mine\n")
    plain(root, "add", "-A")
    plain(root, "commit", "-q", "-m", "by hand")
    with opened(root) as memory:
        memory.remember("先跑测试，再提交代码。", name="test-first", type="feedback", person=BEN)
        memory.forget("db-postgres", reason="gone", person=ADA)
        memory.remember(
            "Release notes are written in 中文。", name="notes", type="project", person=ADA
        )
    return root


def test_a_new_memory_begins_with_one_commit_that_verifies(tmp_path: Path) -> None:
    root = tmp_path / "new"
    with MemoryStore.init(root, clock=clock) as memory:
        assert memory.status().manifest_commit == rev(root, MAIN)
        (entry,) = memory.log()
        assert (entry.kind, entry.commit) == ("genesis", rev(root, MAIN))
    assert fsck(root) == []
    assert plain(root, "rev-list", "--count", "main") == "1"


def test_what_is_rebuilt_from_git_is_what_was_learned_commit_by_commit(
    past: Path, tmp_path: Path
) -> None:
    learned, answers = tables(past), found(past)
    assert {kind for _, kind, *_ in learned["commits"]} == {
        "genesis", "merge", "decision", "stray",
    }  # fmt: skip
    assert all(learned[name] for name in ("records", "touched", "decided", "terms"))
    clone = tmp_path / "clone"
    plain(tmp_path, "clone", "-q", str(past), str(clone))
    assert remembered(clone) == remembered(past)
    assert tables(clone) == learned
    assert found(clone) == answers
    for suffix in ("", "-wal", "-shm"):
        (past / (CACHE + suffix)).unlink(missing_ok=True)
    assert found(past) == answers
    assert tables(past) == learned


def test_learned_one_commit_at_a_time_it_is_the_same(past: Path, tmp_path: Path) -> None:
    slow = tmp_path / "slow"
    plain(tmp_path, "clone", "-q", str(past), str(slow))
    for oid in plain(past, "rev-list", "--first-parent", "--reverse", "main").split():
        plain(slow, "reset", "-q", "--hard", oid)
        names(slow)
    assert tables(slow) == tables(past)


def test_a_clone_has_the_same_memory_with_the_same_view(past: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    plain(tmp_path, "clone", "-q", str(past), str(clone))
    with opened(clone) as here, opened(past) as there:
        assert here.status().manifest_commit == there.status().manifest_commit
        assert [entry.to_json() for entry in here.log()] == [e.to_json() for e in there.log()]
    assert (clone / "MEMORY.md").read_bytes() == (past / "MEMORY.md").read_bytes()
    with opened(clone) as here:
        report = here.fsck()
    assert report.ok
    assert [stray.what.endswith("it was made by hand") for stray in report.passed_over] == [True]


def test_the_same_proposal_merged_on_two_machines_is_one_commit(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    with opened(root) as memory:
        tip = rev(root, f"{memory.approve(proposal, person=ADA).commit}^2")
    twin = tmp_path / "twin"
    plain(tmp_path, "clone", "-q", str(root), str(twin))
    plain(twin, "reset", "-q", "--hard", f"{rev(root, MAIN)}^1")
    plain(twin, "update-ref", f"refs/heads/proposals/{proposal}", tip)
    store = Store.open(twin)
    try:
        assert store.merge(proposal) == rev(root, MAIN)
    finally:
        store.close()


# --- the projection is disposable --------------------------------------------------------------


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def scribble(path: Path) -> None:
    path.write_bytes(b"this is no database" * 500)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def old_schema(path: Path) -> None:
    outdated = "PRAGMA user_version=0"
    sql(path, outdated, "DROP TABLE records", "CREATE TABLE records(old TEXT)")


def somebody_elses(path: Path) -> None:
    path.unlink()
    sql(path, "CREATE TABLE bookmarks(url TEXT)")


@pytest.mark.parametrize(
    "harm", [delete, empty, truncate, scribble, a_folder, old_schema, somebody_elses]
)
def test_without_a_usable_projection_the_answers_are_the_same(
    past: Path, harm: Callable[[Path], None]
) -> None:
    before, answers = remembered(past), found(past)
    sql(past / CACHE, "SELECT 1")
    harm(past / CACHE)
    assert remembered(past) == before
    assert found(past) == answers
    with opened(past) as memory:
        memory.remember("It still learns things.", name="still", type="project", person=ADA)
    assert "still" in names(past)


def test_a_projection_damaged_inside_is_removed_with_a_plain_word_and_made_anew(
    past: Path,
) -> None:
    before = remembered(past)
    query = "SELECT rootpage, page_size FROM sqlite_master, pragma_page_size"
    ((page, size),) = sql(past / CACHE, f"{query} WHERE name='records'")
    assert isinstance(page, int) and isinstance(size, int)
    data = bytearray((past / CACHE).read_bytes())
    data[(page - 1) * size : page * size] = b"\xff" * size
    (past / CACHE).write_bytes(data)
    with opened(past) as memory:
        assert [line.name for line in memory.list()] == list(before)
        assert any("made anew" in note for note in memory.notes)
    assert remembered(past) == before
    with opened(past) as memory:
        memory.list()
        assert not any("made anew" in note for note in memory.notes)


def test_a_projection_held_by_another_process_is_busy_and_never_a_wrong_answer(
    past: Path,
) -> None:
    repo = Repo.open(past)
    store = Store(repo, Projection.open(past / CACHE, wait_ms=0))
    other = sqlite3.connect(past / CACHE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert store.head().tip == rev(past, MAIN)  # up to date: nothing to wait for
        plain(past, "commit", "-q", "--allow-empty", "-m", "by hand")
        with pytest.raises(Busy):
            store.head()
        other.execute("ROLLBACK")
        assert store.head().strays == (rev(past, MAIN),)
    finally:
        other.close()
        store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_store_that_cannot_be_written_is_read(past: Path) -> None:
    before = remembered(past)
    (past / CACHE).unlink()
    folders = [past / ".git/gitmem", past / ".git"]
    try:
        for folder in folders:
            folder.chmod(0o555)
        assert remembered(past) == before
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_fsck_finds_a_projection_that_says_something_else_than_git(past: Path) -> None:
    lies = (
        "UPDATE records SET description='spaces' WHERE name='use-tabs'",
        "UPDATE blobs SET json=replace(json, 'tabs', 'spaces')",
        "DELETE FROM decided",
        "DELETE FROM blocks WHERE term IN (SELECT term FROM blocks LIMIT 1)",
        "UPDATE commits SET approved_by='[\"human:Eve <e@example.org>\"]' WHERE kind='merge'",
    )
    unseen = "UPDATE seal SET sealed=changes"  # as a failing disk would do it
    stray = len(fsck(past))
    sql(past / CACHE, "SELECT 1")
    clean = (past / CACHE).read_bytes()
    for lie in (*lies, *((lie, unseen) for lie in lies)):
        sql(past / CACHE, *([lie] if isinstance(lie, str) else lie))
        assert len(fsck(past)) == stray + 1, lie
        assert "projection differs" in fsck(past)[-1]
        for suffix in ("", "-wal", "-shm"):
            (past / (CACHE + suffix)).unlink(missing_ok=True)
        (past / CACHE).write_bytes(clean)


# --- main goes elsewhere -----------------------------------------------------------------------


def test_when_a_person_sets_main_back_memory_goes_back_with_it(past: Path) -> None:
    after = remembered(past)
    newest = rev(past, MAIN)
    seen = []
    for oid in plain(past, "rev-list", "--first-parent", "main").split():
        plain(past, "reset", "-q", "--hard", oid)
        seen.append(names(past))
    assert seen[0] == ["use-tabs", "test-first", "notes"]
    assert ["use-tabs", "db-postgres"] in seen
    assert seen[-1] == []
    plain(past, "reset", "-q", "--hard", newest)
    assert remembered(past) == after


def test_after_main_was_set_back_a_merge_stands_on_what_is_left(root: Path, proposal: str) -> None:
    start = rev(root, MAIN)
    with opened(root) as memory:
        tip = rev(root, f"{memory.approve(proposal, person=ADA).commit}^2")
    plain(root, "reset", "-q", "--hard", start)
    plain(root, "branch", f"proposals/{proposal}", tip)
    with opened(root) as memory:
        assert memory.proposals()[0].id == proposal
        merge = memory.approve(proposal, person=BEN).commit
    assert rev(root, f"{merge}^1") == start
    assert names(root) == ["use-tabs", "db-postgres"]
    assert fsck(root) == []


def test_an_unrelated_history_on_main_is_refused_by_its_name(root: Path) -> None:
    plain(root, "checkout", "-q", "--orphan", "other")
    plain(root, "commit", "-q", "-m", "somebody else's")
    plain(root, "update-ref", MAIN, "other")
    for ask in (lambda m: m.list(), lambda m: m.status(), lambda m: m.fsck(), lambda m: m.log()):
        with opened(root) as memory:
            error = refused(lambda ask=ask, memory=memory: ask(memory))
        assert isinstance(error, NotFound)
        assert "does not begin with the first commit of a memory" in error.message


def test_a_plain_git_repository_is_no_memory_and_stays_as_it_is(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    plain(tmp_path, "init", "-q", "-b", "main", str(root))
    with opened(root) as memory:
        assert "no memory" in refused(memory.list).message
    (root / "a.txt").write_text("a")
    plain(root, "add", "a.txt")
    plain(root, "commit", "-q", "-m", "a")
    head = rev(root, "HEAD")
    for act in (
        lambda m: m.list(),
        lambda m: m.remember("Use tabs everywhere.", type="user", person=ADA),
    ):
        with opened(root) as memory:
            error = refused(lambda act=act, memory=memory: act(memory))
        assert error.hint
    assert rev(root, "HEAD") == head
    assert plain(root, "for-each-ref", "--format=%(refname)") == MAIN


def test_a_folder_without_git_is_refused_with_the_way_out(tmp_path: Path) -> None:
    error = refused(lambda: opened(tmp_path))
    assert isinstance(error, NotFound)
    assert "gitmem init" in error.hint


def test_a_missing_object_is_an_error_and_makes_no_stray_of_a_merge(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
    broken = tmp_path / "broken"
    plain(tmp_path, "clone", "-q", str(root), str(broken))
    record = rev(broken, "main:records/project/db-postgres.md")
    for pack in (broken / ".git/objects/pack").glob("*.pack"):
        data = pack.read_bytes()
        for part in (broken / ".git/objects/pack").glob(pack.stem + ".*"):
            part.unlink()
        plain(broken, "unpack-objects", "-q", stdin=data)
    loose = broken / ".git/objects" / record[:2] / record[2:]
    aside = tmp_path / "aside"
    loose.rename(aside)
    with opened(broken) as memory:
        error = refused(memory.list)
        assert isinstance(error, GitFailed)
        assert rev(broken, MAIN) in error.message and record in error.message
        assert not memory.fsck().ok
    aside.rename(loose)
    assert names(broken) == ["use-tabs", "db-postgres"]
    assert fsck(broken) == []


def test_a_store_is_opened_through_a_link_that_the_person_names(root: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(root)
    with opened(link) as memory:
        memory.remember("Links work as well.", name="links", type="project", person=ADA)
    assert names(root) == names(link) == ["use-tabs", "links"]


def test_a_copied_store_is_a_memory_of_its_own(root: Path, proposal: str, tmp_path: Path) -> None:
    other = copy(root, tmp_path / "other")
    with opened(other) as memory:
        memory.approve(proposal, person=ADA)
    assert names(other) == ["use-tabs", "db-postgres"]
    assert names(root) == ["use-tabs"]
