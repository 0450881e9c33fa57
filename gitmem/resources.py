"""The files that gitmem ships beside its code: reviewer definitions and hooks.

In a checkout they are the top-level folders ``reviewers/`` and ``hooks/``; in an installed wheel
they are copies of those folders inside the package. Callers never see which.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from gitmem.errors import NotFound


def reviewer_definitions() -> dict[str, bytes]:
    """The shipped reviewer definitions by file name (``evidence.md``), in sorted order.

    Genesis copies them into a new store's ``reviewers/``; from then on the store's own count.
    Raises NotFound where the installation lacks them.
    """
    shipped = _shipped("reviewers")
    return {name: data for name, data in shipped.items() if name.endswith(".md")}


def hook_files() -> dict[str, bytes]:
    """The shipped hook files by path below ``hooks/`` (``README.md``), in sorted order.

    Raises NotFound where the installation lacks them.
    """
    return _shipped("hooks")


def prompt(role: str) -> str:
    """The instructions for one role of a model.

    Raises NotFound where the installation lacks them.
    """
    file = files("gitmem") / "prompts" / f"{role}.md"
    if not file.is_file():
        raise NotFound(
            f"gitmem's own file prompts/{role}.md is missing from this installation",
            hint="Install gitmem again: the installation is not complete.",
        )
    return file.read_text(encoding="utf-8")


def _shipped(folder: str) -> dict[str, bytes]:
    package = files("gitmem")
    root: Traversable = package / "_data" / folder
    if not root.is_dir():
        root = Path(str(package)).parent / folder
    found = dict(_walk(root, "")) if root.is_dir() else {}
    if not found:
        raise NotFound(
            f"gitmem's own folder {folder}/ is missing from this installation ({package})",
            hint="Install gitmem again: the installation is not complete.",
        )
    return dict(sorted(found.items()))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    pairs: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            pairs += _walk(entry, f"{prefix}{entry.name}/")
        else:
            pairs.append((prefix + entry.name, entry.read_bytes()))
    return pairs
