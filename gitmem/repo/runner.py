"""Starts git: one place that fixes its arguments, environment, time and amount of output."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import GitFailed
from gitmem.repo.environment import (
    MINIMUM_GIT,
    PIN_ARGUMENTS,
    git_executable,
    local_environment,
    parse_version,
)
from gitmem.repo.files import read_regular, write_file
from gitmem.repo.pipes import exchange
from gitmem.repo.refusals import refusal_of_git

DEFAULT_TIMEOUT = 60.0
"""Seconds that one git process may take."""

MAX_OUTPUT = 256 * 1024 * 1024
"""Bytes that one git process may print."""

_MAX_ERROR = 64 * 1024
_GRACE = 2.0  # seconds for git to remove its lock files after SIGTERM
_POSIX = os.name == "posix"

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
# Written so that no text takes the square of its length: git may say what a stranger wrote.
_SCHEME = r"[a-z][a-z0-9+.-]{0,40}://"
_URL = re.compile(rf"(?P<scheme>{_SCHEME})[^\s/@'\"]*@", re.IGNORECASE)
_QUERY = re.compile(rf"(?P<url>{_SCHEME}[^\s?#'\"]*+)(?:[?#][^\s'\"]*)?", re.IGNORECASE)


def shown(text: str) -> str:
    """``text`` fit for a terminal and a log: control characters escaped, credentials cut."""
    text = _QUERY.sub(lambda found: found["url"], _URL.sub(lambda found: found["scheme"], text))
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


@dataclass(frozen=True, slots=True)
class Result:
    """What a git process left: its exit status, its output, its (shown) error text."""

    code: int
    out: bytes
    err: str


class Runner:
    """Runs git on one repository.

    ``git_dir`` is passed to every process; nothing is ever discovered from the current
    directory. ``trace`` gets each command as a list of words (for ``-v``).
    """

    def __init__(
        self,
        git_dir: Path,
        *,
        stamp: Path | None = None,
        trace: Callable[[Sequence[str]], None] | None = None,
    ) -> None:
        self.git_dir = git_dir
        self.stamp = stamp
        self.trace = trace
        self.write_fds: tuple[int, ...] = ()
        """Descriptors that a writing process inherits: the store's lock while it is held."""

    def command(
        self, args: Sequence[str], git_dir: Path | None, work_tree: Path | None
    ) -> list[str]:
        """The whole argument list of ``git ARGS``, with the directories and the pins."""
        git = require_git(self.stamp)
        tree = [f"--work-tree={work_tree}"] if work_tree else []
        where = [f"--git-dir={git_dir or self.git_dir}", *tree]
        if self.trace:
            self.trace(["git", *map(shown, args)])
        return [git, "--no-pager", *where, *PIN_ARGUMENTS, *args]

    def run(
        self,
        args: Sequence[str],
        *,
        stdin: bytes | None = None,
        ok: Sequence[int] = (0,),
        writes: bool = False,
        timeout: float = DEFAULT_TIMEOUT,
        max_output: int = MAX_OUTPUT,
        git_dir: Path | None = None,
        work_tree: Path | None = None,
        index_file: Path | None = None,
    ) -> Result:
        """Run ``git ARGS`` to its end.

        ``writes`` hands the store's lock to the process, so that the lock outlives this
        program if it is killed meanwhile. ``index_file`` is the index that git is to use
        instead of the work tree's own.

        Raises:
            GitFailed: the exit status is not in ``ok``, or time or output ran over.
        """
        process = start(
            self.command(args, git_dir, work_tree),
            cwd=work_tree or git_dir or self.git_dir,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            pass_fds=self.write_fds if writes else (),
            environment=_with_index(index_file),
        )
        result = finish(process, args[0], stdin, timeout, max_output)
        if result.code not in ok:
            raise failed(args[0], result, git_dir or self.git_dir)
        return result


def _with_index(index_file: Path | None) -> dict[str, str] | None:
    return local_environment() | {"GIT_INDEX_FILE": str(index_file)} if index_file else None


