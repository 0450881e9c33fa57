"""fsck finds what was tampered with: where, what, and how to put it right, which then does."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from gitmem import MemoryStore
from tests.store.stories import (
    ADA,
    MAIN,
    QUOTE,
    blob,
    clock,
    commit_object,
    commit_text,
    copy,
    opened,
    plain,
    propose,
    remembered,
    rev,
)

OLD = "records/user/use-tabs.md"
ABSENT = "a" * 40


class Made(NamedTuple):
    root: Path
    proposal: str


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Two records, one of them replaced once, and an open proposal; every object by itself."""
    root = tmp_path_factory.mktemp("tampered") / "memory"
    with MemoryStore.init(root, clock=clock) as memory:
        memory.remember("Use tabs, not spaces.", name="use-tabs", type="user", person=ADA)
        memory.remember("Deploy only on Tuesdays.", name="deploy", type="feedback", person=ADA)
    made = Made(root, propose(root, "db-postgres", QUOTE))
    for pack in (root / ".git/objects/pack").glob("*.pack"):
        data = pack.read_bytes()
        for part in pack.parent.glob(f"{pack.stem}.*"):
            part.unlink()
        plain(root, "unpack-objects", "-q", stdin=data)
    return made


@pytest.fixture
def made(_made: Made, tmp_path: Path) -> Made:
    return Made(copy(_made.root, tmp_path / "memory"), _made.proposal)


# --- the tamperings -----------------------------------------------------------------------------

Tamper = Callable[[Path, str], None]


def _object(root: Path, name: str) -> Path:
    oid = rev(root, name)
    path = root / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    return path


def missing(name: str) -> Tamper:
    return lambda root, proposal: _object(root, name.format(proposal)).unlink()


def flipped(name: str) -> Tamper:
    def tamper(root: Path, proposal: str) -> None:
        path = _object(root, name.format(proposal))
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0x41
        path.write_bytes(data)

    return tamper


def written(name: str, text: str) -> Tamper:
    """A file below the git directory; ``{blob}`` and ``{main}`` stand for ids."""

    def tamper(root: Path, proposal: str) -> None:
        path = root / ".git" / name.format(proposal)
        path.parent.mkdir(parents=True, exist_ok=True)
        ids = {"blob": rev(root, f"main:{OLD}"), "main": rev(root, MAIN)}
        path.write_text(text.format(**ids))

    return tamper


def by_git(*commands: str) -> Tamper:
    """What somebody does to main with plain git."""

    def tamper(root: Path, proposal: str) -> None:
        (root / OLD).write_bytes((root / OLD).read_bytes().replace(b"spaces", b"SPACES"))
        for command in commands:
            plain(root, *shlex.split(command.format(proposal)))

    return tamper


def on_branch(change: Callable[[str], str]) -> Tamper:
    """Another tip of the proposal's branch: a review whose text is changed."""

    def tamper(root: Path, proposal: str) -> None:
        tip = f"refs/heads/proposals/{proposal}"
        plain(root, "update-ref", tip, commit_object(root, change(commit_text(root, tip))))

    return tamper


def session(root: Path, proposal: str) -> None:
    for file in (root / ".git/gitmem/sessions").glob("*.jsonl"):
        file.write_text(file.read_text().replace("not spaces", "or spaces"))


def another_tip(root: Path, proposal: str) -> None:
    tip = rev(root, f"proposals/{proposal}")
    text = f"tree {rev(root, 'main^{tree}')}\nparent {tip}\n"
    text += "".join(f"{who} Eve <e@v.e> 1790000000 +0000\n" for who in ("author", "committer"))
    oid = commit_object(root, f"{text}\nby hand\n")
    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", oid)


def set_back(root: Path, proposal: str) -> None:
    plain(root, "update-ref", MAIN, rev(root, "main^"))
    plain(root, "read-tree", "--reset", "-u", "main")


COPY = "fetch --refetch"
REPAIR = "gitmem fsck --repair"
BRANCH = "refs/heads/proposals/{}"

