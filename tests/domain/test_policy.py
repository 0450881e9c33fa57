"""Who may say yes: the policy's file, and the decision on a proposal case by case."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gitmem.domain.actors import model_key
from gitmem.domain.policy import Decision, Policy, decide, make_policy
from gitmem.domain.proposal import KINDS, Proposal, RecordAt, RecordChange
from gitmem.domain.review import Finding, Review, ReviewerDefinition
from gitmem.errors import InvalidInput

A, B, OLD_RUBRIC, RUBRIC = "a" * 40, "b" * 40, "c" * 40, "d" * 40
ADA = "human:Ada <ada@example.org>"
GRACE = "human:Grace <grace@example.org>"
AUTHOR = "model:vendor/alpha-1-2026-01-01@host"
OTHER = "model:beta-2@host"
TABS = RecordAt("records/user/tabs.md", A)
ADDED = RecordChange("tabs", None, TABS)
REVISED = RecordChange("tabs", replace(TABS, blob=B), TABS)
RETIRED = RecordChange("tabs", TABS, None)


def reviewer(name: str = "evidence", *, blocking: bool = True, **more: Any) -> ReviewerDefinition:
    fields = {"applies_to": KINDS, "role": "reviewer", "blob": RUBRIC, "rubric": "…", **more}
    return ReviewerDefinition(name=name, blocking=blocking, **fields)


@dataclass(frozen=True)
class Case:
    """Everything that ``decide`` looks at; by default a model's proposal without reviews."""

    change: RecordChange = ADDED
    kind: str = "extract"
    proposed_by: str = AUTHOR
    attested: str | None = "hook"
    reviews: Sequence[Review] = ()
    policy: Policy = field(default_factory=Policy)
    reviewers: Mapping[str, ReviewerDefinition] = field(
        default_factory=lambda: {"evidence": reviewer()}
    )
    head: Mapping[str, RecordAt | None] | None = None
    standing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    types: Collection[str] = ("user",)
    tombstoned: Collection[str] = ()

    @property
    def proposal(self) -> Proposal:
        return Proposal(
            id=f"{self.kind}-20261130-7f3a2c",
            kind=self.kind,
            proposed_by=self.proposed_by,
            session="s",
            attested=self.attested,
            base=B,
            nonce="n",
            created_at=0,
            changes=(self.change,),
        )

    def review(self, by: str, verdict: str = "approve", **more: Any) -> Review:
        person = by.startswith("human:")
        fields: dict[str, Any] = {
            "reviewer": "person" if person else "evidence",
            "rubric": None if person else RUBRIC,
            "change": self.proposal.change,
            "findings": (),
            "at": 100,
            **more,
        }
        return Review(by=by, verdict=verdict, **fields)  # type: ignore[arg-type]

    def checks(self, *findings: Finding, verdict: str = "approve", **more: Any) -> Review:
        more = {"reviewer": "checks", "rubric": None, "at": 10, **more}
        return self.review("checks", verdict, findings=findings, **more)

    def with_reviews(self, *reviews: Review) -> Case:
        return replace(self, reviews=(self.checks(), *reviews))

    def decide(self) -> Decision:
        base = {"tabs": self.change.old}
        return decide(
            self.proposal,
            self.reviews,
            self.policy,
            self.reviewers,
            base,
            base if self.head is None else self.head,
            self.standing,
            self.types,
            self.tombstoned,
        )


def expect(case: Case, state: str, words: str = "") -> Decision:
    decision = case.decide()
    assert decision.state == state, decision
    assert decision.mergeable == (state == "mergeable")
    assert words in "; ".join(decision.reasons)
    assert bool(decision.reasons) != decision.mergeable
    assert bool(decision.approved_by) == decision.mergeable
    return decision


CASE = Case()


# --- the checks --------------------------------------------------------------------------------


@pytest.mark.parametrize("by", [ADA, OTHER])
def test_nobody_can_approve_what_the_checks_have_not_seen(by: str) -> None:
    expect(replace(CASE, reviews=(CASE.review(by),)), "inconclusive", "checks have not run")


