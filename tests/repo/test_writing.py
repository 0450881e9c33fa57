"""Writing commits and publishing them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.domain.objects import (
    EMPTY_TREE,
    ZERO,
    Identity,
    edit_tree,
    encode_commit,
    format_signature,
    object_id,
)
from gitmem.domain.objects import (
    Commit as CommitObject,
)
from gitmem.errors import Busy, GitFailed, GitmemError, InvalidInput
from gitmem.repo import NewCommit, RefUpdate, Repo, note_worktree
from gitmem.repo.publish import move_refs

Commit = Callable[..., str]
Git = Callable[..., str]

ADA = (Identity("Ada", "ada@example.org"), 1_790_000_000)
MAIN = "refs/heads/main"
ROOT = Path(__file__).parents[2]


def packs(repo: Repo) -> list[Path]:
    return sorted((repo.git_dir / "objects/pack").glob("*.pack"))


def new(parents: tuple[str, ...], changes: dict[str, bytes | str | None], **more: str) -> NewCommit:
    return NewCommit(parents, more.pop("message", "m\n"), ADA, ADA, changes, **more)


def test_a_chain_is_written_by_one_import_and_holds_the_exact_bytes(repo: Repo, git: Git) -> None:
    message = "提案：记住\n\n  两行，结尾没有换行"
    first, second = repo.write(
        [
            new((), {"records/user/喜好.md": "用制表符\r\n".encode(), 'a "b"': b"\0\xff"}),
            new((":1",), {"records/user/喜好.md": None}, message=message),
        ]
    )
    assert len(packs(repo)) == 1
    assert repo.publish([RefUpdate(MAIN, second, ZERO)]) == []
    assert repo.reader.blob(repo.reader.resolve(f"{first}:records/user/喜好.md") or "") == (
        "用制表符\r\n".encode()
    )
    assert [path for _, _, path in repo.list_tree(second)] == ['a "b"']
    assert repo.reader.commit(second).message == message
    assert repo.reader.commit(second).parents == (first,)
    assert repo.refs("refs/gitmem/") == {}
    git(repo.git_dir, "fsck", "--strict")


def test_the_id_is_the_one_that_can_be_computed_without_git(repo: Repo, commit: Commit) -> None:
    base = commit(repo, {"a/b": b"1", "c": b"2"})
    oid = commit(repo, {"a/b": None, "d/e": b"3"}, message="计算\n")
    ids = {"a/b": None, "d/e": repo.reader.resolve(f"{oid}:d/e")}
    tree = edit_tree(repo.reader.commit(base).tree, ids, repo.reader.tree).root
    who = format_signature(Identity("Ada 王", "ada@example.org"), 1_790_000_000)
    computed = encode_commit(CommitObject(tree, (base,), who, who, "计算\n"))
    assert object_id("commit", computed) == oid


def test_a_commit_can_take_another_tree_than_its_first_parents(repo: Repo, commit: Commit) -> None:
    accepted = commit(repo, {"a": b"1"})
    stray = commit(repo, {"b": b"stray"})
    tree = repo.reader.commit(accepted).tree
    (oid,) = repo.write([new((stray, accepted), {"c": b"2"}, base_tree=tree)])
    assert [path for _, _, path in repo.list_tree(oid)] == ["a", "c"]
    assert repo.reader.commit(oid).parents == (stray, accepted)
    (empty,) = repo.write([new((stray,), {}, base_tree=EMPTY_TREE)])
    assert repo.list_tree(empty) == []


def test_a_blob_that_is_there_is_named_by_its_id(repo: Repo, commit: Commit) -> None:
    commit(repo, {"a": b"1"})
    blob = repo.reader.resolve("HEAD:a")
    oid = commit(repo, {"b": blob, "a": None})
    assert repo.list_tree(oid) == [("100644", blob, "b")]
    with pytest.raises(GitFailed):
        repo.write([new((), {"a": "1" * 40})])
    with pytest.raises(InvalidInput):
        repo.write([new((), {"a": "HEAD:b"})])


def test_writing_what_exists_already_succeeds_with_the_same_id(repo: Repo, commit: Commit) -> None:
    oid = commit(repo, {"a": b"1"})
    assert repo.write([new((), {"z": b"9"})]) == repo.write([new((), {"z": b"9"})])
    again = commit(repo, {"a": b"1"}, parents=(), publish=False)
    assert again == oid


def test_a_folder_gives_way_to_a_file_and_the_reverse(repo: Repo, commit: Commit) -> None:
    commit(repo, {"a/b": b"1", "c": b"2"})
    oid = commit(repo, {"a": b"file", "a/b": None, "c/d": b"3", "c": None})
    assert [path for _, _, path in repo.list_tree(oid)] == ["a", "c/d"]


@pytest.mark.parametrize(
    "path",
    ["", "/a", "a/../b", "..", "a//b", "a/", ".git/config", "x/.GIT/y", "git~1", ".git .", "a\\b",
     ".g\u200cit", "a\nb", "a\0b", "a\x7f", "c:x", "\ud800", "x" * 1025, "./a"],
)  # fmt: skip
def test_a_path_that_is_no_plain_file_everywhere_is_refused(repo: Repo, path: str) -> None:
    with pytest.raises(InvalidInput, match="path"):
        repo.write([new((), {path: b""})])


def test_texts_that_git_would_change_or_cut_are_refused(repo: Repo) -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        repo.write([new((), {}, message="a\0b")])
    with pytest.raises(InvalidInput, match="surrogate"):
        repo.write([new((), {}, message="a\ud83d")])
    for parent in ("main", ":1", ":0", "HEAD\nfrom x"):
        with pytest.raises(InvalidInput, match="parent"):
            repo.write([new((parent,), {})])
    with pytest.raises(InvalidInput):
        repo.write([])


def test_an_import_that_fails_shows_nothing(repo: Repo, commit: Commit) -> None:
    before = (commit(repo, {"a": b"1"}), repo.refs())
    with pytest.raises(GitFailed, match="fast-import"):
        repo.write([new(("1" * 40,), {"a": b"2"})])
    assert (repo.read_ref(MAIN), repo.refs()) == before


def test_unconnected_commits_of_one_call_are_all_kept_from_pruning(repo: Repo, git: Git) -> None:
    oids = repo.write([new((), {"a": b"1"}), new((), {"b": b"2"}), new((":1",), {"c": b"3"})])
    git(repo.git_dir, "gc", "--prune=now", "-q")
    assert all(repo.reader.resolve(oid) for oid in oids)
    repo.publish([])
    assert repo.refs("refs/gitmem/") == {}


# --- compare and swap ----------------------------------------------------------------------


def test_a_lost_race_is_told_and_changes_nothing(repo: Repo, commit: Commit) -> None:
    old = commit(repo, {"a": b"1"})
    mine = commit(repo, {"a": b"mine"}, publish=False)
    theirs = commit(repo, {"a": b"theirs"})
    other = RefUpdate("refs/heads/proposals/x", mine, ZERO)
    with pytest.raises(Busy, match="lost the race for refs/heads/main"):
        repo.publish([RefUpdate(MAIN, mine, old), other])
    assert repo.read_ref(MAIN) == theirs
    assert repo.read_ref("refs/heads/proposals/x") is None
    with pytest.raises(Busy, match="lost the race"):
        repo.publish([RefUpdate(MAIN, mine, ZERO)])
    with pytest.raises(Busy, match="at nothing, not at"):
        repo.publish([RefUpdate("refs/heads/none", mine, old)])
    with pytest.raises(Busy, match="lost the race"):
        repo.publish([RefUpdate(MAIN, None, old)])


def test_a_ref_that_is_already_as_wanted_is_no_lost_race(repo: Repo, commit: Commit) -> None:
    """Two machines, or two processes, make the same merge: the same id."""
    old = commit(repo, {"a": b"1"})
    same = commit(repo, {"a": b"2"})
    assert repo.publish([RefUpdate(MAIN, same, old)]) == []
    assert repo.publish([RefUpdate("refs/heads/none", None, old)]) == []


def test_main_moves_first_and_what_cannot_follow_is_named(repo: Repo, commit: Commit) -> None:
    old = commit(repo, {"a": b"1"})
    mine = commit(repo, {"a": b"2"}, publish=False)
    left = repo.publish(
        [
            RefUpdate("refs/heads/proposals/x", None, mine),  # is not there
            RefUpdate(MAIN, mine, old),
        ]
    )
    assert repo.read_ref(MAIN) == mine
    assert left == []  # it should be gone, and it is
    newer = commit(repo, {"a": b"3"}, publish=False)
    left = repo.publish(
        [RefUpdate(MAIN, newer, mine), RefUpdate("refs/heads/proposals/x", newer, mine)]
    )
    assert (repo.read_ref(MAIN), left) == (newer, ["refs/heads/proposals/x"])


def test_several_refs_move_together_or_not_at_all(repo: Repo, commit: Commit) -> None:
    oid = commit(repo, {"a": b"1"})
    with pytest.raises(Busy, match="refs/heads/q"):
        repo.publish([RefUpdate("refs/heads/p", oid, ZERO), RefUpdate("refs/heads/q", oid, oid)])
    assert repo.read_ref("refs/heads/p") is None
    repo.publish([RefUpdate("refs/heads/p", oid, ZERO), RefUpdate("refs/heads/q", oid, None)])
    assert repo.refs("refs/heads") == dict.fromkeys((MAIN, "refs/heads/p", "refs/heads/q"), oid)


def test_a_ref_that_cannot_exist_beside_another_is_a_failure_and_no_race(
    repo: Repo, commit: Commit
) -> None:
    oid = commit(repo, {"a": b"1"})
    with pytest.raises(GitFailed, match="update-ref"):
        repo.publish([RefUpdate("refs/heads/main/below", oid, ZERO)])


HOLDER = """
import os, sys
path = sys.argv[1]
os.close(os.open(path, os.O_CREAT | os.O_EXCL))
print("held", flush=True)
sys.stdin.read()
os.unlink(path)
print("free", flush=True)
"""


def hold(path: Path) -> subprocess.Popen[str]:
    """A process that holds git's lock file on a ref until its input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stdout.readline() == "held\n"
    return process


