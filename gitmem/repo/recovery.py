"""Clearing what a writer that died has left. The caller holds the store's lock.

Everything here is found by listing directories: no git process where there is nothing to do.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from gitmem.domain.layout import INFLIGHT
from gitmem.errors import InvalidInput
from gitmem.repo.refs import read_ref

LOCK_AGE = 10.0
"""Seconds after which a lock file of git counts as left behind. Living git programs hold one
for milliseconds, and the file does not say whose it is."""

TEMPORARY_AGE = 3600.0
"""Seconds after which an unfinished pack counts as left behind; a repack may take minutes."""


def _age(path: Path) -> float | None:
    """Seconds since the file was written, or None when it is gone."""
    try:
        return time.time() - path.lstat().st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def ref_locks(git_dir: Path) -> Iterator[Path]:
    """The lock files of refs that are there now, whatever their age."""
    for name in ("HEAD.lock", "packed-refs.lock", "packed-refs.new"):
        if (git_dir / name).exists():
            yield git_dir / name
    for folder, _, names in os.walk(git_dir / "refs"):
        for name in names:
            if name.endswith(".lock"):
                yield Path(folder, name)


def clear_inflight_locks(git_dir: Path) -> list[str]:
    """Remove the locks of refs that only gitmem makes, whatever their age; a sentence for each."""
    healed = []
    for name in _names(git_dir / INFLIGHT):
        if name.endswith(".lock"):
            (git_dir / INFLIGHT / name).unlink(missing_ok=True)
            healed.append(
                f"Removed the lock file {INFLIGHT}{name}, left by a write that was cut off."
            )
    return healed


def clear_ref_locks(git_dir: Path) -> list[str]:
    """Remove ref locks older than :data:`LOCK_AGE`; a sentence for each."""
    healed = []
    for path in list(ref_locks(git_dir)):
        age = _age(path)
        if age is not None and age > LOCK_AGE:
            path.unlink(missing_ok=True)
            name = path.relative_to(git_dir).as_posix()
            healed.append(f"Removed the lock file {name}, left behind {age:.0f} seconds ago.")
    return healed


def pack_names(git_dir: Path) -> list[str]:
    """The names of the repository's packs."""
    return [name for name in _names(git_dir / "objects" / "pack") if name.endswith(".pack")]


def clear_packs(git_dir: Path) -> list[str]:
    """Remove keep files of a dead fast-import, and unfinished packs.

    A keep file that stays makes the same import fail for ever: git will not create it twice.
    """
    healed = []
    packs = git_dir / "objects" / "pack"
    for name in _names(packs):
        is_unfinished = name.startswith(("tmp_", ".tmp-"))  # of an import, of a repack
        if not is_unfinished and not name.endswith(".keep"):
            continue
        path = packs / name
        if name.endswith(".keep") and _kept_by_fast_import(path):
            path.unlink(missing_ok=True)
            healed.append(f"Removed objects/pack/{name}, left by a write that was cut off.")
        elif is_unfinished:
            age = _age(path)
            if age is not None and age > TEMPORARY_AGE and path.is_file():
                path.unlink(missing_ok=True)
                healed.append(f"Removed the unfinished pack objects/pack/{name}.")
    return healed


def _kept_by_fast_import(path: Path) -> bool:
    """Whether git's fast-import made this file, also where the disk had no room for its words.

    An empty one is also how a person keeps a pack; git lets nobody else read its own.
    """
    try:
        with path.open("rb") as file:
            said, mode = file.read(11), os.fstat(file.fileno()).st_mode
    except FileNotFoundError:
        return False
    return b"fast-import".startswith(said) and (said != b"" or stat.S_IMODE(mode) == 0o600)


def clear_broken_inflight(git_dir: Path) -> list[str]:
    """Remove files that stand for writes under way and name nothing, as a power failure leaves
    them; git would not delete such a ref. A sentence for each.
    """
    healed = []
    for ref in inflight_refs(git_dir):
        try:
            read_ref(git_dir, ref)
        except InvalidInput:
            (git_dir / ref).unlink(missing_ok=True)
            healed.append(f"Removed {ref}, the damaged file of a write that was cut off.")
    return healed


def inflight_refs(git_dir: Path) -> list[str]:
    """The refs of writes that were not published, loose or packed."""
    found = {INFLIGHT + name for name in _names(git_dir / INFLIGHT) if not name.endswith(".lock")}
    try:
        packed = (git_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        packed = b""
    if INFLIGHT.encode("ascii") in packed:
        for line in packed.decode("utf-8", "surrogateescape").split("\n"):
            _, _, ref = line.partition(" ")
            if ref.startswith(INFLIGHT):
                found.add(ref)
    return sorted(found)