def test_checks_of_another_change_do_not_count() -> None:
    reviews = (CASE.checks(change="0" * 64), CASE.review(ADA))
    expect(replace(CASE, reviews=reviews), "inconclusive", "checks have not run")


def test_a_blocker_stops_a_person_too() -> None:
    checks = CASE.checks(Finding("blocker", "secret", "holds a secret", "tabs", 3))
    expect(
        replace(CASE, reviews=(checks, CASE.review(ADA))),
        "changes_requested",
        "tabs: holds a secret",
    )


@pytest.mark.parametrize("verdict", ["request_changes", "reject", "inconclusive"])
def test_checks_that_did_not_pass_stop_it_even_without_a_finding(verdict: str) -> None:
    reviews = (CASE.checks(verdict=verdict), CASE.review(ADA))
    expect(replace(CASE, reviews=reviews), "changes_requested", "checks failed")


def test_the_last_run_of_the_checks_counts() -> None:
    blocked = CASE.checks(Finding("blocker", "secret", "x", "tabs"))
    passed = CASE.checks()
    expect(replace(CASE, reviews=(blocked, passed, CASE.review(ADA))), "mergeable")
    expect(replace(CASE, reviews=(passed, blocked, CASE.review(ADA))), "changes_requested")


# --- a person ----------------------------------------------------------------------------------


def test_a_person_is_enough() -> None:
    decision = expect(CASE.with_reviews(CASE.review(ADA, at=77)), "mergeable")
    assert decision.approved_by == (ADA,)
    assert decision.approved_at == 77
    assert decision.by_person


@pytest.mark.parametrize("verdict", ["reject", "request_changes", "inconclusive"])
def test_a_person_stands_above_every_model(verdict: str) -> None:
    decision = expect(CASE.with_reviews(CASE.review(OTHER, verdict), CASE.review(ADA)), "mergeable")
    assert decision.approved_by == (ADA,)


def test_two_persons_are_both_named_and_the_later_one_dates_it() -> None:
    reviews = (CASE.review(GRACE, at=5), CASE.review(ADA, at=3))
    decision = expect(CASE.with_reviews(*reviews), "mergeable")
    assert decision.approved_by == (ADA, GRACE)
    assert decision.approved_at == 5


@pytest.mark.parametrize(
    ("verdict", "state"), [("reject", "rejected"), ("request_changes", "changes_requested")]
)
def test_a_person_who_says_no_stands_above_a_model_that_says_yes(verdict: str, state: str) -> None:
    case = CASE.with_reviews(CASE.review(OTHER), CASE.review(ADA, verdict))
    expect(case, state, f"Ada <ada@example.org> said {verdict}")


def test_a_person_may_change_their_mind() -> None:
    yes, no = CASE.review(ADA, at=1), CASE.review(ADA, "reject", at=2)
    expect(CASE.with_reviews(yes, no), "rejected")
    expect(CASE.with_reviews(no, yes), "mergeable")


def test_one_persons_yes_does_not_silence_anothers_no() -> None:
    yes, no = CASE.review(ADA, at=1), CASE.review(GRACE, "request_changes", at=2)
    expect(CASE.with_reviews(yes, no), "changes_requested", "Grace")
    expect(CASE.with_reviews(no, yes), "changes_requested", "Grace")


def test_a_person_may_approve_what_they_wrote_unless_two_are_needed() -> None:
    own = replace(CASE, kind="remember", proposed_by=ADA, attested="caller")
    expect(own.with_reviews(own.review(ADA)), "mergeable")
    two = replace(own, policy=Policy(two_person=True))
    expect(two.with_reviews(two.review(ADA)), "waiting", "other than")
    decision = expect(two.with_reviews(two.review(ADA), two.review(GRACE)), "mergeable")
    assert decision.approved_by == (GRACE,)


# --- what a review judged ----------------------------------------------------------------------


@pytest.mark.parametrize("by", [ADA, OTHER])
def test_a_review_of_other_content_does_not_count(by: str) -> None:
    expect(CASE.with_reviews(CASE.review(by, change="0" * 64)), "waiting")