def test_a_busy_lock_is_waited_for(repo: Repo, commit: Commit) -> None:
    old = commit(repo, {"a": b"1"})
    mine = commit(repo, {"a": b"2"}, publish=False)
    with hold(repo.git_dir / f"{MAIN}.lock") as holder:
        attempts: list[object] = []

        def release(args: object) -> None:
            attempts.append(args)
            if len(attempts) == 2 and holder.stdin and holder.stdout:
                holder.stdin.close()
                assert holder.stdout.readline() == "free\n"

        repo.runner.trace = release
        assert repo.publish([RefUpdate(MAIN, mine, old)]) == []
    assert len(attempts) == 2
    assert repo.read_ref(MAIN) == mine


def test_a_lock_that_stays_held_is_named_and_never_removed(repo: Repo, commit: Commit) -> None:
    old = commit(repo, {"a": b"1"})
    mine = commit(repo, {"a": b"2"}, publish=False)
    lock = repo.git_dir / f"{MAIN}.lock"
    with hold(lock) as holder:
        with pytest.raises(Busy, match=r"held .*main\.lock"):
            move_refs(repo.runner, [RefUpdate(MAIN, mine, old)], wait=0)
        assert lock.exists()
        assert holder.stdin
        holder.stdin.close()
    assert repo.read_ref(MAIN) == old


