"""A person works in the store with plain git, and on a machine with settings of their own."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.errors import GitmemError
from tests.store.stories import (
    ADA,
    MAIN,
    QUOTE,
    change_set,
    clock,
    files,
    fsck,
    names,
    opened,
    plain,
    refused,
    rev,
)

OLD = "records/user/use-tabs.md"
NEW = "records/project/db-postgres.md"


def approve(root: Path, proposal: str) -> list[str]:
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
        return memory.notes


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder: its mode and content."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def changed(root: Path) -> list[str]:
    return plain(root, "status", "--porcelain").split("\n")


# --- what lies in the work tree ----------------------------------------------------------------


def test_an_uncommitted_edit_survives_merges_of_other_records(root: Path, proposal: str) -> None:
    mine = (root / OLD).read_text() + "My own note 笔记。\n"
    (root / OLD).write_text(mine)
    approve(root, proposal)
    assert (root / OLD).read_text() == mine
    assert (root / NEW).exists()
    assert changed(root) == [f"M {OLD}"]
    assert names(root) == ["use-tabs", "db-postgres"]
    with opened(root) as memory:
        assert "My own note" not in memory.show("use-tabs").body


def test_an_uncommitted_edit_of_the_very_record_survives_and_is_named(root: Path) -> None:
    (root / OLD).write_text("mine alone\n")
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs of width 4.", person=ADA)
        assert any(OLD in note for note in memory.notes), memory.notes
        assert memory.show("use-tabs").body.strip() == "Use tabs of width 4."
    assert (root / OLD).read_text() == "mine alone\n"
    assert changed(root) == [f"M {OLD}"]


def test_a_commit_of_everything_after_a_merge_does_not_undo_the_memory(
    root: Path, proposal: str
) -> None:
    (root / "README.md").write_text("my readme\n")
    approve(root, proposal)
    plain(root, "commit", "-q", "-a", "-m", "note")
    assert set(files(root, "main")) == set(files(root, "main~1"))
    assert plain(root, "diff", "--name-only", "main~1", "main") == "README.md"
    assert names(root) == ["use-tabs", "db-postgres"]


def test_a_view_that_is_missing_is_there_again_after_the_next_merge(
    root: Path, proposal: str
) -> None:
    (root / "MEMORY.md").unlink()
    approve(root, proposal)
    assert "db-postgres" in (root / "MEMORY.md").read_text()
    assert changed(root) == [""]


def test_a_view_that_was_edited_is_rebuilt_and_the_edited_text_is_kept_and_named(
    root: Path, proposal: str
) -> None:
    (root / "MEMORY.md").write_text("mine 我的\n")
    notes = approve(root, proposal)
    assert "db-postgres" in (root / "MEMORY.md").read_text()
    (kept,) = (root / ".git/gitmem/edited").iterdir()
    assert kept.read_text() == "mine 我的\n"
    assert any(str(kept) in note for note in notes), notes


def test_what_is_staged_or_untracked_stays_so(root: Path, proposal: str) -> None:
    (root / "staged.txt").write_text("staged\n")
    (root / "untracked.txt").write_text("untracked\n")
    plain(root, "add", "staged.txt")
    approve(root, proposal)
    assert changed(root) == ["A  staged.txt", "?? untracked.txt"]
    assert "staged.txt" not in files(root, MAIN)


def test_an_untracked_file_in_the_place_of_a_new_record_stays_and_is_no_memory(
    root: Path, proposal: str
) -> None:
    (root / NEW).parent.mkdir(parents=True)
    (root / NEW).write_text("leftover\n")
    notes = approve(root, proposal)
    assert (root / NEW).read_text() == "leftover\n"
    assert any(NEW in note for note in notes), notes
    with opened(root) as memory:
        assert memory.show("db-postgres").body.strip() == QUOTE


def test_leftovers_in_the_work_tree_are_never_memory(root: Path) -> None:
    (root / "records/user/leftover.md").write_bytes((root / OLD).read_bytes())
    (root / "records/user/link.md").symlink_to("/etc/hostname")
    (root / OLD).unlink()
    with opened(root) as memory:
        assert [line.name for line in memory.list()] == ["use-tabs"]
        refused(lambda: memory.show("leftover"))
        assert memory.search("tabs")[0].name == "use-tabs"
        assert memory.status().count == 1


def test_links_in_the_work_tree_are_not_followed(root: Path, proposal: str, tmp_path: Path) -> None:
    victim, elsewhere = tmp_path / "victim", tmp_path / "elsewhere"
    victim.write_text("untouched\n")
    elsewhere.mkdir()
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(victim)
    (root / "evidence").rename(tmp_path / "evidence")
    (root / "evidence").symlink_to(elsewhere)
    approve(root, proposal)
    assert victim.read_text() == "untouched\n"
    assert list(elsewhere.iterdir()) == []
    assert names(root) == ["use-tabs", "db-postgres"]


def test_with_a_detached_head_main_moves_and_the_files_stay(root: Path, proposal: str) -> None:
    plain(root, "checkout", "-q", "--detach")
    head = rev(root, "HEAD")
    approve(root, proposal)
    assert rev(root, "HEAD") == head
    assert changed(root) == [""]
    assert rev(root, f"{MAIN}^1") == head
    assert names(root) == ["use-tabs", "db-postgres"]


def test_on_a_branch_of_ones_own_nothing_is_moved(root: Path, proposal: str) -> None:
    plain(root, "checkout", "-q", "-b", "mine")
    approve(root, proposal)
    assert plain(root, "symbolic-ref", "HEAD") == "refs/heads/mine"
    assert not (root / NEW).exists()
    assert changed(root) == [""]


def test_in_the_middle_of_a_merge_the_files_wait_until_it_is_over(
    root: Path, proposal: str
) -> None:
    (root / "a").write_text("1\n")
    plain(root, "add", "a")
    plain(root, "commit", "-q", "-m", "a")
    plain(root, "checkout", "-q", "-b", "side", "HEAD~1")
    (root / "a").write_text("2\n")
    plain(root, "add", "a")
    plain(root, "commit", "-q", "-m", "b")
    plain(root, "checkout", "-q", "main")
    eve = ["-c", "user.name=Eve", "-c", "user.email=eve@example.org"]
    subprocess.run(["git", *eve, "merge", "-q", "side"], cwd=root, capture_output=True, check=False)
    assert (root / ".git/MERGE_HEAD").exists()
    conflicted = (root / "a").read_text()
    notes = approve(root, proposal)
    assert any("merge is under way" in note for note in notes), notes
    assert (root / "a").read_text() == conflicted
    assert "UU a" in changed(root) or "AA a" in changed(root)
    assert names(root) == ["use-tabs", "db-postgres"]


def test_a_lock_of_the_index_does_not_stop_a_merge(root: Path, proposal: str) -> None:
    (root / ".git/index.lock").touch()
    notes = approve(root, proposal)
    assert any("index.lock" in note for note in notes), notes
    assert names(root) == ["use-tabs", "db-postgres"]
    (root / ".git/index.lock").unlink()
    with opened(root) as memory:
        memory.remember("One more thing.", name="more", type="project", person=ADA)
    assert changed(root) == [""]


# --- other kinds of repositories ---------------------------------------------------------------


def test_a_bare_store_works(root: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    plain(tmp_path, "clone", "-q", "--bare", str(root), str(bare))
    with opened(bare) as memory:
        memory.remember("Bare stores work, 裸仓库也行。", name="bare", type="project", person=ADA)
        proposal = memory.propose(change_set("more", "They take proposals too.")).proposal
        assert proposal
        memory.approve(proposal, person=ADA)
        assert memory.fsck().ok
    assert names(bare) == ["use-tabs", "bare", "more"]


def test_a_linked_work_tree_of_the_store_works(root: Path, proposal: str, tmp_path: Path) -> None:
    plain(root, "checkout", "-q", "--detach")
    linked = tmp_path / "linked"
    plain(root, "worktree", "add", "-q", str(linked), "main")
    approve(linked, proposal)
    assert names(root) == names(linked) == ["use-tabs", "db-postgres"]
    assert (linked / NEW).exists()
    assert plain(linked, "status", "--porcelain") == ""
    assert fsck(linked) == []


# --- other people's settings -------------------------------------------------------------------


def test_signing_hooks_filters_and_line_ends_of_the_person_change_nothing(
    root: Path, proposal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks, canary = tmp_path / "hooks", tmp_path / "canary"
    hooks.mkdir()
    for name in ("commit-msg", "pre-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >>'{canary}'\nexit 1\n")
        (hooks / name).chmod(0o755)
    (tmp_path / "attributes").write_text("* text eol=crlf\n*.md filter=lfs\n")
    config = tmp_path / "gitconfig"
    config.write_text(
        f"[commit]\n gpgsign = true\n[gpg]\n program = /bin/false\n[core]\n hooksPath = {hooks}\n"
        f" autocrlf = true\n attributesFile = {tmp_path / 'attributes'}\n"
        '[filter "lfs"]\n required = true\n clean = false\n smudge = false\n'
        "[user]\n useConfigOnly = true\n[init]\n defaultBranch = trunk\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    approve(root, proposal)
    assert not canary.exists()
    assert fsck(root) == []
    assert b"\r" not in (root / NEW).read_bytes()
    other = tmp_path / "other"
    with MemoryStore.init(other, clock=clock) as memory:
        memory.remember("A new store works too.", name="new", type="project", person=ADA)
    assert not canary.exists()


def test_a_checkout_with_crlf_verifies_and_is_brought_along(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    plain(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(root), str(clone))
    assert b"\r\n" in (clone / OLD).read_bytes()
    plain(clone, "branch", "-q", f"proposals/{proposal}", f"origin/proposals/{proposal}")
    notes = approve(clone, proposal)
    assert not [note for note in notes if "left" in note]
    assert fsck(clone) == []
    assert changed(clone) == [""]
    with opened(clone) as memory:
        assert "\r" not in memory.show("use-tabs").body


@pytest.mark.parametrize("language", ["zh_CN.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "C", ""])
def test_the_language_of_the_machine_does_not_matter(
    root: Path, proposal: str, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("LC_ALL", language)
    monkeypatch.setenv("LANGUAGE", language.partition(".")[0])
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    approve(root, proposal)
    assert fsck(root) == []
    assert names(root) == ["use-tabs", "db-postgres"]


def test_variables_that_name_another_repository_leave_it_byte_for_byte(
    root: Path, proposal: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    plain(tmp_path, "init", "-q", "-b", "main", str(other))
    (other / "a.txt").write_text("a\n")
    plain(other, "add", "a.txt")
    plain(other, "commit", "-q", "-m", "a")
    before = snapshot(other)
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git/index",
        "GIT_OBJECT_DIRECTORY": other / ".git/objects",
        "GIT_COMMON_DIR": other / ".git",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.worktree",
        "GIT_CONFIG_VALUE_0": other,
        "GIT_AUTHOR_DATE": "1",
        "GIT_COMMITTER_NAME": "Mallory",
    }.items():
        monkeypatch.setenv(name, str(value))
    approve(root, proposal)
    with opened(root) as memory:
        memory.remember("Still here.", name="here", type="project", person=ADA)
        assert memory.fsck().ok
    assert snapshot(other) == before
    for name in list(os.environ):
        if name.startswith("GIT_") and str(other) in os.environ[name]:
            monkeypatch.delenv(name)
    for name in ("GIT_NAMESPACE", "GIT_CONFIG_COUNT", "GIT_AUTHOR_DATE", "GIT_COMMITTER_NAME"):
        monkeypatch.delenv(name)
    assert names(root) == ["use-tabs", "db-postgres", "here"]
    assert fsck(root) == []


def test_with_nothing_but_a_path_in_the_environment_it_works(tmp_path: Path) -> None:
    code = (
        "import sys; from gitmem import MemoryStore\n"
        "with MemoryStore.init(sys.argv[1]) as memory:\n"
        "    memory.remember('It works without HOME.', name='home', type='project')\n"
        "    print([line.name for line in memory.list()], memory.notes)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "new")],
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert b"['home']" in done.stdout
    assert b"user.name" in done.stdout, "it says whose name was taken"


def test_no_command_changes_the_settings_head_or_hooks_of_the_store(
    root: Path, proposal: str
) -> None:
    def kept() -> dict[str, tuple[int, bytes]]:
        mine = ("config", "HEAD", "hooks/", "info/", "description")
        return {k: v for k, v in snapshot(root / ".git").items() if k.startswith(mine)}

    hook = root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    before = kept()
    approve(root, proposal)
    with opened(root) as memory:
        memory.edit("use-tabs", body="Tabs, four wide.", person=ADA)
        memory.forget("db-postgres", person=ADA)
        memory.status()
        memory.fsck()
    assert kept() == before


# --- paths and names ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "extra",
    [
        {"path": "records/.."},
        {"path": "../../etc/passwd"},
        {"file": "x.md"},
        {"approved_by": ["human:Ada"]},
        {"class": "human"},
    ],
    ids=str,
)
def test_a_change_set_with_a_field_of_its_own_is_refused_whole(
    root: Path, extra: dict[str, object]
) -> None:
    change = change_set("fact", "This is a fact about us.")
    change["records"][0].update(extra)
    before, refs = snapshot(root.parent), plain(root, "for-each-ref")
    with opened(root) as memory:
        error = refused(lambda: memory.propose(change))
    assert next(iter(extra)) in error.message
    assert plain(root, "for-each-ref") == refs
    outside = {k: v for k, v in snapshot(root.parent).items() if not k.startswith("memory/.git/")}
    assert outside == {k: v for k, v in before.items() if not k.startswith("memory/.git/")}


@pytest.mark.parametrize(
    "name", ["records/..", "../x", "/etc/x", "..\\x", "%2e%2e/x", "a/./b", "", ".", "a\0b", "CAFÉ"]
)
def test_a_name_that_could_be_a_path_is_refused(root: Path, name: str) -> None:
    with opened(root) as memory:
        for act in (
            lambda: memory.propose(change_set(name, "This is a fact about us.")),
            lambda: memory.remember("This is a fact.", name=name, type="user", person=ADA),
        ):
            assert isinstance(refused(act), GitmemError)
        assert [line.name for line in memory.list()] == ["use-tabs"]


def test_both_forms_of_a_letter_are_one_record_and_find_it(root: Path) -> None:
    nfd, nfc = "Meet at the Cafe\u0301 in Dalian 大连.", "Meet at the Caf\u00e9 in Dalian 大连."
    with opened(root) as memory:
        memory.remember(nfd, name="meet", type="project", person=ADA)
        assert memory.show("meet").body.strip() == nfc
        for query in ("cafe\u0301", "caf\u00e9"):
            assert [hit.name for hit in memory.search(query)] == ["meet"]
        result = memory.propose(change_set("meet-again", nfc))
        assert result.proposal is None
        assert "already remembered as meet" in result.dropped[0].reason
        assert "NFC" in refused(lambda: memory.propose(change_set("meet-too", nfd))).message
