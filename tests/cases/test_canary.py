"""A git directory that was handed over: nothing that it names is run, and nothing misleads."""

from __future__ import annotations

import os
import select
import shutil
import struct
import subprocess
import threading
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path

import pytest

from gitmem import hook
from gitmem.cli import main
from gitmem.repo import Repo
from tests.cases.calls import NAMES, call, reads, writes
from tests.cases.conftest import Project
from tests.cases.test_git_state import everything
from tests.cases.trapped import HOOKS, NEVER, Trapped, arm
from tests.store.stories import plain

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the traps are shell scripts")

MAIN = "refs/heads/main"
PATIENCE = 60.0


@pytest.fixture
def trapped(project: Project, tmp_path: Path) -> Trapped:
    return arm(project.store, tmp_path / "outside")


# --- programs ----------------------------------------------------------------------------------


def test_no_command_springs_a_trap_and_each_does_its_work(
    project: Project, trapped: Trapped, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads, writes, what the hooks call, completion, fsck and its repairs, adoption of strays."""
    store, ids = project.store, project.ids
    for path in store.rglob("*.md"):
        path.touch()  # so that git would look inside
    for args in [*reads(ids), *writes(ids, tmp_path / "in")]:
        done = call(store, *args)
        assert done.code == (1 if tuple(args[:2]) == ("hooks", "install") else 0), (args, done)
        assert not trapped.sprung(), (args, trapped.sprung())
    assert {record["name"] for record in call(store, "list", "--json").json} == NAMES
    monkeypatch.chdir(store)
    for event in hook.EVENTS:
        assert hook.main([event, "a", "b", "1"]) == 0
        assert not trapped.sprung(), event
    _stray(store)
    for args in (["status"], ["log"], ["adopt", "--yes"], ["fsck"], ["fsck", "--repair"], ["list"]):
        done = call(store, *args)
        assert done.code in (0, 1), (args, done)
        assert not trapped.sprung(), (args, trapped.sprung())
    assert call(store, "fsck").code == 0
    for name, words in {"COMP_WORDS": "gitmem show ", "COMP_CWORD": "2"}.items():
        monkeypatch.setenv(name, words)
    monkeypatch.setenv("_GITMEM_COMPLETE", "bash_complete")
    monkeypatch.setenv("GITMEM_STORE", str(store))
    assert main([]) == 0
    assert not trapped.sprung()


def _stray(store: Path) -> None:
    """A commit by hand on main that seems to be signed, with an edit of a record."""
    tip, ours = plain(store, "rev-parse", MAIN), "/dev/null"
    tree = plain(store, "rev-parse", "left^{tree}")
    text = plain(store, "cat-file", "commit", "signed/gpg.program").replace("signed", "by hand")
    lines = [f"tree {tree}", f"parent {tip}", *text.splitlines()[2:], ""]
    oid = plain(store, "hash-object", "-t", "commit", "-w", "--stdin", stdin="\n".join(lines))
    plain(store, "-c", f"core.hooksPath={ours}", "update-ref", MAIN, oid)


def spring(trapped: Trapped, command: str) -> set[str]:
    """Run a shell's command line at a terminal, as a person would; the canaries it leaves."""
    import pty

    for path in trapped.canaries.iterdir():
        path.unlink()
    ours, theirs = pty.openpty()
    done, over = os.pipe()
    reading = threading.Thread(target=read_until, args=(ours, done))
    reading.start()
    names = [f"GIT_{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    try:
        subprocess.run(
            ["sh", "-c", command],
            cwd=trapped.store,
            env={**os.environ, **dict.fromkeys(names, "eve@x"), "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(over)
        reading.join()
        for descriptor in (ours, theirs, done):
            os.close(descriptor)
    return trapped.sprung()


def read_until(terminal: int, done: int) -> None:
    """Take what is printed, so that nobody waits for that, until the other end is closed."""
    while done not in select.select([terminal, done], [], [])[0]:
        os.read(terminal, 65536)


def test_plain_git_springs_every_trap(trapped: Trapped) -> None:
    """Or there is a reason why none does."""
    found = set()
    for names, command in trapped.springs.items():
        sprung = spring(trapped, command)
        assert set(names.split()) <= sprung, (command, set(names.split()) - sprung)
        found |= sprung
    every = {path.name for path in (trapped.canaries.parent / "run").iterdir()} | {*HOOKS}
    assert every - found == NEVER.keys() - {"trace2.eventTarget"}
    assert not found & NEVER.keys()


# --- what is told ------------------------------------------------------------------------------


def test_status_and_fsck_name_what_plain_git_would_do_and_gitmem_does_not(
    project: Project, trapped: Trapped
) -> None:
    (project.store / ".git/info/grafts").write_text(
        f"{plain(project.store, 'rev-parse', 'main')}\n"
    )
    told = call(project.store, "status", "--json").json["warnings"]
    programs, borrowed, grafts = told
    assert "which plain git takes and gitmem never does" in programs
    for key in ("alias.canary", "core.askpass", "core.fsmonitor", "core.hookspath"):
        assert key in programs
    listed = subprocess.run(
        programs.rpartition(": ")[2], shell=True, capture_output=True, text=True, check=True
    )
    for key in ("diff.external", "filter.code.clean", "gpg.ssh.defaultkeycommand"):
        assert key in listed.stdout
    assert str(trapped.canaries.parent / "sub/.git/objects") in borrowed
    assert "info/grafts" in grafts
    found = call(project.store, "fsck", "--json").json
    assert [problem["where"] for problem in found["problems"]] == [
        f"{project.store}/.git/info/grafts"
    ]
    assert found["warnings"][:-1] == told[:-1]
    assert "post-commit" in found["warnings"][-1]
    assert programs in call(project.store, "fsck").out
    assert not trapped.sprung()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("core.fsmonitor", "true"),
        ("core.autocrlf", "input"),
        ("pager.log", "false"),
        ("alias.st", "status"),
        ("remote.origin.url", "ssh://git@example.org/memory"),
        ("submodule.sub.update", "merge"),
        ("protocol.ext.allow", "never"),
    ],
)
def test_settings_that_name_no_program_are_not_worth_a_warning(
    project: Project, key: str, value: str
) -> None:
    plain(project.store, "config", key, value)
    assert call(project.store, "status", "--json").json["warnings"] == []
    assert call(project.store, "fsck", "--json").json["warnings"] == []


# --- what would change the data ----------------------------------------------------------------


def answers(store: Path) -> list[str]:
    """What is remembered, how it came to be, and what verification says of it."""
    calls = (["list"], ["log"], ["show", "use-tabs"], ["why", "use-tabs"])
    done = [call(store, *args) for args in calls]
    assert [one.code for one in done] == [0] * len(calls), done
    found = call(store, "fsck", "--json").json
    misleading = ("refs/replace/", f"{store}/.git/info/grafts")
    wrong = [one for one in found["problems"] if not one["where"].startswith(misleading)]
    return [*(one.out for one in done), f"{found['commits']} {wrong}"]


def test_replaced_objects_and_grafts_change_no_answer_and_no_merge(
    project: Project, trapped: Trapped
) -> None:
    store = project.store
    bare = ("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "--no-pager")
    before, tip = answers(store), plain(store, "rev-parse", MAIN)
    log = plain(store, *bare, "log", "-1", "--no-show-signature", "--format=%s", MAIN)
    other = plain(store, "commit-tree", "left^{tree}", "-m", "another past")
    plain(store, *bare, "replace", MAIN, other)
    blob = plain(store, "hash-object", "-w", "--no-filters", "--stdin", stdin="a lie 假的\n")
    plain(store, *bare, "replace", "-f", "main~1:records/user/use-tabs.md", blob)
    assert plain(store, *bare, "log", "-1", "--no-show-signature", "--format=%s", MAIN) != log
    (store / ".git/info/grafts").write_text(f"{tip}\n")
    (store / ".git/gitmem/cache.sqlite").unlink()
    assert answers(store) == before
    done = call(store, "approve", project.ids.open, "--yes")
    assert done.code == 0, done
    env = {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_GRAFT_FILE": "/dev/null"}
    assert plain(store, "rev-parse", f"{MAIN}^1", **env) == tip
    assert any("refs/replace" in line for line in call(store, "status", "--json").json["warnings"])
    plain(store, *bare, "pack-refs", "--all")
    assert any("refs/replace" in line for line in call(store, "status", "--json").json["warnings"])


def test_a_commit_graph_that_lies_about_parents_is_not_believed(tmp_path: Path) -> None:
    """Beyond as many commits as are read one by one git is asked, which would read it there."""
    with Repo.init(tmp_path / "store") as repo:
        commit = f"commit {MAIN}\ncommitter E <e@x> 1 +0000\ndata 2\nm\n"
        plain(tmp_path / "store", "fast-import", "--quiet", stdin=commit * 70)
        chain = plain(tmp_path / "store", "rev-list", "--reverse", MAIN).split()
        assert len(chain) == 70
        plain(tmp_path / "store", "commit-graph", "write", "--reachable")
        graph = repo.git_dir / "objects/info/commit-graph"
        graph.chmod(0o644)
        graph.write_bytes(with_parent(graph.read_bytes(), chain[3], chain[1]))
        assert len(plain(tmp_path / "store", "rev-list", MAIN).split()) == 69, "git believes it"
        assert [*repo.first_parents(chain[-1])] == chain[::-1]


def with_parent(graph: bytes, commit: str, parent: str) -> bytes:
    """A commit graph in which ``parent`` is the first parent of ``commit``."""
    count = graph[6]
    chunks = {
        graph[at : at + 4]: struct.unpack(">Q", graph[at + 4 : at + 12])[0]
        for at in range(8, 8 + 12 * count, 12)
    }
    names, total = chunks[b"OIDL"], struct.unpack(">I", graph[chunks[b"OIDF"] + 1020 :][:4])[0]
    ids = [graph[names + 20 * n : names + 20 * n + 20].hex() for n in range(total)]
    at = chunks[b"CDAT"] + 36 * ids.index(commit) + 20
    changed = graph[:at] + struct.pack(">I", ids.index(parent)) + graph[at + 4 : -20]
    return changed + sha1(changed).digest()


def test_objects_from_elsewhere_are_named_and_the_way_to_have_them_here_works(
    project: Project, tmp_path: Path
) -> None:
    store, elsewhere = project.store, tmp_path / "elsewhere"
    before = answers(store)
    shutil.copytree(store / ".git/objects", elsewhere / "objects")
    shutil.rmtree(store / ".git/objects")
    (store / ".git/objects/info").mkdir(parents=True)
    (store / ".git/objects/info/alternates").write_text(f"{elsewhere}/objects\n")
    outside = everything(elsewhere)
    assert answers(store) == before
    assert call(store, "approve", project.ids.open, "--yes").code == 0
    assert everything(elsewhere) == outside
    (warning,) = call(store, "status", "--json").json["warnings"]
    subprocess.run(warning.rpartition("here: ")[2], shell=True, check=True)
    shutil.rmtree(elsewhere)
    assert call(store, "fsck").code == 0
    assert call(store, "status", "--json").json["warnings"] == []


def test_a_work_tree_that_is_said_to_be_elsewhere_is_left_alone(
    project: Project, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    (home / "records/user").mkdir(parents=True)
    for name in ("MEMORY.md", "records/user/use-tabs.md", ".bashrc"):
        (home / name).write_text("mine 我的\n")
    before = everything(home)
    plain(project.store, "config", "core.worktree", str(home))
    assert "M MEMORY.md" in plain(project.store, "status", "--porcelain"), "git goes there"
    for args in [["adopt", "--yes"], *writes(project.ids, tmp_path / "in")[1:7]]:
        assert call(project.store, *args).code == 0, args
    assert everything(home) == before
    told = call(project.store, "status", "--json").json["warnings"]
    assert any(str(home) in line and "core.worktree" in line for line in told)
    assert "office-days" in (project.store / "MEMORY.md").read_text()


def into_another(store: Path, victim: Path) -> Iterator[str]:
    """Ways in which a folder that was handed over leads into another memory of the person's."""
    git_dir, aside = store / ".git", store / ".aside"
    git_dir.rename(aside)
    git_dir.write_text(f"gitdir: {victim}/.git\n")
    yield "a file"
    git_dir.unlink()
    git_dir.symlink_to(victim / ".git")
    yield "a link"
    git_dir.unlink()
    aside.rename(git_dir)
    (git_dir / "commondir").write_text(f"{victim}/.git\n")
    yield "a common directory"


def test_a_folder_that_leads_into_another_memory_neither_shows_nor_changes_it(
    project: Project, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    shutil.copytree(project.store, victim)
    secret = "a secret of another memory 机密"
    assert call(victim, "remember", secret, "--name=secret", "--yes").code == 0
    before = everything(victim)
    every = [*reads(project.ids), *writes(project.ids, tmp_path / "in")]
    for way in into_another(project.store, victim):
        for args in every:
            if args[:1] == ["completion"] or args[:1] == ["hooks"]:
                continue
            done = call(project.store, *args)
            assert (done.code, done.out) == (1, ""), (way, args, done)
            assert secret not in done.err
        assert everything(victim) == before, way


def test_links_of_a_git_directory_lead_no_command_out_of_it(
    project: Project, tmp_path: Path
) -> None:
    """Refs, logs, packs and the index of another repository stay as they are."""
    victim = tmp_path / "victim"
    shutil.copytree(project.store, victim)
    plain(victim, "pack-refs", "--all")
    for place in ("refs/heads", "logs/HEAD", "objects/pack", "packed-refs", "index"):
        store = tmp_path / place.replace("/", "-")
        shutil.copytree(project.store, store)
        path = store / ".git" / place
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.symlink_to(victim / ".git" / place)
        before = everything(victim)
        for args in (["remember", "A new fact.", "--name=new", "--yes"], ["fsck", "--repair"]):
            assert call(store, *args).code in (0, 1), (place, args)
            assert everything(victim) == before, (place, args)
        if place != "index":
            assert "symbolic link" in call(store, "fsck").out, place
