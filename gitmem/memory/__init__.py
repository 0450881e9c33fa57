"""What users import: :class:`MemoryStore`, put together out of the operations.

Reads (``list``, ``show``, ``search``) are answered from the projection where it is up to date,
without git and without heavy imports; everything else opens the store.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gitmem.config import find_store
from gitmem.memory.adopting import Adopting
from gitmem.memory.changing import Changing
from gitmem.memory.checking import Checking
from gitmem.memory.consolidating import Consolidating
from gitmem.memory.deciding import Deciding
from gitmem.memory.hooking import Hooking
from gitmem.memory.previewing import Previewing
from gitmem.memory.queueing import Queueing
from gitmem.memory.reading import Reading
from gitmem.memory.ruling import Ruling
from gitmem.memory.selecting import Selecting

if TYPE_CHECKING:
    from gitmem.memory.opened import Clock

__all__ = ["MemoryStore"]


class MemoryStore(
    Previewing,
    Checking,
    Changing,
    Deciding,
    Queueing,
    Selecting,
    Consolidating,
    Adopting,
    Ruling,
    Hooking,
    Reading,
):
    """One memory. Use it as a context manager, or :meth:`close` it. Not for several threads.

    Attributes:
        path: the root of the store.
        notes: sentences for a person about what an operation healed, left or skipped.
    """

    @classmethod
    def init(cls, path: str | os.PathLike[str] = ".memory", *, clock: Clock = time.time) -> Self:
        """Make a new memory in an empty or missing folder, and open it.

        Raises:
            Refused: the folder is not empty.
        """
        from gitmem.services.begin import begin

        root = Path(path)
        store = begin(root, os.urandom(16).hex(), int(clock()))
        memory = cls(root, clock=clock)
        memory._store = store
        memory._take_notes()
        return memory

    @classmethod
    def open(cls, path: str | os.PathLike[str] | None = None, *, clock: Clock = time.time) -> Self:
        """Open a memory: ``path``, else ``GITMEM_STORE``, else ``.memory`` here or above.

        Raises:
            NotFound: there is none.
        """
        return cls(find_store(path, os.environ), clock=clock)
