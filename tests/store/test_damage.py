"""Whatever happens to the projection's file, the answers are git's and what is merged verifies."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gitmem.errors import Busy, GitFailed, GitmemError
from gitmem.repo import Repo
from gitmem.store import Store
from tests.store.stories import (
    ADA,
    MAIN,
    clock,
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
SUFFIXES = ("", "-wal", "-shm")


def hand(root: Path, *commands: str, seen: bool = True) -> None:
    """Change the projection as another program does, or (not seen) as a failing disk does."""
    with closing(sqlite3.connect(root / CACHE, isolation_level=None)) as db:
        for command in commands:
            db.execute(command)
        if not seen:
            db.execute("UPDATE seal SET sealed=changes")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.fixture
def two(root: Path) -> Path:
    """A memory of two records, with a proposal open beside."""
    with opened(root) as memory:
        memory.remember("Deploy only on Tuesdays.", name="deploy", type="feedback", person=ADA)
    return root


def assert_merges(root: Path, proposal: str, before: dict[str, str]) -> None:
    """What is approved now is merged, verifies, and takes nothing else with it."""
    with opened(root) as memory:
        assert memory.approve(proposal, person=ADA).state == "merged"
        assert memory.status().strays == ()
    after = remembered(root)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"db-postgres"}
    assert fsck(root) == []
    for suffix in SUFFIXES:
        (root / (CACHE + suffix)).unlink(missing_ok=True)
    assert remembered(root) == after
    assert fsck(root) == []


GENESIS = "(SELECT oid FROM commits ORDER BY seq LIMIT 1)"
LIES = [
    "UPDATE records SET description='EVIL PLANTED' WHERE name='use-tabs'",
    "UPDATE records SET blob=(SELECT blob FROM records WHERE name='deploy')",
    "UPDATE records SET path='../../../../etc/passwd'",
    "UPDATE records SET superseded=1 WHERE name='deploy'",
    "UPDATE records SET rank=2 WHERE name='deploy'",
    "UPDATE records SET rank=9",
    "UPDATE records SET approved_by='[\"model:x@y\"]'",
    "UPDATE records SET approved_by='['",
    "DELETE FROM records WHERE name='use-tabs'",
    "DELETE FROM records",
    "UPDATE blobs SET json=replace(json, 'tabs, not spaces', 'EVIL PLANTED')",
    "UPDATE blobs SET json='{'",
    "UPDATE blobs SET json='{}'",
    "UPDATE blobs SET json='[]'",
    "DELETE FROM blobs",
    f"UPDATE meta SET value={GENESIS} WHERE key='accepted'",
    f"UPDATE meta SET value='{'a' * 40}' WHERE key='accepted'",
    "UPDATE meta SET value='zzz;rm' WHERE key='accepted'",
    "DELETE FROM meta WHERE key='accepted'",
    "UPDATE meta SET value='zzz' WHERE key='strays'",
    f"UPDATE meta SET value='{'a' * 40}' WHERE key='tip'",
    "UPDATE meta SET value='zz' WHERE key='documents'",
    "UPDATE commits SET records='{', approved_by='['",
    "UPDATE commits SET kind='stray'",
    "DELETE FROM commits",
    "DELETE FROM touched",
    "INSERT INTO decided SELECT 'x', 'merged', 1",
    "UPDATE blocks SET data=x'00ff00ff'",
    "DELETE FROM blocks",
    "DROP TABLE blocks",
    "DROP TABLE records",
    "DROP TABLE meta",
]


@pytest.mark.parametrize("lie", LIES)
def test_a_projection_changed_by_hand_gives_no_answer_and_no_merge(
    two: Path, proposal: str, lie: str
) -> None:
    before = remembered(two)
    with opened(two) as memory:
        hits = memory.search("tabs")
        log, why = memory.log(), memory.why("use-tabs")
    asks = [
        lambda m: m.search("tabs") == hits,
        lambda m: m.log() == log,
        lambda m: m.why("use-tabs") == why,
        lambda m: len(m.proposals()) == 1,
        lambda m: m.status().count == 2,
        lambda m: [line.name for line in m.list()] == list(before),
        lambda m: str(m.show("use-tabs").to_json()) == before["use-tabs"],
    ]
    for ask in asks:
        hand(two, lie)
        with opened(two) as memory:
            assert ask(memory)
            memory.list()
            assert any("made anew" in note for note in memory.notes)
    hand(two, lie)
    assert_merges(two, proposal, before)


SHOWN = [
    "UPDATE records SET description='EVIL PLANTED' WHERE name='use-tabs'",
    "UPDATE records SET path='records/user/other.md' WHERE name='use-tabs'",
    "UPDATE records SET rank=2 WHERE name='deploy'",
    "DELETE FROM records WHERE name='use-tabs'",
    "DELETE FROM records",
    f"UPDATE meta SET value={GENESIS} WHERE key='accepted'",
    f"UPDATE meta SET value='{'a' * 40}' WHERE key='accepted'",
    "UPDATE meta SET value='zzz' WHERE key='strays'",
    "UPDATE blobs SET json=replace(json, 'tabs, not spaces', 'EVIL PLANTED')",
    "UPDATE records SET rank=9",
    "UPDATE meta SET value='zz' WHERE key='documents'",
]


@pytest.mark.parametrize("lie", SHOWN)
def test_a_projection_damaged_without_a_trace_makes_no_false_commit(
    two: Path, proposal: str, lie: str
) -> None:
    before = remembered(two)
    hand(two, lie, seen=False)
    with opened(two) as memory:
        assert memory.approve(proposal, person=ADA).state == "merged"
    for suffix in SUFFIXES:
        (two / (CACHE + suffix)).unlink(missing_ok=True)
    after = remembered(two)
    assert {name: after[name] for name in before} == before
    assert "db-postgres" in after
    assert fsck(two) == []


@pytest.mark.parametrize("lie", SHOWN[:2])
def test_a_true_merge_from_elsewhere_is_no_stray_to_a_damaged_projection(
    two: Path, proposal: str, tmp_path: Path, lie: str
) -> None:
    twin = tmp_path / "twin"
    plain(tmp_path, "clone", "-q", str(two), str(twin))
    tip = rev(two, f"proposals/{proposal}")
    plain(twin, "fetch", "-q", str(two), f"{tip}:refs/heads/proposals/{proposal}")
    with opened(twin) as memory:
        merge = memory.approve(proposal, person=ADA).commit
    hand(two, lie, seen=False)
    plain(two, "pull", "-q", "--ff-only", str(twin), "main")
    assert rev(two, MAIN) == merge
    with opened(two) as memory:
        assert memory.status().strays == ()
        assert "db-postgres" in [line.name for line in memory.list()]


def test_a_row_beyond_the_view_is_checked_before_it_is_shown(two: Path) -> None:
    store = Store.open(two)
    store.close()
    policy = (two / "policy.yaml").read_text().replace('lines: "200"', 'lines: "10"')
    assert 'lines: "10"' in policy
    from gitmem.domain.verify import DecisionFields

    store = Store.open(two)
    by = DecisionFields("policy-20260921-aaaaaa", "policy", f"human:{ADA}", "", int(clock()))
    store.decide(by, {"policy.yaml": policy.encode()})
    store.close()
    with opened(two) as memory:
        for n in range(10):
            text = f"Fact 第 {n} of the project."
            memory.remember(text, name=f"p-{n}", type="project", description=text, person=ADA)
    assert "p-9" not in (two / "MEMORY.md").read_text()
    hand(two, "UPDATE records SET description='EVIL' WHERE name LIKE 'p-%'"
         " AND name NOT IN ('p-0', 'p-1')", seen=False)  # fmt: skip
    shown = (two / "MEMORY.md").read_text()
    hidden = [f"p-{n}" for n in range(10) if f"p-{n}]" not in shown]
    assert hidden
    with opened(two) as memory:
        memory.forget("deploy", reason="gone", person=ADA)
    assert "EVIL" not in (two / "MEMORY.md").read_text()
    assert fsck(two) == []


def test_what_is_only_proposed_is_no_difference_for_fsck(root: Path, tmp_path: Path) -> None:
    assert fsck(root) == []
    for suffix in SUFFIXES:
        (root / (CACHE + suffix)).unlink(missing_ok=True)
    assert fsck(root) == []
    with opened(root) as memory:
        memory.proposals()
    assert fsck(root) == []
    clone = tmp_path / "clone"
    plain(tmp_path, "clone", "-q", str(root), str(clone))
    plain(clone, "fetch", "-q", str(root), "refs/heads/proposals/*:refs/heads/proposals/*")
    assert fsck(clone) == []
    propose(clone, "second", "A second thing that is proposed.")
    assert fsck(clone) == []


# --- what stands in the file's place -----------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_link_in_the_projections_place_is_followed_by_no_command(
    two: Path, proposal: str, tmp_path: Path, suffix: str
) -> None:
    precious = tmp_path / "precious.db"
    with closing(sqlite3.connect(precious)) as db:
        db.execute("CREATE TABLE mine(x)")
        db.commit()
    saved, before = precious.read_bytes(), remembered(two)
    for part in SUFFIXES:
        (two / (CACHE + part)).unlink(missing_ok=True)
    (two / (CACHE + suffix)).symlink_to(precious)
    assert remembered(two) == before
    with opened(two) as memory:
        memory.search("tabs")
        memory.approve(proposal, person=ADA)
        assert any("link" in note for note in memory.notes)
        assert memory.fsck().ok
    assert precious.read_bytes() == saved
    assert [p.name for p in tmp_path.glob("precious*")] == ["precious.db"]
    assert (two / (CACHE + suffix)).is_symlink()


def test_a_link_to_nowhere_makes_no_file(two: Path, tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        (two / (CACHE + suffix)).unlink(missing_ok=True)
    (two / CACHE).symlink_to(tmp_path / "outside.db")
    assert names(two) == ["use-tabs", "deploy"]
    assert not list(tmp_path.glob("outside*"))


@pytest.mark.parametrize("act", ["remember", "propose", "why"])
def test_sessions_are_kept_in_no_folder_that_a_link_names(
    two: Path, tmp_path: Path, act: str
) -> None:
    sessions, outside = two / ".git/gitmem/sessions", tmp_path / "outside"
    sessions.rename(outside)
    outside.chmod(0o755)
    there = sorted(outside.iterdir())
    sessions.symlink_to(outside)
    tip = rev(two, MAIN)
    with opened(two) as memory:
        if act == "why":  # which answers from git, and says what it did not look into
            said = "".join(memory.why("deploy").missing.values())
        elif act == "propose":
            error = refused(lambda: propose(two, "x", "We deploy on Fridays."))
        else:
            error = refused(lambda: memory.remember("Use make.", type="project", person=ADA))
    if act != "why":
        said = error.message if error.hint else ""
    assert str(sessions) in said and "link" in said
    assert sorted(outside.iterdir()) == there
    assert outside.stat().st_mode & 0o777 == 0o755
    assert rev(two, MAIN) == tip


@pytest.mark.parametrize("full", [False, True])
def test_a_folder_in_the_place_of_the_note_stops_nothing_or_everything(
    two: Path, proposal: str, full: bool
) -> None:
    note, tip = two / ".git/gitmem/worktree-at", rev(two, MAIN)
    note.mkdir()
    if full:
        (note / "mine").write_text("mine")
        with opened(two) as memory:
            error = refused(lambda: memory.approve(proposal, person=ADA))
        assert str(note) in error.message and error.hint
        assert rev(two, MAIN) == tip
        assert plain(two, "status", "--porcelain") == ""
        (note / "mine").unlink()
    with opened(two) as memory:
        memory.approve(proposal, person=ADA)
    assert not note.exists()
    assert plain(two, "status", "--porcelain") == ""
    assert fsck(two) == []


# --- another user's ----------------------------------------------------------------------------

needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)


def give_away(*places: Path) -> None:
    for place in places:
        os.chown(place, 4321, 4321, follow_symlinks=False)


@needs_root
@pytest.mark.parametrize("place", [".", ".git", ".git/gitmem"])
def test_another_users_memory_answers_nothing_unless_the_person_trusts_it(
    two: Path, place: str
) -> None:
    before = remembered(two)
    give_away(two / place)
    if place != ".git/gitmem":
        for ask in ("list", "search", "show"):
            with opened(two) as memory:
                arguments = [] if ask == "list" else ["use-tabs"]
                error = refused(lambda ask=ask, a=arguments, m=memory: getattr(m, ask)(*a))
            assert "another user" in error.message
            assert "safe.directory" in error.hint
        config = Path(os.environ["GIT_CONFIG_GLOBAL"])
        config.write_text(f"[safe]\n\tdirectory = {two}\n")
    assert remembered(two) == before


@needs_root
def test_another_users_projection_is_not_read_in_ones_own_memory(two: Path) -> None:
    before = remembered(two)
    hand(two, "UPDATE records SET description='EVIL'", seen=False)
    give_away(two / CACHE)
    assert remembered(two) == before
    with opened(two) as memory:
        memory.list()
        assert any("another user" in note for note in memory.notes)


# --- a disk that is full, a database that is held ----------------------------------------------


@pytest.fixture
def full(two: Path) -> Iterator[Store]:
    """A store whose projection's file has no room for a page more."""
    store = Store.open(two)
    store.head()
    (pages,) = store.projection._run("PRAGMA page_count")[0]
    store.projection._run(f"PRAGMA max_page_count={pages}")
    yield store
    store.close()