def test_a_lock_left_behind_long_ago_is_cleared_and_told(repo: Repo, commit: Commit) -> None:
    old = commit(repo, {"a": b"1"})
    for name in ("HEAD.lock", f"{MAIN}.lock", "packed-refs.lock", "refs/heads/x.lock"):
        (repo.git_dir / name).touch()
        os.utime(repo.git_dir / name, (time.time() - 60,) * 2)
    oid = commit(repo, {"a": b"2"})
    assert repo.read_ref(MAIN) == oid != old
    assert len(repo.healed) == 4
    assert "Removed the lock file HEAD.lock" in repo.healed[0]


def test_a_write_costs_one_import_and_one_update(repo: Repo, commit: Commit) -> None:
    commit(repo, {"a": b"1"})
    seen: list[str] = []
    repo.runner.trace = lambda words: seen.append(words[1])
    commit(repo, {"a": b"2"})
    assert seen == ["fast-import", "update-ref"]


# --- a writer that is killed ---------------------------------------------------------------

KILLED = """
import os, signal, sys
from pathlib import Path
from gitmem.domain.objects import Identity
from gitmem.repo import NewCommit, Repo
repo = Repo.open(Path(sys.argv[1]))
ada = (Identity("Ada", "ada@example.org"), 1)
with repo.lock():
    print(*repo.write([NewCommit((), "m", ada, ada, {"z": b"lost"})]), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run_killed(repo: Repo) -> str:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(repo.root)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("packed", [False, True])
def test_a_writer_killed_before_publishing_leaves_nothing_that_counts(
    repo: Repo, commit: Commit, git: Git, packed: bool
) -> None:
    old = commit(repo, {"a": b"1"})
    lost = run_killed(repo)
    if packed:
        git(repo.git_dir, "pack-refs", "--all")
    assert repo.read_ref(MAIN) == old
    assert list(repo.refs("refs/gitmem/").values()) == [lost]
    # Same bytes again, with the keep file that git leaves when it dies at the wrong moment.
    keep = packs(repo)[-1].with_suffix(".keep")
    keep.write_text("fast-import")
    own = packs(repo)[0].with_suffix(".keep")
    own.write_text("kept by hand")
    with repo.lock():
        assert repo.refs("refs/gitmem/") == {}
    assert not keep.exists()
    assert own.exists()
    assert "Cleared a write that was cut off before it was published." in repo.healed
    repo.healed.clear()
    with repo.lock():
        assert repo.healed == []
    git(repo.git_dir, "fsck", "--strict")


def test_only_writes_that_no_branch_holds_are_called_cut_off(
    repo: Repo, commit: Commit, git: Git
) -> None:
    first = commit(repo, {"a": "一".encode()})
    second = commit(repo, {"a": b"2"})
    for name, oid in (("main", second), ("behind", first)):  # published, and not let go of
        git(repo.git_dir, "update-ref", f"refs/gitmem/inflight/{name}-0", oid)
    with repo.lock():
        assert repo.refs("refs/gitmem/") == {} and repo.healed == []
    empty = git(repo.git_dir, "mktree").strip()
    for name in ("one", "two"):
        lost = git(repo.git_dir, "commit-tree", "-m", name, empty).strip()
        git(repo.git_dir, "update-ref", f"refs/gitmem/inflight/{name}-0", lost)
    git(repo.git_dir, "update-ref", "refs/gitmem/inflight/main-0", second)
    with repo.lock():
        assert repo.refs("refs/gitmem/") == {}
    assert repo.healed == ["Cleared 2 writes that were cut off before they were published."]


LOOP = """
import sys
from pathlib import Path
from gitmem.domain.objects import Identity
from gitmem.repo import NewCommit, RefUpdate, Repo, note_worktree
ada = (Identity("Ada", "ada@example.org"), 1)
repo = Repo.open(Path(sys.argv[1]), trace=lambda words: print(words[1], flush=True))
while True:
    with repo.lock():
        old = repo.read_ref("refs/heads/main")
        changes = {f"n/{old}": b"x", "count": old.encode()}
        (oid,) = repo.write([NewCommit((old,), "m", ada, ada, changes)])
        repo.publish([RefUpdate("refs/heads/main", oid, old)])
