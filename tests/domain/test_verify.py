"""Main as arithmetic: the same inputs give the same commit, and git agrees."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.domain.commit_message import parse_message
from gitmem.domain.layout import (
    MANIFEST,
    POLICY,
    README,
    REVIEWERS,
    VIEW,
    evidence_path,
    record_path,
    tombstone_path,
)
from gitmem.domain.manifest import parse_manifest
from gitmem.domain.objects import EMPTY_TREE, TreeEntry, blob_id, decode_tree, edit_tree
from gitmem.domain.planned import LEDGER_IDENTITY, Plan, PlannedCommit, complete
from gitmem.domain.policy import Policy
from gitmem.domain.proposal import Proposal, RecordAt, RecordChange
from gitmem.domain.record import Record, make_record, statement
from gitmem.domain.review import Review
from gitmem.domain.tombstone import Tombstone, parse_tombstone, statement_hash
from gitmem.domain.verify import (
    Branch,
    DecisionFields,
    Ground,
    buried,
    plan_decision,
    plan_genesis,
    plan_merge,
    read_decision,
)
from gitmem.errors import InvalidInput, Refused, Waiting

ADA = "human:Ada <ada@example.org>"
AT = 1796055611  # 2026-11-30T16:20:11Z
STORE = "0123456789abcdef"
TIP = "7" * 40
FILES = {
    README: b"# A memory\n",
    POLICY: b'version: "1"\n',
    f"{REVIEWERS}/evidence.md": b"---\n",
}


@dataclass
class World:
    """A memory without git: trees by id, blobs by id, and what stands on main's tip."""

    trees: dict[str, bytes] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    records: dict[str, tuple[RecordAt, Record]] = field(default_factory=dict)
    evidence: dict[str, frozenset[str]] = field(default_factory=dict)
    tombstones: set[str] = field(default_factory=set)
    standing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    head: PlannedCommit | None = None

    def read_tree(self, oid: str) -> tuple[TreeEntry, ...]:
        return decode_tree(self.trees[oid])

    def blob(self, data: bytes) -> str:
        oid = blob_id(data)
        self.blobs[oid] = data
        return oid

    def complete(self, plan: Plan, view: bytes = b"# Memory\n") -> PlannedCommit:
        tree = self.head.tree if self.head else EMPTY_TREE
        return complete(plan, view, tree, self.read_tree)

    def accept(self, commit: PlannedCommit) -> PlannedCommit:
        """Take a planned commit as main's tip."""
        before = self.head.tree if self.head else EMPTY_TREE
        oids = {p: self.blob(v) if isinstance(v, bytes) else v for p, v in commit.changes.items()}
        edited = edit_tree(before, oids, self.read_tree)
        assert edited.root == commit.tree
        self.trees.update(edited.trees)
        self.head = commit
        return commit

    def begin(self) -> PlannedCommit:
        return self.accept(self.complete(plan_genesis(STORE, FILES, AT - 1000)))

    def ground(self, *names: str, **changes: Any) -> Ground:
        assert self.head is not None
        known = [name for name in names if name in self.records]
        fields: dict[str, Any] = {
            "commit": self.head.oid,
            "tree": self.head.tree,
            "manifest": self.head.manifest,
            "policy": Policy(),
            "reviewers": {},
            "records": {n: self.records[n][0] if n in known else None for n in names},
            "types": {n: self.records[n][1].type for n in known},
            "old_statements": {n: statement(self.records[n][1]) for n in known},
            "evidence": {n: self.evidence.get(n, frozenset()) for n in names},
            "standing": {n: self.standing[n] for n in known},
            "tombstones": frozenset(self.tombstones),
        }
        return Ground(**{**fields, **changes})

    def merge(self, branch: Branch, **more: Any) -> PlannedCommit:
        ground = self.ground(*branch.proposal.names)
        commit = self.accept(self.complete(plan_merge(ground, branch, ground.commit, **more)))
        for change in branch.proposal.changes:
            if change.new is None:
                self.records.pop(change.name)
                self.evidence.pop(change.name)
            else:
                self.records[change.name] = (change.new, branch.records[change.name])
                self.evidence[change.name] = branch.evidence[change.name]
                self.standing[change.name] = tuple(commit.manifest.approved_by)
        for path, new in commit.changes.items():
            if path.startswith("tombstones/"):
                key = path[11:13] + path[14:52]
                (self.tombstones.discard if new is None else self.tombstones.add)(key)
        return commit

    def files(self, tree: str, below: str = "") -> dict[str, str]:
        """Every file of a tree with its blob id."""
        found: dict[str, str] = {}
        for entry in () if tree == EMPTY_TREE else self.read_tree(tree):
            if entry.is_tree:
                found |= self.files(entry.oid, f"{below}{entry.name}/")
            else:
                found[below + entry.name] = entry.oid
        return found