def test_on_a_full_disk_reads_go_on_in_memory(two: Path, full: Store, tmp_path: Path) -> None:
    text = "The database is backed up. " * 100
    twin = tmp_path / "twin"
    plain(tmp_path, "clone", "-q", str(two), str(twin))
    with opened(twin) as memory:
        for n in range(3):
            memory.remember(f"{n}: {text[:3000]}", name=f"big-{n}", type="project", person=ADA)
    expected = remembered(twin)
    # Without the hooks of the store, which would bring the projection along before.
    plain(two, "-c", "core.hooksPath=", "pull", "-q", "--ff-only", str(twin), "main")
    assert full.head().accepted == rev(two, MAIN)
    assert [row.name for row in full.projection.records()] == list(expected)
    assert any("full" in note for note in full.notes)


def test_on_a_full_disk_a_merge_is_made_all_the_same(two: Path, proposal: str, full: Store) -> None:
    with opened(two) as memory:
        change = memory.diff(proposal).change
    from gitmem.domain.review import Review

    person = Review(f"human:{ADA}", "person", "approve", change, None, (), int(clock()))
    full.add_review(proposal, rev(two, f"proposals/{proposal}"), person)
    full.projection._run("DELETE FROM blocks WHERE 0")
    merge = full.merge(proposal)
    assert rev(two, MAIN) == merge
    assert full.head().accepted == merge
    assert fsck(two) == []


