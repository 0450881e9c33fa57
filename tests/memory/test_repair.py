"""fsck --repair: everything is put right that can be, nothing is lost, and it says what it did."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator

import pytest

from gitmem import MemoryStore
from gitmem.domain.kept import Closing
from gitmem.errors import GitmemError, Refused
from tests.memory.words import ADA, BEN, NOW, change_set, item, objects, opened, user
from tests.store.stories import plain, rev

CLOUD = "用户服务器部署在腾讯云国内节点。"
MADE = "用户喜欢深色主题。"


@pytest.fixture
def known(memory: MemoryStore) -> Iterator[MemoryStore]:
    """A memory of two merges, each of one record."""
    memory.remember(CLOUD, name="cloud", type="project", person=ADA)
    memory.remember(MADE, name="theme", type="user", person=BEN)
    yield memory


def proposed(memory: MemoryStore) -> str:
    text = "The port of the test server is 8081."
    result = memory.propose(change_set([user(text)], item(text, name="port", body=text)))
    assert result.proposal
    return result.proposal


def repaired(memory: MemoryStore) -> list[str]:
    """Repair from a fresh start; then nothing is wrong and a second repair finds nothing."""
    with opened(memory.path) as fresh:
        report = fresh.fsck(repair=True)
        assert report.ok, report.problems
        assert fresh.fsck(repair=True).repaired == ()
        return list(report.repaired)


def names(memory: MemoryStore) -> list[str]:
    with opened(memory.path) as fresh:
        return [line.name for line in fresh.list()]


def setting(memory: MemoryStore, key: str) -> str:
    return next(str(one.value) for one in memory.policy().keys if one.key == key)


def git(memory: MemoryStore, *args: str) -> str:
    # Without the hooks of the store, which would mend some of it at once.
    return plain(memory.path, "-c", "core.hooksPath=", *args)


def test_where_nothing_is_wrong_nothing_is_done(known: MemoryStore) -> None:
    before = plain(known.path, "for-each-ref")
    assert repaired(known) == []
    assert plain(known.path, "for-each-ref") == before


def test_strays_are_taken_off_main_and_can_still_be_adopted(known: MemoryStore) -> None:
    accepted = rev(known.path, "main")
    file = known.path / "records" / "user" / "theme.md"
    file.write_text(file.read_text().replace("深色", "浅色"))
    git(known, "commit", "-qam", "by hand")
    first = rev(known.path, "main")
    git(known, "rm", "-q", "records/project/cloud.md")
    git(known, "commit", "-qm", "by hand, again")
    second = rev(known.path, "main")
    said = repaired(known)
    assert [line for line in said if first[:12] in line and "gitmem adopt" in line]
    assert rev(known.path, "main") == accepted
    assert {rev(known.path, f"refs/gitmem/kept/stray-{oid[:12]}") for oid in (first, second)} == {
        first,
        second,
    }
    assert plain(known.path, "status", "--porcelain") == ""
    assert "深色" in file.read_text() and names(known) == ["theme", "cloud"]
    with opened(known.path) as fresh:
        result = fresh.adopt(first[:12], person=ADA)
        assert [(effect.name, effect.change) for effect in result.records] == [("theme", "revised")]
        fresh.approve(str(result.proposal), person=ADA)
        assert "浅色" in fresh.show("theme").body


def test_a_persons_unfinished_work_survives_a_repair(known: MemoryStore) -> None:
    file = known.path / "records" / "user" / "theme.md"
    git(known, "commit", "-q", "--allow-empty", "-m", "a stray")
    mine = file.read_text().replace("深色", "高对比度")
    file.write_text(mine)
    (known.path / "notes.txt").write_text("我的笔记")
    repaired(known)
    assert file.read_text() == mine
    assert (known.path / "notes.txt").read_text() == "我的笔记"


def test_a_main_that_was_set_back_goes_forward_again(known: MemoryStore) -> None:
    tip = rev(known.path, "main")
    git(known, "reset", "-q", "--hard", "main~2")
    assert names(known) == []
    (said,) = repaired(known)
    assert "moved main forward again" in said
    assert rev(known.path, "main") == tip and names(known) == ["theme", "cloud"]
    assert plain(known.path, "status", "--porcelain") == ""


def test_a_main_that_was_set_back_is_found_by_the_very_first_command(known: MemoryStore) -> None:
    git(known, "reset", "-q", "--hard", "main~2")
    with opened(known.path) as fresh:
        (problem,) = fresh.fsck().problems
        assert "moved away" in problem.what


def test_merges_of_a_main_that_went_another_way_are_merged_again(known: MemoryStore) -> None:
    git(known, "reset", "-q", "--hard", "main~1")
    with opened(known.path) as fresh:
        fresh.remember("之后又记了一件事。", name="later", type="user", person=ADA)
    with opened(known.path) as fresh:
        (problem,) = fresh.fsck().problems
        assert "moved away" in problem.what and "--repair" in problem.fix
    assert any("again; main had gone another way" in line for line in repaired(known))
    assert sorted(names(known)) == ["cloud", "later", "theme"]


def test_a_repair_that_was_cut_off_goes_on_with_what_it_had_opened(known: MemoryStore) -> None:
    """The merged proposal is open again, and nothing of it is merged yet."""
    tip, name = rev(known.path, "main^2"), known.log()[0].change
    git(known, "reset", "-q", "--hard", "main~1")
    with opened(known.path) as fresh:
        fresh.remember("之后又记了一件事。", name="later", type="user", person=ADA)
    git(known, "update-ref", f"refs/heads/proposals/{name}", tip)
    assert any(f"merged {name} again" in line for line in repaired(known))
    assert sorted(names(known)) == ["cloud", "later", "theme"]
    with opened(known.path) as fresh:
        assert fresh.proposals() == []


def test_a_whole_evening_comes_back_in_the_order_in_which_it_was(known: MemoryStore) -> None:
    """A fact that was changed and one that was forgotten come back as they were in the end."""
    base = rev(known.path, "main")
    known.remember("The staging host is blue.", name="staging", type="project", person=ADA)
    known.remember("The printer is on floor 2.", name="printer", type="project", person=ADA)
    known.edit("staging", body="The staging host is grey.", person=BEN)
    known.forget("printer", reason="sold", person=BEN)
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.remember("午饭在十二点。", name="lunch", type="user", person=ADA)
    repaired(known)
    with opened(known.path) as fresh:
        assert fresh.proposals() == []
        assert fresh.show("staging").body.strip() == "The staging host is grey."
        assert sorted(line.name for line in fresh.list()) == ["cloud", "lunch", "staging", "theme"]
        text = "The printer is on floor 2."
        again = item(text, name="printer", description=text, body=text)
        assert "forgot" in fresh.propose(change_set([user(text)], again)).dropped[0].reason


def test_what_both_mains_changed_waits_for_the_person(known: MemoryStore) -> None:
    known.edit("theme", body="用户喜欢浅色主题。", person=ADA)
    git(known, "reset", "-q", "--hard", "main~1")
    with opened(known.path) as fresh:
        fresh.edit("theme", body="用户喜欢高对比度主题。", person=BEN)
        said = fresh.fsck(repair=True).repaired
        assert any("opened edit-" in line for line in said)
        (line,) = fresh.proposals()
        assert line.state == "waiting" and "高对比度" in fresh.show("theme").body
        assert "浅色" in fresh.diff(line.id).records[0].after


@pytest.mark.parametrize("how", ["renamed", "deleted", "a blob", "garbage", "empty"])
def test_a_main_that_is_gone_is_made_again_by_the_command_that_is_named(
    known: MemoryStore, how: str
) -> None:
    tip, file = rev(known.path, "main"), known.path / ".git" / "refs" / "heads" / "main"
    if how == "renamed":
        git(known, "branch", "-q", "-m", "main", "other")
    elif how == "deleted":
        git(known, "update-ref", "-d", "refs/heads/main")
    else:
        blob = plain(known.path, "hash-object", "-w", "--stdin", stdin="不是提交").strip()
        file.write_text({"a blob": blob + "\n", "garbage": "~" * 41, "empty": ""}[how])
    with opened(known.path) as fresh, pytest.raises(GitmemError) as caught:
        fresh.status()
    if how in ("renamed", "deleted"):
        assert "fsck --repair" in caught.value.hint and tip in caught.value.hint
    assert any("made main again" in line for line in repaired(known))
    assert rev(known.path, "main") == tip and names(known) == ["theme", "cloud"]


def test_checks_that_were_cut_off_with_a_commit_by_hand_are_made_again(known: MemoryStore) -> None:
    proposal = proposed(known)
    git(known, "checkout", "-q", f"proposals/{proposal}")
    git(known, "commit", "-q", "--amend", "--allow-empty", "-m", "in nicer words")
    git(known, "checkout", "-q", "main")
    repaired(known)
    with opened(known.path) as fresh:
        assert [line.state for line in fresh.proposals()] == ["inconclusive"]
        assert fresh.rebase(proposal).state == "waiting"
        fresh.approve(proposal, person=ADA)
        assert fresh.fsck().ok


def test_an_amended_merge_gives_way_to_the_merge(known: MemoryStore) -> None:
    tip = rev(known.path, "main")
    git(known, "commit", "-q", "--amend", "-m", "in nicer words")
    amended = rev(known.path, "main")
    assert names(known) == ["cloud"]
    assert len(repaired(known)) == 2
    assert rev(known.path, "main") == tip and names(known) == ["theme", "cloud"]
    assert rev(known.path, f"refs/gitmem/kept/stray-{amended[:12]}") == amended


def test_commits_by_hand_are_cut_off_a_proposal_and_kept(known: MemoryStore) -> None:
    proposal = proposed(known)
    tip = rev(known.path, f"proposals/{proposal}")
    git(known, "checkout", "-q", f"proposals/{proposal}")
    file = known.path / "records" / "project" / "port.md"
    file.write_text(file.read_text().replace("8081", "9090"))
    git(known, "commit", "-qam", "better")
    made = rev(known.path, "HEAD")
    git(known, "checkout", "-q", "main")
    with opened(known.path) as fresh:
        assert [line.state for line in fresh.proposals()] == ["inconclusive"]
    (said,) = repaired(known)
    assert "cut what was made by hand" in said
    assert rev(known.path, f"proposals/{proposal}") == tip
    assert rev(known.path, f"refs/gitmem/kept/{proposal}^") == made
    with opened(known.path) as fresh:
        fresh.approve(proposal, person=ADA)
        assert "8081" in fresh.show("port").body


def test_a_damaged_file_of_a_ref_is_moved_away_and_kept(known: MemoryStore) -> None:
    file = known.path / ".git" / "refs" / "heads" / "proposals" / "extract-20260101-0000ff"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"\0" * 41)
    (said,) = repaired(known)
    moved = said.rpartition(" to ")[2]
    assert not file.exists()
    with open(moved, "rb") as kept:
        assert kept.read() == b"\0" * 41


def test_files_of_an_earlier_main_are_brought_along(known: MemoryStore) -> None:
    """As after a move of main by plain git plumbing, under a checkout."""
    tip = rev(known.path, "main")
    git(known, "reset", "-q", "--hard", "main~1")
    git(known, "update-ref", "refs/heads/main", tip)
    assert "D  records/user/theme.md" in plain(known.path, "status", "--porcelain")
    assert any("brought the files" in line for line in repaired(known))
    assert plain(known.path, "status", "--porcelain") == ""
    assert (known.path / "records" / "user" / "theme.md").exists()


def test_a_view_that_was_edited_is_rebuilt_and_the_edit_is_kept(known: MemoryStore) -> None:
    view = known.path / "MEMORY.md"
    right = view.read_bytes()
    view.write_text("我改过这里\n")
    (said,) = repaired(known)
    assert view.read_bytes() == right
    with open(said.rpartition(" ")[2].rstrip("."), encoding="utf-8") as kept:
        assert kept.read() == "我改过这里\n"


def test_a_projection_that_says_something_else_is_made_anew(known: MemoryStore) -> None:
    import sqlite3

    with sqlite3.connect(known.path / ".git" / "gitmem" / "cache.sqlite") as cache:
        cache.execute("DELETE FROM supersedes")
        cache.execute("UPDATE records SET description='别的' WHERE name='theme'")
    assert any("projection" in line for line in repaired(known))
    with opened(known.path) as fresh:
        assert fresh.show("theme").summary.description != "别的"


def test_locks_that_a_dead_program_left_are_cleared(known: MemoryStore) -> None:
    lock = known.path / ".git" / "refs" / "heads" / "main.lock"
    lock.write_bytes(b"")
    old = time.time() - 3600
    os.utime(lock, (old, old))
    assert any("lock" in line for line in repaired(known))
    assert not lock.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_what_cannot_be_written_is_not_repaired(known: MemoryStore) -> None:
    private = known.path / ".git" / "gitmem"
    private.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with opened(known.path) as fresh, pytest.raises(Refused, match="cannot be written"):
        fresh.fsck(repair=True)


def test_nothing_that_a_repair_takes_away_is_lost(known: MemoryStore) -> None:
    file = known.path / "records" / "user" / "theme.md"
    file.write_text(file.read_text().replace("深色", "只有这里写过的词"))
    git(known, "commit", "-qam", "by hand")
    repaired(known)
    git(known, "reflog", "expire", "--expire=now", "--all")
    git(known, "gc", "-q", "--prune=now")
    assert "只有这里写过的词".encode() in objects(known.path)


def test_decisions_and_strays_of_a_main_that_went_another_way_are_not_lost(
    known: MemoryStore,
) -> None:
    """A rejection is decided again, a policy too, and a passed-over stray is kept aside."""
    base = rev(known.path, "main")
    proposal = proposed(known)
    known.reject(proposal, reason="还没定", person=ADA)
    known.set_policy("daily_proposals", "7", person=ADA)
    git(known, "commit", "-q", "--allow-empty", "-m", "a stray")
    stray = rev(known.path, "main")
    with opened(known.path) as fresh:
        fresh.remember("被移走的事实。", name="moved", type="user", person=ADA)
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.remember("之后又记了一件事。", name="later", type="user", person=BEN)
    said = repaired(known)
    assert len([line for line in said if line.startswith("decided")]) == 2, said
    assert rev(known.path, f"refs/gitmem/kept/stray-{stray[:12]}") == stray
    with opened(known.path) as fresh:
        assert setting(fresh, "daily_proposals") == "7"
        assert fresh.proposals() == [] and "moved" in [line.name for line in fresh.list()]
        text = "The port of the test server is 8081."
        again = fresh.propose(change_set([user(text)], item(text, name="port", body=text)))
        assert again.proposal is None and "还没定" in again.dropped[0].reason
        assert fresh.fsck().ok


def test_a_decision_that_another_one_contradicts_is_left_to_the_person(known: MemoryStore) -> None:
    base = rev(known.path, "main")
    known.set_policy("daily_proposals", "7", person=ADA)
    lost = rev(known.path, "main")
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.set_policy("rounds", "3", person=BEN)
        fresh.fsck(repair=True)
        assert any("decide again" in line and lost[:12] in line for line in fresh.notes)
        assert rev(fresh.path, f"refs/gitmem/kept/main-{lost[:12]}") == lost
        assert setting(fresh, "rounds") == "3"


def test_a_proposal_that_is_checked_out_is_left_and_all_else_is_repaired(
    known: MemoryStore,
) -> None:
    proposal = proposed(known)
    git(known, "checkout", "-q", f"proposals/{proposal}")
    git(known, "commit", "-q", "--allow-empty", "-m", "by hand")
    (known.path / ".git" / "gitmem" / "cache.sqlite").write_bytes(b"scribble")
    with opened(known.path) as fresh:
        fresh.fsck(repair=True)
        assert any("while it is checked out" in line for line in fresh.notes)
    git(known, "checkout", "-q", "main")
    assert any("cut what was made by hand" in line for line in repaired(known))


def test_a_main_that_was_set_back_is_noticed_without_the_projection(known: MemoryStore) -> None:
    tip = rev(known.path, "main")
    git(known, "reset", "-q", "--hard", "main~1")
    for file in (known.path / ".git" / "gitmem").glob("cache.sqlite*"):
        file.unlink()
    assert any(tip[:12] in line for line in repaired(known))
    assert rev(known.path, "main") == tip


@pytest.mark.parametrize("what", ["a blob", "another history"])
def test_a_ref_that_keeps_no_main_is_named_and_stops_nothing(known: MemoryStore, what: str) -> None:
    oid = plain(known.path, "hash-object", "-w", "--stdin", stdin="不是提交").strip()
    if what == "another history":
        tree = plain(known.path, "mktree").strip()
        oid = plain(known.path, "commit-tree", tree, "-m", "elsewhere").strip()
    git(known, "update-ref", "refs/gitmem/kept/main-foo", oid)
    with opened(known.path) as fresh:
        assert fresh.status().count == 2
        report = fresh.fsck(repair=True)
        assert [problem.where for problem in report.problems] == ["refs/gitmem/kept/main-foo"]
        assert any("update-ref -d" in line for line in fresh.notes)


def test_an_index_that_is_gone_is_made_anew_and_no_edit_is_lost(known: MemoryStore) -> None:
    file = known.path / "records" / "user" / "theme.md"
    mine = file.read_text().replace("深色", "高对比度")
    file.write_text(mine)
    (known.path / ".git" / "index").unlink()
    assert any("made the index" in line for line in repaired(known))
    assert file.read_text() == mine
    assert plain(known.path, "status", "--porcelain").split() == ["M", "records/user/theme.md"]


def test_a_dead_lock_of_the_index_is_moved_away_and_the_files_follow(known: MemoryStore) -> None:
    lock = known.path / ".git" / "index.lock"
    lock.write_bytes(b"")
    with opened(known.path) as fresh:
        fresh.remember("锁住时记的事。", name="locked", type="user", person=ADA)
    old = NOW - 3600
    os.utime(lock, (old, old))
    assert any("dead lock" in line for line in repaired(known))
    assert not lock.exists() and (known.path / "records/user/locked.md").exists()
    assert plain(known.path, "status", "--porcelain") == ""


@pytest.mark.parametrize("damage", [b"", b"garbage"])
def test_an_index_that_is_damaged_stops_no_memory(known: MemoryStore, damage: bytes) -> None:
    (known.path / ".git" / "index").write_bytes(damage)
    with opened(known.path) as fresh:
        fresh.remember("索引坏了也记得住。", name="noted", type="user", person=ADA)
        fresh.remember("再记一件。", name="again", type="user", person=ADA)
        assert fresh.status().count == 4
    repaired(known)
    assert plain(known.path, "status", "--porcelain") == ""


# --- mains that went other ways ----------------------------------------------------------------


def test_a_main_that_was_set_back_step_by_step_goes_forward_again(known: MemoryStore) -> None:
    """Each step leaves a ref of its own; the first that is followed may bring all of it back."""
    known.remember("The third thing to keep.", name="third", type="user", person=ADA)
    tip = rev(known.path, "main")
    for _ in range(3):
        git(known, "reset", "-q", "--hard", "main~1")
        names(known)
    repaired(known)
    assert rev(known.path, "main") == tip


def test_each_of_several_lost_mains_comes_back(known: MemoryStore) -> None:
    base = rev(known.path, "main")
    wanted = {"cloud", "theme", "other"}
    for line in ("red", "blue"):
        with opened(known.path) as fresh:
            fresh.remember(f"The {line} one.", name=f"{line}-a", type="user", person=ADA)
            fresh.remember(f"A {line} two.", name=f"{line}-b", type="user", person=ADA)
            fresh.edit(f"{line}-a", body=f"{line} 改过了。", person=BEN)
        wanted |= {f"{line}-a", f"{line}-b"}
        git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.remember("另一条路。", name="other", type="user", person=BEN)
    repaired(known)
    with opened(known.path) as fresh:
        assert {line.name for line in fresh.list()} == wanted
        assert fresh.show("red-a").body.strip() == "red 改过了。"


def test_what_both_mains_forgot_or_rejected_or_ruled_is_settled(known: MemoryStore) -> None:
    """The same end by two ways: nothing is left to bring back, and the first reason stands."""
    base, text = rev(known.path, "main"), "The port of the test server is 8081."
    for person, reason in ((ADA, "还没定"), (BEN, "not yet")):
        with opened(known.path) as fresh:
            said = item(text, name="port", description=text, body=text)
            proposal = fresh.propose(change_set([user(text)], said)).proposal
            assert proposal
            fresh.reject(proposal, reason=reason, person=person)
            fresh.forget("cloud", person=person)
            fresh.set_policy("rounds", "3", person=person)
        if person == ADA:
            git(known, "reset", "-q", "--hard", base)
    repaired(known)
    with opened(known.path) as fresh:
        assert setting(fresh, "rounds") == "3" and [line.name for line in fresh.list()] == ["theme"]
        again = fresh.propose(change_set([user(text)], said))
        assert again.proposal is None and "not yet" in again.dropped[0].reason


@pytest.mark.parametrize("how", ["amended", "forged"])
def test_a_decision_that_was_a_stray_is_none_after_a_repair(known: MemoryStore, how: str) -> None:
    base = rev(known.path, "main")
    known.set_policy("rounds", "3", person=ADA)
    if how == "amended":
        policy = known.path / "policy.yaml"
        policy.write_text(policy.read_text().replace("3", "5"))
        git(known, "commit", "-qa", "--amend", "-C", "HEAD")
    else:
        git(known, "commit", "-q", "--allow-empty", "-m", "so be it\n\nDecision: policy-1\nX: y")
    stray = rev(known.path, "main")
    with opened(known.path) as fresh:
        fresh.remember("在它之后记的。", name="after", type="user", person=ADA)
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.remember("另一条路。", name="other", type="user", person=BEN)
    repaired(known)
    assert rev(known.path, f"refs/gitmem/kept/stray-{stray[:12]}") == stray
    with opened(known.path) as fresh:
        assert setting(fresh, "rounds") == "3"
        assert {"after", "other"} <= {line.name for line in fresh.list()}


def test_under_a_tighter_policy_what_was_merged_waits_for_the_second_person(
    known: MemoryStore,
) -> None:
    base = rev(known.path, "main")
    known.remember("一个人说的事。", name="one", type="user", person=ADA)
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.set_policy("two_person", "true", person=BEN)
    (said,) = repaired(known)
    assert "opened remember-" in said
    with opened(known.path) as fresh:
        (line,) = fresh.proposals()
        assert line.state == "waiting" and "one" not in names(known)
        fresh.approve(line.id, person=BEN)
        assert fresh.fsck().ok


@pytest.mark.parametrize("damage", ["garbage", "cut off"])
def test_packed_refs_that_git_cannot_read_are_mended_and_kept(
    known: MemoryStore, damage: str
) -> None:
    """git reads no ref at all then; what can still be read stays, main is made again."""
    proposal, tip = proposed(known), rev(known.path, "main")
    known.close()
    git(known, "pack-refs", "--all")
    packed = known.path / ".git" / "packed-refs"
    bad = b"garbage\n" + packed.read_bytes() if damage == "garbage" else packed.read_bytes()[:-20]
    packed.write_bytes(bad)
    with opened(known.path) as fresh:
        report = fresh.fsck()
        assert any("fsck --repair" in problem.fix for problem in report.problems), report
    assert any("packed-refs" in line for line in repaired(known))
    assert rev(known.path, "main") == tip and names(known) == ["theme", "cloud"]
    kept = list((known.path / ".git" / "gitmem" / "damaged").glob("packed-refs*"))
    assert [file.read_bytes() for file in kept] == [bad]
    with opened(known.path) as fresh:
        assert damage == "cut off" or [line.id for line in fresh.proposals()] == [proposal]


def test_what_one_lost_main_brings_back_another_one_waits_for_no_more(known: MemoryStore) -> None:
    """Whichever of them is looked at first: a second repair has nothing left to settle."""
    base = rev(known.path, "main")
    known.set_policy("rounds", "3", person=ADA)
    first = rev(known.path, "main")
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.set_policy("rounds", "5", person=BEN)
        fresh.set_policy("rounds", "3", person=BEN)
    git(known, "reset", "-q", "--hard", "main~1")
    with opened(known.path) as fresh:
        fresh.remember("另一条路。", name="other", type="user", person=BEN)
    kept = "refs/gitmem/kept/main-"
    git(known, "update-ref", f"{kept}000000000000", first)
    git(known, "update-ref", "-d", f"{kept}{first[:12]}")
    repaired(known)
    with opened(known.path) as fresh:
        assert setting(fresh, "rounds") == "3"


def test_what_main_said_already_when_it_was_looked_at_is_not_looked_at_again(
    known: MemoryStore,
) -> None:
    """Also where the same branch was kept before for another reason."""
    base = rev(known.path, "main")
    gone = known.forget("cloud", reason="旧的", person=ADA).proposal
    assert gone
    tip = rev(known.path, "main^2")
    known.set_policy("rounds", "3", person=ADA)
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        git(known, "update-ref", f"refs/heads/proposals/{gone}", tip)
        fresh._opened().head()
        fresh._opened().keep(tip, Closing(gone, "superseded", NOW, "earlier"))
        fresh.forget("cloud", person=BEN)
        fresh.set_policy("rounds", "5", person=BEN)
        assert len(fresh.fsck(repair=True).problems) == 1
        fresh.remember(CLOUD, name="cloud", type="project", person=BEN)
        assert fresh.fsck(repair=True).repaired == ()
        assert fresh.proposals() == []


def test_what_waits_for_a_person_is_opened_once_however_often_it_is_repaired(
    known: MemoryStore,
) -> None:
    """Also while something else is left to the person, so that a repair never comes to an end."""
    base = rev(known.path, "main")
    known.edit("theme", body="用户喜欢浅色主题。", person=ADA)
    known.set_policy("rounds", "3", person=ADA)
    git(known, "reset", "-q", "--hard", base)
    with opened(known.path) as fresh:
        fresh.edit("theme", body="用户喜欢高对比度主题。", person=BEN)
        fresh.set_policy("rounds", "5", person=BEN)
        report = fresh.fsck(repair=True)
        assert len(report.repaired) == 1 and len(report.problems) == 1
        (line,) = fresh.proposals()
        tip = rev(known.path, f"proposals/{line.id}")
        fresh.set_policy("rounds", "1", person=BEN)
        assert fresh.fsck(repair=True).repaired == ()
        assert rev(known.path, f"proposals/{line.id}") == tip
