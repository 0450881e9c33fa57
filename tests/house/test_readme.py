"""What the README shows is what happens: its terminal block, its program, its reviewer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.documents import read_reviewer
from gitmem.domain.proposal import KINDS
from gitmem.resources import reviewer_definitions
from gitmem.testing import ScriptedModels

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
PROGRAMS = ("git", "gitmem", "make", "pip")
FIRST_SCREEN = 12

# What differs from run to run. Scores are left alone: they do not.
CHANGING = (
    (re.compile(r"\b(?P<kind>[a-z]+)-[0-9]{8}-[0-9a-f]{6}\b"), r"\g<kind>-ID"),
    (re.compile(r"(?m)^[0-9a-f]{7,12}(?= )"), "COMMIT"),
)


def block(language: str) -> str:
    """The only block of the README in this language; those of a terminal follow one another."""
    found = [content for name, content in blocks(README) if name == language]
    assert len(found) == 1 or (language == "console" and found)
    return "".join(found)


def fixed(text: str) -> str:
    for pattern, replacement in CHANGING:
        text = pattern.sub(replacement, text)
    return text


def commands(terminal: str) -> list[tuple[str, list[str]]]:
    """Each command of a terminal block with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in terminal.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with the command `gitmem` on the path."""
    programs = tmp_path / "programs"
    programs.mkdir()
    gitmem = programs / "gitmem"
    gitmem.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gitmem "$@"\n')
    gitmem.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
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


def test_the_terminal_block_is_what_happens(shell: Path) -> None:
    steps = commands(block("console"))
    used = {command.split()[1] for command, _ in steps if command.startswith("gitmem ")}
    assert used >= {"init", "extract", "diff", "approve", "search", "why", "adopt", "revert"}
    real = ""
    for command, shown in steps:
        if real:
            command = re.sub(r"extract-[0-9]{8}-[0-9a-f]{6}", real, command)
        printed = run(command, shell)
        found = re.search(r"extract-[0-9]{8}-[0-9a-f]{6}", printed)
        real = real or (found.group() if found else "")
        lines = iter(fixed(printed).splitlines())
        for line in shown:
            # in this order, with other lines in between
            assert fixed(line) in lines, f"$ {command}\nprinted no line {line!r} in\n{printed}"


def test_the_conversation_of_the_block_leaves_the_task_of_the_moment_out(shell: Path) -> None:
    for command, _ in commands(block("console")):
        if command.startswith(("gitmem init", "echo '[", "gitmem extract")):
            printed = run(command, shell)
    assert "skip the tests" not in printed.split("Not proposed:")[0]


def test_the_program_runs(shell: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = block("python")
    assert len(program.splitlines()) <= 20
    run("gitmem init && gitmem remember 'We deploy on Tuesdays. 周二发布。' --yes", shell)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ScriptedModels() as models:
        models.always("gpt-5", "On Tuesdays.")
        monkeypatch.setenv("OPENAI_BASE_URL", models.url)
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=shell,
            input="When do we deploy? 什么时候发布？\nThanks.\n\n",
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("On Tuesdays.") == 2
    first, second = (request["messages"] for request in models.requests)
    assert "# Memory" in first[0]["content"] and "周二发布" in first[1]["content"]
    assert [message["role"] for message in first] == ["system", "user", "user"]
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]


def test_the_reviewer_is_one() -> None:
    page = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
    text = page.partition("<!-- example: reviewer -->\n```markdown\n")[2].partition("```\n")[0]
    assert len(text.splitlines()) <= 12
    reviewer = read_reviewer(text.encode("utf-8"), "reviewers/licences.md")
    assert reviewer.name == "licences" and reviewer.blocking
    assert set(reviewer.applies_to) <= set(KINDS)
    assert f"{reviewer.name}.md" not in reviewer_definitions()


def test_it_says_whose_the_other_name_is() -> None:
    assert "pip install gitmem-pr" in README
    assert "somebody else's program" in README


# --- the Chinese one says the same -------------------------------------------------------------


def blocks(text: str) -> list[tuple[str, str]]:
    """Every fenced block: its language and its content."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def without_blocks(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def commands_anywhere(text: str) -> list[str]:
    """The commands of the blocks in their order, without what is said beside them."""
    lines = [line for _, content in blocks(text) for line in content.splitlines()]
    typed = [line.removeprefix("$ ").split("  #")[0].rstrip() for line in lines]
    return [line for line in typed if line.split(" ")[0] in PROGRAMS]


def code_in_words(text: str) -> list[str]:
    """What stands between backticks, in any order: sentences are built otherwise elsewhere."""
    return sorted(set(re.findall(r"`([^`]+)`", without_blocks(text))))


def own_links(text: str) -> list[str]:
    found = re.findall(r"\]\(([^)]+)\)", without_blocks(text))
    return [link for link in found if link not in ("README.md", "README.zh-CN.md")]


def headings(text: str) -> list[str]:
    """The marks of the headings: how many sections there are, and of which depth."""
    return re.findall(r"^#+ ", without_blocks(text), re.MULTILINE)


def test_the_chinese_readme_shows_the_same_blocks_and_commands() -> None:
    ours, theirs = blocks(CHINESE), blocks(README)
    assert [language for language, _ in ours] == [language for language, _ in theirs]
    assert [block for block in ours if block[0]] == [block for block in theirs if block[0]]
    assert commands_anywhere(CHINESE) == commands_anywhere(README)


def test_the_chinese_readme_has_the_same_sections_links_and_names() -> None:
    assert headings(CHINESE) == headings(README)
    assert own_links(CHINESE) == own_links(README)
    assert code_in_words(CHINESE) == code_in_words(README)


def test_the_chinese_readme_is_chinese_and_as_short() -> None:
    assert len(CHINESE.splitlines()) <= 120
    prose = [p for p in without_blocks(CHINESE).split("\n\n") if p.strip() not in ("", "# gitmem")]
    assert len(prose) > len(headings(CHINESE))
    assert [p for p in prose if not re.search("[\u4e00-\u9fff]", p)] == []


def test_the_two_readmes_lead_to_each_other() -> None:
    first = ["\n".join(text.splitlines()[:FIRST_SCREEN]) for text in (README, CHINESE)]
    assert "(README.md)" in first[1]
    assert "(README.zh-CN.md)" in first[0]


def test_a_command_of_one_readme_alone_would_be_seen() -> None:
    text = "a `gitmem x`\n```\n# c\npip install x   # why\n$ gitmem y\n```\n[l](docs/a.md)\n"
    assert commands_anywhere(text) == ["pip install x", "gitmem y"]
    assert code_in_words(text) == ["gitmem x"]
    assert own_links(text) == ["docs/a.md"]


def test_a_line_that_is_not_printed_would_be_seen() -> None:
    terminal = "$ one\na extract-20261130-7f3a2c\n$ two\n"
    assert commands(terminal) == [("one", ["a extract-20261130-7f3a2c"]), ("two", [])]
    assert fixed("a extract-20261130-7f3a2c") == "a extract-ID"
    assert fixed("5febb35 merge extract-20261130-7f3a2c: x") == "COMMIT merge extract-ID: x"
    assert fixed("1.35\tname") == "1.35\tname"
