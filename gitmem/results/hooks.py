"""The hooks that are installed in a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class HookLine:
    """One hook.

    ``state``: ``installed``; ``outdated`` (of another version or Python; installing again mends
    it); ``edited`` (gitmem's, changed by hand); ``foreign`` (somebody else's); ``absent``.
    ``own``: a hook of the person's stands beside it, and runs first where gitmem's is installed.
    """

    event: str
    state: str
    own: bool

    def to_json(self) -> dict[str, Any]:
        """Return the documented shape."""
        return {"event": self.event, "state": self.state, "own": self.own}


@dataclass(frozen=True, slots=True)
class HooksReport:
    """The hooks of one target.

    ``elsewhere``: the folder whose hooks git runs instead (``core.hooksPath``), set in
    ``origin``; None where it runs those in ``folder``. ``python``: the interpreter that an
    installation now would have them ask first.
    """

    target: str
    folder: str
    python: str
    elsewhere: str | None
    origin: str
    hooks: tuple[HookLine, ...]

    @property
    def complete(self) -> bool:
        """Whether every hook is installed and git runs it."""
        return self.elsewhere is None and all(h.state == "installed" for h in self.hooks)

    def to_json(self) -> dict[str, Any]:
        """Return the documented shape."""
        return {
            "target": self.target,
            "folder": self.folder,
            "elsewhere": self.elsewhere,
            "complete": self.complete,
            "hooks": [hook.to_json() for hook in self.hooks],
        }
