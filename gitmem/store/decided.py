"""The files that a decision, or the first commit, brings: people's own, taken as given."""

from __future__ import annotations

from gitmem.documents import MAX_REVIEWER_BYTES, read_policy, read_reviewer
from gitmem.domain.layout import POLICY, README, REVIEWERS, parse_tombstone_path
from gitmem.domain.tombstone import MAX_TOMBSTONE_BYTES, parse_tombstone
from gitmem.errors import InvalidInput
from gitmem.repo import Repo


def read_decided(repo: Repo, path: str, oid: str) -> bytes:
    """Return the content of such a file; of another one, nothing: its path is refused later.

    Raises:
        InvalidInput: it is no file, or too large.
        NotFound: it is not there.
    """
    if parse_tombstone_path(path) is not None:
        return repo.reader.blob(oid, max_bytes=MAX_TOMBSTONE_BYTES)
    if path in (POLICY, README) or path.startswith(f"{REVIEWERS}/"):
        return repo.reader.blob(oid, max_bytes=MAX_REVIEWER_BYTES)
    return b""


def check_decided(path: str, data: bytes) -> None:
    """Refuse a file that nobody could read once it is decided.

    Raises:
        InvalidInput: naming the file and the rule that it breaks.
    """
    key = parse_tombstone_path(path)
    if key is not None:
        if len(data) > MAX_TOMBSTONE_BYTES or parse_tombstone(data, path).key != key:
            raise InvalidInput("is not named by its own hash", where=path)
    elif path == POLICY:
        read_policy(data)
    elif path.startswith(f"{REVIEWERS}/"):
        if path.count("/") != 1 or not path.endswith(".md"):
            raise InvalidInput("is no reviewer: a file reviewers/NAME.md is", where=path)
        read_reviewer(data, path)