@pytest.fixture
def world() -> World:
    world = World()
    world.begin()
    return world


Draft = tuple[str, str, str, Sequence[bytes]]
"""Name, type, description and quotes of a record."""


def draft(
    world: World,
    *drafts: Draft,
    retire: Mapping[str, str] | None = None,
    kind: str = "extract",
    number: int = 1,
    by: str = ADA,
    at: int = AT,
    proposed_by: str = "rules",
    tip: str = TIP,
) -> Branch:
    """A branch with these records, that a person approved."""
    changes, records, evidence = [], {}, {}
    for name, type, description, quotes in drafts:
        oids = [world.blob(quote) for quote in quotes]
        record = make_record(
            name=name, description=description, type=type, evidence=oids, body=f"{description}.\n"
        )
        old = world.records[name][0] if name in world.records else None
        path = old.path if old else record_path(type, name, sharded=False)
        new = RecordAt(path, world.blob(record.model_dump_json().encode()))
        changes.append(RecordChange(name, old, new))
        records[name], evidence[name] = record, frozenset(oids)
    for name in retire or {}:
        changes.append(RecordChange(name, world.records[name][0], None))
        evidence[name] = frozenset()
    assert world.head is not None
    proposal = Proposal(
        id=f"{kind}-20261130-{number:06x}",
        kind=kind,
        proposed_by=proposed_by,
        session="s",
        attested="hook",
        base=world.head.oid,
        nonce="n",
        created_at=at,
        changes=tuple(sorted(changes, key=lambda change: change.name)),
        retire_reasons=tuple((retire or {}).items()),
    )
    checks = Review("checks", "checks", "approve", proposal.change, None, (), at)
    person = Review(by, "person", "approve", proposal.change, None, (), at)
    return Branch(
        tip=tip,
        proposal=proposal,
        reviews=(checks, person),
        records=records,
        evidence=evidence,
        base_records={change.name: change.old for change in changes},
    )


TABS: Draft = ("tabs", "user", "User prefers tabs", [b"quote one", b"quote two"])
DB: Draft = ("db", "project", "数据库用 PostgreSQL", [b"quote three"])


def check_counts(world: World) -> None:
    """The manifest's counts and pins against a scan of the tree."""
    head = world.head
    assert head is not None
    files = world.files(head.tree)
    manifest = head.manifest
    assert manifest.evidence.count == sum(path.startswith("evidence/") for path in files)
    assert manifest.tombstones.count == sum(path.startswith("tombstones/") for path in files)
    assert manifest.records.count == sum(path.startswith("records/") for path in files)
    by_type = {"feedback": 0, "project": 0, "reference": 0, "user": 0}
    for _, record in world.records.values():
        by_type[record.type] += 1
    assert manifest.records.by_type.model_dump() == by_type
    top = {entry.name: entry.oid for entry in world.read_tree(head.tree)}
    assert manifest.records.tree == top.get("records", EMPTY_TREE)
    assert manifest.evidence.tree == top.get("evidence", EMPTY_TREE)
    assert manifest.tombstones.tree == top.get("tombstones", EMPTY_TREE)
    assert (manifest.policy, manifest.reviewers) == (top[POLICY], top[REVIEWERS])
    assert world.blobs[top[MANIFEST]] == manifest.to_bytes()
    assert parse_manifest(manifest.to_bytes()) == manifest


# --- genesis -----------------------------------------------------------------------------------


