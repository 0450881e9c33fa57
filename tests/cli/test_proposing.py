"""extract and propose: what comes in, what is said about it, and what is refused."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.harness import PATIENCE, RunCommand, environment
from tests.cli.test_queue import change_set

CONVERSATION = [
    {"role": "user", "content": "Please remember: always use tabs for indentation."},
    {"role": "assistant", "content": "Will do."},
    {"role": "user", "content": "请记住：数据库迁移必须先在测试环境运行。"},
    {"role": "user", "content": "What time is it?"},
]


@pytest.fixture
def conversation(tmp_path: Path) -> str:
    (tmp_path / "chat.json").write_text(json.dumps(CONVERSATION), encoding="utf-8")
    return "chat.json"


def test_extract_counts_every_part_and_says_what_next(
    gitmem: RunCommand, store: Path, conversation: str
) -> None:
    done = gitmem("extract", conversation)
    first, *rest = done.out.splitlines()
    assert first.startswith("chat.json: 4 parts")
    counts = [int(line.split()[0]) for line in rest if line.split()[0].isdigit()]
    assert sum(counts) == 4
    (proposal,) = gitmem("proposals", "--json").json
    assert f"gitmem diff {proposal['id']}" in done.out
    assert f"gitmem approve {proposal['id']}" in done.out
    assert len(proposal["records"]) == 2


def test_extract_in_json_has_the_documented_keys(
    gitmem: RunCommand, store: Path, conversation: str
) -> None:
    result = gitmem("extract", conversation, "--json").json
    assert {"proposal", "state", "records", "findings", "dropped"} <= set(result)
    assert sum(result["counts"].values()) == 4


def test_the_same_conversation_again_has_nothing_new(
    gitmem: RunCommand, store: Path, conversation: str
) -> None:
    gitmem("extract", conversation)
    again = gitmem("extract", conversation, "--json").json
    assert again["proposal"] is None
    said = gitmem("extract", conversation).out
    assert "Nothing was proposed: nothing is new" in said
    assert "--again reads it from its beginning" in said


def test_a_conversation_can_be_read_again_from_its_beginning(
    gitmem: RunCommand, store: Path, conversation: str
) -> None:
    first = gitmem("extract", conversation, "--json").json
    git_dir = store / ".git"
    (git_dir / "refs/heads/proposals" / first["proposal"]).unlink()
    again = gitmem("extract", conversation, "--again", "--json").json
    assert again["records"] == first["records"]
    assert "--again" in gitmem("extract", "--help").out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "no-such"),
        (b"", "empty"),
        (b"just some prose\nand more\n", "not"),
        (b"[1, 2, 3]", "not a conversation"),
    ],
)
def test_a_transcript_that_is_none_is_told_plainly(
    gitmem: RunCommand, store: Path, tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "no-such.json"
    if content is not None:
        path.write_bytes(content)
    done = gitmem("extract", str(path), code=None)
    assert done.code in (0, 1)
    assert words in done.out + done.err
    assert gitmem("proposals").out == ""


def test_a_transcript_without_a_usable_part_says_so(
    gitmem: RunCommand, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text('[{"role": "system", "content": "Be brief."}]')
    done = gitmem("extract", "a.json")
    assert done.out.startswith("a.json: 1 part")
    assert "Nothing was proposed: no part of it can be used" in done.out


def test_a_folder_is_no_transcript(gitmem: RunCommand, store: Path) -> None:
    assert "error: " in gitmem("extract", ".", code=1).err


def test_an_unknown_format_is_answered_with_the_known_ones(
    gitmem: RunCommand, store: Path, conversation: str
) -> None:
    assert "openai" in gitmem("extract", conversation, "--format=telepathy", code=None).err


def test_propose_reads_a_file_and_standard_input(
    gitmem: RunCommand, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "c.json").write_text("\ufeff" + change_set("one"), encoding="utf-8")
    assert "+ one (feedback)" in gitmem("propose", "c.json").out
    other = change_set("two", "Never push on a Friday afternoon.")
    assert "gitmem diff extract-" in gitmem("propose", "-", stdin=other).out


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"  \n", "it is empty"),
        (b'{\n  "kind": oops\n}', "line 2, column 11"),
        (b'{"kind": "extract",\n "kind": "x"}', "'kind' is there twice"),
        (b'{"kind": NaN}', "NaN"),
        (b"[]", "no JSON object"),
        (b'{"kind":\n "\xff"}', "line 2"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"kind": ' + b"9" * 5000 + b"}", "a number has 5000 digits"),
    ],
)
def test_a_change_set_that_cannot_be_read_is_refused_with_its_place(
    gitmem: RunCommand, store: Path, tmp_path: Path, content: bytes, words: str
) -> None:
    (tmp_path / "c.json").write_bytes(content)
    done = gitmem("propose", "c.json", code=1)
    assert done.err.startswith("error: c.json")
    assert words in done.err
    assert "hint: " in done.err
    assert "set_int_max_str_digits" not in done.err
    assert words in gitmem("propose", "-", stdin=content, code=1).err


@pytest.mark.parametrize("call", [["propose", "-"], ["remember", "-", "--yes"]])
def test_a_closed_standard_input_is_a_wrong_call_and_no_bug(store: Path, call: list[str]) -> None:
    command = shlex.join([sys.executable, "-m", "gitmem", *call])
    done = subprocess.run(
        ["sh", "-c", f"{command} <&-"],
        env=environment(None),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    assert done.returncode == 2
    assert "standard input, which is closed" in done.stderr
    assert "hint: " in done.stderr


def test_a_conversation_is_not_read_from_standard_input_unless_a_file_is_called_so(
    gitmem: RunCommand, store: Path, conversation: str, tmp_path: Path
) -> None:
    text = (tmp_path / conversation).read_text(encoding="utf-8")
    assert "Save it to a file" in gitmem("extract", "-", stdin=text, code=2).err
    (tmp_path / "-").write_text(text, encoding="utf-8")
    assert gitmem("extract", "./-", "--json").json["proposal"]


def test_a_change_set_with_neither_messages_nor_session_says_what_to_give(
    gitmem: RunCommand, store: Path
) -> None:
    assert "hint: Give one of the two" in gitmem("propose", "-", stdin="{}", code=1).err


def test_a_change_set_that_is_not_there_is_named(gitmem: RunCommand, store: Path) -> None:
    assert "no-such.json" in gitmem("propose", "no-such.json", code=1).err
    assert "not a file" in gitmem("propose", ".", code=1).err


def test_a_change_set_whose_evidence_fails_says_what_was_dropped(
    gitmem: RunCommand, store: Path
) -> None:
    wrong = json.loads(change_set("use-tabs"))
    wrong["records"][0]["evidence"][0]["quote"] = "Never use tabs in this project."
    done = gitmem("propose", "-", stdin=json.dumps(wrong), code=0)
    assert "Not proposed:" in done.out
    assert "use-tabs: " in done.out
    assert "Nothing was proposed" in done.out
