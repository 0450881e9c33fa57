"""Which repositories are opened, and what of the outside reaches git."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.domain.objects import ZERO, Identity
from gitmem.errors import GitFailed, GitmemError, InvalidInput, NotFound, Refused
from gitmem.repo import NewCommit, RefUpdate, Repo
from gitmem.repo.differences import diff_text
from gitmem.repo.discovery import find_git_dir
from gitmem.repo.environment import git_executable, local_environment, parse_version
from gitmem.repo.opening import git_reason
from gitmem.repo.refs import symbolic_target
from gitmem.repo.runner import Runner, shown

Commit = Callable[..., str]
Git = Callable[..., str]
Patch = pytest.MonkeyPatch

ADA = (Identity("Ada", "ada@example.org"), 1_790_000_000)
MAIN = "refs/heads/main"
ROOT = Path(__file__).parents[2]


def write_one(repo: Repo, text: bytes = b"1") -> str:
    old = repo.read_ref(MAIN)
    with repo.lock():
        (oid,) = repo.write([NewCommit((old,) if old else (), "m\n", ADA, ADA, {"a": text})])
        repo.publish([RefUpdate(MAIN, oid, old or ZERO)])
    return oid


def test_a_new_store_has_main_no_hooks_and_only_fast_forward_pulls(tmp_path: Path) -> None:
    with Repo.init(tmp_path / "记忆" / "store") as repo:
        assert (repo.git_dir / "HEAD").read_text() == "ref: refs/heads/main\n"
        assert not (repo.git_dir / "hooks").exists()
        assert "ff = only" in (repo.git_dir / "config").read_text()
        assert {path.name for path in repo.private.iterdir()} == {"lock", "queue"}
        write_one(repo)


@pytest.mark.parametrize("bare", [False, True])
def test_opening_and_resolving_main_starts_no_process(
    tmp_path: Path, bare: bool, monkeypatch: Patch
) -> None:
    with Repo.init(tmp_path / "store", bare=bare) as repo:
        oid = write_one(repo)
    monkeypatch.setenv("PATH", str(tmp_path))  # no git to be found
    with Repo.open(tmp_path / "store") as repo:
        assert (repo.root is None) == bare
        assert repo.read_ref(MAIN) == oid
        assert repo.reader.resolve(MAIN) == oid
        with pytest.raises(GitFailed, match="not found in PATH"):
            repo.reader.read(MAIN)


def test_linked_work_trees_and_submodules_are_opened(tmp_path: Path, git: Git) -> None:
    with Repo.init(tmp_path / "store") as repo:
        oid = write_one(repo)
    git(tmp_path / "store", "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", str(outer))
    source = str(tmp_path / "store")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "memory")
    for root, common in (
        (tmp_path / "linked", tmp_path / "store/.git"),
        (outer / "memory", outer / ".git/modules/memory"),
    ):
        with Repo.open(root) as repo:
            assert repo.git_dir == common
            assert repo.private == common / "gitmem"
            assert repo.read_ref(MAIN) == oid
            assert write_one(repo, b"2") == repo.reader.resolve(MAIN)


def test_only_the_folder_itself_is_looked_at(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "below").mkdir()
    for path in (tmp_path / "below", tmp_path / "none"):
        with pytest.raises(NotFound, match="not a git repository"):
            Repo.open(path)
    (tmp_path / "below" / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(NotFound):
        find_git_dir(tmp_path / "below")


def test_a_git_file_that_names_a_repository_which_does_not_know_it_is_refused(
    repo: Repo, tmp_path: Path, git: Git
) -> None:
    """A folder that was handed over must not reach into another repository of the person's."""
    write_one(repo)
    (tmp_path / "handed-over").mkdir()
    (tmp_path / "handed-over/.git").write_text(f"gitdir: {repo.git_dir}\n")
    with pytest.raises(GitmemError, match="does not name it back"):
        Repo.open(tmp_path / "handed-over")
    git(repo.git_dir, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"))
    (tmp_path / "handed-over/.git").write_text(f"gitdir: {repo.git_dir}/worktrees/linked\n")
    with pytest.raises(GitmemError, match="does not name it back"):
        Repo.open(tmp_path / "handed-over")


def test_a_sha256_repository_is_refused(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q", "--object-format=sha256", "store")
    for way in (Repo.open, Repo.init):
        with pytest.raises(GitmemError, match="sha256; gitmem needs SHA-1") as caught:
            way(tmp_path / "store")
        assert "not supported" in caught.value.hint and "another folder" in caught.value.hint


@pytest.mark.parametrize("way", ["init", "open"])
@pytest.mark.parametrize(
    ("file", "more", "reason"),
    [
        ("config", "[broken\n", "fatal: bad config line"),
        ("config", "[core]\n\tcompression = 很多\n", "fatal: bad numeric config value"),
        ("config", "[core]\n\trepositoryformatversion = 99\n", "fatal: Expected git repo version"),
        ("config", "[include]\n\tpath = x\x1b[2J\n[broken\n", "fatal: bad config line"),
        ("config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tneu = 1\n", "neu"),
        ("HEAD", "\x1b[2J", "fatal: not a git repository"),
    ],
)
def test_what_git_does_not_take_is_refused_with_its_reason_and_the_file(
    repo: Repo, file: str, more: str, reason: str, way: str
) -> None:
    broken = repo.git_dir / file
    old = "" if file == "HEAD" else broken.read_text()
    broken.write_text(old + more, encoding="utf-8")
    with pytest.raises(GitmemError) as caught:
        (Repo.open if way == "open" else Repo.init)(repo.root or repo.git_dir)
    error = caught.value
    assert error.message.startswith(f"{broken}: ") and reason in error.message
    assert str(broken) in error.hint
    assert "\n" not in error.message and "\x1b" not in error.message


def test_settings_that_git_takes_are_no_reason_to_refuse(repo: Repo, git: Git) -> None:
    for key, value in {
        "user.name": '本 "Ben" #1; x',
        "alias.last": "log -1 \\ HEAD",
        "remote.origin.url": "https://example.org/记忆.git",
        "core.worktree": str(repo.root),
    }.items():
        git(repo.git_dir, "config", key, value)
        Repo.open(repo.root or repo.git_dir).close()


def test_a_reader_that_dies_says_what_git_said(repo: Repo, git: Git) -> None:
    oid = git(repo.git_dir, "hash-object", "-w", "--stdin", stdin="坏\n" * 100).strip()
    loose = repo.git_dir / "objects" / oid[:2] / oid[2:]
    loose.chmod(0o600)
    loose.write_bytes(loose.read_bytes()[:20])
    with pytest.raises(GitFailed, match=r"ended \(exit status 128\).*: fatal: ") as caught:
        repo.reader.read(oid)
    assert "\n" not in caught.value.message and "fsck" in caught.value.hint
    with (repo.git_dir / "config").open("a") as file:  # while the repository is open
        file.write("[broken\n")
    with pytest.raises(GitmemError, match=r"config: .*fatal: bad config line"):
        repo.reader.read(oid)


def test_no_failure_repeats_advice(repo: Repo) -> None:
    with pytest.raises(GitFailed) as caught:
        repo.runner.run(["rev-parse", "--verify", "没有^{commit}"])
    assert "fatal:" in caught.value.message and "hint" not in caught.value.message
    with pytest.raises(GitFailed) as caught:
        repo.runner.run(["rev-list", "1" * 40])
    assert "graft" not in caught.value.message
    said = "hint: try this\nwarning: x\nerror: one\nfatal: two\nhint: three"
    assert git_reason(said) == "fatal: two"
    assert git_reason("hint: try\n致命的エラー\n") == "致命的エラー"
    assert git_reason("hint: try\n") == "it printed no reason"


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("[extensions]\n\trefStorage = reftable\n", "keeps its refs as reftable"),
        ("[ExTensions]\n\tpartialClone = origin\n", "partial clone"),
        ('[remote "origin"]\n\tpromisor = true\n', "partial clone"),
    ],
)
def test_a_repository_of_another_kind_is_refused(repo: Repo, setting: str, reason: str) -> None:
    with (repo.git_dir / "config").open("a") as file:
        file.write(setting)
    with pytest.raises(GitmemError, match=reason):
        Repo.open(repo.root or repo.git_dir)