def test_a_review_under_another_rubric_does_not_count() -> None:
    expect(CASE.with_reviews(CASE.review(OTHER, rubric=OLD_RUBRIC)), "waiting", "no reviewer model")
    expect(CASE.with_reviews(CASE.review(OTHER, rubric=None)), "waiting")


def test_a_refusal_under_another_rubric_does_not_count_either() -> None:
    reviews = (CASE.review(OTHER, "reject", rubric=OLD_RUBRIC), CASE.review(OTHER))
    expect(CASE.with_reviews(*reviews), "mergeable")


def test_a_reviewer_that_the_base_does_not_know_does_not_count() -> None:
    expect(CASE.with_reviews(CASE.review(OTHER, reviewer="friend", rubric=None)), "waiting")
    expect(CASE.with_reviews(CASE.review(OTHER, reviewer="friend")), "waiting")


def test_a_person_with_a_rubric_does_not_count() -> None:
    expect(CASE.with_reviews(CASE.review(ADA, rubric=RUBRIC)), "waiting")


# --- models ------------------------------------------------------------------------------------


def test_a_model_other_than_the_author_is_enough_where_the_policy_asks_no_more() -> None:
    decision = expect(CASE.with_reviews(CASE.review(OTHER, at=42)), "mergeable")
    assert (decision.approved_by, decision.approved_at) == ((OTHER,), 42)
    assert not decision.by_person


@pytest.mark.parametrize(
    "by",
    [
        AUTHOR,
        "model:alpha-1@elsewhere",
        "model:vendor/x/Alpha-1@host",
        "model:alpha-1-latest@host",
        "model:ALPHA-1-20260101@host",
        "model:alpha-1:latest@host",
        "model:alpha-1-2026-01-01-latest@host",
        "rules",
        "model:@host",
        "model:beta-2",
        "checks",
        "",
    ],
)
def test_the_authors_own_model_under_any_of_its_names_approves_nothing(by: str) -> None:
    expect(CASE.with_reviews(CASE.review(by)), "inconclusive", "model of its own")


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ("reject", "rejected"),
        ("request_changes", "changes_requested"),
        ("inconclusive", "inconclusive"),
    ],
)
def test_a_model_that_does_not_approve_decides_the_state(verdict: str, state: str) -> None:
    expect(CASE.with_reviews(CASE.review(OTHER, verdict)), state)


def test_the_last_word_of_a_reviewer_counts() -> None:
    no, yes = CASE.review(OTHER, "request_changes"), CASE.review(OTHER)
    expect(CASE.with_reviews(no, yes), "mergeable")
    expect(CASE.with_reviews(yes, no), "changes_requested")


def test_every_blocking_reviewer_has_to_approve() -> None:
    both = {"evidence": reviewer(), "safety": reviewer("safety")}
    case = replace(CASE, reviewers=both)
    first, second = case.review(OTHER, at=9), case.review(OTHER, reviewer="safety", at=4)
    expect(case.with_reviews(first), "inconclusive", "not every blocking reviewer")
    assert expect(case.with_reviews(first, second), "mergeable").approved_at == 9
    said_no = case.review(OTHER, "reject", reviewer="safety")
    expect(case.with_reviews(first, said_no), "rejected", "safety said reject")


def test_a_reviewer_that_does_not_block_or_judges_other_kinds_is_not_waited_for() -> None:
    quiet = {"evidence": reviewer(), "style": reviewer("style", blocking=False)}
    case = replace(CASE, reviewers=quiet)
    no = case.review(OTHER, "reject", reviewer="style")
    expect(case.with_reviews(case.review(OTHER), no), "mergeable")
    other = {"evidence": reviewer(), "dream": reviewer("dream", applies_to=("consolidate",))}
    case = replace(CASE, reviewers=other)
    expect(case.with_reviews(case.review(OTHER)), "mergeable")


@pytest.mark.parametrize(
    "reviewers",
    [{}, {"style": reviewer("style", blocking=False)}, {"x": reviewer("x", applies_to=("edit",))}],
)
def test_without_a_reviewer_model_a_person_must_approve(
    reviewers: Mapping[str, ReviewerDefinition],
) -> None:
    expect(replace(CASE, reviewers=reviewers).with_reviews(), "waiting", "person must approve")


