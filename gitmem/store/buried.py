"""What people rejected or forgot, in its own words, as far as these are still on this machine.

A tombstone holds only a hash. The text behind it often is still there: that of a forgotten record
before the merge that retired it, that of a rejected proposal in the branch that is kept aside.
Wherever a text is found, the hash says whether it is the one, so nothing else is believed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from gitmem.domain.layout import KEPT, TOMBSTONES, candidate_paths, is_name
from gitmem.domain.objects import EMPTY_TREE
from gitmem.domain.record import MAX_BYTES, statement
from gitmem.domain.tombstone import (
    MAX_TOMBSTONE_BYTES,
    Buried,
    Tombstone,
    parse_tombstone,
    statement_hash,
)
from gitmem.errors import InvalidInput, NotFound
from gitmem.records import read_record
from gitmem.repo import Found, diff_trees
from gitmem.store.store import Store

#: Commits along first parents that are looked at from where a text should be: it is in the first
#: of them, unless what somebody made by hand lies between.
_LOOKED_AT = 4

#: What was found, by the blob of the tombstone: a store that stays open searches each text once.
_FOUND: WeakKeyDictionary[Store, dict[str, Buried]] = WeakKeyDictionary()


def buried_statements(store: Store, commit: str) -> tuple[Buried, ...]:
    """Return the statements behind the tombstones of ``commit`` whose text is still here.

    Where nothing was ever rejected or forgotten this costs nothing. Otherwise it is one walk of
    a tree, one batch of tombstones, and for those not met before one or two batches of records.

    Raises:
        NotFound: the object of a tombstone is missing.
    """
    folder = store.facts.entry(store.repo.reader.commit(commit).tree, TOMBSTONES)
    if folder is None or not folder.is_tree:
        return ()
    files = diff_trees(store.repo.reader, EMPTY_TREE, folder.oid, TOMBSTONES)
    paths = {file.new_oid: file.path for file in files if file.new_oid}
    before = _FOUND.get(store, {})
    unknown = _read_tombstones(store, {o: path for o, path in paths.items() if o not in before})
    known = {oid: before[oid] for oid in paths if oid in before}
    known.update(_with_texts(store, unknown))
    _FOUND[store] = known
    return tuple(known.values())


def _read_tombstones(store: Store, paths: Mapping[str, str]) -> dict[str, Tombstone]:
    """Return tombstones by the ids of their blobs."""
    tombstones = {}
    answers = store.repo.reader.read_many(paths, max_bytes=MAX_TOMBSTONE_BYTES)
    for (oid, path), answer in zip(paths.items(), answers, strict=True):
        if not isinstance(answer, Found):
            raise NotFound(f"{path} ({oid}) is not in this repository")
        tombstones[oid] = parse_tombstone(answer.data, path)
    return tombstones


def _with_texts(store: Store, tombstones: Mapping[str, Tombstone]) -> dict[str, Buried]:
    """Return those whose text is found, looked for nearest first and all together."""
    if not tombstones:
        return {}
    kept = _kept_tips(store)
    starts = {oid: _starts(store, tombstone, kept) for oid, tombstone in tombstones.items()}
    found: dict[str, Buried] = {}
    for back in range(_LOOKED_AT):
        asked = [
            (oid, f"{start}~{back}:{path}")
            for oid, tombstone in tombstones.items()
            if oid not in found
            for start in starts[oid]
            for path in _paths(tombstone)
        ]
        answers = store.repo.reader.read_many((place for _, place in asked), max_bytes=MAX_BYTES)
        for (oid, place), answer in zip(asked, answers, strict=True):
            if oid not in found and isinstance(answer, Found) and answer.kind == "blob":
                text = _statement(answer.data, place)
                if text is not None and statement_hash(text) == tombstones[oid].hash:
                    found[oid] = Buried(tombstones[oid], text)
    return found


def _kept_tips(store: Store) -> dict[str, list[str]]:
    """Return the tips of the branches kept aside, by the ids of their proposals."""
    tips: dict[str, list[str]] = {}
    for ref, tip in store.repo.refs(KEPT).items():
        name = ref.removeprefix(KEPT)
        # A second branch of the same id is kept as ID-2.
        for known in (name, name.rpartition("-")[0]):
            tips.setdefault(known, []).append(tip)
    return tips


def _starts(store: Store, tombstone: Tombstone, kept: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the commits from which on the text is to be looked for."""
    decision = store.projection.decision(tombstone.id)
    if decision is not None and decision.kind == "merge":
        return [f"{decision.oid}~1"]
    return kept.get(tombstone.id, ())


def _paths(tombstone: Tombstone) -> Iterator[str]:
    for name in tombstone.names:
        if is_name(name):
            yield from candidate_paths(name)


def _statement(data: bytes, where: str) -> str | None:
    """Return what a record states; None where somebody put something else in its place."""
    try:
        return statement(read_record(data, where))
    except InvalidInput:
        return None