def failed(what: str, result: Result, git_dir: Path) -> GitFailed:
    """The error for a git command that ended with an unexpected status."""
    reason = result.err.strip() or "it printed no reason"
    message = f"git {what} failed (exit status {result.code}): {reason}"
    known = refusal_of_git(result.code, result.err, git_dir)
    return GitFailed(f"{known.why}: {message}", hint=known.hint) if known else GitFailed(message)


def start(
    command: Sequence[str],
    *,
    cwd: Path,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
    pass_fds: Sequence[int] = (),
    environment: dict[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a process in a group of its own.

    Raises:
        GitFailed: it could not be started.
    """
    try:
        return subprocess.Popen(
            command,
            cwd=cwd,
            env=local_environment() if environment is None else environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=_POSIX,
            pass_fds=tuple(pass_fds) if _POSIX else (),
            # Over a limit of file size git then fails, and takes its locks away, as gitmem does;
            # by default it would be killed.
            restore_signals=False,
        )
    except OSError as error:
        raise GitFailed(f"git could not be started in {cwd}: {error.strerror}") from error


def end(process: subprocess.Popen[bytes], grace: float = _GRACE) -> None:
    """End a process and what it started: asked first, so that git removes its lock files."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            _signal(process, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
            process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            try:
                pipe.close()
            except BrokenPipeError:  # what was still in the buffer has no reader any more
                continue


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    if sys.platform == "win32":
        process.terminate()
        return
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:  # it ended by itself meanwhile
        return


def finish(
    process: subprocess.Popen[bytes],
    what: str,
    stdin: bytes | None,
    timeout: float,
    max_output: int,
) -> Result:
    """Feed a process, collect what it prints, and wait for its end within the limits.

    Raises:
        GitFailed: it took longer than ``timeout`` seconds or printed over ``max_output`` bytes.
    """
    try:
        done = exchange(process, stdin, timeout, max_output, _MAX_ERROR)
        if not done.expired and not done.overflow:
            process.wait()
    finally:
        end(process)
    if done.expired:
        raise GitFailed(f"git {what} took longer than {timeout:g} seconds and was ended")
    if done.overflow:
        raise GitFailed(f"git {what} printed more than {max_output} bytes and was ended")
    return Result(process.returncode, done.out, shown(done.err.decode("utf-8", "replace")))


GIT_STAMP = "git-version"
"""Name of the file that says which git was found to be new enough, so that not every command
has to ask it."""

_MAX_STAMP = 64 * 1024
_checked: set[str] = set()


def _identity(path: str) -> str:
    status = os.stat(path)
    return f"{path}\n{status.st_mtime_ns} {status.st_size} {status.st_ino}\n"


def remember_git(stamp: Path) -> None:
    """Write down the git that this process has checked."""
    text = "".join(sorted(_checked))
    if text and _stamped(stamp) != text:
        try:
            write_file(stamp, text.encode("utf-8", "surrogateescape"))
        except OSError:  # it is a shortcut only
            return


def _stamped(stamp: Path) -> str:
    try:
        data = read_regular(stamp, _MAX_STAMP) or b""
    except OSError:  # it is a shortcut only
        return ""
    return data.decode("utf-8", "surrogateescape")


def require_git(stamp: Path | None = None) -> str:
    """The path of a git that is new enough; it is asked for its version once.

    Raises:
        GitFailed: there is no git in ``PATH``, or it is older than :data:`MINIMUM_GIT`.
    """
    needed = ".".join(map(str, MINIMUM_GIT))
    hint = f"Install git {needed} or newer and put it first in PATH."
    path = git_executable()
    if path is None:
        raise GitFailed("git was not found in PATH", hint=hint)
    known = _identity(path)
    if known in _checked:
        return path
    if stamp is None or known not in _stamped(stamp):
        process = start([path, "version"], cwd=Path(path).parent, stdin=subprocess.DEVNULL)
        out = finish(process, "version", None, DEFAULT_TIMEOUT, _MAX_ERROR).out
        text = out.decode("utf-8", "replace").strip()
        version = parse_version(text)
        if version is None or version < MINIMUM_GIT:
            said = shown(text) or "nothing about its version"
            raise GitFailed(f"{path} says {said!r}; gitmem needs git {needed}", hint=hint)
    _checked.add(known)
    return path
