"""What could not be done is told, leaves nothing that misleads, and can be done later."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cli.boundary import run as run_boundary
from gitmem.repo.worktree_note import WORKTREE_NOTE
from tests.cases.calls import call
from tests.faults import operations
from tests.faults.operations import OPERATIONS, Run, prepared
from tests.faults.points import Bench
from tests.faults.shared import Mode
from tests.memory.words import ADA, opened
from tests.store.stories import plain


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, operations.Ids]:
    root = tmp_path_factory.mktemp("prepared") / "memory"
    return root, operations.build(root)


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def set_back(template: tuple[Path, operations.Ids], below: Path) -> Run:
    """A memory of which main was set back, which no command has seen yet."""
    return prepared(template, below, OPERATIONS["repair main set back"])


def test_a_main_that_cannot_be_kept_is_read_and_told_and_kept_later(
    template: tuple[Path, operations.Ids], tmp_path: Path
) -> None:
    run = set_back(template, tmp_path / "a")
    with no_file_above(40):
        for args in (["list"], ["show", "use-tabs"], ["search", "tabs"], ["log"]):
            done = call(run.root, *args)
            assert done.code == 0, (args, done)
            assert "could not be kept aside" in done.err, (args, done)
        assert plain(run.root, "for-each-ref", "refs/gitmem/kept/main-*") == ""
    assert "it is kept as refs/gitmem/kept/main-" in call(run.root, "list").err
    assert call(run.root, "fsck", "--repair").code == 0
    assert "everywhere" in call(run.root, "show", "use-tabs").out


def test_a_repair_that_cannot_keep_a_lost_main_fails_and_the_next_one_brings_it_back(
    template: tuple[Path, operations.Ids], tmp_path: Path
) -> None:
    run = set_back(template, tmp_path / "a")
    with no_file_above(40):
        done = call(run.root, "fsck", "--repair")
    assert done.code == 1 and "ulimit -f" in done.out + done.err, done
    assert call(run.root, "fsck", "--repair").code == 0
    assert "everywhere" in call(run.root, "show", "use-tabs").out


def test_a_repair_goes_on_in_the_second_in_which_its_pack_was_kept_and_cut_off(
    template: tuple[Path, operations.Ids], tmp_path: Path
) -> None:
    """The same second makes the same pack, and git makes no keep file twice."""
    run = prepared(template, tmp_path / "a", OPERATIONS["repair main gone another way"])
    other = tmp_path / "b" / "memory"
    shutil.copytree(run.root, other, symlinks=True)
    now = 4_000_000_000
    packs = Path(".git/objects/pack")
    before = {path.name for path in (run.root / packs).glob("*.pack")}
    with opened(other, now) as memory:
        assert memory.fsck(repair=True).ok
    made = {path.name for path in (other / packs).glob("*.pack")} - before
    assert made
    for name in made:
        os.close(os.open((run.root / packs / name).with_suffix(".keep"), os.O_CREAT, 0o600))
    with opened(run.root, now) as memory:
        assert memory.fsck(repair=True).ok
        assert "everywhere" in memory.show("use-tabs").body
        assert "brief" in {line.name for line in memory.list()}
    assert {path.name for path in (run.root / packs).glob("*.pack")} - before == made
    assert list((run.root / packs).glob("*.keep")) == []


def test_no_crash_report_of_git_stays(
    template: tuple[Path, operations.Ids], tmp_path: Path
) -> None:
    operation = OPERATIONS["approve"]
    run = prepared(template, tmp_path / "a", operation)
    with no_file_above(300):
        done = call(run.root, *operation.argv(run)[2:])
    assert done.code == 1 and "fast_import_crash_" in done.err, "git wrote one"
    assert list((run.root / ".git").glob("fast_import_crash_*")) == []
    assert call(run.root, *operation.argv(run)[2:]).code == 0


def test_a_bug_that_cannot_be_logged_is_told_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(args: list[str]) -> int:
        raise KeyError("a bug")

    with no_file_above(0):
        assert run_boundary(fail, ["status"]) == 3
    printed = capsys.readouterr().err
    assert "a bug in gitmem: KeyError" in printed
    assert "paste what --debug prints; no file: File too large" in printed
    assert list((Path(os.environ["XDG_STATE_HOME"]) / "gitmem").iterdir()) == []


def test_files_that_could_not_be_written_are_no_deletion_and_come_later(bench: Bench) -> None:
    point = next(
        point
        for point in bench.points("approve")
        if point.call == "write" and "memory/records/" in point.path
    )
    with bench.trial("approve", Mode.FAIL, point) as trial:
        root = trial.run.root
        assert trial.ended.code == 0 and "could not be written" in trial.ended.err, trial.ended
        assert (root / ".git/gitmem" / WORKTREE_NOTE).exists()
        assert not list(root.glob("records/*/db-choice.md"))
        done = call(root, "adopt", "--yes")
        assert "db-choice" not in done.out, done
        with MemoryStore.open(root) as memory:
            assert [line.kind for line in memory.proposals()].count("adopt") == 0
            assert "db-choice" in {line.name for line in memory.list()}
        assert list(root.glob("records/*/db-choice.md"))
        assert plain(root, "status", "--porcelain") == ""
        assert not (root / ".git/gitmem" / WORKTREE_NOTE).exists()


def test_a_part_that_was_approved_and_not_merged_says_where_it_waits(bench: Bench) -> None:
    name = "approve a part"
    point = [
        point
        for point in bench.points(name)
        if point.call == "write" and "objects/pack/tmp_pack" in point.path
    ][-1]
    with bench.trial(name, Mode.FAIL, point) as trial:
        root = trial.run.root
        assert trial.ended.code == 1
        _, _, told = trial.ended.err.partition("What you approved waits: gitmem ")
        assert told.startswith("approve "), trial.ended
        with MemoryStore.open(root) as memory:
            (waiting,) = [p for p in memory.proposals() if p.id == told.split()[1]]
            assert [record.name for record in waiting.records] == ["cloud"]
            assert memory.approve(waiting.id, person=ADA).state == "merged"
