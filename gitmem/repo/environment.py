"""What git sees of the outside: an environment built from nothing, and pinned settings.

A caller's ``GIT_*`` variables may point at another repository (inside a hook they do), and a
store's own configuration may name programs to run: neither reaches a git process that is
started here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

MINIMUM_GIT = (2, 39)
"""Oldest git that has what is used here: cat-file --batch-command, several transactions in one
update-ref, repack --geometric."""

_KEPT = (
    "PATH", "HOME", "TMPDIR", "TEMP", "TMP", "USERPROFILE", "SYSTEMROOT", "COMSPEC", "PATHEXT",
    "SUDO_UID",
)  # fmt: skip

WRITER_NAME = "gitmem"
WRITER_EMAIL = "gitmem@localhost"

_PINS: tuple[tuple[str, str], ...] = (
    # Nothing in a store's configuration may start a program.
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.editor", ":"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "false"),
    ("core.attributesFile", os.devnull),
    ("credential.helper", ""),
    ("credential.interactive", "false"),
    ("diff.external", ""),
    ("gpg.program", os.devnull),
    ("gpg.openpgp.program", os.devnull),
    ("gpg.x509.program", os.devnull),
    ("gpg.ssh.program", os.devnull),
    ("gpg.ssh.defaultKeyCommand", ""),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("submodule.recurse", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    # What it says of parents is not checked against the commits.
    ("core.commitGraph", "false"),
    # An empty grafts file is always named (see below), and git would advise against it each time.
    ("advice.graftFileDeprecated", "false"),
    # Bytes are stored and shown as they are.
    ("core.autocrlf", "false"),
    ("core.safecrlf", "false"),
    ("core.quotePath", "false"),
    ("core.precomposeUnicode", "false"),
    ("core.protectHFS", "true"),
    ("core.protectNTFS", "true"),
    ("core.symlinks", "false"),
    # Above this, git takes a file for one that it cannot show or check.
    ("core.bigFileThreshold", "512m"),
    ("i18n.commitEncoding", "UTF-8"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    # Durable before a ref moves: a kept pack costs three fsyncs whatever its size.
    ("core.fsync", "committed"),
    ("core.fsyncMethod", "fsync"),
    ("fastimport.unpackLimit", "1"),
    ("core.filesRefLockTimeout", "2000"),
    ("core.packedRefsTimeout", "2000"),
)

PIN_ARGUMENTS: tuple[str, ...] = tuple(
    argument for key, value in _PINS for argument in ("-c", f"{key}={value}")
)


def local_environment(source: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of a git process that works on this repository only."""
    source = os.environ if source is None else source
    kept = {key: source[key] for key in _KEPT if source.get(key)}
    # Without a PATH, git still finds its own programs; an empty one would mean "here".
    kept.setdefault("PATH", os.defpath)
    return kept | {
        "LC_ALL": "C",
        "LANGUAGE": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        # A list of allowed transports that names none: it beats protocol.*.allow of the store.
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ADVICE": "0",  # only newer gits know it
        "GIT_ASKPASS": "true",
        "GCM_INTERACTIVE": "never",
        "GIT_SSH_COMMAND": "false",
        "GIT_EDITOR": ":",
        "GIT_PAGER": "cat",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_AUTHOR_NAME": WRITER_NAME,
        "GIT_AUTHOR_EMAIL": WRITER_EMAIL,
        "GIT_COMMITTER_NAME": WRITER_NAME,
        "GIT_COMMITTER_EMAIL": WRITER_EMAIL,
    }


_PERSONAL = ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def personal_environment(source: Mapping[str, str] | None = None) -> dict[str, str]:
    """Like :func:`local_environment`, but git reads the user's and the machine's settings."""
    source = os.environ if source is None else source
    built = local_environment(source)
    for key in _PERSONAL:
        built.pop(key, None)
    return built | {key: source[key] for key in _PERSONAL if source.get(key)}


def git_executable(source: Mapping[str, str] | None = None) -> str | None:
    """The absolute path of the git that ``PATH`` names, or None.

    Relative entries of ``PATH`` are passed over: a store must not bring its own git.
    """
    source = os.environ if source is None else source
    entries = (source.get("PATH") or os.defpath).split(os.pathsep)
    absolute = [entry for entry in entries if os.path.isabs(entry)]
    found = shutil.which("git", path=os.pathsep.join(absolute)) if absolute else None
    if found is None or not os.path.isabs(found):
        return None
    if sys.platform == "win32" and str(Path(found).parent) not in map(os.path.normpath, absolute):
        return None  # shutil.which looks into the current directory first there
    return found


def parse_version(text: str) -> tuple[int, int] | None:
    """Major and minor out of ``git version 2.39.5 (...)``."""
    match = re.match(r"git version (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None
