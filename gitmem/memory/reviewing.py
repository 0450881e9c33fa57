"""Reviews by models."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from gitmem.memory.asking import Asking

if TYPE_CHECKING:
    from gitmem.results import ProposalResult, ReviewOutcome
    from gitmem.services.reviewing import Reviewing as How
    from gitmem.store import Judged


class Reviewing(Asking):
    """The operations in which a reviewer model judges."""

    def review(self, proposal: str, *, only: str | None = None) -> ReviewOutcome:
        """Let the reviewer model judge a proposal by the rubric of each reviewer of the store.

        The reviews are kept on its branch; the policy decides, and what needs nobody else is
        merged. Where changes are asked for, and a model proposed it, its proposer answers with
        another draft, as often as the policy allows, and that is reviewed. With ``only``, one
        reviewer is tried, and nothing is kept.

        Raises:
            NotFound: the proposal is not open, or no model is set for the reviewer.
            InvalidInput: its branch breaks a rule, or the settings do.
        """
        from gitmem.services.reviewing import Reviewing as Asked
        from gitmem.services.reviewing import review, try_reviewer

        with self._client("reviewer") as client:
            how = Asked(client, self._budget(), os.urandom(8).hex(), self._now())
            store, sessions = self._opened(), self._sessions()
            if only is not None:
                return self._noted(try_reviewer(store, sessions, proposal, only, how))
            outcome = review(store, sessions, proposal, how)
            while (again := self._recut(outcome, how)) is not None:
                outcome = again
            return self._noted(outcome)

    def review_drawn(self, result: ProposalResult) -> ReviewOutcome | None:
        """Let what a model proposed be reviewed; None where there is nothing, or no reviewer.

        A review that fails leaves the proposal open, and is noted; so is that no reviewer is set.
        """
        from gitmem.errors import GitmemError

        if result.proposal is None or result.by == "rules":
            return None
        if not self._has_model("reviewer"):
            self._note(
                f"no model is set for the reviewer, so {result.proposal} waits for a person; to "
                "set one: gitmem config set reviewer.model NAME"
            )
            return None
        try:
            return self.review(result.proposal)
        except GitmemError as error:
            self._note(f"{result.proposal} was not reviewed: {error.message}")
            return None

    def _recut(self, outcome: ReviewOutcome, how: How) -> ReviewOutcome | None:
        """Let the proposer answer what reviewers ask for, and review that; None where it is not
        to answer, or could not."""
        from gitmem.errors import GitmemError
        from gitmem.services.recutting import answered_by, put_aside, wants_recut
        from gitmem.services.reviewing import review

        if outcome.state != "changes_requested" or not self._has_model("proposer"):
            return None
        store, sessions = self._opened(), self._sessions()
        try:
            judged = store.judged_as(*store.find_proposal(outcome.proposal))
            if not wants_recut(judged):
                return None
            # Who answered it may have been killed before it put the draft aside.
            answer = answered_by(store, outcome.proposal)
            if answer is None:
                answer = self._answer(judged, how)
            else:
                put_aside(store, judged, answer, self._now())
        except GitmemError as error:
            self._note(f"{outcome.proposal} waits for a person: {error.message}")
            return None
        if answer is None:
            return replace(outcome, state="withdrawn", waits_for=())
        return review(store, sessions, answer, how)

    def _answer(self, judged: Judged, how: How) -> str | None:
        """Propose what the proposer answers, in place of the draft; None where it withdraws that.

        Raises:
            ModelFailed: it gave no usable answer, or one of which nothing can be proposed.
            NotFound, Refused: the draft was decided or changed meanwhile; then nothing is proposed.
        """
        from gitmem.errors import ModelFailed
        from gitmem.services.propose import make_batch, propose
        from gitmem.services.recutting import put_aside, recut

        store, nonce, draft = self._opened(), os.urandom(8).hex(), judged.branch.proposal.id
        with self._client("proposer") as client:
            found = recut(store, self._sessions(), judged, client, how.budget, nonce, make_batch)
        origin = replace(
            self._origin("extract", found.who, found.session.id, found.attested),
            follows=draft,
            round=found.round,
        )
        with store.repo.lock():
            store.check_unmoved(draft, judged.branch.tip)
            result = propose(store, found.session, make_batch(found.items), origin)
            if found.items and result.proposal is None:
                why = "; ".join(f"{gone.name}: {gone.reason}" for gone in result.dropped)
                raise ModelFailed(f"nothing of its proposer's answer can be proposed: {why}")
            put_aside(store, judged, result.proposal, self._now())
        return result.proposal
