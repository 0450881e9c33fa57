"""Which records take the place of which, where some name each other in a circle.

Merged one by one, or by two people at once, records can come to supersede each other. Then none
of them is the older one: were all left out of a search, the fact would be found no more.
"""

from __future__ import annotations

from collections.abc import Iterable

Edge = tuple[str, str]
"""A record, and one that supersedes it."""


def without_circles(edges: Iterable[Edge]) -> list[Edge]:
    """Return ``edges`` without those that are a part of a circle, in the same order."""
    edges = list(edges)
    both = {old for old, _ in edges} & {by for _, by in edges}
    inner = [(old, by) for old, by in edges if old in both and by in both]
    if not inner:
        return edges
    circle = _circles(inner)
    return [(old, by) for old, by in edges if circle.get(old, old) != circle.get(by, by)]


def _circles(edges: list[Edge]) -> dict[str, str]:
    """Return for each record one that stands for its circle (Kosaraju: forth, then back)."""
    forth: dict[str, list[str]] = {}
    back: dict[str, list[str]] = {}
    for old, by in edges:
        forth.setdefault(old, []).append(by)
        back.setdefault(by, []).append(old)
    order: list[str] = []
    done: set[str] = set()
    for start in list(forth):
        order += _visited(start, forth, done)
    found: dict[str, str] = {}
    done = set()
    for start in reversed(order):
        found.update(dict.fromkeys(_visited(start, back, done), start))
    return found


def _visited(start: str, edges: dict[str, list[str]], done: set[str]) -> list[str]:
    """Return what ``start`` leads to and is not in ``done`` yet, each after what it leads to."""
    if start in done:
        return []
    done.add(start)
    found: list[str] = []
    stack = [(start, iter(edges.get(start, ())))]
    while stack:
        rest = stack[-1][1]
        other = next((one for one in rest if one not in done), None)
        if other is None:
            found.append(stack.pop()[0])
        else:
            done.add(other)
            stack.append((other, iter(edges.get(other, ()))))
    return found
