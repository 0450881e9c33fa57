"""The ``gitmem`` command: ``python -m gitmem`` and the installed script both start here."""

from __future__ import annotations

import gc
import sys

INTERRUPTED = 130
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""What a short command makes is gone when it ends; looking for cycles in it sooner is in vain."""


def main() -> int:
    """Run the command line on ``sys.argv`` and return the exit code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    try:
        # Imported here so that one entry point never pays for the other.
        if sys.argv[1:2] == ["hook"]:
            from gitmem.hook import main as run_hook

            return run_hook(sys.argv[2:])
        from gitmem.cli import main as run

        return run()
    except KeyboardInterrupt:  # before or after the command's own boundary
        sys.stderr.write("error: interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
