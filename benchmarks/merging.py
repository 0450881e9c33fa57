"""Merges and proposals of one record, against the same objects written by hand.

By hand is one ``git fast-import`` and one ``git update-ref``, started without gitmem and with the
fsync settings that gitmem uses, and the fsync of the folder of refs: nothing durable is cheaper.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from clock import Ratio, Rounds, Spent, spent
from stores import PERSON_NAME, START, build, git, statement_of

from gitmem.domain.layout import MAIN, PROPOSALS
from gitmem.domain.review import PERSON, Review
from gitmem.memory import MemoryStore

BY_HAND_LIMIT = 2.5
SIZE_LIMIT = 2.0
_DURABLE = (
    "core.fsync=committed",
    "core.fsyncMethod=fsync",
    "fastimport.unpackLimit=1",
    "core.hooksPath=/dev/null",
)


def plumbing(git_dir: Path, args: list[str], stdin: bytes) -> None:
    """Run git with nothing of gitmem's but the fsync settings."""
    settings = [word for setting in _DURABLE for word in ("-c", setting)]
    command = ["git", f"--git-dir={git_dir}", *settings, *args]
    subprocess.run(command, input=stdin, check=True, capture_output=True)


class ByHand:
    """The objects of commits that gitmem wrote, written again with one byte more."""

    def __init__(self, store: Path, files: Path | None) -> None:
        self.git_dir = store / ".git"
        self.store = store
        self.files = files
        self._at = git(store, "rev-parse", MAIN)
        if files and files.exists():  # of an earlier run
            git(files, "checkout", "-q", "--detach", "--force", self._at)
        elif files:
            git(store, "worktree", "add", "-q", "--detach", str(files), self._at)

    def write(self, base: str, commits: list[str]) -> Spent:
        """Time the writing of ``commits``, the oldest first, on ``base``."""
        stream = self._stream(base, commits)
        old = self._ref("refs/heads/by-hand")
        args = ["fast-import", "--done", "--quiet", "--date-format=raw"]
        out: list[str] = []

        def import_and_publish() -> None:
            plumbing(self.git_dir, args, stream)
            new = (self.git_dir / "refs/gitmem/inflight/hand").read_text().strip()
            out.append(new)
            moves = f"start\nupdate refs/heads/by-hand {new} {old}\nprepare\ncommit\n"
            moves += f"start\ndelete refs/gitmem/inflight/hand {new}\nprepare\ncommit\n"
            plumbing(self.git_dir, ["update-ref", "--no-deref", "--stdin"], moves.encode())
            handle = os.open(self.git_dir / "refs/heads", os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)
            if self.files:
                git(self.files, "read-tree", "-m", "-u", self._at, new)

        took = spent(import_and_publish)
        self._at = out[0]
        return took

    def _ref(self, ref: str) -> str:
        try:
            return (self.git_dir / ref).read_text().strip()
        except FileNotFoundError:
            return "0" * 40

    def _stream(self, base: str, commits: list[str]) -> bytes:
        parts = []
        for number, oid in enumerate(commits, 1):
            data = self._object(oid)
            head, _, message = data.partition(b"\n\n")
            lines = head.split(b"\n")
            who = [line for line in lines if line.startswith((b"author ", b"committer "))]
            parents = [line[7:] for line in lines if line.startswith(b"parent ")]
            links = [b"from " + (parents[0] if number == 1 else b":%d" % (number - 1))]
            links += [b"merge " + parent for parent in parents[1:]]
            message += b" "
            parts += [b"commit refs/gitmem/inflight/hand", b"mark :%d" % number, *who]
            parts += [b"data %d\n%s" % (len(message), message), *links]
            if number == 1:
                parts += self._changes(base, oid)
            parts += [b""]
        return b"\n".join([*parts, b"done", b""])

    def _changes(self, base: str, commit: str) -> list[bytes]:
        raw = git(self.store, "diff-tree", "-r", "--no-renames", base, commit)
        found = []
        for line in raw.splitlines():
            words, path = line.split("\t")
            oid, status = words.split()[3:5]
            name = path.encode()
            if status == "D":
                found.append(b"D " + name)
            else:
                content = self._object(oid) + b" "
                found.append(b"M 100644 inline %s\ndata %d\n%s" % (name, len(content), content))
        return found

    def _object(self, oid: str) -> bytes:
        kind = git(self.store, "cat-file", "-t", oid)
        return subprocess.run(
            ["git", "-C", str(self.store), "cat-file", kind, oid], check=True, capture_output=True
        ).stdout


