"""What every test shares: a machine with nobody's settings on it, and real git.

A test starts in its own empty folder, with an empty home, no git configuration, no identity and
none of the caller's environment. A store outside the test's own folders cannot be opened.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

# Only these variables of the caller reach a test; whatever else a developer, an agent client or
# a CI machine has set (keys, GIT_*, GITMEM_*, editors, colours) stays outside.
KEPT = {"CI", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "VIRTUAL_ENV"}
KEPT_PREFIXES = ("COVERAGE_", "HYPOTHESIS_", "PIP_", "PYTEST_", "PYTHON")

settings.register_profile(
    "house", deadline=None, database=None, derandomize="CI" in os.environ, print_blob=True
)
settings.register_profile("soak", settings.get_profile("house"), max_examples=5000)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The long form of the tests that try many points, and the chance that it runs on."""
    group = parser.getgroup("soak")
    group.addoption("--soak", action="store_true", help="the long form: every point, many rounds")
    group.addoption(
        "--seed",
        type=int,
        help="repeat a run with the same chance (default: 1, or any with --soak)",
    )


def pytest_configure(config: pytest.Config) -> None:
    # The workers of one run get these options from the process that started them.
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(10**9) if config.option.soak else 1
    settings.load_profile("soak" if config.option.soak else "house")


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.option.seed}" + (" (soak)" if config.option.soak else "")


@dataclass(frozen=True)
class Effort:
    """How much a test that could go on for ever does, and by which chance."""

    soak: bool
    seed: int

    def count(self, quick: int, soak: int) -> int:
        """``quick`` in every run, ``soak`` in the long form."""
        return soak if self.soak else quick

    def chance(self, *what: object) -> random.Random:
        """A random generator of its own for ``what``, the same for the same seed."""
        return random.Random(f"{self.seed} {what}")


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest) -> Effort:
    """Whether this is the long form, and the seed of the run."""
    return Effort(request.config.option.soak, request.config.option.seed)


class RunGit(Protocol):
    """Runs real git: ``git(folder, "log", "--oneline")``; fails the test when git fails."""

    def __call__(self, cwd: Path, *args: str, stdin: str | bytes = "") -> str: ...


class StoreOutsideTheTest(BaseException):
    """A test was about to use a store that is not its own.

    A BaseException, so that no error handling of the code under test hides it.
    """


@pytest.fixture(scope="session", autouse=True)
def _no_foreign_store(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Opening or making anything below a ``.memory`` folder outside the tests' own fails."""
    own = str(tmp_path_factory.getbasetemp().resolve())

    def watch(event: str, args: tuple[object, ...]) -> None:
        if event not in ("open", "os.mkdir", "os.listdir", "os.scandir", "sqlite3.connect"):
            return
        if not isinstance(args[0], (str, bytes, os.PathLike)):
            return
        path = os.fsdecode(args[0])
        # A relative path is below the test's own folder, or relative to an open directory.
        if ".memory" not in path or not os.path.isabs(path):
            return
        path = os.path.realpath(path)
        if ".memory" in Path(path).parts and not path.startswith(own):
            raise StoreOutsideTheTest(path)

    sys.addaudithook(watch)


@pytest.fixture(autouse=True)
def _empty_machine(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty home, no git settings, no identity, a fixed language and width."""
    for name in list(os.environ):
        if name not in KEPT and not name.startswith(KEPT_PREFIXES):
            monkeypatch.delenv(name)
    machine = tmp_path_factory.mktemp("machine")
    home, template, config = machine / "home", machine / "template", machine / "gitconfig"
    home.mkdir()
    template.mkdir()
    config.write_bytes(b"")
    for name, value in {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "GIT_CEILING_DIRECTORIES": tmp_path_factory.getbasetemp(),
        "GIT_CONFIG_GLOBAL": config,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TEMPLATE_DIR": template,
        "COLUMNS": "100",
        "LINES": "40",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def git() -> RunGit:
    """Real git in a folder, with a person's identity, returning what it printed."""
    identity = {
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }

    def run(cwd: Path, *args: str, stdin: str | bytes = "") -> str:
        done = subprocess.run(
            ["git", *args],
            cwd=cwd,
            env={**os.environ, **identity},
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            words = done.stderr.decode("utf-8", "replace")
            pytest.fail(f"git {' '.join(args)} ended with {done.returncode}:\n{words}")
        return done.stdout.decode("utf-8")

    return run
