"""What is amiss beside main: refs that keep nothing, stand-ins for objects, edited conversations.

None of it changes what is remembered, and nothing else would tell of it. Each is named for
``fsck`` with what to do; nothing is changed here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from gitmem.domain.evidence import Evidence
from gitmem.domain.layout import KEPT, PROPOSALS, SESSIONS
from gitmem.domain.shell import shell_word
from gitmem.errors import GitmemError
from gitmem.results import Problem
from gitmem.sessions import SessionFiles
from gitmem.store.keeping import LOST
from gitmem.store.ledger import Ledger
from gitmem.store.quoted import message_around
from gitmem.store.restoring import restoring
from gitmem.store.store import Store

_REPLACE = "refs/replace/"
_GRAFTS = "info/grafts"


def refs_amiss(store: Store) -> Iterator[Problem]:
    """Name refs of gitmem's own that keep nothing, and files that stand for none."""
    where = store.repo.shell_word
    for ref, oid in sorted(store.repo.refs(KEPT).items()):
        if ref.startswith(LOST):
            continue  # what main had and has no more is named as that
        try:
            store.repo.reader.commit(oid)
        except GitmemError as error:
            fix = f"{restoring(store.repo)} To let go of it: git -C {where} update-ref -d "
            yield Problem(ref, f"keeps nothing: {error.message}", fix + shell_word(ref))
    for ref, file in store.broken_refs().items():
        yield Problem(
            ref,
            "the file of this ref does not name a commit",
            "It keeps nothing, and git passes over it; `gitmem fsck --repair` moves it away. "
            f"To remove it: rm {shell_word(str(file))}",
        )


def stand_ins(store: Store) -> Iterator[Problem]:
    """Name what makes git show another history, or other files, than there are.

    gitmem reads past it; whoever looks with git does not see what is remembered.
    """
    where = store.repo.shell_word
    for ref in sorted(store.repo.refs(_REPLACE)):
        oid = ref.removeprefix(_REPLACE)
        yield Problem(
            ref,
            f"git shows another object in the place of {oid[:12]}; gitmem reads the true one",
            f"git -C {where} replace -d {shell_word(oid)}",
        )
    grafts = store.repo.git_dir / _GRAFTS
    if os.path.lexists(grafts):
        what = "git shows other parents than commits have; gitmem reads the true ones"
        yield Problem(str(grafts), what, f"rm {shell_word(str(grafts))}")


def sessions_amiss(store: Store, sessions: SessionFiles, ledger: Ledger) -> Iterator[Problem]:
    """Name conversations of this machine that do not bear out (any more) what is quoted of them.

    What is remembered stands on the quotes in git; who reads the message around one is misled.
    """
    here = set(sessions.list_ids())
    told: set[str] = set()
    for record, quote in _quotes(ledger) if here else ():
        if quote.session not in here or quote.session in told:
            continue
        around = message_around(sessions, quote)
        if around.state in ("changed", "unreadable"):
            told.add(quote.session)
            file = store.repo.private / SESSIONS / f"{quote.session}.jsonl"
            yield Problem(
                str(file),
                f"{record} quotes it, and {around.missing}",
                "The quote itself is in git and stays. Bring the file back from a backup; "
                f"to do without the conversation: rm {shell_word(str(file))}",
            )


def _quotes(ledger: Ledger) -> Iterator[tuple[str, Evidence]]:
    for row in ledger.records():
        for oid in ledger.facts.record(row.blob, row.path).evidence:
            yield row.name, ledger.facts.evidence(oid, row.name)


def branch_fix(store: Store, name: str, *, mended: bool) -> str:
    """Return what to do with a proposal's branch that cannot be read."""
    where, ref = store.repo.shell_word, PROPOSALS + name
    cut = "To cut off what was made by hand, which is kept: gitmem fsck --repair. "
    remove = f"git -C {where} branch -D {shell_word(ref.removeprefix('refs/heads/'))}"
    tip = store.repo.read_ref(ref)
    try:
        store.repo.reader.commit(tip or "")
    except GitmemError:  # git's own command would look at the commit first
        remove = f"git -C {where} update-ref -d {shell_word(ref)}"
    return f"It cannot be merged. {cut if mended else ''}To remove it: {remove}"
