"""A round in the editor loses nothing that a person typed."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from gitmem.cli.editor import Typed, editing
from gitmem.cli.output import Output
from gitmem.errors import GitmemError, InvalidInput

GIVEN = "缩进: 制表符\n"


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def use_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    """Let the editor be Python code on ``path``."""
    program = tmp_path / "editor.py"
    program.write_text(f"import os, sys\npath = sys.argv[1]\n{code}\n", encoding="utf-8")
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    monkeypatch.setenv("VISUAL", command)


def kept(scratch: Path) -> list[bytes]:
    return [path.read_bytes() for path in scratch.iterdir()]


WRITE = "open(path, 'wb').write({!r})"
MORE = "open(path, 'ab').write(b'MORE')"


def test_what_was_typed_comes_back_and_is_removed_once_it_is_settled(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_editor(monkeypatch, tmp_path, WRITE.format("\ufeff缩进: 空格\r\n".encode()))
    with editing(Output(), GIVEN, what="test", suffix=".yaml") as typed:
        assert Path(typed.path).name.startswith("gitmem-test-")
        assert Path(typed.path).stat().st_mode & 0o077 == 0
        assert typed.path.endswith(".yaml")
        assert typed.text() == "缩进: 空格\n"
        assert not typed.unchanged
        typed.settle()
    assert kept(scratch) == []


def test_what_was_typed_in_vain_is_kept_and_named(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    use_editor(monkeypatch, tmp_path, MORE)
    with (
        pytest.raises(InvalidInput, match="no good"),
        editing(Output(), GIVEN, what="test") as typed,
    ):
        raise InvalidInput("no good")
    assert kept(scratch) == [f"{GIVEN}MORE".encode()]
    assert f"what you typed is kept in {typed.path}" in capsys.readouterr().err


@pytest.mark.parametrize("code", ["pass", WRITE.format(GIVEN.encode())])
def test_where_nothing_was_typed_nothing_is_kept(
    scratch: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
    code: str,
) -> None:
    use_editor(monkeypatch, tmp_path, code)
    with pytest.raises(KeyboardInterrupt), editing(Output(), GIVEN, what="test") as typed:
        assert typed.unchanged
        raise KeyboardInterrupt
    assert kept(scratch) == []
    assert capsys.readouterr().err == ""


def test_an_editor_that_saves_and_fails_loses_nothing(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    use_editor(monkeypatch, tmp_path, f"{MORE}\nsys.exit(1)")
    with (
        pytest.raises(GitmemError, match="the editor failed") as caught,
        editing(Output(), GIVEN, what="test", instead="use --body"),
    ):
        pytest.fail("there is nothing to work with")
    assert caught.value.hint == "Set VISUAL or EDITOR, or use --body."
    assert kept(scratch) == [f"{GIVEN}MORE".encode()]
    assert "kept in" in capsys.readouterr().err


def test_an_editor_that_takes_the_file_away_is_told_apart_from_one_that_changes_nothing(
    scratch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_editor(monkeypatch, tmp_path, "os.unlink(path)")
    with (
        pytest.raises(GitmemError, match="left nothing to read"),
        editing(Output(), GIVEN, what="test"),
    ):
        pytest.fail("there is nothing to work with")
    assert kept(scratch) == []


def test_what_is_no_text_is_refused_with_its_line() -> None:
    with pytest.raises(InvalidInput, match=r"f\.md, line 2: byte 5 is not UTF-8"):
        Typed("f.md", b"good\n\xff").text()
