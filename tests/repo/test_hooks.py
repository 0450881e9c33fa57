"""Hooks under the git directory: beside a person's own, and taken away without a trace."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gitmem.errors import Refused
from gitmem.repo import Repo
from gitmem.repo.hooks import EVENTS, install, look, remove, shim

if TYPE_CHECKING:
    from tests.conftest import RunGit

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hooks are shell scripts")

ROOT = Path(__file__).parents[2]
OWN = b"#!/bin/sh\n# \xe6\x88\x91\xe7\x9a\x84\r\nexit 0\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repo]:
    """An empty store at a path that needs quoting; its hooks find this gitmem."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with Repo.init(tmp_path / "记 忆's\nstore") as opened:
        yield opened


@pytest.fixture
def hooks(repo: Repo) -> Path:
    return repo.git_dir / "hooks"


def write(path: Path, data: bytes | str, mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    path.chmod(mode)
    return path


def picture(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    """Everything in a folder: mode, inode, time and content of each entry."""
    found = {}
    for path in sorted(folder.iterdir()):
        status = path.lstat()
        content = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        found[path.name] = (status.st_mode, status.st_ino, status.st_mtime_ns, content)
    return found


def states(repo: Repo) -> set[str]:
    return {line.state for line in look(repo.git_dir).hooks}


def test_every_hook_is_installed_once_and_removed_without_a_trace(repo: Repo, hooks: Path) -> None:
    assert states(repo) == {"absent"}
    config = (repo.git_dir / "config").read_bytes()
    report, left = install(repo.git_dir)
    assert left == [] and report.complete
    assert sorted(picture(hooks)) == sorted(EVENTS)
    assert all(os.access(hooks / event, os.X_OK) for event in EVENTS)
    before = picture(hooks)
    assert install(repo.git_dir) == (report, [])
    assert picture(hooks) == before
    report, left = remove(repo.git_dir)
    assert left == [] and states(repo) == {"absent"}
    assert picture(hooks) == {}
    assert remove(repo.git_dir)[1] == []
    assert (repo.git_dir / "config").read_bytes() == config


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o644])
def test_a_persons_own_hook_comes_back_byte_for_byte_with_its_mode(
    repo: Repo, hooks: Path, mode: int
) -> None:
    write(hooks / "pre-commit", OWN, mode)
    (hooks / "post-merge").symlink_to("../我的-hook")
    write(hooks / "commit-msg", "#!/bin/sh\n")
    before = picture(hooks)
    report, left = install(repo.git_dir)
    assert left == [] and report.complete
    assert [line.event for line in report.hooks if line.own] == ["post-merge", "pre-commit"]
    install(repo.git_dir)
    remove(repo.git_dir)
    assert picture(hooks) == before


def test_the_own_hook_runs_first_with_its_arguments_input_and_exit_status(
    repo: Repo, hooks: Path, git: RunGit
) -> None:
    assert repo.root
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "one")
    said = repo.root / "said"
    for event, status in (("post-checkout", 3), ("post-rewrite", 0)):
        write(hooks / event, f'#!/bin/sh\n{{ echo "$0 $*"; cat; }} >>said\nexit {status}\n')
    install(repo.git_dir)
    done = subprocess.run(
        ["git", "checkout", "-q", "-b", "新"], cwd=repo.root, capture_output=True, check=False
    )
    assert done.returncode == 1, "git's way to say that the hook failed"
    shim_status = subprocess.run(
        [hooks / "post-checkout", "a", "b", "0"], cwd=repo.root, check=False
    )
    assert shim_status.returncode == 3
    *_, last = said.read_text().splitlines()
    assert last.endswith("post-checkout.before-gitmem a b 0")
    head = git(repo.root, "rev-parse", "HEAD").strip()
    name, *arguments = said.read_text().splitlines()[-3].rsplit(" ", 3)
    assert name.endswith("post-checkout.before-gitmem")
    assert arguments == [head, head, "1"]
    git(repo.root, "commit", "-q", "--amend", "--allow-empty", "-m", "other")
    now = git(repo.root, "rev-parse", "HEAD").strip()
    assert said.read_text().splitlines()[-2].endswith("post-rewrite.before-gitmem amend")
    assert said.read_text().splitlines()[-1] == f"{head} {now}"


def test_an_own_hook_that_refuses_a_commit_still_does(repo: Repo, hooks: Path, git: RunGit) -> None:
    assert repo.root
    write(hooks / "pre-commit", "#!/bin/sh\necho 不行 >&2\nexit 9\n")
    install(repo.git_dir)
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q"]
    command += ["--allow-empty", "-m", "x"]
    done = subprocess.run(command, cwd=repo.root, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode()) == (1, "不行\n")
    (hooks / "pre-commit.before-gitmem").chmod(0o644)  # switched off, as git understands it
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "x")


def test_an_own_hook_that_calls_the_installed_one_makes_no_circle(
    repo: Repo, hooks: Path, git: RunGit
) -> None:
    assert repo.root
    write(hooks / "post-commit", '#!/bin/sh\necho x >>said\n"$(pwd)/.git/hooks/post-commit"\n')
    install(repo.git_dir)
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "x")
    assert (repo.root / "said").read_text() == "x\n"


def test_an_installed_hook_that_was_edited_stays_and_is_named(repo: Repo, hooks: Path) -> None:
    write(hooks / "pre-commit", OWN)
    install(repo.git_dir)
    with (hooks / "pre-commit").open("a") as file:
        file.write("echo 我的\n")
    (hooks / "post-merge").chmod(0o644)
    edited = picture(hooks)["pre-commit"]
    for change in (install, remove):
        report, left = change(repo.git_dir)
        assert [line.event for line in report.hooks if line.state == "edited"] == [
            "post-merge",
            "pre-commit",
        ]
        assert len(left) == 2 and all("edited by hand" in sentence for sentence in left)
        assert picture(hooks)["pre-commit"] == edited
    assert sorted(picture(hooks)) == ["post-merge", "pre-commit", "pre-commit.before-gitmem"]
    (hooks / "pre-commit").unlink()
    remove(repo.git_dir)
    assert (hooks / "pre-commit").read_bytes() == OWN