def test_the_first_commit_holds_nothing_but_rules_and_an_empty_manifest() -> None:
    world = World()
    commit = world.begin()
    assert commit.parents == ()
    assert sorted(world.files(commit.tree)) == sorted([*FILES, MANIFEST, VIEW])
    assert commit.message == f"Begin a memory\n\nStore: {STORE}\n"
    assert commit.manifest.change == "genesis"
    check_counts(world)


def test_two_stores_have_different_roots() -> None:
    roots = {World().complete(plan_genesis(i, FILES, AT)).oid for i in ("a" * 16, "b" * 16)}
    assert len(roots) == 2


@pytest.mark.parametrize("path", ["records/user/tabs.md", MANIFEST, VIEW, "x", "reviewers"])
def test_nothing_else_belongs_into_the_first_commit(path: str) -> None:
    with pytest.raises(InvalidInput):
        plan_genesis(STORE, {**FILES, path: b""}, AT)


# --- merges ------------------------------------------------------------------------------------


def test_a_merge_brings_the_records_their_quotes_and_who_approved(world: World) -> None:
    base = world.head
    commit = world.merge(draft(world, TABS, DB))
    assert base is not None
    assert commit.parents == (base.oid, TIP)
    files = world.files(commit.tree)
    assert {path for path in files if path.startswith(("records/", "evidence/"))} == {
        "records/user/tabs.md",
        "records/project/db.md",
        evidence_path("tabs", blob_id(b"quote one")),
        evidence_path("tabs", blob_id(b"quote two")),
        evidence_path("db", blob_id(b"quote three")),
    }
    manifest = commit.manifest
    assert manifest.change == "extract-20261130-000001"
    assert manifest.approved_by == [ADA]
    assert manifest.approved_at == "2026-11-30T16:20:11Z"
    message = parse_message(commit.message)
    assert message.subject == "merge extract-20261130-000001: db, tabs"
    assert message.body == (
        "added db (project): 数据库用 PostgreSQL",
        "added tabs (user): User prefers tabs",
    )
    assert message.trailers == (("Proposal-Id", manifest.change), ("Approved-By", ADA))
    check_counts(world)


def test_the_same_inputs_give_the_same_commit() -> None:
    ids = []
    for _ in range(2):
        world = World()
        world.begin()
        ids.append(world.merge(draft(world, TABS, DB)).oid)
    assert ids[0] == ids[1]


def test_the_order_in_which_things_are_looked_up_does_not_matter(world: World) -> None:
    branch = draft(world, TABS, DB)
    turned = replace(
        branch,
        records=dict(reversed(branch.records.items())),
        evidence=dict(reversed(branch.evidence.items())),
        base_records=dict(reversed(branch.base_records.items())),
    )
    ground = world.ground("tabs", "db")
    plans = [plan_merge(g, b, g.commit) for g, b in ((ground, branch), (ground, turned))]
    assert world.complete(plans[0]) == world.complete(plans[1])


def other_quote(world: World) -> Branch:
    return draft(world, (*TABS[:3], [b"quote one", b"quote 2"]), DB)


@pytest.mark.parametrize(
    "change",
    [
        other_quote,
        lambda world: draft(world, (*TABS[:3], [b"quote one"]), DB),
        lambda world: draft(world, ("tabs", "user", "User prefers tab", TABS[3]), DB),
        lambda world: draft(world, TABS),
        lambda world: draft(world, TABS, DB, by="human:Grace <grace@example.org>"),
        lambda world: draft(world, TABS, DB, at=AT + 1),
        lambda world: draft(world, TABS, DB, number=2),
        lambda world: draft(world, TABS, DB, tip="8" * 40),
    ],
    ids=["quote", "fewer quotes", "text", "record", "approval", "date", "proposal", "tip"],
)
def test_any_other_input_gives_another_commit(world: World, change: Any) -> None:
    ground = world.ground("tabs", "db")
    ours = world.complete(plan_merge(ground, draft(world, TABS, DB), ground.commit))
    theirs = world.complete(plan_merge(ground, change(world), ground.commit))
    assert ours.oid != theirs.oid


