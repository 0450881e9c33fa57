"""Where things lie in a store: names, paths and refs, made here and nowhere else.

Paths are made from checked names and parsed strictly, so that every path has one spelling and two
names never share a file, on a disk that ignores case neither. Standard library only: the prompt
hook imports this module.
"""

from __future__ import annotations

import re
from functools import lru_cache

from gitmem.errors import InvalidInput

RECORD_TYPES = ("user", "feedback", "project", "reference")
"""The types of record, in the order in which they are shown."""

MANIFEST = "manifest.json"
VIEW = "MEMORY.md"
POLICY = "policy.yaml"
REVIEWERS = "reviewers"
README = "README.md"
RECORDS = "records"
EVIDENCE = "evidence"
TOMBSTONES = "tombstones"

MAIN = "refs/heads/main"
PROPOSALS = "refs/heads/proposals/"
KEPT = "refs/gitmem/kept/"
INFLIGHT = "refs/gitmem/inflight/"

PRIVATE = "gitmem"
"""The folder below the git directory that holds what is this machine's alone."""

CACHE = "cache.sqlite"
SESSIONS = "sessions"
ARTIFACTS = "artifacts"
SPOOL = "spool"
LOCAL_STATE = "state.json"
WORKTREE_NOTE = "worktree-at"
"""Says which work trees a merge may not have reached yet; the hook scripts look for it, too."""

MAX_NAME = 80
"""Characters of a record's name; with the folders and `.lock` it stays far below 255 bytes."""

SHARD_AT = 1000
"""Records of one type from which on new ones go to folders by hash, so that trees stay small."""

# Patterns as text: re compiles each when it is first asked, and a hook asks few of them.
_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))]
)
_TYPE = "|".join(RECORD_TYPES)
_RECORD_PATH = rf"{RECORDS}/({_TYPE})/(?:([0-9a-f]{{2}})/)?([a-z0-9-]+)\.md"
_EVIDENCE_PATH = rf"{EVIDENCE}/([0-9a-f]{{2}})/([a-z0-9-]+)/([0-9a-f]{{40}})\.md"
_TOMBSTONE_PATH = rf"{TOMBSTONES}/([0-9a-f]{{2}})/([0-9a-f]{{38}})\.json"
_OID = r"[0-9a-f]{40}"


class RecordPath:
    """The parts of a record's path; ``sharded`` tells whether it lies in a folder by hash."""

    __slots__ = ("name", "sharded", "type")

    def __init__(self, type: str, name: str, sharded: bool) -> None:
        self.type = type
        self.name = name
        self.sharded = sharded

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordPath) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"RecordPath(type={self.type!r}, name={self.name!r}, sharded={self.sharded!r})"

    def _key(self) -> tuple[str, str, bool]:
        return (self.type, self.name, self.sharded)


def check_name(name: str) -> None:
    """Refuse ``name`` unless it can name a record; it is never rewritten into another.

    Raises InvalidInput with the rule that it breaks.
    """
    reason = _why_not_a_name(name)
    if reason:
        cut = name if len(name) <= MAX_NAME else f"{name[:MAX_NAME]}..."
        # ascii(): the name of a look-alike must not look like the name it imitates, which no
        # Chinese character does
        plain = all(c.isascii() or "\u4e00" <= c <= "\u9fff" for c in cut)
        shown = repr(cut) if plain else ascii(cut)
        raise InvalidInput(
            f"{shown} {reason}",
            where="name",
            hint="A name is lower-case letters a-z, digits and single hyphens, as in "
            f"'prefers-tabs', at most {MAX_NAME} characters.",
        )


def is_name(name: str) -> bool:
    """Whether ``name`` can name a record."""
    return not _why_not_a_name(name)


def _why_not_a_name(name: str) -> str:
    if not name:
        return "is empty"
    if len(name) > MAX_NAME:
        return f"has {len(name)} characters; the limit is {MAX_NAME}"
    if not re.fullmatch(_NAME, name):
        return "is not a legal name"
    if name in _DEVICES:
        return "is the name of a device on Windows, where no file can have it"
    return ""


def record_path(type: str, name: str, *, sharded: bool) -> str:
    """The path of the record ``name``; raises InvalidInput for an illegal name or type."""
    check_name(name)
    if type not in RECORD_TYPES:
        raise InvalidInput(
            f"{type[:80]!r} is not one of {', '.join(RECORD_TYPES)}",
            where="type",
        )
    folder = f"{_shard(name)}/" if sharded else ""
    return f"{RECORDS}/{type}/{folder}{name}.md"


def parse_record_path(path: str) -> RecordPath | None:
    """The parts of ``path`` if :func:`record_path` could have made it, else None."""
    match = re.fullmatch(_RECORD_PATH, path)
    if not match or not is_name(match[3]):
        return None
    if match[2] is not None and match[2] != _shard(match[3]):
        return None
    return RecordPath(match[1], match[3], sharded=match[2] is not None)


def candidate_paths(name: str) -> tuple[str, ...]:
    """Every path at which the record ``name`` may lie: each type, flat and sharded."""
    check_name(name)
    ends = (f"{name}.md", f"{_shard(name)}/{name}.md")
    return tuple(f"{RECORDS}/{type}/{end}" for type in RECORD_TYPES for end in ends)


def evidence_folder(name: str) -> str:
    """The folder of the quotes that the record ``name`` cites."""
    check_name(name)
    return f"{EVIDENCE}/{_shard(name)}/{name}"


def evidence_path(name: str, oid: str) -> str:
    """The path of one quote; ``oid`` is its git blob id, 40 hex digits (else InvalidInput)."""
    if not re.fullmatch(_OID, oid):
        raise InvalidInput(f"{oid[:50]!r} is not a git object id", where="evidence")
    return f"{evidence_folder(name)}/{oid}.md"


def parse_evidence_path(path: str) -> tuple[str, str] | None:
    """``(name, oid)`` if :func:`evidence_path` could have made ``path``, else None."""
    match = re.fullmatch(_EVIDENCE_PATH, path)
    if not match or not is_name(match[2]) or match[1] != _shard(match[2]):
        return None
    return match[2], match[3]


def tombstone_path(statement_hash: str) -> str:
    """The path of a tombstone; its name is 40 hex digits (else InvalidInput)."""
    if not re.fullmatch(_OID, statement_hash):
        raise InvalidInput(f"{statement_hash[:50]!r} is not 40 hex digits", where="tombstone")
    return f"{TOMBSTONES}/{statement_hash[:2]}/{statement_hash[2:]}.json"


def parse_tombstone_path(path: str) -> str | None:
    """The 40 hex digits if :func:`tombstone_path` could have made ``path``, else None."""
    match = re.fullmatch(_TOMBSTONE_PATH, path)
    return match[1] + match[2] if match else None


@lru_cache(maxsize=2048)
def _shard(name: str) -> str:
    # Imported here: it loads OpenSSL, and the prompt hook never asks for a path.
    from hashlib import sha256

    return sha256(name.encode("ascii")).hexdigest()[:2]
