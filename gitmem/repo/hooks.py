"""A store's own git hooks: put under its git directory, and taken away again.

What gitmem puts there is one short shell script for each event, which carries a checksum of
itself: so it is known again whatever version wrote it, and left alone once a person edited it.
A person's own hook is moved aside, whole, and runs first.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
import uuid
from pathlib import Path

from gitmem.errors import GitFailed, Refused
from gitmem.repo.discovery import resolved
from gitmem.repo.environment import personal_environment
from gitmem.repo.files import fsync_folder, write_file
from gitmem.repo.runner import DEFAULT_TIMEOUT, finish, require_git, shown, start
from gitmem.resources import hook_files
from gitmem.results.hooks import HookLine, HooksReport

EVENTS = ("post-checkout", "post-commit", "post-merge", "post-rewrite", "pre-commit")
"""The hooks of git that are installed."""

KEPT_SUFFIX = ".before-gitmem"
"""Added to the name of a person's own hook, which then runs first."""

_TEMPLATE = "git/hook.sh"
_MARK = b"# gitmem-hook "
_MAX_HOOK = 64 * 1024  # bytes; a larger file is none of ours
_MAX_ANSWER = 64 * 1024


def look(git_dir: Path) -> HooksReport:
    """What stands in the hooks folder of the repository whose common directory is ``git_dir``.

    Raises:
        GitFailed: git cannot read its configuration.
    """
    elsewhere, origin = _configured(git_dir)
    folder = git_dir / "hooks"
    lines = tuple(_line(folder, event) for event in EVENTS)
    return HooksReport("git", str(folder), sys.executable, elsewhere, origin, lines)


def install(git_dir: Path) -> tuple[HooksReport, list[str]]:
    """Install every hook that is not there; return what stands there now, and what was left.

    Doing it again changes nothing.

    Raises:
        Refused: git runs the hooks of another folder here, or this one is no plain folder.
        GitFailed: git cannot read its configuration.
    """
    before = look(git_dir)
    _check_configured(before)
    folder = _own_folder(git_dir)
    try:
        folder.mkdir(exist_ok=True)
        said = [_install(folder, line) for line in before.hooks]
        fsync_folder(folder)
    except OSError as error:
        raise _refused_by_system(folder, error) from error
    return look(git_dir), [sentence for sentence in said if sentence]


def remove(git_dir: Path) -> tuple[HooksReport, list[str]]:
    """Take gitmem's hooks away and put a person's own ones back, with their mode.

    Returns what stands there now, and what was left, with the reason.

    Raises:
        Refused: the hooks folder is no plain folder.
        GitFailed: git cannot read its configuration.
    """
    folder = _own_folder(git_dir)
    try:
        said = [_remove(folder, line) for line in look(git_dir).hooks]
        fsync_folder(folder)
    except OSError as error:
        raise _refused_by_system(folder, error) from error
    return look(git_dir), [sentence for sentence in said if sentence]


# --- one hook ------------------------------------------------------------------------------


def _line(folder: Path, event: str) -> HookLine:
    path = folder / event
    return HookLine(event, _state(path, event), os.path.lexists(_kept(path)))


def _state(path: Path, event: str) -> str:
    if not os.path.lexists(path):
        return "absent"
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MAX_HOOK:
        return "foreign"
    data = path.read_bytes()
    head, mark, rest = data.partition(_MARK)
    if not mark or head != b"#!/bin/sh\n":
        return "foreign"
    said, _, body = rest.partition(b"\n")
    if said.decode("ascii", "replace") != _checksum(body) or not os.access(path, os.X_OK):
        return "edited"
    return "installed" if data == shim(event) else "outdated"


def _install(folder: Path, line: HookLine) -> str:
    path = folder / line.event
    if line.state == "installed":
        return ""
    if line.state == "edited":
        return f"{path} was edited by hand and is left as it is; remove it to have it made again"
    if line.state == "foreign":
        if path.is_dir() and not path.is_symlink():
            return f"{path} is a folder, and left as it is"
        if not _keep(path):
            return (
                f"{path} is left as it is: a hook of yours was kept as {_kept(path).name} before, "
                "and there is another now; make one of the two, and install again"
            )
    _put(path, shim(line.event))
    return ""


