"""Commands on machines with settings, variables, owners and gits of their own."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.cli import main
from gitmem.errors import Busy
from gitmem.repo import RefUpdate, Repo
from gitmem.repo.environment import git_executable
from tests.cases.calls import NAMES, call, reads, writes
from tests.cases.conftest import Project
from tests.cases.test_git_state import everything, run_all
from tests.cli.harness import ADA
from tests.store.stories import MAIN, plain, rev


def names(store: Path) -> set[str]:
    return {record["name"] for record in call(store, "list", "--json").json}


def needs_the_memory(project: Project, folder: Path) -> list[list[str]]:
    """Every call but those that look at no commit: a shell's script, and files of hooks."""
    every = [*reads(project.ids), *writes(project.ids, folder / "in")]
    return [args for args in every if args[:1] != ["completion"] and args != ["hooks", "status"]]


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# --- settings ----------------------------------------------------------------------------------


def test_a_signing_program_that_would_wait_for_ever_is_never_asked(
    project: Project, tmp_path: Path
) -> None:
    """Neither the person's settings nor the memory's own make a commit wait for a key."""
    canary = tmp_path / "asked"
    blocks = script(tmp_path / "bin/gpg", f"echo asked >'{canary}'\nexec sleep 3600")
    for where in ("--global", "--local"):
        for key in ("commit.gpgSign", "tag.gpgSign", "merge.verifySignatures", "log.showSignature"):
            plain(project.store, "config", where, key, "true")
        for key in ("gpg.program", "gpg.ssh.program", "gpg.x509.program"):
            plain(project.store, "config", where, key, str(blocks))
        plain(project.store, "config", where, "gpg.ssh.defaultKeyCommand", str(blocks))
        plain(project.store, "config", where, "user.signingKey", "0123456789ABCDEF")
    run_all(project.store, project.ids, tmp_path / "in")
    assert not canary.exists()
    assert names(project.store) == NAMES
    assert "gpgsig" not in plain(project.store, "cat-file", "commit", "main")


@pytest.mark.parametrize("setting", ["autocrlf", "attributes"])
def test_line_ends_of_a_checkout_are_no_edit_and_no_problem(
    project: Project, tmp_path: Path, setting: str
) -> None:
    """Adopt, fsck and every merge judge what git keeps, not how a checkout shows it."""
    store = project.store
    if setting == "autocrlf":
        plain(store, "config", "--global", "core.autocrlf", "true")
    else:
        (store / ".git/info").mkdir(exist_ok=True)
        (store / ".git/info/attributes").write_text("* text eol=crlf\n")
    plain(store, "rm", "-q", "-r", "--cached", ".")
    plain(store, "reset", "-q", "--hard")
    shown = (store / "records/user/use-tabs.md").read_bytes()
    assert shown.count(b"\r\n") == shown.count(b"\n") > 0
    done = call(store, "adopt", "--yes")
    assert (done.code, "revised" in done.out) == (0, False), done
    assert call(store, "fsck").code == 0
    run_all(store, project.ids, tmp_path / "in")
    assert call(store, "adopt", "--json", "--yes").json["proposal"] is None
    assert "edited" not in call(store, "status").out
    assert plain(store, "status", "--porcelain") == ""
    assert b"\r" not in plain(store, "show", "main:records/user/use-tabs.md").encode()
    assert names(store) == NAMES


def test_an_edit_saved_with_other_line_ends_is_the_edit_alone(project: Project) -> None:
    file = project.store / "records/user/use-tabs.md"
    text = file.read_text().replace("everywhere", "in Go 代码")
    file.write_bytes(text.replace("\n", "\r\n").encode())
    adopted = call(project.store, "adopt", "--yes", "--json").json
    assert [record["name"] for record in adopted["records"]] == ["use-tabs"]
    assert call(project.store, "approve", adopted["proposal"], "--yes").code == 0
    kept = plain(project.store, "show", "main:records/user/use-tabs.md")
    assert "in Go 代码" in kept and "\r" not in kept
    assert call(project.store, "fsck").code == 0


# --- nobody at home ----------------------------------------------------------------------------


