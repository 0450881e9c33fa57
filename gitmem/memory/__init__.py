"""What users import: :class:`MemoryStore`, put together out of the use cases.

Reads (``list``, ``show``, ``search``) are answered from the projection where it is up to date,
without git and without heavy imports; everything else opens the store.
"""

from __future__ import annotations

from gitmem.memory.operations import MemoryStore

__all__ = ["MemoryStore"]
