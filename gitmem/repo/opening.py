"""Which repositories are taken as stores, checked by reading files.

Opening costs no git process unless something about the repository is out of the ordinary.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gitmem.domain.layout import MAIN, PRIVATE
from gitmem.domain.shell import shell_word
from gitmem.errors import GitmemError, NotFound, Refused
from gitmem.repo.discovery import (
    GitDirs,
    find_git_dir,
    is_own_git_dir,
    looks_like_git_dir,
    read_pointer,
    resolved,
)
from gitmem.repo.environment import PIN_ARGUMENTS, personal_environment
from gitmem.repo.files import fsync_folder
from gitmem.repo.lock import StoreLock
from gitmem.repo.places import misplaced
from gitmem.repo.refusals import refusal
from gitmem.repo.runner import DEFAULT_TIMEOUT, Runner, failed, finish, require_git, start

_SUSPECT = (b"extensions", b"include", b"promisor", b"partialclone")
# A line of a configuration in lower case that git takes for certain.
_PLAIN_LINE = re.compile(
    rb"\[(?:core|pull|user)\]"
    rb"|\[(?:branch|remote) \"[\w./-]+\"\]"
    rb"|\t(?:bare|filemode|ignorecase|logallrefupdates|precomposeunicode|symlinks) = (?:true|false)"
    rb"|\trepositoryformatversion = [01]"
    rb"|\tff = only"
    rb"|\t(?:name|email) = [^\"\\\\#;\x00-\x1f]+"
    rb"|\t(?:url|fetch|remote|merge) = [\w.@/:*+~-]+"
    rb"|"
)
_HEAD = re.compile(r"ref: refs/[^\s\x00-\x20]+|[0-9a-f]{40}")
_MAX_CONFIG = 1024 * 1024
_MAX_LISTING = 4 * 1024 * 1024


def check_surroundings(common: Path) -> None:
    """Refuse to run where git itself refuses to move refs; a push into another repository is none
    of this one's.

    Raises:
        Refused: git runs this program inside the quarantine of a push into this repository.
    """
    quarantine = os.environ.get("GIT_QUARANTINE_PATH")
    if quarantine and Path(quarantine).resolve().is_relative_to(common):
        raise Refused(
            "git is receiving a push here (GIT_QUARANTINE_PATH is set), and refs may not move now",
            hint="Run gitmem from a post-receive hook, or outside of a hook.",
        )


def check_openable(root: Path, dirs: GitDirs) -> None:
    """Raise for a repository that gitmem cannot keep a memory in.

    Raises:
        GitmemError: it belongs to somebody else, or is a SHA-256, reftable, shallow or partial
            repository; the message says which, and what to do.
    """
    _check_owner(root, dirs)
    for found in misplaced(dirs.common, [PRIVATE], []):
        raise found.error
    _check_points_back(root, dirs)
    shallow = dirs.common / "shallow"
    if shallow.is_file() and shallow.stat().st_size:
        raise GitmemError(
            f"{root}: is a shallow clone, and a memory needs its whole history",
            hint=f"Get it with: git -C {shell_word(str(root))} fetch --unshallow",
        )
    config = read_config(dirs.common)
    if any(word in config for word in _SUSPECT):
        _check_format(root, list_config(dirs.common))
    _check_usable(dirs, config)


def read_config(common: Path) -> bytes:
    """The repository's configuration file in lower case, to look for a word in.

    Every section's name stands in it literally, so a word that is absent is not configured,
    unless ``include`` occurs.

    Raises:
        GitmemError: it is larger than 1 MiB, or cannot be read.
    """
    found = b""
    for name in ("config", "config.worktree"):
        try:
            with (common / name).open("rb") as file:
                found += file.read(_MAX_CONFIG + 1).lower()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise GitmemError(f"{common / name}: cannot be read ({error.strerror})") from error
    if len(found) > _MAX_CONFIG:
        raise GitmemError(f"{common / 'config'}: is larger than {_MAX_CONFIG} bytes")
    return found


def is_plain(config: bytes) -> bool:
    """Whether every line of :func:`read_config` is such as git writes into a new repository."""
    return all(_PLAIN_LINE.fullmatch(line) for line in config.splitlines())


def list_config(common: Path) -> dict[str, str]:
    """What the repository's own configuration says, keys in lower case, the last value counts.

    That of a work tree alone (``config.worktree``) counts with it.

    Raises:
        GitmemError: git cannot read it.
    """
    listed = _listed(common / "config")
    if (common / "config.worktree").is_file():
        listed |= _listed(common / "config.worktree")
    return listed


def _listed(config: Path) -> dict[str, str]:
    # From a file, not from a repository: git would refuse to start in one it does not know.
    command = [require_git(), "config", "-z", "--includes", "--list", "-f", str(config)]
    process = start(command, cwd=config.parent.parent, stdin=subprocess.DEVNULL)
    result = finish(process, "config", None, DEFAULT_TIMEOUT, _MAX_LISTING)
    if result.code != 0:
        raise GitmemError(
            f"{config}: git cannot read it: {git_reason(result.err)}", hint=_repair(config)
        )
    listed = {}
    for item in result.out.decode("utf-8", "surrogateescape").split("\0"):
        key, _, value = item.partition("\n")
        listed[key.lower()] = value
    return listed


def _check_format(root: Path, config: dict[str, str]) -> None:
    kind = config.get("extensions.objectformat", "sha1").lower()
    if kind != "sha1":
        raise GitmemError(
            f"{root}: names its objects by {kind}; gitmem needs SHA-1",
            hint="Repositories with other ids are not supported. "
            "Name another folder for the store: gitmem init PATH",
        )
    refs = config.get("extensions.refstorage", "files").lower()
    if refs != "files":
        raise GitmemError(
            f"{root}: keeps its refs as {refs}; gitmem needs them as files",
            hint=f"Change it with: git -C {shell_word(str(root))} refs migrate --ref-format=files",
        )
    promisor = any(
        key.startswith("remote.") and key.endswith(".promisor") and value.lower() != "false"
        for key, value in config.items()
    )
    if promisor or "extensions.partialclone" in config:
        raise GitmemError(
            f"{root}: is a partial clone, and a memory needs all its objects",
            hint="Clone it again without --filter.",
        )


def git_reason(err: str) -> str:
    """The line of what git printed that says why it gave up, with the list that it begins."""
    lines = [line.strip() for line in err.split("\n") if not line.startswith("hint:")]
    lines = [line for line in lines if line]
    for mark in ("fatal:", "error:", ""):
        for at, line in enumerate(lines):
            if line.startswith(mark):
                return " ".join(lines[at : at + 2]) if line.endswith(":") else line
    return "it printed no reason"


def check_git_takes(git_dir: Path) -> None:
    """Let git say whether it takes a directory for a repository, with its settings as they are.

    Raises:
        GitmemError: it does not; the message names the file and quotes git's reason.
    """
    command = [require_git(), f"--git-dir={git_dir}", *PIN_ARGUMENTS, "rev-parse", "--git-dir"]
    process = start(command, cwd=git_dir, stdin=subprocess.DEVNULL)
    result = finish(process, "rev-parse", None, DEFAULT_TIMEOUT, _MAX_LISTING)
    if result.code == 0:
        return
    reason = git_reason(result.err)
    head = git_dir / "HEAD"
    if not _is_head(read_pointer(head)):
        raise GitmemError(
            f"{head}: holds neither the name of a ref nor an id, so git refuses the repository: "
            f"{reason}",
            hint=f"If main is checked out: echo 'ref: {MAIN}' > {shell_word(str(head))}",
        )
    named = next((n for n in ("config.worktree", "config") if str(git_dir / n) in reason), "config")
    raise GitmemError(
        f"{git_dir / named}: git refuses the repository with it: {reason}",
        hint=_repair(git_dir / named),
    )


def _check_usable(dirs: GitDirs, config: bytes) -> None:
    """Ask git about a repository in which something is not as git itself writes it."""
    plain = is_plain(config)
    for git_dir in {dirs.common, dirs.private}:
        if not plain or not _is_head(read_pointer(git_dir / "HEAD")):
            check_git_takes(git_dir)


def _is_head(text: str | None) -> bool:
    return text is not None and bool(_HEAD.fullmatch(text))


def _repair(config: Path) -> str:
    return f"Put it right in an editor, or with: git config --file {shell_word(str(config))} --edit"


def _check_owner(root: Path, dirs: GitDirs) -> None:
    """What git checks before it trusts a repository's configuration.

    git itself skips the check when it is told the git directory, as it is here.
    """
    if not hasattr(os, "geteuid"):
        return
    user = os.geteuid()
    places = {root, dirs.private, dirs.common, root / ".git"}
    if all(place.lstat().st_uid == user for place in places if place.exists()):
        return
    # Only git knows who else counts (sudo, the user's own safe.directory), so it is asked, with
    # the person's configuration. It does not read that of a repository which it distrusts.
    environment = personal_environment()
    command = [require_git(), "-c", "core.fsmonitor=false", "rev-parse", "--git-dir"]
    process = start(command, cwd=root, stdin=subprocess.DEVNULL, environment=environment)
    if finish(process, "rev-parse", None, DEFAULT_TIMEOUT, _MAX_LISTING).code != 0:
        raise GitmemError(
            f"{root}: belongs to another user, so its configuration is not trusted",
            hint="If you trust it: git config --global --add safe.directory "
            + shell_word(str(root)),
        )


def _check_points_back(root: Path, dirs: GitDirs) -> None:
    """A folder that was handed over must not lead into another repository of the person's."""
    if is_own_git_dir(root, dirs):
        return
    word, common = shell_word(str(root)), shell_word(str(dirs.common))
    if dirs.private != dirs.common and dirs.private.parent != dirs.common / "worktrees":
        raise GitmemError(
            f"{root}: its git directory takes refs and objects from {dirs.common}, which has no "
            "such work tree",
            hint=f"If you want a work tree of that: git --git-dir={common} worktree add FOLDER",
        )
    is_submodule = dirs.private == dirs.common
    named = list_config(dirs.common).get("core.worktree") if is_submodule else None
    if named is None or resolved(dirs.common / named) != root:
        kind = "file" if (root / ".git").is_file() else "link"
        raise GitmemError(
            f"{root}: its .git {kind} names {dirs.private}, which does not name it back",
            hint=f"If it is meant to: git -C {word} worktree repair; "
            f"or, without linked work trees: git -C {word} config core.worktree {word}",
        )


