"""Every reader of text or bytes from outside, with whole inputs, and what must hold of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import yaml

from gitmem.cli.batch import read_batch, write_batch
from gitmem.cli.form import Form, read_form, write_form
from gitmem.config import parse_person
from gitmem.documents import (
    make_evidence,
    policy_file,
    read_evidence,
    read_policy,
    read_policy_by_hand,
    read_reviewer,
    write_evidence,
)
from gitmem.domain.commit_message import CommitMessage, parse_message, write_message
from gitmem.domain.instants import read_moment
from gitmem.domain.kept import Closing, closing_message, read_closing
from gitmem.domain.manifest import (
    ByType,
    FolderPin,
    Manifest,
    RecordsPin,
    check_version,
    parse_manifest,
)
from gitmem.domain.objects import (
    Commit,
    TreeEntry,
    decode_commit,
    decode_tree,
    encode_commit,
    encode_tree,
)
from gitmem.domain.policy import Policy
from gitmem.domain.proposal import (
    Proposal,
    RecordAt,
    RecordChange,
    proposal_message,
    read_proposal,
    read_rebase,
    rebase_message,
)
from gitmem.domain.record import make_record
from gitmem.domain.review import Finding, Review, read_review, review_message
from gitmem.domain.tombstone import Tombstone, parse_tombstone, statement_hash
from gitmem.domain.verify import read_decision
from gitmem.domain.yaml_form import is_written
from gitmem.errors import GitmemError, InvalidInput
from gitmem.records import (
    read_frontmatter,
    read_record,
    read_yaml_mapping,
    write_record,
    write_yaml_mapping,
)
from gitmem.results import ProposalDiff, ProposalSummary, ShownRecord
from tests.fuzz.mutations import outcome

OID = "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678"
AT = "2026-11-30T16:20:11Z"
ADA = "human:Ada <ada@example.org>"
DIGEST = "sha256:" + "ab" * 32


@dataclass(frozen=True)
class Reader:
    """``read`` takes bytes and raises gitmem's errors; ``check`` fails where what was read is
    not what the bytes say. ``seeds`` are read without an error."""

    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[bytes], Any]
    check: Callable[[bytes, Any], None]


READERS: list[Reader] = []


def reader(name: str, *seeds: bytes | str) -> Callable[..., Callable[[bytes], Any]]:
    """Register a function as the reader ``name``."""

    def register(read: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
        encoded = tuple(seed.encode() if isinstance(seed, str) else seed for seed in seeds)
        READERS.append(Reader(name, encoded, read, lambda data, value: None))
        return read

    return register


def checked(name: str) -> Callable[[Callable[[bytes, Any], None]], Callable[[bytes, Any], None]]:
    """Register what must hold of whatever the reader ``name`` accepts."""

    def register(check: Callable[[bytes, Any], None]) -> Callable[[bytes, Any], None]:
        (at,) = (n for n, known in enumerate(READERS) if known.name == name)
        READERS[at] = replace(READERS[at], check=check)
        return check

    return register


# --- files with frontmatter ------------------------------------------------------------------

RECORD = make_record(
    name="user-prefers-tabs",
    description="User prefers tabs: 制表符, not spaces # really",
    type="user",
    evidence=[OID, "0" * 40],
    body='Use tabs.\n---\n**Why:** 一致 "quoted" \\ and 👩‍👩‍👧\n\n- a list',
    valid_from="2026-01-02",
    supersedes=["old-name"],
    extra={"modified": "2026-01-02T03:04:05Z", "more": {"deep": ["a", "b"], "é": "no"}, "l": []},
)
BY_HAND = f"""\
---
name: by-hand   # not quoted
description: 'It''s plain'
type: project
evidence: [{OID}]
note: |
  folded
  text
other: >-
  one
  line
