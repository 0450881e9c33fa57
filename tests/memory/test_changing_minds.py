"""Rebase, revert, a part of a proposal, what is put aside and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.domain.kept import KEPT_DAYS
from gitmem.errors import InvalidInput, NotFound, Refused, Waiting
from gitmem.store.facts import MAX_REBASES
from tests.memory.words import ADA, BEN, DAY, NOW, change_set, item, objects, opened, pushed, user
from tests.store.stories import blob, commit_object, commit_text, plain, rev, tree_with

TABS = "Always use tabs in this project."
CLOUD = "用户服务器部署在腾讯云国内节点。"


def record(name: str, text: str, **other: Any) -> dict[str, Any]:
    kind = {"type": "feedback", "name": name, "description": text[:60], "body": text}
    return item(text, **{**kind, **other})


def proposed(memory: MemoryStore, **texts: str) -> str:
    """Propose records by name (with _ for -), each quoting a message of its own."""
    names = {name.replace("_", "-"): text for name, text in texts.items()}
    records = [
        record(name, text, evidence=[{"message": n, "quote": text}])
        for n, (name, text) in enumerate(names.items())
    ]
    result = memory.propose(change_set([user(text) for text in names.values()], *records))
    assert result.proposal, result
    return result.proposal


@pytest.fixture
def two(memory: MemoryStore) -> Iterator[tuple[MemoryStore, str]]:
    """A memory with one open proposal of two records."""
    yield memory, proposed(memory, use_tabs=TABS, cloud=CLOUD)


def bodies(memory: MemoryStore) -> dict[str, str]:
    return {line.name: memory.show(line.name).body.strip() for line in memory.list()}


# --- rebase ----------------------------------------------------------------------------------


def test_a_real_overlap_is_put_on_the_new_form_and_needs_a_new_review(memory: MemoryStore) -> None:
    memory.remember("The port is 8080.", name="port", type="feedback", person=ADA)
    stale = proposed(memory, port="The port is 9090 in every environment.")
    memory.edit("port", body="The port is 8081.", person=BEN)
    with pytest.raises(Waiting, match="stale"):
        memory.approve(stale, person=ADA)
    result = memory.rebase(stale)
    assert (result.proposal, result.state) == (stale, "waiting")
    (shown,) = memory.diff(stale).records
    assert "8081" in shown.before and "9090" in shown.after
    memory.approve(stale, person=ADA)
    assert "9090" in bodies(memory)["port"]
    assert memory.fsck().ok


def test_a_review_of_what_did_not_change_survives_a_rebase(
    memory: MemoryStore, tmp_path: Path
) -> None:
    """Approved here, main moved away by a person: the approval stays with the change."""
    memory.remember("说中文。", name="language", type="user", person=ADA)
    before = rev(memory.path, "main")
    approved = proposed(memory, use_tabs=TABS)
    memory.approve(approved, person=ADA)
    tip = rev(memory.path, "main^2")
    plain(memory.path, "update-ref", "refs/heads/main", before)
    memory.remember("Ledger first.", name="ledger", type="feedback", person=ADA)
    plain(memory.path, "update-ref", f"refs/heads/proposals/{approved}", tip)
    result = memory.rebase(approved)
    assert result.state == "open", result
    assert len(memory.diff(approved).records) == 1
    memory.approve(approved, person=BEN)
    assert bodies(memory)["use-tabs"] == TABS
    assert memory.fsck().ok


def test_what_main_holds_already_leaves_a_rebased_proposal(memory: MemoryStore) -> None:
    first = proposed(memory, use_tabs=TABS)
    change = change_set(
        [user(TABS)], record("use-tabs", TABS), record("tabs-again", TABS + " Now.")
    )
    assert memory.propose(change).proposal != first
    memory.approve(first, person=ADA)
    gone = proposed(memory, cloud=CLOUD)
    memory.reject(gone, reason="not yet", person=ADA)
    assert "use-tabs" in bodies(memory)


def test_a_proposal_that_main_has_overtaken_is_put_aside_with_its_reason(
    memory: MemoryStore,
) -> None:
    memory.remember("The port is 8080.", name="port", type="project", person=ADA)
    retire = [{"name": "port", "reason": "the service is gone"}]
    proposal = memory.propose(change_set([user("The service is gone.")], retire=retire)).proposal
    assert proposal
    memory.forget("port", person=BEN)
    assert [line.state for line in memory.proposals()] == ["stale"]
    result = memory.rebase(proposal)
    assert (result.proposal, result.state) == (None, "superseded")
    assert memory.proposals() == []
    assert any("main says all of it" in note for note in memory.notes)
    assert [(kept.id, kept.state) for kept in memory.kept()] == [(proposal, "emptied")]


def test_what_is_said_of_a_record_that_was_retired_meanwhile_comes_with_its_own_quotes(
    memory: MemoryStore,
) -> None:
    first = proposed(memory, port="The port of the server is 8080.")
    memory.approve(first, person=ADA)
    newer = "The port of the server is 9090 now."
    cited = [{"message": 0, "quote": newer}]
    revised = memory.propose(change_set([user(newer)], record("port", newer, evidence=cited)))
    assert revised.proposal
    memory.forget("port", person=BEN)
    assert memory.rebase(revised.proposal).state == "waiting"
    memory.approve(revised.proposal, person=ADA)
    assert [quote.quote for quote in memory.show("port").evidence] == [newer]
    assert memory.fsck().ok


@pytest.mark.parametrize("where", ["leak/secret.txt", "records/user/secret.md"])
def test_a_rebase_brings_nothing_into_history_that_was_not_looked_at(
    two: tuple[MemoryStore, str], where: str
) -> None:
    """A branch whose first form held more than its last one: the rest would come along."""
    memory, proposal = two
    root, ref = memory.path, f"refs/heads/proposals/{proposal}"
    memory.remember("另一件事也要记住。", name="other", type="user", person=ADA)
    first, checks = plain(root, "rev-list", "--reverse", f"main~1..{ref}").split()
    secret = b"key = AKIA" + b"Q3EGRIJK7ZLBCDEF\n"
    key = blob(root, secret)
    tree = tree_with(root, rev(root, f"{first}^{{tree}}"), {where: ("100644", key)})
    text = commit_text(root, first).replace(rev(root, f"{first}^{{tree}}"), tree)
    bad = commit_object(root, text)
    base = rev(root, f"{first}~1")
    message = f"rebase it\n\nRebase: {proposal}\nBase: {base}"
    args = ["-p", bad, "-p", base, "-m", message]
    rebased = plain(root, "commit-tree", rev(root, f"{first}^{{tree}}"), *args).strip()
    text = commit_text(root, checks).replace(first, rebased)
    plain(root, "update-ref", ref, commit_object(root, text))
    with pytest.raises((InvalidInput, Refused)):
        memory.approve(proposal, person=ADA)
    assert [line.name for line in memory.list()] == ["other"]


def test_an_edited_type_gives_an_added_record_its_place(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    shown = next(r for r in memory.diff(proposal).records if r.name == "use-tabs")
    text = shown.after.replace('type: "feedback"', 'type: "user"').encode()
    memory.approve_part(proposal, only=["use-tabs"], texts={"use-tabs": text}, person=ADA)
    assert memory.show("use-tabs").summary.type == "user"
    assert (memory.path / "records" / "user" / "use-tabs.md").exists()


def test_a_no_in_between_is_not_overridden_by_a_yes_to_a_part(
    two: tuple[MemoryStore, str],
) -> None:
    """Ben rejects it while Ada is asked about her own wording."""
    memory, proposal = two
    shown = next(r for r in memory.diff(proposal).records if r.name == "cloud")
    text = shown.after.replace("腾讯云国内节点", "腾讯云的国内节点").encode()

    def meanwhile(diff: Any) -> bool:
        with opened(memory.path) as other:
            other.reject(proposal, reason="不对", person=BEN)
        return True

    with pytest.raises(NotFound, match="rejected"):
        memory.approve_part(
            proposal, only=["cloud"], texts={"cloud": text}, person=ADA, confirm=meanwhile
        )
    assert memory.list() == [] and memory.proposals() == []
    assert len(list((memory.path / "tombstones").rglob("*.json"))) == 2
    assert memory.fsck().ok


def test_a_rejection_is_of_what_was_read(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    with pytest.raises(Refused, match="changed while you were reading"):
        memory.reject(proposal, reason="no", person=ADA, expected_change="0" * 64)
    memory.reject(proposal, reason="no", person=ADA, expected_change=memory.diff(proposal).change)


def test_all_of_a_proposal_is_merged_as_that_proposal(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    whole = memory.approve_part(proposal, only=["use-tabs", "cloud"], person=ADA)
    assert whole.proposal == proposal and memory.kept() == []


def test_a_rebase_of_another_proposal_or_a_false_base_makes_a_branch_unreadable(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    root, ref = memory.path, f"refs/heads/proposals/{two[1]}"
    memory.remember("另一件事也要记住。", name="other", type="user", person=ADA)
    tip, base = rev(root, ref), rev(root, "main")
    tree = rev(root, f"{ref}^{{tree}}")
    for trailers, parents in (
        (f"Rebase: extract-20260101-000000\nBase: {base}", (tip, base)),
        (f"Rebase: {proposal}\nBase: {base}", (tip,)),
        (f"Rebase: {proposal}\nBase: {tip}", (tip, base)),
        (f"Rebase: {proposal}\nBase: {tip}", (tip, tip)),
    ):
        args = [arg for parent in parents for arg in ("-p", parent)]
        forged = plain(root, "commit-tree", tree, *args, "-m", f"rebase it\n\n{trailers}").strip()
        plain(root, "update-ref", ref, forged)
        (line,) = memory.proposals()
        assert line.state in ("inconclusive", "stale"), trailers
        with pytest.raises((InvalidInput, Refused, Waiting)):
            memory.approve(proposal, person=ADA)
    assert [line.name for line in memory.list()] == ["other"]


# --- a part ----------------------------------------------------------------------------------


def test_a_part_is_merged_as_a_proposal_of_its_own_and_the_whole_is_kept(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    done = memory.approve_part(proposal, only=["cloud"], person=ADA)
    assert done.state == "merged" and done.proposal != proposal
    assert bodies(memory) == {"cloud": CLOUD}
    assert memory.proposals() == []
    (kept,) = memory.kept()
    assert (kept.id, kept.state) == (proposal, "superseded")
    assert done.proposal in kept.reason
    assert TABS.encode() not in pushed(memory.path)
    assert TABS.encode() in objects(memory.path, f"refs/gitmem/kept/{proposal}")
    assert memory.fsck().ok


def test_a_text_in_a_persons_words_is_theirs_and_keeps_the_quotes(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    shown = next(r for r in memory.diff(proposal).records if r.name == "use-tabs")
    text = shown.after.replace(f"\n{TABS}", "\n缩进一律用制表符，不用空格。").encode()
    done = memory.approve_part(
        proposal, only=["use-tabs", "cloud"], texts={"use-tabs": text}, person=ADA
    )
    assert bodies(memory)["use-tabs"] == "缩进一律用制表符，不用空格。"
    (entry,) = memory.why("use-tabs").history
    assert entry.proposed_by == f"human:{ADA}" and entry.proposal == done.proposal
    assert [quote.quote for quote in memory.show("use-tabs").evidence] == [TABS]
    assert TABS in memory.show("use-tabs").evidence[0].quote
    assert memory.fsck().ok


def test_who_rewords_is_not_the_second_person(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    memory.set_policy("two_person", "true", person=BEN)
    shown = next(r for r in memory.diff(proposal).records if r.name == "cloud")
    text = shown.after.replace("腾讯云国内节点", "腾讯云的国内节点").encode()
    done = memory.approve_part(proposal, only=["cloud"], texts={"cloud": text}, person=ADA)
    assert done.state == "waiting" and bodies(memory) == {}
    memory.approve(done.proposal, person=BEN)
    assert list(bodies(memory)) == ["cloud"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("use-tabs", "no-tabs"), "not renamed"),
        (lambda text: text.replace('- "', '- "' + "0" * 40 + '"\n- "', 1), "not proposed for it"),
        (lambda text: "not a record", "frontmatter|begins|---"),
        (lambda text: text.replace("feedback", "opinion"), "opinion"),
    ],
)
def test_a_text_that_cannot_be_one_of_the_proposal_changes_nothing(
    two: tuple[MemoryStore, str], change: Any, said: str
) -> None:
    memory, proposal = two
    before = rev(memory.path, "main"), rev(memory.path, f"proposals/{proposal}")
    shown = next(r for r in memory.diff(proposal).records if r.name == "use-tabs")
    with pytest.raises((InvalidInput, Refused), match=said):
        memory.approve_part(
            proposal,
            only=["use-tabs"],
            texts={"use-tabs": change(shown.after).encode()},
            person=ADA,
        )
    assert (rev(memory.path, "main"), rev(memory.path, f"proposals/{proposal}")) == before
    with pytest.raises(NotFound, match="does not touch no-such"):
        memory.approve_part(proposal, only=["no-such"], person=ADA)
    assert memory.kept() == []


def test_what_is_deleted_is_rejected_for_good_and_the_rest_is_merged(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    memory.approve_part(proposal, only=["cloud"], rejected=["use-tabs"], person=ADA)
    again = memory.propose(change_set([user(TABS)], record("use-tabs", TABS)))
    assert again.proposal is None and "rejected" in again.dropped[0].reason
    assert bodies(memory) == {"cloud": CLOUD}
    assert [kept.state for kept in memory.kept()] == ["rejected"]
    assert memory.fsck().ok


def test_a_persons_own_words_are_not_put_in_other_words_over_the_old_quotes(
    memory: MemoryStore,
) -> None:
    memory.set_policy("two_person", "true", person=BEN)
    waiting = memory.remember("只有这里写过的词。", name="mine", type="user", person=ADA)
    assert waiting.proposal and waiting.state == "waiting"
    (shown,) = memory.diff(waiting.proposal).records
    text = shown.after.replace("只有这里写过的词", "别的词").encode()
    with pytest.raises(Refused, match="own words"):
        memory.approve_part(waiting.proposal, only=["mine"], texts={"mine": text}, person=BEN)
    assert memory.list() == []


def test_what_a_stray_holds_is_rejected_once_it_is_off_main(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    plain(memory.path, "merge", "-q", "--no-ff", "--no-edit", f"proposals/{proposal}")
    with opened(memory.path) as fresh:
        with pytest.raises(Refused, match="stray") as caught:
            fresh.reject(proposal, reason="no", person=ADA)
        assert "fsck --repair" in caught.value.hint
        fresh.fsck(repair=True)
        fresh.reject(proposal, reason="no", person=ADA)
    assert TABS.encode() not in pushed(memory.path)


# --- revert ----------------------------------------------------------------------------------


def test_a_revert_takes_back_what_a_merge_did_and_keeps_what_came_later(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    memory.approve(proposal, person=ADA)
    memory.edit("cloud", body="用户服务器部署在阿里云。", person=BEN)
    result = memory.revert(proposal, person=ADA)
    assert result.state == "merged"
    assert bodies(memory) == {"cloud": "用户服务器部署在阿里云。"}
    assert [dropped.name for dropped in result.dropped] == ["cloud"]
    assert "changed again by edit-" in result.dropped[0].reason
    with pytest.raises(Refused, match=r"nothing of .* can be undone"):
        memory.revert(proposal, person=ADA)
    assert memory.fsck().ok


def test_the_fields_that_nobody_touched_since_go_back(memory: MemoryStore) -> None:
    memory.remember("The port is 8080.", name="port", type="project", person=ADA)
    second = memory.edit("port", description="Which port we use", person=ADA)
    memory.edit("port", body="The port is 8081.", person=BEN)
    assert second.proposal
    memory.revert(second.proposal, person=ADA)
    shown = memory.show("port")
    assert shown.summary.description == "The port is 8080."
    assert shown.body.strip() == "The port is 8081."


def test_a_forget_can_be_reverted_and_its_tombstone_goes(memory: MemoryStore) -> None:
    memory.remember("短句。", name="short", type="user", person=ADA)
    before = memory.show("short")
    forgotten = memory.forget("short", reason="by mistake", person=ADA)
    assert forgotten.proposal and forgotten.merge
    result = memory.revert(forgotten.merge[:10], person=ADA)
    assert result.state == "merged"
    after = memory.show("short")
    assert (after.body, after.evidence) == (before.body, before.evidence)
    assert not any(path.is_file() for path in (memory.path / "tombstones").rglob("*"))
    assert memory.fsck().ok


def test_what_is_no_merge_cannot_be_reverted(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    memory.reject(proposal, reason="no", person=ADA)
    decision = memory.log()[0]
    with pytest.raises(Refused, match="is a decision") as caught:
        memory.revert(decision.change, person=ADA)
    assert "gitmem reopen" in caught.value.hint
    with pytest.raises(Refused, match="genesis"):
        memory.revert(memory.log()[-1].commit, person=ADA)
    for unknown in ("", "extract-19990101-000000", "没有"):
        with pytest.raises(NotFound, match="no merge"):
            memory.revert(unknown, person=ADA)


def test_a_revert_that_is_declined_writes_nothing(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    memory.approve(proposal, person=ADA)
    before = plain(memory.path, "for-each-ref")
    seen = []

    def no(diff: Any) -> bool:
        seen.extend(record.change for record in diff.records)
        return False

    assert memory.revert(proposal, person=ADA, confirm=no).state == "declined"
    assert seen == ["retired", "retired"]
    assert plain(memory.path, "for-each-ref") == before


# --- kept and reopened -----------------------------------------------------------------------


def test_what_was_rejected_is_listed_with_its_reason_and_proposed_again_under_a_new_id(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    memory.reject(proposal, reason="还没定", person=ADA)
    (kept,) = memory.kept()
    assert (kept.id, kept.state, kept.reason) == (proposal, "rejected", "还没定")
    assert kept.by == f"human:{ADA}"
    assert [effect.name for effect in kept.records] == ["cloud", "use-tabs"]
    result = memory.reopen(proposal[:-1])
    assert result.proposal not in (None, proposal) and result.state == "waiting"
    assert {finding.code for finding in result.findings} >= {"tombstone"}
    memory.approve(str(result.proposal), person=BEN)
    assert set(bodies(memory)) == {"cloud", "use-tabs"}
    assert not any(path.is_file() for path in (memory.path / "tombstones").rglob("*"))
    assert memory.fsck().ok


def test_what_was_put_aside_undecided_comes_back_as_it_was(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    tip = rev(memory.path, f"proposals/{proposal}")
    memory.approve_part(proposal, only=["cloud"], person=ADA)
    result = memory.reopen(proposal)
    assert (result.proposal, result.state) == (proposal, "stale")
    assert rev(memory.path, f"proposals/{proposal}") == tip
    assert memory.kept() == []
    with pytest.raises(NotFound, match="no kept proposal"):
        memory.reopen(proposal)
    memory.rebase(proposal)
    memory.approve(proposal, person=ADA)
    assert set(bodies(memory)) == {"cloud", "use-tabs"}
    assert memory.fsck().ok


def test_what_is_kept_goes_after_ninety_days_and_not_before(two: tuple[MemoryStore, str]) -> None:
    memory, proposal = two
    memory.reject(proposal, reason="no", person=ADA)
    for days, left in ((KEPT_DAYS - 1, [proposal]), (KEPT_DAYS + 1, [])):
        with opened(memory.path, NOW + days * DAY) as later:
            later.propose(change_set([user(f"Day {days} of the project.")]))
            assert [kept.id for kept in later.kept()] == left


def test_a_rejected_text_is_in_no_object_that_a_push_would_send(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    memory.approve_part(proposal, only=["cloud"], rejected=["use-tabs"], person=ADA)
    other = proposed(memory, secretive="Never say the word xylophone in a commit.")
    memory.reject(other, reason="nonsense", person=ADA)
    sent = pushed(memory.path)
    assert CLOUD.encode() in sent
    assert TABS.encode() not in sent and b"xylophone" not in sent
    assert b"xylophone" in objects(memory.path)


# --- a main that was moved -------------------------------------------------------------------


def test_a_main_that_was_set_back_is_told_and_what_it_held_is_kept(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    memory.approve(proposal, person=ADA)
    lost = rev(memory.path, "main")
    plain(memory.path, "reset", "-q", "--hard", "main~1")
    with opened(memory.path) as fresh:
        assert fresh.list() == []
        assert any("moved away" in note and lost[:12] in note for note in fresh.notes)
        assert rev(fresh.path, f"refs/gitmem/kept/main-{lost[:12]}") == lost
        assert fresh.kept() == []
    with opened(memory.path) as again:
        again.list()
        assert not any("moved away" in note for note in again.notes)
        again.remember("之后又记了一件事。", name="later", type="user", person=ADA)
        assert rev(again.path, f"refs/gitmem/kept/main-{lost[:12]}") == lost
    plain(memory.path, "reset", "-q", "--hard", lost)
    with opened(memory.path) as back:
        assert set(bodies(back)) == {"cloud", "use-tabs"}


def test_an_amended_merge_is_a_stray_and_the_merge_itself_is_kept(
    two: tuple[MemoryStore, str],
) -> None:
    memory, proposal = two
    memory.approve(proposal, person=ADA)
    lost = rev(memory.path, "main")
    plain(memory.path, "commit", "-q", "--amend", "--no-verify", "-m", "nicer words")
    with opened(memory.path) as fresh:
        assert fresh.list() == []
        assert rev(fresh.path, f"refs/gitmem/kept/main-{lost[:12]}") == lost
        assert fresh.status().strays == (rev(memory.path, "main"),)


# --- a branch that somebody is looking at ----------------------------------------------------


@pytest.mark.parametrize("how", ["approve", "reject", "part"])
def test_the_branch_that_is_checked_out_stays_until_it_is_left(
    two: tuple[MemoryStore, str], how: str
) -> None:
    memory, proposal = two
    plain(memory.path, "checkout", "-q", f"proposals/{proposal}")
    if how == "approve":
        memory.approve(proposal, person=ADA)
    elif how == "reject":
        memory.reject(proposal, reason="不对", person=ADA)
    else:
        memory.approve_part(proposal, only=["cloud"], person=ADA)
    assert any("is checked out" in note for note in memory.notes)
    assert plain(memory.path, "status", "--porcelain") == ""
    assert plain(memory.path, "symbolic-ref", "HEAD").strip().endswith(proposal)
    with pytest.raises((Refused, NotFound)):
        memory.rebase(proposal)
    plain(memory.path, "checkout", "-q", "main")
    with opened(memory.path) as later:
        if how != "part":
            assert later.proposals() == []
            assert plain(memory.path, "for-each-ref", "refs/heads/proposals") == ""
        assert later.fsck().ok


# --- long stories ------------------------------------------------------------------------------


def test_a_proposal_can_be_put_on_a_newer_commit_any_number_of_times(
    two: tuple[MemoryStore, str],
) -> None:
    """Past the limit of a branch it is written anew; before, it could not be read any more."""
    memory, proposal = two
    root, ref = memory.path, f"refs/heads/proposals/{proposal}"
    tip, tree, base = rev(root, ref), rev(root, f"{ref}^{{tree}}"), rev(root, "main")
    message = f"rebase it\n\nRebase: {proposal}\nBase: {base}"
    for _ in range(MAX_REBASES):
        tip = plain(root, "commit-tree", tree, "-p", tip, "-p", base, "-m", message)
    plain(root, "update-ref", ref, tip)
    for value in ("3", "1"):
        memory.set_policy("rounds", value, person=ADA)
        assert memory.rebase(proposal).state == "waiting"
    memory.approve(proposal, person=ADA)
    assert set(bodies(memory)) == {"cloud", "use-tabs"}
    assert memory.fsck().ok


def test_what_stands_on_a_commit_that_main_has_no_more_is_rejected_for_good(
    memory: MemoryStore,
) -> None:
    memory.remember("说中文。", name="language", type="user", person=ADA)
    proposal = proposed(memory, use_tabs=TABS)
    plain(memory.path, "-c", "core.hooksPath=", "reset", "-q", "--hard", "main~1")
    with opened(memory.path) as fresh:
        with pytest.raises(InvalidInput) as caught:
            fresh.diff(proposal)
        assert caught.value.hint.endswith(f"gitmem rebase {proposal}")
        fresh.reject(proposal, reason="不用", person=BEN)
        again = fresh.propose(change_set([user(TABS)], record("use-tabs", TABS)))
        assert again.proposal is None and "不用" in again.dropped[0].reason
