"""Pull requests for an agent's memory.

The public names are loaded when they are first asked for (PEP 562), so that ``import gitmem``
costs nothing and a program that only reads never pays for what writing needs.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # what typing has, without the time that importing typing takes
if TYPE_CHECKING:
    from gitmem.errors import (
        Busy,
        GitFailed,
        GitmemError,
        InvalidInput,
        ModelFailed,
        NotFound,
        Refused,
        Usage,
        Waiting,
    )
    from gitmem.memory import MemoryStore
    from gitmem.memory.session import MemorySession

__version__ = "0.1.0"

__all__ = [
    "Busy",
    "GitFailed",
    "GitmemError",
    "InvalidInput",
    "MemorySession",
    "MemoryStore",
    "ModelFailed",
    "NotFound",
    "Refused",
    "Usage",
    "Waiting",
    "__version__",
]

_HOME_OF = {
    "Busy": "gitmem.errors",
    "GitFailed": "gitmem.errors",
    "GitmemError": "gitmem.errors",
    "InvalidInput": "gitmem.errors",
    "MemorySession": "gitmem.memory.session",
    "MemoryStore": "gitmem.memory",
    "ModelFailed": "gitmem.errors",
    "NotFound": "gitmem.errors",
    "Refused": "gitmem.errors",
    "Usage": "gitmem.errors",
    "Waiting": "gitmem.errors",
}


def __getattr__(name: str) -> object:
    """Load a public name on its first use."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
