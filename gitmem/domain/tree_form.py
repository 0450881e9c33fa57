"""Whether a tree object is as git writes it, so that everybody sees the same files in it.

git reads a tree whose entries are doubled or out of order, and each command finds another file
in it. Such a tree holds what nobody was shown, and no host takes a history that has it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.domain.objects import TREE_MODE, TreeEntry

#: Bytes of an entry besides mode and name: a space, NUL and the id.
_AROUND = 22


def check_tree_form(data: bytes, entries: Sequence[TreeEntry]) -> None:
    """Refuse the tree ``data``, decoded to ``entries``, unless git could have written it.

    Raises:
        ValueError: a name is there twice, the entries are not in git's order, or a mode begins
            with a nought.
    """
    names = [entry.name for entry in entries]
    if len(set(names)) != len(names):
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"a tree has two entries of the name {twice[:80]!r}")
    keys = [name + "/" if mode == TREE_MODE else name for mode, name, _ in entries]
    size = sum(map(len, names))
    if not "".join(names).isascii():
        size = sum(len(name.encode("utf-8", "surrogateescape")) for name in names)
        in_order = sorted(keys, key=lambda key: key.encode("utf-8", "surrogateescape"))
    else:
        in_order = sorted(keys)
    if keys != in_order:
        raise ValueError("a tree has its entries in another order than git's")
    if size + sum([len(entry.mode) for entry in entries]) + _AROUND * len(names) != len(data):
        raise ValueError("a tree has a mode that begins with a nought")
