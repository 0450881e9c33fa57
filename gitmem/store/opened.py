"""A memory below its proposals: open, healed, and in one state while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar

from gitmem.cache import Damaged, Projection, Unusable
from gitmem.domain.layout import CACHE
from gitmem.repo import Repo
from gitmem.results import Progress
from gitmem.store.joining import carries
from gitmem.store.ledger import Head, Ledger
from gitmem.store.same_text import same_file

#: A damaged file may also be one that cannot be written: made anew first, then in memory.
_HEALINGS = 2

_T = TypeVar("_T")


class OpenStore:
    """One memory, open. ``notes`` collects sentences for the person who uses it."""

    def __init__(self, repo: Repo, projection: Projection) -> None:
        self.repo = repo
        self.repo.same_text = same_file
        self.repo.carries = carries
        self.projection = projection
        self.ledger = Ledger(repo, projection)
        self.facts = self.ledger.facts
        self.notes = projection.notes  # one list: what heals the projection says so too
        self._pinned: Head | None = None

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the memory at ``path``.

        Raises:
            NotFound: there is no repository, or it holds no memory.
            GitmemError: the repository is of a kind that cannot hold one.
        """
        repo = Repo.open(path)
        return cls(repo, Projection.open(repo.private / CACHE))

    def close(self) -> None:
        """Close files and processes."""
        self.projection.close()
        self.repo.close()

    def head(self, progress: Progress | None = None) -> Head:
        """Return where main stands, with everything up to it verified."""
        return self._pinned or self.healed(lambda: self.ledger.catch_up(progress))

    @contextmanager
    def snapshot(self) -> Iterator[Head]:
        """Answer everything inside from one state of main, whatever moves meanwhile.

        For reading only: nothing is merged or decided inside.
        """
        if self._pinned is not None:
            yield self._pinned
            return
        self.head()
        with self.projection.reading():
            self._pinned = self.ledger.known_head()
            try:
                yield self._pinned
            finally:
                self._pinned = None

    def healed(self, act: Callable[[], _T]) -> _T:
        """Do ``act``, and again on a projection made anew if the one at hand is no good.

        The one place that heals. ``act`` raises what is wrong before it has moved a ref.
        """
        for _ in range(0 if self._pinned else _HEALINGS):
            try:
                return act()
            except Damaged:
                self.projection.start_over()
            except Unusable as error:
                self.projection.go_on_in_memory(error)
        return act()