---
Body.
"""


@reader("record", write_record(RECORD), BY_HAND.replace("   # not quoted", ""))
def _record(data: bytes) -> Any:
    return read_record(data, "records/user/x.md")


@checked("record")
def _check_record(data: bytes, record: Any) -> None:
    written = write_record_if_it_fits(record)
    if written is not None:
        assert read_record(written, "x") == record
        assert write_record(read_record(written, "x")) == written
        check_yaml(written)
    check_yaml(data)


def write_record_if_it_fits(record: Any) -> bytes | None:
    """The record's file; None where quoting makes it longer than a record may be."""
    try:
        return write_record(record)
    except InvalidInput as error:
        assert "the limit is" in error.message, error
        return None


def check_yaml(data: bytes) -> None:
    """What is accepted reads equal in PyYAML: string by string in both of its parsers where both
    take it, and as typed data where gitmem wrote it."""
    text = data.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    block = text.split("\n---", 1)[0].partition("\n")[2] + "\n"
    fields = read_frontmatter(data, where="x", max_bytes=8192).fields
    assert (yaml.load(block, Loader=yaml.BaseLoader) or {}) == fields, block
    loaders = [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)]
    if is_written(block):
        for loader in loaders:
            assert yaml.load(block, Loader=loader) == fields, block


@reader("frontmatter", write_record(RECORD), BY_HAND)
def _frontmatter(data: bytes) -> Any:
    return read_frontmatter(data, where="x.md", max_bytes=8192)


@reader("yaml mapping", 'a: "1"\nb:\n- "x"\n- - "y"\nc:\n  d: "z"\n', "a: [1, {b: c}]\n# comment\n")
def _mapping(data: bytes) -> Any:
    return read_yaml_mapping(data, where="x.yaml")


@checked("yaml mapping")
def _check_mapping(data: bytes, mapping: Any) -> None:
    try:
        written = write_yaml_mapping(mapping)
    except InvalidInput as error:
        assert "the limit is" in error.message
        return
    assert read_yaml_mapping(written, where="x") == mapping
    for loader in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        assert yaml.load(written, Loader=loader) == mapping


EVIDENCE = make_evidence(
    session="openai-20261130-abcdef123456",
    message=3,
    cls="human",
    attested="file",
    at=AT,
    digest=DIGEST,
    quote="请用制表符。\nUse tabs, please.",
)


@reader("evidence", write_evidence(EVIDENCE))
def _evidence(data: bytes) -> Any:
    return read_evidence(data, "evidence/ab/x/y.md")


@checked("evidence")
def _check_evidence(data: bytes, evidence: Any) -> None:
    assert write_evidence(evidence) == data


POLICY = policy_file(Policy(signers=("ada@example.org ssh-ed25519 AAAA",)))


@reader("policy", POLICY, "two_person: true\nview:\n  lines: 20\n", "{}\n")
def _policy(data: bytes) -> Any:
    return read_policy(data)


@checked("policy")
def _check_policy(data: bytes, policy: Any) -> None:
    try:
        written = policy_file(policy)
    except InvalidInput as error:
        assert "the limit is" in error.message
        return
    assert read_policy(written) == policy


@reader("policy by hand", POLICY, "# 注释\nrounds: 3\n")
def _policy_by_hand(data: bytes) -> Any:
    return read_policy_by_hand(data.decode("utf-8", "surrogateescape"), "")


REVIEWER = """\
---
name: "strict"
applies_to:
- "extract"
- "edit"
blocking: "true"
role: "reviewer"
---

Judge it. 请判断。
"""


@reader("reviewer", REVIEWER)
def _reviewer(data: bytes) -> Any:
    return read_reviewer(data, "reviewers/strict.md")


# --- JSON ------------------------------------------------------------------------------------

_PIN = FolderPin(tree=OID, count=2)
MANIFEST = Manifest(
    version=1,
    records=RecordsPin(tree=OID, count=2, by_type=ByType(user=1, project=1)),
    evidence=_PIN,
    tombstones=_PIN,
    policy=OID,
    reviewers=OID,
    change="extract-20261130-7f3a2c",
    approved_by=[ADA],
    approved_at=AT,
)


@reader("manifest", MANIFEST.to_bytes())
def _manifest(data: bytes) -> Any:
    check_version(data)
    return parse_manifest(data)


