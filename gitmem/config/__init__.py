"""Settings of this machine and this person: flag, then GITMEM_*, then git's own, then a default."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import NotFound, Usage

STORE_VARIABLE = "GITMEM_STORE"
USER_VARIABLE = "GITMEM_USER"
DEFAULT_STORE = ".memory"
#: Characters of a person's name and address together.
MAX_PERSON = 200
#: Variables that agent clients set for the commands they run.
AGENT_VARIABLES = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "CURSOR_AGENT", "OPENCODE")

_PERSON = r"(?P<name>[^<>\n]+?) <(?P<address>[^<>\s]+)>\Z"


class WhoAmI(NamedTuple):
    """Who acts: ``human:Name <address>``, and a hint where that was only guessed."""

    who: str
    hint: str = ""


def find_store(given: str | os.PathLike[str] | None, environ: Mapping[str, str]) -> Path:
    """Return the root of the store to use.

    Raises:
        Usage: the path that was given is empty.
        NotFound: no store was named, and there is no ``.memory`` here or above; or the one
            found above is a link that leads out of its folder.
    """
    if given is not None and not os.fspath(given):
        raise Usage("the path of the store is empty", hint="Leave it out to find the store here.")
    named = given if given is not None else environ.get(STORE_VARIABLE)
    if named:
        return Path(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        found = folder / DEFAULT_STORE
        if found.is_dir() and ((found / ".git").exists() or (found / "HEAD").is_file()):
            return _inside(found, folder)
        worktree = _main_worktree(folder)
        if worktree is not None and (worktree / DEFAULT_STORE / ".git").exists():
            return _inside(worktree / DEFAULT_STORE, worktree)
    raise NotFound(
        f"there is no memory here: no {DEFAULT_STORE} in {here} or above",
        hint=f"Run `gitmem init` to make one, or name one with --store PATH or {STORE_VARIABLE}.",
    )


def _inside(found: Path, folder: Path) -> Path:
    """Refuse a store that was only found, not named, when it is a link out of its workspace."""
    for path in (found, found / ".git"):
        if not path.resolve().is_relative_to(folder.resolve()):
            raise NotFound(
                f"{path} is a link that leads out of {folder}",
                hint=f"Name the store itself if you mean it: --store {found}",
            )
    return found


def _main_worktree(folder: Path) -> Path | None:
    """The main work tree, where ``folder`` is a linked work tree of a project."""
    dot_git = folder / ".git"
    if not dot_git.is_file():
        return None
    from gitmem.repo.discovery import common_dir, linked_git_dir

    private = linked_git_dir(dot_git)
    if private is None:
        return None
    common = common_dir(private)
    return common.parent if common != private and common.name == ".git" else None


def parse_person(text: str) -> str:
    """Return ``human:Name <address>`` for ``Name <address>``.

    Raises:
        Usage: the text has another form, or is too long.
    """
    text = " ".join(text.split())
    if len(text) > MAX_PERSON or not re.match(_PERSON, text) or not text.isprintable():
        raise Usage(
            f"{text[:80]!r} names no person; write it like 'Ada Lovelace <ada@example.org>'",
            hint=f"At most {MAX_PERSON} characters, on one line.",
        )
    return f"human:{text}"


def who_am_i(given: str | None, environ: Mapping[str, str], git_person: tuple[str, str]) -> WhoAmI:
    """Return who acts: a flag, ``GITMEM_USER``, git's user, else login@host with a hint.

    Raises:
        Usage: a name that was given has no legal form.
    """
    named = given if given is not None else environ.get(USER_VARIABLE) or None
    if named is not None:
        return WhoAmI(parse_person(named))
    name, address = (_clean(part) for part in git_person)
    if name and address:
        return WhoAmI(parse_person(f"{name} <{address}>"))
    login = _clean(_login()) or "somebody"
    import socket  # slow to import, and rarely needed

    host = re.sub(r"[^A-Za-z0-9.-]", "", socket.gethostname()) or "localhost"
    return WhoAmI(
        parse_person(f"{name or login} <{address or login.replace(' ', '.') + '@' + host}>"),
        hint="You are recorded as your login at this machine; set git's user.name and "
        f"user.email, or {USER_VARIABLE}='Name <address>', to be named properly.",
    )


def _clean(text: str) -> str:
    return " ".join(re.sub(r"[<>]", "", "".join(c for c in text if c.isprintable())).split())


def _login() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no passwd entry, or no such system
        return ""


def agent_client(environ: Mapping[str, str]) -> str | None:
    """Return the variable by which a known agent client shows itself, None outside of one."""
    return next((name for name in AGENT_VARIABLES if environ.get(name)), None)
