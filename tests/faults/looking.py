"""Calls every command on a store that can or cannot be written; prints how each ended.

A program of its own, since it is run as another user, or where nobody else sees its mounts.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.cases.calls import Ids, call, reads, writes


def main(store: str, ids: str, folder: str, mount: str) -> None:
    if mount:
        subprocess.run(["mount", "--bind", store, store], check=True)
        subprocess.run(["mount", "-o", "remount,ro,bind", store], check=True)
    known = Ids(**json.loads(ids))
    changing = writes(known, Path(folder)) if folder else []
    for kind, calls in (("read", reads(known)), ("write", changing)):
        for args in calls:
            done = asdict(call(Path(store), *args))
            print(json.dumps({"kind": kind, "args": args, **done}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
