"""What a person's edits by hand mean as records.

Nothing is written here, and nothing guessed: what is no legal record is named with its reason,
and the rest goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitmem.domain.layout import (
    EVIDENCE,
    MANIFEST,
    POLICY,
    RECORDS,
    REVIEWERS,
    TOMBSTONES,
    VIEW,
    check_name,
    parse_evidence_path,
    parse_record_path,
    record_path,
)
from gitmem.domain.objects import blob_id
from gitmem.domain.proposal import RecordAt
from gitmem.domain.record import MAX_BYTES, Record
from gitmem.domain.shell import shell_word
from gitmem.domain.structure import check_type
from gitmem.domain.text import one_line
from gitmem.errors import InvalidInput
from gitmem.records import read_frontmatter, read_record
from gitmem.redaction import find_secrets
from gitmem.repo.edits import FileEdit
from gitmem.results import Dropped
from gitmem.store.begun import (
    BegunFiles,
    Joined,
    accepted_form,
    deleted_before,
    join_begun,
)
from gitmem.store.same_text import CONFLICT, has_comments, has_conflict, same_record
from gitmem.store.store import Store

_NO_QUOTES = ("0" * 40,)
_NAMED = 3  # files that are no records and are named one by one
_SAYS_NAME = re.compile(rb"^name:[ ]*[\"']?([a-z0-9-]+)[\"']?[ ]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """One path as a person has it: in the files of the work tree ``root``, or in a commit.

    ``tree`` is that work tree's key.
    """

    edit: FileEdit
    root: Path | None = None
    tree: str = ""


@dataclass(frozen=True, slots=True)
class RecordEdit:
    """A record as a person wants it.

    ``old`` is where it lies now and ``before`` what it says (None: there is none yet); ``after``
    is what it is to say (None: it is retired). ``cites`` are those of its old quotes that the
    person has left in. ``root`` is the work tree that has the file, None where a commit has it.
    """

    name: str
    path: str
    old: RecordAt | None
    before: Record | None
    after: Record | None
    cites: tuple[str, ...] = ()
    root: Path | None = None


@dataclass(slots=True)
class Edits:
    """Everything that a person changed, sorted out.

    ``policy`` is the new policy file and ``policy_now`` the blob of the one in force, which it
    is to replace; ``merged`` are commits that may be the tips of proposals
    which were merged by hand; ``dropped`` says what cannot be proposed and why, ``notes`` what
    a person should know besides.
    """

    base: str
    records: list[RecordEdit] = field(default_factory=list)
    policy: bytes | None = None
    policy_now: str | None = None
    merged: list[str] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    begun: BegunFiles = field(default_factory=BegunFiles)

    def drop(self, name: str, reason: str) -> None:
        """Name what is not proposed, on one printable line."""
        self.dropped.append(Dropped(one_line(name), one_line(reason)))


def sort_edits(store: Store, edits: Edits, changes: Mapping[str, Change]) -> None:
    """Sort changed paths into records, the policy, and what cannot be adopted."""
    tree = store.repo.reader.commit(edits.base).tree
    named: dict[str, list[Change]] = {}
    others: list[Change] = []
    for path, change in sorted(changes.items()):
        entry = store.facts.entry(tree, path)
        edit = replace(change.edit, old=entry.oid if entry and not entry.is_tree else None)
        if _is_as_remembered(edit):
            continue
        change = replace(change, edit=edit)
        place = parse_record_path(path)
        if place is not None:
            named.setdefault(place.name, []).append(change)
        else:
            others.append(change)
    elsewhere = _elsewhere(changes.values())
    for name, found in named.items():
        if name in elsewhere and all(change.edit.is_gone for change in found):
            edits.drop(name, _moved_away(name, elsewhere[name], found[0].edit.path))
        else:
            _sort_record(store, edits, name, found, tree)
    _sort_others(edits, others, named.keys())


def move_command(root: Path, old: str, new: str) -> str:
    """The command that moves a file of a work tree; it works wherever it is pasted."""
    source, target = root / old, root / new
    folder = "" if target.parent.is_dir() else f"mkdir -p {shell_word(str(target.parent))} && "
    return f"{folder}mv {shell_word(str(source))} {shell_word(str(target))}"


def _moved_away(name: str, there: Change, path: str) -> str:
    found = f"its file is gone, but {there.edit.path} says it is {name}"
    if there.root is None:  # in a commit that may be checked out nowhere
        return f"{found}: give that the name of its file, or put it back at {path}"
    back = move_command(there.root, there.edit.path, path)
    return f"{found}: give that the name of its file, or put it back: {back}"


def _elsewhere(changes: Iterable[Change]) -> dict[str, Change]:
    """Which names files say or bear that are in no place for them: a move is no deletion."""
    found: dict[str, Change] = {}
    for change in changes:
        path = change.edit.path
        if change.edit.is_gone or not path.startswith(f"{RECORDS}/"):
            continue
        place = parse_record_path(path)
        if place is None:
            found[path.rpartition("/")[2].removesuffix(".md")] = change
        said = _SAYS_NAME.search(change.edit.data or b"")
        name = said[1].decode("ascii") if said else ""
        if name and (place is None or place.name != name):
            found[name] = change
    return found


def _is_as_remembered(edit: FileEdit) -> bool:
    if edit.problem:
        return False
    unixed = blob_id(edit.data.replace(b"\r\n", b"\n")) if edit.data is not None else None
    return edit.old == edit.new or (edit.old is not None and edit.old == unixed)


def _sort_record(store: Store, edits: Edits, name: str, changes: list[Change], tree: str) -> None:
    """Make one record of what a person did to the files of ``name``."""
    bad = [change.edit for change in changes if change.edit.problem]
    if bad:
        edits.drop(name, f"{bad[0].path}: {bad[0].problem}")
        return
    old = store.facts.record_at(tree, name)
    before = store.facts.record(old.blob, old.path) if old else None
    there = [change for change in changes if not change.edit.is_gone]
    if not there:
        _sort_deleted(store, edits, name, changes[0], old, before)
        return
    reason = _misplaced(name, there, old, is_gone=len(changes) > len(there))
    if reason:
        edits.drop(name, reason)
        return
    path, data = there[0].edit.path, there[0].edit.data or b""
    try:
        after = read_record(data, path, evidence=before.evidence if before else _NO_QUOTES)
    except InvalidInput as error:
        edits.drop(name, f"{error.message}. {error.hint}".rstrip(" .") + ".")
        return
    reason = _misnamed(name, path, after, there[0].root if old is None else None)
    if has_conflict(data):
        reason = f"{path}: {CONFLICT}"
    for secret in find_secrets(data.decode("utf-8")):
        what = f"holds what looks like a secret ({secret.kind})"
        reason = f"{path}:{secret.line}: {what}; leave it out, and change it if it is real"
    if reason:
        edits.drop(name, reason)
        return
    cites = _cites(data, path, before)
    joined = _joined(store, edits, there[0], after, _named(data, path), before, old)
    if joined is not None and joined.record is None:
        return
    if joined is not None and joined.record is not None:
        after, cites = joined.record, joined.cites
    if before is not None and same_record(before, after) and cites == before.evidence:
        edits.notes.append(
            f"{path}: only its white space or its quotation marks differ; nothing to adopt"
        )
        return
    if has_comments(data):
        edits.notes.append(f"{path}: the comments in its fields stand in no record")
    path = old.path if old else path
    edits.records.append(RecordEdit(name, path, old, before, after, cites, there[0].root))


def _joined(
    store: Store,
    edits: Edits,
    change: Change,
    mine: Record,
    named: tuple[str, ...],
    before: Record | None,
    old: RecordAt | None,
) -> Joined | None:
    """Put a file together with what main did since it was begun; what is left is named."""
    path = change.edit.path
    begun = edits.begun.find(change.tree, path)
    joined = join_begun(store, begun, path, mine, named, before, edits.begun.who) if begun else None
    if joined is not None and joined.reason:
        edits.drop(mine.name, joined.reason)
        seen = old.blob if old else ""
        edits.begun.tell(change.tree, path, change.edit.new or "", seen, joined.about)
    elif joined is not None and joined.has_all:
        edits.notes.append(f"{path}: main has all that you changed; {_put_back(change)}")
        return replace(joined, record=None)
    return joined


def _sort_deleted(
    store: Store,
    edits: Edits,
    name: str,
    change: Change,
    old: RecordAt | None,
    before: Record | None,
) -> None:
    if old is None:
        return
    begun = edits.begun.find(change.tree, old.path)
    if begun is not None and accepted_form(store, old.path, begun.base) != old.blob:
        edits.drop(name, deleted_before(store, name, old.path, str(change.root or store.repo.root)))
    else:
        edits.records.append(RecordEdit(name, old.path, old, before, None))


def _misplaced(name: str, there: list[Change], old: RecordAt | None, *, is_gone: bool) -> str:
    """Say why a record cannot lie where a person put it, or nothing."""
    paths = [change.edit.path for change in there]
    if len(paths) > 1:
        return f"stands in two files, {paths[0]} and {paths[1]}; keep one of them"
    if old is None or paths[0] == old.path:
        return ""
    if not is_gone:
        return f"{paths[0]}: the name is taken, by {old.path}; give the file another name"
    root = there[0].root
    if root is None:
        return ""
    return (
        f"{paths[0]}: a record keeps its path, whatever its type; "
        f"put it back, and write the type in it: {move_command(root, paths[0], old.path)}"
    )


def _misnamed(name: str, path: str, record: Record, new_in: Path | None) -> str:
    """Say why a file is not the record that its place says, or nothing.

    ``new_in`` is the work tree in which it is new, None where it is not.
    """
    if record.name != name:
        return f"{path}: says it is {record.name}, but its file is {name}.md; make them the same"
    flat = record_path(record.type, name, sharded=False)
    if new_in and path not in (flat, record_path(record.type, name, sharded=True)):
        move = move_command(new_in, path, flat)
        return f"{path}: is no place for a {record.type} record: {move}"
    return ""


def _cites(data: bytes, path: str, before: Record | None) -> tuple[str, ...]:
    """The old quotes that the file still names; all of them where it names none."""
    if before is None:
        return ()
    named = _named(data, path)
    kept = tuple(oid for oid in before.evidence if oid in named)
    return kept or before.evidence  # a record without any is none


def _named(data: bytes, path: str) -> tuple[str, ...]:
    """The quotes that the file names."""
    fields = read_frontmatter(data, where=path, max_bytes=MAX_BYTES).fields
    named = fields.get("evidence")
    return tuple(map(str, named)) if isinstance(named, list) else ()


def _sort_others(edits: Edits, changes: Iterable[Change], touched: Iterable[str]) -> None:
    """Name every other change with what to do."""
    left: list[str] = []
    names = set(touched)
    for change in changes:
        edit, path = change.edit, change.edit.path
        top = path.partition("/")[0]
        if path == POLICY:
            _sort_policy(edits, edit)
        elif path.startswith(f"{RECORDS}/"):
            edits.drop(path, edit.problem or _no_record(path))
        elif top == EVIDENCE:
            _sort_quote(edits, change, names)
        elif top == REVIEWERS:
            edits.drop(path, "reviewers cannot be changed yet: neither adopted nor decided about")
        elif top == TOMBSTONES:
            edits.drop(path, "a tombstone comes and goes by `gitmem reject` and `gitmem forget`")
        elif path in (MANIFEST, VIEW):
            _sort_derived(edits, change)
        else:
            left.append(path)
    if left:
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        shown = ", ".join(one_line(path) for path in left[:_NAMED])
        edits.notes.append(f"no part of memory, and left as they are: {shown}{more}")


def _sort_policy(edits: Edits, edit: FileEdit) -> None:
    if edit.problem:
        edits.drop(POLICY, edit.problem)
    elif edit.data is not None and has_conflict(edit.data):
        edits.drop(POLICY, CONFLICT)
    elif edit.data is None:  # gone
        edits.drop(POLICY, "the policy cannot be removed; change it with `gitmem policy edit`")
    else:
        edits.policy_now = edit.old
        edits.policy = edit.data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def _no_record(path: str) -> str:
    stem, dot, ending = path.rpartition("/")[2].rpartition(".")
    kind = path.split("/")[1]
    try:
        check_type(kind)
        if dot and ending == "md":
            check_name(stem)
    except InvalidInput as error:
        return f"{error.message}. {error.hint}".rstrip(" .") + "."
    return "is no place for a record: records lie at records/TYPE/NAME.md"


def _sort_quote(edits: Edits, change: Change, touched: set[str]) -> None:
    """A quote is what was said; its files come and go with what their record cites."""
    path = change.edit.path
    place = parse_evidence_path(path)
    is_changed = change.edit.old is not None and not change.edit.is_gone
    if place is not None and place[0] in touched and not is_changed:
        return
    edits.drop(path, f"a quote is never edited by hand; {_put_back(change)}")


def _sort_derived(edits: Edits, change: Change) -> None:
    path = change.edit.path
    if change.root is None:
        edits.notes.append(f"{path} of the strays is not taken: every merge makes it anew")
    elif path == MANIFEST:
        edits.drop(path, f"is computed by every merge; {_put_back(change)}")
    elif not change.edit.is_gone:
        edits.drop(
            path,
            "is made from the records: edit those, or run `gitmem remember TEXT`; "
            "`gitmem status` rebuilds it and keeps your text",
        )


def _put_back(change: Change) -> str:
    if change.root is None:
        return "the next merge passes over it"
    path, root = shell_word(change.edit.path), shell_word(str(change.root))
    literal = "--literal-pathspecs " if path != change.edit.path else ""
    return f"to put it back: git {literal}-C {root} checkout HEAD -- {path}"
