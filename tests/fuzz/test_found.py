"""Inputs that fuzzing has found once, each with what is right."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.cli.output import without_credentials
from gitmem.documents import read_evidence, read_policy, write_evidence
from gitmem.domain.actors import model_key
from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.manifest import parse_manifest
from gitmem.domain.objects import decode_commit, decode_tree
from gitmem.domain.record import make_record
from gitmem.domain.shell import shell_word
from gitmem.domain.tombstone import parse_tombstone
from gitmem.errors import InvalidInput, NotFound, Refused
from gitmem.repo.discovery import find_git_dir
from gitmem.repo.refs import read_ref
from gitmem.repo.runner import shown
from gitmem.repo.worktree_note import parsed_note
from gitmem.sessions import SessionFiles
from gitmem.transcripts import RawMessage, read_transcript
from gitmem.transcripts.base import part
from tests.fuzz.mutations import check_error
from tests.fuzz.readers import COMMIT, EVIDENCE, KINDS, MANIFEST, MESSAGES, OID, TOMBSTONE, TREE
from tests.store.stories import plain, rev
from tests.transcripts.lines import agent, human, write


@pytest.mark.parametrize("half", [b"\xed\xa0\xbd", b"\\ud83d"])
def test_half_a_surrogate_pair_in_json_is_no_canonical_form(half: bytes) -> None:
    manifest = MANIFEST.to_bytes().replace(b"extract-", b"extract-" + half)
    with pytest.raises(InvalidInput):
        parse_manifest(manifest)
    with pytest.raises(InvalidInput):
        parse_tombstone(TOMBSTONE.to_bytes().replace(b"true", half), "tombstones/ab/x.json")


def test_a_key_of_evidence_that_is_a_word_of_gitmems_own_code_is_refused_like_any_other() -> None:
    for key in ("where", "self", "fields", "cls", "data"):
        data = write_evidence(EVIDENCE).replace(b"---\n\n", f'{key}: "x"\n---\n\n'.encode())
        with pytest.raises(InvalidInput, match=rf"^evidence/x\.md: {key}"):
            read_evidence(data, "evidence/x.md")


def test_a_key_that_hides_or_goes_on_and_on_is_named_so_that_it_can_be_shown() -> None:
    for key in ("li\u2066nes", "\U000e0041", "制" * 80):
        with pytest.raises(InvalidInput) as caught:
            read_policy(f"{key}: x\n".encode())
        check_error(caught.value)
    with pytest.raises(InvalidInput) as caught:
        parse_manifest(MANIFEST.to_bytes()[:-2] + b',"' + b"\xe5\x88\xb6" * 4000 + b'":1}\n')
    check_error(caught.value)


def test_what_is_wrong_with_a_long_value_is_said_in_few_words() -> None:
    long = "a" * 100_000
    for kind, key in [
        ("review", "Reviewed-By"), ("review", "Reviewer"), ("review", "Verdict"),
        ("proposal", "Base"), ("proposal", "Proposal-Id"), ("proposal", "Proposal-Kind"),
        ("proposal", "Proposed-By"), ("closing", "Kept-As"),
    ]:  # fmt: skip
        trailers = tuple((k, long if k == key else v) for k, v in MESSAGES[kind].trailers)
        with pytest.raises(InvalidInput) as caught:
            KINDS[kind](CommitMessage("x", (), trailers))
        check_error(caught.value)
    with pytest.raises(InvalidInput) as caught:
        make_record(name="x", description="x", type=long, evidence=[OID], body="x")
    check_error(caught.value)


def test_an_author_of_several_lines_is_no_commit_that_could_be_written_back() -> None:
    for line in (b" +0000\ncommitter", b" +0000\ngpgsig"):
        broken = COMMIT.replace(line, line.replace(b"+0000\n", b"\n +0000\n"), 1)
        assert broken != COMMIT
        with pytest.raises(ValueError, match="several lines"):
            decode_commit(broken)


@pytest.mark.parametrize("kind", [["thinking"], {}, 1, None, True, "\ud800"])
def test_a_part_whose_kind_is_no_text_is_no_text_of_anybody(tmp_path: Path, kind: Any) -> None:
    for line in (human([{"type": kind, "text": "x"}]), agent({"type": kind, "text": "x"})):
        path = write(tmp_path / "session.jsonl", [line, human("Use tabs.")])
        first, second = read_transcript(path).messages
        assert [p.kind for p in first.parts] == ["text" if kind is None else "other"]
        assert second.parts[0].text == "Use tabs."


def test_a_model_named_to_be_matched_in_many_ways_is_compared_at_once() -> None:
    """A pattern that matched each part in two ways took twice as long for each part more."""
    assert model_key("model:x" + ":1111" * 38 + "!@host") == "x" + ":1111" * 38 + "!"
    assert model_key("model:qwen-max:2026-11-30:latest@host") == "qwen-max"
    assert model_key("model:a/Qwen-Max-20261130@host") == model_key("model:qwen-max@other")
    assert model_key("model:" + "a" * 200 + "@host") == "a" * 200
    assert model_key("model:" + "a" * 201 + "@host") is None


@pytest.mark.parametrize("rest", [b"0" * 22, b"100644 x\0" + b"i" * 19, b"0 " * 500_000, b"x" * 22])
def test_a_tree_ends_where_what_follows_is_no_entry(rest: bytes) -> None:
    """Each later place was tried for an entry too, which took the square of the length."""
    assert len(decode_tree(TREE)) == 3
    with pytest.raises(ValueError, match="cut off"):
        decode_tree(TREE + rest)


def test_words_of_git_without_an_address_are_looked_through_once() -> None:
    assert shown("a" * 100_000) == "a" * 100_000
    assert shown("a://" * 30_000) == "a://" * 30_000
    assert without_credentials("a" * 100_000) == "a" * 100_000
    for url in ("https://u:p@host/x?token=y#z", "git+ssh://u@host/x"):
        kept = url.partition("?")[0].replace("u:p@", "").replace("u@", "")
        assert shown(f"fatal: '{url}' is bad") == f"fatal: '{kept}' is bad"


# --- what lies in a git directory --------------------------------------------------------------

NOWHERE = ["a\0b", "a" * 5000, "loop/x", "a" * 300]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "loop").symlink_to("loop")
    for name in ("objects", "refs/heads"):
        (tmp_path / "real" / name).mkdir(parents=True)
    (tmp_path / "real/loop").symlink_to("loop")
    (tmp_path / "real/HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path


@pytest.mark.parametrize("place", NOWHERE)
def test_a_pointer_to_where_no_file_can_be_points_to_no_repository(
    folder: Path, place: str
) -> None:
    (folder / ".git").write_bytes(b"gitdir: real\n")
    assert find_git_dir(folder).common == folder / "real"
    (folder / ".git").write_bytes(f"gitdir: {place}\n".encode())
    with pytest.raises(NotFound, match="not a git repository"):
        find_git_dir(folder)
    (folder / ".git").write_bytes(b"gitdir: real\n")
    (folder / "real/commondir").write_bytes(place.encode())
    assert find_git_dir(folder).common == folder / "real"


@pytest.mark.parametrize("place", [*NOWHERE, "\ud800"])
def test_a_memory_at_a_place_where_no_file_can_be_is_not_found_and_not_made(
    folder: Path, place: str
) -> None:
    with pytest.raises(NotFound) as caught:
        MemoryStore.open(folder / place)
    check_error(caught.value)
    with pytest.raises(Refused) as refused:
        MemoryStore.init(folder / place)
    check_error(refused.value)


def test_a_ref_whose_name_no_file_can_have_is_not_there_and_a_circle_of_links_is_damage(
    folder: Path,
) -> None:
    git_dir = folder / "real"
    assert read_ref(git_dir, "refs/heads/" + "a" * 5000) is None
    (git_dir / "HEAD").write_text("ref: refs/heads/" + "a" * 3000)
    assert read_ref(git_dir, "HEAD") is None
    (git_dir / "refs/heads/main").symlink_to("main")
    with pytest.raises(InvalidInput, match="damaged"):
        read_ref(git_dir, "refs/heads/main")
    with pytest.raises(InvalidInput):
        read_ref(git_dir, "refs/heads/\ud800")


@pytest.mark.parametrize("mark", ["\u2028", "\u0085"])
def test_a_ref_with_an_unusual_end_of_line_in_its_name_is_one_ref_and_stops_no_check(
    tmp_path: Path, mark: str
) -> None:
    root = tmp_path / "memory"
    MemoryStore.init(root).close()
    tip = rev(root, "main")
    name = f"extract-20261130-abcdef{mark}{tip}"
    for folder in ("heads/proposals", "gitmem/kept", "gitmem/inflight"):
        plain(root, "update-ref", f"refs/{folder}/{name}", tip)
    for pack in (False, True):
        if pack:
            plain(root, "pack-refs", "--all")
        with MemoryStore.open(root) as memory:
            assert [line.id for line in memory.proposals()] == [name]
            assert [line.id for line in memory.kept()] == [name]
            assert any(ascii(mark)[1:-1] in ascii(p.where) for p in memory.fsck().problems)


@pytest.mark.parametrize("data", [b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b'{"a":[1]}'])
def test_a_note_of_work_trees_nested_too_deep_is_a_damaged_one(data: bytes, folder: Path) -> None:
    (folder / "note").write_bytes(data)
    assert parsed_note(folder / "note") is None


def test_any_text_is_a_word_of_a_command_line() -> None:
    assert shell_word("\ud800") == r"$'\xed\xa0\x80'"
    assert shell_word(os.fsdecode(b"\xff")) == r"$'\xff'"


# --- sessions ----------------------------------------------------------------------------------

HEADER = (
    '{"attested":"file","captured_at":"2026-11-30T16:20:11Z","first":null,"format":"openai",'
    '"session":"x-1","source":null,"version":2}\n'
)


@pytest.mark.parametrize(
    "lines",
    [
        HEADER.replace('"file"', '"nobody"'),
        HEADER + '{"read_before":[[0,1e999]]}\n',
        HEADER + '{"read_before":[[NaN,1]]}\n',
        HEADER + '{"read_before":["12"]}\n',
        HEADER + '{"read_before":[[true,2]]}\n',
    ],
)
def test_a_session_file_that_says_what_gitmem_never_writes_is_damaged(
    tmp_path: Path, lines: str
) -> None:
    (tmp_path / "x-1.jsonl").write_text(HEADER)
    assert SessionFiles(tmp_path).load("x-1")
    (tmp_path / "x-1.jsonl").write_text(lines)
    with pytest.raises(InvalidInput, match="damaged session file"):
        SessionFiles(tmp_path).load("x-1")


@pytest.mark.parametrize("key", ["zz", "__", "f" * 17, "F0"])
def test_keys_of_messages_that_gitmem_never_writes_stop_no_other_conversation(
    tmp_path: Path, key: str
) -> None:
    line = f'{{"index":0,"keys":["{key}",""],"parts":[],"role":"user"}}\n'
    (tmp_path / "x-1.jsonl").write_text(HEADER + line + '{"consumed":1}\n')
    message = RawMessage("user", (part("text", "human", "Use tabs."),), client_id="u1")
    files = SessionFiles(tmp_path)
    with files.stage([message]) as staged:
        kept = files.keep(
            staged, "openai", attested="file", now="2026-11-30T16:20:11Z", source="other"
        )
    assert len(kept.session.messages) == 1 and kept.new_from == 0
