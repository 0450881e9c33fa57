"""The memory that these tests begin with."""

from tests.memory.conftest import _empty, memory

__all__ = ["_empty", "memory"]