def test_harmless_extensions_are_no_reason_to_refuse(repo: Repo, git: Git) -> None:
    git(repo.git_dir, "config", "extensions.worktreeConfig", "true")
    Repo.open(repo.git_dir).close()


def test_a_shallow_clone_is_refused_with_the_way_out(repo: Repo, tmp_path: Path, git: Git) -> None:
    write_one(repo)
    write_one(repo, b"2")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo.git_dir}", "shallow")
    with pytest.raises(GitmemError, match="fetch --unshallow"):
        Repo.open(tmp_path / "shallow")
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    Repo.open(tmp_path / "shallow").close()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file away"
)
def test_a_store_of_another_user_is_refused_until_the_person_trusts_it(
    repo: Repo, git: Git, monkeypatch: Patch
) -> None:
    assert repo.root
    for path in (repo.root, repo.git_dir):
        os.chown(path, 12345, -1)
    with pytest.raises(GitmemError, match="belongs to another user") as caught:
        Repo.open(repo.root)
    assert f"git config --global --add safe.directory {repo.root}" in str(caught.value)
    # gitmem looks where the person's git looks, wherever that configuration lies.
    git(repo.root, "config", "--global", "--add", "safe.directory", str(repo.root))
    Repo.open(repo.root).close()
    monkeypatch.delenv("GIT_CONFIG_GLOBAL")
    with pytest.raises(GitmemError, match="belongs to another user"):
        Repo.open(repo.root)
    git(repo.root, "config", "--global", "--add", "safe.directory", str(repo.root))
    Repo.open(repo.root).close()


