"""Reading objects, refs and trees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.objects import EMPTY_TREE, TreeEntry, blob_id, decode_tree, edit_tree
from gitmem.errors import GitFailed, InvalidInput, NotFound
from gitmem.repo import Found, Oversize, Repo, diff_trees
from gitmem.repo.refs import check_ref, read_ref, symbolic_target

Commit = Callable[..., str]
Git = Callable[..., str]


def test_refs_are_read_without_loading_anything_heavy() -> None:
    code = (
        "import sys, gitmem.repo.refs, gitmem.repo.discovery;"
        "print([m for m in ('git', 'filelock', 'pydantic', 'yaml', 'subprocess', 'click')"
        " if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"


def test_a_ref_is_read_loose_and_packed(repo: Repo, commit: Commit, git: Git) -> None:
    oid = commit(repo, {"a": b"1"})
    assert repo.root
    git(repo.root, "branch", "main2")
    git(repo.root, "tag", "main")  # must not shadow the branch
    assert read_ref(repo.git_dir, "refs/heads/main") == oid
    git(repo.root, "pack-refs", "--all")
    assert not (repo.git_dir / "refs/heads/main").exists()
    assert read_ref(repo.git_dir, "refs/heads/main") == oid
    assert read_ref(repo.git_dir, "HEAD") == oid
    assert read_ref(repo.git_dir, "refs/heads/mai") is None
    assert read_ref(repo.git_dir, "refs/heads/ain") is None
    newer = commit(repo, {"a": b"2"})
    assert read_ref(repo.git_dir, "refs/heads/main") == newer
    assert repo.refs("refs/heads/") == {"refs/heads/main": newer, "refs/heads/main2": oid}
    assert symbolic_target(repo.git_dir) == "refs/heads/main"


@pytest.mark.parametrize(
    "ref",
    ["main", "../x", "refs/../config", "refs/heads/.x", "refs/heads/a.lock", "refs/heads/a b",
     "refs/heads//a", "refs/heads/a/", "refs/heads/a\n", "refs/heads/@{1}", "-x", ""],
)  # fmt: skip
def test_a_name_that_is_no_full_ref_is_refused(repo: Repo, ref: str) -> None:
    with pytest.raises(InvalidInput, match="ref"):
        check_ref(ref)
    with pytest.raises(InvalidInput):
        repo.read_ref(ref)


def test_a_ref_file_with_something_else_in_it_is_reported_not_shown(repo: Repo) -> None:
    ref = repo.git_dir / "refs/heads/main"
    for text in ("secret text\n", "", "ref: refs/heads/main\n"):
        ref.write_text(text)
        with pytest.raises(InvalidInput) as caught:
            repo.read_ref("refs/heads/main")
        assert "secret" not in str(caught.value)


def test_objects_are_read_by_id_ref_and_path(repo: Repo, commit: Commit) -> None:
    text = "你好，世界\n".encode()
    oid = commit(repo, {"records/user/喜好.md": text, "空": b""}, message="记住：用制表符\n")
    reader = repo.reader
    assert reader.read("refs/heads/main:records/user/喜好.md") == Found(blob_id(text), "blob", text)
    assert reader.read(f"{oid}:空") == Found(blob_id(b""), "blob", b"")
    assert reader.resolve("refs/heads/main") == oid
    assert reader.resolve("HEAD^{tree}") == reader.commit(oid).tree
    assert reader.commit(oid).message == "记住：用制表符\n"
    assert reader.blob(blob_id(text)) == text
    assert [entry.name for entry in reader.tree(reader.commit(oid).tree)] == ["records", "空"]
    assert reader.tree(EMPTY_TREE) == ()


def test_what_is_not_there_is_none_or_not_found(repo: Repo, commit: Commit) -> None:
    oid = commit(repo, {"a": b"1"})
    nowhere = "1" * 40
    assert repo.reader.read(nowhere) is None
    assert repo.reader.read("refs/heads/none") is None
    assert repo.reader.read("refs/heads/none:a") is None
    assert repo.reader.read(f"{oid}:b c d") is None
    assert repo.reader.resolve(nowhere) is None
    with pytest.raises(NotFound, match="is not in this repository"):
        repo.reader.commit(nowhere)
    with pytest.raises(InvalidInput, match="is a commit where a blob is needed"):
        repo.reader.blob(oid)


def test_a_ref_that_is_gone_is_not_looked_for_under_another_prefix(
    repo: Repo, commit: Commit, git: Git
) -> None:
    oid = commit(repo, {"a": b"1"})
    git(repo.git_dir, "update-ref", "refs/tags/refs/heads/gone", oid)
    assert repo.reader.resolve("refs/heads/gone") is None
    assert repo.reader.resolve("refs/heads/gone:a") is None


@pytest.mark.parametrize("name", ["", "-x", "a\nb", "HEAD\n", "HEAD:a\0b", "main", "x" * 2000])
def test_a_name_that_could_be_taken_for_something_else_is_refused(repo: Repo, name: str) -> None:
    with pytest.raises(InvalidInput):
        repo.reader.read(name)


def test_a_large_object_is_refused_without_being_read(repo: Repo, commit: Commit) -> None:
    small = blob_id(b"small")
    oid = commit(repo, {"large": b"x" * 3_000_000, "small": b"small"})
    large = repo.reader.resolve(f"{oid}:large")
    assert large
    with pytest.raises(InvalidInput, match="3000000 bytes; the limit is 1000"):
        repo.reader.blob(large, max_bytes=1000)
    wanted = [small, large, small, "2" * 40, large, small]
    answers = list(repo.reader.read_many(wanted, max_bytes=1000))
    fits, over = Found(small, "blob", b"small"), Oversize(large, "blob", 3_000_000)
    assert answers == [fits, over, fits, None, over, fits]


def test_many_objects_are_read_in_order_while_others_are_read_between(
    repo: Repo, commit: Commit
) -> None:
    contents = {f"f{number}": bytes([number % 256]) * (number * 97) for number in range(300)}
    oid = commit(repo, contents)
    ids = [blob_id(data) for data in contents.values()]
    got = []
    for answer in repo.reader.read_many([*ids, "refs/heads/none", f"{oid}:f7"]):
        assert repo.reader.resolve("refs/heads/main") == oid
        got.append(answer.data if isinstance(answer, Found) else None)
    assert got == [*contents.values(), None, contents["f7"]]


def test_large_answers_to_requests_sent_ahead_do_not_block(repo: Repo, commit: Commit) -> None:
    contents = {f"f{number}": os.urandom(1000) * 300 for number in range(70)}
    commit(repo, contents)
    ids = [blob_id(data) for data in contents.values()]
    got = [answer.data for answer in repo.reader.read_many(ids) if isinstance(answer, Found)]
    assert got == list(contents.values())


def test_a_reader_whose_git_was_killed_says_so_and_works_again(repo: Repo, commit: Commit) -> None:
    oid = commit(repo, {"a": b"1"})
    assert repo.reader.read(oid)
    process = repo.reader._process
    assert process
    process.send_signal(signal.SIGKILL)
    process.wait()
    with pytest.raises(GitFailed, match="cat-file"):
        repo.reader.read(oid)
    assert repo.reader.read(oid)


def test_a_damaged_object_is_an_error_and_never_other_content(repo: Repo, git: Git) -> None:
    oid = git(repo.git_dir, "hash-object", "-w", "--stdin", stdin="text").strip()
    path = repo.git_dir / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises((GitFailed, NotFound)):
        repo.reader.blob(oid)


def test_trees_are_listed_and_compared_as_git_does(repo: Repo, commit: Commit) -> None:
    first = commit(repo, {"a/记.md": b"1", "a/b": b"2", "c": b"3", "d/e/f": b"4"})
    second = commit(repo, {"a/记.md": b"9", "a/b": None, "c": None, "d/e/f": b"5", "c/x": b"6"})
    assert [path for _, _, path in repo.list_tree(first, "a/")] == ["a/b", "a/记.md"]
    assert repo.list_tree(first)[0] == ("100644", blob_id(b"2"), "a/b")
    by_git = repo.changed_paths(first, second)
    trees = [repo.reader.commit(oid).tree for oid in (first, second)]
    assert sorted(map(repr, by_git)) == sorted(map(repr, diff_trees(repo.reader, *trees)))
    assert {change.path for change in by_git} == {"a/b", "a/记.md", "c", "c/x", "d/e/f"}
    assert [change.path for change in repo.changed_paths(first, second, "d/")] == ["d/e/f"]
    assert repo.changed_paths(first, first) == []


FILES = st.dictionaries(
    st.lists(st.sampled_from("abc"), min_size=3, max_size=3).map("/".join), st.sampled_from("12")
)


@given(before=FILES, after=FILES)
def test_the_difference_of_two_trees_is_the_difference_of_their_files(
    before: dict[str, str], after: dict[str, str]
) -> None:
    stored: dict[str, bytes] = {}

    class Source:
        def tree(self, oid: str) -> tuple[TreeEntry, ...]:
            return decode_tree(stored[oid])

        def read_ahead(self, names: Iterable[str]) -> None:
            assert set(names) <= stored.keys()

    roots = []
    for files in (before, after):
        ids: dict[str, str | None] = {path: blob_id(text.encode()) for path, text in files.items()}
        edited = edit_tree(EMPTY_TREE, ids, Source().tree)
        stored.update(edited.trees)
        roots.append(edited.root)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert {change.path for change in diff_trees(Source(), *roots)} == changed


def test_first_parents_go_to_the_root_or_to_the_stop(repo: Repo, commit: Commit) -> None:
    chain: list[str] = []
    for number in range(70):
        parents = (chain[-1],) if chain else ()
        chain.append(commit(repo, {"n": str(number).encode()}, parents=parents, publish=False))
    chain.reverse()
    assert list(repo.first_parents(chain[0])) == chain
    assert list(repo.first_parents(chain[0], stop=chain[3])) == chain[:3]
    assert list(repo.first_parents(chain[0], stop=chain[-2])) == chain[:-2]


def test_what_was_read_ahead_needs_no_git_any_more(repo: Repo, commit: Commit) -> None:
    tip = commit(repo, {"records/a.md": "甲\n".encode(), "records/b.md": b"b\n"})
    started: list[str] = []
    repo.runner.trace = lambda words: started.append(words[1])
    repo.reader.read_ahead([tip, f"{tip}^{{tree}}", f"{tip}:records", blob_id("甲\n".encode())])
    repo.reader.close()
    assert started == ["cat-file"]
    root = repo.reader.tree(repo.reader.commit(tip).tree)
    (folder,) = (entry for entry in root if entry.name == "records")
    names = [entry.name for entry in repo.reader.tree(folder.oid)]
    assert names == ["a.md", "b.md"]
    assert repo.reader.blob(blob_id("甲\n".encode())) == "甲\n".encode()
    assert started == ["cat-file"]
    assert repo.reader.blob(blob_id("甲\n".encode())) == "甲\n".encode()
    assert started == ["cat-file", "cat-file"]  # a blob is handed out once


def test_reading_ahead_leaves_what_is_missing_malformed_or_too_large_to_who_asks(
    repo: Repo, commit: Commit
) -> None:
    tip = commit(repo, {"a.md": b"a" * 20_000})
    missing = "1" * 40
    repo.reader.read_ahead([missing, f"{tip}:nothing", blob_id(b"a" * 20_000)])
    with pytest.raises(NotFound):
        repo.reader.tree(missing)
    with pytest.raises(InvalidInput, match="20000 bytes; the limit is 10"):
        repo.reader.blob(blob_id(b"a" * 20_000), max_bytes=10)
    assert len(repo.reader.blob(blob_id(b"a" * 20_000))) == 20_000


@pytest.mark.parametrize("folder", ["refs/heads/proposals", "refs/gitmem/kept"])
def test_git_is_asked_for_refs_only_where_there_may_be_some(
    repo: Repo, commit: Commit, git: Git, folder: str
) -> None:
    started: list[str] = []
    tip = commit(repo, {"a.md": b"a\n"})
    repo.runner.trace = lambda words: started.append(words[1])
    assert repo.refs(f"{folder}/") == {}
    (repo.git_dir / folder).mkdir(parents=True, exist_ok=True)
    assert repo.refs(f"{folder}/") == {} and started == []
    git(repo.git_dir, "update-ref", f"{folder}/甲", tip)
    assert repo.refs(f"{folder}/") == {f"{folder}/甲": tip}
    git(repo.git_dir, "pack-refs", "--all", "--prune")
    assert not (repo.git_dir / folder / "甲").exists()
    assert repo.refs(f"{folder}/") == {f"{folder}/甲": tip}
    assert started == ["for-each-ref", "for-each-ref"]
