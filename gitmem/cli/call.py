"""One call of the command line: its options, where its output goes, and its store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gitmem.cli.output import Output
from gitmem.errors import NotFound

if TYPE_CHECKING:
    from gitmem.memory import MemoryStore


class Call:
    """The options of one call, wherever they stood, and where its output goes."""

    def __init__(self) -> None:
        self.store: str | None = None
        self.json = False
        self.verbose = False
        self.debug = False
        self.output = Output()

    @contextmanager
    def opened(self) -> Iterator[MemoryStore]:
        """Open the store, and at the end tell what it noted on the way."""
        from gitmem.memory import MemoryStore

        store = MemoryStore.open(self.store)
        try:
            if self.verbose:
                self.output.note(f"the store is {store.path}")
            yield store
        finally:
            self.output.notes(store.notes)
            store.close()


@contextmanager
def naming_records(store: MemoryStore, name: str) -> Iterator[None]:
    """Where a record is not found, name the ones that are spelt like it."""
    try:
        yield
    except NotFound as error:
        import difflib  # only where something was mistyped

        names = [record.name for record in store.list()]
        close = difflib.get_close_matches(name, names)
        if name in names or not close or "Did you mean" in error.hint:
            raise
        hint = f"Did you mean {', '.join(close)}?\n{error.hint}".rstrip()
        raise NotFound(error.message, hint=hint) from error
