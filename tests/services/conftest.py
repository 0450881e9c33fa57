"""The memory that these tests begin with."""

from tests.memory.conftest import _empty, memory
from tests.store.stories import _template, proposal, root

__all__ = ["_empty", "_template", "memory", "proposal", "root"]