def test_a_projection_that_another_holds_is_busy_and_is_not_built_in_memory(two: Path) -> None:
    expected = names(two)
    with closing(sqlite3.connect(two / CACHE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert names(two) == expected, "a reader waits for no writer"
    repo = Repo.open(two)
    with closing(sqlite3.connect(two / CACHE, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("UPDATE meta SET value=value")
        from gitmem.cache import Projection

        with pytest.raises(Busy, match=r"cache\.sqlite"):
            Projection.open(repo.private / "cache.sqlite", wait_ms=0)
    repo.close()


# --- git's own files ---------------------------------------------------------------------------


@pytest.mark.parametrize("harm", ["gone", "cut off", "empty"])
def test_fsck_reports_packs_that_are_damaged_with_what_to_do(two: Path, harm: str) -> None:
    for pack in (two / ".git/objects/pack").glob("*.pack"):
        pack.chmod(0o644)
        if harm == "gone":
            pack.unlink()
        else:
            pack.write_bytes(pack.read_bytes()[:200] if harm == "cut off" else b"")
    with opened(two) as memory:
        report = memory.fsck()
    assert not report.ok
    assert all(problem.what and problem.fix for problem in report.problems)
    for suffix in SUFFIXES:
        (two / (CACHE + suffix)).unlink(missing_ok=True)
    with opened(two) as memory:
        assert not memory.fsck().ok
        error = refused(memory.list)
    assert isinstance(error, GitFailed) and error.hint


def test_a_proposals_ref_that_is_no_ref_is_named(two: Path, proposal: str) -> None:
    heads = two / ".git/refs/heads/proposals"
    (heads / "extract-20261130-cccccc").write_text("junk\n")
    (heads / "extract-20261130-dddddd").write_bytes(b"")
    (heads / "extract-20261130-eeeeee").symlink_to("nowhere")
    with opened(two) as memory:
        assert [line.id for line in memory.proposals()] == [proposal]
        for letter in "cde":
            assert any(f"extract-20261130-{letter * 6}" in note for note in memory.notes)
        problems = memory.fsck().problems
    assert [problem.where[-6:] for problem in problems][:3] == ["c" * 6, "d" * 6, "e" * 6]
    for problem in problems[:3]:
        plain(two, "-c", f"alias.fix=!{problem.fix.partition(': ')[2]}", "fix")
    assert fsck(two) == []


# --- one state ---------------------------------------------------------------------------------


def test_within_a_snapshot_main_does_not_move(two: Path, proposal: str) -> None:
    store = Store.open(two)
    try:
        with store.snapshot() as head:
            with opened(two) as other:
                other.approve(proposal, person=ADA)
            assert store.head() == head
            with store.snapshot() as inner:
                assert inner == head
            assert store.projection.record("db-postgres") is None
            assert head.tip != rev(two, MAIN)
        assert store.head().tip == rev(two, MAIN)
        assert store.projection.record("db-postgres") is not None
    finally:
        store.close()


def test_damage_that_is_met_within_a_snapshot_is_told_and_gone_the_next_time(two: Path) -> None:
    hand(two, "UPDATE commits SET approved_by='['", seen=False)
    with opened(two) as memory:
        with pytest.raises(GitmemError, match="damaged") as caught:
            memory.why("use-tabs")
        assert "again" in caught.value.hint
    with opened(two) as memory:
        assert memory.why("use-tabs").history
        assert json.dumps([entry.to_json() for entry in memory.log()])
