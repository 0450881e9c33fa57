"""A real memory of which something is broken: it is named, and everything else is as before."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.domain.layout import MAIN, PROPOSALS
from gitmem.errors import GitmemError
from tests.conftest import Effort
from tests.fuzz.mutations import mutated, mutated_json, outcome
from tests.memory.words import NOW, change_set, item, opened, user
from tests.store.stories import ADA, blob, commit_object, files, plain, rev, tree_with

SAID = {
    "db-choice": "我们的数据库用 PostgreSQL 16，别用 MySQL。",
    "deploy-day": "We deploy on Tuesdays, because support is there.",
}


@dataclass(frozen=True)
class Memory:
    """A memory's folder, its two open proposals, and what readers get of it."""

    root: Path
    one: str
    other: str
    listed: dict[str, Any]
    shown: Any

    def reads(self) -> dict[str, Callable[[MemoryStore], Any]]:
        """Every way to look, by its name."""
        return {
            "list": lambda memory: memory.list(),
            "show": lambda memory: memory.show("use-tabs"),
            "search": lambda memory: memory.search("制表符 tabs"),
            "log": lambda memory: memory.log(),
            "log NAME": lambda memory: memory.log("use-tabs"),
            "why": lambda memory: memory.why("use-tabs"),
            "status": lambda memory: memory.status(),
            "proposals": lambda memory: memory.proposals(),
            "kept": lambda memory: memory.kept(),
            "diff": lambda memory: memory.diff(self.one),
            "other diff": lambda memory: memory.diff(self.other),
            "past": lambda memory: memory.list(at="main~1"),
            "fsck": lambda memory: memory.fsck(),
        }


def records(memory: MemoryStore) -> dict[str, Any]:
    return {line.name: memory.show(line.name).to_json() for line in memory.list()}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    root = tmp_path_factory.mktemp("whole") / "memory"
    with MemoryStore.init(root, clock=lambda: NOW) as memory:
        for name, text in (("use-tabs", "Use tabs, not spaces."), ("brief", "Answer briefly.")):
            memory.remember(text, name=name, type="user", description=text, person=ADA)
        memory.forget("brief", person=ADA)
        ids = []
        for name, text in SAID.items():
            record = item(text, name=name, body=text, description=text)
            result = memory.propose(change_set([user(text)], record))
            ids.append(str(result.proposal))
        listed, shown = records(memory), memory.diff(ids[1]).to_json()
    return Memory(root, ids[0], ids[1], listed, shown)


@pytest.fixture
def whole(template: Memory, tmp_path: Path) -> Callable[[], Memory]:
    """Makes a copy of the memory, in place of the one before."""

    def copied() -> Memory:
        root = tmp_path / "memory"
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(template.root, root, symlinks=True)
        return Memory(root, template.one, template.other, template.listed, template.shown)

    return copied


def object_bytes(root: Path, name: str) -> bytes:
    kind = plain(root, "cat-file", "-t", name)
    done = subprocess.run(
        ["git", "cat-file", kind, name], cwd=root, capture_output=True, check=True
    )
    return done.stdout


def literally(root: Path, kind: str, data: bytes) -> str:
    args = ("hash-object", "-t", kind, "-w", "--literally", "--stdin")
    return plain(root, *args, stdin=data)


def broken_commit(chance: random.Random, root: Path, tip: str) -> str:
    """A commit in place of ``tip``: itself broken, or its tree, or a file of it."""
    commit = object_bytes(root, tip)
    tree = rev(root, f"{tip}^{{tree}}")
    what = chance.choice(("commit", "tree", "folder", "file", "file", "file"))
    if what == "commit":
        return literally(root, "commit", mutated(chance, [commit]))
    if what == "tree":
        new = literally(root, "tree", mutated(chance, [object_bytes(root, tree)]))
    else:
        listed = files(root, tree)
        path = chance.choice(sorted(listed))
        if what == "file":
            data = mutated(chance, [object_bytes(root, listed[path][1])])
            new = tree_with(root, tree, {path: ("100644", blob(root, data))})
        else:
            folder, _, _ = path.rpartition("/")
            data = mutated(chance, [object_bytes(root, f"{tree}:{folder}")])
            new = with_folder(root, tree, folder, literally(root, "tree", data))
    return commit_object(root, commit.replace(tree.encode(), new.encode()))


