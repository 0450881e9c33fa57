"""A record's file that a person began before main changed it: what in it is theirs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gitmem.cache import CommitRow
from gitmem.domain.proposal import subject_names
from gitmem.domain.record import Record
from gitmem.domain.shell import shell_word
from gitmem.errors import InvalidInput, NotFound
from gitmem.repo.begun import Begun, Notes, read_begun, write_begun
from gitmem.repo.edits import FileEdit
from gitmem.store.joining import composed, join
from gitmem.store.same_text import same_record
from gitmem.store.store import Store

_LOOKED_BACK = 1000
"""Commits of main, the newest first, among which the form is looked for."""

Place = tuple[str, str]
"""A work tree's key, and a path in it."""


@dataclass(frozen=True, slots=True)
class Joined:
    """What a person's file comes to: a record with the quotes that it is to keep, or a reason why
    it is left.

    ``has_all`` says that main has everything which the person changed; ``about`` names the fields
    that the reason is about, None where it is about the record.
    """

    record: Record | None
    cites: tuple[str, ...] = ()
    reason: str = ""
    has_all: bool = False
    about: tuple[str, ...] | None = None


def join_begun(
    store: Store,
    begun: Begun,
    where: str,
    mine: Record,
    named: tuple[str, ...],
    theirs: Record | None,
    who: str = "",
) -> Joined | None:
    """Put a person's record together with what main did since they began it.

    ``where`` is the file's path, ``named`` the quotes that it names. None where what it was begun
    on cannot be told: then it counts as it stands. ``who`` is the person: what they adopted from
    the file before was in it.
    """
    try:
        on = _record(store, where, accepted_form(store, where, begun.on))
        blob = accepted_form(store, where, begun.base)
        base = _record(store, where, _past_own(store, mine.name, where, blob, who))
        if begun.past is not None:
            past = _record(store, where, accepted_form(store, where, begun.past))
            base = composed(base, past, begun.told.split("\n"))
    except (InvalidInput, NotFound):
        return None
    if theirs is None:
        return None if base is None else Joined(None, reason=_retired(mine.name, where))
    if _is_proposed(store, mine):
        return None
    taken = {oid for oid in on.evidence if oid not in named} if on and named else set()
    cites = tuple(oid for oid in theirs.evidence if oid not in taken) or theirs.evidence
    try:
        record, clashing = join(base, mine, theirs)
    except InvalidInput as error:
        return Joined(None, reason=_changed(store, mine.name, where, error.message))
    if record is None:
        what = f"both you and main changed {subject_names(clashing)}"
        reason = _changed(store, mine.name, where, what)
        return Joined(None, reason=reason, about=tuple(clashing))
    has_all = same_record(record, theirs) and cites == theirs.evidence
    return Joined(record, cites, has_all=has_all)


def _record(store: Store, path: str, blob: str) -> Record | None:
    return store.facts.record(blob, path) if blob else None


def _past_own(store: Store, name: str, path: str, blob: str, who: str) -> str:
    """Return the form of a record after ``blob`` that came last of ``who``'s own adoptions, as
    long as nothing of others came between."""
    later: list[tuple[CommitRow, str]] = []
    for row in store.projection.commits(name, _LOOKED_BACK):
        entry = store.facts.entry(store.repo.reader.commit(row.oid).tree, path)
        form = entry.oid if entry else ""
        if form == blob:
            break
        later.append((row, form))
    for row, form in reversed(later):
        if not (row.kind == "merge" and _is_adoption_by(store, row, who)):
            break
        blob = form
    return blob


def _is_adoption_by(store: Store, row: CommitRow, who: str) -> bool:
    tip = store.repo.reader.commit(row.oid).parents[1]
    proposal = store.facts.branch(tip, any_base=True).proposal
    return proposal.kind == "adopt" and proposal.proposed_by == who


