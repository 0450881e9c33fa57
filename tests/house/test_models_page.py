"""What the page about models says is what happens: its commands, its program, its figures.

The models are scripted; environment variables lead the commands to them, as they would lead a
person's to another endpoint.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.config.file import Config, keys
from gitmem.config.models import IN_ENVIRONMENT
from gitmem.domain.policy import Policy
from gitmem.llm.agent import ROUNDS
from gitmem.llm.settings import OPENAI, ROLES, check_endpoint
from gitmem.resources import reviewer_definitions
from gitmem.services.extracting import NAMES, RELATED, STRETCH
from gitmem.services.selecting import CATALOGUE
from gitmem.testing import Answer, ScriptedModels, tool_call

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
WRITER, JUDGE = "gpt-5-mini", "gpt-5"
SAID = "We deploy on Tuesdays only, 只在周二发布。"
ITEM = {
    "name": "deploy-day",
    "type": "project",
    "description": "We deploy on Tuesdays only",
    "body": "We deploy on Tuesdays only, 只在周二发布。",
    "evidence": [{"message": 0, "quote": "We deploy on Tuesdays only, 只在周二发布"}],
}
# What differs from run to run.
DAY = re.compile(r"\b20[0-9]{2}-[0-9]{2}-[0-9]{2}\b")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(terminal: str) -> list[tuple[str, list[str]]]:
    """Each command of a terminal block with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in terminal.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def play(request: Mapping[str, Any]) -> str | Answer:
    """Play every role, and what ``config check`` asks besides."""
    told = request["messages"][0]["content"]
    role = re.search(r"# Role: (\w+)", told)
    if role is None and told.startswith("You are a coding agent."):
        return "Noted 好的。"
    if role is None:
        if request.get("tools") and request["messages"][-1]["role"] != "tool":
            return Answer(tool_calls=(tool_call("look"),))
        return '{"answer": "marmalade"}'
    if role.group(1) == "proposer":
        return json.dumps([ITEM] if SAID in request["messages"][1]["content"] else [])
    if role.group(1) == "selector":
        return json.dumps(
            ["deploy-day"] if "deploy-day" in request["messages"][1]["content"] else []
        )
    return '{"verdict": "approve", "findings": []}'


@pytest.fixture
def models() -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        running.always(WRITER, play).always(JUDGE, play)
        yield running


@pytest.fixture
def shell(tmp_path: Path, models: ScriptedModels, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, the command ``gitmem`` on the path, and the way to the models."""
    programs = tmp_path / "programs"
    programs.mkdir()
    gitmem = programs / "gitmem"
    gitmem.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    gitmem.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", models.url)
    for role in ROLES:
        monkeypatch.setenv(f"GITMEM_{role.upper()}_BASE_URL", models.url)
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def run(command: str, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def fixed(text: str) -> str:
    return DAY.sub("DAY", text).replace("api.openai.com", "HOST")


def test_the_commands_of_the_page_do_what_it_shows(shell: Path, models: ScriptedModels) -> None:
    steps = commands("".join(blocks(PAGE, "console")))
    used = {command.split()[1] for command, _ in steps if command.startswith("gitmem ")}
    assert used >= {"config", "init", "extract", "review", "proposals", "approve", "status"}
    host = models.url.split("/")[2]
    for command, shown in steps:
        printed = fixed(run(command, shell).replace(host, "HOST"))
        for line in shown:
            assert fixed(line) in printed, f"$ {command}\nprinted no {line!r} in\n{printed}"


def test_the_program_with_a_memory_runs_and_learns(shell: Path, models: ScriptedModels) -> None:
    (program,) = blocks(PAGE, "python")
    assert len(program.splitlines()) <= 20
    run("gitmem init && gitmem config set proposer.model gpt-5-mini", shell)
    run("gitmem config set reviewer.model gpt-5", shell)
    for typed in (SAID, "When may I deploy? 什么时候发布?"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=shell,
            input=f"{typed}\n",
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert "Noted 好的。" in done.stdout
    with MemoryStore.open(shell / ".memory") as memory:
        (merged,) = memory.why("deploy-day").history
        assert merged.proposed_by.startswith(f"model:{WRITER}@") and memory.queued() == []
    asked = [r for r in models.asked(JUDGE) if r["messages"][0]["content"].startswith("You are")]
    first, second = (str(request["messages"]) for request in asked)
    assert "<relevant_memories" not in first and "deploy-day" not in first
    assert "<relevant_memories" in second and "deploy-day" in second.split("relevant_memories")[0]


def test_the_endpoints_of_the_page_can_be_set() -> None:
    table = PAGE.partition("## Endpoints")[2].partition("\n\n```")[0]
    addresses = re.findall(r"`(https?://[^`]+)`", table)
    assert len(addresses) == 6 and addresses[0] == OPENAI
    assert [check_endpoint(url) for url in addresses] == addresses


def test_every_setting_is_on_the_page_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+?) \|", PAGE, re.MULTILINE))
    for key in keys():
        group, _, name = key.partition(".")
        said = rows[key if group == "budget" else name]
        default = getattr(getattr(Config(), group), name)
        if isinstance(default, int):
            assert said == str(default), key
    for name in IN_ENVIRONMENT:
        assert f"`GITMEM_REVIEWER_{name.upper()}`" in PAGE


def test_the_figures_of_the_page_are_those_of_the_code() -> None:
    for said in (
        f"{STRETCH:,} characters",
        f"the {RELATED} nearest records",
        f"up to {NAMES:,} names",
        f"at most {CATALOGUE} records",
        f"at most {ROUNDS + 1} |",
        f"({len(reviewer_definitions())} as shipped)",
        f"(policy, {Policy().rounds})",
        f"At most {Policy().daily_proposals} proposals a day",
    ):
        assert said in PAGE, said
