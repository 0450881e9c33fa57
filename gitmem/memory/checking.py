"""Whether the memory is whole, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitmem.memory.deciding import Deciding
from gitmem.memory.queueing import Queueing
from gitmem.memory.reading import Reading

if TYPE_CHECKING:
    from gitmem.results import FsckReport, Progress, Status


_FEW = 100
"""Open proposals that are all read within the time in which a shell, or ``status``, may wait."""


class Checking(Deciding, Queueing, Reading):
    """The operations that inspect the whole store."""

    def status(self) -> Status:
        """Return what is there, whether something is wrong, and what to do next."""
        from dataclasses import replace

        from gitmem.services.inspecting import status
        from gitmem.services.queue import first_proposals

        store = self._opened()
        with store.snapshot():
            queue, count = first_proposals(store, _FEW)
            turns, sessions = self.queued(), self._sessions()
            found = status(store, sessions, queue, count, turns, self._now())
        usage = self._state().read().usage.get(self._today(), {})
        return self._noted(replace(found, usage=usage))

    def proposal_ids(self) -> dict[str, str]:
        """Return the ids of the open proposals, each with what it does as far as that is quick."""
        ids = self._noted(self._opened().open_proposals())
        if len(ids) > _FEW:
            return dict.fromkeys(ids, "")
        return {
            proposal.id: f"{proposal.kind}: {', '.join(record.name for record in proposal.records)}"
            for proposal in self.proposals()
        }

    def fsck(self, *, repair: bool = False, progress: Progress | None = None) -> FsckReport:
        """Verify every commit of main from its parents, and look whether a file stands where a
        folder belongs, or the reverse.

        ``repair``: first put right what can be without losing anything.

        Raises:
            Refused: it is to be repaired, and cannot be written.
        """
        from dataclasses import replace

        from gitmem.errors import GitFailed, GitmemError
        from gitmem.results import FsckReport, Problem
        from gitmem.services.repairing import repair as put_right
        from gitmem.services.verifying import fsck
        from gitmem.store.misplaced import misplaced_problems

        store = self._opened()
        store.repo.check_git()
        done: list[str] = []
        failed: list[Problem] = []
        where = str(store.repo.git_dir)
        if repair:
            try:
                done += put_right(store, self._sessions(), self._now())
            except GitFailed as error:  # what else is wrong is found all the same
                what = f"could not repair everything: {error.message}"
                fix = error.hint or "Run it again: gitmem fsck --repair"
                failed.append(Problem(where, what, fix))
        misplaced = misplaced_problems(store.repo, every_file=True)
        try:
            found = fsck(store, progress, self._sessions())
        except GitmemError as error:
            if not misplaced:
                raise
            stopped = Problem(where, error.message, error.hint)
            found = FsckReport(False, 0, (stopped,))
        problems = (*failed, *misplaced, *found.problems)
        return self._noted(replace(found, ok=not problems, problems=problems, repaired=tuple(done)))
