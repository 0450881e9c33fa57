"""The loop with models: a proposer, reviewers, a selector, and an agent around its memory.

The models are scripted: a server on this machine speaks the OpenAI protocol and says what is
written below. Everything else is what happens with real ones: HTTP, the client, every check.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from stage import ADA, CONFIG, Demo

from gitmem.testing import Answer, ScriptedModels, tool_call

WRITER, JUDGE, CHOOSER, CHAT = "writer-1", "judge-2", "chooser-3", "chat-4"
MERGED, REVISED, STOPPED, ASKED = (
    "unit-tests-pytest",
    "api-docs-same-pull-request",
    "release-from-next",
    "queue-redis-streams",
)
TURNS = (
    "单元测试一律用 pytest，不用 unittest。Please add one for the invoice total.",
    "Whoever changes the API updates docs/api.md in the same pull request, bug fixes excepted.",
    "这周先从 release-next 分支发布。",
)
QUESTION = "How do I write the tests for refunds? 用什么测试框架?"
APPROVE = '{"verdict": "approve", "findings": []}'


def item(name: str, kind: str, text: str, message: int, quote: str) -> dict[str, Any]:
    """Return one record as a proposer answers it."""
    return {
        "name": name,
        "type": kind,
        "description": text,
        "body": text,
        "evidence": [{"message": message, "quote": quote}],
    }


DRAFTS = (
    item(
        MERGED,
        "feedback",
        "单元测试用 pytest，不用 unittest",
        0,
        "单元测试一律用 pytest，不用 unittest",
    ),
    item(
        REVISED,
        "feedback",
        "Every pull request updates docs/api.md",
        2,
        "updates docs/api.md in the same pull request",
    ),
    item(
        REVISED,
        "feedback",
        "A change of the API updates docs/api.md in its pull request, bug fixes excepted",
        2,
        TURNS[1],
    ),
    item(STOPPED, "project", "从 release-next 分支发布", 4, "从 release-next 分支发布"),
    item(
        ASKED,
        "project",
        "The job queue is Redis Streams, not Kafka: 没有人维护得了 Kafka",
        0,
        "we chose Redis Streams over Kafka for the job queue, 因为没有人维护得了 Kafka",
    ),
)
# What a reviewer finds, by the title of its rubric and a word of the proposal.
FINDINGS = {
    ("Does the evidence carry", "Every pull request"): (
        "request_changes",
        REVISED,
        'The message says "whoever changes the API" and "bug fixes excepted"; the record says '
        "every pull request.",
        "Keep both conditions.",
    ),
    ("glad of it", "release-next"): (
        "reject",
        STOPPED,
        "这周先 says that it is for this week only; a session in a month is misled by it.",
        None,
    ),
}


def models_at_work(demo: Demo) -> None:
    """Show the loop, from a turn of an agent to what its next conversation knows."""
    with ScriptedModels() as models:
        script(models)
        demo.set(OPENAI_BASE_URL=models.url, OPENAI_API_KEY="none")
        settings(demo, models.url)
        conversation(demo)
        merged(demo)
        revised(demo)
        stopped(demo)
        asked(demo)
        recalled(demo)


def settings(demo: Demo, url: str) -> None:
    demo.step(
        "Models",
        "Any endpoint that speaks the OpenAI protocol. The one here is a script on this machine.\n"
        "Who reviews has to be another model than who proposes.",
    )
    roles = {"proposer": WRITER, "reviewer": JUDGE, "selector": CHOOSER}
    text = "".join(f'{role}:\n  model: "{m}"\n  base_url: "{url}"\n' for role, m in roles.items())
    (demo.folder / CONFIG).write_text(text, encoding="utf-8")
    demo.show(CONFIG)
    told = demo.gitmem("config", "check")
    demo.expect(told.count(": usable") == 3, "each of them can play its role")


def conversation(demo: Demo) -> None:
    demo.step(
        "An agent with a memory",
        "Three turns. After each, the proposer reads it and four reviewers judge what it\n"
        "proposes, in the background.",
    )
    demo.show("agent.py")
    told = demo.program("agent.py", TURNS)
    demo.expect("memory: " not in told, "every turn was worked off")
    demo.expect(demo.look("proposals") == [], "none of it waits for a person")


def merged(demo: Demo) -> None:
    demo.step("Merged by itself", "The first: everything its reviewers asked was borne out.")
    demo.gitmem("why", MERGED)
    (how,) = demo.look("why", MERGED)["history"]
    by_models = [r for r in how["reviews"] if r["by"].startswith(f"model:{JUDGE}@")]
    demo.expect(how["proposed_by"].startswith(f"model:{WRITER}@"), "one model proposed it")
    approved = [r["verdict"] for r in by_models] == ["approve"] * 4
    demo.expect(approved and set(how["approved_by"]) == {by_models[0]["by"]}, "another approved it")


def revised(demo: Demo) -> None:
    demo.step(
        "Revised once",
        "The second: its proposer had left out two conditions, a reviewer found that, and the\n"
        "proposer answered with another draft.",
    )
    demo.gitmem("why", REVISED)
    record = demo.look("show", REVISED)
    demo.expect("bug fixes excepted" in record["body"], "what was merged has the conditions")
    (history,) = demo.look("why", REVISED)["history"]
    demo.expect(len(history["earlier"]) == 1, "the draft was never merged, and its findings stay")


def stopped(demo: Demo) -> None:
    demo.step(
        "Stopped by a reviewer",
        "The third: it was about one week. It is kept for 90 days, beside the draft of the\n"
        "second, and `gitmem reopen` with its id lets a person decide.",
    )
    demo.gitmem("proposals", "--kept")
    kept = {one["state"] for one in demo.look("kept")}
    demo.expect({"superseded", "rejected"} <= kept, "the draft and what was rejected are kept")
    names = [record["name"] for record in demo.look("list")]
    demo.expect(STOPPED not in names, "what a reviewer stopped is not remembered")


def asked(demo: Demo) -> None:
    demo.step(
        "A person is asked",
        "Anybody can write a file that looks like a conversation. What comes out of one waits for\n"
        "a person, whatever the reviewers say.",
    )
    demo.gitmem("extract", "meeting.jsonl")
    proposal = demo.waiting()
    demo.expect(proposal["state"] == "waiting", "it waits, with four approvals")
    demo.gitmem("proposals")
    demo.gitmem("approve", proposal["id"], "--yes", "--as", ADA, last=2)


def recalled(demo: Demo) -> None:
    demo.step(
        "The next conversation knows",
        "The selector chooses from names and descriptions; the records go into the request, as\n"
        "data, before the question, and nowhere else.",
    )
    demo.gitmem("select", QUESTION)
    told = demo.program("agent.py", [QUESTION])
    demo.expect("<relevant_memories" in told and MERGED in told, "the agent was given the record")
    demo.expect(f"I will use {MERGED}" in told, "and its model has read it")


# --- what the models say -----------------------------------------------------------------------


def script(models: ScriptedModels) -> None:
    """Write down what each model says."""
    models.always(JUDGE, or_tried(judge)).always(CHOOSER, or_tried(choose)).always(CHAT, chat)
    left = list(DRAFTS)

    def propose(request: Mapping[str, Any]) -> str:
        return json.dumps([left.pop(0)] if left else [], ensure_ascii=False)

    models.always(WRITER, or_tried(propose))


def or_tried(
    play: Callable[[Mapping[str, Any]], str | Answer],
) -> Callable[[Mapping[str, Any]], str | Answer]:
    """Let a model do what ``gitmem config check`` asks of it, and play its role otherwise."""

    def answer(request: Mapping[str, Any]) -> str | Answer:
        if "# Role: " in request["messages"][0]["content"]:
            return play(request)
        if request.get("tools") and request["messages"][-1]["role"] != "tool":
            return Answer(tool_calls=(tool_call("look"),))
        return '{"answer": "marmalade"}'

    return answer


def data(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a question: what stands between its two fences."""
    text = request["messages"][1]["content"]
    found: dict[str, Any] = json.loads(text.partition("\n")[2].rpartition("\n")[0])
    return found


