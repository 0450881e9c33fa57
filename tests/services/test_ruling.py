"""The policy changes by a person's decision and by nothing else, and binds at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.documents import policy_file
from gitmem.domain.layout import POLICY, VIEW
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.domain.review import PERSON, Review
from gitmem.errors import GitmemError, InvalidInput, NotFound, Refused, Usage, Waiting
from gitmem.results import PolicyDiff, ReviewerDiff
from gitmem.store import Store
from tests.memory.words import ADA, BEN, NOW, change_set, item, opened, state, user
from tests.store.stories import MAIN, commit_object, commit_text, plain, rev, tree_with

ROOT = Path(__file__).parents[2]
FACT = "用户服务器部署在腾讯云国内节点。"


def in_force(memory: MemoryStore) -> dict[str, object]:
    return {entry.key: entry.value for entry in memory.policy().keys}


def proposed(memory: MemoryStore) -> str:
    asked = change_set([user(FACT)], item(FACT, description=FACT, body=FACT))
    proposal = memory.propose(asked).proposal
    assert proposal
    return proposal


# --- looking ---------------------------------------------------------------------------------


def test_a_new_store_shows_every_key_with_its_default(memory: MemoryStore) -> None:
    found = memory.policy()
    assert (found.decision, found.decided_by) == ("genesis", ())
    assert found.commit == rev(memory.path, MAIN)
    assert all(entry.value == entry.default and entry.meaning for entry in found.keys)
    assert found.to_json()["policy"] == Policy().model_dump(mode="json")
    assert found.text.encode() == policy_file(Policy())


def test_who_set_the_policy_last_is_shown_whatever_was_decided_since(memory: MemoryStore) -> None:
    memory.set_policy("rounds", "3", person=BEN, reason="两轮不够，模型总是漏掉引文")
    proposal = proposed(memory)
    memory.reject(proposal, reason="not here", person=ADA)
    memory.remember("Use tabs in this project.", person=ADA)
    found = memory.policy()
    assert found.decided_by == (f"human:{BEN}",)
    assert found.reason == "两轮不够，模型总是漏掉引文"
    assert found.decision.startswith("policy-2026")
    assert found.to_json()["policy"]["rounds"] == 3
    memory.set_policy("rounds", "2", person=ADA)
    assert memory.policy().decided_by == (f"human:{ADA}",)


# --- a decision ------------------------------------------------------------------------------


def test_a_change_is_a_decision_that_a_fresh_clone_verifies(
    memory: MemoryStore, tmp_path: Path
) -> None:
    before = rev(memory.path, MAIN)
    done = memory.set_policy("require_person.types", "user, feedback", person=ADA, reason="慎重")
    assert done.state == "decided" and done.commit == rev(memory.path, MAIN)
    text = commit_text(memory.path, MAIN)
    assert f"\nparent {before}\n" in text and text.count("\nparent ") == 1
    assert f"\nDecision: {done.decision}\nDecision-Kind: policy\n" in text
    assert f"\nDecided-By: human:{ADA}\nReason: 慎重\n" in text
    assert plain(memory.path, "status", "--porcelain") == ""
    plain(tmp_path, "clone", "-q", str(memory.path), "twin")
    with opened(tmp_path / "twin") as twin:
        assert twin.fsck().ok
        assert in_force(twin)["require_person.types"] == ["user", "feedback"]
        assert twin.log()[0].reason == "慎重"


def test_nothing_to_change_makes_no_commit(memory: MemoryStore) -> None:
    before = state(memory.path)
    same = {"rounds": "2", "auto_merge_sources": "hook,session", "signers": "none"}
    for key, value in same.items():
        assert memory.set_policy(key, value, person=ADA).state == "unchanged"
    assert memory.replace_policy(memory.policy().text, person=ADA).state == "unchanged"
    assert state(memory.path) == before


def test_a_person_sees_the_change_before_it_is_written(memory: MemoryStore) -> None:
    before = state(memory.path)
    seen: list[PolicyDiff] = []

    def no(diff: PolicyDiff) -> bool:
        seen.append(diff)
        return False

    assert memory.set_policy("view.lines", "50", person=ADA, confirm=no).state == "declined"
    assert state(memory.path) == before
    (diff,) = seen
    assert [(c.key, c.before, c.after) for c in diff.changes] == [("view.lines", 200, 50)]
    assert diff.before == policy_file(Policy()).decode()
    assert diff.after == diff.before.replace('lines: "200"', 'lines: "50"')


def test_the_view_is_made_anew_in_the_same_commit(memory: MemoryStore) -> None:
    for number in range(12):
        memory.remember(f"规则 {number}：step {number} needs check {number}.", person=ADA)
    assert plain(memory.path, "show", f"{MAIN}:{VIEW}").count("\n- [") == 12
    memory.set_policy("view.lines", "10", person=ADA)
    view = plain(memory.path, "show", f"{MAIN}:{VIEW}")
    assert len(view.splitlines()) <= 10 and "gitmem list" in view
    assert (memory.path / VIEW).read_text(encoding="utf-8").rstrip("\n") == view
    assert memory.fsck().ok


def test_reviews_count_under_whatever_policy_is_in_force_later(memory: MemoryStore) -> None:
    proposal = proposed(memory)
    shown = memory.diff(proposal)
    store = Store.open(memory.path)
    _, tip = store.find_proposal(proposal)
    approval = Review(f"human:{BEN}", PERSON, "approve", shown.change, None, (), NOW)
    store.add_review(proposal, tip, approval)
    store.close()
    assert [line.state for line in memory.proposals()] == ["open"]
    memory.set_policy("require_person.kinds", "extract", person=ADA)
    memory.set_policy("two_person", "true", person=ADA)
    assert [line.state for line in memory.proposals()] == ["open"]
    assert memory.approve(proposal, person=ADA).state == "merged"
    assert f"human:{BEN}" in memory.log()[0].approved_by
    assert memory.fsck().ok


def test_where_two_persons_are_wanted_ones_own_words_wait_for_the_other(
    memory: MemoryStore,
) -> None:
    """A policy binds open proposals at once, whichever way it changes."""
    memory.set_policy("two_person", "true", person=ADA)
    done = memory.remember("发布前要先跑全部测试。", name="run-tests", person=ADA)
    assert done.state == "waiting" and done.proposal and done.merge is None
    assert any(f"gitmem approve {done.proposal}" in note for note in memory.notes)
    assert memory.list() == []
    for value, wanted in (("false", "open"), ("true", "waiting")):
        memory.set_policy("two_person", value, person=ADA)
        assert [line.state for line in memory.proposals()] == [wanted]
    assert memory.approve(done.proposal, person=BEN).state == "merged"
    assert [line.name for line in memory.list()] == ["run-tests"]


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "error", "words"),
    [
        ("view.line", "50", Usage, "Did you mean view.lines"),
        ("lines", "50", Usage, "Did you mean view.lines"),
        ("视图", "50", Usage, "gitmem policy show"),
        ("view", "50", Usage, "view.lines, view.bytes"),
        ("view.lines", "9", InvalidInput, "10 to 10000"),
        ("view.lines", "５０", InvalidInput, "view.lines"),
        ("view.lines", "1e3", InvalidInput, "view.lines"),
        ("two_person", "True", InvalidInput, "two_person"),
        ("two_person", "yes", InvalidInput, "two_person"),
        ("auto_merge_sources", "hook,anyone", InvalidInput, "hook, session, file, caller"),
        ("auto_merge_sources", "hook,,file", InvalidInput, "is empty"),
        ("auto_merge_sources", "", InvalidInput, "none"),
        ("auto_merge_sources", "hook,hook", InvalidInput, "twice"),
        ("signers", "ada@example.org ssh-ed25519 AA\u202eAA", InvalidInput, "U\\+202E"),
        ("signers", "ada:hunter2@example.org password=hunter2-Autumn", InvalidInput, "secret"),
    ],
)
def test_what_is_no_key_or_no_value_of_it_is_refused_by_name(
    memory: MemoryStore, key: str, value: str, error: type[GitmemError], words: str
) -> None:
    before = state(memory.path)
    with pytest.raises(error) as caught:
        memory.set_policy(key, value, person=ADA)
    assert words.replace("\\", "") in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert state(memory.path) == before


def test_signatures_that_nobody_can_check_cannot_be_required(memory: MemoryStore) -> None:
    before = state(memory.path)
    text = memory.policy().text.replace('"off"', '"required"')
    for require in (
        lambda: memory.set_policy("signatures", "required", person=ADA),
        lambda: memory.replace_policy(text, person=ADA),
    ):
        with pytest.raises(Refused, match="nobody could take it back") as caught:
            require()
        assert "signatures: off" in caught.value.hint
    assert state(memory.path) == before


@pytest.mark.parametrize(
    ("reason", "error", "words"),
    [
        ("长" * 501, Usage, "at most 500 characters, not 501"),
        ("the password is hunter2-Autumn", InvalidInput, "secret"),
        ("ok\u202eko", InvalidInput, "U\\+202E"),
        ("ok\x1b[31m", InvalidInput, "U\\+001B"),
    ],
    ids=["long", "secret", "bidi", "escape"],
)
def test_a_reason_must_be_one_that_can_travel(
    memory: MemoryStore, reason: str, error: type[GitmemError], words: str
) -> None:
    before = state(memory.path)
    with pytest.raises(error, match=words) as caught:
        memory.set_policy("rounds", "3", reason=reason, person=ADA)
    assert "hunter2" not in str(caught.value)
    assert state(memory.path) == before


# --- a whole file ----------------------------------------------------------------------------

MINE = """# 谁可以批准：只有人。
two_person: true   # since the incident
rounds: 3
view:
  lines: 100