def _keep(path: Path) -> bool:
    """Give a person's hook its second name; its first goes when the shim takes that place.

    So git finds one of the two at every moment. False where another one is kept already.
    """
    kept = _kept(path)
    if os.path.lexists(kept):
        return os.path.samestat(kept.lstat(), path.lstat())  # an installation that was cut off
    try:
        os.link(path, kept, follow_symlinks=False)
    except (OSError, NotImplementedError):  # a disk or a system without second names
        os.rename(path, kept)
    return True


def _remove(folder: Path, line: HookLine) -> str:
    path = folder / line.event
    kept = _kept(path)
    if line.state == "edited":
        how = f"; run `gitmem hooks remove git` again for {kept.name}" if line.own else ""
        remedy = f"rm {shlex.quote(str(path))}{how}"
        return f"{path} was edited by hand and is left as it is; remove it yourself: {remedy}"
    if line.state == "foreign":
        if line.own and not os.path.samestat(kept.lstat(), path.lstat()):
            return f"{path} is not gitmem's, so it stays, and {kept.name} beside it"
        kept.unlink(missing_ok=True)
        return ""
    if line.own:
        os.replace(kept, path)
    else:
        path.unlink(missing_ok=True)
    return ""


def _kept(path: Path) -> Path:
    return path.with_name(path.name + KEPT_SUFFIX)


def _put(path: Path, data: bytes) -> None:
    fresh = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        write_file(fresh, data)
        mode = fresh.stat().st_mode
        fresh.chmod(mode | (mode & 0o444) >> 2)  # whoever may read it may run it
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)


# --- the script ----------------------------------------------------------------------------


def shim(event: str) -> bytes:
    """The script for an event, with this Python as the one that it asks first."""
    python = b"'" + os.fsencode(sys.executable or "").replace(b"'", b"'\\''") + b"'"
    text = hook_files()[_TEMPLATE].replace(b"\r\n", b"\n").replace(b"@EVENT@", event.encode())
    head, mark, rest = text.partition(_MARK)
    body = rest.partition(b"\n")[2].replace(b"@PYTHON@", python)
    return head + mark + _checksum(body).encode() + b"\n" + body


def _checksum(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


# --- the folder ----------------------------------------------------------------------------


def _own_folder(git_dir: Path) -> Path:
    folder = git_dir / "hooks"
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        kind = "a symbolic link" if folder.is_symlink() else "no folder"
        raise Refused(
            f"{folder} is {kind}, and gitmem writes only into the store's own folder",
            hint=_by_hand(),
        )
    return folder


def _configured(git_dir: Path) -> tuple[str | None, str]:
    """The folder whose hooks git runs here instead, and where that is set; None where it is not."""
    command = [require_git(), f"--git-dir={git_dir}", "config", "-z", "--show-origin"]
    command += ["--type=path", "--get", "core.hooksPath"]
    environment = personal_environment()
    process = start(command, cwd=git_dir, stdin=subprocess.DEVNULL, environment=environment)
    result = finish(process, "config", None, DEFAULT_TIMEOUT, _MAX_ANSWER)
    if result.code == 1 and not result.out:
        return None, ""
    if result.code != 0:
        raise GitFailed(f"git cannot say what core.hooksPath is: {result.err.strip()}")
    origin, _, value = result.out.decode("utf-8", "surrogateescape").partition("\0")
    value = value.rstrip("\0")
    own = git_dir / "hooks"
    if value and not own.is_symlink() and resolved(git_dir.parent / value) == resolved(own):
        return None, ""
    return value, origin


def _check_configured(report: HooksReport) -> None:
    if report.elsewhere is not None:
        raise Refused(
            f"git runs the hooks in {shown(report.elsewhere)!r} here, not the store's own "
            f"(core.hooksPath, set in {shown(report.origin)}); nothing was installed there",
            hint=_by_hand(),
        )


def _by_hand() -> str:
    return (
        f"To have your own hooks do gitmem's work, end each of {', '.join(EVENTS)} with:\n"
        'if command -v gitmem >/dev/null; then gitmem hook "${0##*/}" "$@" || exit; fi'
    )


def _refused_by_system(folder: Path, error: OSError) -> Refused:
    return Refused(
        f"{error.filename or folder}: the system refused ({error.strerror})",
        hint="Run the same command again once it can be written.",
    )
