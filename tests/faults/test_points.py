"""Something goes wrong at one effect on disk of an operation: it happened or not, and goes on."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.conftest import Effort
from tests.faults.machine import Ended
from tests.faults.operations import OPERATIONS
from tests.faults.points import Bench
from tests.faults.shared import Mode
from tests.faults.sound import assert_sound_git, goes_on

MODES = {
    # What goes wrong, and at how many points of each operation in the long form (None: at all).
    Mode.KILL_ALL: None,
    Mode.KILL_GITMEM: 20,
    Mode.KILL_GIT: 20,
    Mode.FAIL: None,
    Mode.SHORT: 20,
    Mode.FULL: None,
}
KILLS = {Mode.KILL_ALL, Mode.KILL_GITMEM}
_CHANCE = re.compile(r"tmp_(?:pack|idx)_\w+|\.tmp-\d+|[0-9a-f]{32}|\.new-\w+|pack-[0-9a-f]{40}")
_PROMISED = ("/objects/", "/refs/", "/sessions/")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each operation with everything that may go wrong; in the short form with one of these."""
    if "mode" not in metafunc.fixturenames:
        return
    option = metafunc.config.option
    if option.soak:
        pairs = [(name, mode) for name in OPERATIONS for mode in MODES]
    else:
        chance = Effort(option.soak, option.seed).chance("points")
        shuffled = [mode for mode in MODES for _ in range(len(OPERATIONS) // len(MODES) + 1)]
        chance.shuffle(shuffled)
        pairs = list(zip(OPERATIONS, shuffled, strict=False))
    metafunc.parametrize(
        ("name", "mode"), pairs, ids=[f"{name}-{mode.name}" for name, mode in pairs]
    )


def assert_plain_words(ended: Ended, told: str) -> None:
    """It ends well, or with an error that a person can read."""
    assert ended.code in (0, 1), f"{told}: {ended.err}"
    assert "Traceback" not in ended.err, f"{told}: {ended.err}"
    if ended.code == 1 and "could not repair everything" not in ended.out:
        assert re.match(r"error: \S.*\S", ended.err), f"{told}: {ended.err!r}"


def assert_durable(ended: Ended, told: str) -> None:
    """What could not be made durable is no success, unless it was done again or is told."""
    if ended.code != 0 or ended.at is None or ended.at.call != "fsync":
        return
    if "could not be made durable" in ended.err:  # of a ref that keeps something on the way
        return
    if not any(part in f"{ended.at.path}/" for part in _PROMISED):
        return
    # Where one object alone cannot be a file of its own, git keeps the pack that it came in.
    wanted = {_CHANCE.sub("*", ended.at.path)}
    if "/tmp_obj_" in ended.at.path:
        wanted = {"memory/.git/objects/pack/*"}
    later = ended.points[ended.at.number + 1 :]
    again = [p for p in later if p.call == "fsync" and _CHANCE.sub("*", p.path) in wanted]
    assert again, f"{told}: was not durable, and acknowledged"


def test_whatever_goes_wrong_at_an_effect_nothing_is_lost_or_between_and_it_goes_on(
    bench: Bench, effort: Effort, name: str, mode: Mode
) -> None:
    chance = effort.chance(name, mode)
    for point in bench.sample(name, mode, chance, MODES[mode] if effort.soak else 1):
        with bench.trial(name, mode, point) as trial:
            if mode not in KILLS:
                assert_plain_words(trial.ended, trial.told)
                assert_durable(trial.ended, trial.told)
            assert_sound_git(trial.run, trial.operation, trial.was, trial.told)
            goes_on(bench.machine, trial.run, trial.operation, trial.ended, trial.told)


def test_effects_of_every_kind_are_points(bench: Bench) -> None:
    """So that something at every point is something at every kind of effect."""
    points = [point for name in ("approve", "init") for point in bench.points(name)]
    roles = Counter(point.role for point in points)
    assert {"gitmem", "git fast-import", "git update-ref", "git update-index"} <= set(roles)
    calls = {point.call for point in points}
    assert {"open", "write", "fsync", "rename", "link", "unlink", "mkdir", "rmdir"} <= calls
    assert any(point.path == "memory/.git/refs/heads/main" for point in points)


@pytest.mark.parametrize("kill", [Mode.KILL_GITMEM, Mode.KILL_GIT])
def test_of_gitmem_and_its_git_one_is_killed_alone_where_main_moves(
    bench: Bench, kill: Mode
) -> None:
    point = next(
        point
        for point in bench.points("approve")
        if point.call == "rename" and point.path.endswith("refs/heads/main")
    )
    with bench.trial("approve", kill, point) as trial:
        assert (trial.ended.code == -9) is (kill is Mode.KILL_GITMEM)
        assert_sound_git(trial.run, trial.operation, trial.was, trial.told)
        goes_on(bench.machine, trial.run, trial.operation, trial.ended, trial.told)


def test_a_repair_that_could_not_be_made_durable_is_no_success(bench: Bench) -> None:
    name = "repair a stray"
    point = next(
        point
        for point in bench.points(name)
        if point.call == "fsync" and point.path == "memory/.git/refs/heads"
    )
    with bench.trial(name, Mode.FAIL, point) as trial:
        assert trial.ended.code == 1
        assert "could not repair everything" in trial.ended.out
        assert "refs/heads could not be made durable" in trial.ended.out
        goes_on(bench.machine, trial.run, trial.operation, trial.ended, trial.told)
