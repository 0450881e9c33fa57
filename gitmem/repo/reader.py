"""Reading objects through one ``git cat-file`` process that lives as long as the reader."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import IO, NamedTuple, NoReturn, Self

from gitmem.domain.objects import (
    EMPTY_TREE,
    Commit,
    TreeEntry,
    decode_commit,
    decode_tree,
    is_oid,
)
from gitmem.domain.shell import shell_word
from gitmem.domain.tree_form import check_tree_form
from gitmem.errors import GitFailed, InvalidInput, NotFound
from gitmem.repo.opening import check_git_takes, git_reason
from gitmem.repo.refs import read_ref
from gitmem.repo.runner import DEFAULT_TIMEOUT, Runner, end, shown, start

MAX_OBJECT = 64 * 1024 * 1024
"""Bytes of one object that are read unless the caller says otherwise."""

MAX_AHEAD = 1024 * 1024
"""Bytes of one object that is read ahead; a folder of a thousand records has some 50,000."""

_MAX_NAME = 1024
_MAX_HEAD = 4096
_MAX_SAID = 64 * 1024
_BLOCK = 64 * 1024
_TREES_KEPT = 4096
_COMMITS_KEPT = 256
_SMALL = 16 * 1024  # bytes of a commit or blob that is kept: gitmem's own are smaller
# Requests sent ahead of their answers. Together they must fit into a pipe (4096 bytes where it
# is smallest), or git and this program could each wait for the other to read.
_AHEAD_BYTES = 4096
_AHEAD = 64


class Found(NamedTuple):
    """An object: its id, its kind (blob, tree, commit, tag) and its content."""

    oid: str
    kind: str
    data: bytes


class Oversize(NamedTuple):
    """An object that is larger than was asked for, so its content was not read."""

    oid: str
    kind: str
    size: int


class Reader:
    """Reads objects and resolves revisions. One thread at a time; :meth:`close` ends git."""

    def __init__(self, runner: Runner, *, timeout: float = DEFAULT_TIMEOUT) -> None:
        self._runner = runner
        self._timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None
        self._buffer = bytearray()
        self._trees: dict[str, tuple[TreeEntry, ...]] = {}
        self._commits: dict[str, Commit] = {}
        self._ahead: dict[str, bytes] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the git process. The reader starts another when it is used again."""
        process, self._process = self._process, None
        self._buffer.clear()
        if process is not None:
            end(process)
        if self._said is not None:
            self._said.close()
            self._said = None

    # --- one object ------------------------------------------------------------------------

    def read(self, name: str, *, max_bytes: int = MAX_OBJECT) -> Found | None:
        """The object that ``name`` (an id, a full ref, ``REV:PATH``) names, or None.

        Raises:
            InvalidInput: the name is malformed, or the object is over ``max_bytes``.
            GitFailed: git died or did not answer in time.
        """
        (answer,) = self.read_many([name], max_bytes=max_bytes)
        if isinstance(answer, Oversize):
            raise InvalidInput(
                f"the {answer.kind} has {answer.size} bytes; the limit is {max_bytes}",
                where=answer.oid,
            )
        return answer

    def read_many(
        self, names: Iterable[str], *, max_bytes: int = MAX_OBJECT
    ) -> Iterator[Found | Oversize | None]:
        """The objects of ``names`` in their order; None where there is none.

        Requests go out ahead of the answers. Other reads may come between two items.
        """
        waiting = iter(names)
        while group := list(islice(waiting, _AHEAD)):
            yield from self._read_group(group, max_bytes)

    def blob(self, oid: str, *, max_bytes: int = MAX_OBJECT) -> bytes:
        """The content of a blob.

        Raises:
            NotFound: there is no such object.
            InvalidInput: it is no blob, or over ``max_bytes``.
        """
        ahead = self._ahead.pop(oid, None)
        if ahead is not None and len(ahead) <= max_bytes:
            return ahead
        return self._typed(oid, "blob", max_bytes)

    def tree(self, oid: str) -> tuple[TreeEntry, ...]:
        """The entries of a tree, kept in memory since an id always means the same entries.

        Raises:
            NotFound: there is no such object.
            InvalidInput: it is no tree, or malformed.
        """
        if oid == EMPTY_TREE:
            return ()
        if oid in self._trees:
            return self._trees[oid]
        return self._keep_tree(oid, self._typed(oid, "tree", MAX_OBJECT))

    def commit(self, oid: str) -> Commit:
        """The parts of a commit, kept in memory for a while if it is small.

        Raises:
            NotFound: there is no such object.
            InvalidInput: it is no commit, or malformed.
        """
        if oid in self._commits:
            return self._commits[oid]
        return self._keep_commit(oid, self._typed(oid, "commit", MAX_OBJECT))

    def read_ahead(self, names: Iterable[str]) -> None:
        """Read objects that will be asked for by their ids, all at once.

        Each question by itself would wait for git. What is not there, or is malformed, is told
        to whoever asks for it. A blob is kept until it is asked for, once.
        """
        self._ahead.clear()  # of what was never asked for
        wanted = (name for name in names if name not in self._trees and name not in self._commits)
        for found in self.read_many(wanted, max_bytes=MAX_AHEAD):
            if not isinstance(found, Found) or found.oid in self._trees:
                continue
            with contextlib.suppress(InvalidInput):
                if found.kind == "tree":
                    self._keep_tree(found.oid, found.data)
                elif found.kind == "commit" and found.oid not in self._commits:
                    self._keep_commit(found.oid, found.data)
                elif found.kind == "blob" and len(found.data) <= _SMALL:
                    self._ahead[found.oid] = found.data

    def resolve(self, rev: str) -> str | None:
        """The id of the object that ``rev`` names, or None.

        ``rev`` is an id, a full ref name or ``HEAD``, each with ``:PATH``, ``^{tree}`` or the
        like behind it if need be.
        """
        line = self._full(rev)
        if line is None or (is_oid(line) and line != rev):
            return line  # a ref by itself: its file has the answer
        self._send(f"info {line}\n".encode("utf-8", "surrogateescape"))
        head = self._head()
        return None if head is None else head[0]

    def _typed(self, oid: str, kind: str, max_bytes: int) -> bytes:
        if not is_oid(oid):
            raise InvalidInput(f"{oid!r} is not a full object id", where=kind)
        found = self.read(oid, max_bytes=max_bytes)
        if found is None:
            raise NotFound(f"{kind} {oid} is not in this repository")
        if found.kind != kind:
            raise InvalidInput(f"is a {found.kind} where a {kind} is needed", where=oid)
        return found.data

    def _keep_tree(self, oid: str, data: bytes) -> tuple[TreeEntry, ...]:
        try:
            entries = decode_tree(data)
            check_tree_form(data, entries)
        except ValueError as error:
            raise InvalidInput(str(error), where=oid) from error
        if len(self._trees) == _TREES_KEPT:
            self._trees.clear()
        self._trees[oid] = entries
        return entries

    def _keep_commit(self, oid: str, data: bytes) -> Commit:
        try:
            commit = decode_commit(data)
        except ValueError as error:
            raise InvalidInput(str(error), where=oid) from error
        if len(data) <= _SMALL:
            if len(self._commits) == _COMMITS_KEPT:
                self._commits.clear()
            self._commits[oid] = commit
        return commit

    def _full(self, name: str) -> str | None:
        """``name`` with its ref, if any, replaced by the id that the ref has now.

        Left to git, a ref that is absent would be looked for under other prefixes.
        """
        if not name or len(name) > _MAX_NAME or name.startswith("-"):
            raise InvalidInput(f"{name[:80]!r} cannot name an object", where="revision")
        if "\n" in name or "\0" in name or "\r" in name:
            raise InvalidInput(f"{name!r} has a line break in it", where="revision")
        ends = [at for mark in (":", "^", "~") if (at := name.find(mark)) >= 0]
        end_of_ref = min(ends, default=len(name))
        ref, rest = name[:end_of_ref], name[end_of_ref:]
        oid = ref if is_oid(ref) else read_ref(self._runner.git_dir, ref)
        return None if oid is None else oid + rest

    # --- the conversation with git ---------------------------------------------------------

    def _read_group(self, names: list[str], max_bytes: int) -> list[Found | Oversize | None]:
        lines = [self._full(name) for name in names]
        answers: list[Found | Oversize | None] = []
        while len(answers) < len(lines):
            if lines[len(answers)] is None:
                answers.append(None)
                continue
            request, count = _requests(lines[len(answers) :])
            self._send(request)
            for _ in range(count):
                answer = self._answer(max_bytes)
                answers.append(answer)
                if isinstance(answer, Oversize):
                    self.close()  # the only way not to receive its content
                    break
        return answers

    def _answer(self, max_bytes: int) -> Found | Oversize | None:
        head = self._head()
        if head is None:
            return None
        oid, kind, size = head
        if size > max_bytes:
            return Oversize(oid, kind, size)
        return Found(oid, kind, self._take(size + 1)[:-1])

    def _send(self, request: bytes) -> None:
        if self._process is None:
            self._said = _file_for_errors()
            into = self._said.fileno() if self._said else subprocess.DEVNULL
            command = self._runner.command(["cat-file", "--batch-command"], None, None)
            self._process = start(command, cwd=self._runner.git_dir, stderr=into)
        assert self._process.stdin
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except BrokenPipeError:
            self._died()

    def _head(self) -> tuple[str, str, int] | None:
        """The first line of an answer, or None when git has no such object."""
        while (newline := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > _MAX_HEAD:
                self._died()
            self._fill()
        line = self._take(newline + 1)[:-1].decode("utf-8", "surrogateescape")
        words = line.split(" ")
        if len(words) == 3 and is_oid(words[0]) and words[2].isdigit():
            return words[0], words[1], int(words[2])
        if line.endswith((" missing", " ambiguous")):
            return None
        self._died()

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._fill(size - len(self._buffer))
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def _fill(self, wanted: int = 0) -> None:
        process = self._process
        assert process and process.stdout
        pipe = process.stdout.fileno()
        if os.name == "posix" and not _readable(pipe, self._timeout):
            self.close()
            raise GitFailed(f"git cat-file did not answer within {self._timeout:g} seconds")
        data = os.read(pipe, max(_BLOCK, min(wanted, 16 * _BLOCK)))
        if not data:
            self._died()
        self._buffer += data

    def _died(self) -> NoReturn:
        """Raise what git ended for: its settings, or what it says of an object."""
        code, said = None, b""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = self._process.wait(1)
        if self._said is not None:
            self._said.seek(0)
            said = self._said.read(_MAX_SAID)
        self.close()
        check_git_takes(self._runner.git_dir)
        ended = "broke off" if code is None else f"ended (exit status {code})"
        reason = git_reason(shown(said.decode("utf-8", "replace")))
        raise GitFailed(
            f"git cat-file {ended} while it was being read from: {reason}",
            hint="Look at the repository with: "
            f"git --git-dir={shell_word(str(self._runner.git_dir))} fsck",
        )


def _file_for_errors() -> IO[bytes] | None:
    """Where git says why it dies, which is read only then; a pipe would fill up meanwhile."""
    try:
        return tempfile.TemporaryFile()
    except OSError:  # nowhere to write, which reading must not depend on
        return None


def _requests(lines: list[str | None]) -> tuple[bytes, int]:
    """As many requests as may be sent ahead, up to the first name that has no object."""
    request = b""
    count = 0
    for line in lines:
        if line is None:
            break
        more = f"contents {line}\n".encode("utf-8", "surrogateescape")
        if count and len(request) + len(more) > _AHEAD_BYTES:
            break
        request += more
        count += 1
    return request, count


def _readable(pipe: int, timeout: float) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + timeout
    while (left := deadline - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            return True
    return False