"""


@pytest.mark.parametrize("lines", range(1, 9))
def test_wherever_a_writer_is_killed_main_is_whole_and_the_next_one_goes_on(
    repo: Repo, commit: Commit, git: Git, lines: int
) -> None:
    """Each line that it prints is a git process about to start; it is killed right then."""
    commit(repo, {"a": b"1"})
    args = [sys.executable, "-c", LOOP, str(repo.root)]
    with subprocess.Popen(args, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for _ in range(lines):
            assert process.stdout.readline()
        process.kill()
    last = commit(repo, {"last": b"1"})
    chain = list(repo.first_parents(last))
    assert len(repo.list_tree(last, "n/")) == len(chain) - 2
    assert repo.refs() == {MAIN: last}
    git(repo.git_dir, "fsck", "--strict")


@pytest.mark.parametrize("name", ["tmp_pack_{}", ".tmp-{}-pack-0123.pack"])
def test_an_unfinished_pack_goes_when_it_is_old(repo: Repo, commit: Commit, name: str) -> None:
    commit(repo, {"a": b"1"})
    folder = repo.git_dir / "objects/pack"
    old, young = folder / name.format(1), folder / name.format(2)
    for path in (old, young):
        path.write_bytes(b"PACK")
    os.utime(old, (time.time() - 4000,) * 2)
    with repo.lock():
        assert (old.exists(), young.exists()) == (False, True)


# --- the lock ------------------------------------------------------------------------------

CHILD = """
import os, signal, subprocess, sys
from pathlib import Path
from gitmem.repo import Repo
repo = Repo.open(Path(sys.argv[1]))
with repo.lock():
    child = repo.runner
    # A git process that writes and lives on: it waits for its input.
    from gitmem.repo.runner import start
    running = start(child.command(["fast-import", "--done", "--quiet"], None, None),
                    cwd=child.git_dir, stdin=sys.stdin.fileno(), pass_fds=child.write_fds)
    print("locked", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="descriptors are inherited on POSIX only")
