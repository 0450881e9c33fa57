"""What status says to do next, in every state; each command works when it is pasted."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cli import main
from gitmem.domain.review import Review
from gitmem.results import Status
from gitmem.store import Store
from tests.store.stories import (
    ADA,
    BEN,
    MAIN,
    NOW,
    QUOTE,
    copy,
    opened,
    plain,
    propose,
    rev,
    set_main,
)

PROPOSALS = "refs/heads/proposals"
WAITING = "Always run the linter before a commit."
HOSTILE = "-x$(touch${IFS}hacked)"
TEXT = "records/user/use-tabs.md"
DECIDES = ("adopt", "approve", "reject", "remember")


def steps(root: Path) -> list[str]:
    """The commands that status names, by the way their order."""
    return [step.rsplit(": gitmem ", 1)[1] for step in status(root).next]


def status(root: Path) -> Status:
    with opened(root) as memory:
        return memory.status()


@pytest.fixture
def pasted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[Path, str], None]:
    """Runs one command in a copy of the store, as a shell would read it; it must end with 0."""
    monkeypatch.setenv("GITMEM_USER", ADA)
    numbers = iter(range(100))

    def paste(root: Path, command: str) -> None:
        there = tmp_path / f"copy-{next(numbers)}" / ".memory"
        there.parent.mkdir()
        copy(root, there)
        monkeypatch.chdir(there.parent)
        words = shlex.split(command)
        yes = ["--yes"] if words[0] in DECIDES else []
        at = words.index("--") if "--" in words else len(words)
        code = main([*words[:at], *yes, *words[at:]])
        said = capsys.readouterr()
        assert code == 0, f"gitmem {command}\n{said.out}{said.err}"

    return paste


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made") / "memory"
    with MemoryStore.init(root) as memory:
        memory.remember(
            "Use tabs, not spaces, for indentation.", name="use-tabs", type="user", person=ADA
        )
    return root


@pytest.fixture
def bare(_made: Path, tmp_path: Path) -> Path:
    """One record, and nothing that waits."""
    return copy(_made, tmp_path / "memory")


# --- the states --------------------------------------------------------------------------------


def stale(root: Path) -> str:
    proposal = propose(root, "use-tabs", "Use tabs of four columns, not spaces.")
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs, and nothing else.", person=BEN)
    return proposal


def reviewed(root: Path, proposal: str, *swaps: tuple[str, str]) -> str:
    """Put another review in the place of the last one."""
    ref = f"{PROPOSALS}/{proposal}"
    message = plain(root, "log", "-1", "--format=%B", ref) + "\n"
    for old, new in swaps:
        assert old in message
        message = message.replace(old, new)
    tree = plain(root, "rev-parse", f"{ref}^{{tree}}")
    plain(root, "update-ref", ref, plain(root, "commit-tree", tree, "-p", f"{ref}^", stdin=message))
    return proposal


def blocked(root: Path) -> str:
    proposal = propose(root, "linter", WAITING)
    return reviewed(root, proposal, ("Verdict: approve", "Verdict: request_changes"))


def turned_down(root: Path) -> str:
    """A reviewer model says no, on top of the checks."""
    proposal = propose(root, "linter", WAITING)
    with opened(root) as memory:
        change = memory.diff(proposal).change
    said = Review(
        by="model:other@example.org",
        reviewer="evidence",
        verdict="reject",
        change=change,
        rubric=rev(root, "main:reviewers/evidence.md"),
        findings=(),
        at=NOW,
    )
    with contextlib.closing(Store.open(root)) as store:
        store.add_review(proposal, rev(root, f"{PROPOSALS}/{proposal}"), said)
    return proposal


def unreviewed(root: Path) -> str:
    proposal = propose(root, "linter", WAITING)
    plain(root, "update-ref", f"{PROPOSALS}/{proposal}", f"{PROPOSALS}/{proposal}^")
    return proposal


def unreadable(root: Path) -> str:
    name = "extract-20261130-abcdef"
    plain(root, "update-ref", f"{PROPOSALS}/{name}", "main")
    return name


STUCK: dict[Callable[[Path], str], tuple[str, list[str]]] = {
    stale: ("stale", ["rebase"]),
    blocked: ("changes_requested", ["diff", "reject"]),
    turned_down: ("rejected", ["diff", "reject"]),
    unreviewed: ("inconclusive", ["rebase"]),
    unreadable: ("inconclusive", ["reject"]),
}


@pytest.mark.parametrize("make", STUCK, ids=lambda make: make.__name__)
def test_a_proposal_that_cannot_go_on_has_its_step(
    bare: Path, make: Callable[[Path], str], pasted: Callable[[Path, str], None]
) -> None:
    proposal = make(bare)
    state, named = STUCK[make]
    with opened(bare) as memory:
        assert [line.state for line in memory.proposals()] == [state]
    found = steps(bare)
    assert [shlex.split(step)[0] for step in found] == named
    for step in found:
        assert shlex.split(step)[-1] == proposal
        pasted(bare, step)


def test_what_was_committed_on_a_proposals_branch_by_hand_is_cut_off(
    bare: Path, pasted: Callable[[Path, str], None]
) -> None:
    proposal = propose(bare, "linter", WAITING)
    plain(bare, "checkout", "-q", f"proposals/{proposal}")
    plain(bare, "commit", "-q", "--no-verify", "--allow-empty", "-m", "by hand 手工")
    leave, *others = status(bare).next
    assert leave.endswith(f"git -C {shlex.quote(str(bare))} checkout main")
    plain(bare, *shlex.split(leave.rsplit(": git ", 1)[1]))
    assert list(status(bare).next) == others
    assert steps(bare) == ["fsck --repair", f"reject --reason unreadable {proposal}"]
    for step in steps(bare):
        pasted(bare, step)
    with opened(bare) as memory:
        memory.fsck(repair=True)
    assert [shlex.split(step)[0] for step in steps(bare)] == ["diff", "approve", "reject"]


# --- files that cannot follow ------------------------------------------------------------------


def test_a_lock_that_keeps_files_behind_is_named_with_what_removes_it(bare: Path) -> None:
    lock = bare / ".git/index.lock"
    lock.write_text("")
    with opened(bare) as memory:
        memory.remember("Answer briefly. 简短回答。", name="brief", type="user", person=BEN)
    os.utime(lock, (NOW, NOW))
    fresh = status(bare)
    assert any("brought along" in warning for warning in fresh.warnings)
    assert any(step.endswith(f": rm {shlex.quote(str(lock))}") for step in fresh.next)
    os.utime(lock, (NOW - 86_400, NOW - 86_400))
    left = next(step for step in status(bare).next if step.endswith(": gitmem fsck --repair"))
    assert str(lock) in left
    lock.unlink()
    assert status(bare).next == ()


@pytest.mark.parametrize("verb", ["revert", "merge", "cherry-pick", "rebase"])
def test_what_git_waits_for_a_person_to_end_is_named(bare: Path, verb: str) -> None:
    state = {
        "revert": "REVERT_HEAD",
        "merge": "MERGE_HEAD",
        "cherry-pick": "CHERRY_PICK_HEAD",
        "rebase": "rebase-merge",
    }[verb]
    if verb == "rebase":
        (bare / ".git" / state).mkdir()
    else:
        (bare / ".git" / state).write_text(rev(bare, MAIN) + "\n")
    (warning,) = status(bare).warnings
    assert f"a {verb} is under way" in warning and str(bare) in warning
    with opened(bare) as memory:
        memory.remember("Answer briefly.", name="brief", type="user", person=BEN)
    found = [step for step in status(bare).next if f"a {verb} is under way" in step]
    assert len(found) == 1 and found[0].endswith(": gitmem status")


def test_of_several_in_one_state_the_first_is_named_and_all_are_counted(
    bare: Path, pasted: Callable[[Path, str], None]
) -> None:
    both = sorted([propose(bare, "linter", WAITING), propose(bare, "db", QUOTE)])
    found = status(bare)
    assert (found.open_proposals, found.waiting) == (2, 2)
    assert found.next[0] == f"2 proposals wait; read the first: gitmem diff {both[0]}"
    for step, command in zip(steps(bare), ["diff", "approve", "reject"], strict=True):
        assert step.startswith(command)
        pasted(bare, step)


def test_a_branch_with_a_hostile_name_is_quoted(
    bare: Path, pasted: Callable[[Path, str], None], tmp_path: Path
) -> None:
    plain(bare, "update-ref", f"{PROPOSALS}/{HOSTILE}", "main")
    (step,) = steps(bare)
    assert shlex.split(step)[-2:] == ["--", HOSTILE]
    pasted(bare, step)
    assert not list(tmp_path.rglob("hacked"))


def test_a_new_memory_is_told_how_to_begin(
    tmp_path: Path, pasted: Callable[[Path, str], None]
) -> None:
    root = tmp_path / "new"
    MemoryStore.init(root).close()
    found = steps(root)
    assert [shlex.split(step)[0] for step in found] == ["remember", "extract"]
    for step in found:
        try:
            pasted(root, step)
        except SystemExit as end:  # of --help
            assert end.code == 0


def test_where_nothing_is_to_be_done_nothing_is_said(bare: Path) -> None:
    found = status(bare)
    assert found.next == ()
    assert found.warnings == ()


# --- work by hand ------------------------------------------------------------------------------


def edited(root: Path) -> None:
    file = root / TEXT
    file.write_text(file.read_text().replace("indentation.", "indentation. 缩进用制表符。"))


def committed(root: Path) -> None:
    edited(root)
    plain(root, "commit", "-q", "--no-verify", "-am", "by hand")


@pytest.mark.parametrize("change", [edited, committed])
def test_work_by_hand_is_to_be_adopted_once(
    bare: Path,
    change: Callable[[Path], None],
    pasted: Callable[[Path, str], None],
) -> None:
    change(bare)
    found = steps(bare)
    assert found == (["adopt"] if change is edited else ["adopt", "fsck --repair"])
    for step in found:
        pasted(bare, step)
    with opened(bare) as memory:
        assert memory.adopt(person=ADA).proposal
    assert [shlex.split(step)[0] for step in steps(bare)] == ["diff", "approve", "reject"]


def test_what_is_gone_because_a_file_stands_there_is_not_to_be_adopted(bare: Path) -> None:
    """Adopting it would retire every record."""
    shutil.rmtree(bare / "records")
    (bare / "records").write_text("x\n")
    found = status(bare)
    assert [problem.path for problem in found.problems] == [str(bare / "records")]
    assert steps(bare) == ["fsck"]


def test_every_edited_file_counts_and_the_view_does_not(bare: Path) -> None:
    edited(bare)
    (bare / "MEMORY.md").write_text("my own notes\n")
    (bare / "records" / "user" / "new.md").write_text("anything")
    found = status(bare)
    assert found.next == (
        "records/user/new.md and 1 more edited by hand; propose what they say now: gitmem adopt",
    )
    assert (bare / "MEMORY.md").read_text() != "my own notes\n"


def test_a_file_with_a_hostile_name_changes_no_step(bare: Path) -> None:
    name = "x\x1b[2J\n: gitmem reject --all \u202e$(touch hacked)"
    (bare / "records" / "user" / f"{name}.md").write_text("x")
    (step,) = status(bare).next
    assert step.isprintable()
    assert steps(bare) == ["adopt"]


@pytest.mark.parametrize("stage", [False, True])
def test_an_edit_counts_whether_it_is_staged_or_not_and_a_mere_touch_does_not(
    bare: Path, stage: bool
) -> None:
    os.utime(bare / TEXT, (NOW, NOW))
    assert status(bare).next == ()
    edited(bare)
    if stage:
        plain(bare, "add", TEXT)
    assert steps(bare) == ["adopt"]
    (bare / TEXT).unlink()
    assert steps(bare) == ["adopt"]


def test_a_stray_is_warned_of_and_is_to_be_adopted(bare: Path) -> None:
    committed(bare)
    found = status(bare)
    assert len(found.strays) == 1
    assert any("1 commit on main is a stray" in warning for warning in found.warnings)
    assert found.next == (
        "Propose what was committed by hand: gitmem adopt",
        "Or take what is no memory off main; it is kept aside: gitmem fsck --repair",
    )


def test_what_was_put_aside_is_told_once_nothing_else_waits(
    bare: Path, pasted: Callable[[Path, str], None]
) -> None:
    proposal = propose(bare, "linter", WAITING)
    other = propose(bare, "db", QUOTE)
    with opened(bare) as memory:
        memory.reject(proposal, reason="太短", person=ADA)
        assert not any("put aside" in step for step in memory.status().next)
        memory.reject(other, reason="太短", person=ADA)
    (step,) = status(bare).next
    assert step.startswith("2 proposals are put aside for 90 days")
    pasted(bare, steps(bare)[0])


def test_a_main_that_was_moved_back_is_told(
    bare: Path, pasted: Callable[[Path, str], None]
) -> None:
    tip = rev(bare, "main")
    with opened(bare) as memory:
        memory.remember(WAITING, name="linter", type="feedback", person=ADA)
        assert memory.status().next == ()
    lost = rev(bare, "main")
    set_main(bare, tip)
    for _ in range(2):  # not only by whoever looks first
        (step, *_) = status(bare).next
        assert step.startswith(f"main was moved back from {lost[:12]}")
    pasted(bare, steps(bare)[0])


def test_a_file_that_stands_for_a_proposal_and_names_none_is_told(
    bare: Path, pasted: Callable[[Path, str], None]
) -> None:
    folder = bare / ".git" / PROPOSALS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "extract-20261130-abcdef").write_text("")
    (step,) = steps(bare)
    assert step == "fsck --repair"
    pasted(bare, step)


# --- what is missing ---------------------------------------------------------------------------


def test_hooks_that_are_missing_are_to_be_installed(
    bare: Path, pasted: Callable[[Path, str], None]
) -> None:
    with opened(bare) as memory:
        memory.remove_hooks()
    (step,) = steps(bare)
    assert step == "hooks install git"
    pasted(bare, step)


def test_hooks_that_git_would_not_run_are_not_asked_for(bare: Path) -> None:
    with opened(bare) as memory:
        memory.remove_hooks()
    plain(bare, "config", "core.hooksPath", "elsewhere")
    assert steps(bare) == []


def test_files_that_a_merge_left_behind_are_named(bare: Path) -> None:
    (bare / ".git" / "MERGE_HEAD").write_text(rev(bare, "main") + "\n")
    with opened(bare) as memory:
        memory.remember(WAITING, name="linter", type="feedback", person=ADA)
    found = status(bare)
    assert any("could not be brought along" in warning for warning in found.warnings)
    (step,) = found.next
    assert step.endswith(": gitmem status")
    (bare / ".git" / "MERGE_HEAD").unlink()
    assert status(bare).next == ()
    assert (bare / "records" / "feedback" / "linter.md").exists()
