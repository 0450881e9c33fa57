"""What a repository that was handed over says to git, and gitmem does not listen to.

git runs programs that a repository's own configuration names, looks for its files and objects
where that says, and puts other objects in the place of some. None of it has an effect on gitmem;
whoever uses plain git on the memory should know.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.domain.shell import shell_word
from gitmem.repo import hooks
from gitmem.repo.files import read_regular
from gitmem.repo.opening import is_plain, list_config, read_config
from gitmem.repo.runner import shown

if TYPE_CHECKING:
    from gitmem.repo.repository import Repo

_NAMED = 12  # settings and hooks that are named one by one
_MAX_FILE = 64 * 1024

_PROGRAMS = re.compile(
    r"core\.(?:hookspath|editor|pager|sshcommand|askpass|gitproxy|alternaterefscommand)"
    r"|sequence\.editor|interactive\.difffilter|diff\.external|imap\.tunnel"
    r"|gpg\.(?:.+\.)?program|gpg\.ssh\.defaultkeycommand"
    r"|credential\.(?:.+\.)?helper|uploadpack\.packobjectshook"
    r"|(?:filter\..+\.(?:clean|smudge|process))|diff\..+\.(?:command|textconv)|merge\..+\.driver"
    r"|(?:mergetool|difftool|guitool|browser|man|trailer)\..+\.(?:cmd|command)|tar\..+\.command"
    r"|remote\..+\.(?:uploadpack|receivepack|vcs)|url\..+\.(?:pushinsteadof|insteadof)"
    r"|sendemail\.(?:.+\.)?(?:tocmd|cccmd|headercmd|sendmailcmd|smtpserver)",
    re.DOTALL,
)
#: Settings that name a program where their value is no yes or no, begins with ``!``, and so on.
_BY_VALUE = (
    (re.compile(r"core\.fsmonitor|pager\..+", re.DOTALL), re.compile(r"(?!(?:true|false)\Z)")),
    (re.compile(r"alias\..+|submodule\..+\.update", re.DOTALL), re.compile("!")),
    (re.compile(r"remote\..+\.url", re.DOTALL), re.compile(r"[\w.+-]+::")),
    (re.compile(r"protocol\..+\.allow", re.DOTALL), re.compile("always")),
)
#: Of githooks(5).
_HOOKS = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
    "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout",
    "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
    "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite",
    "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist",
    "p4-post-changelist", "p4-pre-submit", "post-index-change",
)  # fmt: skip


def odd_settings(repo: Repo) -> list[str]:
    """A sentence for each kind of thing that plain git would do here and gitmem does not.

    No process is started where the configuration is as git itself writes it.

    Raises:
        GitmemError: the configuration cannot be read.
    """
    git_dir: Path = repo.git_dir
    listed = {} if is_plain(read_config(git_dir)) else list_config(git_dir)
    is_main = repo.root is not None and repo.work_git_dir == git_dir
    return [
        *_programs(listed, repo.shell_word),
        *(_elsewhere(repo, listed.get("core.worktree")) if is_main else ()),
        *_borrowed(git_dir, repo.shell_word),
    ]


def foreign_hooks(git_dir: Path) -> list[str]:
    """The hooks in the repository's own folder that git runs and gitmem did not put there."""
    folder = git_dir / "hooks"
    ours = {line.event for line in hooks.look(git_dir).hooks if line.state != "foreign"}
    try:
        names = sorted({*_HOOKS} & {*os.listdir(folder)} - ours)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in names if os.access(folder / name, os.X_OK)]


def hooks_sentence(names: Sequence[str], git_dir: Path) -> str:
    """What to say of :func:`foreign_hooks`."""
    return f"git runs hooks in {git_dir / 'hooks'} that gitmem never runs: {_listed(names)}"


def _programs(listed: dict[str, str], where: str) -> Iterator[str]:
    keys = sorted(key for key, value in listed.items() if _names_program(key, value))
    if keys:
        yield (
            "the memory's own git settings name programs or other addresses, which plain git "
            f"takes and gitmem never does: {_listed(keys)}. "
            f"Where they stand: git -C {where} config --local --includes --list --show-origin"
        )


def _names_program(key: str, value: str) -> bool:
    return bool(_PROGRAMS.fullmatch(key)) or any(
        names.fullmatch(key) and values.match(value) for names, values in _BY_VALUE
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return shown(", ".join(names[:_NAMED])) + more


def _elsewhere(repo: Repo, named: str | None) -> Iterator[str]:
    if named is None or (repo.git_dir / named).resolve() == repo.root:
        return
    yield (
        f"plain git takes {shown(named)} for the files of this memory (core.worktree); gitmem "
        f"leaves that folder alone"
    )


def _borrowed(git_dir: Path, where: str) -> Iterator[str]:
    file = git_dir / "objects" / "info" / "alternates"
    lines = [line for line in _lines(file) if not line.startswith("#")]
    if lines:
        yield (
            f"objects of this memory may lie in another repository ({_listed(lines)}), and go "
            f"with it. To have them all here: git -C {where} repack -a -d -q && "
            f"rm {shell_word(str(file))}"
        )


def replaced_objects(git_dir: Path) -> Iterator[str]:
    """Sentences on what plain git shows in the place of something else; ``fsck`` names each."""
    folder = git_dir / "refs" / "replace"
    if (folder.is_dir() and any(folder.iterdir())) or _packed(git_dir):
        yield (
            "plain git shows other objects in the place of some (refs/replace); gitmem goes by "
            "the real ones"
        )
    if _lines(git_dir / "info" / "grafts"):
        yield (
            "plain git takes other parents for some commits (info/grafts); gitmem goes by the "
            "real ones"
        )


def _packed(git_dir: Path) -> bool:
    try:
        return b" refs/replace/" in (git_dir / "packed-refs").read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return False


def _lines(file: Path) -> list[str]:
    try:
        data = read_regular(file, _MAX_FILE) or b""
    except OSError:  # what git cannot read has no effect
        return []
    return [line for line in data.decode("utf-8", "surrogateescape").split("\n") if line.strip()]
