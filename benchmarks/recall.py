"""How much of what answers a question the ranker puts into its first five.

    python benchmarks/recall.py DATA [--output FILE]

DATA holds the public sets, which are no part of gitmem: ``locomo/locomo10.json`` and
``locomo/audited-errors.json``, ``madial/MADial-Bench-zh-dialogue.json`` and
``madial/MADial-Bench-zh-memory.json``. ``benchmarks/README.md`` says where they come from and
what is measured. Prints a table, writes the figures as JSON (``benchmarks/recall.json`` unless
``--output`` names another file) and exits with 1 when a figure is below what is required, with 2
when a data set is not there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitmem.ranking import K1, TOKENS_VERSION, B, MemoryIndex, search

CUT = 5
HERE = Path(__file__).parent


@dataclass(frozen=True)
class Document:
    """What is ranked: its text, and the ids of the sources that finding it finds."""

    text: str
    sources: frozenset[str]


@dataclass(frozen=True)
class Question:
    """What is asked, the sources that answer it, and whether an audit found its label wrong."""

    text: str
    gold: frozenset[str]
    mislabelled: bool = False


Memories = list[tuple[list[Document], list[Question]]]
"""Each memory with the questions that are asked of it alone."""


@dataclass(frozen=True)
class Task:
    """What is measured; ``required`` is the least recall@5, None where nothing is promised."""

    name: str
    memories: Memories
    required: float | None = None


class DataMissing(Exception):
    """A file of the data sets is not where it should be."""


def recalls(documents: list[Document], questions: list[Question]) -> list[tuple[Question, float]]:
    """For each question the share of its gold sources that the first five documents hold.

    Gold that no document holds cannot be found by any ranking and does not count; a question
    without any other gold is left out.
    """
    index = MemoryIndex((f"{number:06d}", one.text) for number, one in enumerate(documents))
    there = frozenset().union(*(one.sources for one in documents))
    result = []
    for question in questions:
        gold = question.gold & there
        if gold:
            hits = [documents[int(name)].sources for name, _ in search(question.text, index, CUT)]
            result.append((question, len(gold & frozenset().union(*hits)) / len(gold)))
    return result


def measure(task: Task) -> dict[str, Any]:
    """Return the figures of one task, with and without the questions an audit found wrong."""
    scored = [pair for memory in task.memories for pair in recalls(*memory)]
    every = [recall for _, recall in scored]
    audited = [recall for question, recall in scored if not question.mislabelled]
    return {
        "audited": {"questions": len(audited), "recall_at_5": round(mean(audited), 4)},
        "every": {"questions": len(every), "recall_at_5": round(mean(every), 4)},
        "required": task.required,
    }


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def read(path: Path) -> str:
    if not path.is_file():
        raise DataMissing(f"{path} is not there; benchmarks/README.md says where it comes from")
    return path.read_text(encoding="utf-8")


def locomo(data: Path) -> list[Task]:
    """Facts and turns of ten long dialogues: one user's alone, and all users' in one memory."""
    conversations = json.loads(read(data / "locomo" / "locomo10.json"))
    audit = json.loads(read(data / "locomo" / "audited-errors.json"))
    wrong = {error["question_id"] for error in audit}
    facts, turns, questions = [], [], []
    for number, conversation in enumerate(conversations):
        facts.append(locomo_facts(number, conversation["observation"]))
        turns.append(locomo_turns(number, conversation["conversation"]))
        questions.append(locomo_questions(number, conversation["qa"], wrong))
    return [
        Task("LoCoMo facts, one user", pairs(facts, questions), 0.63),
        Task("LoCoMo facts, all users pooled", pooled(facts, questions)),
        Task("LoCoMo turns, one user", pairs(turns, questions), 0.55),
        Task("LoCoMo turns, all users pooled", pooled(turns, questions), 0.52),
    ]


def pairs(documents: list[list[Document]], questions: list[list[Question]]) -> Memories:
    return list(zip(documents, questions, strict=True))


def pooled(documents: list[list[Document]], questions: list[list[Question]]) -> Memories:
    return [([one for user in documents for one in user], [one for u in questions for one in u])]


def turn_ids(user: int, written: str | Iterable[str]) -> frozenset[str]:
    """Read ids as the set writes them: ``D1:3``, ``D:11:26``, several in one string or list."""
    text = written if isinstance(written, str) else " ".join(written)
    return frozenset(f"{user}/D{a}:{b}" for a, b in re.findall(r"D:?(\d+):(\d+)", text))


def locomo_facts(user: int, sessions: dict[str, Any]) -> list[Document]:
    return [
        Document(text, turn_ids(user, written))
        for session in sessions.values()
        for facts in session.values()
        for text, written in facts
    ]


def locomo_turns(user: int, conversation: dict[str, Any]) -> list[Document]:
    return [
        Document(f"{turn['speaker']}: {turn['text']}", turn_ids(user, turn["dia_id"]))
        for key, session in conversation.items()
        if re.fullmatch(r"session_\d+", key)
        for turn in session
    ]


def locomo_questions(user: int, questions: list[Any], wrong: set[str]) -> list[Question]:
    """Categories 1 to 4; 5 asks about what was never said."""
    return [
        Question(
            question["question"],
            turn_ids(user, question["evidence"]),
            f"locomo_{user}_qa{number}" in wrong,
        )
        for number, question in enumerate(questions)
        if question["category"] != 5
    ]


def madial(data: Path) -> list[Task]:
    """Chinese dialogues: the user's last turn before the first test turn asks their memories."""
    folder = data / "madial"
    lines = read(folder / "MADial-Bench-zh-memory.json").splitlines()
    dialogues = read(folder / "MADial-Bench-zh-dialogue.json").splitlines()
    memories: dict[int, tuple[list[Document], list[Question]]] = {}
    for line in lines:
        for identifier, memory in json.loads(line).items():
            documents, _ = memories.setdefault(memory["user-id"], ([], []))
            documents.append(Document(memory["event"], frozenset([identifier])))
    for line in dialogues:
        dialogue = json.loads(line)
        said = dialogue["dialogue"][dialogue["test-turn"][0] - 1]
        gold = frozenset(str(identifier) for identifier in dialogue["relevant-id"])
        question = Question(re.sub(r"^\s*<[^>]*>:", "", said), gold)
        memories[dialogue["user-id"]][1].append(question)
    return [Task("MADial Chinese, last turn", list(memories.values()), 0.46)]


