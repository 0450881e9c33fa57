"""Everything that a person and a program can do to a memory, in any order, against a model."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gitmem import MemoryStore
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused, Usage, Waiting
from gitmem.results import MergeResult, ProposalResult, ProposalSummary
from tests.conftest import Effort
from tests.memory.model import (
    NAMES,
    TEXTS,
    Main,
    Proposed,
    blobs,
    key_of,
    read_main,
    trailers,
)
from tests.memory.words import ADA, BEN, NOW, change_set, objects, user
from tests.store.stories import copy, plain, rev

names = st.sampled_from(NAMES)
forms = st.integers(0, 2)
people = st.sampled_from((ADA, BEN))
hands = st.integers(0, 1)
which = st.integers(0, 7)


class Machine(RuleBasedStateMachine):
    """A memory that two processes hold open, and what it must say after each step."""

    source: Path
    folder: Path
    count = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).count += 1
        self.root = copy(self.source, self.folder / f"memory-{self.count}")
        self.now = NOW
        self.hands = [self._open(), self._open()]
        self.main = Main(rev(self.root, "main"))
        self.commits = {self.main.oid: self.main}
        self.open: dict[str, Proposed] = {}
        self.kept: dict[str, Proposed] = {}
        self.merged: dict[str, Proposed] = {}
        self.strays: list[str] = []
        self.stray_texts: dict[str, str] = {}
        self.lost: list[Main] = []
        self.said: set[str] = set()  # texts that were on main, and stay in its history
        self.dirty: dict[str, str] = {}

    def _open(self) -> MemoryStore:
        return MemoryStore.open(self.root, clock=lambda: self.now)

    def teardown(self) -> None:
        for hand in self.hands:
            hand.close()
        for file in (self.root / ".git" / "gitmem").glob("cache.sqlite*"):
            file.unlink()
        with self._open() as fresh:
            self._agree(fresh)
            if not self.lost and not self.strays:
                report = fresh.fsck()
                assert report.ok, report.problems
        self._rejected_is_nowhere()
        shutil.rmtree(self.root)

    # --- what the steps have in common ---------------------------------------------------------

    def _moved(self) -> Main:
        """Main went on by one commit, which passed over the strays; the model follows."""
        oid = rev(self.root, "main")
        assert oid not in self.commits
        self.main = self.commits[oid] = self.main.child(oid)
        self.strays, self.stray_texts = [], {}
        return self.main

    def _blobs(self) -> dict[str, str]:
        return blobs(self.root, self.main.oid)

    def _read(self, proposal: str, kind: str, texts: dict[str, str | None]) -> Proposed:
        """Take in a branch as plain git shows it: what it stands on, and what it changes there."""
        ref = f"refs/heads/proposals/{proposal}"
        bases = trailers(self.root, ref, "Base")
        now, then = blobs(self.root, bases[0]), blobs(self.root, ref)
        old = {name: now.get(name) for name in texts}
        new = {name: then.get(name) for name in texts}
        assert {name for name in now.keys() | then.keys() if now.get(name) != then.get(name)} == (
            texts.keys()
        )
        return Proposed(proposal, kind, texts, old, new, tuple(bases))

    def _is_on_main(self, proposed: Proposed) -> bool:
        return set(proposed.bases) <= {one.oid for one in self.main.chain()}

    def _is_stale(self, proposed: Proposed) -> bool:
        now = self._blobs()
        return any(now.get(name) != blob for name, blob in proposed.old.items())

    def _merge(self, proposed: Proposed, oid: str) -> None:
        main = self._moved()
        assert main.oid == oid
        main.apply(proposed.texts, bury=proposed.kind == "forget")
        main.decided[proposed.id] = "merged"
        self.said |= {text for text in proposed.texts.values() if text}
        self.open.pop(proposed.id, None)
        self.merged[proposed.id] = proposed

    def _own(
        self, result: ProposalResult, texts: dict[str, str | None], kind: str, person: str
    ) -> None:
        """A person's own change was merged at once, or waits for the second person."""
        assert result.proposal
        if self.main.two:
            assert (result.state, result.merge) == ("waiting", None)
            own = self._read(result.proposal, kind, texts)
            self.open[result.proposal] = replace(own, by=person)
            return
        assert result.state == "merged" and result.merge
        before, after = self._blobs(), blobs(self.root, result.merge)
        old = {name: before.get(name) for name in texts}
        new = {name: after.get(name) for name in texts}
        own = Proposed(result.proposal, kind, texts, old, new, (self.main.oid,), person)
        self._merge(own, result.merge)

    def _pick(self, found: dict[str, Proposed], number: int) -> Proposed:
        return list(found.values())[number % len(found)]

    def _refuses(self, kind: type[GitmemError], call: Callable[[], object]) -> GitmemError:
        before = plain(self.root, "for-each-ref", "refs/heads")
        with pytest.raises(kind) as caught:
            call()
        assert plain(self.root, "for-each-ref", "refs/heads") == before
        return caught.value

    # --- a program proposes ----------------------------------------------------------------------

    @rule(hand=hands, asked=st.dictionaries(names, forms, min_size=1, max_size=2))
    def propose(self, hand: int, asked: dict[str, int]) -> None:
        texts = {name: TEXTS[name][form] for name, form in asked.items()}
        waiting = {
            text
            for one in self.open.values()
            if self._is_on_main(one)
            for text in one.texts.values()
        }
        stands = {
            name: text
            for name, text in texts.items()
            if text not in self.main.texts.values()
            and text not in waiting
            and key_of(text) not in self.main.tombs
        }
        result = self.hands[hand].propose(
            change_set([user(text) for text in texts.values()], *_items(texts))
        )
        assert {one.name for one in result.dropped} == texts.keys() - stands.keys()
        assert (result.proposal is None) == (not stands)
        if result.proposal:
            self.open[result.proposal] = self._read(result.proposal, "extract", dict(stands))

    @rule(hand=hands, name=names)
    def propose_to_retire(self, hand: int, name: str) -> None:
        retire = [{"name": name, "reason": "gone"}]
        result = self.hands[hand].propose(change_set([user("It is gone.")], retire=retire))
        assert (result.proposal is None) == (name not in self.main.texts)
        if result.proposal:
            self.open[result.proposal] = self._read(result.proposal, "extract", {name: None})

    # --- a person decides ------------------------------------------------------------------------

    @precondition(lambda self: self.open)
    @rule(hand=hands, number=which, person=people)
    def approve(self, hand: int, number: int, person: str) -> None:
        one = self._pick(self.open, number)

        def call() -> MergeResult:
            return self.hands[hand].approve(one.id, person=person)

        if not self._is_decidable(one, person, call):
            return
        self._merge(one, call().commit)

    def _is_decidable(self, one: Proposed, person: str, call: Callable[[], object]) -> bool:
        """Whether this person may approve it; else ``call`` is refused."""
        if not self._is_on_main(one):
            self._refuses(InvalidInput, call)
        elif self._is_stale(one):
            self._refuses(Waiting, call)
        elif self.main.two and one.by == person:
            self._refuses(Refused, call)
        else:
            return True
        return False

    @precondition(lambda self: any(len(one.texts) > 1 for one in self.open.values()))
    @rule(hand=hands, number=which, person=people, first=st.booleans(), no=st.booleans())
    def approve_part(self, hand: int, number: int, person: str, first: bool, no: bool) -> None:
        several = {key: one for key, one in self.open.items() if len(one.texts) > 1}
        whole = self._pick(several, number)
        chosen, other = sorted(whole.texts)[:: 1 if first else -1][:2]

        def call() -> MergeResult:
            return self.hands[hand].approve_part(
                whole.id, only=[chosen], rejected=[other] if no else [], person=person
            )

        if not self._is_decidable(whole, person, call):
            return
        done = call()
        del self.open[whole.id]
        self.kept[whole.id] = whole
        if no:
            rejection = self.main.child(rev(self.root, "main^"))
            self._bury(rejection, whole.without(set(whole.texts) - {other}))
            self.main = self.commits[rejection.oid] = rejection
        part = whole.without(set(whole.texts) - {chosen})
        self._merge(replace(part, id=done.proposal), done.commit)

    def _bury(self, main: Main, rejected: Proposed) -> None:
        main.tombs |= {key_of(text) for text in rejected.texts.values() if text}
        main.decided[rejected.id] = "rejected"

    @precondition(lambda self: self.open)
    @rule(hand=hands, number=which, person=people)
    def reject(self, hand: int, number: int, person: str) -> None:
        one = self._pick(self.open, number)

        def call() -> MergeResult:
            return self.hands[hand].reject(one.id, reason="不要", person=person)

        if self.strays and one.kind == "adopt":
            self._refuses(Refused, call)
            return
        call()
        self._bury(self._moved(), one)
        del self.open[one.id]
        self.kept[one.id] = one

    @precondition(lambda self: self.open)
    @rule(hand=hands, number=which)
    def rebase(self, hand: int, number: int) -> None:
        one = self._pick(self.open, number)
        now = self._blobs()
        done = {n for n, blob in one.new.items() if blob == now.get(n)}
        left = one.without(done)
        result = self.hands[hand].rebase(one.id)
        if not self._is_on_main(one):
            self.kept.setdefault(one.id, one)
        if not left.texts:
            assert (result.proposal, result.state) == (None, "superseded")
            del self.open[one.id]
            self.kept[one.id] = one
            return
        assert result.proposal == one.id and result.state in ("open", "waiting")
        again = self._read(one.id, one.kind, left.texts)
        assert again.bases[0] == self.main.oid
        self.open[one.id] = replace(again, by=one.by)

    @precondition(lambda self: self.kept)
    @rule(hand=hands, number=which)
    def reopen(self, hand: int, number: int) -> None:
        one = self._pick(self.kept, number)
        memory = self.hands[hand]
        if one.id in self.open:
            self._refuses(Refused, lambda: memory.reopen(one.id))
            return
        now = self._blobs()
        left = one.without({n for n, blob in one.new.items() if blob == now.get(n)})
        result = memory.reopen(one.id)
        if one.id not in self.main.decided:
            assert result.proposal == one.id
            self.open[one.id] = self._read_again(self.kept.pop(one.id), result)
        elif not left.texts:
            assert (result.proposal, result.state) == (None, "nothing")
        else:
            assert result.proposal and result.proposal not in (*self.open, *self.kept)
            again = self._read(result.proposal, one.kind, left.texts)
            self.open[result.proposal] = replace(again, by=one.by)

    @precondition(lambda self: self.merged)
    @rule(hand=hands, number=which, person=people)
    def revert(self, hand: int, number: int, person: str) -> None:
        one = self._pick(self.merged, number)
        memory = self.hands[hand]
        if self.main.decided.get(one.id) != "merged":
            self._refuses(NotFound, lambda: memory.revert(one.id, person=person))
            return
        at = next(m for m in self.main.chain() if m.before and one.id not in m.before.decided)
        assert at.before
        then, now = at.before.texts, self.main.texts
        texts = {
            name: then.get(name)
            for name in one.texts
            if now.get(name) == one.texts[name] != then.get(name)
        }
        try:
            result = memory.revert(one.id, person=person)
        except Refused:
            assert not texts or self._blobs_differ(one, texts)
            return
        before = dict(self.main.texts)
        undone = {**{name: before.get(name) for name in _named(result)}, **texts}
        self._own(result, undone, "revert", person)

    def _blobs_differ(self, one: Proposed, texts: dict[str, str | None]) -> bool:
        """Whether something else than the text of each of them was changed since."""
        now = self._blobs()
        return all(now.get(name) != one.new[name] for name in texts)

    # --- a person's own changes ------------------------------------------------------------------

    @rule(hand=hands, name=names, form=forms, person=people)
    def remember(self, hand: int, name: str, form: int, person: str) -> None:
        text, memory = TEXTS[name][form], self.hands[hand]

        def call() -> ProposalResult:
            return memory.remember(text, name=name, type="project", description=text, person=person)

        if name in self.main.texts:
            self._refuses(Refused, call)
        else:
            self._own(call(), {name: text}, "remember", person)

    @rule(hand=hands, name=names, form=forms, person=people)
    def edit(self, hand: int, name: str, form: int, person: str) -> None:
        text, memory = TEXTS[name][form], self.hands[hand]

        def call() -> ProposalResult:
            return memory.edit(name, body=text, description=text, person=person)

        if name not in self.main.texts:
            self._refuses(NotFound, call)
        elif self.main.texts[name] == text:
            self._refuses(Usage, call)
        else:
            self._own(call(), {name: text}, "edit", person)

    @rule(hand=hands, name=names, person=people)
    def forget(self, hand: int, name: str, person: str) -> None:
        memory = self.hands[hand]
        if name not in self.main.texts:
            self._refuses(NotFound, lambda: memory.forget(name, person=person))
        else:
            self._own(memory.forget(name, person=person), {name: None}, "forget", person)

    @rule(hand=hands, value=st.integers(1, 3), person=people)
    def set_policy(self, hand: int, value: int, person: str) -> None:
        result = self.hands[hand].set_policy("rounds", str(value), person=person)
        assert result.state == ("unchanged" if self.main.rounds == str(value) else "decided")
        if result.state == "decided":
            self._moved().rounds = str(value)

    @rule(hand=hands, person=people, two=st.sampled_from((True, False, False)))
    def ask_for_two(self, hand: int, person: str, two: bool) -> None:
        result = self.hands[hand].set_policy("two_person", str(two).lower(), person=person)
        assert result.state == ("unchanged" if self.main.two == two else "decided")
        if result.state == "decided":
            self._moved().two = two

    # --- by hand ---------------------------------------------------------------------------------

    @precondition(lambda self: self.main.texts)
    @rule(name=names, form=forms)
    def edit_a_file(self, name: str, form: int) -> None:
        """A person rewrites a record's file, once, and leaves it so."""
        text = TEXTS[name][form]
        if name in self.dirty or self.main.texts.get(name) in (None, text) or self.strays:
            return
        self._write(name, text)
        self.dirty[name] = text

    def _file(self, name: str) -> Path:
        return self.root / "records" / "project" / f"{name}.md"

    def _write(self, name: str, text: str) -> None:
        file = self._file(name)
        file.write_text(file.read_text().replace(self.main.texts[name], text))

    @precondition(lambda self: self.dirty or self.stray_texts)
    @rule(hand=hands, person=people)
    def adopt(self, hand: int, person: str) -> None:
        by_hand = {**self.stray_texts, **self.dirty}
        result = self.hands[hand].adopt(person=person)
        if result.proposal is None or result.proposal in self.open:
            return
        adopted: dict[str, str | None] = {name: by_hand[name] for name in _named(result)}
        new = self._read(result.proposal, "adopt", adopted)
        self.open[result.proposal] = replace(new, by=person)

    @precondition(lambda self: self.dirty)
    @rule()
    def discard(self) -> None:
        plain(self.root, "-c", "core.hooksPath=", "checkout", "-q", "--force", "HEAD", "--", ".")
        plain(self.root, "clean", "-q", "-d", "--force")  # where main has retired it meanwhile
        self.dirty.clear()

    @precondition(lambda self: self.main.texts and not self.dirty)
    @rule(name=names, form=forms)
    def commit_by_hand(self, name: str, form: int) -> None:
        text = TEXTS[name][form]
        if self.main.texts.get(name) in (None, text) or self.strays:
            return
        self._write(name, text)
        plain(self.root, "-c", "core.hooksPath=", "commit", "-qam", "by hand")
        self.strays.append(rev(self.root, "main"))
        self.stray_texts[name] = text
        self.said.add(text)  # the commit stays in the history of main

    @precondition(lambda self: self.main.before)
    @rule(back=st.integers(1, 4))
    def set_main_back(self, back: int) -> None:
        self.lost.append(self.main)
        chain = self.main.chain()
        self.main = chain[min(back, len(chain) - 1)]
        plain(self.root, "-c", "core.hooksPath=", "reset", "-q", "--hard", self.main.oid)
        self.strays, self.stray_texts, self.dirty = [], {}, {}

    @precondition(lambda self: self.lost or self.strays)
    @rule(hand=hands)
    def repair(self, hand: int) -> None:
        """What comes back is read from git; that nothing is lost is what has to hold."""
        before = self.main
        memory = self.hands[hand]
        report = memory.fsck(repair=True)
        again = memory.fsck(repair=True)
        assert again.repaired == (), (report, memory.notes)
        assert again.problems == report.problems
        # Only what contradicts a decision about the policy is left to the person.
        assert all("kept/main-" in problem.where for problem in report.problems)
        self.strays, self.stray_texts = [], {}
        self._follow_the_repair(memory)
        for line in self.lost:
            self._is_not_lost(line, before)
        if report.ok:
            self.lost = []

    def _follow_the_repair(self, memory: MemoryStore) -> None:
        for oid in plain(self.root, "rev-list", "--reverse", "--first-parent", "main").split():
            if oid not in self.commits:
                self.commits[oid] = read_main(self.root, oid, self.main)
                self.said.update(self.commits[oid].texts.values())
                self._merged_again(self.commits[oid])
            self.main = self.commits[oid]
        for one in memory.proposals():
            known = self.open.get(one.id) or self.merged[one.id]
            self.open[one.id] = self._read_again(known, one)
        for name in self.main.decided.keys() & self.open.keys():
            self.kept[name] = self.open.pop(name)

    def _merged_again(self, main: Main) -> None:
        (name,) = trailers(self.root, main.oid, "Proposal-Id", newest=1) or [""]
        one = self.merged.get(name)
        if one is None or main.before is None:
            return
        before, after = blobs(self.root, main.before.oid), blobs(self.root, main.oid)
        names = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
        self.merged[one.id] = replace(
            one,
            texts={name: main.texts.get(name) for name in names},
            old={name: before.get(name) for name in names},
            new={name: after.get(name) for name in names},
        )

    def _read_again(self, known: Proposed, one: ProposalSummary | ProposalResult) -> Proposed:
        """A proposal that was opened again, in whichever of its forms that was."""
        texts: dict[str, str | None] = {
            record.name: None if record.change == "retired" else record.description
            for record in one.records
        }
        return replace(self._read(known.id, known.kind, texts), by=known.by)

    def _is_not_lost(self, line: Main, before: Main) -> None:
        fork = next(one for one in line.chain() if one in before.chain())
        waiting = {text for one in self.open.values() for text in one.texts.values()}
        kept = objects(self.root, "--all")
        for name, text in line.texts.items():
            assert text.encode() in kept
            is_theirs = before.texts.get(name) != fork.texts.get(name)
            if text != fork.texts.get(name) and not is_theirs and len(self.lost) == 1:
                assert text in waiting or self.main.texts.get(name) == text

    @rule(hand=hands)
    def forget_the_projection(self, hand: int) -> None:
        self.hands[hand].close()
        for file in (self.root / ".git" / "gitmem").glob("cache.sqlite*"):
            file.unlink()
        self.hands[hand] = self._open()

    # --- what must hold --------------------------------------------------------------------------

    @invariant()
    def the_memory_is_the_model(self) -> None:
        self.now += 1
        for hand in self.hands:
            self._agree(hand)

    def _agree(self, memory: MemoryStore) -> None:
        assert {one.name: one.description for one in memory.list()} == self.main.texts
        found = {one.id: one for one in memory.proposals()}
        assert found.keys() == self.open.keys()
        for one in self.open.values():
            is_stale = not self._is_on_main(one) or self._is_stale(one)
            states = ("stale",) if is_stale else ("waiting", "open")
            assert found[one.id].state in states, found[one.id]
            if self._is_on_main(one):
                shown = memory.diff(one.id)
                assert {record.name for record in shown.records} == one.texts.keys()
        assert {one.id for one in memory.kept()} >= self.kept.keys()

    @invariant()
    def the_files_are_what_is_remembered(self) -> None:
        status = plain(self.root, "status", "--porcelain", "--untracked-files=all").splitlines()
        assert {line.split()[-1] for line in status} <= {
            f"records/project/{name}.md" for name in self.dirty
        }, status
        view = (self.root / "MEMORY.md").read_text()
        listed = {line.split("]")[0][3:] for line in view.splitlines() if line.startswith("- [")}
        assert self.strays or listed == self.main.texts.keys()
        tombs = {
            path.parent.name + path.stem for path in (self.root / "tombstones").rglob("*.json")
        }
        assert self.strays or tombs == self.main.tombs

    def _rejected_is_nowhere(self) -> None:
        sent = objects(self.root, "--branches")
        waiting = {text for one in self.open.values() for text in one.texts.values()}
        for one in self.kept.values():
            for text in one.texts.values():
                if text and text not in self.said | waiting:
                    assert text.encode() not in sent


def _items(texts: dict[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "type": "project",
            "description": text,
            "body": text,
            "evidence": [{"message": number, "quote": text}],
        }
        for number, (name, text) in enumerate(texts.items())
    ]


def _named(result: ProposalResult) -> list[str]:
    return [effect.name for effect in result.records]


def test_whatever_is_done_in_whatever_order_the_memory_is_the_model(
    _empty: Path, tmp_path: Path, effort: Effort
) -> None:
    class Here(Machine):
        source, folder = _empty, tmp_path

    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        hypothesis.seed(effort.seed)(Here),
        settings=settings(
            max_examples=effort.count(5, 200),
            stateful_step_count=effort.count(25, 60),
            derandomize=not effort.soak,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate,),  # a story of 25 steps is read faster than it is made shorter
        ),
    )
