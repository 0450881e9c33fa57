"""What a user installs: built, installed alone into an empty environment, and tried there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import RunGit

ROOT = Path(__file__).parents[2]


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the source archive and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    return out


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("gitmem_pr-*-py3-none-any.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' folder of an environment that has the wheel and the libraries, no checkout."""
    home = tmp_path_factory.mktemp("installed")
    venv.create(home, with_pip=False)
    scripts = home / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--quiet", "--python", scripts / "python"]
    run(*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel)
    # The libraries come from the environment that runs the tests. A folder named in a .pth file
    # has its own .pth files left unread, so an editable installation there stays unseen.
    site = run(scripts / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    libraries = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(site.strip()) / "libraries.pth").write_text("\n".join(sorted(libraries)) + "\n")
    return scripts


def shipped(folder: str) -> dict[str, bytes]:
    root = ROOT / folder
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("folder", "inside"),
    [
        ("reviewers", "gitmem/_data/reviewers"),
        ("hooks", "gitmem/_data/hooks"),
        ("gitmem/prompts", "gitmem/prompts"),
    ],
)
def test_the_wheel_carries_the_shipped_files(wheel: Path, folder: str, inside: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        carried = {
            name.removeprefix(inside + "/"): archive.read(name)
            for name in archive.namelist()
            if name.startswith(inside + "/")
        }
    assert carried == shipped(folder)
    assert carried


def test_the_wheel_is_typed_licensed_and_holds_the_package_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "gitmem/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gitmem"}


def test_the_source_archive_has_what_the_tests_need(dist: Path) -> None:
    (path,) = dist.glob("gitmem_pr-*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {"LICENSE", "Makefile", "README.md", "pyproject.toml", "tests/conftest.py"}
    assert wanted <= names


def test_the_installed_command_makes_a_store_with_the_shipped_reviewers(
    installed: Path, tmp_path: Path, git: RunGit
) -> None:
    where = run(installed / "python", "-c", "import gitmem; print(gitmem.__file__)")
    assert Path(where.strip()).is_relative_to(installed.parent)
    assert "Usage: gitmem" in run(installed / "gitmem", "--help")

    run(installed / "gitmem", "init")
    store = tmp_path / ".memory"
    names = git(store, "ls-tree", "--name-only", "refs/heads/main:reviewers").split()
    assert names == sorted(shipped("reviewers"))
    for name in names:
        text = git(store, "cat-file", "blob", f"refs/heads/main:reviewers/{name}")
        assert text.encode() == shipped("reviewers")[name]


def test_the_installed_package_finds_its_hook_files(installed: Path) -> None:
    code = "from gitmem.resources import hook_files; print(*hook_files())"
    assert run(installed / "python", "-c", code).split() == sorted(shipped("hooks"))
