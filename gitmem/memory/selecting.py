"""Which memories a turn gets."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING

from gitmem.memory.asking import Asking

if TYPE_CHECKING:
    from gitmem.results import Selection

#: Bytes of remembered facts that one session puts into requests.
SESSION_BYTES = 60 * 1024
#: Characters of a query that a choice is made by.
MAX_QUERY = 8_000


def masked(query: str) -> str:
    """Return a query as a choice is made by it: without its secrets, and not too long."""
    from gitmem.redaction import redact

    query = redact(query).text  # before it is cut: half a secret is not known for one
    if len(query) > MAX_QUERY:
        query = f"{query[: MAX_QUERY // 2]}\n{query[-MAX_QUERY // 2 :]}"
    return query


class Selecting(Asking):
    """The operations by which an agent gets memories."""

    def select(
        self, query: str, *, skip: Collection[str] = (), max_bytes: int = SESSION_BYTES
    ) -> Selection:
        """Choose at most five records for a turn, and put them into one block for a request.

        The selector model chooses where one is set. Where it fails, the ranking does, and
        ``degraded`` says so. ``skip`` are versions (blob ids) that the conversation has already;
        ``max_bytes`` is what the block may take. Secrets in ``query`` are masked first, and of a
        very long one the middle is left out: it leaves this machine, and is kept.
        """
        from gitmem.domain.recall_block import relevant_memories
        from gitmem.results import Selection
        from gitmem.services.selecting import choose, recalled

        query = masked(query)
        store, day = self._opened(), self._today()
        client = self._client("selector") if self._has_model("selector") else None
        try:
            with store.snapshot():
                chosen = choose(
                    store.projection, query, day, client, self._budget(), os.urandom(8).hex()
                )
                rows = {name: store.projection.record(name) for name in chosen.names}
                blobs = {name: row.blob for name, row in rows.items() if row}
                fresh = [name for name in chosen.names if blobs.get(name) not in {*skip, None}]
                records = recalled(store, fresh, day)
        finally:
            if client is not None:
                client.close()
        self._keep_query(query)
        block = relevant_memories(records, os.urandom(8).hex(), max_bytes)
        return self._noted(
            Selection(
                names=chosen.names,
                degraded=chosen.degraded,
                reason=chosen.reason,
                block=block.text,
                injected={name: blobs[name] for name in block.names},
                left_out=block.left_out,
            )
        )

    def _keep_query(self, query: str) -> None:
        """Keep a query for the next consolidation, where this store can be written now."""
        from gitmem.errors import Busy

        repo = self._opened().repo
        if not os.access(repo.private, os.W_OK):
            return
        try:
            with repo.lock(timeout=0):
                self._state().add_query(query)
        except Busy:
            return  # somebody is writing; no turn waits for that
        except OSError as error:
            self._note(f"the query was not kept: {error.strerror}")

    def index_block(self) -> str:
        """Return the content of ``MEMORY.md`` for a system prompt.

        The same bytes as long as memory is unchanged, so that a prompt's cache holds.
        """
        from gitmem.services.selecting import view_text

        return self._noted(view_text(self._opened()))