def test_inside_a_push_that_it_receives_a_repository_is_not_opened(
    repo: Repo, tmp_path: Path, monkeypatch: Patch
) -> None:
    incoming = "objects/tmp_objdir-incoming-a1b2c3"
    monkeypatch.setenv("GIT_QUARANTINE_PATH", str(repo.git_dir / incoming))
    with pytest.raises(Refused, match="GIT_QUARANTINE_PATH"):
        Repo.open(repo.git_dir)
    monkeypatch.setenv("GIT_QUARANTINE_PATH", str(tmp_path / "another.git" / incoming))
    Repo.open(repo.git_dir).close()


def test_a_git_directory_that_leads_into_another_repository_is_refused(
    repo: Repo, tmp_path: Path
) -> None:
    """By a link, or by a commondir of its own; that repository never heard of it."""
    write_one(repo)
    linked, borrowing, hidden = (tmp_path / name for name in ("linked", "borrowing", "hidden"))
    for root in (linked, borrowing, hidden):
        root.mkdir()
    (linked / ".git").symlink_to(repo.git_dir)
    (borrowing / ".git").mkdir()
    (borrowing / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (borrowing / ".git/commondir").write_text(f"{repo.git_dir}\n")
    (hidden / ".git").write_text("gitdir: private\n")
    (borrowing / ".git").rename(hidden / "private")
    (hidden / "private/gitdir").write_text(f"{hidden}/.git\n")
    shutil.copytree(hidden / "private", borrowing / ".git")
    for root, reason in (
        (linked, "its .git link names .* does not name it back"),
        (borrowing, "has no such work tree"),
        (hidden, "has no such work tree"),
    ):
        with pytest.raises(GitmemError, match=reason):
            Repo.open(root)


@pytest.mark.parametrize(
    "place", ["refs", "refs/heads", "objects", "objects/pack", "logs", "logs/refs/heads/main"]
)
def test_a_link_among_refs_logs_and_packs_leads_no_write_out_of_the_git_directory(
    repo: Repo, tmp_path: Path, place: str
) -> None:
    write_one(repo)
    (repo.git_dir / "logs/refs/heads").mkdir(parents=True, exist_ok=True)
    (repo.git_dir / "logs/refs/heads/main").touch()
    outside = tmp_path / "outside"
    (repo.git_dir / place).rename(outside)
    (repo.git_dir / place).symlink_to(outside)
    before = sorted((path, path.stat().st_mtime_ns) for path in [outside, *outside.rglob("*")])
    with Repo.open(repo.git_dir) as opened:
        with pytest.raises(GitmemError, match="a symbolic link out of the git directory") as caught:
            write_one(opened, b"2")
        assert opened.reader.resolve(MAIN)
    assert sorted((path, path.stat().st_mtime_ns) for path in [outside, *outside.rglob("*")]) == (
        before
    )
    command = caught.value.hint.partition(": ")[2]
    subprocess.run(command, shell=True, check=True)
    with Repo.open(repo.git_dir) as opened:
        write_one(opened, b"2")
    assert sorted((path, path.stat().st_mtime_ns) for path in [outside, *outside.rglob("*")]) == (
        before
    )


def test_a_log_that_is_a_link_leads_no_branch_out(repo: Repo, tmp_path: Path) -> None:
    """The log of any ref, whose place nobody lists."""
    oid = write_one(repo)
    log = repo.git_dir / "logs/refs/heads/proposals/x"
    log.parent.mkdir(parents=True, exist_ok=True)
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    log.symlink_to(mine)
    with repo.lock(), pytest.raises(GitmemError, match="out of the git directory"):
        repo.publish([RefUpdate("refs/heads/proposals/x", oid, ZERO)])
    assert mine.read_text() == "mine\n"
    assert repo.read_ref("refs/heads/proposals/x") is None


def test_a_head_that_is_a_link_to_its_branch_is_on_that_branch(repo: Repo, git: Git) -> None:
    write_one(repo)
    git(repo.git_dir, "config", "core.preferSymlinkRefs", "true")
    git(repo.git_dir, "symbolic-ref", "HEAD", MAIN)
    assert (repo.git_dir / "HEAD").is_symlink()
    assert symbolic_target(repo.git_dir) == MAIN
    with Repo.open(repo.git_dir) as opened:
        assert opened.reader.resolve("HEAD") == opened.read_ref(MAIN)


def shim(folder: Path, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "git").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git").chmod(0o755)


def test_a_git_that_is_too_old_is_refused_by_its_number(
    repo: Repo, tmp_path: Path, monkeypatch: Patch
) -> None:
    write_one(repo)
    shim(tmp_path / "bin", "echo git version 2.20.1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    with (
        Repo.open(repo.git_dir) as opened,
        pytest.raises(GitFailed, match=r"'git version 2\.20\.1'; gitmem needs git 2\.39"),
    ):
        opened.reader.read(MAIN)
    assert parse_version("git version 2.39.5 (Apple Git-154)") == (2, 39)
    assert parse_version("git version 3.0.0-rc1") == (3, 0)
    assert parse_version("nonsense") is None


def test_a_git_that_was_checked_once_is_not_asked_again(
    repo: Repo, tmp_path: Path, monkeypatch: Patch
) -> None:
    write_one(repo)
    real, log = git_executable(), tmp_path / "log"
    shim(tmp_path / "bin", f"echo \"$*\" >> '{log}'\nexec '{real}' \"$@\"")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    code = (
        "import sys; from pathlib import Path; from gitmem.repo import Repo\n"
        "with Repo.open(Path(sys.argv[1])) as repo, repo.lock():\n"
        "    repo.refs()\n"
        "with repo.lock(): pass\n"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, str(repo.root)], cwd=ROOT, check=True)
    lines = log.read_text().splitlines()
    assert lines.count("version") == 1
    assert len(lines) == 3


