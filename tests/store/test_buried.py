"""What was rejected or forgotten is found again where its text still is, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.domain.tombstone import statement_hash
from gitmem.errors import NotFound
from gitmem.store import Store
from gitmem.store.buried import buried_statements
from tests.store.stories import (
    ADA,
    BEN,
    QUOTE,
    blob,
    files,
    opened,
    plain,
    rev,
    set_main,
    tree_with,
)

TABS = "User prefers tabs\nUse tabs, not spaces, for indentation."
POSTGRES = f"{QUOTE[:60]}\n{QUOTE}"


@contextmanager
def store_at(root: Path) -> Iterator[Store]:
    store = Store.open(root)
    try:
        yield store
    finally:
        store.close()


def buried(root: Path) -> list[str]:
    with store_at(root) as store:
        found = buried_statements(store, store.head().accepted)
    assert all(statement_hash(one.statement) == one.tombstone.hash for one in found)
    return sorted(one.statement for one in found)


def forget(root: Path) -> None:
    with opened(root) as memory:
        memory.forget("use-tabs", reason="不再成立", person=BEN)


def reject(root: Path, proposal: str) -> None:
    with opened(root) as memory:
        memory.reject(proposal, reason="不对", person=ADA)


def kept(proposal: str) -> str:
    return f"refs/gitmem/kept/{proposal}"


def put_on_top(root: Path, ref: str, tree: str) -> None:
    """Put a commit with other files on a branch."""
    commit = plain(root, "commit-tree", tree, "-p", ref, "-m", "something else")
    plain(root, "update-ref", ref, commit)


def test_nothing_is_buried_where_nothing_was_rejected_or_forgotten(root: Path) -> None:
    assert buried(root) == []


def test_a_forgotten_text_is_found_in_the_history_of_main(root: Path) -> None:
    forget(root)
    with store_at(root) as store:
        (found,) = buried_statements(store, store.head().accepted)
    assert found.statement == TABS
    assert (found.tombstone.verb, found.tombstone.reason) == ("forgot", "不再成立")


def test_a_rejected_text_is_found_in_the_branch_that_is_kept_aside(
    root: Path, proposal: str
) -> None:
    reject(root, proposal)
    forget(root)
    assert buried(root) == sorted([POSTGRES, TABS])


def test_commits_on_a_kept_branch_do_not_hide_its_text(root: Path, proposal: str) -> None:
    reject(root, proposal)
    for _ in range(2):
        put_on_top(root, kept(proposal), "main^{tree}")
    assert buried(root) == [POSTGRES]


def test_a_branch_kept_under_a_number_is_looked_at_too(root: Path, proposal: str) -> None:
    reject(root, proposal)
    plain(root, "update-ref", f"{kept(proposal)}-2", rev(root, kept(proposal)))
    plain(root, "update-ref", kept(proposal), rev(root, "main"))
    assert buried(root) == [POSTGRES]


@pytest.mark.parametrize("how", ["the ref is gone", "the ref names something else"])
def test_a_rejected_text_that_is_gone_is_no_error(root: Path, proposal: str, how: str) -> None:
    reject(root, proposal)
    if how == "the ref is gone":
        plain(root, "update-ref", "-d", kept(proposal))
    else:
        plain(root, "update-ref", kept(proposal), rev(root, "main"))
    assert buried(root) == []


@pytest.mark.parametrize("data", [b"no record at all\n", b"\xff\x00", "换了别的内容".encode()])
def test_another_text_in_its_place_is_not_taken_for_it(
    root: Path, proposal: str, data: bytes
) -> None:
    reject(root, proposal)
    ref, path = kept(proposal), "records/project/db-postgres.md"
    real = plain(root, "show", f"{ref}:{path}").encode() + b"\n"
    other = real.replace(QUOTE.encode(), data) if data.startswith("换".encode()) else data
    tree = tree_with(root, f"{ref}^{{tree}}", {path: ("100644", blob(root, other))})
    root_commit = plain(root, "commit-tree", tree, "-m", "another text")
    plain(root, "update-ref", ref, root_commit)
    assert buried(root) == []


def test_a_text_is_found_behind_a_stray_that_took_its_file_away(root: Path) -> None:
    changes = {path: None for path in files(root, "main") if "use-tabs" in path}
    tree = tree_with(root, "main^{tree}", changes)
    set_main(root, plain(root, "commit-tree", tree, "-p", "main", "-m", "手动删除"))
    forget(root)
    assert buried(root) == [TABS]


def test_what_is_brought_back_is_buried_no_longer_in_a_store_that_stays_open(root: Path) -> None:
    with store_at(root) as store:
        assert buried_statements(store, store.head().accepted) == ()
        forget(root)
        first = buried_statements(store, store.head().accepted)
        assert [one.statement for one in first] == [TABS]
        assert buried_statements(store, store.head().accepted) == first
        with opened(root) as memory:
            description, _, body = TABS.partition("\n")
            memory.remember(body, name="tabs", description=description, type="user", person=ADA)
        assert buried_statements(store, store.head().accepted) == ()


def test_a_text_that_arrives_later_is_found_then(root: Path, proposal: str) -> None:
    reject(root, proposal)
    tip = rev(root, kept(proposal))
    plain(root, "update-ref", "-d", kept(proposal))
    with store_at(root) as store:
        assert buried_statements(store, store.head().accepted) == ()
        plain(root, "update-ref", kept(proposal), tip)
        found = buried_statements(store, store.head().accepted)
    assert [one.statement for one in found] == [POSTGRES]


def test_a_tombstone_whose_object_is_missing_is_named(root: Path) -> None:
    forget(root)
    (path,) = [path for path in files(root, "main") if path.startswith("tombstones/")]
    oid = rev(root, f"main:{path}")
    with store_at(root) as store:
        accepted = store.head().accepted
    packs = root / ".git/objects/pack"
    for pack in packs.glob("*.pack"):
        data = pack.read_bytes()
        for file in packs.glob(f"{pack.stem}.*"):
            file.unlink()
        plain(root, "unpack-objects", "-q", stdin=data)
    (root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with store_at(root) as store, pytest.raises(NotFound, match=oid):
        buried_statements(store, accepted)


def test_many_are_read_together(root: Path) -> None:
    """A hundred texts cost one answer each, whatever they lie between."""
    texts = [f"第 {n} 号服务器的端口是 {8000 + n}。" for n in range(100)]
    said = "\n".join(texts)
    records = [
        {
            "name": f"port-{n}",
            "type": "project",
            "description": text,
            "body": text,
            "evidence": [{"message": 0, "quote": text}],
        }
        for n, text in enumerate(texts)
    ]
    with opened(root) as memory:
        messages = [{"role": "user", "content": said}]
        asked = {"kind": "extract", "messages": messages, "records": records}
        proposal = memory.propose(asked).proposal
        assert proposal
        memory.reject(proposal, reason="端口都变了", person=BEN)
    assert buried(root) == sorted(f"{text}\n{text}" for text in texts)
