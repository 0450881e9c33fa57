"""What a record came of, and what became of it: renames and consolidations along main.

A record came of those that it names in ``supersedes``, and of one that was retired by the very
commit that added it, where the quotes of one are all among the quotes of the other: a rename by
hand. A name can be used again for something else, so each relation counts from the commit that
made it: what came before belongs to the one, what came after to the other.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from gitmem.cache import CommitRow
from gitmem.store.store import Store


@dataclass(frozen=True, slots=True)
class Relative:
    """A record that another came of, or became.

    ``via`` is the next name on the way to the record asked for. ``place`` is that of the commit
    that made the relation: the last one that counts of what a record came of, the first one of
    what it became.
    """

    name: str
    via: str
    place: int


def ancestors(store: Store, name: str, last: int) -> list[Relative]:
    """Return what ``name`` came of up to the place ``last`` of main, the nearest first."""

    def sources(by: str, bound: int) -> Iterator[tuple[str, int]]:
        for source, seq in [*store.projection.sources(by), *_renamed(store, by, "added", bound)]:
            if seq <= bound:
                yield source, seq

    return _walk(name, last, sources, lambda new, known: new > known)


def descendants(store: Store, name: str, last: int) -> list[Relative]:
    """Return what became of ``name`` up to the place ``last`` of main, the nearest first."""

    def successors(of: str, bound: int) -> Iterator[tuple[str, int]]:
        found = [*store.projection.successors(of), *_renamed(store, of, "retired", last)]
        for successor, seq in found:
            if bound <= seq <= last:
                yield successor, seq

    return _walk(name, 0, successors, lambda new, known: new < known)


def _walk(
    name: str,
    bound: int,
    related: Callable[[str, int], Iterator[tuple[str, int]]],
    is_wider: Callable[[int, int], bool],
) -> list[Relative]:
    """Follow relations; a name is looked at again only where more of it counts than before.

    So it ends, also where records supersede each other in a circle.
    """
    found: dict[str, Relative] = {}
    waiting = deque([(name, bound)])
    while waiting:
        via, bound = waiting.popleft()
        for other, seq in related(via, bound):
            known = found.get(other)
            if other == name or (known is not None and not is_wider(seq, known.place)):
                continue
            found[other] = Relative(other, known.via if known else via, seq)
            waiting.append((other, seq))
    return list(found.values())


def _renamed(store: Store, name: str, change: str, last: int) -> Iterator[tuple[str, int]]:
    """Yield what ``name`` was renamed from (``added``) or to (``retired``), with the places."""
    other_change = "retired" if change == "added" else "added"
    for row in store.projection.commits(name, last=last):
        others = [other for other, its in row.records if its == other_change]
        if not others or (name, change) not in row.records:
            continue
        before, after = _trees(store, row)
        mine = store.facts.cited(after if change == "added" else before, name)
        for other in others:
            its = store.facts.cited(before if change == "added" else after, other)
            if mine and its and (mine <= its or its <= mine):
                yield other, row.seq


def _trees(store: Store, row: CommitRow) -> tuple[str, str]:
    """Return the trees of the accepted commit before ``row``, and of its own."""
    ground = store.projection.accepted(last=row.seq - 1)
    assert ground is not None  # the first commit touches no record
    commit = store.repo.reader.commit
    return commit(ground.oid).tree, commit(row.oid).tree