def test_with_a_path_and_nothing_else_every_command_works(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No home, no identity, no language: a person is called by login and host, and told so."""
    for name in list(os.environ):
        if name != "PATH":
            monkeypatch.delenv(name)
    run_all(project.store, project.ids, tmp_path / "in")
    assert names(project.store) == NAMES
    done = call(project.store, "remember", "Somebody said so.", "--name=said", "--yes")
    assert done.code == 0 and "user.name" in done.err, done
    authors = plain(project.store, "log", "--format=%an <%ae> %cn <%ce>", "main").split("\n")
    assert all(" <" in line and "<>" not in line for line in authors)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
def test_every_command_refuses_another_users_memory_and_names_the_line_that_trusts_it(
    project: Project, tmp_path: Path
) -> None:
    store = project.store
    for place in (store, store / ".git"):
        os.chown(place, 4321, 4321)
    before = everything(project.root)
    fix = f"git config --global --add safe.directory {store}"
    for args in [*needs_the_memory(project, tmp_path), ["hooks", "status"]]:
        done = call(store, *args)
        assert (done.code, done.out) == (1, ""), (args, done)
        assert fix in done.err.replace("'", ""), (args, done)
    assert everything(project.root) == before, "nothing was changed, the trust least of all"
    plain(tmp_path, *fix.split()[1:])
    run_all(store, project.ids, tmp_path / "in")
    assert names(store) == NAMES


# --- variables of git --------------------------------------------------------------------------


def test_variables_that_lead_elsewhere_lead_no_command_there(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are set inside a hook of another repository: here, of the project around it."""
    root, store, ids = project
    (root / "a.txt").write_text("mine\n")
    plain(root, "add", "a.txt")
    around = everything(root, ".memory/")
    for name, value in {
        "GIT_DIR": root / ".git",
        "GIT_WORK_TREE": root,
        "GIT_INDEX_FILE": root / ".git/index",
        "GIT_OBJECT_DIRECTORY": root / ".git/objects",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": root / ".git/objects",
        "GIT_COMMON_DIR": root / ".git",
        "GIT_PREFIX": "sub/",
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG": root / ".git/config",
        "GIT_CONFIG_PARAMETERS": "'core.bare=true'",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.worktree",
        "GIT_CONFIG_VALUE_0": root,
        "GIT_AUTHOR_DATE": "@1 +0000",
        "GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z",
        "GIT_AUTHOR_NAME": "Mallory",
        "GIT_COMMITTER_EMAIL": "mallory@example.org",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_SHALLOW_FILE": "/nowhere",
        "GIT_GRAFT_FILE": "/nowhere",
        "GIT_REPLACE_REF_BASE": "refs/elsewhere",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_DIFF_OPTS": "--unified=0",
        "GIT_PAGER": "false",
    }.items():
        monkeypatch.setenv(name, str(value))
    run_all(store, ids, tmp_path / "in")
    assert names(store) == NAMES
    for name in list(os.environ):
        if name.startswith("GIT_") and not name.startswith(("GIT_CONFIG_GLOBAL", "GIT_CEILING")):
            monkeypatch.delenv(name)
    assert everything(root, ".memory/") == around
    assert "Mallory" not in plain(store, "log", "--format=%an%cn", "--all")
    assert "mallory" not in plain(store, "log", "--format=%ae%ce", "--all")
    assert names(store) == NAMES
    assert call(store, "fsck").code == 0


# --- other gits --------------------------------------------------------------------------------


def test_a_git_that_is_too_old_is_refused_by_number_and_changes_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the projection can answer is answered without git."""
    script(tmp_path / "bin/git", "echo git version 2.20.1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    # What was said stays, and is read again later; which gits this process knows is a shortcut,
    # and a query is kept for the next consolidation.
    ours = ".memory/.git/gitmem/"
    captured = (f"{ours}sessions/", f"{ours}git-version", f"{ours}state.json")
    before = everything(project.root, *captured)
    answered = set()
    for args in needs_the_memory(project, tmp_path):
        done = call(project.store, *args)
        if done.code == 0:
            answered.add((args or [""])[0])
            continue
        assert (done.code, done.out) == (1, ""), (args, done)
        assert "2.20.1" in done.err and "2.39" in done.err, (args, done)
    assert answered <= {"list", "show", "search", "select", "log", "hooks"}
    assert everything(project.root, *captured) == before


TRANSLATED = """
exec 3>&1
code=$({{ {{ {git} "$@" 3>&- 4>&-; echo $? >&4; }} 2>&1 1>&3 |
    sed 's/.*/致命的エラー: ロックできません Sperre besetzt/' >&2; }} 4>&1)
exit $code
"""


def test_what_git_says_is_never_what_is_decided_by(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A git that says the same of everything, with locks in the way that it must be told of."""
    real = git_executable()
    script(tmp_path / "bin/git", TRANSLATED.format(git=real))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    monkeypatch.setenv("LANGUAGE", "de")
    for name in ("HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"):
        (project.store / ".git" / name).touch()
        os.utime(project.store / ".git" / name, (1_700_000_000,) * 2)
    run_all(project.store, project.ids, tmp_path / "in")
    assert names(project.store) == NAMES
    with Repo.open(project.store) as repo, repo.lock():
        tip, before = rev(project.store, "main"), rev(project.store, "main~1")
        with pytest.raises(Busy, match="lost the race"):
            repo.publish([RefUpdate(MAIN, rev(project.store, "main~2"), before)])
        assert repo.read_ref(MAIN) == tip


# --- other kinds of repositories ---------------------------------------------------------------


def sha256(store: Path) -> str:
    shutil.rmtree(store)
    plain(store.parent, "init", "-q", "--object-format=sha256", "-b", "main", str(store))
    (store / "a").write_text("a")
    plain(store, "add", "a")
    plain(store, "commit", "-q", "-m", "a")
    return "sha256"


def shallow(store: Path) -> str:
    full = store.parent / "full"
    store.rename(full)
    plain(store.parent, "clone", "-q", "--depth=1", f"file://{full}", str(store))
    return "--unshallow"


def partial(store: Path) -> str:
    full = store.parent / "full"
    store.rename(full)
    plain(full, "config", "uploadpack.allowFilter", "true")
    args = ("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{full}", str(store))
    plain(store.parent, *args)
    return "partial"


@pytest.mark.parametrize("kind", [sha256, shallow, partial], ids=lambda kind: kind.__name__)
def test_a_kind_of_repository_that_cannot_be_a_memory_is_refused_once_and_clearly(
    project: Project, tmp_path: Path, kind: Callable[[Path], str]
) -> None:
    word = kind(project.store)
    before = everything(project.root)
    for args in needs_the_memory(project, tmp_path):
        done = call(project.store, *args)
        assert (done.code, done.out) == (1, ""), (args, done)
        said = done.err.count('{"error": ' if "--json" in args else "error: ")
        assert said == 1 and "bug" not in done.err, (args, done)
        assert word in done.err, (args, done)
    assert call(project.store, "init").code == 1
    assert everything(project.root) == before


def test_the_way_out_of_a_shallow_clone_works_as_it_is_printed(project: Project) -> None:
    shallow(project.store)
    hint = call(project.store, "status").err.splitlines()[-1].partition("git ")[2]
    plain(project.root, *shlex.split(hint))
    assert names(project.store) == {"use-tabs", "brief", "old-port"}
    assert call(project.store, "fsck").code == 0


def test_a_new_memory_is_sha1_whatever_a_person_wants_of_other_repositories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DEFAULT_HASH", "sha256")
    plain(tmp_path, "config", "--global", "init.defaultBranch", "trunk")
    assert call(tmp_path / "new", "init").code == 0
    assert len(plain(tmp_path / "new", "rev-parse", "refs/heads/main")) == 40
    assert call(tmp_path / "new", "fsck").code == 0


def test_a_memory_that_is_a_submodule_works_and_its_project_sees_only_a_moved_commit(
    project: Project, tmp_path: Path
) -> None:
    outer = tmp_path / "outer"
    plain(tmp_path, "init", "-q", "-b", "trunk", str(outer))
    local = ("-c", "protocol.file.allow=always")
    plain(outer, *local, "submodule", "add", "-q", str(project.store), ".memory")
    plain(outer, "commit", "-q", "-m", "a memory")
    store = outer / ".memory"
    assert (store / ".git").is_file()
    before = everything(outer, ".memory/", ".git/modules/")
    said = call(store, "remember", "子模块里的记忆也能写。", "--name=sub", "--yes")
    assert said.code == 0, said
    for command in ("adopt --yes", "status", "fsck", "fsck --repair", "log", "why sub"):
        done = call(store, *command.split())
        assert done.code == 0, (command, done)
    assert names(store) == {"use-tabs", "brief", "old-port", "sub"}
    assert plain(store, "status", "--porcelain") == ""
    assert everything(outer, ".memory/", ".git/modules/") == before
    assert plain(outer, "status", "--porcelain") == "M .memory"


@pytest.mark.parametrize("ignored", ["", ".memory/\n", "*\n"])
def test_a_memory_inside_a_project_is_hidden_from_it_and_found_whatever_the_project_ignores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignored: str
) -> None:
    outer = tmp_path / "outer"
    plain(tmp_path, "init", "-q", "-b", "trunk", str(outer))
    (outer / ".gitignore").write_text(ignored)
    (outer / "a.txt").write_text("a\n")
    plain(outer, "add", "-f", "a.txt", ".gitignore")
    plain(outer, "commit", "-q", "-m", "a")
    (outer / "sub").mkdir()
    before = everything(outer, ".git/info/")
    monkeypatch.chdir(outer)
    monkeypatch.setenv("GITMEM_USER", ADA)
    assert main(["init"]) == 0
    monkeypatch.chdir(outer / "sub")
    assert main(["remember", "Hidden and found.", "--name=found", "--yes"]) == 0
    assert main(["fsck"]) == 0
    assert names(outer / ".memory") == {"found"}
    assert everything(outer, ".memory/", ".git/info/") == before
    assert plain(outer, "status", "--porcelain") == ""
    assert plain(outer, "check-ignore", ".memory") == ".memory"
    excluded = (outer / ".git/info/exclude").read_text().splitlines()
    assert [line for line in excluded if ".memory" in line] in (["/.memory/"], [])
