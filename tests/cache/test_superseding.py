"""What supersedes what, where records name each other in a circle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitmem.cache.superseding import Edge, without_circles

edges = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), unique=True)


def leads(edges: list[Edge], start: str, end: str) -> bool:
    """Whether ``end`` supersedes ``start``, at once or in the end; in the plainest way."""
    seen, waiting = set(), [start]
    while waiting:
        here = waiting.pop()
        for old, by in edges:
            if old == here and by not in seen:
                seen.add(by)
                waiting.append(by)
    return end in seen


@given(edges)
def test_what_leads_back_to_itself_supersedes_nothing_and_all_else_does(edges: list[Edge]) -> None:
    assert without_circles(edges) == [(old, by) for old, by in edges if not leads(edges, by, old)]


def test_a_long_chain_and_a_long_circle_are_no_matter() -> None:
    chain = [(f"r{n}", f"r{n + 1}") for n in range(100_000)]
    assert without_circles(chain) == chain
    assert without_circles([*chain, ("r100000", "r0")]) == []
