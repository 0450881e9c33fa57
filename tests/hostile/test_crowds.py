"""With very many open proposals, what a person and an agent do every day costs what it cost."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore, NotFound
from tests.conftest import Effort
from tests.hostile.crowds import crowd
from tests.store.stories import ADA, MAIN, blob, clock, names, opened, plain, rev

FEW, MANY = 10, 150


def _memory(folder: Path, count: int) -> tuple[Path, list[str]]:
    root = folder / "memory"
    with MemoryStore.init(root, clock=clock) as memory:
        memory.remember("Use tabs, not spaces.", name="use-tabs", type="user", person=ADA)
    return root, crowd(root, count)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    return _memory(tmp_path_factory.mktemp("few"), FEW)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory, effort: Effort) -> tuple[Path, list[str]]:
    return _memory(tmp_path_factory.mktemp("many"), effort.count(MANY, 10_000))


def cost(made: tuple[Path, list[str]], tmp_path: Path, act: Callable[[Any, str], object]) -> int:
    """How many processes of git an act starts, and how much it asks them for."""
    root = tmp_path / f"memory-{len(made[1])}"
    shutil.copytree(made[0], root, symlinks=True)
    plain(root, "update-index", "-q", "--refresh")
    with opened(root) as memory:
        memory.list()
        act(memory, made[1][3])  # what is made once is not counted
    started: list[Sequence[str]] = []
    asked: list[str] = []
    with opened(root) as memory:
        store = memory._opened()
        store.repo.runner.trace = started.append
        send = store.repo.reader._send
        store.repo.reader._send = lambda request: (asked.append(request), send(request))[1]
        act(memory, made[1][5])
    return len(started) + sum(request.count(b"\n") for request in asked)


ACTS: dict[str, Callable[[Any, str], object]] = {
    "list": lambda m, name: m.list(),
    "search": lambda m, name: m.search("tabs"),
    "show": lambda m, name: m.show("use-tabs"),
    "why": lambda m, name: m.why("use-tabs"),
    "log": lambda m, name: m.log(),
    "diff": lambda m, name: m.diff(name),
    "approve": lambda m, name: m.approve(name, person=ADA),
    "reject": lambda m, name: m.reject(name, reason="no", person=ADA),
    "remember": lambda m, name: m.remember(
        f"Deploy {name[-6:]} on Fridays.", name=f"friday-{name[-6:]}", person=ADA
    ),
    "edit": lambda m, name: m.edit("use-tabs", body=f"Use tabs {name[-6:]}.", person=ADA),
}


@pytest.mark.parametrize("what", ACTS)
def test_no_other_proposal_is_read_for_what_is_not_about_it(
    few: tuple[Path, list[str]], many: tuple[Path, list[str]], tmp_path: Path, what: str
) -> None:
    assert cost(many, tmp_path, ACTS[what]) == cost(few, tmp_path, ACTS[what])


def test_status_looks_at_the_first_hundred_and_says_so(many: tuple[Path, list[str]]) -> None:
    root, ids = many
    with opened(root) as memory:
        status = memory.status()
        assert (status.open_proposals, status.waiting, status.looked_at) == (len(ids), 100, 100)
        assert status.to_json()["proposals"]["looked_at"] == 100
        (step,) = [step for step in status.next if step.endswith("proposals --all")]
        assert str(len(ids)) in step


def test_the_first_are_listed_and_a_note_tells_of_the_others(
    many: tuple[Path, list[str]],
) -> None:
    root, ids = many
    with opened(root) as memory:
        assert [line.id for line in memory.proposals(limit=20)] == ids[:20]
        assert any(f"the first 20 of {len(ids)}" in note for note in memory.notes)
    with opened(root) as memory:
        assert [line.id for line in memory.proposals()] == ids
        assert not [note for note in memory.notes if "the first" in note]


def test_packed_refs_are_the_same_proposals(many: tuple[Path, list[str]], tmp_path: Path) -> None:
    root = tmp_path / "memory"
    shutil.copytree(many[0], root, symlinks=True)
    plain(root, "pack-refs", "--all")
    with opened(root) as memory:
        assert memory.approve(many[1][7], person=ADA).state == "merged"
        assert memory.status().open_proposals == len(many[1]) - 1
    assert names(root) == ["use-tabs", "port-7"]


def test_a_branch_in_the_place_of_a_folder_of_proposals_is_told(tmp_path: Path) -> None:
    """``proposals`` as a branch leaves no room for ``proposals/ID``; ``ID/x`` none for ``ID``."""
    root, ids = _memory(tmp_path, 1)
    tip = rev(root, f"proposals/{ids[0]}")
    plain(root, "update-ref", "-d", f"refs/heads/proposals/{ids[0]}")
    plain(root, "update-ref", f"refs/heads/proposals/{ids[0]}/x", tip)
    with opened(root) as memory:
        (line,) = memory.proposals()
        assert (line.id, line.state) == (f"{ids[0]}/x", "inconclusive")
        assert ids[0] in line.findings[0].text
        with pytest.raises(NotFound):
            memory.diff("nothing")
        (problem,) = memory.fsck().problems
        assert f"branch -D proposals/{ids[0]}/x" in problem.fix
        memory.remember("Deploy on Fridays.", name="friday", person=ADA)
        memory.reject(f"{ids[0]}/x", reason="in the way", person=ADA)
        assert memory.proposals() == [] and memory.fsck().ok


def test_very_many_broken_branches_are_named_and_stop_nothing(
    few: tuple[Path, list[str]], tmp_path: Path, effort: Effort
) -> None:
    root = tmp_path / "memory"
    shutil.copytree(few[0], root, symlinks=True)
    count, odd, main = effort.count(120, 10_000), blob(root, b"x"), rev(root, MAIN)
    lines = [
        f"create refs/heads/proposals/extract-20260922-{n:06x} {odd if n % 2 else main}\n"
        for n in range(count)
    ]
    refs = root / ".git/refs/heads/proposals"
    for n in range(0, count, 2):
        (refs / f"extract-20260923-{n:06x}").write_text("nonsense\n")
    stdin = "".join(line for line in lines if main in line)
    plain(root, "update-ref", "--stdin", stdin=stdin)
    for n in range(1, count, 2):
        (refs / f"extract-20260922-{n:06x}").write_text(f"{odd}\n")
    with opened(root) as memory:
        assert memory.approve(few[1][0], person=ADA).state == "merged"
        assert memory.status().open_proposals == FEW - 1 + count
        states = [line.state for line in memory.proposals()]
        assert states.count("waiting") == FEW - 1 and states.count("inconclusive") == count
        assert len(memory.fsck().problems) == count + count // 2
    assert names(root) == ["use-tabs", "port-0"]
