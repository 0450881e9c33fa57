"""Parts, batches, an editor; rebase, revert, reopen: as a person calls them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.harness import ADA, RunCommand, RunOnTerminal

TABS, CLOUD = "Always use tabs in this project.", "用户服务器部署在腾讯云国内节点。"


@pytest.fixture
def two(gitmem: RunCommand, store: Path) -> str:
    return proposed(gitmem, {"use-tabs": TABS, "cloud": CLOUD})


def proposed(gitmem: RunCommand, texts: Mapping[str, str]) -> str:
    records = [
        {
            "name": name,
            "type": "feedback",
            "description": text,
            "body": text,
            "evidence": [{"message": number, "quote": text}],
        }
        for number, (name, text) in enumerate(texts.items())
    ]
    messages = [{"role": "user", "content": text} for text in texts.values()]
    asked = {"kind": "extract", "messages": messages, "records": records}
    return str(gitmem("propose", "-", "--json", stdin=json.dumps(asked)).json["proposal"])


def names(gitmem: RunCommand) -> list[str]:
    return [record["name"] for record in gitmem("list", "--json").json]


def editor(tmp_path: Path, code: str) -> dict[str, str]:
    """An editor that runs ``code`` on ``text`` and saves what it makes of it."""
    program = tmp_path / "editor.py"
    program.write_text(
        "import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n"
        f"text = path.read_text('utf-8')\n{code}\npath.write_text(text, 'utf-8')\n",
        encoding="utf-8",
    )
    return {"VISUAL": f"{sys.executable} {program}"}


DELETE_TABS = (
    "blocks = text.split('\\n%% ')\n"
    "text = '\\n%% '.join(b for b in blocks if ' use-tabs\\n' not in b)\n"
)


def test_a_part_is_approved_and_the_rest_is_put_aside(gitmem: RunCommand, two: str) -> None:
    assert "no-such" in gitmem("approve", two, "--only", "no-such", "--yes", code=1).err
    done = gitmem("approve", two[:-1], "--only", "cloud", "--as", ADA, "--yes")
    assert "use-tabs" not in done.out.split("merged")[0]
    assert "left out: use-tabs" in done.err
    assert names(gitmem) == ["cloud"]
    (kept,) = gitmem("proposals", "--kept", "--json").json
    assert (kept["id"], kept["state"]) == (two, "superseded")
    assert two in gitmem("proposals", "--kept").out
    assert two in gitmem("reopen", two).out
    assert gitmem("rebase", two).code == 0
    gitmem("approve", two, "--as", ADA, "--yes")
    assert set(names(gitmem)) == {"cloud", "use-tabs"}


@pytest.mark.parametrize(
    "args",
    [
        ("approve",),
        ("reject", "--reason", "no"),
        ("approve", "extract", "--all"),
        ("approve", "a", "b", "--only", "cloud"),
        ("approve", "a", "--only", "cloud", "--edit"),
    ],
)
def test_a_call_that_could_mean_two_things_is_refused(
    gitmem: RunCommand, store: Path, args: tuple[str, ...]
) -> None:
    assert gitmem(*args, "--yes", code=2).err


def test_all_are_approved_or_rejected_in_one_call(gitmem: RunCommand, two: str) -> None:
    proposed(gitmem, {"language": "用户希望回复一律用中文。"})
    done = gitmem("approve", "--all", "--as", ADA, "--yes", "--json").json
    assert [one["state"] for one in done] == ["merged", "merged"]
    assert len(names(gitmem)) == 3
    proposed(gitmem, {"one": "We deploy on Fridays only."})
    proposed(gitmem, {"two": "We deploy on Mondays only."})
    done = gitmem("reject", "--all", "--reason", "都不对", "--as", ADA, "--yes", "--json").json
    assert [one["state"] for one in done] == ["rejected", "rejected"]
    assert gitmem("proposals", "--json").json == []
    assert "No proposal is open." in gitmem("approve", "--all", "--yes").out


def test_in_the_editor_a_block_is_deleted_and_a_text_changed(
    gitmem: RunCommand, two: str, tmp_path: Path
) -> None:
    change = DELETE_TABS + "text = text.replace('\\n用户服务器部署', '\\n用户的服务器都部署')\n"
    gitmem("approve", "--edit", two, "--as", ADA, "--yes", env=editor(tmp_path, change))
    assert names(gitmem) == ["cloud"]
    assert "用户的服务器都部署" in gitmem("show", "cloud").out
    assert [kept["state"] for kept in gitmem("proposals", "--kept", "--json").json] == ["rejected"]
    again = proposed_again(gitmem)
    assert "rejected" in again


def proposed_again(gitmem: RunCommand) -> str:
    record = {
        "name": "use-tabs",
        "type": "feedback",
        "description": TABS,
        "body": TABS,
        "evidence": [{"message": 0, "quote": TABS}],
    }
    asked = {"messages": [{"role": "user", "content": TABS}], "records": [record]}
    return str(gitmem("propose", "-", "--json", stdin=json.dumps(asked)).json["dropped"])


@pytest.mark.parametrize("code", ["text = ''", "text = text[5:]", "sys.exit(1)"])
def test_a_buffer_that_cannot_be_read_changes_nothing_and_stays(
    gitmem: RunCommand, two: str, tmp_path: Path, code: str
) -> None:
    done = gitmem("approve", "--edit", "--all", "--yes", env=editor(tmp_path, code), code=1)
    assert names(gitmem) == []
    assert [line["id"] for line in gitmem("proposals", "--json").json] == [two]
    assert "sys" in code or "kept in" in done.err


def test_what_the_editor_made_is_said_and_asked_about(
    gitmem: RunCommand, terminal: RunOnTerminal, two: str, tmp_path: Path
) -> None:
    env = editor(tmp_path, DELETE_TABS)
    done = terminal("approve", "--edit", two, "--as", ADA, env=env, answers=["n\n"])
    assert done.code == 1 and "nothing was done" in done.out and names(gitmem) == []
    done = terminal("approve", "--edit", two, "--as", ADA, env=env, answers=["是\n"])
    assert done.code == 0 and names(gitmem) == ["cloud"]


def test_a_merge_is_undone_after_a_question(
    gitmem: RunCommand, terminal: RunOnTerminal, two: str
) -> None:
    gitmem("approve", two, "--as", ADA, "--yes")
    assert terminal("revert", two, "--as", ADA, answers=["n\n"]).code == 1
    assert len(names(gitmem)) == 2
    assert gitmem("revert", two, code=4).err
    done = gitmem("revert", two, "--as", ADA, "--yes", "--json").json
    assert done["state"] == "merged" and names(gitmem) == []
    assert gitmem("revert", two, "--as", ADA, "--yes", code=1).err
    assert gitmem("fsck").code == 0
