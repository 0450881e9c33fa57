from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain import layout
from gitmem.errors import InvalidInput

OID = "3fa9c1d4e5f60718293a4b5c6d7e8f9012345678"
NAMES = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)*", fullmatch=True).filter(layout.is_name)


@pytest.mark.parametrize(
    "name", ["a", "7", "user-prefers-tabs", "con-fig", "x" * 80, "null", "com10", "0123"]
)
def test_a_legal_name_is_taken(name: str) -> None:
    layout.check_name(name)
    assert layout.is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "A B",
        "a b",
        "a/b",
        "a\\b",
        "../x",
        "..",
        ".",
        ".git",
        "CON",
        "con",
        "nul",
        "aux",
        "prn",
        "com1",
        "lpt9",
        "conin$",
        "nul.md",
        "COM1.txt",
        "a:b",
        "trail. ",
        "-rf",
        "a-",
        "a--b",
        "a_b",
        "Foo",
        "x" * 81,
        "x" * 300,
        "\uac00" * 90,
        "caf\u00e9",
        "cafe\u0301",
        "\uff41",
        "\u0430",
        "\uff0e\uff0e\uff0fx",
        "\u0661",
        "a\n",
        "a\x00",
    ],
)
def test_an_illegal_name_is_refused(name: str) -> None:
    assert not layout.is_name(name)
    with pytest.raises(InvalidInput) as error:
        layout.check_name(name)
    assert error.value.where == "name"
    assert str(error.value).isascii()


def test_a_name_that_is_too_long_is_told_its_size_and_the_limit() -> None:
    with pytest.raises(InvalidInput, match="has 81 characters; the limit is 80"):
        layout.check_name("x" * 81)


def test_a_look_alike_is_shown_by_its_code_points() -> None:
    with pytest.raises(InvalidInput, match=r"'\\u0430dmin' is not a legal name"):
        layout.check_name("\u0430dmin")


def test_paths_are_those_of_the_format() -> None:
    shard = sha256(b"tabs").hexdigest()[:2]
    assert layout.record_path("user", "tabs", sharded=False) == "records/user/tabs.md"
    assert layout.record_path("user", "tabs", sharded=True) == f"records/user/{shard}/tabs.md"
    assert layout.evidence_folder("tabs") == f"evidence/{shard}/tabs"
    assert layout.evidence_path("tabs", OID) == f"evidence/{shard}/tabs/{OID}.md"
    assert layout.tombstone_path(OID) == f"tombstones/3f/{OID[2:]}.json"


def test_a_record_may_lie_at_eight_paths_in_the_order_of_types() -> None:
    paths = layout.candidate_paths("tabs")
    parsed = [layout.parse_record_path(path) for path in paths]
    assert [(p.type, p.name, p.sharded) for p in parsed if p] == [
        (type, "tabs", sharded)
        for type in ("user", "feedback", "project", "reference")
        for sharded in (False, True)
    ]


@given(NAMES, st.sampled_from(layout.RECORD_TYPES), st.booleans())
def test_a_path_is_parsed_into_what_it_was_made_of(name: str, type: str, sharded: bool) -> None:
    path = layout.record_path(type, name, sharded=sharded)
    assert layout.parse_record_path(path) == layout.RecordPath(type, name, sharded)
    assert layout.parse_evidence_path(layout.evidence_path(name, OID)) == (name, OID)
    assert max(len(part) for part in path.split("/")) < 200


@given(NAMES, NAMES)
def test_two_names_never_share_a_file_even_where_case_does_not_count(one: str, two: str) -> None:
    paths = [{path.casefold() for path in layout.candidate_paths(name)} for name in (one, two)]
    assert (one == two) == bool(paths[0] & paths[1])


@pytest.mark.parametrize(
    "path",
    [
        "records/user/tabs",
        "records/user/tabs.MD",
        "records/user/Tabs.md",
        "records/user/con.md",
        "records/user/a--b.md",
        "records/user/00/tabs.md",
        "records/User/tabs.md",
        "records/other/tabs.md",
        "records/tabs.md",
        "records/user//tabs.md",
        "records/user/../user/tabs.md",
        "records/./user/tabs.md",
        "/records/user/tabs.md",
        "records/user/tabs.md/",
        "records/user/tabs.md\n",
        "records\\user\\tabs.md",
        "Records/user/tabs.md",
        f"records/user/{'x' * 81}.md",
        "",
    ],
)
def test_a_path_spelled_otherwise_is_no_record(path: str) -> None:
    assert layout.parse_record_path(path) is None


@pytest.mark.parametrize(
    "path",
    [
        f"evidence/00/tabs/{OID}.md",
        layout.evidence_path("tabs", OID).upper(),
        layout.evidence_path("tabs", OID) + "\n",
        layout.evidence_folder("tabs") + "/x.md",
        f"{layout.evidence_folder('tabs')}/{OID[:-1]}.md",
        "",
    ],
)
def test_a_path_spelled_otherwise_is_no_evidence(path: str) -> None:
    assert layout.parse_evidence_path(path) is None


def test_a_tombstone_path_is_parsed_strictly() -> None:
    assert layout.parse_tombstone_path(layout.tombstone_path(OID)) == OID
    for path in ("tombstones/3f/a9.json", layout.tombstone_path(OID) + "x", f"tombstones/{OID}"):
        assert layout.parse_tombstone_path(path) is None


def test_nothing_illegal_becomes_a_path() -> None:
    for make in (
        lambda: layout.record_path("user", "../x", sharded=False),
        lambda: layout.record_path("../user", "x", sharded=False),
        lambda: layout.candidate_paths("A"),
        lambda: layout.evidence_folder("a/b"),
        lambda: layout.evidence_path("tabs", OID.upper()),
        lambda: layout.evidence_path("tabs", "../" * 10),
        lambda: layout.tombstone_path(OID[:-1]),
    ):
        with pytest.raises(InvalidInput):
            make()


def test_parsed_paths_are_values() -> None:
    one, two = (layout.RecordPath("user", "tabs", sharded=False) for _ in range(2))
    assert one == two and len({one, two}) == 1
    assert one != layout.RecordPath("user", "tabs", sharded=True)
    assert repr(one) == "RecordPath(type='user', name='tabs', sharded=False)"


def test_a_chinese_name_is_refused_readably() -> None:
    with pytest.raises(InvalidInput, match="'制表符' is not a legal name"):
        layout.check_name("制表符")