def test_a_git_in_a_relative_entry_of_path_is_passed_over(tmp_path: Path) -> None:
    shim(tmp_path / "bin", "exit 1")
    found = git_executable({"PATH": os.pathsep.join(["bin", ".", "", os.environ["PATH"]])})
    assert found and Path(found).parent != tmp_path / "bin"
    assert git_executable({"PATH": "bin"}) is None


def test_the_callers_variables_point_nowhere(
    repo: Repo, tmp_path: Path, git: Git, monkeypatch: Patch
) -> None:
    other = tmp_path / "other"
    git(tmp_path, "init", "-q", "-b", "main", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "other")
    before = sorted((path, path.stat().st_mtime_ns) for path in other.rglob("*"))
    for name, value in {
        "GIT_DIR": other / ".git",
        "GIT_COMMON_DIR": other / ".git",
        "GIT_WORK_TREE": other,
        "GIT_INDEX_FILE": other / ".git/index",
        "GIT_OBJECT_DIRECTORY": other / ".git/objects",
        "GIT_NAMESPACE": "x",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.bare",
        "GIT_CONFIG_VALUE_0": "nonsense",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_TRACE": "1",
        "LANG": "ja_JP.UTF-8",
        "LC_ALL": "ja_JP.UTF-8",
        "LANGUAGE": "de",
    }.items():
        monkeypatch.setenv(name, str(value))
    kept = dict(os.environ)
    with Repo.open(repo.git_dir) as opened:
        first = write_one(opened)
        second = write_one(opened, b"2")
        assert opened.refs() == {MAIN: second}
        assert "-1" in diff_text(opened, first, second)
    assert dict(os.environ) == kept
    assert sorted((path, path.stat().st_mtime_ns) for path in other.rglob("*")) == before


