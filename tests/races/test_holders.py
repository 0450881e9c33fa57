"""Who holds a lock and lives is waited for, whoever started it; what the dead left is cleared."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.errors import Busy
from gitmem.repo import Repo
from gitmem.repo.lock import _holders
from tests.cases.calls import call
from tests.cli.harness import ROOT
from tests.conftest import Effort
from tests.memory.words import opened
from tests.store.conftest import _template, proposal, root
from tests.store.stories import names, plain, rev

__all__ = ["_template", "proposal", "root"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="git inherits no lock there")

APPROVE = """
import sys
from gitmem import MemoryStore
with MemoryStore.open(sys.argv[1]) as memory:
    memory.approve(sys.argv[2], person="Ada <ada@example.org>")
"""


class SlowGit:
    """A ``git`` in PATH that waits with the n-th call of one of its commands, and says so."""

    def __init__(self, folder: Path, command: str, number: int) -> None:
        self.pid = 0
        self.command, self.number = command, number
        self.begun, self.gate = folder / "begun", folder / "gate"
        os.mkfifo(self.begun)
        os.mkfifo(self.gate)
        git = shutil.which("git")
        script = folder / "bin" / "git"
        script.parent.mkdir()
        script.write_text(
            f"""#!/bin/sh
case " $* " in *" {command} "*)
  echo >> "{folder}/count"
  if [ $(wc -l < "{folder}/count") = {number} ]; then
    cat > "{folder}/input"  # it needs nobody any more to tell it something, or to listen
    echo $$ > "{self.begun}"
    read x < "{self.gate}"
    exec {git} "$@" < "{folder}/input" > /dev/null 2>&1
  fi
esac
exec {git} "$@"
"""
        )
        script.chmod(0o755)
        self.path = f"{script.parent}:{os.environ['PATH']}"

    def wait(self) -> int:
        """Wait for it to begin; its process id."""
        return int(self.begun.read_text())

    def let_go(self) -> None:
        """Let it go on."""
        self.gate.write_text("go\n")


@pytest.fixture
def killed(
    root: Path, proposal: str, tmp_path: Path, request: pytest.FixtureRequest, effort: Effort
) -> SlowGit:
    """An approval that was killed while its git was at work, and still is."""
    if not effort.soak and request.param != FOUR[-1]:
        pytest.skip("in the long form")
    git = SlowGit(tmp_path, *request.param)
    process = subprocess.Popen(
        [sys.executable, "-c", APPROVE, str(root), proposal],
        cwd=ROOT,
        env={**os.environ, "PATH": git.path},
    )
    git.pid = git.wait()
    process.kill()
    process.wait()
    return git


WAITING = """
import sys
from gitmem import MemoryStore
with MemoryStore.open(sys.argv[1]) as memory:
    memory.list()
    print("ready", flush=True)
    memory.remember("接着干。", name="next", type="project", person="Ada <ada@example.org>")