class Merges:
    """A store of some size in which one record after the other is proposed and merged."""

    def __init__(self, folder: Path, records: int, *, files: bool) -> None:
        self.label = f"{records:,} records" + (" with files" if files else "")
        path = folder / f"store-{records}-{'files' if files else 'bare'}"
        if not path.exists():
            build(path, records, files=files).close()
        self.memory = MemoryStore(path, clock=self._clock)
        self.store = self.memory._opened()
        self.store.head()
        self.next = self.store.projection.count()  # more, where an earlier run was here
        self.hand = ByHand(path, folder / f"hand-{records}" if files else None)

    def _clock(self) -> float:
        return float(START + self.next)

    def round(self, rounds: Rounds) -> None:
        """One record: proposed and merged by gitmem, and then the same by hand."""
        self.next += 1
        base = self.store.head().tip
        rounds.note(f"propose at {self.label}", spent(self._propose))
        tip = self.store.repo.read_ref(PROPOSALS + self.proposal) or ""
        now = self.store.facts.branch(tip).proposal
        approval = Review(PERSON_NAME, PERSON, "approve", now.change, None, (), now.created_at)
        self.store.add_review(self.proposal, tip, approval)
        rounds.note(f"merge at {self.label}", spent(lambda: self.store.merge(self.proposal)))
        proposed = git(self.store.repo.root or Path(), "rev-parse", f"{tip}^")
        if self.hand.files is None:
            rounds.note(f"propose by hand at {self.label}", self.hand.write(base, [proposed, tip]))
        merged = self.store.head().tip
        rounds.note(f"merge by hand at {self.label}", self.hand.write(base, [merged]))

    def _propose(self) -> None:
        text = statement_of(self.next)
        record = {
            "name": f"module-{self.next}",
            "type": "project",
            "description": text,
            "body": f"{text}\n**Why:** it was measured.",
            "evidence": [{"message": 0, "quote": text}],
        }
        message = {"role": "user", "content": text}
        result = self.memory.propose(
            {"kind": "extract", "messages": [message], "records": [record]}
        )
        assert result.proposal, result.dropped
        self.proposal = result.proposal

    def close(self) -> None:
        self.memory.close()


def measure(folder: Path, sizes: list[int], rounds: int) -> dict[str, object]:
    """Time merges and proposals in stores of ``sizes`` records."""
    times = Rounds()
    alone = [Merges(folder, size, files=False) for size in sizes]
    files = [Merges(folder, size, files=True) for size in sizes if size >= 1_000]
    for number in range(rounds + 1):
        # The first round opens files and starts processes that the others find open.
        noted = times if number else Rounds()
        for merges in [*alone, *files]:
            merges.round(noted)
    for merges in [*alone, *files]:
        merges.close()
    ratios: dict[str, Ratio] = {}
    for merges in [*alone, *files]:
        at = merges.label
        ratios[f"merge at {at} / by hand"] = times.ratio(
            f"merge at {at}", f"merge by hand at {at}", BY_HAND_LIMIT
        )
    for merges in alone[1:]:
        ratios[f"merge at {merges.label} / at {alone[0].label}"] = times.ratio(
            f"merge at {merges.label}", f"merge at {alone[0].label}", SIZE_LIMIT
        )
    for merges in alone:
        ratios[f"propose at {merges.label} / by hand"] = times.ratio(
            f"propose at {merges.label}", f"propose by hand at {merges.label}"
        )
    return {"milliseconds": times.figures(), "ratios": ratios, "sizes": sizes}