def test_before_any_model_has_judged_it_waits() -> None:
    expect(CASE.with_reviews(), "waiting", "no reviewer model has judged it")


def test_the_rules_have_no_model_so_any_reviewer_model_differs_from_them() -> None:
    case = replace(CASE, proposed_by="rules")
    expect(case.with_reviews(case.review(OTHER)), "mergeable")


# --- what only a person may wave through -------------------------------------------------------

ONLY_A_PERSON = [
    (replace(CASE, attested="file"), "its source (file)"),
    (replace(CASE, attested="caller"), "its source (caller)"),
    (replace(CASE, attested=None), "its source (none)"),
    (replace(CASE, policy=Policy(auto_merge_sources=())), "its source (hook)"),
    (replace(CASE, change=RETIRED), "retires a record"),
    (
        replace(CASE, change=REVISED, standing={"tabs": (ADA,)}),
        "a person approved what it rewrites",
    ),
    (replace(CASE, change=REVISED, standing={"tabs": (OTHER, ADA)}), "rewrites: tabs"),
    (replace(CASE, tombstoned=("tabs",)), "rejected or forgot this before: tabs"),
    (replace(CASE, policy=make_policy({"require_person": {"kinds": ["extract"]}})), "for extract"),
    (
        replace(CASE, policy=make_policy({"require_person": {"types": ["user"]}})),
        "for user records",
    ),
]


@pytest.mark.parametrize(("case", "words"), ONLY_A_PERSON)
def test_what_needs_a_person_waits_whatever_a_model_says(case: Case, words: str) -> None:
    expect(case.with_reviews(case.review(OTHER)), "waiting", words)
    decision = expect(case.with_reviews(case.review(OTHER), case.review(ADA)), "mergeable")
    assert decision.approved_by == (ADA,)


@pytest.mark.parametrize("case", [case for case, _ in ONLY_A_PERSON])
def test_a_model_may_still_say_no_to_it(case: Case) -> None:
    expect(case.with_reviews(case.review(OTHER, "reject")), "rejected")


def test_a_text_that_looks_like_an_instruction_waits_for_a_person() -> None:
    checks = CASE.checks(Finding("warning", "instruction", "looks like one", "tabs", 2))
    case = replace(CASE, reviews=(checks, CASE.review(OTHER)))
    expect(case, "waiting", "looks like an instruction")
    expect(replace(case, reviews=(*case.reviews, CASE.review(ADA))), "mergeable")


def test_a_text_that_is_close_to_a_buried_one_waits_for_a_person() -> None:
    checks = CASE.checks(Finding("warning", "tombstone", "is close in its words", "tabs"))
    case = replace(CASE, reviews=(checks, CASE.review(OTHER)))
    decision = expect(case, "waiting", "nearly says, what a person rejected or forgot")
    assert "instruction" not in "".join(decision.reasons)
    expect(replace(case, reviews=(*case.reviews, CASE.review(ADA))), "mergeable")


@pytest.mark.parametrize("code", ["duplicate", "session-absent"])
def test_other_warnings_are_for_the_reviewer(code: str) -> None:
    checks = CASE.checks(Finding("warning", code, "look", "tabs"))
    expect(replace(CASE, reviews=(checks, CASE.review(OTHER))), "mergeable")


def test_a_record_that_a_model_approved_may_be_revised_by_a_model() -> None:
    case = replace(CASE, change=REVISED, standing={"tabs": (OTHER,)})
    expect(case.with_reviews(case.review(OTHER)), "mergeable")


@pytest.mark.parametrize("source", ["file", "caller"])
def test_the_policy_may_trust_another_source(source: str) -> None:
    case = replace(CASE, attested=source, policy=make_policy({"auto_merge_sources": [source]}))
    expect(case.with_reviews(case.review(OTHER)), "mergeable")
    hook = replace(case, attested="hook")
    expect(hook.with_reviews(hook.review(OTHER)), "waiting")


