"""An open memory below its operations: opened late, read early, its notes collected."""

from __future__ import annotations

import builtins
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from gitmem.cache import Damaged, Projection, Unusable
from gitmem.cache.place import all_own
from gitmem.config import who_am_i
from gitmem.domain.layout import ARTIFACTS, CACHE, MAIN, PRIVATE, SESSIONS
from gitmem.errors import Busy
from gitmem.repo.discovery import find_git_dir, is_own_git_dir
from gitmem.repo.refs import read_ref

if TYPE_CHECKING:
    from gitmem.results import ProposalDiff
    from gitmem.sessions import Artifacts, SessionFiles
    from gitmem.store import Origin, Store
    from gitmem.store.statements import Person

    Confirm = Callable[[ProposalDiff], bool]
    Clock = Callable[[], float]

_T = TypeVar("_T")


class OpenMemory:
    """What all operations share. Git, YAML and pydantic are loaded when first needed."""

    def __init__(self, path: Path, *, clock: Clock = time.time) -> None:
        self.path = path
        self.notes: builtins.list[str] = []
        self._git_dir = find_git_dir(path).common
        self._clock = clock
        self._store: Store | None = None
        self._projection: Projection | None = None

    def close(self) -> None:
        """Close files and processes."""
        if self._store is not None:
            self._store.close()
        if self._projection is not None:
            self._projection.close()
        self._store = self._projection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _opened(self) -> Store:
        if self._store is None:
            from gitmem.store import Store

            self._store = Store.open(self.path)
        return self._store

    def _read(self, question: Callable[[Projection], _T]) -> _T:
        """Ask the projection at the tip of main, in one state of it.

        A projection that is there already, whole and at main's tip, is read without git.
        """
        if self._store is None and self._is_own():
            self._projection = self._projection or Projection.read(self._cache)
            if self._projection is not None:
                try:
                    with self._projection.reading():
                        self._projection.check()
                        tip = read_ref(self._git_dir, MAIN)
                        known = self._projection.meta("accepted") and self._projection.meta("tip")
                        if tip is not None and known == tip:
                            self._say_strays(self._projection)
                            return question(self._projection)
                except (Busy, Damaged, Unusable):
                    pass  # the long way waits, or makes it anew
                self._projection.close()
                self._projection = None
        store = self._opened()

        def ask() -> _T:
            with store.snapshot():
                self._say_strays(store.projection)
                return question(store.projection)

        answer = store.healed(ask)
        self._take_notes()
        return answer

    def _read_at(
        self,
        at: str | None,
        question: Callable[[Projection, str], _T],
        *,
        quotes_of: str | None = None,
        words: bool = False,
    ) -> _T:
        """Ask the projection of a moment, or of now, and tell it the day (UTC) of that.

        ``quotes_of`` and ``words`` are as in :func:`gitmem.store.past.remembered_at`.
        """
        if at is None:
            return self._read(lambda projection: question(projection, self._today()))
        from gitmem.store.past import find_moment, remembered_at

        store = self._opened()

        def ask() -> _T:
            with store.snapshot():
                moment = find_moment(store, at, self._now())
                with remembered_at(store, moment, quotes_of=quotes_of, words=words) as past:
                    return question(past, moment.day)

        try:
            return store.healed(ask)
        finally:
            self._take_notes()  # also which moment it was where nothing was found

    def _is_own(self) -> bool:
        """Whether the store is this user's, and leads into no other repository of theirs.

        Whom else's to trust only git knows, and what a submodule belongs to.
        """
        root = self.path.resolve()
        dirs = find_git_dir(root)
        return is_own_git_dir(root, dirs) and all_own(
            root, root / ".git", dirs.private, dirs.common, self._cache.parent
        )

    @property
    def _cache(self) -> Path:
        return self._git_dir / PRIVATE / CACHE

    def _say_strays(self, projection: Projection) -> None:
        strays = (projection.meta("strays") or "").split()
        if strays:
            what = "1 commit on main is a stray"
            if len(strays) > 1:
                what = f"{len(strays)} commits on main are strays"
            self._note(
                f"{what} and no memory; answering as of {(projection.meta('accepted') or '')[:12]}"
            )

    def _sessions(self) -> SessionFiles:
        from gitmem.sessions import SessionFiles

        return SessionFiles(self._opened().repo.private / SESSIONS)

    def _artifacts(self) -> Artifacts:
        from gitmem.sessions import Artifacts

        return Artifacts(self._opened().repo.private / ARTIFACTS)

    def _now(self) -> int:
        return int(self._clock())

    def _today(self) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._now()))

    def _who(self, person: str | None) -> str:
        from gitmem.repo.person import configured_person
        from gitmem.services.people import check_person

        me = who_am_i(person, os.environ, configured_person(self._git_dir))
        check_person(me.who)
        if me.hint:
            self._note(me.hint)
        return me.who

    def _person(self, person: str | None, confirm: Confirm | None) -> Person:
        from gitmem.store.statements import Person

        return Person(self._who(person), self._now(), os.urandom(16).hex(), confirm)

    def _origin(self, kind: str, by: str, session: str, attested: str) -> Origin:
        from gitmem.store import Origin

        return Origin(kind, by, session, attested, os.urandom(16).hex(), self._now())

    def _noted(self, result: _T) -> _T:
        self._take_notes()
        return result

    def _take_notes(self) -> None:
        if self._store is not None:
            for note in [*self._store.repo.healed, *self._store.notes]:
                self._note(note)
            self._store.repo.healed.clear()
            self._store.notes.clear()

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)