def test_the_environment_of_git_is_built_from_nothing() -> None:
    hostile = {"GIT_DIR": "x", "LD_PRELOAD": "y", "EDITOR": "z", "PATH": "/bin", "OPENAI_KEY": "k"}
    built = local_environment(hostile)
    assert built["PATH"] == "/bin"
    assert not {"GIT_DIR", "LD_PRELOAD", "EDITOR", "OPENAI_KEY", "HOME"} & built.keys()


def test_without_home_identity_or_anything_else_it_works(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from gitmem.domain.objects import Identity, ZERO\n"
        "from gitmem.repo import *\n"
        "who = (Identity('Ada', 'a@x'), 1)\n"
        "with Repo.init(Path(sys.argv[1])) as repo, repo.lock():\n"
        "    oid, = repo.write([NewCommit((), 'm', who, who, {'a': b'1'})])\n"
        "    repo.publish([RefUpdate('refs/heads/main', oid, ZERO)])\n"
        "    print(repo.reader.resolve('HEAD') == oid)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "store")],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_persons_signing_and_line_end_settings_do_not_reach_the_store(
    repo: Repo, git: Git
) -> None:
    for scope in ("--global", "--local"):
        for key, value in {
            "commit.gpgsign": "true",
            "gpg.program": "/bin/false",
            "core.autocrlf": "true",
            "core.safecrlf": "true",
            "user.useConfigOnly": "true",
        }.items():
            git(repo.git_dir, "config", scope, key, value)
    oid = write_one(repo, b"one\r\ntwo\n")
    assert repo.reader.blob(repo.reader.resolve(f"{oid}:a") or "") == b"one\r\ntwo\n"
    assert repo.reader.commit(oid).extra_headers == ()


def test_nothing_that_a_store_names_is_run(repo: Repo, tmp_path: Path, git: Git) -> None:
    """Hooks, monitors, filters, renderers, signers, transports: each would leave a canary."""
    first = write_one(repo)
    canary = tmp_path / "canary"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho \"$0 $*\" >> '{canary}'\ncat\n")
    script.chmod(0o755)
    hooks = repo.git_dir / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-index-change", "post-checkout", "pre-auto-gc"):
        (hooks / name).write_text(script.read_text())
        (hooks / name).chmod(0o755)
    program = str(script)
    included = tmp_path / "included"
    for file, key, value in [
        (repo.git_dir / "config", "include.path", str(included)),
        (included, "core.hooksPath", str(hooks)),
        (included, "core.fsmonitor", program),
        (included, "core.pager", program),
        (included, "core.sshCommand", program),
        (included, "core.alternateRefsCommand", program),
        (included, "credential.helper", program),
        (included, "diff.external", program),
        (included, "diff.canary.textconv", program),
        (included, "diff.canary.command", program),
        (included, "filter.canary.smudge", program),
        (included, "filter.canary.clean", program),
        (included, "filter.canary.process", program),
        (included, "filter.canary.required", "true"),
        (included, "merge.canary.driver", program),
        (included, "gpg.program", program),
        (included, "gpg.ssh.program", program),
        (included, "gpg.ssh.defaultKeyCommand", program),
        (included, "log.showSignature", "true"),
        (included, "format.pretty", "%G?%GK"),
        (included, "protocol.ext.allow", "always"),
        (included, "remote.origin.url", f"ext::{program}"),
    ]:
        git(tmp_path, "config", "--file", str(file), "--add", key, value)
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info/attributes").write_text("* diff=canary filter=canary merge=canary\n")
    from gitmem.repo.worktree import bring_along, finish_worktree, note_worktree

    bring_along(repo, None, first)
    with Repo.open(repo.root or repo.git_dir) as opened:
        note_worktree(opened, first)
        second = write_one(opened, b"2")
        bring_along(opened, first, second)
        finish_worktree(opened)
        opened.reader.read(MAIN)
        opened.refs()
        opened.list_tree(second)
        opened.changed_paths(first, second)
        opened.maybe_repack(every=1)
        assert "+2" in diff_text(opened, first, second)
        assert opened.root and (opened.root / "a").read_bytes() == b"2"
    assert not canary.exists(), canary.read_text()
    with pytest.raises(GitFailed):
        repo.runner.run(["ls-remote", "origin"])
    assert not canary.exists(), canary.read_text()
    subprocess.run(["git", "diff", first, second], cwd=repo.root, capture_output=True, check=False)
    assert canary.exists()  # the traps do work


