"""How old the stored conversations are, and letting go of them."""

from __future__ import annotations

from gitmem.domain.instants import parse_instant
from gitmem.errors import InvalidInput
from gitmem.sessions.folder import Folder

#: The format of a session whose one message is a person's own statement.
STATEMENT = "statement"


class Aging:
    """What is asked of all session files, whatever they hold."""

    _folder: Folder

    def older_than(self, epoch: int) -> list[str]:
        """Return the ids of sessions that nothing was added to since ``epoch`` (seconds)."""
        return [path.stem for path in self._folder.paths() if path.stat().st_mtime < epoch]

    def count_since(self, epoch: int) -> int:
        """Return how many conversations something was added to since ``epoch`` (seconds); a
        person's single statements are none."""
        paths = (path for path in self._folder.paths() if not path.stem.startswith(STATEMENT))
        return sum(path.stat().st_mtime >= epoch for path in paths)

    def oldest(self, now: float) -> float:
        """Return when the oldest session that is still here began, ``now`` where there is none."""
        began = [now]
        for _, header in self._folder.alike({}):
            try:
                began.append(float(parse_instant(str(header.get("captured_at")))))
            except InvalidInput:
                return 0.0  # nothing is old, where that cannot be told
        return min(began)

    def remove(self, session_id: str) -> None:
        """Delete a session for good; the records that quote it keep their quotes."""
        self._folder.path(session_id).unlink(missing_ok=True)

    def list_ids(self) -> list[str]:
        """Return the ids of all stored sessions, sorted."""
        return sorted(path.stem for path in self._folder.paths())