# What was done -> where it is named, words of what, words of the fix.
TAMPERED: dict[str, tuple[Tamper, str, str, str]] = {
    "a commit by hand": (by_git("commit -qam x"), "{tip}", "made by hand", REPAIR),
    "an amended merge": (by_git("commit -qa --amend --no-edit"), "{tip}", "stray", REPAIR),
    "a merge by hand": (by_git("merge -q -m m proposals/{}"), "{tip}", "stray", REPAIR),
    "a fast-forward": (by_git("update-ref refs/heads/main proposals/{}"), "{tip}", "hand", REPAIR),
    "main set back": (set_back, "refs/gitmem/kept/main-", "moved away", REPAIR),
    "main is nonsense": (written("refs/heads/main", "x\n"), MAIN, "damaged", REPAIR),
    "main is empty": (written("refs/heads/main", ""), MAIN, "damaged", REPAIR),
    "main is a blob": (written("refs/heads/main", "{blob}\n"), MAIN, "is a blob", REPAIR),
    "main names nothing": (written("refs/heads/main", ABSENT), MAIN, "not in this", REPAIR),
    "the newest commit is gone": (missing(MAIN), MAIN, "not in this", COPY),
    "an old commit is gone": (missing(f"{MAIN}^"), ".git", "not in this", COPY),
    "a proposal's commit is gone": (missing(f"{MAIN}^2^"), ".git", "not in this", COPY),
    "a record is gone": (missing(f"main:{OLD}"), ".git", "not in this", COPY),
    "a manifest is gone": (missing("main:manifest.json"), ".git", "missing blob", COPY),
    "a view is gone": (missing("main:MEMORY.md"), ".git", "missing blob", COPY),
    "the newest commit is damaged": (flipped(MAIN), MAIN, "corrupt", COPY),
    "a record is damaged": (flipped(f"main:{OLD}"), ".git", "cannot be verified", COPY),
    "a view is damaged": (flipped("main:MEMORY.md"), ".git", "corrupt", COPY),
    "a branch's tip is gone": (missing("proposals/{}"), BRANCH, "not in this", "update-ref -d"),
    "a branch is nonsense": (written(BRANCH, "x"), BRANCH, "does not name", REPAIR),
    "a branch is a blob": (written(BRANCH, "{blob}\n"), BRANCH, "is a blob", "update-ref -d"),
    "a branch is main": (written(BRANCH, "{main}\n"), BRANCH, "", "branch -D"),
    "a commit on a branch": (another_tip, BRANCH, "", REPAIR),
    "a review by nobody": (
        on_branch(lambda text: text.replace("Verdict: approve", "Verdict: of course")),
        BRANCH,
        "is no verdict",
        REPAIR,
    ),
    "a kept ref is nonsense": (
        written("refs/gitmem/kept/extract-20260921-aaaaaa", "x"),
        "refs/gitmem/kept/extract-20260921-aaaaaa",
        "does not name",
        REPAIR,
    ),
    "a kept ref names nothing": (
        written("refs/gitmem/kept/extract-20260921-aaaaaa", f"{ABSENT}\n"),
        "refs/gitmem/kept/extract-20260921-aaaaaa",
        "keeps nothing",
        "update-ref -d",
    ),
    "a write under way is nonsense": (
        written("refs/gitmem/inflight/x-0", "x"),
        "refs/gitmem/inflight/x-0",
        "does not name",
        REPAIR,
    ),
    "a replaced commit": (
        by_git("checkout -q .", "replace main main^"),
        "refs/replace/",
        "another object",
        "replace -d",
    ),
    "a graft": (written("info/grafts", "{main}\n"), "info/grafts", "other parents", "rm "),
    "a conversation": (session, ".jsonl", "digest differs", "rm "),
    "packed refs": (written("packed-refs", "x y z\n"), ".git", "packed-refs", "fsck --full"),
}


def report(root: Path) -> list[tuple[str, str, str]]:
    with opened(root) as memory:
        return [(one.where, one.what, one.fix) for one in memory.fsck().problems]


@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_tampered_with_is_found_and_the_fix_puts_it_right(
    made: Made, _made: Made, what: str
) -> None:
    root, name = made
    tamper, where, words, fix = TAMPERED[what]
    before = remembered(root)
    tamper(root, name)
    tip = (root / ".git/refs/heads/main").read_text().strip()
    found = report(root)
    place = where.format(name) if "{tip}" not in where else tip
    told = [one for one in found if place in one[0] and words in one[1]]
    assert told, found
    assert all(one[2] for one in found)
    assert any(fix in one[2] for one in told), told
    if what == "packed refs":
        return  # what stood there, only a backup has
    for _ in range(3):
        for one in found:
            follow(root, one[2], one[1], fix, _made.root)
        found = report(root)
        if not found:
            break
    assert found == []
    assert remembered(root) == before


def follow(root: Path, fix: str, said: str, preferred: str, other: Path) -> None:
    """Do what a fix says: of several commands the one that is ``preferred``, else the first."""
    commands = re.split(r"(?<=\.) (?=To |Where )|: (?=git |rm |gitmem )", fix)
    commands = [
        part.rstrip(". ") for part in commands if part.startswith(("git ", "rm ", "gitmem "))
    ]
    assert commands, fix
    chosen = next((one for one in commands if preferred in one), commands[0])
    if chosen == "gitmem fsck --repair":
        with opened(root) as memory:
            memory.fsck(repair=True)
        return
    if COPY in chosen:
        for path in re.findall(
            r"stored in ([^)\s]+)\)|corrupt loose object '([0-9a-f]{40})'", said
        ):
            oid = path[1]
            file = Path(path[0]) if path[0] else root / ".git/objects" / oid[:2] / oid[2:]
            (root / ".git" / file).unlink(missing_ok=True)
        for oid in re.findall(r"unable to stream ([0-9a-f]{40})", said):
            (root / ".git/objects" / oid[:2] / oid[2:]).unlink(missing_ok=True)
        chosen = chosen.replace("COPY", shlex.quote(str(other)))
    done = subprocess.run(chosen, shell=True, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, (chosen, done.stderr)


def test_a_pack_with_one_flipped_bit_is_found_and_brought_back(
    made: Made, _made: Made, tmp_path: Path
) -> None:
    root, name = made
    before = remembered(root)
    plain(root, "repack", "-a", "-d", "-q")
    (pack,) = (root / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0x10
    pack.write_bytes(data)
    found = report(root)
    assert found and all(COPY in fix for where, _, fix in found if where.endswith(".git"))
    for part in pack.parent.glob(f"{pack.stem}.*"):
        shutil.move(part, tmp_path / part.name)
    branch = f"refs/heads/proposals/{name}"
    plain(root, "update-ref", "-d", branch)
    plain(root, "fetch", "-q", "--refetch", str(_made.root), "main", f"{branch}:{branch}")
    assert report(root) == []
    assert remembered(root) == before


def test_notes_are_nothing_to_gitmem(made: Made) -> None:
    root = made.root
    before = remembered(root)
    plain(root, "notes", "add", "-m", "Approved-By: human:Eve <eve@example.org>", "main")
    plain(root, "update-ref", "refs/notes/gitmem", blob(root, b"x"))
    assert remembered(root) == before
    assert report(root) == []
