"""Hooks: installing them, and what they do when git calls."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.cache import Damaged, Projection, Unusable
from gitmem.domain.layout import MAIN, WORKTREE_NOTE
from gitmem.errors import Busy
from gitmem.memory.opened import OpenMemory
from gitmem.repo.refs import read_ref

if TYPE_CHECKING:
    from gitmem.repo.worktree import IndexHealing
    from gitmem.results.hooks import HooksReport


class Hooking(OpenMemory):
    """The operations on hooks."""

    def hooks(self, target: str = "git") -> HooksReport:
        """Return which hooks of ``target`` are installed.

        Raises:
            Usage: there is no such target.
            GitmemError: the repository is not trusted, or git does not take it.
        """
        from gitmem.services.hooking import find_target

        chosen = find_target(target)
        self._opened()  # what it says of itself counts only where it is trusted
        return self._noted(chosen.look(self._git_dir))

    def install_hooks(self, target: str = "git") -> HooksReport:
        """Install the hooks of ``target``; a person's own ones go on working. Again is harmless.

        Raises:
            Usage: there is no such target.
            Refused: git runs the hooks of another folder here; the hint says what to do there.
            NotFound: there is no memory.
        """
        from gitmem.services.hooking import find_target

        chosen = find_target(target)
        store = self._opened()
        store.head()
        with store.repo.lock():
            report, left = chosen.install(self._git_dir)
        store.notes += left
        return self._noted(report)

    def remove_hooks(self, target: str = "git") -> HooksReport:
        """Take the hooks of ``target`` away; a person's own ones are as they were before.

        Raises:
            Usage: there is no such target.
        """
        from gitmem.services.hooking import find_target

        chosen = find_target(target)
        store = self._opened()
        with store.repo.lock():
            report, left = chosen.remove(self._git_dir)
        store.notes += left
        return self._noted(report)

    def finish_files(self) -> None:
        """Bring the files along that a cut-off merge left behind."""
        if os.path.lexists(self._cache.with_name(WORKTREE_NOTE)):
            from gitmem.repo import finish_worktree

            store = self._opened()
            store.notes += finish_worktree(store.repo)
            self._take_notes()

    def follow_git(self) -> tuple[str, ...]:
        """Bring along, after git moved main or checked something out, what is derived from main.

        That is the projection, and files that a cut-off merge left behind. Nothing heavy is
        loaded where nothing is to be done. Returns the commits at the end of main that are no
        memory, where main had moved.
        """
        self.finish_files()
        if self._last_seen() == read_ref(self._git_dir, MAIN):
            return ()
        return self._noted(self._opened().head().strays)

    def _last_seen(self) -> str | None:
        """Return the tip of main that the projection knows; None where it is to be made anew."""
        projection = Projection.read(self._cache) if self._is_own() else None
        if projection is None:
            return None
        try:
            with projection.reading():
                projection.check()
                return projection.meta("accepted") and projection.meta("tip")
        except (Busy, Damaged, Unusable):
            return None  # opening the store waits, or makes it anew
        finally:
            projection.close()

    def heal_index(self, git_dir: Path, index: Path) -> IndexHealing | None:
        """Bring along what git is about to commit, where a merge was cut off before it got there.

        ``git_dir`` is the git directory of the work tree, ``index`` the file that git uses. None
        where there is nothing to heal.

        Raises:
            Busy: another process kept the store's lock.
            GitFailed: the index could not be written.
        """
        from gitmem.repo.worktree import heal_index

        return heal_index(self._opened().repo, git_dir, index)