def test_the_lock_lasts_until_the_last_git_process_of_a_killed_writer_ends(repo: Repo) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(repo.root)],
        cwd=ROOT,
        stdin=reading,
        stdout=subprocess.PIPE,
        text=True,
    )
    os.close(reading)
    try:
        assert process.stdout and process.stdout.readline() == "locked\n"
        assert process.wait() == -9
        with pytest.raises(Busy, match="another gitmem process held"), repo.lock(timeout=0):
            pytest.fail("the lock was free while a writing git process lived")
    finally:
        os.close(writing)  # fast-import sees the end of its input and ends
        process.stdout.close() if process.stdout else None
    with repo.lock(timeout=30):
        assert repo.read_ref(MAIN) is None


def test_the_lock_is_reentrant_and_given_back(repo: Repo) -> None:
    with repo.lock(), repo.lock(timeout=0):
        with Repo.open(repo.git_dir) as other, pytest.raises(Busy), other.lock(timeout=0):
            pytest.fail("two writers at once")
        assert repo.runner.write_fds
    assert repo.runner.write_fds == ()
    with Repo.open(repo.git_dir) as other, other.lock(timeout=0):
        assert other.private == repo.private


WRITER = """
import sys
from pathlib import Path
from gitmem.domain.objects import Identity
from gitmem.repo import NewCommit, RefUpdate, Repo, note_worktree
root, name = Path(sys.argv[1]), sys.argv[2]
ada = (Identity("Ada", "ada@example.org"), 1)
with Repo.open(root) as repo:
    for number in range(5):
        with repo.lock():
            old = repo.read_ref("refs/heads/main")
            (oid,) = repo.write([NewCommit((old,), name, ada, ada, {f"{name}-{number}": b"x"})])
            repo.publish([RefUpdate("refs/heads/main", oid, old)])
"""


def test_processes_that_write_at_once_lose_nothing(repo: Repo, commit: Commit, git: Git) -> None:
    commit(repo, {"a": b"1"})
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(repo.root), f"w{n}"], cwd=ROOT)
        for n in range(4)
    ]
    assert [process.wait() for process in running] == [0] * 4
    head = repo.read_ref(MAIN)
    assert head
    assert len(repo.list_tree(head)) == 21
    assert len(list(repo.first_parents(head))) == 21
    git(repo.git_dir, "fsck", "--strict")


def test_packs_are_joined_once_there_are_many(repo: Repo, commit: Commit, git: Git) -> None:
    for number in range(6):
        commit(repo, {str(number): b"x" * number})
    packs(repo)[0].with_suffix(".keep").write_text("fast-import 1\n")
    assert not repo.maybe_repack(every=7)
    assert repo.maybe_repack(every=6)
    assert len(packs(repo)) < 3
    assert len(repo.list_tree(repo.read_ref(MAIN) or "")) == 6
    git(repo.git_dir, "fsck", "--strict")


def test_gitmems_own_folder_may_not_be_a_link(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.rmtree(repo.private)
    repo.private.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GitmemError, match="symbolic link"), repo.lock():
        pytest.fail("wrote through a link")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("name", ["lock", "queue", "git-version", "worktree-at"])
def test_a_link_in_gitmems_own_folder_is_never_written_through(
    repo: Repo, commit: Commit, tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (repo.private / name).unlink(missing_ok=True)
    (repo.private / name).symlink_to(victim)
    try:
        oid = commit(repo, {"a": b"1"})
        note_worktree(repo, oid)
    except GitmemError as error:
        assert str(repo.private / name) in str(error)
    assert victim.read_text() == "precious"
