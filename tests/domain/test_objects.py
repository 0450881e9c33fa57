"""git's object arithmetic agrees with git itself."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.domain.objects import (
    EMPTY_TREE,
    Commit,
    Identity,
    Signature,
    TreeEntry,
    blob_id,
    decode_commit,
    decode_tree,
    edit_tree,
    encode_commit,
    encode_tree,
    format_signature,
    is_oid,
    object_id,
    parse_signature,
)


class RunGit(Protocol):
    def __call__(self, cwd: Path, *args: str, stdin: str | bytes = "") -> str: ...


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("objects")
    subprocess.run(["git", "init", "-q", "--bare", "--template=", str(path)], check=True)
    return path


def git_bytes(cwd: Path, *args: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(["git", *args], cwd=cwd, input=stdin, capture_output=True, check=True)
    return done.stdout


NAME = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=6
).filter(lambda name: name not in (".", "..") and name.lower() != ".git")

PATH = st.lists(st.sampled_from(["a", "b", "a.b", "a-b", "a0", "记", "忆"]), min_size=1, max_size=3)


@settings(max_examples=25)
@given(data=st.binary(max_size=200))
def test_a_blob_id_is_what_git_hash_object_says(bare: Path, data: bytes) -> None:
    said = git_bytes(bare, "hash-object", "--stdin", "--no-filters", stdin=data)
    assert blob_id(data) == said.decode().strip()


@settings(max_examples=40)
@given(names=st.dictionaries(NAME, st.booleans(), max_size=8))
def test_a_tree_is_encoded_in_the_order_that_git_mktree_uses(
    bare: Path, names: dict[str, bool]
) -> None:
    entries = [
        TreeEntry("40000", name, EMPTY_TREE)
        if folder
        else TreeEntry("100644", name, blob_id(name.encode()))
        for name, folder in names.items()
    ]
    lines = [
        f"{'040000 tree' if entry.is_tree else '100644 blob'} {entry.oid}\t{entry.name}\0"
        for entry in entries
    ]
    made = git_bytes(bare, "mktree", "-z", "--missing", stdin="".join(lines).encode())
    data = encode_tree(entries)
    assert object_id("tree", data) == made.decode().strip()
    assert sorted(decode_tree(data), key=repr) == sorted(entries, key=repr)
    assert encode_tree(decode_tree(data)) == data


def test_a_name_that_is_not_utf8_survives_decoding_and_encoding() -> None:
    data = b"100644 caf\xe9\0" + bytes.fromhex(blob_id(b"x"))
    (entry,) = decode_tree(data)
    assert entry.name == "caf\udce9"
    assert encode_tree([entry]) == data


@pytest.mark.parametrize("data", [b"100644 a\0short", b"100644", b"x a\0" + b"0" * 20, b" a\0"])
def test_bytes_that_are_no_tree_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_tree(data)


def test_a_tree_does_not_take_a_name_twice_or_with_a_slash() -> None:
    entry = TreeEntry("100644", "a", blob_id(b""))
    with pytest.raises(ValueError, match="twice"):
        encode_tree([entry, entry])
    with pytest.raises(ValueError):
        encode_tree([TreeEntry("100644", "a/b", blob_id(b""))])


class Trees:
    """Trees kept in memory, counting what is read."""

    def __init__(self) -> None:
        self.stored: dict[str, bytes] = {}
        self.read: list[str] = []

    def __call__(self, oid: str) -> tuple[TreeEntry, ...]:
        self.read.append(oid)
        return decode_tree(self.stored[oid])

    def make(self, files: Mapping[str, str]) -> str:
        edited = edit_tree(EMPTY_TREE, files, self)
        self.stored |= edited.trees
        return edited.root

    def files(self, oid: str, prefix: str = "") -> dict[str, str]:
        found: dict[str, str] = {}
        for entry in decode_tree(self.stored[oid]) if oid != EMPTY_TREE else ():
            path = prefix + entry.name
            below = self.files(entry.oid, f"{path}/") if entry.is_tree else {path: entry.oid}
            found |= below
        return found


def plain(files: Mapping[str, str]) -> dict[str, str]:
    """``files`` without those that lie under another one's path."""
    kept: dict[str, str] = {}
    for path in sorted(files):
        if not any(path.startswith(f"{other}/") for other in kept):
            kept[path] = files[path]
    return kept


FILES = st.dictionaries(PATH.map("/".join), st.sampled_from([blob_id(b"1"), blob_id(b"2")]))


