"""The real command in a fresh process: in a pipe, and on a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.cli.harness import (
    PATIENCE,
    Answer,
    Done,
    RunCommand,
    RunOnTerminal,
    converse,
    environment,
)
from tests.store.stories import copy


@pytest.fixture
def gitmem() -> RunCommand:
    def run(
        *args: str,
        stdin: str | bytes = "",
        env: Mapping[str, str] | None = None,
        code: int | None = 0,
        cwd: Path | None = None,
    ) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "gitmem", *args],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            env=environment(env),
            cwd=cwd,
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        if code is not None:
            assert done.returncode == code, f"{args} ended with {done.returncode}:\n{out}\n{err}"
        return Done(done.returncode, out, err)

    return run


@pytest.fixture
def terminal() -> RunOnTerminal:
    pty = pytest.importorskip("pty")
    fcntl = pytest.importorskip("fcntl")
    termios = pytest.importorskip("termios")

    def take_terminal() -> None:
        # So that Ctrl-C, typed on it, interrupts the program, even where the tests themselves
        # were started in the background, which has interrupts ignored.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def run(
        *args: str,
        answers: Sequence[Answer] = (),
        env: Mapping[str, str] | None = None,
        python: Sequence[str] = ("-m", "gitmem"),
    ) -> Done:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, *python, *args],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment({"TERM": "xterm-256color", **(env or {})}),
            start_new_session=True,
            preexec_fn=take_terminal,
        )
        os.close(theirs)
        try:
            printed = converse(ours, list(answers))
            return Done(process.wait(PATIENCE), printed.decode("utf-8"), "")
        finally:
            process.kill()
            process.wait()
            os.close(ours)

    return run


@pytest.fixture(scope="session")
def _made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A new store, and one with a record, made by the command once; the tests take copies."""
    empty = tmp_path_factory.mktemp("empty") / ".memory"
    known = tmp_path_factory.mktemp("known") / ".memory"
    remember = (
        "remember",
        "Use tabs, not spaces, for indentation.",
        "--name=use-tabs",
        "--type=user",
        "--description=User prefers tabs",
        "--yes",
    )
    # Made before the environment of a test is: with a home and settings of its own.
    home = tmp_path_factory.mktemp("home")
    own = {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull}
    env = environment({**own, "GIT_CONFIG_NOSYSTEM": "1"})
    env = {name: value for name, value in env.items() if name != "GITMEM_STORE"}
    for store, calls in ((empty, [("init",)]), (known, [("init",), remember])):
        for args in calls:
            command = [sys.executable, "-m", "gitmem", *args]
            subprocess.run(command, cwd=store.parent, env=env, check=True, capture_output=True)
    return empty, known


@pytest.fixture
def store(_made: tuple[Path, Path], tmp_path: Path) -> Path:
    """A new store in the test's folder, where the commands find it by themselves."""
    return copy(_made[0], tmp_path / ".memory")


@pytest.fixture
def tabs(_made: tuple[Path, Path], tmp_path: Path) -> Path:
    """A store with one record, use-tabs, that Ada made."""
    return copy(_made[1], tmp_path / ".memory")
