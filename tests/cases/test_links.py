"""A root that a person names may be a link; nothing inside a memory leads a command out of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitmem.cli import main
from tests.cases.calls import call, reads, writes
from tests.cases.conftest import Project
from tests.cases.test_git_state import everything, run_all

PLACES = {
    "files": ["MEMORY.md", "manifest.json", "policy.yaml", "records/user/use-tabs.md"],
    "folders": ["evidence", "tombstones", "reviewers", "records/user"],
    "records": ["records"],
    "private": [".git/gitmem"],
    "private folders": [".git/gitmem/sessions", ".git/gitmem/edited", ".git/hooks"],
    "projection": [".git/gitmem/cache.sqlite", ".git/gitmem/worktree-at"],
    "lock": [".git/gitmem/lock"],
}
FILES = ("lock", "worktree-at", ".md", ".json", ".yaml", ".sqlite")


def put_elsewhere(link: Path, target: Path, secret: str) -> None:
    """A link in the place of ``link``, to what was there, with something of another's added."""
    if link.name.endswith(FILES):
        target.write_bytes((link.read_bytes() if link.exists() else b"") + secret.encode())
        link.unlink(missing_ok=True)
    else:
        shutil.copytree(link, target) if link.exists() else target.mkdir()
        (target / "secret.md").write_text(secret)
        shutil.rmtree(link, ignore_errors=True)
    link.symlink_to(target)


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES.keys())
def test_a_link_inside_a_memory_leads_no_command_out_of_it(
    project: Project, tmp_path: Path, places: list[str]
) -> None:
    """What lies behind it is neither changed nor shown, and nothing is put there."""
    outside, secret = tmp_path / "outside", "a secret of another file 机密"
    outside.mkdir()
    for number, place in enumerate(places):
        put_elsewhere(project.store / place, outside / str(number), secret)
    before = everything(outside)
    for args in [*reads(project.ids), *writes(project.ids, tmp_path / "in"), ["fsck"]]:
        done = call(project.store, *args)
        assert done.code in (0, 1, 4), (args, done)
        assert secret not in done.out + done.err, (args, done)
        assert everything(outside) == before, args


def test_a_memory_that_a_person_names_by_a_link_works(project: Project, tmp_path: Path) -> None:
    link, links = tmp_path / "link", tmp_path / "links"
    link.symlink_to(project.store)
    links.mkdir()
    (links / "root").symlink_to(project.root, target_is_directory=True)
    run_all(link, project.ids, tmp_path / "in")
    for named in (links / "root/.memory", link):
        assert "run-tests" in call(named, "list").out


def test_a_memory_found_upward_through_a_link_is_used_only_where_it_stays_inside(
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    inside, victim = project.root / "sub", tmp_path / "victim"
    inside.mkdir()
    victim.mkdir()
    (victim / ".memory").symlink_to(project.store)
    monkeypatch.chdir(victim)
    assert main(["list"]) == 1
    shown = capsys.readouterr()
    assert "use-tabs" not in shown.out and shown.err.startswith("error: ")
    monkeypatch.chdir(inside)
    assert main(["list"]) == 0
    assert "use-tabs" in capsys.readouterr().out