@given(before=FILES, after=FILES)
def test_an_edited_tree_is_the_tree_made_from_the_resulting_files(
    before: dict[str, str], after: dict[str, str]
) -> None:
    before, after = plain(before), plain(after)
    trees = Trees()
    root = trees.make(before)
    changes: dict[str, str | None] = dict.fromkeys(before.keys() - after.keys())
    # A path cannot become a folder in the same edit in which it is deleted by name.
    if any(new.startswith(f"{gone}/") or gone.startswith(f"{new}/")
           for gone in changes for new in after):  # fmt: skip
        return
    edited = edit_tree(root, changes | after, trees)
    trees.stored |= edited.trees
    assert trees.files(edited.root) == after
    assert edited.root == trees.make(after)
    for folder, oid in edited.folders.items():
        if oid == EMPTY_TREE:
            assert not any(path.startswith(f"{folder}/") for path in after) or folder == ""


def test_an_edit_reads_and_reports_only_the_folders_on_its_way() -> None:
    trees = Trees()
    one, two = blob_id(b"1"), blob_id(b"2")
    root = trees.make({"records/user/a": one, "records/project/b": one, "evidence/x/y": one})
    trees.read.clear()
    edited = edit_tree(root, {"records/user/a": two}, trees)
    assert set(edited.folders) == {"", "records", "records/user"}
    assert len(trees.read) == 3
    gone = edit_tree(root, {"evidence/x/y": None}, trees)
    assert gone.folders["evidence"] == gone.folders["evidence/x"] == EMPTY_TREE
    assert edit_tree(root, {"no/such/file": None}, trees).root == root
    assert edit_tree(root, {"records/user/a": one}, trees).root == root
    assert edit_tree(root, {}, trees).trees == {}


@pytest.mark.parametrize("path", ["", "/a", "a/", "a//b"])
def test_an_edit_refuses_a_malformed_path(path: str) -> None:
    with pytest.raises(ValueError):
        edit_tree(EMPTY_TREE, {path: blob_id(b"")}, Trees())


def test_an_edit_refuses_a_path_that_is_both_a_file_and_a_folder() -> None:
    for order in (["a", "a/b"], ["a/b", "a"]):
        with pytest.raises(ValueError):
            edit_tree(EMPTY_TREE, dict.fromkeys(order, blob_id(b"")), Trees())


def test_a_commit_is_encoded_byte_for_byte_as_git_writes_it(bare: Path, git: RunGit) -> None:
    tree = git_bytes(bare, "mktree", stdin=b"").decode().strip()
    first = git(bare, "commit-tree", tree, "-m", "初始").strip()
    second = git(bare, "commit-tree", tree, "-p", first, "-p", first, stdin="two\n\nlines").strip()
    for oid in (first, second):
        data = git_bytes(bare, "cat-file", "commit", oid)
        commit = decode_commit(data)
        assert encode_commit(commit) == data
        assert object_id("commit", encode_commit(commit)) == oid
    assert commit.parents == (first,)  # git drops a parent given twice
    assert commit.message == "two\n\nlines"
    assert parse_signature(commit.author).name == "Ada"


def test_a_signed_commit_keeps_its_headers() -> None:
    me = format_signature(Identity("Ada", "a@x"), 7)
    signature = "-----BEGIN SSH SIGNATURE-----\n\nAAAA\n-----END SSH SIGNATURE-----"
    commit = Commit(EMPTY_TREE, (), me, me, "hi\n", (("encoding", "x"), ("gpgsig", signature)))
    data = encode_commit(commit)
    assert b"\ngpgsig -----BEGIN SSH SIGNATURE-----\n \n AAAA\n" in data
    assert decode_commit(data) == commit


def test_a_message_that_is_not_utf8_survives() -> None:
    me = format_signature(Identity("Ada", "a@x"), 7)
    data = encode_commit(Commit(EMPTY_TREE, (), me, me, "")) + b"caf\xe9\n"
    assert encode_commit(decode_commit(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"tree x\n\n",
        b"tree " + EMPTY_TREE.encode() + b"\n\nno author",
        b"tree " + EMPTY_TREE.encode() + b"\nauthor a\ncommitter b",
        b"author a\ncommitter b\n\nno tree",
        b"tree " + EMPTY_TREE.encode() + b"\nparent 1\nauthor a\ncommitter b\n\n",
    ],
)
def test_bytes_that_are_no_commit_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        decode_commit(data)


def test_a_signature_cannot_be_forged_by_its_name() -> None:
    line = format_signature(Identity("Eve <root@x> 1 +0000\nparent", "e\0@x>\x1b"), 9)
    assert line == "Eve root@x 1 +0000parent <e@x> 9 +0000"
    assert parse_signature(line) == Signature("Eve root@x 1 +0000parent", "e@x", 9)
    assert format_signature(Identity("王小明", "w@x"), 0) == "王小明 <w@x> 0 +0000"
    assert format_signature(Identity(" \n", ""), 0) == "unknown <> 0 +0000"
    with pytest.raises(ValueError):
        parse_signature("nobody")


def test_only_forty_lower_case_hex_digits_are_an_id() -> None:
    assert is_oid(EMPTY_TREE)
    for text in ("", "abc", EMPTY_TREE.upper(), EMPTY_TREE + "\n", EMPTY_TREE + "0"):
        assert not is_oid(text)
