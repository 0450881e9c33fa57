"""hooks: install them in a store, look at them, take them away; what they are for is in hooks/."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import Usage
from gitmem.repo import hooks as git_hooks
from gitmem.results.hooks import HooksReport

Change = Callable[[Path], tuple[HooksReport, list[str]]]


class Target(NamedTuple):
    """Something that hooks are installed in; each function takes the common git directory.

    The two that change something return what is there now, and sentences about what was left.
    """

    look: Callable[[Path], HooksReport]
    install: Change
    remove: Change


TARGETS: dict[str, Target] = {
    "git": Target(git_hooks.look, git_hooks.install, git_hooks.remove),
}


def find_target(name: str) -> Target:
    """Return what ``name`` stands for.

    Raises:
        Usage: hooks are not installed in anything of that name.
    """
    if name not in TARGETS:
        raise Usage(f"there are no hooks for {name!r}", hint=f"There are: {', '.join(TARGETS)}.")
    return TARGETS[name]