def init_repository(path: Path, *, bare: bool) -> None:
    """``git init`` with nothing of the machine in it: no template, no hook, branch main.

    Under the store's lock, which the git processes inherit: who makes one at the same place at
    the same moment waits.

    Raises:
        Busy: somebody else is making it, and was not done in time.
        Refused: the folder cannot be made, or lies inside a git directory.
        GitmemError: the repository that is there is of a kind that cannot hold a memory.
    """
    for folder in path.parents:
        if looks_like_git_dir(folder):
            raise Refused(f"{path} lies inside the git directory {folder}")
    fresh = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why, hint = refusal(error)
        raise Refused(
            f"{path} cannot be made: {why}", hint=hint or "Name another folder."
        ) from error
    git_dir = path if bare else path / ".git"
    with contextlib.suppress(NotFound):  # git would fail on some of these, and not say why
        dirs = find_git_dir(path)
        check_openable(path, dirs)
        git_dir = dirs.common
    runner = _runner_at(git_dir)
    with StoreLock(runner, git_dir / PRIVATE, lambda: None).hold():
        _clear_cut_off(git_dir)
        options = ["--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"]
        _run_at(path, ["init", *(["--bare"] if bare else []), *options, str(path)], runner)
        # A git pull then either fast-forwards or refuses; it never merges two memories by text.
        args = ["config", "--file", str(git_dir / "config"), "pull.ff", "only"]
        _run_at(path, args, runner)
        _make_durable(git_dir, [path, *(folder.parent for folder in fresh)])


