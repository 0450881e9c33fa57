"""When a consolidation is due: each gate alone holds it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.domain.gates import HOUR, SKEW, GateSettings, Since, closed_gates

NOW = 1_790_000_000
DUE = Since(
    consolidated_at=NOW - 24 * HOUR,
    scanned_at=NOW - 600,
    changed=10,
    sessions=5,
    locked_at=NOW - HOUR,
)
SETTINGS = GateSettings()


def test_all_open_is_due_also_for_the_first_time() -> None:
    assert closed_gates(DUE, NOW, SETTINGS) == ()
    assert closed_gates(Since(changed=10, sessions=5), NOW, SETTINGS) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"changed": 9}, "9 records changed since the last one; it takes 10"),
        ({"sessions": 4}, "4 sessions since the last one; it takes 5"),
        ({"consolidated_at": NOW - 24 * HOUR + 1}, "1 min to go"),
        ({"scanned_at": NOW - 599}, "the next look is in 1 min"),
        ({"locked_at": NOW - HOUR + 60}, "its lock ends in 1 min"),
    ],
)
def test_each_gate_alone_holds_it_back(change: dict[str, int], said: str) -> None:
    (gate,) = closed_gates(replace(DUE, **change), NOW, SETTINGS)
    assert gate.endswith(said) or said in gate


def test_a_time_in_the_future_closes_no_gate_for_longer_than_it_says() -> None:
    for ahead, closed in ((1, 3), (SKEW, 3), (SKEW + 1, 0), (10**9, 0)):
        at = NOW + ahead
        since = replace(DUE, consolidated_at=at, scanned_at=at, locked_at=at)
        assert len(closed_gates(since, NOW, SETTINGS)) == closed, ahead
