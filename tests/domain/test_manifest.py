"""The manifest: one form, read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.canonical import canonical_file
from gitmem.domain.manifest import MAX_MANIFEST_BYTES, Manifest, parse_manifest
from gitmem.errors import InvalidInput

OID = "a" * 40
FIELDS: dict[str, Any] = {
    "version": 1,
    "records": {
        "tree": OID,
        "count": 3,
        "by_type": {"feedback": 1, "project": 0, "reference": 0, "user": 2},
    },
    "evidence": {"tree": "b" * 40, "count": 4},
    "tombstones": {"tree": "c" * 40, "count": 0},
    "policy": "d" * 40,
    "reviewers": "e" * 40,
    "change": "extract-20261130-7f3a2c",
    "approved_by": ["human:李雷 <li@example.org>", "model:qwen-max@dashscope"],
    "approved_at": "2026-11-30T16:20:11Z",
}


def changed(path: str, value: object) -> dict[str, Any]:
    fields = json.loads(json.dumps(FIELDS))
    *parents, last = path.split(".")
    at = fields
    for parent in parents:
        at = at[parent]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return dict(fields)


def test_a_manifest_has_one_form() -> None:
    data = canonical_file(FIELDS)
    manifest = parse_manifest(data)
    assert manifest.to_bytes() == data
    assert manifest.records.by_type.user == 2
    assert data.endswith(b"}\n") and data.count(b"\n") == 1


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(FIELDS, sort_keys=True, ensure_ascii=False).encode() + b"\n",
        canonical_file(FIELDS)[:-1],
        canonical_file(FIELDS) + b"\n",
        b"\xef\xbb\xbf" + canonical_file(FIELDS),
        canonical_file(FIELDS).replace(b"\n", b"\r\n"),
        canonical_file(FIELDS).replace(b'"version":1', b'"version":1,"version":1'),
        canonical_file(FIELDS).replace("李".encode(), b"\\u674e"),
    ],
)
def test_the_same_content_in_other_bytes_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_manifest(data)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("version", 0),
        ("version", True),
        ("version", "1"),
        ("version", 1.0),
        ("version", ...),
        ("records.tree", "A" * 40),
        ("records.tree", "a" * 39),
        ("records.tree", "a" * 40 + "\n"),
        ("records.count", -1),
        ("records.count", "3"),
        ("records.count", True),
        ("records.by_type.user", -1),
        ("records.by_type.secret", 1),
        ("records.by_type", ...),
        ("evidence.count", 1.5),
        ("tombstones", None),
        ("policy", "x"),
        ("reviewers", ...),
        ("approved_by", "human:Ada"),
        ("approved_by", [1]),
        ("approved_at", 5),
        ("nonce", "x"),
    ],
)
def test_a_field_that_is_wrong_missing_or_unknown_is_refused(path: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^manifest\.json: "):
        parse_manifest(canonical_file(changed(path, value)))


@pytest.mark.parametrize("version", [2, 99])
def test_a_newer_version_is_refused_plainly_whatever_else_it_holds(version: int) -> None:
    with pytest.raises(InvalidInput, match=f"version {version}") as caught:
        parse_manifest(canonical_file({"version": version, "shape": "unheard of"}))
    assert "newer gitmem" in caught.value.hint


@pytest.mark.parametrize(
    "data",
    [b"", b"null\n", b"[]\n", b"{", b"\xff\xfe", b"[" * 10_000, b'"x"\n', b"{}\n", b"NaN"],
)
def test_what_is_no_manifest_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInput):
        parse_manifest(data)


def test_an_oversize_manifest_is_refused_with_limit_and_size() -> None:
    with pytest.raises(InvalidInput, match=rf"16385 bytes.*{MAX_MANIFEST_BYTES}"):
        parse_manifest(b" " * (MAX_MANIFEST_BYTES + 1))


@given(st.binary(max_size=300) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_parsed_or_refused(data: bytes) -> None:
    try:
        manifest = parse_manifest(data)
    except InvalidInput:
        return
    assert manifest.to_bytes() == data


def test_the_size_does_not_grow_with_the_memory() -> None:
    large = changed("records.count", 10**9)
    assert len(canonical_file(large)) - len(canonical_file(FIELDS)) < 16
    assert isinstance(parse_manifest(canonical_file(large)), Manifest)