def with_folder(root: Path, tree: str, folder: str, oid: str) -> str:
    """The tree with another tree in the place of one of its folders."""
    while folder:
        above, _, name = folder.rpartition("/")
        lines = plain(root, "ls-tree", "-z", f"{tree}:{above}").split("\0")
        kept = [line for line in lines if line and line.partition("\t")[2] != name]
        listed = "\0".join([*kept, f"040000 tree {oid}\t{name}", ""])
        oid = plain(root, "mktree", "-z", "--missing", stdin=listed)
        folder = above
    return oid


def looked(memory: Memory) -> dict[str, Any]:
    """What every way to look answers, each asked for itself."""
    found = {}
    for name, read in memory.reads().items():
        found[name] = outcome(lambda read=read: ask(memory.root, read))  # type: ignore[misc]
    return found


def ask(root: Path, read: Callable[[MemoryStore], Any]) -> Any:
    with opened(root) as memory:
        return read(memory)


def named(found: Any, *words: str) -> bool:
    """Whether fsck's report, or the error in its place, names one of these."""
    if isinstance(found, GitmemError):
        said = found.message
    else:
        said = "\n".join(f"{p.where} {p.what}" for p in found.problems)
    return any(word in said for word in words)


def test_a_broken_commit_on_main_is_no_memory_and_all_else_stays(
    whole: Callable[[], Memory], effort: Effort
) -> None:
    for number in range(effort.count(5, 400)):
        chance, memory = effort.chance("main", number), whole()
        tip = rev(memory.root, MAIN)
        new = broken_commit(chance, memory.root, tip)
        if new == tip:
            continue
        # A child of the tip, or a commit in place of the tip: then what was before it counts.
        child = chance.random() < 0.5 and is_commit(memory.root, new)
        if child:
            who = "E <e@x> 1 +0000"
            tree = rev(memory.root, f"{new}^{{tree}}")
            text = f"tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n\nx\n"
            new = commit_object(memory.root, text)
        set_ref(memory.root, MAIN, new)
        found = looked(memory)
        assert not getattr(found["fsck"], "ok", False), (number, new)
        assert named(found["fsck"], new[:12], MAIN, "main"), (number, new, found["fsck"])
        if not isinstance(found["list"], GitmemError):
            now = ask(memory.root, records)
            assert now["use-tabs"] == memory.listed["use-tabs"], number
            assert len(now) == (1 if child else 2), number
        else:
            assert not child, (number, found["list"])
        set_ref(memory.root, MAIN, tip)
        assert ask(memory.root, records) == memory.listed, number


def set_ref(root: Path, ref: str, oid: str) -> None:
    """Move a ref to what git itself would refuse to move it to."""
    (root / ".git" / ref).write_text(f"{oid}\n")


def is_commit(root: Path, oid: str) -> bool:
    args = ["git", "rev-parse", "--verify", "-q", f"{oid}^{{tree}}"]
    return subprocess.run(args, cwd=root, capture_output=True, check=False).returncode == 0


def test_a_broken_branch_is_named_and_the_proposal_beside_it_is_shown_as_before(
    whole: Callable[[], Memory], effort: Effort
) -> None:
    for number in range(effort.count(5, 400)):
        chance, memory = effort.chance("branch", number), whole()
        ref = PROPOSALS + memory.one
        tip = rev(memory.root, ref)
        at = chance.choice((tip, rev(memory.root, f"{tip}~1")))
        new = broken_commit(chance, memory.root, at)
        if new in (tip, at):
            continue
        set_ref(memory.root, ref, new)
        found = looked(memory)
        assert ask(memory.root, records) == memory.listed, number
        assert found["other diff"].to_json() == memory.shown, number
        assert memory.other in {line.id for line in found["proposals"]}, number
        if isinstance(found["diff"], GitmemError):
            assert named(found["fsck"], memory.one, new[:12]), (
                number,
                found["diff"],
                found["fsck"],
            )


