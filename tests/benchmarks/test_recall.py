"""The recall benchmark, on a few invented dialogues in the shape of the public sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def measure(data: Path, output: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "benchmarks/recall.py", str(data), "--output", str(output)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def question(text: str, evidence: list[str], category: int = 1) -> dict[str, Any]:
    return {"question": text, "evidence": evidence, "category": category}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """One dialogue of ten turns; the first question has two gold turns, one of them findable."""
    said = ["I adopted a beagle", "We call the puppy Biscuit", *["Lunch was fine"] * 8]
    conversation = {
        "observation": {
            "session_1_observation": {
                "Ann": [["Ann has a beagle", "D1:1"], ["The beagle is Ann's second", "D1:1"]],
                "Ben": [["Ben cooks", ["D1:3", "D1:4"]]],
            }
        },
        "conversation": {
            "session_1_date_time": "noon",
            "session_1": [
                {"speaker": "Ann", "text": text, "dia_id": f"D1:{number}"}
                for number, text in enumerate(said, 1)
            ],
        },
        "qa": [
            question("Which beagle was adopted?", ["D1:1; D1:2", "D9:9"]),
            question("Does anybody like xylophones?", ["D1:1"]),
            question("When did the beagle talk?", ["D1:5"], category=5),
        ],
    }
    memories = {"1": "在圣诞节晚会上跳舞", "2": "去海边放风筝", "3": "喜欢冰淇淋"}
    dialogue = {
        "dialogue": ["<BOD>\n", '<Bart>:"我想再跳舞"\n', '<Assistant>:"好"\n', "<EOD>\n"],
        "test-turn": [2],
        "relevant-id": [1],
        "user-id": 1,
    }
    for name, text in {
        "locomo/locomo10.json": json.dumps([conversation]),
        "locomo/audited-errors.json": json.dumps([{"question_id": "locomo_0_qa1"}]),
        "madial/MADial-Bench-zh-dialogue.json": json.dumps(dialogue),
        "madial/MADial-Bench-zh-memory.json": "\n".join(
            json.dumps({key: {"event": event, "user-id": 1}}) for key, event in memories.items()
        ),
    }.items():
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "data"


def test_recall_is_the_share_of_the_gold_found_averaged_over_questions(
    data: Path, tmp_path: Path
) -> None:
    done = measure(data, tmp_path / "out.json")
    figures = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["figures"]
    # Facts: the one gold turn that has facts is found for the first question, not the second.
    assert figures["LoCoMo facts, one user"]["every"] == {"questions": 2, "recall_at_5": 0.5}
    assert figures["LoCoMo facts, one user"]["audited"] == {"questions": 1, "recall_at_5": 1.0}
    # Turns: one of two gold turns is found for the first question.
    assert figures["LoCoMo turns, one user"]["every"] == {"questions": 2, "recall_at_5": 0.25}
    assert figures["MADial Chinese, last turn"]["every"] == {"questions": 1, "recall_at_5": 1.0}
    assert done.returncode == 1
    assert "LoCoMo turns, one user: below what is required" in done.stderr
    assert "MADial" not in done.stderr


def test_a_missing_data_set_is_named_and_nothing_is_written(data: Path, tmp_path: Path) -> None:
    (data / "madial" / "MADial-Bench-zh-memory.json").unlink()
    done = measure(data, tmp_path / "out.json")
    assert done.returncode == 2
    assert "MADial-Bench-zh-memory.json is not there" in done.stderr
    assert not (tmp_path / "out.json").exists()