"""


FOUR = [("fast-import", 1), ("update-ref", 1), ("fast-import", 2), ("update-ref", 2)]


@pytest.mark.parametrize("killed", FOUR, indirect=True, ids=[f"{c}-{n}" for c, n in FOUR])
def test_the_git_of_a_killed_command_is_waited_for(
    root: Path, proposal: str, killed: SlowGit
) -> None:
    """An approval writes its review, moves the proposal, writes the merge, moves main."""
    before = rev(root, "main")
    with Repo.open(root) as repo:
        with pytest.raises(Busy, match=f"process {killed.pid}") as caught, repo.lock(timeout=0):
            pytest.fail("two writers at once")
        assert f"ps -fp {killed.pid}" in caught.value.hint
    assert names(root) == ["use-tabs"], "reading waits for nobody"
    following = subprocess.Popen(
        [sys.executable, "-c", WAITING, str(root)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert following.stdout and following.stdout.readline() == "ready\n"
    assert rev(root, "main") == before
    killed.let_go()
    following.communicate()
    assert following.returncode == 0
    merged = (killed.command, killed.number) == FOUR[-1]
    assert set(names(root)) == {"use-tabs", "next", *(["db-postgres"] if merged else [])}
    subjects = plain(root, "log", "--first-parent", "--format=%s", f"{before}..main").splitlines()
    assert len(subjects) == 1 + merged
    if merged:
        assert "db-postgres" in subjects[1], "it was waited for: the other came after it"
    with opened(root) as memory:
        assert memory.fsck().ok
        assert [line.id for line in memory.proposals()] == ([] if merged else [proposal])
    plain(root, "fsck", "--full", "--strict")
    assert plain(root, "for-each-ref", "refs/gitmem/inflight") == ""
    assert plain(root, "status", "--porcelain") == ""


HOLD = """
import sys
from pathlib import Path
from gitmem.repo import Repo
with Repo.open(Path(sys.argv[1])) as repo, repo.lock():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_writer(store: Path) -> Iterator[int]:
    """A process that holds the store's lock; its id."""
    command = [sys.executable, "-c", HOLD, str(store)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout and process.stdout.readline() == "held\n"
        yield process.pid
        process.stdin.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a lock")
def test_who_holds_the_lock_is_named_and_nothing_is_changed(
    root: Path, proposal: str, effort: Effort
) -> None:
    before = plain(root, "for-each-ref")
    with another_writer(root) as pid:
        with (
            Repo.open(root) as repo,
            pytest.raises(Busy, match=rf"/lock for 0 seconds \(process {pid}\)") as caught,
            repo.lock(timeout=0),
        ):
            pytest.fail("two writers at once")
        assert caught.value.exit_code == 1
        assert caught.value.hint == f"Try again when it is done. To see it: ps -fp {pid}"
        if effort.soak:  # half a minute
            done = call(root, "approve", proposal, "--yes")
            assert (done.code, f"(process {pid})" in done.err) == (1, True), done
    assert plain(root, "for-each-ref") == before
    assert call(root, "approve", proposal, "--yes").code == 0


QUEUED = """
import sys
from pathlib import Path
from gitmem.repo import Repo
with Repo.open(Path(sys.argv[1])) as repo, repo.lock(timeout=600):
    Path(sys.argv[2]).touch()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who holds a lock")
@pytest.mark.parametrize("fate", ["lives", "is stopped", "is killed"])
def test_who_waits_has_its_turn_before_who_has_just_written_and_stops_nobody(
    root: Path, tmp_path: Path, fate: str
) -> None:
    had, queue = tmp_path / "had", root / ".git/gitmem/queue"
    with Repo.open(root) as repo:
        with repo.lock():
            waiting = subprocess.Popen([sys.executable, "-c", QUEUED, root, had], cwd=ROOT)
            while waiting.pid not in _holders(queue):
                assert waiting.poll() is None
            if fate == "is stopped":
                waiting.send_signal(signal.SIGSTOP)
            elif fate == "is killed":
                waiting.kill()
                waiting.wait()
                assert _holders(queue) == []
        with repo.lock():
            assert had.exists() == (fate == "lives"), "overtaken"
        waiting.send_signal(signal.SIGCONT)
        assert waiting.wait() == (-signal.SIGKILL if fate == "is killed" else 0)
    assert had.exists() == (fate != "is killed")


def test_a_keep_file_that_a_full_disk_left_empty_goes_and_a_persons_stays(root: Path) -> None:
    packs = sorted((root / ".git/objects/pack").glob("*.pack"))
    left, own = packs[0].with_suffix(".keep"), packs[1].with_suffix(".keep")
    left.touch(mode=0o600)
    own.touch(mode=0o644)
    with Repo.open(root) as repo, repo.lock():
        assert len(repo.healed) == 1 and left.name in repo.healed[0]
    assert (left.exists(), own.exists()) == (False, True)
