"""Everything is on the disk before it is published, and what was published stays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.harness import ROOT
from tests.conftest import Effort
from tests.memory.words import ADA, opened, user, write_lines
from tests.races.story import MARK
from tests.races.tracing import (
    Call,
    Disk,
    by_chance,
    names_survive,
    nothing_survives,
    read_calls,
    traced,
    why_not,
)
from tests.store.stories import plain

STEPS = ["init", "remember", "propose", "approve", "propose more", "review", "adopt", "policy",
         "rebase", "pack refs by hand", "reject", "extract", "join packs", "forget"]  # fmt: skip
BY_HAND = "pack refs by hand"


class Step(NamedTuple):
    """One thing that was done: the store as it was and became, and the calls in between."""

    what: str
    root: Path
    before: Path
    after: Path
    calls: list[Call]

    def disk(self) -> Disk:
        return Disk.of(self.root.parent, self.before)


def _parts(calls: Iterator[Call]) -> Iterator[list[Call]]:
    part: list[Call] = []
    for call in calls:
        if call.paths and call.paths[0].startswith(MARK):
            yield part
            part = []
        else:
            part.append(call)


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> list[Step]:
    """A life of a store, traced."""
    if why := why_not():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("traced")
    root, log = folder / "project" / "memory", folder / "log"
    root.parent.mkdir()
    write_lines(root.parent / "chat.json", [user("Always write commit messages in English.")])
    copies = [folder / "copies" / str(number) for number in range(len(STEPS) + 1)]
    copies[0].parent.mkdir()
    subprocess.run(["cp", "-a", root.parent, copies[0]], check=True)
    command = traced([sys.executable, "-m", "tests.races.story", str(root)], log)
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        for what, copy in zip(STEPS, copies[1:], strict=True):
            process.stdin.write(f"{what}\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n", what
            subprocess.run(["cp", "-a", root.parent, copy], check=True)
        process.stdin.close()
    parts = list(_parts(read_calls(log)))
    assert len(parts) == len(STEPS)
    return [
        Step(what, root, before, after, calls)
        for what, before, after, calls in zip(STEPS, copies, copies[1:], parts, strict=False)
    ]


def is_object(path: str) -> bool:
    name = path.rpartition("/")[2]
    if name.startswith("tmp_") or name.endswith(".keep"):
        return False
    return "/.git/objects/" in path and "/.git/objects/info/" not in path


def is_kept(path: str) -> bool:
    """What is lost for good with its file."""
    private = path.partition("/.git/gitmem/")[2]
    return (
        is_object(path)
        or is_ref(path)
        or path.endswith(("/.git/HEAD", "/.git/config", "/.git/packed-refs"))
        or private.startswith(("sessions/", "edited/", "begun-on"))
    )


def is_ref(path: str) -> bool:
    return "/.git/refs/" in path and "/inflight/" not in path and not path.endswith(".lock")


def published(call: Call) -> str | None:
    """The ref that this call makes visible."""
    if call.name.startswith("rename") and is_ref(call.paths[1]):
        return call.paths[1]
    return None


def test_what_a_ref_reaches_is_on_the_disk_before_the_ref_can_be_seen(steps: list[Step]) -> None:
    seen: dict[str, list[str]] = {}
    lost = []
    for step in steps:
        disk = step.disk()
        for call in step.calls:
            ref = published(call)
            if ref:
                seen.setdefault(step.what, []).append(ref.partition("/.git/")[2])
                lost += [(step.what, ref, what) for what in before_the_swap(disk, call, ref)]
            disk.apply(call)
    assert seen["init"] == ["refs/heads/main"]
    assert seen["approve"][-1] == "refs/heads/main"
    assert seen["propose"][0].startswith("refs/heads/proposals/")
    assert any(ref.startswith("refs/gitmem/kept/") for ref in seen["reject"])
    assert set(seen) == set(STEPS) - {BY_HAND, "join packs"}
    assert lost == [], "\n".join(map(str, lost))


def before_the_swap(disk: Disk, call: Call, ref: str) -> list[str]:
    found = disk.unsafe(is_object)
    found += [] if disk.now[call.paths[0]].is_safe else [f"{call.paths[0]}: not fsynced"]
    found += disk.unsafe(lambda path: "/.git/gitmem/sessions/" in path and ".new-" not in path)
    if ref.endswith("/refs/heads/main"):
        found += disk.unsafe(lambda path: path.endswith("/.git/gitmem/worktree-at"))
    return found


def test_what_was_acknowledged_is_on_the_disk(steps: list[Step]) -> None:
    lost = []
    for step in steps:
        if step.what == BY_HAND:  # git's own doing
            continue
        disk = step.disk()
        for call in step.calls:
            disk.apply(call)
        lost += [(step.what, what) for what in disk.unsafe(is_kept)]
        lost += [
            (step.what, f"{path} may come back")
            for path in disk.safe
            if is_ref(path) and path not in disk.now
        ]
    assert lost == [], "\n".join(map(str, lost))


def test_a_pack_is_on_the_disk_before_those_that_it_replaces_go(steps: list[Step]) -> None:
    (step,) = (step for step in steps if step.what == "join packs")
    disk, gone = step.disk(), 0
    for call in step.calls:
        if call.name == "unlink" and is_object(call.paths[0]):
            gone += 1
            unsafe = [
                path for path, node in disk.now.items() if is_object(path) and not node.is_safe
            ]
            assert unsafe == []
        disk.apply(call)
    assert gone


# What a power failure can do most to, in every run; the long form tries the others, too.
TELLING = ["approve", "reject", "extract"]


def test_after_a_power_failure_all_that_was_acknowledged_is_there(
    steps: list[Step], tmp_path: Path, effort: Effort
) -> None:
    for number, step in enumerate(steps):
        if step.what == BY_HAND or not (effort.soak or step.what in TELLING):
            continue
        disk = step.disk()
        for call in step.calls:
            disk.apply(call)
        luck = [effort.chance(step.what, n) for n in range(effort.count(1, 15))]
        for kind, survives in enumerate([nothing_survives, names_survive, *map(by_chance, luck)]):
            target = tmp_path / f"{number}-{kind}"
            disk.after_power_failure(target, step.after, survives)
            assert_goes_on(target / step.root.name, step.after / step.root.name)


def assert_goes_on(root: Path, wanted: Path) -> None:
    """The store has all that ``wanted`` has, and is sound; files checked out are another thing."""
    with opened(wanted) as there, opened(root) as memory:
        assert memory.list() == there.list()
        assert memory.log() == there.log()
        assert memory.proposals() == there.proposals()
        assert memory.kept() == there.kept()
        assert memory.fsck(repair=True).ok
        memory.remember("And now it goes on.", name="on", type="project", person=ADA)
        assert memory.fsck().ok
    sessions = ".git/gitmem/sessions"
    for path in (wanted / sessions).glob("*.jsonl"):
        assert (root / sessions / path.name).read_bytes() == path.read_bytes()
    plain(root, "fsck", "--full", "--strict")
