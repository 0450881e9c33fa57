"""The ``gitmem`` command: ``python -m gitmem`` and the installed script both start here."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Run the command line on ``sys.argv`` and return the exit code."""
    try:
        # Imported here so that another entry point never pays for the command line.
        from gitmem.cli import main as run

        return run()
    except KeyboardInterrupt:  # before or after the command's own boundary
        sys.stderr.write("error: interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