def _runner_at(git_dir: Path) -> Runner:
    try:
        git_dir.mkdir(exist_ok=True)
    except OSError as error:
        why, hint = refusal(error)
        raise Refused(f"{git_dir} cannot be made: {why}", hint=hint) from error
    return Runner(git_dir)


def _clear_cut_off(git_dir: Path) -> None:
    """Remove the locks of a ``git init`` that was killed, where it has made nothing else yet."""
    below = (path for name in ("objects", "refs") for path in (git_dir / name).glob("**/*"))
    if (git_dir / "packed-refs").exists() or any(not path.is_dir() for path in below):
        return
    for name in ("HEAD.lock", "config.lock"):
        with contextlib.suppress(OSError):  # git says what is in its way
            (git_dir / name).unlink(missing_ok=True)


def _make_durable(git_dir: Path, above: Sequence[Path]) -> None:
    """Sync what git writes in a new repository: it syncs objects and refs, and neither these
    files nor any folder."""
    below = ("refs/heads", "refs", "objects/pack", "objects", ".")
    try:
        for name in ("HEAD", "config"):
            with (git_dir / name).open("rb") as file:
                os.fsync(file.fileno())
        for folder in (*(git_dir / name for name in below), *above):
            fsync_folder(folder)
    except OSError as error:
        why, hint = refusal(error)
        raise GitmemError(
            f"{error.filename or git_dir} could not be made durable ({why})", hint=hint
        ) from error


def _run_at(path: Path, args: Sequence[str], runner: Runner) -> None:
    """Run a git command that takes no ``--git-dir`` and writes."""
    command = [require_git(), *PIN_ARGUMENTS, *args]
    held = runner.write_fds
    process = start(command, cwd=path, stdin=subprocess.DEVNULL, pass_fds=held)
    result = finish(process, args[0], None, DEFAULT_TIMEOUT, _MAX_LISTING)
    if result.code != 0:
        raise failed(args[0], result, path)