def test_another_view_gives_another_commit(world: World) -> None:
    ground = world.ground("tabs")
    plan = plan_merge(ground, draft(world, TABS), ground.commit)
    assert world.complete(plan, b"# Memory\n").oid != world.complete(plan, b"# Memory!\n").oid


def test_a_stray_that_is_passed_over_is_a_parent_and_is_named(world: World) -> None:
    strays = ["1" * 40, "2" * 40]
    ground = world.ground("tabs")
    commit = world.complete(plan_merge(ground, draft(world, TABS), strays[-1], strays))
    assert commit.parents == (strays[-1], TIP)
    assert parse_message(commit.message).all("Skipped") == tuple(strays)
    plain = world.complete(plan_merge(ground, draft(world, TABS), ground.commit))
    assert commit.tree == plain.tree


def test_a_revision_takes_away_the_quotes_that_are_cited_no_more(world: World) -> None:
    world.merge(draft(world, TABS, DB))
    revised = ("tabs", "user", "User prefers tabs in Go", [b"quote two", b"quote four"])
    commit = world.merge(draft(world, revised, number=2))
    kept = {path for path in world.files(commit.tree) if path.startswith("evidence/")}
    assert evidence_path("tabs", blob_id(b"quote one")) not in kept
    assert evidence_path("tabs", blob_id(b"quote four")) in kept
    assert commit.manifest.evidence.count == 3
    check_counts(world)


def test_a_record_that_changes_its_type_keeps_its_path_and_is_counted_anew(world: World) -> None:
    world.merge(draft(world, TABS))
    commit = world.merge(draft(world, ("tabs", "feedback", "Use tabs", TABS[3]), number=2))
    assert "records/user/tabs.md" in world.files(commit.tree)
    assert commit.manifest.records.by_type.user == 0
    assert commit.manifest.records.by_type.feedback == 1
    check_counts(world)


def test_retiring_the_last_record_leaves_no_folder_behind(world: World) -> None:
    world.merge(draft(world, TABS))
    commit = world.merge(draft(world, retire={"tabs": "moved on"}, kind="consolidate", number=2))
    assert commit.manifest.records.tree == commit.manifest.evidence.tree == EMPTY_TREE
    assert commit.manifest.records.count == commit.manifest.evidence.count == 0
    assert commit.manifest.tombstones.count == 0
    assert parse_message(commit.message).body == ("retired tabs: moved on",)
    check_counts(world)


def test_forgetting_leaves_a_tombstone_made_of_the_record_and_the_approval(world: World) -> None:
    world.merge(draft(world, TABS, DB))
    said = statement(world.records["tabs"][1])
    commit = world.merge(draft(world, retire={"tabs": "不再成立"}, kind="forget", number=2))
    path = tombstone_path(statement_hash(said)[:40])
    data = commit.changes[path]
    assert isinstance(data, bytes)
    assert parse_tombstone(data, path) == Tombstone(
        version=1,
        id="forget-20261130-000002",
        names=["tabs"],
        who=[ADA],
        when="2026-11-30T16:20:11Z",
        reason="不再成立",
        hash=statement_hash(said),
    )
    assert commit.manifest.tombstones.count == 1
    check_counts(world)


SAID_TABS = "User prefers tabs\nUser prefers tabs.\n"


def test_what_is_buried_already_is_not_buried_twice(world: World) -> None:
    world.merge(draft(world, TABS))
    key = statement_hash(SAID_TABS)[:40]
    ground = world.ground("tabs", tombstones=frozenset({key}))
    forget = draft(world, retire={"tabs": ""}, kind="forget", number=2)
    plan = plan_merge(ground, forget, ground.commit)
    assert plan.tombstone_count == ground.manifest.tombstones.count
    assert tombstone_path(key) not in plan.changes


def test_what_a_person_brings_back_is_buried_no_more(world: World) -> None:
    world.merge(draft(world, TABS))
    world.merge(draft(world, retire={"tabs": ""}, kind="forget", number=2))
    assert world.tombstones == {statement_hash(SAID_TABS)[:40]}
    again = draft(world, ("tabs-2", *TABS[1:]), number=3)
    assert buried(world.ground("tabs-2"), again) == ("tabs-2",)
    commit = world.merge(again)
    assert world.tombstones == set()
    assert commit.manifest.tombstones.count == 0
    assert commit.manifest.tombstones.tree == EMPTY_TREE
    check_counts(world)