"""


def test_a_file_that_a_person_wrote_is_kept_to_the_letter(memory: MemoryStore) -> None:
    done = memory.replace_policy(MINE, person=BEN, expected=memory.policy().blob)
    assert {change.key for change in done.changes} == {"two_person", "rounds", "view.lines"}
    assert (memory.path / POLICY).read_text(encoding="utf-8") == MINE
    found = memory.policy()
    assert found.text == MINE
    assert in_force(memory) == {
        **{entry.key: entry.default for entry in found.keys},
        "two_person": True,
        "rounds": 3,
        "view.lines": 100,
    }
    assert memory.replace_policy(MINE.replace("批准", "点头"), person=ADA).changes == ()
    memory.replace_policy("{}\n", person=ADA)
    assert all(entry.value == entry.default for entry in memory.policy().keys)
    assert memory.fsck().ok


def test_setting_a_key_says_that_comments_go(memory: MemoryStore) -> None:
    memory.set_policy("rounds", "4", person=ADA)
    assert memory.notes == []
    memory.replace_policy(MINE, person=ADA)
    memory.set_policy("rounds", "5", person=ADA)
    assert any("comments" in note for note in memory.notes)
    assert "#" not in memory.policy().text
    assert in_force(memory)["two_person"] is True
    assert in_force(memory)["rounds"] == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "policy.yaml: is empty"),
        (" \n\n", "policy.yaml: is empty"),
        ("two_persons: true\n", "two_persons"),
        ("rounds: 2\nrounds: 3\n", "policy.yaml:2"),
        ("view:\n  lines: [1]\n", "view.lines"),
        ("a: &a [x]\nb: *a\n", "policy.yaml:1"),
        ("- rounds\n", "policy.yaml:1"),
        ("rounds: 3 # 不\u202e行\n", "U+202E"),
        ("rounds: 3 # zero\u200bwidth\n", "U+200B"),
        ("rounds: 3\r\n", "U+000D"),
        ("rounds: 3\ud800\n", "UTF-8"),
        ("rounds: 3\n# the password is hunter2-Autumn\n", "policy.yaml:2: holds what looks"),
        ("#" * (MAX_POLICY_BYTES + 1), str(MAX_POLICY_BYTES)),
    ],
)
def test_a_file_that_is_no_policy_changes_nothing(
    memory: MemoryStore, text: str, words: str
) -> None:
    before = state(memory.path)
    with pytest.raises(InvalidInput) as caught:
        memory.replace_policy(text, person=ADA)
    assert words in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert state(memory.path) == before


# --- by hand, and at once --------------------------------------------------------------------


@pytest.mark.parametrize("how", ["git commit -a", "the message of a decision"])
def test_a_policy_changed_with_plain_git_is_a_stray_and_changes_nothing(
    memory: MemoryStore, how: str
) -> None:
    memory.set_policy("rounds", "3", person=ADA)
    before = memory.policy()
    loose = policy_file(Policy(agents_may_approve=True, rounds=3))
    if how == "git commit -a":
        (memory.path / POLICY).write_bytes(loose)
        plain(memory.path, "commit", "-q", "-a", "-m", "policy")
    else:
        oid = plain(memory.path, "hash-object", "-w", "--stdin", stdin=loose)
        tree = tree_with(memory.path, MAIN, {POLICY: ("100644", oid)})
        head, _, message = commit_text(memory.path, MAIN).partition("\n\n")
        author = next(line for line in head.split("\n") if line.startswith("author "))
        parent = rev(memory.path, MAIN)
        committer = author.replace("author", "committer")
        forged = f"tree {tree}\nparent {parent}\n{author}\n{committer}\n\n{message}"
        plain(memory.path, "update-ref", MAIN, commit_object(memory.path, forged))
    with opened(memory.path) as again:
        assert again.policy() == before
        assert again.status().strays == (rev(memory.path, MAIN),)
        assert in_force(again)["agents_may_approve"] is False
        again.set_policy("view.lines", "60", person=BEN)
        assert again.status().strays == ()
        assert in_force(again)["agents_may_approve"] is False
        assert in_force(again)["rounds"] == 3
    assert "\nSkipped: " in commit_text(memory.path, MAIN)


def test_what_changed_while_a_person_was_reading_is_told_and_not_overwritten(
    memory: MemoryStore,
) -> None:
    shown = memory.policy()

    def slow(diff: PolicyDiff) -> bool:
        with opened(memory.path) as other:
            other.set_policy("rounds", "5", person=BEN)
        return True

    with pytest.raises(Waiting, match="changed on main meanwhile") as caught:
        memory.set_policy("rounds", "7", person=ADA, confirm=slow)
    assert caught.value.exit_code == 4
    assert in_force(memory)["rounds"] == 5
    with pytest.raises(Waiting, match="changed on main meanwhile"):
        memory.replace_policy(MINE, person=ADA, expected=shown.blob)
    assert in_force(memory)["rounds"] == 5
    assert len(memory.log()) == 2


SET = """
import sys
from gitmem import MemoryStore
from gitmem.errors import Waiting
with MemoryStore.open(sys.argv[1]) as memory:
    memory.policy()
    sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
    try:
        memory.set_policy(sys.argv[2], sys.argv[3], person="Ada <ada@example.org>")
    except Waiting as told:
        sys.exit(told.exit_code)
