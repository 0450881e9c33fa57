"""The one error boundary: whatever goes wrong becomes a message and an exit code.

0 done; 1 refused or failed, with a reason; 2 the call is wrong; 3 a bug, with a log to paste;
4 a person has to decide, or the base moved on; 130 interrupted; 141 nobody reads the output.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Callable, Iterable, Sequence

from gitmem.cli.output import Output, Styled, prepare_streams, without_credentials
from gitmem.errors import GitmemError

DONE, REFUSED, USAGE, BUG, WAITING, INTERRUPTED, NO_READER = 0, 1, 2, 3, 4, 130, 141

# What the machine refuses is no bug of ours; any other OSError that comes this far is one.
_MACHINE = {
    getattr(errno, name)
    for name in (
        "EACCES", "EDQUOT", "EFBIG", "EIO", "EMFILE", "ENAMETOOLONG", "ENFILE", "ENOMEM",
        "ENOSPC", "EPERM", "EROFS", "ESTALE",
    )
    if hasattr(errno, name)
}  # fmt: skip


_ANY_HINT = "Nothing is wrong with the call: run it again once the disk answers."

Action = Callable[[list[str]], int]


def run(action: Action, argv: Sequence[str] | None = None) -> int:
    """Run ``action`` on the arguments and return the exit code.

    No exception leaves, except with ``--debug``.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    options = args[: args.index("--")] if "--" in args else args
    as_json, debug = "--json" in options, "--debug" in options
    prepare_streams(as_json=as_json)
    output = Output(as_json=as_json)
    try:
        return _expected(action, args, output, debug=debug)
    except BrokenPipeError:
        _abandon_stdout()
        return NO_READER
    except Exception as error:  # the boundary
        if debug:
            raise
        try:
            hint = f"Please report it and paste this file: {_write_log(error, args)}"
        except OSError as refused:
            hint = f"Please report it and paste what --debug prints; no file: {refused.strerror}"
        report(output, f"a bug in gitmem: {type(error).__name__}", hint, BUG)
        return BUG


def _expected(action: Action, args: list[str], output: Output, *, debug: bool) -> int:
    """Run ``action``; what may well go wrong becomes a message."""
    try:
        code = action(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return report(output, "interrupted", "", INTERRUPTED)
    except GitmemError as error:
        if debug:
            raise
        return report_error(output, error)
    except BrokenPipeError:
        raise
    except OSError as error:
        if debug:
            raise
        blocked = _of_the_wrong_kind(error)
        if blocked is not None:
            return report_error(output, blocked)
        if error.errno not in _MACHINE:
            raise
        where = f" ({error.filename})" if error.filename else ""
        _abandon_stdout()
        from gitmem.repo.refusals import refusal

        why, hint = refusal(error)
        return report(output, f"the system refused: {why}{where}", hint or _ANY_HINT, REFUSED)


def _of_the_wrong_kind(error: OSError) -> GitmemError | None:
    """What to say where a file stands in a folder's place, or a folder in a file's."""
    if error.errno not in (errno.EEXIST, errno.EISDIR, errno.ENOTDIR):
        return None
    from gitmem.repo.places import found_by

    found = found_by(error)
    return found.error if found else None


def report_error(output: Output, error: GitmemError) -> int:
    """Print an expected error and return its exit code."""
    return report(output, error.message, error.hint, error.exit_code)


def gravest(codes: Iterable[int]) -> int:
    """The exit code of a command that did several things; an unknown one is the gravest."""
    order = [DONE, WAITING, REFUSED, USAGE]
    return max(codes, key=lambda code: order.index(code) if code in order else len(order))


def error_json(message: str, hint: str, code: int) -> dict[str, object]:
    """The JSON shape of an error."""
    message, hint = without_credentials(message), without_credentials(hint)
    return {"error": {"message": message, "hint": hint, "exit_code": code}}


def report(output: Output, message: str, hint: str, code: int) -> int:
    """Print what went wrong and what to do next, on standard error; return ``code``."""
    if output.as_json:
        output.err.json(error_json(message, hint, code), indent=None)
        return code
    first, *rest = without_credentials(message).split("\n")
    output.err.line(Styled("error: ", "bad"), first)
    for line in rest:
        output.err.line(line, indent=7)
    for line in without_credentials(hint).split("\n") if hint else []:
        output.err.line(Styled("hint: ", "warn"), line)
    return code


def _abandon_stdout() -> None:
    """Let what is still in the buffer go nowhere, so that ending does not fail on it again."""
    import io

    if sys.stdout is not None:
        with contextlib.suppress(io.UnsupportedOperation):  # a stream of this process's own
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_log(error: Exception, args: Sequence[str]) -> str:
    """Write everything that a report of the bug needs; the user's own words are left out."""
    import traceback
    from platform import platform, python_version

    from gitmem import __version__

    shown = [arg if arg.startswith("-") and "=" not in arg else _masked(arg) for arg in args]
    text = "\n".join(
        [
            f"gitmem {__version__}",
            f"Python {python_version()} on {platform()}",
            f"arguments: {' '.join(shown)}",
            "",
            "".join(traceback.format_exception(error)),
        ]
    )
    return _store_log(without_credentials(text).encode("utf-8", "backslashreplace"))


def _masked(arg: str) -> str:
    """A command's name as it is; of any other argument only its length (it may be private)."""
    from gitmem.cli.root import COMMANDS

    return arg if arg in COMMANDS else f"<{len(arg)} characters>"


def _store_log(data: bytes) -> str:
    import tempfile

    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.expanduser(os.path.join("~", ".local", "state"))
    folder = os.path.join(state, "gitmem")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix="bug-", suffix=".log", dir=folder)
    except OSError:
        descriptor, name = tempfile.mkstemp(prefix="gitmem-bug-", suffix=".log")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
    except OSError:
        os.unlink(name)  # half a log says nothing
        raise
    return name