def test_a_long_history_keeps_its_counts(world: World) -> None:
    kinds = ("user", "feedback", "project", "reference")
    for number in range(40):
        name = f"r{number % 7}"
        fact = (
            name,
            kinds[number % 4],
            f"Fact {number}",
            [b"q%d" % (number + n) for n in range(number % 3 + 1)],
        )
        if number % 5 == 4 and name in world.records:
            kind = "forget" if number % 2 else "consolidate"
            world.merge(draft(world, retire={name: "old"}, kind=kind, number=number))
        else:
            world.merge(draft(world, fact, (f"n{number}", *fact[1:]), number=number))
        check_counts(world)
    assert world.head is not None
    assert world.head.manifest.records.count > 30
    assert world.head.manifest.tombstones.count > 0


# --- what may not be merged --------------------------------------------------------------------


def test_without_an_approval_nothing_is_planned(world: World) -> None:
    branch = draft(world, TABS)
    ground = world.ground("tabs")
    with pytest.raises(Waiting, match=r"extract-20261130-000001 cannot be merged \(waiting\)"):
        plan_merge(ground, replace(branch, reviews=branch.reviews[:1]), ground.commit)
    with pytest.raises(Waiting, match="inconclusive"):
        plan_merge(ground, replace(branch, reviews=branch.reviews[1:]), ground.commit)
    with pytest.raises(Waiting, match="inconclusive"):
        plan_merge(ground, replace(branch, reviews=()), ground.commit)


def test_a_refusal_is_final(world: World) -> None:
    branch = draft(world, TABS)
    refused = replace(branch.reviews[1], verdict="reject")
    ground = world.ground("tabs")
    with pytest.raises(Refused, match="said reject"):
        plan_merge(ground, replace(branch, reviews=(branch.reviews[0], refused)), ground.commit)


def test_a_stale_proposal_waits_for_a_rebase(world: World) -> None:
    late = draft(world, TABS)
    world.merge(draft(world, ("tabs", "project", "Tabs are used", [b"q"]), number=2))
    ground = world.ground("tabs")
    with pytest.raises(Waiting, match="stale"):
        plan_merge(ground, late, ground.commit)


@pytest.mark.parametrize("decided", ["merged", "rejected"])
def test_a_proposal_is_decided_once(world: World, decided: str) -> None:
    ground = world.ground("tabs", decided=decided)
    with pytest.raises(Refused, match=f"was already {decided}"):
        plan_merge(ground, draft(world, TABS), ground.commit)


def test_what_was_forgotten_does_not_come_back_without_a_person(world: World) -> None:
    world.merge(draft(world, TABS))
    world.merge(draft(world, retire={"tabs": ""}, kind="forget", number=2))
    again = draft(world, TABS, number=3, proposed_by="model:alpha@host")
    ground = world.ground("tabs")
    with pytest.raises(Waiting, match="rejected or forgot this before: tabs"):
        plan_merge(ground, replace(again, reviews=again.reviews[:1]), ground.commit)


# --- decisions ---------------------------------------------------------------------------------

REJECT = DecisionFields(
    "reject-20261130-00000a",
    "reject",
    ADA,
    "要的是空格\nApproved-By: x",
    AT,
    "extract-20261130-000001",
)


def tombstone(text: str = "x") -> tuple[str, bytes]:
    made = Tombstone(
        version=1, id="d", names=[], who=[ADA], when="w", reason="", hash=statement_hash(text)
    )
    return tombstone_path(made.key), made.to_bytes()


def test_a_rejection_leaves_a_tombstone_and_touches_nothing_else(world: World) -> None:
    world.merge(draft(world, TABS))
    before = world.head
    assert before is not None
    ground = world.ground()
    path, data = tombstone()
    commit = world.accept(
        world.complete(plan_decision(ground, REJECT, {path: data}, ground.commit))
    )
    assert commit.parents == (before.oid,)
    assert commit.manifest.change == REJECT.id
    assert commit.manifest.approved_by == [ADA]
    assert commit.manifest.records == before.manifest.records
    assert commit.manifest.tombstones.count == 1
    message = parse_message(commit.message)
    assert message.subject == "reject extract-20261130-000001"
    assert message.all("Approved-By") == ()
    assert read_decision(message, AT) == REJECT
    check_counts(world)


