"""fsck."""

from __future__ import annotations

from pathlib import Path

from tests.cli.harness import RunCommand, RunOnTerminal
from tests.conftest import RunGit


def test_a_sound_store_is_ok(gitmem: RunCommand, terminal: RunOnTerminal, tabs: Path) -> None:
    assert gitmem("fsck").out == "ok: 2 commits verified down to genesis\n"
    sound = {"ok": True, "commits": 2, "problems": [], "passed_over": [], "repaired": []}
    sound["warnings"] = []
    assert gitmem("fsck", "--json").json == sound
    done = terminal("fsck")
    assert done.code == 0
    assert "2 commits verified" in done.out


def test_a_problem_is_named_with_a_way_out_and_fails(
    gitmem: RunCommand, tabs: Path, git: RunGit
) -> None:
    tree = git(tabs, "rev-parse", "main~0^{tree}").strip()
    stray = git(tabs, "commit-tree", tree, "-p", "main", "-m", "by hand").strip()
    git(tabs, "update-ref", "refs/heads/main", stray)
    done = gitmem("fsck", code=1)
    assert "problem: " in done.out and "fix: " in done.out
    found = gitmem("fsck", "--json", code=1).json
    assert found["ok"] is False
    assert set(found["problems"][0]) == {"where", "what", "fix"}
    assert stray[:12] in str(found["problems"])


def test_what_a_merge_passed_over_is_named_with_what_proposes_it(
    gitmem: RunCommand, tabs: Path, git: RunGit
) -> None:
    tree = git(tabs, "rev-parse", "main~0^{tree}").strip()
    stray = git(tabs, "commit-tree", tree, "-p", "main", "-m", "by hand").strip()
    git(tabs, "update-ref", "refs/heads/main", stray)
    gitmem("remember", "Answer briefly. 简短回答。", "--yes")
    lines = gitmem("fsck").out.splitlines()
    (at,) = [n for n, line in enumerate(lines) if line.startswith(f"passed over: {stray}")]
    assert lines[at + 1].startswith("  fix: ")
    assert lines[at + 1].endswith(f"gitmem adopt {stray[:12]}")


def test_progress_is_drawn_on_a_terminal_and_nowhere_else(
    gitmem: RunCommand, terminal: RunOnTerminal, tabs: Path
) -> None:
    assert "verifying" in terminal("fsck").out
    piped = gitmem("fsck")
    assert "verifying" not in piped.out + piped.err