@checked("manifest")
def _check_manifest(data: bytes, manifest: Any) -> None:
    assert manifest.to_bytes() == data


TOMBSTONE = Tombstone(
    version=1,
    id="reject-20261130-7f3a2c",
    names=["old-name"],
    who=[ADA],
    when=AT,
    reason="不再 true",
    hash=statement_hash("x"),
)


@reader("tombstone", TOMBSTONE.to_bytes())
def _tombstone(data: bytes) -> Any:
    tombstone = parse_tombstone(data, "tombstones/ab/x.json")
    assert tombstone.decision and tombstone.verb
    return tombstone


@checked("tombstone")
def _check_tombstone(data: bytes, tombstone: Any) -> None:
    assert tombstone.to_bytes() == data


# --- commit messages -------------------------------------------------------------------------

_CHANGES = (
    RecordChange("user-prefers-tabs", None, RecordAt("records/user/user-prefers-tabs.md", OID)),
    RecordChange("old-name", RecordAt("records/user/old-name.md", OID), None),
)
PROPOSAL = Proposal(
    id="extract-20261130-7f3a2c",
    kind="extract",
    proposed_by="model:qwen-max@dashscope",
    session="openai-20261130-abcdef123456",
    attested="file",
    base=OID,
    nonce="ab" * 16,
    created_at=1_790_000_000,
    changes=_CHANGES,
    retire_reasons=(("old-name", "不再 true"),),
)
REVIEW = Review(
    by=ADA,
    reviewer="person",
    verdict="approve",
    change=PROPOSAL.change,
    rubric=None,
    findings=(Finding("warning", "instruction", "looks like\none", "user-prefers-tabs", 3),),
    at=1_790_000_000,
    reason="好",
)
CLOSING = Closing("extract-20261130-7f3a2c", "rejected", 1, "because", ADA)
MESSAGES = {
    "proposal": proposal_message(PROPOSAL, {"user-prefers-tabs": RECORD}, {}),
    "review": review_message(REVIEW, PROPOSAL.id),
    "closing": closing_message(CLOSING),
    "rebase": rebase_message(PROPOSAL.id, OID),
    "decision": CommitMessage(
        "reject extract-20261130-7f3a2c",
        (),
        (
            ("Decision", "reject-20261130-7f3a2c"),
            ("Decided-By", ADA),
            ("Decision-Kind", "reject"),
            ("Reason", "不再 true"),
            ("Rejects", "extract-20261130-7f3a2c"),
        ),
    ),
}


def _message(data: bytes) -> CommitMessage:
    return parse_message(data.decode("utf-8", "surrogateescape"))


@reader("commit message", *(write_message(message) for message in MESSAGES.values()))
def _any_message(data: bytes) -> Any:
    return _message(data)


@checked("commit message")
def _check_message(data: bytes, message: Any) -> None:
    written = write_message(message)
    assert parse_message(written) == message
    assert all(
        not line or line.startswith("  ") or ": " in line for line in written.split("\n")[1:]
    )


def _read_proposal(message: CommitMessage) -> Proposal:
    return read_proposal(message, 1_790_000_000, _CHANGES)


def _read_review(message: CommitMessage) -> Review:
    return read_review(message, 1_790_000_000, OID)


def _read_decision(message: CommitMessage) -> Any:
    return read_decision(message, 1_790_000_000)


KINDS: dict[str, Callable[[CommitMessage], Any]] = {
    "proposal": _read_proposal,
    "review": _read_review,
    "closing": lambda message: read_closing(message, 1),
    "rebase": lambda message: read_rebase(message, (OID, OID)),
    "decision": _read_decision,
}


def _kind(read: Callable[[CommitMessage], Any], data: bytes) -> Any:
    return read(_message(data))


for _name, _read in KINDS.items():
    reader(f"{_name} commit", write_message(MESSAGES[_name]))(functools.partial(_kind, _read))