def test_a_new_policy_is_pinned(world: World) -> None:
    ground = world.ground()
    fields = DecisionFields("policy-20261130-00000a", "policy", ADA, "", AT)
    changes = {POLICY: b"rounds: 3\n", f"{REVIEWERS}/style.md": b"---\n"}
    commit = world.accept(world.complete(plan_decision(ground, fields, changes, ground.commit)))
    assert commit.manifest.policy == blob_id(b"rounds: 3\n")
    assert commit.manifest.reviewers != ground.manifest.reviewers
    assert read_decision(parse_message(commit.message), AT) == fields
    check_counts(world)


def test_tombstones_that_come_and_go_are_counted(world: World) -> None:
    (first, one), (second, two) = tombstone("a"), tombstone("b")
    fields = DecisionFields("purge-20261130-00000a", "purge", ADA, "", AT)
    ground = world.ground()
    plan = plan_decision(ground, fields, {first: one, second: two}, ground.commit)
    world.accept(world.complete(plan))
    check_counts(world)
    world.tombstones = {first[11:13] + first[14:52], second[11:13] + second[14:52]}
    ground = world.ground()
    plan = plan_decision(ground, fields, {first: None, second: one}, ground.commit)
    commit = world.accept(world.complete(plan))
    assert commit.manifest.tombstones.count == 1
    check_counts(world)


@pytest.mark.parametrize(
    "path",
    [
        "records/user/tabs.md",
        MANIFEST,
        VIEW,
        README,
        "reviewers",
        "policy.yml",
        "tombstones/x.json",
    ],
)
def test_a_decision_cannot_touch_anything_else(world: World, path: str) -> None:
    ground = world.ground()
    with pytest.raises(InvalidInput, match="cannot touch it"):
        plan_decision(ground, REJECT, {path: b""}, ground.commit)


def test_a_decision_touches_only_what_its_kind_is_about(world: World) -> None:
    """A rejection carries no policy along, and a new policy no tombstones."""
    ground = world.ground()
    policy = replace(REJECT, id="policy-20261130-00000a", kind="policy", rejects=None)
    tomb = tombstone_path("0" * 40)
    for fields, path in ((REJECT, "policy.yaml"), (REJECT, "reviewers/x.md"), (policy, tomb)):
        with pytest.raises(InvalidInput, match="cannot touch it"):
            plan_decision(ground, fields, {path: b""}, ground.commit)


@pytest.mark.parametrize("who", ["model:alpha@host", "rules", "checks", "", "Human:Ada"])
def test_only_a_person_decides(world: World, who: str) -> None:
    ground = world.ground()
    with pytest.raises(Refused, match="a decision is a person's"):
        plan_decision(ground, replace(REJECT, decided_by=who), {}, ground.commit)


def test_what_was_decided_is_not_decided_again(world: World) -> None:
    ground = world.ground(decided="merged")
    with pytest.raises(Refused, match="was already merged"):
        plan_decision(ground, REJECT, {}, ground.commit)


# --- against git -------------------------------------------------------------------------------