def accepted_form(store: Store, path: str, blob: str) -> str:
    """Return what memory had at or before the newest commit of main that has ``blob``.

    What a stray had said was never memory: a person's words in it are still theirs.
    """
    is_found = False
    for row in store.projection.commits(limit=_LOOKED_BACK) if blob else ():
        entry = store.facts.entry(store.repo.reader.commit(row.oid).tree, path)
        is_found = is_found or (entry is not None and entry.oid == blob)
        if is_found and row.kind != "stray":
            return entry.oid if entry else ""
    return blob


def _is_proposed(store: Store, mine: Record) -> bool:
    """Whether the file as it stands is in an open proposal, which is pointed to then."""
    for tip in store.open_proposals().values():
        try:
            record = store.facts.branch(tip).records.get(mine.name)
        except (InvalidInput, NotFound):
            continue
        if record is not None and same_record(record, mine):
            return True
    return False


def _changed(store: Store, name: str, path: str, what: str) -> str:
    return (
        f"{path}: main changed it since you began ({_by(store, name)}), and {what}; to see what "
        f"it says now: gitmem show {name}. Put both together in the file and run `gitmem adopt` "
        "again"
    )


def _by(store: Store, name: str) -> str:
    row = store.projection.record(name)
    return row.change if row else "retired"


def _retired(name: str, path: str) -> str:
    return (
        f"{path}: main retired {name} since you began (see `gitmem log {name}`); remove the file, "
        "or change it once more and run `gitmem adopt` again to remember it anew"
    )


def deleted_before(store: Store, name: str, path: str, root: str) -> str:
    """Say why the record of a deleted file is not retired: main changed it meanwhile."""
    put_back = f"git -C {shell_word(root)} checkout HEAD -- {shell_word(path)}"
    return (
        f"{path}: is deleted, but main changed it meanwhile ({_by(store, name)}); to see it: "
        f"gitmem show {name}. To retire it all the same: "
        f'gitmem forget {name} --reason "no longer true"; to put it back: {put_back}'
    )


# --- the notes -------------------------------------------------------------------------------


@dataclass(slots=True)
class BegunFiles:
    """What the edited files of the work trees were begun on, while they are sorted out.

    ``notes`` are those that still say something; ``gone`` are the others. A note goes when its
    file holds what main has, or main has again what it names. ``who`` is the person who adopts.
    """

    notes: Notes = field(default_factory=dict)
    gone: list[Place] = field(default_factory=list)
    who: str = ""

    def read(self, store: Store, tree: str, edits: Iterable[FileEdit], commit: str) -> None:
        """Take in the notes of one work tree with its edits; ``commit`` is what memory is."""
        accepted = store.repo.reader.commit(commit).tree
        files = {edit.path: edit.new or "" for edit in edits}
        rows = self.notes.setdefault(tree, {})
        for path, begun in read_begun(store.repo).get(tree, {}).items():
            entry = store.facts.entry(accepted, path)
            if path in files and begun.on != (entry.oid if entry else ""):
                rows[path] = begun.at(files[path])
            else:
                self.gone.append((tree, path))

    def find(self, tree: str, path: str) -> Begun | None:
        """Return what a file was begun on, if that is noted."""
        return self.notes.get(tree, {}).get(path)

    def tell(
        self, tree: str, path: str, file: str, seen: str, about: tuple[str, ...] | None
    ) -> None:
        """Note that a person is told of what main has now, the blob ``seen``, and of which fields
        (None: of the record)."""
        fields = None if about is None else "\n".join(about)
        begun = self.notes[tree][path]
        self.notes[tree][path] = replace(begun, said=file, seen=seen, about=fields)

    def keep(self, store: Store) -> None:
        """Write down what has changed."""
        before = read_begun(store.repo)
        if not self.gone and all(before.get(tree, {}) == rows for tree, rows in self.notes.items()):
            return
        with store.repo.lock():
            notes = read_begun(store.repo)
            for tree, rows in self.notes.items():
                notes.setdefault(tree, {}).update(rows)
            for tree, path in self.gone:
                notes.get(tree, {}).pop(path, None)
            write_begun(store.repo, notes)
