"""A process with gitmem imported that forks for each run: a command in a few milliseconds.

It is started with the shim loaded. A line on its standard input is a run as JSON; the answer is
a line, too. It is the parent of whatever a killed gitmem leaves alive, so it knows when the last
process of a run has ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import pkgutil
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import gitmem
from gitmem.cli import main
from tests.faults.shared import Mode, Shared

_SET_CHILD_SUBREAPER = 36
UNCAUGHT = 99


def run(shared: Shared, told: dict[str, Any]) -> int:
    """Run one command line; its exit status, below 0 where a signal ended it."""
    mode = Mode(told["mode"])
    shared.arm(mode, told["target"], Path(told["below"]))
    child = os.fork()
    if child == 0:
        for number, name in ((0, os.devnull), (1, told["out"]), (2, told["err"])):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(name, flags, 0o600), number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
        shared.set_gitmem(os.getpid())
        _call(told)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if mode is not Mode.KILL_GITMEM:
        settle()
        shared.disarm()
    return code


def _call(told: dict[str, Any]) -> NoReturn:
    """Do what is told, and end as a program does."""
    code = UNCAUGHT
    try:
        if "rounds" in told:
            from tests.faults.rounds import propose_and_approve

            propose_and_approve(Path(told["store"]), told["rounds"])
            code = 0
        else:
            code = main(told["argv"])
    except BaseException:  # noqa: BLE001 -- an end that the test is to see
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def settle() -> None:
    """Wait until every process of the run has ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()


def serve() -> None:
    """Answer until standard input ends."""
    for module in pkgutil.walk_packages(gitmem.__path__, "gitmem."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    shared = Shared(Path(os.environ["FAULTS_STATE"]))
    print("ready", flush=True)
    for line in sys.stdin:
        told = json.loads(line)
        if "settle" in told:
            settle()
            shared.disarm()
            print(0, flush=True)
        else:
            print(run(shared, told), flush=True)


if __name__ == "__main__":
    serve()
