"""What a person changed by hand: in files checked out from main, and in commits that are strays."""

from __future__ import annotations

from dataclasses import replace

from gitmem.domain.layout import POLICY, RECORDS
from gitmem.domain.shell import shell_word
from gitmem.errors import NotFound, Refused
from gitmem.repo import Found
from gitmem.repo.edits import FileEdit, edits_between, edits_in_files, main_work_trees
from gitmem.repo.trees import is_beyond_measure
from gitmem.repo.worktree import finish_worktree
from gitmem.store.begun import BegunFiles
from gitmem.store.edited import Change, Edits, sort_edits
from gitmem.store.ledger import Head
from gitmem.store.same_text import same_record_file
from gitmem.store.store import Store

_MIN_PREFIX = 4  # characters of a commit's id, as for git


def find_edits(store: Store, who: str) -> Edits:
    """Return what main's strays and the files checked out from main have otherwise than memory.

    ``who`` is the person who adopts it.

    A file counts on top of the strays: what stands in it now is what the person wants.
    """
    store.notes += finish_worktree(store.repo)
    head = store.head()
    edits = Edits(head.accepted, begun=BegunFiles(who=who))
    changes: dict[str, Change] = {}
    for oid in reversed(head.strays):
        edits.merged += [oid, *store.repo.reader.commit(oid).parents[1:]]
    if head.strays:
        for edit in edits_between(store.repo, head.accepted, head.tip, _is_content):
            changes[edit.path] = Change(edit)
    committed = {path: change.edit for path, change in changes.items()}
    trees, notes = main_work_trees(store.repo)
    edits.notes += notes
    seen: dict[str, FileEdit] = {}
    for tree in trees:
        found = edits_in_files(store.repo, tree, checked_out(store, head))
        standing = committed | {edit.path: edit for edit in found}
        edits.begun.read(store, tree.key, standing.values(), head.accepted)
        for path in edits.begun.notes[tree.key].keys() & committed.keys():
            changes[path] = replace(changes[path], tree=tree.key)  # the file went into a stray
        for edit in found:
            other = seen.setdefault(edit.path, edit)
            if other != edit:
                edits.drop(edit.path, f"is edited in {tree.path} too, in another way; left there")
            changes[edit.path] = Change(other, tree.path, tree.key)
    sort_edits(store, edits, changes)
    edits.begun.keep(store)
    return edits


def checked_out(store: Store, head: Head) -> str:
    """Return the commit whose files the work trees of main have but for a person's edits.

    That is the tip, unless it is a stray that nobody could check out.
    """
    reader = store.repo.reader
    trees = [reader.commit(oid).tree for oid in (head.accepted, head.tip)]
    return head.accepted if is_beyond_measure(reader, *trees) else head.tip


def find_commit_edits(store: Store, prefix: str) -> Edits:
    """Return what one stray commit of main changed, as far as memory is still as it was then.

    Raises:
        NotFound: no commit of main begins so, or several do.
        Refused: it is no stray.
    """
    head = store.head()
    oid = _find_stray(store, prefix)
    edits = Edits(head.accepted)
    parents = store.repo.reader.commit(oid).parents
    edits.merged += [oid, *parents[1:]]
    tree = store.repo.reader.commit(head.accepted).tree
    changes = {}
    where = shell_word(str(store.repo.root or store.repo.git_dir))
    for edit in edits_between(store.repo, parents[0], oid, _is_content) if parents else ():
        entry = store.facts.entry(tree, edit.path)
        now = entry.oid if entry else None
        if _is_content(edit.path) and now != edit.old:
            if not _says_so(store, now, edit):
                edits.drop(
                    edit.path,
                    f"has changed since {oid[:12]}, so that is left; to read it: "
                    f"git -C {where} show {shell_word(f'{oid[:12]}:{edit.path}')}",
                )
            continue
        changes[edit.path] = Change(edit)
    sort_edits(store, edits, changes)
    return edits


def _says_so(store: Store, now: str | None, edit: FileEdit) -> bool:
    """Whether the blob ``now`` says what the edit had made of the file."""
    if now == edit.new:
        return True
    (found,) = store.repo.reader.read_many([now]) if now else (None,)
    return isinstance(found, Found) and same_record_file(edit.data or b"", found.data)


def _is_content(path: str) -> bool:
    return path == POLICY or path.startswith(f"{RECORDS}/")


def _find_stray(store: Store, prefix: str) -> str:
    kept = store.kept_strays(prefix) if len(prefix) >= _MIN_PREFIX else []
    if len(kept) == 1:
        return kept[0]
    rows = [row for row in store.projection.commits() if row.oid.startswith(prefix)]
    hint = "Run `gitmem fsck`: it names every stray with its id."
    if len(prefix) < _MIN_PREFIX or not rows:
        raise NotFound(f"no commit of main has an id that begins with {prefix[:80]!r}", hint=hint)
    if len(rows) > 1:
        raise NotFound(f"{prefix} is the beginning of {len(rows)} commits of main", hint=hint)
    if rows[0].kind != "stray":
        raise Refused(
            f"{rows[0].oid[:12]} is a {rows[0].kind} and counts: there is nothing to adopt",
            hint=hint,
        )
    return rows[0].oid
