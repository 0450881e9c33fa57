"""MEMORY.md among the checked-out files is rebuilt, and what a person wrote into it is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.domain.objects import blob_id
from tests.memory.words import ADA, change_set, item, user
from tests.store.stories import plain

EDIT = "# 我的笔记\n\nAda's own words.\n"
SAID = "Port 8081 is the one."


def remember(memory: MemoryStore) -> None:
    memory.remember("We use tabs, not spaces.", name="use-tabs", type="feedback", person=ADA)


def approve(memory: MemoryStore) -> None:
    proposal = memory.propose(change_set([user(SAID)], item(SAID))).proposal
    assert proposal
    memory.approve(proposal, person=ADA)


def reject(memory: MemoryStore) -> None:
    proposal = memory.propose(change_set([user(SAID)], item(SAID))).proposal
    assert proposal
    memory.reject(proposal, reason="no", person=ADA)


def status(memory: MemoryStore) -> None:
    memory.status()


def kept(memory: MemoryStore) -> dict[str, str]:
    folder = memory.path / ".git/gitmem/edited"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*")}


def clean(memory: MemoryStore) -> bool:
    return plain(memory.path, "status", "--porcelain") == ""


@pytest.mark.parametrize("act", [status, remember, approve, reject])
def test_a_missing_view_is_written_again(
    memory: MemoryStore, act: Callable[[MemoryStore], None]
) -> None:
    (memory.path / "MEMORY.md").unlink()
    act(memory)
    assert clean(memory)
    assert (memory.path / "MEMORY.md").exists()
    assert [note for note in memory.notes if "MEMORY.md" in note and "written again" in note]
    assert kept(memory) == {}


@pytest.mark.parametrize("act", [status, remember, approve, reject])
def test_an_edited_view_is_kept_aside_and_rebuilt(
    memory: MemoryStore, act: Callable[[MemoryStore], None]
) -> None:
    view = memory.path / "MEMORY.md"
    view.write_text(EDIT, encoding="utf-8")
    act(memory)
    assert clean(memory)
    name = f"MEMORY-{blob_id(EDIT.encode())[:8]}.md"
    assert kept(memory) == {name: EDIT}
    (note,) = memory.notes
    assert name in note and "rebuilt" in note


def test_nothing_that_was_kept_is_ever_overwritten(memory: MemoryStore) -> None:
    view = memory.path / "MEMORY.md"
    full = blob_id(EDIT.encode())
    for text in (EDIT, "second\n", EDIT):
        view.write_text(text, encoding="utf-8")
        memory.status()
    assert sorted(kept(memory).values()) == sorted([EDIT, "second\n"])
    other = memory.path / ".git/gitmem/edited" / f"MEMORY-{full[:8]}.md"
    other.write_text("another that begins with the same id\n", encoding="utf-8")
    view.write_text(EDIT, encoding="utf-8")
    memory.status()
    assert kept(memory)[f"MEMORY-{full}.md"] == EDIT
    assert "another" in kept(memory)[other.name]


def test_a_view_as_it_should_be_costs_no_note_and_is_not_written(memory: MemoryStore) -> None:
    view = memory.path / "MEMORY.md"
    before = view.stat()
    memory.status()
    view_now = view.stat()
    assert (view_now.st_ino, view_now.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    view.write_bytes(view.read_bytes().replace(b"\n", b"\r\n"))
    memory.status()
    assert memory.notes == [] and kept(memory) == {}


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege elsewhere")
def test_a_link_at_its_place_is_not_followed(memory: MemoryStore, tmp_path: Path) -> None:
    victim = tmp_path / "victim.md"
    victim.write_text(EDIT, encoding="utf-8")
    view = memory.path / "MEMORY.md"
    view.unlink()
    view.symlink_to(victim)
    memory.status()
    remember(memory)
    assert victim.read_text(encoding="utf-8") == EDIT
    assert view.is_symlink() and kept(memory) == {}
    assert any("symbolic link" in note for note in memory.notes)


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege elsewhere")
def test_an_edit_is_left_where_it_cannot_be_kept(memory: MemoryStore, tmp_path: Path) -> None:
    (memory.path / ".git/gitmem/edited").symlink_to(tmp_path)
    (memory.path / "MEMORY.md").write_text(EDIT, encoding="utf-8")
    memory.status()
    assert (memory.path / "MEMORY.md").read_text(encoding="utf-8") == EDIT
    assert not list(tmp_path.glob("MEMORY-*"))
    assert any("cannot be kept" in note for note in memory.notes)


@pytest.mark.parametrize("how", ["another branch", "detached", "merge", "rebase", "skipped"])
def test_a_work_tree_that_is_at_something_else_is_left_alone(memory: MemoryStore, how: str) -> None:
    git_dir = memory.path / ".git"
    if how == "another branch":
        plain(memory.path, "checkout", "-q", "-b", "mine")
    elif how == "detached":
        plain(memory.path, "checkout", "-q", "--detach")
    elif how == "merge":
        (git_dir / "MERGE_HEAD").write_text(plain(memory.path, "rev-parse", "HEAD") + "\n")
    elif how == "rebase":
        (git_dir / "rebase-merge").mkdir()
    else:
        plain(memory.path, "update-index", "--skip-worktree", "MEMORY.md")
    (memory.path / "MEMORY.md").write_text(EDIT, encoding="utf-8")
    memory.status()
    remember(memory)
    assert (memory.path / "MEMORY.md").read_text(encoding="utf-8") == EDIT
    assert kept(memory) == {}


def test_the_view_is_never_read_back(memory: MemoryStore) -> None:
    remember(memory)
    text = (memory.path / "MEMORY.md").read_text(encoding="utf-8")
    (memory.path / "MEMORY.md").write_text(text.replace("use-tabs", "use-spaces"), encoding="utf-8")
    assert [line.name for line in memory.list()] == ["use-tabs"]
    assert memory.search("spaces")[0].name == "use-tabs"