# --- the runner ----------------------------------------------------------------------------


def test_a_process_that_takes_too_long_is_ended_with_what_it_started(
    repo: Repo, tmp_path: Path, monkeypatch: Patch
) -> None:
    reading, writing = os.pipe()
    # The shim and the program under it both inherit the reading end, and keep it until they end.
    script = '[ "$1" = version ] && exec echo git version 2.40.0\nsleep 600 & wait'
    shim(tmp_path / "bin", script)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    runner = Runner(repo.git_dir)
    runner.write_fds = (reading,)
    with pytest.raises(GitFailed, match="cat-file took longer than"):
        runner.run(["cat-file", "-e", "HEAD"], writes=True, timeout=0.3)
    os.close(reading)
    poll = select.poll()
    poll.register(writing, 0)
    assert poll.poll(60_000), "nobody is left to read, as soon as the killed ones have ended"
    os.close(writing)


def test_output_over_the_limit_is_refused(repo: Repo) -> None:
    oid = write_one(repo, b"x" * 500_000)
    blob = repo.reader.resolve(f"{oid}:a") or ""
    with pytest.raises(GitFailed, match="more than 1000 bytes"):
        repo.runner.run(["cat-file", "blob", blob], max_output=1000)


def test_a_failure_says_what_git_said_made_fit_for_a_terminal(repo: Repo) -> None:
    with pytest.raises(GitFailed, match=r"git cat-file failed \(exit status 128\)") as caught:
        repo.runner.run(["cat-file", "-p", "no\x1b[2Jsuch"])
    assert "\x1b" not in str(caught.value)
    assert shown("\x1b]52;c\x07 \u202e") == "\\x1b]52;c\\x07 \\x202e"
    said = shown("fatal: https://ada:s3cret@host/x.git?token=abc refused, ssh://git@host/y")
    assert said == "fatal: https://host/x.git refused, ssh://host/y"


def test_each_command_can_be_traced(repo: Repo) -> None:
    seen: list[str] = []
    with Repo.open(repo.git_dir, trace=lambda words: seen.append(" ".join(words))) as opened:
        opened.runner.run(["rev-parse", "--git-dir"])
    assert seen == ["git rev-parse --git-dir"]


# --- history -------------------------------------------------------------------------------


def test_a_difference_is_shown_in_plain_text(repo: Repo) -> None:
    first = write_one(repo, "旧\n".encode())
    second = write_one(repo, "新\n".encode())
    assert diff_text(repo, first, second).splitlines()[-2:] == ["-旧", "+新"]
    assert diff_text(repo, first, second, ["other"]) == ""
    (repo.git_dir / "info").mkdir(exist_ok=True)
    (repo.git_dir / "info/attributes").write_text("* -diff\n")
    with (repo.git_dir / "config").open("a") as config:
        config.write("[core]\n\tbigFileThreshold = 1\n")
    assert diff_text(repo, first, second).splitlines()[-2:] == ["-旧", "+新"]
    for rev in ("--output=/tmp/x", "main", "HEAD --all", ""):
        with pytest.raises(InvalidInput):
            diff_text(repo, rev, second)
    with pytest.raises(GitFailed):
        diff_text(repo, first, "1" * 40)
