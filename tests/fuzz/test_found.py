"""Inputs that fuzzing has found once, each with what is right."""

from __future__ import annotations

import pytest

from gitmem.documents import read_evidence, read_policy, write_evidence
from gitmem.domain.commit_message import CommitMessage
from gitmem.domain.manifest import parse_manifest
from gitmem.domain.objects import decode_commit
from gitmem.domain.record import make_record
from gitmem.domain.tombstone import parse_tombstone
from gitmem.errors import InvalidInput
from tests.fuzz.mutations import check_error
from tests.fuzz.readers import COMMIT, EVIDENCE, KINDS, MANIFEST, MESSAGES, OID, TOMBSTONE


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
