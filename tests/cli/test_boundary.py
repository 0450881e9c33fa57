"""What goes wrong ends with a message, the right exit code and, for a bug, a log to paste."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.cli.boundary import _MACHINE, run
from gitmem.errors import Busy, GitmemError, NotFound, Refused, Usage, Waiting
from tests.cli.harness import ROOT, RunCommand, environment


def failing(error: BaseException) -> Callable[[list[str]], int]:
    def fail(args: list[str]) -> int:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (GitmemError("x"), 1),
        (NotFound("x"), 1),
        (Refused("x"), 1),
        (Busy("x"), 1),
        (Usage("x"), 2),
        (Waiting("x"), 4),
        (KeyboardInterrupt(), 130),
        (OSError(errno.ENOSPC, "No space left on device", "records/x"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_each_kind_of_error_has_its_exit_code(error: BaseException, code: int) -> None:
    assert run(failing(error), []) == code


@pytest.mark.parametrize("number", [errno.ENOTDIR, errno.EEXIST, errno.EISDIR])
def test_what_is_of_the_wrong_kind_is_named_with_a_command_that_moves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    there = tmp_path / "it's 这里"
    named = there / "below" / "x.json" if number == errno.ENOTDIR else there
    there.mkdir() if number == errno.EISDIR else there.write_text("x")
    assert run(failing(OSError(number, os.strerror(number), str(named))), []) == 1
    error, hint = capsys.readouterr().err.splitlines()
    assert error.startswith(f"error: {there}: is a f")
    subprocess.run(hint.partition("again: ")[2], shell=True, check=True)
    assert not there.exists() and len(list(tmp_path.iterdir())) == 1


def test_an_error_of_that_kind_about_nothing_of_the_kind_stays_a_bug(tmp_path: Path) -> None:
    for number in (errno.ENOTDIR, errno.EEXIST, errno.EISDIR):
        assert run(failing(OSError(number, os.strerror(number), str(tmp_path / "x"))), []) == 3
        assert run(failing(OSError(number, os.strerror(number))), []) == 3


@pytest.mark.parametrize("number", sorted(_MACHINE))
def test_what_the_system_refuses_comes_with_what_to_do_next(
    capfd: pytest.CaptureFixture[str], number: int
) -> None:
    assert run(failing(OSError(number, os.strerror(number))), []) == 1
    assert "\nhint: " in capfd.readouterr().err


def test_an_error_says_what_and_what_next(capsys: pytest.CaptureFixture[str]) -> None:
    run(failing(Refused("the record is too large\nsecond line", hint="Make it shorter.")), [])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == (
        "error: the record is too large\n       second line\nhint: Make it shorter.\n"
    )


def test_an_error_in_json_is_one_line_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(failing(Refused("不行\x1b[2J\u202e", hint="next")), ["--json"])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "\x1b" not in printed.err and "\u202e" not in printed.err
    assert "不行" in printed.err
    error = {"message": "不行\x1b[2J\u202e", "hint": "next", "exit_code": 1}
    assert json.loads(printed.err) == {"error": error}


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_error_shows_no_credentials(
    capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    run(failing(GitmemError("cannot reach https://ada:pa55@example.org/m.git")), options)
    assert "pa55" not in capsys.readouterr().err


def test_a_bug_leaves_a_log_that_says_where_and_nothing_private(
    capsys: pytest.CaptureFixture[str],
) -> None:
    args = ["remember", "my private words", "--name=also-private", "https://u:pa55@h/"]
    assert run(failing(KeyError("a bug")), args) == 3
    printed = capsys.readouterr().err
    log = Path(printed.rpartition("paste this file: ")[2].strip())
    assert log.parent == Path(os.environ["XDG_STATE_HOME"]) / "gitmem"
    text = log.read_text(encoding="utf-8")
    assert "KeyError: 'a bug'" in text
    assert "test_boundary.py" in text
    assert "gitmem 0." in text and "Python 3." in text
    assert "remember <16 characters>" in text
    assert "private" not in text and "pa55" not in text
    if os.name == "posix":
        assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_a_bug_is_logged_elsewhere_when_the_home_cannot_be_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (Path(os.environ["XDG_STATE_HOME"])).parent.mkdir(parents=True)
    Path(os.environ["XDG_STATE_HOME"]).write_text("a file is in the way")
    assert run(failing(KeyError("a bug")), []) == 3
    log = Path(capsys.readouterr().err.rpartition("paste this file: ")[2].strip())
    assert "KeyError" in log.read_text(encoding="utf-8")
    log.unlink()


def test_an_unexpected_error_of_the_system_is_a_bug() -> None:
    assert run(failing(FileNotFoundError(errno.ENOENT, "No such file", "x")), []) == 3


@pytest.mark.parametrize("error", [KeyError("a bug"), Refused("no")])
def test_debug_lets_the_error_through(error: Exception) -> None:
    with pytest.raises(type(error)):
        run(failing(error), ["--debug"])


def test_options_behind_two_dashes_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(failing(Refused("no")), ["--", "--json", "--debug"]) == 1
    assert capsys.readouterr().err == "error: no\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    code = (
        "import sys\n"
        "from gitmem.cli.boundary import run\n"
        "from gitmem.cli.output import Stream\n"
        "def talk(args):\n"
        "    for n in range(100_000):\n"
        "        Stream(sys.stdout).line('a line')\n"
        "    return 0\n"
        "sys.exit(run(talk, []))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment(None),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
def test_a_full_disk_is_told_and_no_bug() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gitmem", "--help"],
            env=environment(None),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert b"the disk is full" in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "latin-1"])
def test_text_that_the_encoding_has_not_is_escaped_and_no_crash(
    gitmem: RunCommand, encoding: str
) -> None:
    args = ["show", "名字-é-😀", "--store", "nowhere"]
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *args],
        env=environment({"PYTHONIOENCODING": encoding}),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.decode(encoding).startswith("error: ")


def test_there_is_one_broad_except_in_the_command_line() -> None:
    sources = sorted((ROOT / "gitmem" / "cli").glob("*.py"))
    broad = [path.name for path in sources if "except Exception" in path.read_text("utf-8")]
    assert broad == ["boundary.py"]