"""


def test_two_processes_that_set_at_once_are_both_in_or_one_is_told(memory: MemoryStore) -> None:
    asked = {"rounds": "7", "daily_proposals": "5", "view.lines": "77"}
    children = {
        key: subprocess.Popen(
            [sys.executable, "-c", SET, str(memory.path), key, value],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for key, value in asked.items()
    }
    for child in children.values():
        assert child.stdout and child.stdout.readline() == b"ready\n"
    for child in children.values():
        assert child.stdin
        child.stdin.write(b"go\n")
        child.stdin.flush()
    done = set()
    for key, child in children.items():
        _, error = child.communicate(timeout=60)
        assert child.returncode in (0, 4), error.decode()
        done |= {key} if child.returncode == 0 else set()
    assert done
    values, defaults = in_force(memory), Policy().model_dump(mode="json")
    defaults["view.lines"] = 200
    assert values["view.format"] == 1
    for key, value in asked.items():
        assert values[key] == (int(value) if key in done else defaults[key])
    assert len(memory.log()) == 1 + len(done)
    assert memory.fsck().ok


# --- reviewers -------------------------------------------------------------------------------

RUBRIC = """---
name: tone
role: reviewer
applies_to: [extract, import]
blocking: true
---

Is it said without contempt? 语气要友好。
"""


def test_a_reviewer_is_added_replaced_and_removed_by_decisions_that_a_clone_verifies(
    memory: MemoryStore, tmp_path: Path
) -> None:
    names = [found.name for found in memory.reviewers()]
    assert names == ["conflict", "durability", "evidence", "safety"]
    done = memory.set_reviewer("tone", RUBRIC, person=ADA, reason="语气")
    assert done.state == "decided" and done.commit == rev(memory.path, MAIN)
    assert plain(memory.path, "show", f"{MAIN}:reviewers/tone.md") == RUBRIC.rstrip("\n")
    changed = plain(memory.path, "diff", "--name-only", f"{MAIN}~1", MAIN).split()
    assert changed == ["manifest.json", "reviewers/tone.md"]
    assert "\nDecision-Kind: policy\n" in commit_text(memory.path, MAIN)
    assert memory.set_reviewer("tone", RUBRIC, person=ADA).state == "unchanged"
    milder = RUBRIC.replace("true", "false")
    assert memory.set_reviewer("tone", milder, person=BEN).state == "decided"
    (tone,) = [found for found in memory.reviewers() if found.name == "tone"]
    assert (tone.blocking, tone.kinds) == (False, ("extract", "import"))
    assert memory.remove_reviewer("tone", person=ADA).follows == ()
    assert [found.name for found in memory.reviewers()] == names
    assert memory.policy().decision == "genesis", "policy.yaml itself is as it was"
    plain(tmp_path, "clone", "-q", str(memory.path), "twin")
    with opened(tmp_path / "twin") as twin:
        assert twin.fsck().ok and len(twin.log()) == 4


def test_who_takes_the_last_blocking_reviewer_away_is_told_what_follows(
    memory: MemoryStore,
) -> None:
    told: list[str] = []

    def look(diff: ReviewerDiff) -> bool:
        told.extend(diff.follows)
        return True

    for name in ("conflict", "durability", "evidence"):
        memory.remove_reviewer(name, person=ADA, confirm=look)
    assert all("will wait for a person" in sentence for sentence in told)
    before, told[:] = rev(memory.path, MAIN), []
    assert memory.remove_reviewer("safety", person=ADA, confirm=lambda _: False).state == "declined"
    assert rev(memory.path, MAIN) == before
    done = memory.remove_reviewer("safety", person=ADA, confirm=look)
    assert told == ["no blocking reviewer is left: every proposal will wait for a person"]
    assert done.follows == tuple(told) and memory.reviewers() == []
    assert memory.proposals() == [] and memory.fsck().ok
    proposed(memory)
    assert [line.state for line in memory.proposals()] == ["waiting"]
    narrow = RUBRIC.replace("[extract, import]", "[extract]")
    assert memory.set_reviewer("tone", narrow, person=ADA).follows == ()
    none = memory.set_reviewer("tone", narrow.replace("true", "false"), person=ADA)
    assert none.follows == tuple(told), "advising only is blocking no more"


def test_a_review_by_another_rubric_counts_no_more(memory: MemoryStore) -> None:
    """It is the file that a review names, and not who is called so."""
    proposal = proposed(memory)
    memory.set_reviewer("tone", RUBRIC, person=ADA)
    blob = next(found.blob for found in memory.reviewers() if found.name == "tone")
    shown = memory.diff(proposal)
    store = Store.open(memory.path)
    _, tip = store.find_proposal(proposal)
    objects = Review("model:judge@x", "tone", "request_changes", shown.change, blob, (), NOW)
    store.add_review(proposal, tip, objects)
    store.close()
    assert [line.state for line in memory.proposals()] == ["changes_requested"]
    memory.set_reviewer("tone", RUBRIC + "\nAnd 温和?\n", person=ADA)
    assert [line.state for line in memory.proposals()] == ["waiting"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tone", RUBRIC.replace("name: tone", "name: other"), "its name must be tone"),
        ("other", RUBRIC, "its name must be other"),
        ("checks", RUBRIC.replace("name: tone", "name: checks"), "cannot be the name"),
        ("a/tone", RUBRIC, "cannot be the name"),
        ("../tone", RUBRIC, "cannot be the name"),
        ("tone", RUBRIC.replace("role: reviewer", "role: proposer"), "the role is 'proposer'"),
        ("tone", RUBRIC.replace("import]", "dream]"), "'dream' is no kind"),
        ("tone", RUBRIC.replace("[extract, import]", "[]"), "it judges no kind"),
        ("tone", RUBRIC.replace("true", "perhaps"), "blocking"),
        ("tone", RUBRIC.replace("blocking: true\n", ""), "blocking"),
        ("tone", RUBRIC + "x" * 33_000, "32768"),
        ("tone", RUBRIC.partition("Is it")[0], "has no rubric"),
        ("tone", RUBRIC + "hidden\u202e text", "U+202E"),
        ("tone", RUBRIC + "key: AKIAIOSFODNN7EXAMPLQ", "looks like a secret"),
        ("tone", "Is it kind?", "reviewers/tone.md"),
        ("tone", RUBRIC.encode() + b"\xff", "reviewers/tone.md"),
    ],
)
def test_what_no_model_could_be_told_to_judge_by_is_refused(
    memory: MemoryStore, name: str, text: str | bytes, said: str
) -> None:
    before = state(memory.path)
    with pytest.raises(InvalidInput) as refused:
        memory.set_reviewer(name, text, person=ADA)
    assert said in str(refused.value)
    assert state(memory.path) == before


def test_a_reviewer_that_is_not_there_cannot_be_removed(memory: MemoryStore) -> None:
    with pytest.raises(NotFound, match="conflict, durability, evidence, safety"):
        memory.remove_reviewer("nobody", person=ADA)


def test_reviewers_that_changed_while_a_person_was_asked_are_not_overwritten(
    memory: MemoryStore,
) -> None:
    def meanwhile(diff: ReviewerDiff) -> bool:
        with opened(memory.path) as other:
            other.remove_reviewer("safety", person=BEN)
        return True

    with pytest.raises(Waiting, match="gitmem policy reviewers"):
        memory.set_reviewer("tone", RUBRIC, person=ADA, confirm=meanwhile)
    assert [found.name for found in memory.reviewers()] == ["conflict", "durability", "evidence"]