def test_a_hook_of_another_gitmem_or_python_is_replaced(repo: Repo, hooks: Path) -> None:
    install(repo.git_dir)
    head, _, body = shim("post-merge").partition(b"# gitmem-hook ")
    body = b"# older\n" + body.partition(b"\n")[2]
    checksum = hashlib.sha256(body).hexdigest().encode()
    write(hooks / "post-merge", head + b"# gitmem-hook " + checksum + b"\n" + body)
    assert states(repo) == {"installed", "outdated"}
    assert install(repo.git_dir)[0].complete
    assert (hooks / "post-merge").read_bytes() == shim("post-merge")


def test_an_installation_that_was_cut_off_is_taken_up_or_undone(repo: Repo, hooks: Path) -> None:
    write(hooks / "pre-commit", OWN)
    os.link(hooks / "pre-commit", hooks / "pre-commit.before-gitmem")
    remove(repo.git_dir)
    assert sorted(picture(hooks)) == ["pre-commit"]
    os.link(hooks / "pre-commit", hooks / "pre-commit.before-gitmem")
    assert install(repo.git_dir)[0].complete
    assert (hooks / "pre-commit.before-gitmem").read_bytes() == OWN


def test_a_second_own_hook_never_replaces_the_one_that_is_kept(repo: Repo, hooks: Path) -> None:
    write(hooks / "pre-commit", "#!/bin/sh\n# new\n")
    write(hooks / "pre-commit.before-gitmem", OWN)
    before = picture(hooks)
    _, (said,) = install(repo.git_dir)
    assert "pre-commit.before-gitmem" in said
    assert {name: picture(hooks)[name] for name in before} == before
    _, (said,) = remove(repo.git_dir)
    assert "stays" in said
    assert picture(hooks) == before


def test_nothing_is_written_through_a_link_in_place_of_the_folder(
    repo: Repo, hooks: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "别处"
    write(outside / "pre-commit", OWN)
    hooks.symlink_to(outside)
    before = picture(outside)
    for change in (install, remove):
        with pytest.raises(Refused, match="symbolic link") as caught:
            change(repo.git_dir)
        assert "gitmem hook" in caught.value.hint
    assert picture(outside) == before


@pytest.mark.parametrize("scope", ["--global", "--local"])
def test_a_folder_named_by_core_hookspath_is_left_alone(
    repo: Repo, hooks: Path, git: RunGit, tmp_path: Path, scope: str
) -> None:
    assert repo.root
    shared = tmp_path / "共享 hooks"
    write(shared / "post-commit", OWN)
    git(repo.root, "config", scope, "core.hooksPath", str(shared))
    before = picture(shared)
    with pytest.raises(Refused, match=r"core\.hooksPath") as caught:
        install(repo.git_dir)
    assert str(shared) in caught.value.message
    assert not hooks.exists()
    assert picture(shared) == before
    assert look(repo.git_dir).elsewhere == str(shared)
    # What the hint says works from there, in this store and in any other repository.
    line = next(line for line in caught.value.hint.splitlines() if line.startswith("if "))
    write(shared / "post-commit", f"#!/bin/sh\n{line}\necho went-on >&2\n")
    command = write(
        tmp_path / "bin" / "gitmem", f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"'
    )
    git(tmp_path, "init", "-q", "-b", "main", "plain")
    repo.private.mkdir(exist_ok=True)
    said = {}
    for root in (repo.root, tmp_path / "plain"):
        environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
        words = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q"]
        words += ["--allow-empty", "-m", "x"]
        done = subprocess.run(words, cwd=root, env=environment, capture_output=True, check=True)
        said[root.name] = done.stderr.decode()
    assert "gitmem adopt" in said[repo.root.name] and "went-on" in said[repo.root.name]
    assert said["plain"] == ("went-on\n" if scope == "--global" else "")


def test_the_stores_own_folder_may_be_named_by_core_hookspath(repo: Repo, git: RunGit) -> None:
    assert repo.root
    git(repo.root, "config", "core.hooksPath", ".git/hooks")
    assert install(repo.git_dir)[0].complete


def test_a_python_whose_path_needs_quoting_is_found_again(
    repo: Repo, hooks: Path, git: RunGit, tmp_path: Path
) -> None:
    python = tmp_path / "bin '\"$x` \\\n蟒" / "py thon"
    python.parent.mkdir()
    python.symlink_to(Path(sys.executable).resolve())
    libraries = os.pathsep.join([str(ROOT), sysconfig.get_path("purelib")])
    code = "import sys, pathlib; from gitmem.repo.hooks import install\n"
    code += "assert install(pathlib.Path(sys.argv[1]))[0].complete"
    environment = {**os.environ, "PYTHONPATH": libraries}
    subprocess.run([python, "-c", code, str(repo.git_dir)], env=environment, check=True)
    assert os.fsencode(python.name) in (hooks / "post-commit").read_bytes()
    assert states(repo) == {"outdated"}, "seen from this Python"
    assert repo.root
    repo.private.mkdir(exist_ok=True)
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q"]
    done = subprocess.run(
        [*command, "--allow-empty", "-m", "x"],
        cwd=repo.root,
        env=environment,
        capture_output=True,
        check=True,
    )
    assert b"gitmem adopt" in done.stderr
