"""A proposal's new quotes are of the source that it names, and say something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitmem.documents import make_evidence
from gitmem.domain.objects import Identity
from gitmem.domain.review import PERSON, Review
from gitmem.errors import InvalidInput
from gitmem.services.begin import begin
from gitmem.store import Entry, Origin, Store, checks_review, make_draft

NOW = 1_790_000_000
SESSION = "openai-20260921-0123456789ab"
QUOTE = "Always use tabs in this project."
SOMEBODY = Identity("somebody", "somebody@example.org")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = begin(tmp_path / "m", "0" * 32, NOW)
    yield store
    store.close()


def proposed(
    store: Store,
    *,
    kind: str = "extract",
    named: tuple[str | None, str | None] = (SESSION, "file"),
    quoted: tuple[str, str] = (SESSION, "file"),
    quote: str = QUOTE,
) -> str:
    """Put an approved proposal whose quote may belie what it says of itself; its tip."""
    evidence = make_evidence(
        session=quoted[0],
        message=0,
        cls="human",
        attested=quoted[1],
        at="2026-09-21T14:13:20Z",
        digest="sha256:" + "0" * 64,
        quote=quote,
    )
    entry = Entry("tabs", "feedback", QUOTE, QUOTE, (evidence,))
    origin = Origin(kind, "rules", *named, "0123456789abcdef", NOW)
    ground = store.facts.ground(store.head().accepted, ["tabs"])
    draft = make_draft(ground, origin, [entry], {})
    who = "human:Ada <ada@example.org>"
    approval = Review(who, PERSON, "approve", draft.proposal.change, None, (), NOW)
    return store.put_proposal(draft, [checks_review(draft, [], NOW), approval], SOMEBODY)


def test_a_proposal_that_names_the_source_of_its_quotes_can_be_merged(store: Store) -> None:
    assert store.judged(proposed(store)).decision.mergeable


@pytest.mark.parametrize(
    ("named", "quoted"),
    [
        ((SESSION, "hook"), (SESSION, "file")),
        ((SESSION, "file"), ("openai-20260921-ffffffffffff", "file")),
        ((None, "session"), (SESSION, "session")),
    ],
)
def test_a_proposal_that_names_another_source_cannot(
    store: Store, named: tuple[str | None, str | None], quoted: tuple[str, str]
) -> None:
    tip = proposed(store, named=named, quoted=quoted)
    with pytest.raises(InvalidInput, match="from another session, or attested otherwise"):
        store.judged(tip)
    with pytest.raises(InvalidInput, match="from another session"):
        store.merge("extract-20260921-012345", tip)


@pytest.mark.parametrize("named", [(SESSION, "file"), (None, None)])
def test_a_quote_too_short_to_say_anything_cannot_either(
    store: Store, named: tuple[str | None, str | None]
) -> None:
    tip = proposed(store, named=named, quote="用空格")
    with pytest.raises(InvalidInput, match="too short"):
        store.judged(tip)


def test_a_person_may_remember_few_words(store: Store) -> None:
    tip = proposed(
        store,
        kind="remember",
        named=(SESSION, "caller"),
        quoted=(SESSION, "caller"),
        quote="用空格",
    )
    assert store.judged(tip).decision.mergeable


def test_a_proposal_without_a_source_never_merges_by_itself(store: Store) -> None:
    judged = store.judged(proposed(store, named=(None, None)))
    assert judged.decision.by_person
