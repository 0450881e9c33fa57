"""fsck: verify every commit of main from its parents, from the first one on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.cache import CommitRow, Damaged, Projection, Unusable
from gitmem.cache.comparing import difference
from gitmem.domain.layout import CACHE, MAIN, PROPOSALS
from gitmem.errors import GitFailed, GitmemError, InvalidInput, NotFound
from gitmem.repo.oddities import foreign_hooks, hooks_sentence, odd_settings
from gitmem.results import FsckReport, Problem, Progress
from gitmem.sessions import SessionFiles
from gitmem.store import Ledger, Store
from gitmem.store.amiss import branch_fix, refs_amiss, sessions_amiss, stand_ins
from gitmem.store.newest import read_newest
from gitmem.store.readable import newest_readable
from gitmem.store.restoring import restoring

_UNDO = (
    "It is no memory, and the next merge passes over it. To propose what it says: gitmem adopt. "
    "To take it off main: gitmem fsck --repair"
)
_PASSED = "A later merge passed over it. To propose what it says: gitmem adopt "
_MOVED = "main names no commit; to make it again where it was last: gitmem fsck --repair"
_MALFORMED = re.compile(r"(?:error|warning) in (?:tree|commit|blob|tag) ([0-9a-f]{40}): ")
_BROKEN = ("missing", "broken link", "corrupt", "empty", "unable to", "mismatch", "not found")
_KEPT_BACK = (
    "A stray brought it into the history of main, where it stays once it was passed over: nothing "
    "that is remembered is in it, but a host that checks what it is sent may refuse the history"
)


def fsck(
    store: Store, progress: Progress | None = None, sessions: SessionFiles | None = None
) -> FsckReport:
    """Verify the whole of main anew, without trusting the projection.

    With ``sessions``, also whether the conversations here bear out what is quoted of them.

    Raises:
        NotFound: there is no main, or it does not begin a memory.
        Refused: it begins with another memory's first commit.
    """
    problems = _main(store)
    if problems:
        return FsckReport(False, 0, tuple(problems))
    fresh = Projection.open(None)
    try:
        ledger = Ledger(store.repo, fresh)
        head = ledger.catch_up(progress)
        rows = fresh.commits()
        strays = [row for row in reversed(rows) if row.kind == "stray"]
        problems += [_stray(row, _UNDO) for row in strays if row.oid in head.strays]
        older = [row for row in strays if row.oid not in head.strays]
        passed = [_stray(row, _PASSED + row.oid[:12]) for row in older]
        problems += _projection(store, ledger, fresh)
        problems += _branches(store, ledger)
        store.keep_lost()
        amiss = [*refs_amiss(store), *stand_ins(store)]
        named = {problem.where for problem in amiss}
        problems += [one for one in _lost(store, ledger) if one.where not in named]
        problems += amiss
        problems += sessions_amiss(store, sessions, ledger) if sessions else []
    except GitFailed as error:
        rows, passed = [], []
        problems.append(Problem(str(store.repo.git_dir), error.message, _fix(store, error)))
    finally:
        fresh.close()
    problems += _objects(store)
    return FsckReport(not problems, len(rows), tuple(problems), tuple(passed), (), _odd(store))


def _odd(store: Store) -> tuple[str, ...]:
    git_dir = store.repo.git_dir
    foreign = foreign_hooks(git_dir)
    of_hooks = [hooks_sentence(foreign, git_dir)] if foreign else []
    return (*odd_settings(store.repo), *of_hooks)


def _main(store: Store) -> list[Problem]:
    """Name a main that is no commit."""
    try:
        tip = store.repo.read_ref(MAIN)
        if tip is not None:
            store.repo.reader.commit(tip)
    except InvalidInput as error:
        return [Problem(MAIN, error.message, _MOVED)]
    except NotFound as error:
        newest = read_newest(store.repo)
        fix = _MOVED if newest not in (None, tip) else restoring(store.repo)
        return [Problem(MAIN, error.message, fix)]
    except GitFailed as error:
        return [Problem(MAIN, error.message, restoring(store.repo))]
    return []


def _fix(store: Store, error: GitFailed) -> str:
    """What to do where git could not go on: an object is missing or damaged, or something else."""
    if error.hint:
        return error.hint
    return f"Look at the repository with: git -C {store.repo.shell_word} fsck --full"


def _stray(row: CommitRow, fix: str) -> Problem:
    return Problem(row.oid, f"stray commit on main: {row.reason}", fix)


def _lost(store: Store, ledger: Ledger) -> list[Problem]:
    """Name accepted commits that main has no more; they are kept aside."""
    where = store.repo.shell_word
    return [
        Problem(
            ref,
            f"main had {oid[:12]} as its newest accepted commit, and was moved away from it",
            "To bring back what it held: gitmem fsck --repair. To let go of it: "
            f"git -C {where} update-ref -d {ref}",
        )
        for ref, oid in store.lost_mains(ledger).items()
    ]


def _branches(store: Store, ledger: Ledger) -> list[Problem]:
    found = []
    for ref, tip in sorted(store.repo.refs(PROPOSALS).items()):
        name = ref.removeprefix(PROPOSALS)
        try:
            branch = ledger.facts.branch(tip, any_base=True)
            if branch.proposal.id != name:
                raise GitmemError(f"the branch holds the proposal {branch.proposal.id}")
        except GitmemError as error:
            mended = newest_readable(store, name, tip) is not None
            fix = branch_fix(store, name, mended=mended)
            if isinstance(error, (GitFailed, NotFound)):
                fix = f"{restoring(store.repo)} {fix}"
            found.append(Problem(ref, error.message, fix))
    return found


def _projection(store: Store, ledger: Ledger, fresh: Projection) -> list[Problem]:
    """Compare what reads are answered from with what git says; nothing is healed."""
    kept = store.projection
    try:
        store.ledger.catch_up()
        ledger.catch_up()  # main may have moved while all of it was verified
        reason = difference(kept, fresh)
        if reason:
            kept.damaged(reason)  # the next command makes it anew
    except Unusable:
        return []  # it cannot be written: what is read is made from git each time
    except Damaged as error:
        reason = error.reason
    if not reason:
        return []
    return [
        Problem(
            str(store.repo.private / CACHE),
            f"the projection differs from what main says: {reason}",
            "Nothing is lost: the next command makes it anew from git.",
        )
    ]


def _objects(store: Store) -> list[Problem]:
    """Let git check that every object that main needs is there and whole."""
    result = store.repo.runner.run(
        ["fsck", "--full", "--no-dangling", "--no-progress", "--no-reflogs", MAIN],
        ok=range(256),
        timeout=3600,
    )
    if result.code == 0:
        return []
    said = [line for line in result.out.decode("utf-8", "replace").split("\n") if line]
    said += [line for line in result.err.split("\n") if line and not line.startswith("hint:")]
    lines = _of_main(store, said)
    if not lines:
        return []
    what = "; ".join(lines[:5])
    return [Problem(str(store.repo.git_dir), f"git fsck: {what}", _git_fix(store, lines))]


def _of_main(store: Store, lines: Sequence[str]) -> list[str]:
    """Leave out what is malformed in a branch, or in a stray that was taken off main.

    git checks all that lies there; what nobody could merge does main no harm.
    """
    malformed = {line: match[1] for line in lines if (match := _MALFORMED.match(line))}
    if not malformed:
        return list(lines)
    listed = store.repo.runner.run(["rev-list", "--objects", MAIN], ok=range(256), timeout=3600)
    needed = {line[:40] for line in listed.out.decode("ascii", "replace").split("\n")}
    return [line for line in lines if line not in malformed or malformed[line] in needed]


def _git_fix(store: Store, lines: Sequence[str]) -> str:
    """What to do about what git's own check says, by what it calls it."""
    if lines and all(_MALFORMED.match(line) for line in lines):
        return _KEPT_BACK
    if any(word in line for line in lines for word in _BROKEN):
        return restoring(store.repo)
    return f"Put right what git names, and look again: git -C {store.repo.shell_word} fsck --full"
