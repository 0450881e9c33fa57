"""The command line. It parses, asks and prints; what is done is done by :mod:`gitmem.memory`."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line on ``argv`` (default: ``sys.argv[1:]``) and return the exit code."""
    from gitmem.cli.boundary import run

    return run(_answer, argv)


def _answer(args: list[str]) -> int:
    from gitmem.cli.quick import answer

    code = answer(args)
    if code is None:
        from gitmem.cli.root import call_command

        code = call_command(args)
    return code