@checked("review commit")
def _check_review(data: bytes, review: Any) -> None:
    again = read_review(review_message(review, "x"), review.at, review.oid)
    assert again == review


@checked("closing commit")
def _check_closing(data: bytes, closing: Any) -> None:
    assert read_closing(closing_message(closing), closing.at) == closing


# --- git objects -----------------------------------------------------------------------------

COMMIT = encode_commit(
    Commit(
        OID,
        (OID, "0" * 40),
        "Ada <ada@example.org> 1790000000 +0000",
        "gitmem <noreply@gitmem.invalid> 1790000000 +0000",
        write_message(MESSAGES["review"]),
        (("gpgsig", "-----BEGIN\n\nx"), ("encoding", "x")),
    )
)
TREE = encode_tree(
    [
        TreeEntry("100644", "manifest.json", OID),
        TreeEntry("40000", "records", OID),
        TreeEntry("120000", "链接", OID),
    ]
)


def typed(decode: Callable[[bytes], Any], data: bytes) -> Any:
    """What a decoder of git objects says; its ValueError is told as gitmem's own by its caller."""
    try:
        return decode(data)
    except ValueError as error:
        assert type(error) is ValueError, error
        raise InvalidInput(str(error)) from error


@reader("git commit", COMMIT)
def _commit(data: bytes) -> Any:
    return typed(decode_commit, data)


@checked("git commit")
def _check_commit(data: bytes, commit: Any) -> None:
    assert encode_commit(commit) == data


@reader("git tree", TREE)
def _tree(data: bytes) -> Any:
    return typed(decode_tree, data)


@checked("git tree")
def _check_tree(data: bytes, entries: Any) -> None:
    assert sum(len(e.name.encode("utf-8", "surrogateescape")) for e in entries) <= len(data)


# --- what a person types ---------------------------------------------------------------------

SUMMARY = ProposalSummary(
    id=PROPOSAL.id, kind="extract", state="waiting", records=(), findings=(), created_at=AT
)
_FILE = write_record(RECORD).decode()
DIFF = ProposalDiff(
    summary=SUMMARY,
    change=PROPOSAL.change,
    records=(
        ShownRecord("user-prefers-tabs", "added", "records/user/x.md", "", _FILE, ()),
        ShownRecord("old-name", "retired", "records/user/old-name.md", _FILE, "", ()),
    ),
)
NONCE = "a1b2c3"


@reader("batch of an editor", write_batch([DIFF], NONCE))
def _batch(data: bytes) -> Any:
    return read_batch(data.decode("utf-8", "replace"), [DIFF], NONCE, "batch.md")


@checked("batch of an editor")
def _check_batch(data: bytes, outcomes: Any) -> None:
    (made,) = outcomes.values()
    assert sorted([*made.kept, *made.rejected]) == ["old-name", "user-prefers-tabs"]
    for name, text in made.texts.items():
        assert read_record(text, "x").name == name


FORM = Form("What it says", "user", "Body 正文\n\nmore", "2026-01-02", supersedes=("a", "b"))


@reader("form of an editor", write_form(FORM))
def _form(data: bytes) -> Any:
    return read_form(data, "form.md")


@checked("form of an editor")
def _check_form(data: bytes, form: Any) -> None:
    assert isinstance(form, Form) and form.body == form.body.strip()


@reader("date", "2026-11-30", "2026-11-30T16:20:11+08:00", "2026-1-3 4:05")
def _moment(data: bytes) -> Any:
    return read_moment(data.decode("utf-8", "surrogateescape"))


@reader("person", "Ada Lovelace <ada@example.org>", "本 <ben@example.org>")
def _person(data: bytes) -> Any:
    return parse_person(data.decode("utf-8", "surrogateescape"))


def attempt(one: Reader, data: bytes) -> Any:
    """Read ``data``: gitmem's own error comes, or what is right; and twice the same."""
    first, second = outcome(lambda: one.read(data)), outcome(lambda: one.read(data))
    if isinstance(first, GitmemError):
        assert str(first) == str(second)
    else:
        assert first == second
        one.check(data, first)
    return first
