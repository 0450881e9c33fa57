"""The public names, and how the command starts."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import gitmem

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", gitmem.__all__)
def test_every_public_name_can_be_had(name: str) -> None:
    namespace: dict[str, object] = {}
    exec(f"from gitmem import {name}", namespace)
    assert namespace[name] is getattr(gitmem, name)


def test_dir_lists_the_public_names_and_no_others() -> None:
    assert dir(gitmem) == sorted(gitmem.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'MemoryShop'"):
        gitmem.MemoryShop  # noqa: B018


def test_every_error_that_can_be_raised_is_public() -> None:
    from gitmem import errors

    raised = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, errors.GitmemError)
    }
    assert raised <= set(gitmem.__all__)


def test_the_version_is_one_and_has_its_heading_in_the_changelog() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", gitmem.__version__)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{gitmem.__version__}]" in changelog


def test_the_installed_distribution_has_the_version_of_the_code() -> None:
    assert version("gitmem-pr") == gitmem.__version__


def test_the_licence_is_mit() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert text.startswith("MIT License\n")
    assert "Copyright (c) 2026 gitmem contributors" in text


def test_python_m_gitmem_is_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "--help"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "Usage: gitmem" in done.stdout


def test_the_command_line_hands_its_exit_code_to_the_shell() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "no-such-command"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 2
    assert "no-such-command" in done.stderr
