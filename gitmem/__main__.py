"""The ``gitmem`` command: ``python -m gitmem`` and the installed script both start here."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line on ``sys.argv`` and return the exit code."""
    # Imported here so that another entry point never pays for the command line.
    from gitmem.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
