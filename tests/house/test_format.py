"""The worked example of docs/format.md is what gitmem writes, byte for byte."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from gitmem.cache import Projection
from gitmem.documents import MAX_REVIEWER_BYTES, make_evidence, read_evidence, read_policy
from gitmem.domain import evidence as quotes
from gitmem.domain import layout, record
from gitmem.domain.canonical import canonical_json
from gitmem.domain.evidence import Evidence
from gitmem.domain.instants import parse_instant
from gitmem.domain.layout import evidence_path, record_path, tombstone_path
from gitmem.domain.manifest import MAX_MANIFEST_BYTES, parse_manifest
from gitmem.domain.objects import Identity, blob_id
from gitmem.domain.policy import MAX_POLICY_BYTES, Policy
from gitmem.domain.record import statement
from gitmem.domain.review import Review
from gitmem.domain.session import Message, message_digest
from gitmem.domain.structure import MAX_CHANGES
from gitmem.domain.text import normalise_statement
from gitmem.domain.tombstone import (
    MAX_REASON,
    MAX_TOMBSTONE_BYTES,
    Tombstone,
    parse_tombstone,
    statement_hash,
)
from gitmem.domain.verify import DecisionFields
from gitmem.records import MAX_YAML_BYTES, read_record
from gitmem.repo import Repo
from gitmem.services.begin import policy_file
from gitmem.services.capture import read_change_set
from gitmem.services.verifying import fsck
from gitmem.store import Draft, Entry, Origin, Store, make_draft
from gitmem.store.facts import MAX_BRANCH
from gitmem.transcripts.base import MAX_ARRAY_FILE, MAX_LINE, MAX_LINES_FILE

FORMAT = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
ADA = "human:Ada Lovelace <ada@example.org>"
NOON = parse_instant("2026-11-30T12:00:00Z")


def example(name: str) -> str:
    """The block under the comment ``<!-- example: name -->``."""
    pattern = rf"<!-- example: {re.escape(name)} -->\n+```[a-z]*\n(.*?)^```$"
    (found,) = re.findall(pattern, FORMAT, re.MULTILINE | re.DOTALL)
    return str(found)


def golden() -> dict[str, str]:
    """The ids of the worked example, by their names."""
    rows = re.findall(r"^\| ([a-z ]+) \| `([0-9a-f]{40,64})` \|$", FORMAT, re.MULTILINE)
    return dict(rows)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    repo = Repo.init(tmp_path / "memory")
    return Store(repo, Projection.open(repo.private / "cache.sqlite"))


def message() -> Message:
    return Message.model_validate_json(example("message"))


def evidence() -> Evidence:
    fields = read_evidence(example("evidence").encode("utf-8"), "evidence").model_dump()
    return make_evidence(**fields)


def draft(store: Store) -> Draft:
    """The proposal of the example, on the first commit."""
    fact = read_record(example("record").encode("utf-8"), "record")
    ground = store.facts.ground(store.head().accepted, [fact.name])
    entry = Entry(fact.name, fact.type, fact.description, fact.body, (evidence(),))
    origin = Origin("extract", "rules", evidence().session, "file", "7f3a2c" + "0" * 26, NOON + 60)
    return make_draft(ground, origin, [entry], {})


def review(by: str, reviewer: str, change: str, at: int) -> Review:
    return Review(by, reviewer, "approve", change, None, (), at)


def build(store: Store) -> dict[str, str]:
    """Write the example with the real code; return every id that it gets."""
    files = {"README.md": b"# A memory\n", "policy.yaml": b"{}\n"}
    ids = {"genesis": store.begin("0" * 32, files, NOON)}
    made = draft(store)
    change = made.proposal.change
    checks = review("gitmem:0.1.0", "checks", change, NOON + 61)
    rules = Identity("gitmem rules", "noreply@gitmem.invalid")
    tip = store.put_proposal(made, [checks], rules)
    approved = store.add_review(made.proposal.id, tip, review(ADA, "person", change, NOON + 120))
    (touched,) = made.proposal.changes
    assert touched.new is not None
    assert touched.new.path == record_path("feedback", "use-tabs", sharded=False)
    ids |= {"record": touched.new.blob, "change hash": change}
    ids |= {"evidence": blob_id(example("evidence").encode("utf-8"))}
    ids |= {"proposal": store.repo.reader.commit(tip).parents[0], "checks review": tip}
    ids |= {"person review": approved, "merge": store.merge(made.proposal.id)}
    tomb = parse_tombstone(example("tombstone").encode("utf-8"), "tombstone")
    fields = DecisionFields(
        "reject-20261130-00aa11", "reject", ADA, tomb.reason, NOON + 180, tomb.id
    )
    ids["decision"] = store.decide(fields, {tombstone_path(tomb.key): tomb.to_bytes()})
    return ids


def test_the_ids_of_the_example_are_those_that_gitmem_writes(store: Store) -> None:
    assert build(store) == golden()
    assert fsck(store).ok


@pytest.mark.parametrize("name", ["genesis", "proposal", "checks review", "person review"])
def test_a_message_of_the_example_is_what_git_holds(store: Store, name: str) -> None:
    oid = build(store)[name]
    printed = subprocess.run(
        ["git", "-C", str(store.repo.git_dir), "log", "-1", "--format=%B", oid],
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert printed.rstrip("\n") == example(f"{name} message").rstrip("\n")


def test_the_merge_of_the_example_is_what_git_holds(store: Store) -> None:
    oid = build(store)["merge"]
    commit = subprocess.run(
        ["git", "-C", str(store.repo.git_dir), "cat-file", "commit", oid],
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert commit == example("merge commit")


def test_manifest_and_view_of_the_example_are_what_git_holds(store: Store) -> None:
    merge = build(store)["merge"]
    for file, name in (("manifest.json", "manifest"), ("MEMORY.md", "view")):
        data = subprocess.run(
            ["git", "-C", str(store.repo.git_dir), "cat-file", "blob", f"{merge}:{file}"],
            capture_output=True,
            check=True,
        ).stdout
        assert data.decode("utf-8") == example(name)
    assert parse_manifest(example("manifest").encode("utf-8")).records.count == 1


def test_the_evidence_of_the_example_is_of_its_message() -> None:
    text = example("message").removesuffix("\n")
    assert canonical_json(message().to_json()) == text.encode("utf-8")
    assert message_digest(message()) == evidence().digest
    assert evidence().quote in message().parts[0].text
    fact = read_record(example("record").encode("utf-8"), "record")
    oid = blob_id(example("evidence").encode("utf-8"))
    assert fact.evidence == (oid,)
    assert f"`{evidence_path(fact.name, oid)}`" in FORMAT


def test_the_tombstone_of_the_example_is_named_by_its_statement() -> None:
    data = example("tombstone").encode("utf-8")
    tomb = parse_tombstone(data, "tombstone")
    assert isinstance(tomb, Tombstone)
    assert f"`{tombstone_path(tomb.key)}`" in FORMAT
    text = example("rejected statement").removesuffix("\n")
    assert statement_hash(text) == tomb.hash
    assert f"`{normalise_statement(text)}`" in FORMAT


def test_a_statement_is_description_and_body() -> None:
    fact = read_record(example("record").encode("utf-8"), "record")
    assert statement(fact) == f"{fact.description}\n{fact.body}"


def test_the_default_policy_is_the_one_shown() -> None:
    data = example("policy").encode("utf-8")
    assert data == policy_file(Policy())
    assert read_policy(data) == Policy() == read_policy(b"{}\n")


def test_the_change_set_of_the_page_is_read() -> None:
    change_set = read_change_set(json.loads(example("change set")))
    assert [item.name for item in change_set.records] == ["use-tabs"]
    assert [gone.name for gone in change_set.retire] == ["use-spaces"]
    assert change_set.messages is not None


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    rows = dict(
        re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", FORMAT.split("## Limits")[1], re.MULTILINE)
    )
    assert rows["name"] == f"{layout.MAX_NAME} characters"
    assert rows["description"] == f"{record.MAX_DESCRIPTION} characters"
    assert rows["record file"] == f"{record.MAX_LINES} lines and {record.MAX_BYTES} bytes"
    assert rows["quotes of a record"] == f"{record.MAX_EVIDENCE}"
    assert rows["quote"].startswith(f"{quotes.MAX_QUOTE} characters")
    assert rows["evidence file"] == f"{quotes.MAX_EVIDENCE_BYTES} bytes"
    assert rows["frontmatter"] == (
        f"{MAX_YAML_BYTES} bytes, {record.MAX_DEPTH} levels, keys of {record.MAX_KEY} characters"
    )
    sizes = MAX_POLICY_BYTES, MAX_MANIFEST_BYTES, MAX_TOMBSTONE_BYTES, MAX_REVIEWER_BYTES
    together = "policy, manifest, tombstone, reviewer"
    assert rows[together] == ", ".join(map(str, sizes)) + " bytes"
    assert rows["reason of a rejection"].startswith(f"{MAX_REASON} characters")
    counts = rows["records of a proposal, commits of its branch"]
    assert counts == f"{MAX_CHANGES}, {MAX_BRANCH}"
    mib = (MAX_LINES_FILE >> 20, MAX_ARRAY_FILE >> 20, MAX_LINE >> 20)
    assert tuple(map(int, re.findall(r"[0-9]+", rows["transcript"]))) == mib


def test_the_table_of_classes_is_that_of_the_code() -> None:
    table = FORMAT.split("| class | may support |")[1].split("\n\n")[0]
    said = {}
    for classes, types in re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", table, re.MULTILINE):
        for name in re.findall(r"[a-z]+", classes):
            said[name] = frozenset() if types == "nothing" else frozenset(types.split(", "))
    assert said == quotes.SUPPORTS
