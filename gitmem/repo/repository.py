"""A store's repository: what the rest of gitmem holds in its hand."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from gitmem.domain.layout import INFLIGHT, PRIVATE
from gitmem.domain.objects import is_oid
from gitmem.domain.shell import shell_word
from gitmem.errors import InvalidInput
from gitmem.repo import trees
from gitmem.repo.checkout import Carries, SameText, carries_nothing
from gitmem.repo.discovery import find_git_dir
from gitmem.repo.files import clear_unfinished, fsync_folder
from gitmem.repo.lock import DEFAULT_WAIT, StoreLock
from gitmem.repo.opening import check_openable, check_surroundings, init_repository
from gitmem.repo.own_locks import clear_own_locks
from gitmem.repo.places import misplaced_for_refs
from gitmem.repo.publish import RefUpdate, move_refs
from gitmem.repo.reader import Reader
from gitmem.repo.recovery import (
    clear_broken_inflight,
    clear_inflight_locks,
    clear_packs,
    clear_ref_locks,
    inflight_refs,
    pack_names,
)
from gitmem.repo.refs import check_ref, may_have_refs, read_ref
from gitmem.repo.runner import GIT_STAMP, Runner, remember_git, require_git
from gitmem.repo.trees import PathChange
from gitmem.repo.writer import NewCommit, write_commits

PACKS_BEFORE_REPACK = 50
"""Each write leaves one pack; from here on they slow reading down."""

_READ_FIRST = 64  # commits walked by the reader before a process of its own pays off

Trace = Callable[[Sequence[str]], None]


class Repo:
    """One git repository, for one thread. Use it as a context manager, or :meth:`close` it.

    Attributes:
        root: the work tree, or None when the repository is bare.
        git_dir: the directory with refs and objects, shared by linked work trees.
        private: gitmem's own directory in it, made by the first write.
        reader: reads objects and resolves revisions.
        healed: sentences about what earlier, cut-off writes had left and was cleared.
        same_text: whether a person's file says what a new file says, which may replace it then.
        carries: whether a new file has everything that a person changed in theirs since they
            began it, which may replace it then, too.
    """

    def __init__(self, root: Path, *, trace: Trace | None = None) -> None:
        dirs = find_git_dir(root)
        self.root = None if dirs.is_bare else root
        self.git_dir = dirs.common
        self.work_git_dir = dirs.private
        self.private = dirs.common / PRIVATE
        self.runner = Runner(dirs.common, stamp=self.private / GIT_STAMP, trace=trace)
        self.reader = Reader(self.runner)
        self.healed: list[str] = []
        self.same_text: SameText = operator.eq
        self.carries: Carries = carries_nothing
        self._inflight: list[str] = []
        self._lock: StoreLock | None = None

    @classmethod
    def init(cls, path: Path, *, bare: bool = False, trace: Trace | None = None) -> Self:
        """Make a repository at ``path`` (one that is there is kept) and open it."""
        init_repository(path.resolve(), bare=bare)
        return cls.open(path, trace=trace)

    @classmethod
    def open(cls, path: Path, *, trace: Trace | None = None) -> Self:
        """Open the repository at ``path``: a work tree, a linked one, or a bare repository.

        Raises:
            NotFound: there is none at ``path`` itself.
            GitmemError: it is of a kind that cannot hold a memory, or is not trusted.
        """
        root = path.resolve()
        dirs = find_git_dir(root)
        check_surroundings(dirs.common)
        check_openable(root, dirs)
        return cls(root, trace=trace)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the reading process."""
        self.reader.close()

    @property
    def shell_word(self) -> str:
        """Where the repository is, as a word of a command that a person can paste."""
        return shell_word(str(self.root or self.git_dir))

    # --- reading ---------------------------------------------------------------------------

    def read_ref(self, ref: str) -> str | None:
        """The commit that a full ref name stands for, or None; no process is started."""
        return read_ref(self.git_dir, ref)

    def check_git(self) -> None:
        """Check that there is a git that is new enough.

        Raises:
            GitFailed: there is none.
        """
        require_git(self.runner.stamp)

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """Every ref below ``prefix`` (``refs/heads/proposals/``) with its id."""
        args = ["for-each-ref", "--format=%(objectname) %(refname)"]
        folder = check_ref(prefix.rstrip("/") + "/x").removesuffix("/x")
        if not may_have_refs(self.git_dir, folder):
            return {}
        out = self.runner.run([*args, folder]).out.decode("utf-8", "surrogateescape")
        # A name may hold what str.splitlines takes for the end of a line, such as U+2028.
        pairs = (line.partition(" ") for line in out.split("\n") if line)
        return {ref: oid for oid, _, ref in pairs}

    def changed_paths(self, old: str, new: str, prefix: str | None = None) -> list[PathChange]:
        """The files that differ between two commits or trees."""
        return trees.changed_paths(self.runner, old, new, prefix)

    def list_tree(self, commit: str, prefix: str = "") -> list[tuple[str, str, str]]:
        """Every file at ``commit`` below ``prefix`` as (mode, id, path)."""
        return trees.list_tree(self.runner, commit, prefix)

    def first_parents(self, oid: str, stop: str | None = None) -> Iterator[str]:
        """``oid``, its first parent, and so on to the root, or up to ``stop`` (not included)."""
        at = oid
        for _ in range(_READ_FIRST):
            if at == stop:
                return
            yield at
            parents = self.reader.commit(at).parents
            if not parents:
                return
            at = parents[0]
        out = self.runner.run(["rev-list", "--first-parent", _oid(at), "--"]).out
        for line in out.decode("ascii").splitlines():
            if line == stop:
                return
            yield line

    # --- writing ---------------------------------------------------------------------------

    def lock(self, timeout: float = DEFAULT_WAIT) -> AbstractContextManager[None]:
        """Be the only writer for a block (reentrant). See :class:`gitmem.repo.lock.StoreLock`.

        Raises:
            Busy: somebody else was it for ``timeout`` seconds.
        """
        if self._lock is None:
            self._lock = StoreLock(self.runner, self.private, self._recover)
        return self._lock.hold(timeout)

    def write(self, commits: Sequence[NewCommit]) -> list[str]:
        """Write commits durably and unpublished; their ids, in order.

        Hold :meth:`lock` around this and :meth:`publish`.

        Raises:
            InvalidInput: a path, a mark or a text cannot be stored.
            GitFailed: git refused or died; then nothing was written that counts.
        """
        with self.lock():
            oids, refs = write_commits(self.runner, commits)
        self._inflight += refs
        return oids

    def publish(
        self, updates: Sequence[RefUpdate], *, drop_inflight: bool = True, reason: str = "gitmem"
    ) -> list[str]:
        """Move refs by compare-and-swap, ``refs/heads/main`` first and alone.

        Returns the refs that could not follow main (always empty without main among them).
        ``drop_inflight`` lets go of what :meth:`write` kept from being pruned.

        Raises:
            Busy: a ref was moved by somebody else, or stayed locked.
            GitFailed: git could not move one for another reason.
        """
        with self.lock():
            dropped = self._inflight if drop_inflight else []
            left = move_refs(self.runner, updates, dropped, reason=reason, healed=self.healed)
        if drop_inflight:
            self._inflight = [ref for ref in dropped if ref in left]
        return [ref for ref in left if ref not in dropped]

    def maybe_repack(self, every: int = PACKS_BEFORE_REPACK) -> bool:
        """Join packs geometrically once there are ``every`` of them; never gc."""
        if len(pack_names(self.git_dir)) < every:
            return False
        with self.lock():
            self.healed += clear_packs(self.git_dir)
            args = ["repack", "--geometric=2", "-d", "-q", "--no-write-bitmap-index"]
            self.runner.run(args, writes=True, timeout=600)
            fsync_folder(self.git_dir / "objects" / "pack")
        return True

    def _recover(self) -> None:
        """Clear what dead writers left; the lock is held, so none of gitmem's is alive.

        Raises:
            GitmemError: something stands in the way of every write.
        """
        for found in misplaced_for_refs(self.git_dir):
            raise found.error
        remember_git(self.private / GIT_STAMP)
        for folder in (self.private, self.git_dir / "hooks"):
            clear_unfinished(folder)
        self.healed += clear_own_locks(self.git_dir)
        self.healed += clear_inflight_locks(self.git_dir)
        self.healed += clear_broken_inflight(self.git_dir)
        self.healed += clear_ref_locks(self.git_dir)
        self.healed += clear_packs(self.git_dir)
        dead = [ref for ref in inflight_refs(self.git_dir) if ref not in self._inflight]
        if dead:
            lost = _unpublished(self.runner, self.git_dir, dead)
            move_refs(self.runner, [RefUpdate(ref, None, None) for ref in dead])
            if lost == 1:
                self.healed.append("Cleared a write that was cut off before it was published.")
            elif lost:
                self.healed.append(
                    f"Cleared {lost} writes that were cut off before they were published."
                )


def _unpublished(runner: Runner, git_dir: Path, refs: Sequence[str]) -> int:
    """How many of these refs hold something that no other ref reaches.

    The others belong to writes that were published, and cut off before they could let go.
    """
    try:
        oids = [oid for ref in refs if (oid := read_ref(git_dir, ref)) is not None]
    except InvalidInput:  # the file of one is damaged, as a power failure leaves it
        return len(refs)
    args = ["rev-list", "--stdin", "--not", f"--exclude={INFLIGHT}*", "--all"]
    result = runner.run(args, stdin="".join(f"{oid}\n" for oid in oids).encode(), ok=range(256))
    if result.code != 0:  # something is missing below one of them: nothing such was published
        return len(oids)
    found = set(result.out.decode("ascii").split())
    return sum(oid in found for oid in oids)


def _oid(oid: str) -> str:
    if not is_oid(oid):
        raise InvalidInput(f"{oid!r} is not a full object id", where="revision")
    return oid