def judge(request: Mapping[str, Any]) -> str | Answer:
    """Read the conversation around the first quote, then judge by the rubric."""
    rubric, record = request["messages"][0]["content"], data(request)["records"][0]
    if request["messages"][-1]["role"] != "tool":
        quote = record["evidence"][0]
        call = tool_call("read_session", session=quote["session"], message=quote["message"])
        return Answer(tool_calls=(call,))
    for (title, word), (verdict, name, text, change) in FINDINGS.items():
        if title in rubric and word in json.dumps(record, ensure_ascii=False):
            finding = {"record": name, "line": 3, "evidence": None, "text": text, "change": change}
            return json.dumps({"verdict": verdict, "findings": [finding]}, ensure_ascii=False)
    return APPROVE


def choose(request: Mapping[str, Any]) -> str:
    """Choose what is about tests, for a question that is."""
    asked = data(request)
    found = [entry["name"] for entry in asked["catalogue"] if "pytest" in entry["description"]]
    return json.dumps(found if "测试框架" in asked["query"] else [])


def chat(request: Mapping[str, Any]) -> str:
    """Answer a person: here only whether a memory came along."""
    given = any(
        "<relevant_memories" in str(message["content"]) and MERGED in str(message["content"])
        for message in request["messages"][1:]
    )
    return f"I will use {MERGED}: 好的，用 pytest。" if given else "Will do 好的。"