def report(figures: dict[str, dict[str, Any]]) -> list[str]:
    """Print the table; return the names of the tasks that miss what is required."""
    print(f"{'recall@5':32} {'questions':>9} {'all':>6} {'audited':>8} {'required':>9}")
    missed = []
    for name, figure in figures.items():
        reached, required = figure["every"]["recall_at_5"], figure["required"]
        if required is not None and reached < required:
            missed.append(name)
        wanted = "" if required is None else f"{required:.2f}"
        audited = figure["audited"]["recall_at_5"]
        questions = figure["every"]["questions"]
        print(f"{name:32} {questions:9} {reached:6.3f} {audited:8.3f} {wanted:>9}")
    return missed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Measure the ranker's recall@5.")
    parser.add_argument("data", type=Path, help="folder with the public data sets")
    parser.add_argument("--output", type=Path, default=HERE / "recall.json")
    options = parser.parse_args(arguments)
    try:
        tasks = [*locomo(options.data), *madial(options.data)]
    except DataMissing as error:
        print(error, file=sys.stderr)
        return 2
    figures = {task.name: measure(task) for task in tasks}
    written = {
        "command": "make bench-recall DATA=FOLDER",
        "ranker": {"k1": K1, "b": B, "tokens_version": TOKENS_VERSION},
        "figures": figures,
    }
    text = json.dumps(written, indent=2, ensure_ascii=False) + "\n"
    options.output.write_text(text, encoding="utf-8")
    missed = report(figures)
    for name in missed:
        print(f"{name}: below what is required", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
