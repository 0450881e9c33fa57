"""docs/format.md is enough for a second program: this one knows the page and hashlib alone.

It computes every commit of the worked example from the page's words, without a line of gitmem.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

FORMAT = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
LEDGER = "gitmem <noreply@gitmem.invalid>"
NOON = 1796040000  # 2026-11-30T12:00:00Z
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def example(name: str) -> str:
    pattern = rf"<!-- example: {re.escape(name)} -->\n+```[a-z]*\n(.*?)^```$"
    (found,) = re.findall(pattern, FORMAT, re.MULTILINE | re.DOTALL)
    return str(found)


def golden(name: str) -> str:
    (oid,) = re.findall(rf"^\| {name} \| `([0-9a-f]+)` \|$", FORMAT, re.MULTILINE)
    return str(oid)


def git_id(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()


def tree_id(files: dict[str, bytes]) -> str:
    """The id of the tree with these files, by their paths."""
    names: dict[str, tuple[bytes, str]] = {}
    for path in files:
        first, slash, _ = path.partition("/")
        if slash:
            below = {p[len(first) + 1 :]: d for p, d in files.items() if p.startswith(first + "/")}
            names[first + "/"] = (b"40000 " + first.encode(), tree_id(below))
        else:
            names[first] = (b"100644 " + first.encode(), git_id("blob", files[path]))
    data = b"".join(h + b"\0" + bytes.fromhex(oid) for _, (h, oid) in sorted(names.items()))
    return git_id("tree", data)


def commit_id(tree: str, parents: list[str], author: str, at: int, message: str) -> str:
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {author} {at} +0000", f"committer {LEDGER} {at} +0000"]
    return git_id("commit", ("\n".join(lines) + "\n\n" + message.rstrip("\n") + "\n").encode())


def below(files: dict[str, bytes], folder: str) -> dict[str, bytes]:
    return {p[len(folder) + 1 :]: d for p, d in files.items() if p.startswith(folder + "/")}


def sealed(files: dict[str, bytes], view: str, **fields: object) -> dict[str, bytes]:
    """The files of a commit of main, with manifest and view."""

    def pin(folder: str) -> dict[str, object]:
        found = below(files, folder)
        return {"count": len(found), "tree": tree_id(found) if found else EMPTY_TREE}

    types = ("feedback", "project", "reference", "user")
    by_type = {t: sum(p.startswith(f"records/{t}/") for p in files) for t in types}
    manifest = {
        "version": 1,
        "records": {**pin("records"), "by_type": by_type},
        "evidence": pin("evidence"),
        "tombstones": pin("tombstones"),
        "policy": git_id("blob", files["policy.yaml"]),
        "reviewers": pin("reviewers")["tree"],
        **fields,
    }
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    return {**files, "manifest.json": text.encode(), "MEMORY.md": view.encode()}


def test_a_second_program_gets_every_id_of_the_example() -> None:
    ada = "Ada Lovelace <ada@example.org>"
    own: dict[str, bytes] = {"README.md": b"# A memory\n", "policy.yaml": b"{}\n"}
    empty = "# Memory\n\nNothing is remembered yet.\n"
    at = "2026-11-30T12:00:00Z"
    first = sealed(own, empty, change="genesis", approved_by=[], approved_at=at)
    genesis = commit_id(tree_id(first), [], LEDGER, NOON, example("genesis message"))
    assert genesis == golden("genesis")

    quote, record = example("evidence").encode(), example("record").encode()
    quote_id, record_id = git_id("blob", quote), git_id("blob", record)
    assert (quote_id, record_id) == (golden("evidence"), golden("record"))
    shard = hashlib.sha256(b"use-tabs").hexdigest()[:2]
    path = "records/feedback/use-tabs.md"
    brought = {path: record, f"evidence/{shard}/use-tabs/{quote_id}.md": quote}
    change = hashlib.sha256(f"{path}\0-\0{record_id}\n".encode()).hexdigest()
    assert change == golden("change hash")

    tree = tree_id({**first, **brought})
    rules, checks = (f"gitmem {who} <noreply@gitmem.invalid>" for who in ("rules", "checks"))
    tip = commit_id(tree, [genesis], rules, NOON + 60, example("proposal message"))
    assert tip == golden("proposal")
    tip = commit_id(tree, [tip], checks, NOON + 61, example("checks review message"))
    assert tip == golden("checks review")
    tip = commit_id(tree, [tip], ada, NOON + 120, example("person review message"))
    assert tip == golden("person review")

    view = "# Memory\n\n## feedback\n\n- [use-tabs](records/feedback/use-tabs.md) — "
    view += "Use tabs for indentation\n"
    who = {"approved_by": [f"human:{ada}"]}
    merged = {**own, **brought}
    at = "2026-11-30T12:02:00Z"
    files = sealed(merged, view, change="extract-20261130-7f3a2c", approved_at=at, **who)
    body = "added use-tabs (feedback): Use tabs for indentation"
    message = f"merge extract-20261130-7f3a2c: use-tabs\n\n  {body}\n\n"
    message += f"Proposal-Id: extract-20261130-7f3a2c\nApproved-By: human:{ada}\n"
    merge = commit_id(tree_id(files), [genesis, tip], LEDGER, NOON + 120, message)
    assert merge == golden("merge")

    tombstone = example("tombstone").encode()
    name = json.loads(tombstone)["hash"][:40]
    merged[f"tombstones/{name[:2]}/{name[2:]}.json"] = tombstone
    at = "2026-11-30T12:03:00Z"
    files = sealed(merged, view, change="reject-20261130-00aa11", approved_at=at, **who)
    message = "reject extract-20261130-c0ffee\n\nDecision: reject-20261130-00aa11\n"
    message += "Decision-Kind: reject\nRejects: extract-20261130-c0ffee\n"
    message += f"Decided-By: human:{ada}\nReason: it was a joke\n"
    decision = commit_id(tree_id(files), [merge], LEDGER, NOON + 180, message)
    assert decision == golden("decision")
