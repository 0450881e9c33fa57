"""A disk that is full, files that may not grow, and a store that can only be read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.cases import calls
from tests.cli.harness import ADA, ROOT
from tests.conftest import Effort
from tests.faults import operations
from tests.memory.words import private_files
from tests.store.stories import plain

#: One that merges, and one that writes a session; the long form does all, step by step.
TELLING = {"disk": "approve", "limit": "propose"}


def private_mounts() -> list[str]:
    """How to run a program that may mount what nobody else sees; skipped where it may not."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not installed, so no small disk can be mounted")
    for options in ("-m", "-rm"):
        command = [unshare, options]
        probe = [*command, "mount", "-t", "tmpfs", "tmpfs", tempfile.gettempdir()]
        if subprocess.run(probe, capture_output=True, check=False).returncode == 0:
            return command
    pytest.skip("no disk may be mounted here, neither as root nor in a user namespace")


def run(command: list[str]) -> str:
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "GITMEM_USER": ADA},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stdout


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, operations.Ids]:
    root = tmp_path_factory.mktemp("prepared") / "memory"
    return root, operations.build(root)


@pytest.mark.parametrize("kind", ["disk", "limit"])
def test_on_a_full_disk_nothing_is_half_done_and_it_goes_on_when_there_is_room(
    template: tuple[Path, operations.Ids], tmp_path: Path, effort: Effort, kind: str
) -> None:
    """``disk``: so many pages are left; ``limit``: no file may be larger than so much."""
    root, ids = template
    before = private_mounts() if kind == "disk" else []
    program = [sys.executable, "-m", "tests.faults.full", kind, str(tmp_path / "small"), str(root)]
    every = effort.count(10 if kind == "disk" else 8, 1)
    chosen = list(operations.OPERATIONS) if effort.soak else [TELLING[kind]]
    run([*before, *program, json.dumps(asdict(ids)), str(every), *chosen])


# --- read-only ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, calls.Ids]:
    root = tmp_path_factory.mktemp("known") / "project"
    return root, calls.build(root)


@pytest.mark.parametrize("projection", ["there", "gone"])
@pytest.mark.parametrize("how", ["permissions", "mount"])
def test_a_store_that_cannot_be_written_is_read_and_every_write_says_why(
    known: tuple[Path, calls.Ids], tmp_path: Path, effort: Effort, how: str, projection: str
) -> None:
    if not effort.soak and (how, projection) != ("permissions", "there"):
        pytest.skip("in the long form")
    if sys.platform == "win32":
        pytest.skip("permissions are another thing there")
    before = private_mounts() if how == "mount" else bound_by_permissions()
    store = tmp_path / "memory"
    shutil.copytree(known[0] / ".memory", store, symlinks=True)
    plain(store, "update-index", "-q", "--refresh")
    edited = store / "records/user/use-tabs.md"
    edited.write_text(edited.read_text("utf-8").replace("everywhere", "处处"), encoding="utf-8")
    why = "the disk is read-only" if how == "mount" else "permission denied"
    program = [*before, sys.executable, "-m", "tests.faults.looking", str(store)]
    program.append(json.dumps(asdict(known[1])))
    expected = looked(run([sys.executable, *program[len(before) + 1 :], "", ""]))
    if projection == "gone":
        for path in (store / ".git/gitmem").glob("cache.sqlite*"):
            path.unlink()
    folder = tmp_path / "input"
    folder.mkdir()
    if how == "permissions":
        subprocess.run(["chmod", "-R", "a-w", str(store)], check=True)
    was = private_files(store)
    told = looked(run([*program, str(folder), how if how == "mount" else ""]))
    assert private_files(store) == was
    for one in told:
        if one["kind"] == "read":
            assert one["code"] == 0, str(one)
        else:
            if one["args"] == ["fsck", "--repair"]:  # there is nothing to repair
                continue
            if "--edit" in one["args"]:  # it is stale still: it could not be rebased
                assert one["code"] == 4, str(one)
                continue
            assert one["code"] == 1, str(one)
            assert why in one["err"], str(one)
            assert "hint: " in one["err"], str(one)
    outs = [one["out"] for one in told if one["kind"] == "read"]
    assert outs == [one["out"] for one in expected]
    subprocess.run(["chmod", "-R", "u+w", str(store)], check=True)


def looked(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def bound_by_permissions() -> list[str]:
    """How to run a program whom permissions bind; root without the right to pass over them."""
    if os.geteuid() != 0:
        return []
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("nothing is read-only for root, and setpriv is not installed")
    return [setpriv, "--bounding-set=-dac_override,-dac_read_search,-fowner"]
