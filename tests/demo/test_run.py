"""The demonstration runs anywhere, shows what it should, and sees when something is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "demo"
# One worker runs them, since they share what one run printed.

LAST = "Everything is as it should be."


def run(script: Path, tmp_path: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the demonstration with nothing of the caller's but the path to programs."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "no such home"),
        "TMPDIR": str(folder),
        "PYTHONPATH": str(DEMO.parent),
        # As if an agent had started it, in a language without Chinese characters.
        "CLAUDECODE": "1",
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "LC_ALL": "C",
    }
    return subprocess.run(
        [sys.executable, str(script), *args],
        env=environ,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the demonstration prints, with an empty home, no identity and no terminal."""
    done = run(DEMO / "run.py", tmp_path_factory.mktemp("demo"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_step_succeeds_and_nothing_is_missing(shown: str) -> None:
    assert LAST in shown
    assert "MISSING" not in shown and "FAILED" not in shown
    assert shown.count("  ok ") >= 30
    numbers = re.findall(r"^(\d+)\. .+\n-+$", shown, re.MULTILINE)
    assert numbers == [str(n) for n in range(1, 17)]


@pytest.mark.parametrize(
    "command",
    [
        "$ gitmem init",
        "$ gitmem extract conversation.jsonl",
        "$ gitmem proposals",
        "$ gitmem diff extract-",
        "$ gitmem approve extract-",
        "$ gitmem search 'tabs or spaces?'",
        "$ gitmem why ",
        "$ gitmem extract correction.jsonl",
        "$ gitmem reject extract-",
        "$ gitmem config check",
        "$ gitmem why unit-tests-pytest",
        "$ gitmem proposals --kept",
        "$ gitmem extract meeting.jsonl",
        "$ gitmem select ",
        "$ gitmem fsck",
        "$ git -C .memory diff main...proposals/extract-",
        "$ git -C .memory log --first-parent main",
        "$ git -C .memory show main:MEMORY.md",
    ],
)
def test_a_step_is_shown_as_a_person_would_type_it(shown: str, command: str) -> None:
    assert command in shown


def test_what_is_passed_over_is_shown_with_its_reason(shown: str) -> None:
    extract = shown.split("$ gitmem extract conversation.jsonl")[1].split("$ ")[0]
    assert "a question: Should we always run the migrations in a transaction?" in extract
    assert "a task of the moment: " in extract
    assert "somebody else's words: 老板说" in extract
    assert "masked before anything was stored" in extract


def test_quotes_stand_beside_the_records(shown: str) -> None:
    diff = shown.split("$ gitmem diff ")[1].split("\n$ ")[0]
    record = diff.index("+ I prefer tabs over spaces.")
    quote = diff.index("I prefer tabs over spaces, because my screen reader")
    assert record < quote < diff.index("said by a person, message 1 ", record)


def test_the_loop_shows_who_proposed_who_reviewed_and_on_which_words(shown: str) -> None:
    why = shown.split("$ gitmem why unit-tests-pytest")[1].split("\n11. ")[0]
    assert "> 单元测试一律用 pytest，不用 unittest" in why
    assert "Please add one for the invoice total." in why, "the whole message around the quote"
    assert "proposed by model:writer-1@127.0.0.1" in why
    for reviewer in ("conflict", "durability", "evidence", "safety"):
        assert re.search(rf"review +model:judge-2@127\.0\.0\.1:\d+ \({reviewer}\): approve", why)


def test_each_of_the_four_ends_of_a_proposal_is_shown(shown: str) -> None:
    revised = shown.split("\n12. ")[1].split("\n13. ")[0]
    assert "the record says every pull request" in " ".join(revised.split())
    assert "first draft extract-" in revised and "(evidence): request_changes" in revised
    kept = shown.split("$ gitmem proposals --kept")[1].split("\n14. ")[0]
    assert re.search(r"rejected\t\+release-from-next\t这周先", kept)
    assert re.search(r"superseded\t\+api-docs-same-pull-request\t", kept)
    waiting = shown.split("\n14. ")[1].split("\n15. ")[0]
    assert "a person must approve it: its source (file)" in waiting
    assert waiting.rstrip().splitlines()[-2].endswith(": merged")


def test_what_an_agent_gets_is_printed_and_its_model_reads_it(shown: str) -> None:
    recalled = shown.split("\n15. ")[1].split("\n16. ")[0]
    assert recalled.count("</relevant_memories>") == 2
    assert "agent: I will use unit-tests-pytest: 好的" in recalled


def test_the_secret_and_the_planted_preference_are_never_shown(shown: str) -> None:
    assert "hunter2" not in shown
    assert "dark mode" not in shown


def test_the_folder_is_kept_and_named(shown: str) -> None:
    kept = Path(shown.rstrip().splitlines()[-1].removeprefix(f"{LAST} Look around: "))
    assert (kept / ".memory" / "MEMORY.md").is_file()


def changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """A copy of the demonstration with other words in its conversation."""
    copy = tmp_path / "demo"
    shutil.copytree(DEMO, copy)
    conversation = copy / "conversation.jsonl"
    text = conversation.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    conversation.write_text(text, encoding="utf-8")
    return copy / "run.py"


def test_what_is_missing_is_named_and_ends_in_an_error(tmp_path: Path) -> None:
    words = ("docs/api.md", "docs/README.md"), ("prefers dark mode", "is fine")
    done = run(changed(tmp_path, *words), tmp_path, "--clean", "--short")
    assert done.returncode == 1
    assert "MISSING what the person wants kept is proposed" in done.stdout
    assert "MISSING the conversation holds a secret and a trap" in done.stdout
    assert done.stdout.rstrip().endswith("2 of the things above are not as they should be.")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_command_that_fails_ends_the_demonstration(tmp_path: Path) -> None:
    done = run(changed(tmp_path, ('{"role": "system"', '"role": "system"')), tmp_path, "--clean")
    assert done.returncode == 1
    assert "FAILED: exit code 1 of " in done.stdout
    assert "3. " not in done.stdout
    assert list((tmp_path / "temporary").iterdir()) == []