def test_a_broken_file_beside_a_memory_is_named_or_made_anew_and_what_it_says_is_as_before(
    whole: Callable[[], Memory], effort: Effort
) -> None:
    for number in range(effort.count(6, 500)):
        chance, memory = effort.chance("file", number), whole()
        git_dir = memory.root / ".git"
        paths = sorted(p for p in git_dir.rglob("*") if p.is_file() and "objects" not in p.parts)
        path = chance.choice([*paths, memory.root / "MEMORY.md", git_dir / "packed-refs"])
        before = path.read_bytes() if path.exists() else b""
        path.write_bytes(mutated(chance, [before]))
        found = looked(memory)
        ours = path.is_relative_to(git_dir / "gitmem") or not path.is_relative_to(git_dir)
        if ours and path.name != "root":
            assert ask(memory.root, records) == memory.listed, (number, path)
            if path.parent.name != "sessions":  # that the quotes cannot be looked up is said there
                assert found["other diff"].to_json() == memory.shown, (number, path)
        path.write_bytes(before)
        assert ask(memory.root, records) == memory.listed, (number, path)


def test_a_cache_in_any_state_costs_time_and_nothing_else(
    whole: Callable[[], Memory], effort: Effort
) -> None:
    memory = whole()
    private = memory.root / ".git/gitmem"
    good = (private / "cache.sqlite").read_bytes()
    for number in range(effort.count(12, 2000)):
        chance = effort.chance("cache", number)
        for suffix in ("-wal", "-shm", "-journal"):
            (private / f"cache.sqlite{suffix}").unlink(missing_ok=True)
        data = damaged(chance, good)
        (private / "cache.sqlite").write_bytes(data)
        if chance.random() < 0.2:
            suffix = chance.choice(("-wal", "-shm", "-journal"))
            (private / f"cache.sqlite{suffix}").write_bytes(
                chance.randbytes(chance.choice((1, 4096)))
            )
        for name, read in memory.reads().items():
            if name in chance.sample(sorted(memory.reads()), 4):
                answer = outcome(lambda read=read: ask(memory.root, read))  # type: ignore[misc]
                assert not isinstance(answer, GitmemError), (number, name, answer)
        assert set(ask(memory.root, records)) == set(memory.listed), number


def damaged(chance: random.Random, data: bytes) -> bytes:
    """A database with flipped bits, a lost page, another end, or nothing of a database in it."""
    what = chance.randint(0, 9)
    if what == 0:
        return chance.randbytes(chance.choice((0, 1, 100, 8192)))
    if what == 1:
        return data[: chance.randint(0, len(data))]
    spoilt = bytearray(data)
    if what == 2:
        at = chance.randrange(0, len(data), 4096)
        spoilt[at : at + 4096] = chance.choice((bytes(4096), chance.randbytes(4096)))
    else:
        for _ in range(chance.choice((1, 2, 10, 200))):
            area = chance.choice((100, 8192, len(data)))
            spoilt[chance.randrange(area)] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


CHANGE_SETS: tuple[Any, ...] = (
    change_set(
        [user(SAID["db-choice"]), {"role": "assistant", "content": "Noted: PostgreSQL it is."}],
        item(SAID["db-choice"], name="new-db"),
        item("Noted: PostgreSQL it is.", 1, name="noted", body="PostgreSQL it is."),
    ),
    {"kind": "extract", "session": "openai-20261130-abcdef123456", "records": []},
    change_set([user("Forget tabs please.")], retire=[{"name": "use-tabs", "reason": "old"}]),
    change_set([user("x" * 2000)], item("x" * 20, valid_from="2026-01-01", supersedes=["a"])),
)


def test_a_change_set_in_any_shape_is_proposed_or_refused_and_changes_no_memory(
    whole: Callable[[], Memory], effort: Effort
) -> None:
    memory = whole()
    with opened(memory.root) as store:
        for number in range(effort.count(40, 4000)):
            chance = effort.chance("change set", number)
            value = mutated_json(chance, chance.choice(CHANGE_SETS))
            result = outcome(lambda value=value: store.propose(value))  # type: ignore[misc]
            if not isinstance(result, GitmemError) and result.proposal:
                assert store.diff(result.proposal).summary.id == result.proposal
                store.reject(result.proposal, reason="fuzz", person=ADA)
    assert ask(memory.root, records) == memory.listed
    assert ask(memory.root, lambda store: store.fsck().ok)
