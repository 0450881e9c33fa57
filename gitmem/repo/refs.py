"""Reading refs as files. Stdlib only, no git process: the prompt hook uses this too.

It suffices because a repository whose refs are not files (reftable) is refused when opened.
"""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path

from gitmem.errors import InvalidInput

_MAX_REF_FILE = 4096
_OID = re.compile(r"[0-9a-f]{40}\Z")
_MAX_SYMREFS = 5  # git's own limit for a chain of symbolic refs
_BAD_REF = re.compile(
    r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|//|@\{|/\.|\.lock(?:/|\Z)|[/.]\Z"
    r"|[\ud800-\udc7f\udd00-\udfff]"  # halves of surrogate pairs that stand for no byte
)


def check_ref(ref: str) -> str:
    """``ref`` itself, when it is a full and well-formed ref name.

    A short name is refused because a tag ``main`` would shadow the branch.

    Raises:
        InvalidInput: it is not.
    """
    if ref != "HEAD" and (not ref.startswith("refs/") or _BAD_REF.search(ref)):
        raise InvalidInput(f"{ref[:80]!r} is not a full ref name like refs/heads/main", where="ref")
    return ref


def _read_small(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_REF_FILE).decode("utf-8", "surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # no such file can be
            return None
        if error.errno == errno.ELOOP:
            return "a circle of links"  # which is no id
        raise


def _read_packed(git_dir: Path, ref: str) -> str | None:
    try:
        data = (git_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return None
    needle = b" " + ref.encode("utf-8", "surrogateescape") + b"\n"
    end = data.find(needle)
    while end >= 0:
        oid = data[max(0, end - 40) : end].decode("ascii", "replace")
        if _OID.match(oid) and (end == 40 or data[end - 41 : end - 40] == b"\n"):
            return oid
        end = data.find(needle, end + 1)
    return None


def symbolic_target(git_dir: Path, ref: str = "HEAD") -> str | None:
    """The ref that ``ref`` points to by name, or None when it holds an id or is absent.

    With ``core.preferSymlinkRefs`` git makes a link to the other ref's file.
    """
    path = git_dir / check_ref(ref)
    with suppress(OSError):  # it is no link, or not there
        link = os.readlink(path)
        if link.startswith("refs/"):
            return link
    text = _read_small(path)
    if text is None or not text.startswith("ref:"):
        return None
    return text.removeprefix("ref:").strip()


def read_ref(git_dir: Path, ref: str) -> str | None:
    """The commit that ``ref`` names, or None when there is no such ref.

    ``git_dir`` is the common directory of the repository. The loose file is read before
    ``packed-refs``, the order in which git writes them, so a ref that is being packed is
    always seen.

    Raises:
        InvalidInput: ``ref`` is not a full ref name, or its file holds something else than an
            id or the name of another ref.
    """
    for _ in range(_MAX_SYMREFS):
        text = _read_small(git_dir / check_ref(ref))
        if text is None or text == "":
            return _read_packed(git_dir, ref) if text is None else _broken(ref)
        if _OID.match(text):
            return text
        if not text.startswith("ref:"):
            return _broken(ref)
        ref = text.removeprefix("ref:").strip()
    return _broken(ref)


def may_have_refs(git_dir: Path, folder: str) -> bool:
    """Whether there may be a ref below ``folder``, a name like ``refs/heads/proposals``.

    Where this is False, git need not be asked. Loose refs are looked for before packed ones, the
    order in which git moves them.
    """
    failed: list[OSError] = []
    for root, folders, files in os.walk(git_dir / folder, onerror=failed.append):
        if files or any(os.path.islink(os.path.join(root, name)) for name in folders):
            return True
    if any(not isinstance(error, FileNotFoundError) for error in failed):
        return True  # git says what is wrong with it
    try:
        return f" {folder}/".encode() in (git_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return False


def _broken(ref: str) -> str | None:
    raise InvalidInput(
        "the ref's file is damaged: it holds neither an id nor another ref's name",
        where=ref,
        hint="Look at it with: git fsck. Its last values are in: git reflog show REF",
    )
