"""What a person forgot or rejected does not come back by itself, from wherever it comes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.calls import call
from tests.cases.conftest import Project
from tests.memory.words import user, write_lines
from tests.store.stories import plain

SAID = "数据库迁移必须先备份，因为去年升级时丢过一次数据。"


def extract(store: Path, path: Path) -> dict[str, Any]:
    result: dict[str, Any] = call(store, "extract", str(path), "--json").json
    return result


def names(store: Path) -> list[str]:
    return [record["name"] for record in call(store, "list", "--json").json]


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "chat.jsonl", [user(SAID)])


def retold(tmp_path: Path, number: int = 2) -> Path:
    """Another conversation in which the same is said."""
    return write_lines(tmp_path / f"chat-{number}.jsonl", [user(f"第 {number} 天。"), user(SAID)])


def remembered(store: Path, chat: Path) -> str:
    proposal = extract(store, chat)["proposal"]
    assert call(store, "approve", proposal, "--yes").code == 0
    (record,) = call(store, "log", "-n", "1", "--json").json[0]["records"]
    return str(record["name"])


def forgotten(store: Path, chat: Path) -> str:
    name = remembered(store, chat)
    assert call(store, "forget", name, "--reason", "现在自动备份", "--yes").code == 0
    return "forgot this on "


def rejected(store: Path, chat: Path) -> str:
    proposal = extract(store, chat)["proposal"]
    assert call(store, "reject", proposal, "--reason", "现在自动备份", "--yes").code == 0
    return "rejected this on "


@pytest.mark.parametrize("decide", [forgotten, rejected])
@pytest.mark.parametrize("where", ["here", "a fresh clone", "a clone from before"])
def test_it_is_dropped_with_who_decided_when_and_why(
    project: Project, tmp_path: Path, chat: Path, decide: Any, where: str
) -> None:
    """The same file, and another that says the same; on a clone with nothing but what git sends."""
    store, clone = project.store, tmp_path / "clone"
    if where == "a clone from before":
        plain(tmp_path, "clone", "-q", str(store), str(clone))
        assert call(clone, "status").code == 0
    words = decide(store, chat)
    before = names(store)
    if where == "a fresh clone":
        plain(tmp_path, "clone", "-q", str(store), str(clone))
    elif where == "a clone from before":
        plain(clone, "pull", "-q", "--ff-only")
    at = store if where == "here" else clone
    for path in (chat, retold(tmp_path)):
        result = extract(at, path)
        assert result["proposal"] is None
        if path != chat or where != "here":  # here it was read before
            (dropped,) = result["dropped"]
            assert words in dropped["reason"] and "Ada" in dropped["reason"], dropped
            assert dropped["reason"].endswith("现在自动备份")
    assert names(at) == before
    assert call(at, "fsck").code == 0


def test_a_proposal_that_was_open_when_it_was_forgotten_waits_for_a_person_who_is_told(
    project: Project, tmp_path: Path, chat: Path
) -> None:
    """The other order: proposed on a machine that was behind, forgotten meanwhile."""
    store, clone = project.store, tmp_path / "clone"
    plain(tmp_path, "clone", "-q", str(store), str(clone))
    late = extract(clone, chat)["proposal"]
    forgotten(store, chat)
    plain(store, "fetch", "-q", str(clone), f"proposals/{late}:proposals/{late}")
    (waiting,) = [each for each in call(store, "proposals", "--json").json if each["id"] == late]
    assert waiting["state"] == "waiting"
    assert "forgot" in json.dumps(waiting, ensure_ascii=False)
    shown = call(store, "diff", late)
    assert "现在自动备份" in shown.out or "forgot" in shown.out, shown
    before = names(store)
    assert call(store, "approve", late).code == 4, "nobody was asked"
    assert names(store) == before
    assert call(store, "approve", late, "--yes").code == 0
    assert len(names(store)) == len(before) + 1
    assert call(store, "fsck").code == 0


def test_a_stale_file_brings_nothing_back_and_a_person_who_says_it_again_does(
    project: Project, tmp_path: Path, chat: Path
) -> None:
    store = project.store
    name = remembered(store, chat)
    file = next((store / "records").rglob(f"{name}.md"))
    old = file.read_bytes()
    assert call(store, "forget", name, "--reason", "现在自动备份", "--yes").code == 0
    assert not file.exists()
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(old)  # an editor that had it open saves it again
    assert name not in names(store)
    for args in (["fsck", "--repair"], ["remember", "Something else.", "--name=else", "--yes"]):
        assert call(store, *args).code == 0
        assert name not in names(store)
    told = call(store, "remember", SAID, "--yes")
    assert told.code == 0 and "现在自动备份" in told.out + told.err, told
    assert call(store, "search", "备份").out
    assert extract(store, retold(tmp_path))["proposal"] is None, "it is remembered now"
