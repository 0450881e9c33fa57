"""Quotes whose conversations were edited, damaged or taken away after they were quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.results import ProposalDiff
from gitmem.sessions import SessionFiles
from gitmem.store import Store, judged_diff
from tests.store.stories import ADA, change_set, copy, opened

QUOTE = "我们每周二部署，因为那天有人值班。"


@pytest.fixture(scope="module")
def _quoting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A memory with a record and an open proposal, each from a session of its own."""
    root = tmp_path_factory.mktemp("quoting") / "memory"
    with MemoryStore.init(root) as memory:
        memory.remember("Use tabs, not spaces, 全部。", name="use-tabs", type="user", person=ADA)
        proposal = memory.propose(change_set("deploy-day", QUOTE)).proposal
    assert proposal
    return root, proposal


@pytest.fixture
def quoting(_quoting: tuple[Path, str], tmp_path: Path) -> Path:
    return copy(_quoting[0], tmp_path / "memory")


def session_files(root: Path) -> list[Path]:
    return sorted((root / ".git/gitmem/sessions").glob("*.jsonl"))


def edit_all(root: Path, old: str, new: str) -> None:
    files = session_files(root)
    before = [path.read_text(encoding="utf-8") for path in files]
    assert any(old in text for text in before)
    for path, text in zip(files, before, strict=True):
        path.write_text(text.replace(old, new), encoding="utf-8")


def emptied(root: Path) -> None:
    for path in session_files(root):
        path.write_bytes(b"")


def folders(root: Path) -> None:
    for path in session_files(root):
        path.unlink()
        path.mkdir()


def links(root: Path) -> None:
    for path in session_files(root):
        path.rename(path.with_suffix(".moved"))
        path.symlink_to(path.with_suffix(".moved"))


def of_a_newer_gitmem(root: Path) -> None:
    for path in session_files(root):
        header, rest = path.read_bytes().split(b"\n", 1)
        newer = json.loads(header) | {"version": 1000}
        path.write_bytes(json.dumps(newer).encode() + b"\n" + rest)


UNREADABLE: list[Callable[[Path], None]] = [emptied, folders, links, of_a_newer_gitmem]


@pytest.mark.parametrize("damage", UNREADABLE, ids=lambda damage: damage.__name__)
def test_why_shows_the_record_and_its_history_whatever_became_of_the_session_file(
    quoting: Path, damage: Callable[[Path], None]
) -> None:
    damage(quoting)
    with opened(quoting) as memory:
        why = memory.why("use-tabs")
        (quote,) = why.record.evidence
        (note,) = memory.notes
    assert why.contexts == {} and [entry.kind for entry in why.history] == ["remember"]
    file = quoting / ".git/gitmem/sessions" / f"{quote.session}.jsonl"
    assert "cannot be read" in note and str(file) in note
    assert why.to_json()["missing"] == {quote.id: note}


def test_a_changed_session_is_told_from_one_that_is_not_here(quoting: Path) -> None:
    def missing() -> str:
        with opened(quoting) as memory:
            why = memory.why("use-tabs")
            assert why.contexts == {} and memory.notes == []
        (reason,) = why.missing.values()
        return reason

    edit_all(quoting, "tabs", "spaces")
    assert "the session has changed: its message 0 is not the one that was quoted" in missing()
    assert "digest differs" in missing() and "does not stand in it" in missing()
    edit_all(quoting, "spaces, not spaces, 全部。", "so: Use tabs, not spaces, 全部。 Or so.")
    assert "though the quote stands in it" in missing()
    for path in session_files(quoting):
        path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    assert "has no message 0 any more" in missing()
    for path in session_files(quoting):
        path.unlink()
    assert missing() == "the session is not on this machine"


def shown(root: Path, proposal: str) -> ProposalDiff:
    store = Store.open(root)
    try:
        sessions = SessionFiles(store.repo.private / "sessions")
        _, tip = store.find_proposal(proposal)
        return judged_diff(store, store.judged_as(proposal, tip), sessions)
    finally:
        store.close()


def test_an_open_proposal_warns_of_quotes_that_their_session_does_not_bear_out(
    quoting: Path, _quoting: tuple[Path, str]
) -> None:
    proposal = _quoting[1]
    before = shown(quoting, proposal)
    assert before.summary.findings == ()
    edit_all(quoting, "每周二", "每周五")
    (finding,) = shown(quoting, proposal).summary.findings
    assert (finding.severity, finding.record) == ("warning", "deploy-day")
    (quote,) = before.records[0].quotes
    assert finding.text.startswith(f"quote {quote.id[:7]}: the session has changed")
    assert shown(quoting, proposal).change == before.change
    emptied(quoting)
    (finding,) = shown(quoting, proposal).summary.findings
    assert finding.severity == "warning" and "damaged session file" in finding.text
    for path in session_files(quoting):
        path.unlink()
    assert shown(quoting, proposal).summary.findings == ()
