"""What a proposal's branch may touch."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gitmem.domain.evidence import Evidence
from gitmem.domain.layout import RECORD_TYPES, evidence_path, record_path
from gitmem.domain.proposal import RecordAt, RecordChange
from gitmem.domain.record import Record, make_record
from gitmem.domain.structure import MAX_CHANGES, check_record, check_type, sort_paths
from gitmem.errors import InvalidInput

A, B, C = "a" * 40, "b" * 40, "c" * 40
TABS = record_path("user", "tabs", sharded=False)


@dataclass(frozen=True)
class Path:
    path: str
    old_oid: str | None
    new_oid: str | None
    new_mode: str = "100644"


def added(path: str, oid: str = A, mode: str = "100644") -> Path:
    return Path(path, None, oid, mode)


def quote(name: str = "tabs", oid: str = C) -> Path:
    return added(evidence_path(name, oid), oid)


def test_records_and_their_quotes_are_sorted_out_by_name() -> None:
    db = record_path("project", "db", sharded=False)
    old = record_path("user", "old", sharded=True)
    touched = sort_paths(
        [
            added(TABS),
            Path(db, A, B),
            Path(old, B, None, "000000"),
            quote(),
            Path(evidence_path("old", C), C, None, "000000"),
        ]
    )
    assert touched.changes == (
        RecordChange("db", RecordAt(db, A), RecordAt(db, B)),
        RecordChange("old", RecordAt(old, B), None),
        RecordChange("tabs", None, RecordAt(TABS, A)),
    )
    assert touched.evidence == {"tabs", "old"}


@pytest.mark.parametrize(
    "path",
    [
        "MEMORY.md",
        "manifest.json",
        "policy.yaml",
        "reviewers/evidence.md",
        "README.md",
        "tombstones/aa/" + "b" * 38 + ".json",
        ".gitattributes",
        ".gitmodules",
        "records/tabs.md",
        "records/secret/tabs.md",
        "records/user/Tabs.md",
        "records/user/tabs.MD",
        "records/user/tabs.md/x",
        "records/user/con.md",
        "records/user/00/tabs.md",
        "records/user/../user/tabs.md",
        "records//user/tabs.md",
        "/records/user/tabs.md",
        "records/user/tabs.md\n",
        "records\\user\\tabs.md",
        "records/user/ｔａｂｓ.md",
        "evidence/tabs/" + C + ".md",
        "evidence/00/tabs/" + C + ".md",
        evidence_path("tabs", C) + ".md",
        evidence_path("tabs", C).upper(),
        "x",
        "",
    ],
)
def test_any_other_path_is_refused_and_named(path: str) -> None:
    with pytest.raises(InvalidInput, match="nothing else") as caught:
        sort_paths([added(TABS), added(path)])
    assert caught.value.where == path


@pytest.mark.parametrize("mode", ["100755", "120000", "160000", "40000", "100664", ""])
@pytest.mark.parametrize("path", [TABS, evidence_path("tabs", A)])
def test_links_programs_submodules_and_folders_are_refused(path: str, mode: str) -> None:
    with pytest.raises(InvalidInput, match="only 100644 is legal"):
        sort_paths([added(path, A, mode)])


def test_a_quote_that_is_not_named_by_its_own_id_is_refused() -> None:
    with pytest.raises(InvalidInput, match="own blob id"):
        sort_paths([added(TABS), added(evidence_path("tabs", C), B)])


def test_evidence_of_a_record_that_does_not_change_is_refused() -> None:
    with pytest.raises(InvalidInput, match="evidence of other changes"):
        sort_paths([added(TABS), quote("other")])


@pytest.mark.parametrize("paths", [[], [quote()]])
def test_a_change_without_a_record_is_refused(paths: list[Path]) -> None:
    with pytest.raises(InvalidInput):
        sort_paths(paths)


@pytest.mark.parametrize(
    ("type", "sharded"), [("project", False), ("project", True), ("user", True)]
)
def test_a_name_that_is_added_twice_is_refused(type: str, sharded: bool) -> None:
    with pytest.raises(InvalidInput, match="tabs stands twice"):
        sort_paths([added(TABS), added(record_path(type, "tabs", sharded=sharded))])


@pytest.mark.parametrize("turn", [False, True])
def test_a_record_that_moves_is_refused(turn: bool) -> None:
    paths = [added(record_path("project", "tabs", sharded=False)), Path(TABS, A, None, "000000")]
    with pytest.raises(InvalidInput, match="keeps its path"):
        sort_paths(reversed(paths) if turn else paths)


def test_a_batch_is_limited() -> None:
    paths = [added(record_path("user", f"r{n}", sharded=False)) for n in range(MAX_CHANGES)]
    assert len(sort_paths(paths).changes) == MAX_CHANGES
    with pytest.raises(InvalidInput, match=f"1001 records; at most {MAX_CHANGES}"):
        sort_paths([*paths, added(TABS)])


# --- one record --------------------------------------------------------------------------------


def evidence(cls: str) -> Evidence:
    return Evidence.model_validate(
        {
            "session": "s",
            "message": 0,
            "class": cls,
            "attested": "hook",
            "at": "2026-11-30T16:20:11Z",
            "digest": "sha256:" + "0" * 64,
            "quote": "use tabs, not spaces",
        }
    )


def record(type: str = "user", name: str = "tabs", cites: tuple[str, ...] = (C,)) -> Record:
    return make_record(name=name, description="d", type=type, evidence=cites, body="b\n")


def check(
    change: RecordChange, made: Record, cited: frozenset[str] = frozenset({C}), cls: str = "human"
) -> None:
    check_record(change, made, cited, {oid: evidence(cls) for oid in (B, C)})


ADDED = RecordChange("tabs", None, RecordAt(TABS, A))


@pytest.mark.parametrize("type", RECORD_TYPES)
@pytest.mark.parametrize("sharded", [False, True])
def test_a_new_record_lies_at_its_type(type: str, sharded: bool) -> None:
    place = RecordAt(record_path(type, "tabs", sharded=sharded), A)
    check(RecordChange("tabs", None, place), record(type))


def test_a_new_record_at_another_type_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no place for a project record") as caught:
        check(ADDED, record("project"))
    assert caught.value.where == TABS


def test_a_revised_record_keeps_its_path_when_its_type_changes() -> None:
    check(RecordChange("tabs", RecordAt(TABS, A), RecordAt(TABS, B)), record("project"))


def test_a_record_that_calls_itself_otherwise_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"says it is 'spaces', but its file is tabs\.md"):
        check(ADDED, record(name="spaces"))


@pytest.mark.parametrize(
    ("cites", "cited", "words"),
    [
        ((B, C), {C}, f"cites {B}, which is not in its evidence folder"),
        ((C,), {B, C}, f"does not cite {B}"),
        ((C,), set(), f"cites {C}"),
    ],
)
def test_a_record_cites_exactly_what_lies_in_its_folder(
    cites: tuple[str, ...], cited: set[str], words: str
) -> None:
    with pytest.raises(InvalidInput, match=words):
        check(ADDED, record(cites=cites), frozenset(cited))


@pytest.mark.parametrize("cls", ["assistant", "tool", "subagent", "injected", "unknown"])
@pytest.mark.parametrize("type", ["user", "feedback"])
def test_a_preference_needs_the_persons_own_words(type: str, cls: str) -> None:
    place = RecordAt(record_path(type, "tabs", sharded=False), A)
    with pytest.raises(InvalidInput, match=f"the class {cls} cannot support"):
        check(RecordChange("tabs", None, place), record(type), cls=cls)


@pytest.mark.parametrize("cls", ["assistant", "tool", "subagent"])
def test_a_fact_of_the_project_may_be_observed(cls: str) -> None:
    place = RecordAt(record_path("project", "tabs", sharded=False), A)
    check(RecordChange("tabs", None, place), record("project"), cls=cls)


def test_a_type_that_does_not_exist_is_refused() -> None:
    for record_type in RECORD_TYPES:
        check_type(record_type)
    with pytest.raises(InvalidInput, match="'User' is no type; it is one of user, feedback"):
        check_type("User")
