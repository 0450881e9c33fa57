"""Consolidation by a model over real HTTP: nothing is lost, nothing unseen is touched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from gitmem import MemoryStore
from gitmem.errors import InvalidInput, ModelFailed, Waiting
from gitmem.testing import Answer, ScriptedModels
from tests.memory.words import ADA, DAY, NOW

TEXTS = {
    "tabs-go": "Use tabs in Go files.",
    "tabs-make": "Use tabs in Makefiles.",
    "cloud": "用户服务器部署在腾讯云国内节点。",
}


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedModels]:
    with ScriptedModels() as running:
        monkeypatch.setenv("GITMEM_CONSOLIDATOR_MODEL", "tidy-5")
        monkeypatch.setenv("GITMEM_CONSOLIDATOR_BASE_URL", running.url)
        yield running


@pytest.fixture
def known(memory: MemoryStore) -> MemoryStore:
    for name, text in TEXTS.items():
        memory.remember(text, name=name, type="project", person=ADA)
    return memory


def record(name: str = "use-tabs", **other: Any) -> dict[str, Any]:
    whole = {
        "name": name,
        "type": "project",
        "description": "Use tabs in Go files and Makefiles",
        "body": "Use tabs in Go files and in Makefiles.",
        "status": None,
    }
    return {**whole, **other}


def merged(**other: Any) -> str:
    names = ["tabs-go", "tabs-make"]
    answer = {
        "source_names": names,
        "records": [record()],
        "retired": [{"name": name, "reason": "merged into use-tabs"} for name in names],
        "coverage": [{"source": n, "kept_in": "use-tabs", "reason": None} for n in names],
    }
    return json.dumps({**answer, **other}, ensure_ascii=False)


def test_what_says_the_same_becomes_one_and_why_leads_back_to_the_first_quotes(
    known: MemoryStore, models: ScriptedModels
) -> None:
    models.say("tidy-5", merged())
    result = known.consolidate(now=True)
    assert result.proposal and result.state == "waiting"
    assert {(r.name, r.change) for r in result.records} == {
        ("use-tabs", "added"),
        ("tabs-go", "retired"),
        ("tabs-make", "retired"),
    }
    assert sorted(TEXTS) == sorted(line.name for line in known.list()), "nothing goes first"
    known.approve(result.proposal, person=ADA)
    assert [line.name for line in known.list()] == ["cloud", "use-tabs"]
    why = known.why("use-tabs")
    assert {quote.quote for quote in why.record.evidence} == {TEXTS["tabs-go"], TEXTS["tabs-make"]}
    assert {source.name for source in why.sources} == {"tabs-go", "tabs-make"}
    assert known.fsck().ok
    data = json.loads(
        models.requests[0]["messages"][1]["content"].partition("\n")[2].rpartition("\n")[0]
    )
    assert [r["name"] for r in data["records"]] == sorted(TEXTS) and data["today"] == "2026-09-21"
    assert data["records"][0]["body"].strip() == TEXTS["cloud"]


NOTHING = json.dumps({"source_names": [], "records": [], "retired": [], "coverage": []})


def test_nothing_to_tidy_changes_nothing(known: MemoryStore, models: ScriptedModels) -> None:
    models.say("tidy-5", NOTHING)
    assert known.consolidate(now=True).proposal is None and known.proposals() == []


def cover(**kept: Any) -> list[dict[str, Any]]:
    return [{"source": n.replace("_", "-"), "kept_in": k, "reason": None} for n, k in kept.items()]


BAD = {
    "an empty array": "[]",
    "cut off": merged()[:-20],
    "an unknown source": merged(source_names=["tabs-go", "zzz"]),
    "a source twice": merged(source_names=["tabs-go", "tabs-go"]),
    "no source": merged(source_names=[]),
    "no record": merged(records=[]),
    "a record twice": merged(records=[record(), record()]),
    "a number as a name": merged(source_names=["tabs-go", 7]),
    "retired and kept": merged(records=[record("tabs-go")]),
    "one source forgotten": merged(coverage=cover(tabs_go="use-tabs")),
    "kept nowhere": merged(coverage=cover(tabs_go="use-tabs", tabs_make="gone")),
    "neither kept nor given up": merged(coverage=cover(tabs_go="use-tabs", tabs_make=None)),
    "a record that is no source": merged(records=[record(), record("cloud")]),
    "retired beside the sources": merged(
        retired=[{"name": n, "reason": "x"} for n in ("tabs-go", "tabs-make", "cloud")]
    ),
    "a source that is neither": merged(retired=[{"name": "tabs-go", "reason": "x"}]),
    "a record out of nothing": merged(records=[record(), record("invented")]),
    "an unknown key": merged(delete_all=True),
    "too long": merged(finish=None).replace(', "finish": null', ""),
}


def test_an_answer_with_a_fault_changes_nothing(known: MemoryStore, models: ScriptedModels) -> None:
    before = known._opened().repo.refs("refs/heads/")
    for what, answer in BAD.items():
        said = Answer(answer, finish_reason="length" if what == "too long" else "stop")
        models.always("tidy-5", said)
        with pytest.raises(ModelFailed):
            known.consolidate(now=True)
        assert known._opened().repo.refs("refs/heads/") == before, what
    assert sorted(line.name for line in known.list()) == sorted(TEXTS)


def test_a_source_that_changed_meanwhile_stops_it(
    known: MemoryStore, models: ScriptedModels
) -> None:
    def meanwhile(change: Callable[[MemoryStore], object]) -> Callable[[Any], str]:
        def answer(request: Any) -> str:
            with MemoryStore.open(known.path, clock=lambda: NOW) as other:
                change(other)
            return merged()

        return answer

    models.say("tidy-5", meanwhile(lambda m: m.edit("tabs-go", body="Tabs, width 8.", person=ADA)))
    with pytest.raises(InvalidInput, match="tabs-go"):
        known.consolidate(now=True)
    assert known.proposals() == [] and "width 8" in known.show("tabs-go").body
    models.say("tidy-5", meanwhile(lambda m: m.remember("New.", name="new-one", person=ADA)))
    result = known.consolidate(now=True)
    assert result.proposal
    known.approve(result.proposal, person=ADA)
    assert sorted(line.name for line in known.list()) == ["cloud", "new-one", "use-tabs"]


def test_a_contradiction_is_kept_unconfirmed(known: MemoryStore, models: ScriptedModels) -> None:
    models.say("tidy-5", merged(records=[record(status="unconfirmed")]))
    result = known.consolidate(now=True)
    assert result.proposal
    known.approve(result.proposal, person=ADA)
    assert known.show("use-tabs").summary.status == "unconfirmed"


def test_a_query_that_loses_its_answer_is_a_finding(
    known: MemoryStore, models: ScriptedModels
) -> None:
    known.select("腾讯云")
    known.select("Makefiles")
    answer = {
        "source_names": ["cloud"],
        "records": [record("hosting", description="Hosted somewhere", body="It is hosted abroad.")],
        "retired": [{"name": "cloud", "reason": "said shorter"}],
        "coverage": cover(cloud="hosting"),
    }
    models.say("tidy-5", json.dumps(answer))
    result = known.consolidate(now=True)
    lost = [finding for finding in result.findings if finding.code == "lost-answer"]
    assert [(f.record, "腾讯云" in f.text) for f in lost] == [("cloud", True)]
    models.say("tidy-5", merged())
    again = known.consolidate(now=True)
    assert not [finding for finding in again.findings if finding.code == "lost-answer"]


def test_it_is_done_when_it_is_due_and_says_which_gate_is_closed(
    known: MemoryStore, models: ScriptedModels
) -> None:
    assert len(known.closed_gates()) == 2
    with pytest.raises(Waiting, match="3 records changed"):
        known.consolidate()
    models.say("tidy-5", NOTHING)
    known.consolidate(now=True)
    with MemoryStore.open(known.path, clock=lambda: NOW + 2 * DAY) as later:
        assert [gate.split()[0] for gate in later.closed_gates()] == ["0", "0"]
    assert models.requests and len(models.requests) == 1


def test_without_its_state_it_begins_anew(known: MemoryStore, models: ScriptedModels) -> None:
    known.select("tabs")
    for damage in (b"", b"\xff", b"[1]", b'{"queries": 7}', b'{"locked_at": "soon"}'):
        (known.path / ".git/gitmem/state.json").write_bytes(damage)
        assert known.closed_gates()
        known.select("tabs 制表符")
    assert known.fsck().ok