def test_every_reason_is_told() -> None:
    case = replace(CASE, attested="file", change=RETIRED, tombstoned=("tabs",))
    assert len(expect(case.with_reviews(), "waiting").reasons) == 3


# --- stale, signatures -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "head"),
    [
        (ADDED, TABS),
        (REVISED, None),
        (REVISED, replace(TABS, blob="e" * 40)),
        (REVISED, RecordAt("records/project/tabs.md", B)),
        (RETIRED, None),
    ],
)
def test_a_name_that_moved_on_makes_it_stale_for_a_person_too(
    change: RecordChange, head: RecordAt | None
) -> None:
    case = replace(CASE, change=change, head={"tabs": head})
    expect(
        case.with_reviews(case.review(ADA)), "stale", "changed on main since it was proposed: tabs"
    )


def test_other_names_may_move_on() -> None:
    case = replace(CASE, head={"tabs": None, "other": TABS})
    expect(case.with_reviews(case.review(ADA)), "mergeable")


def test_signatures_that_cannot_be_checked_approve_nothing() -> None:
    case = replace(CASE, policy=Policy(signatures="required"))
    expect(case.with_reviews(case.review(ADA)), "waiting", "signed")


# --- models' names, the policy's file ----------------------------------------------------------


@pytest.mark.parametrize(
    ("who", "key"),
    [
        ("model:vendor/x-1-2026-01-01@host", "x-1"),
        ("model:X-1-latest@other", "x-1"),
        ("model:x-1-20260101@host", "x-1"),
        ("model:x-1-0613@host", "x-1"),
        ("model:x-1@20260101@host", "x-1"),
        ("model:a/b/x-1:latest@host", "x-1"),
        ("model:通义-1@host", "通义-1"),
        ("model:x-1-mini@host", "x-1-mini"),
        ("model:latest@host", "latest"),
        ("model:@host", None),
        ("model:x-1", None),
        ("model:x 1@host", None),
        ("human:model:x@host", None),
        ("rules", None),
        ("", None),
    ],
)
def test_a_model_is_recognised_under_its_other_names(who: str, key: str | None) -> None:
    assert model_key(who) == key


def test_models_of_one_family_stay_different() -> None:
    names = ["x-1", "x-2", "x-1-mini", "x-1.5", "y-1"]
    assert len({model_key(f"model:{name}@host") for name in names}) == len(names)


def test_an_empty_policy_is_the_default_one() -> None:
    assert make_policy({}) == Policy()
    assert Policy().auto_merge_sources == ("hook", "session")
    assert (Policy().view.lines, Policy().view.bytes) == (200, 25_000)


def test_numbers_and_booleans_may_stand_as_text() -> None:
    raw = {
        "two_person": "true",
        "rounds": "3",
        "view": {"format": "1", "lines": "50", "bytes": "2000"},
    }
    policy = make_policy(raw)
    assert (policy.two_person, policy.rounds, policy.view.lines) == (True, 3, 50)


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"auto_merge": []}, "auto_merge"),
        ({"auto_merge_sources": ["model"]}, "auto_merge_sources.0"),
        ({"auto_merge_sources": "hook"}, "auto_merge_sources"),
        ({"require_person": {"kinds": ["merge"]}}, "require_person.kinds.0"),
        ({"require_person": {"types": ["secret"]}}, "require_person.types.0"),
        ({"require_person": {"names": []}}, "require_person.names"),
        ({"two_person": "perhaps"}, "two_person"),
        ({"signatures": "on"}, "signatures"),
        ({"rounds": -1}, "rounds"),
        ({"rounds": "many"}, "rounds"),
        ({"daily_proposals": 10_001}, "daily_proposals"),
        ({"view": {"format": "2"}}, "view.format"),
        ({"view": {"format": 1, "lines": 9}}, "view.lines"),
        ({"view": {"bytes": 10**9}}, "view.bytes"),
        ({"view": {"columns": 80}}, "view.columns"),
        ({"view": "small"}, "view"),
    ],
)
def test_a_policy_with_an_unknown_key_or_a_bad_value_is_refused(
    raw: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_policy(raw)
    assert str(caught.value).startswith(f"policy.yaml: {field}")