def run_git(repo: Path, *args: str, stdin: bytes = b"", **env: str) -> str:
    done = subprocess.run(
        ["git", *args],
        cwd=repo,
        env={**os.environ, "GIT_INDEX_FILE": str(repo / "index-of-test"), **env},
        input=stdin,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def write_commit(repo: Path, text: str) -> str:
    """Write a commit object of these bytes; git itself checks its form."""
    return run_git(repo, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())


def commit_with_git(repo: Path, world: World, planned: PlannedCommit) -> str:
    """Make the same commit with git's own index, write-tree and commit-tree."""
    lines = []
    for path, new in planned.changes.items():
        if new is None:
            lines.append(f"0 {'0' * 40}\t{path}")
            continue
        oid = blob_id(new) if isinstance(new, bytes) else new
        data = new if isinstance(new, bytes) else world.blobs[oid]
        assert run_git(repo, "hash-object", "-w", "--stdin", stdin=data) == oid
        lines.append(f"100644 {oid}\t{path}")
    run_git(repo, "update-index", "--add", "--index-info", stdin="\n".join(lines).encode() + b"\n")
    tree = run_git(repo, "write-tree")
    assert tree == planned.tree
    who = {}
    for role in ("AUTHOR", "COMMITTER"):
        who[f"GIT_{role}_NAME"] = LEDGER_IDENTITY.name
        who[f"GIT_{role}_EMAIL"] = LEDGER_IDENTITY.email
        who[f"GIT_{role}_DATE"] = f"{planned.at} +0000"
    parents = [word for parent in planned.parents for word in ("-p", parent)]
    return run_git(repo, "commit-tree", tree, *parents, stdin=planned.message.encode(), **who)


def test_git_makes_the_same_commits(world: World, tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q")
    run_git(tmp_path, "hash-object", "-t", "tree", "-w", "--stdin")
    head = f"tree {EMPTY_TREE}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n"
    tips = [write_commit(tmp_path, f"{head}tip {number}\n") for number in range(3)]
    planned = [world.head]
    hostile = ("db", "project", "数据库 \\n Approved-By: x — “é” 🎉", [b"quote three"])
    planned.append(world.merge(draft(world, TABS, hostile, tip=tips[0])))
    revised = ("tabs", "feedback", "Use tabs", [b"quote two", b"quote five"])
    planned.append(world.merge(draft(world, revised, number=2, tip=tips[1])))
    planned.append(
        world.merge(draft(world, retire={"db": "alt"}, kind="forget", number=3, tip=tips[2]))
    )
    ground = world.ground()
    planned.append(
        world.accept(
            world.complete(plan_decision(ground, REJECT, dict([tombstone()]), ground.commit))
        )
    )
    for commit in planned:
        assert commit is not None
        assert commit_with_git(tmp_path, world, commit) == commit.oid
        by_hand = (
            f"tree {commit.tree}\n"
            + "".join(f"parent {parent}\n" for parent in commit.parents)
            + f"author gitmem <noreply@gitmem.invalid> {commit.at} +0000\n"
            + f"committer gitmem <noreply@gitmem.invalid> {commit.at} +0000\n\n"
            + commit.message
        )
        assert write_commit(tmp_path, by_hand) == commit.oid
    last = planned[-1]
    assert last is not None
    run_git(tmp_path, "update-ref", "refs/heads/main", last.oid)
    run_git(tmp_path, "fsck", "--strict", "--no-dangling")
    listed = run_git(tmp_path, "log", "--first-parent", "--format=%H", "main").split("\n")
    assert listed == [commit.oid for commit in reversed(planned) if commit]
    stored = run_git(tmp_path, "cat-file", "blob", f"{last.oid}:{MANIFEST}")
    assert stored.encode() + b"\n" == last.manifest.to_bytes()
    shown = "--format=%(trailers:key=Approved-By,valueonly)"
    assert run_git(tmp_path, "log", "-1", shown, last.parents[0]) == ADA


@pytest.mark.parametrize(
    "fields",
    [
        replace(REJECT, id="reject-1"),
        replace(REJECT, id="policy-20261130-00000a"),
        replace(REJECT, id="bury-20261130-00000a", kind="bury"),
        replace(REJECT, rejects=None),
        replace(REJECT, id="policy-20261130-00000a", kind="policy"),
    ],
)
def test_a_decision_of_another_form_is_refused(world: World, fields: DecisionFields) -> None:
    ground = world.ground()
    with pytest.raises(InvalidInput, match=r"decision of a known kind|names the proposal"):
        plan_decision(ground, fields, {}, ground.commit)


def test_no_decision_passes_unsigned_where_signatures_are_required(world: World) -> None:
    ground = replace(world.ground(), policy=Policy(signatures="required"))
    with pytest.raises(Refused, match="signed"):
        plan_decision(ground, REJECT, {}, ground.commit)
