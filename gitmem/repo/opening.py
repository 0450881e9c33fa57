"""Which repositories are taken as stores, checked by reading files.

Opening costs no git process unless something about the repository is out of the ordinary.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from gitmem.domain.shell import shell_word
from gitmem.errors import GitFailed, GitmemError, Refused
from gitmem.repo.discovery import GitDirs, looks_like_git_dir, read_pointer
from gitmem.repo.environment import PIN_ARGUMENTS, personal_environment
from gitmem.repo.runner import DEFAULT_TIMEOUT, failed, finish, require_git, start

_SUSPECT = (b"extensions", b"include", b"promisor", b"partialclone")
_MAX_CONFIG = 1024 * 1024
_MAX_LISTING = 4 * 1024 * 1024


def check_surroundings() -> None:
    """Refuse to run where git itself refuses to move refs.

    Raises:
        Refused: git runs this program inside its pre-receive quarantine.
    """
    if os.environ.get("GIT_QUARANTINE_PATH"):
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
    if (root / ".git").is_file():
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


def list_config(common: Path) -> dict[str, str]:
    """What the repository's own configuration says, keys in lower case, the last value counts."""
    # From a file, not from a repository: git would refuse to start in one it does not know.
    command = [require_git(), "config", "-z", "--includes", "--list", "-f", str(common / "config")]
    process = start(command, cwd=common.parent, stdin=subprocess.DEVNULL)
    result = finish(process, "config", None, DEFAULT_TIMEOUT, _MAX_LISTING)
    if result.code != 0:
        raise GitFailed(f"{common / 'config'}: git cannot read it: {result.err.strip()}")
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
            hint="Make the store with: gitmem init PATH",
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
    """A ``.git`` *file* may name any repository of the person's; that one must know of it."""
    back = read_pointer(dirs.private / "gitdir")
    if back is not None:
        home = (dirs.private / back).parent
    else:  # a submodule
        home = dirs.private / list_config(dirs.private).get("core.worktree", ".")
    if home.resolve() != root:
        word = shell_word(str(root))
        raise GitmemError(
            f"{root}: its .git file names {dirs.private}, which does not name it back",
            hint=f"If it is meant to: git -C {word} worktree repair; "
            f"or, without linked work trees: git -C {word} config core.worktree {word}",
        )


def init_repository(path: Path, *, bare: bool) -> None:
    """``git init`` with nothing of the machine in it: no template, no hook, branch main.

    Raises:
        Refused: the folder cannot be made, or lies inside a git directory.
    """
    for folder in path.parents:
        if looks_like_git_dir(folder):
            raise Refused(f"{path} lies inside the git directory {folder}")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(
            f"{path} cannot be made: {error.strerror}", hint="Name another folder."
        ) from error
    git_dir = path if bare else path / ".git"
    options = ["--quiet", "--template=", "--initial-branch=main", "--object-format=sha1"]
    _run_at(path, ["init", *(["--bare"] if bare else []), *options, str(path)])
    # A git pull then either fast-forwards or refuses; it never merges two memories by text.
    _run_at(path, ["config", "--file", str(git_dir / "config"), "pull.ff", "only"])


def _run_at(path: Path, args: Sequence[str]) -> None:
    """Run a git command that takes no ``--git-dir``."""
    process = start([require_git(), *PIN_ARGUMENTS, *args], cwd=path, stdin=subprocess.DEVNULL)
    result = finish(process, args[0], None, DEFAULT_TIMEOUT, _MAX_LISTING)
    if result.code != 0:
        raise failed(args[0], result)
