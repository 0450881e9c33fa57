"""fsck: verify every commit of main from its parents, from the first one on."""

from __future__ import annotations

from gitmem.cache import CommitRow, Damaged, Projection, Unusable
from gitmem.cache.comparing import difference
from gitmem.domain.layout import CACHE, MAIN, PROPOSALS
from gitmem.domain.shell import shell_word
from gitmem.errors import GitFailed, GitmemError
from gitmem.results import FsckReport, Problem, Progress
from gitmem.store import Ledger, Store

_UNDO = (
    "It is no memory, and the next merge passes over it. To propose what it says: gitmem adopt. "
    "To take it off main: gitmem fsck --repair"
)
_PASSED = "A later merge passed over it. To propose what it says: gitmem adopt "
_FETCH = "Fetch the missing objects from another copy of this memory."


def fsck(store: Store, progress: Progress | None = None) -> FsckReport:
    """Verify the whole of main anew, without trusting the projection.

    Raises:
        NotFound: there is no main, or it does not begin a memory.
    """
    fresh = Projection.open(None)
    problems: list[Problem] = []
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
        problems += _lost(store, ledger)
    except GitFailed as error:
        rows, passed = [], []
        problems.append(Problem(str(store.repo.git_dir), error.message, error.hint or _FETCH))
    finally:
        fresh.close()
    problems += _objects(store)
    return FsckReport(not problems, len(rows), tuple(problems), tuple(passed))


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
    where = store.repo.shell_word
    for ref, tip in sorted(store.repo.refs(PROPOSALS).items()):
        name = ref.removeprefix(PROPOSALS)
        try:
            branch = ledger.facts.branch(tip, any_base=True)
            if branch.proposal.id != name:
                raise GitmemError(f"the branch holds the proposal {branch.proposal.id}")
        except GitmemError as error:
            fix = (
                "It cannot be merged. To cut off what was made by hand: gitmem fsck --repair. "
                f"To remove it: git -C {where} branch -D {shell_word('proposals/' + name)}"
            )
            found.append(Problem(ref, error.message, fix))
    for ref, file in store.broken_proposals().items():
        fix = f"git passes over it. To remove it: rm {shell_word(str(file))}"
        found.append(Problem(ref, "the file of this ref does not name a commit", fix))
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
    lines = [line for line in result.out.decode("utf-8", "replace").splitlines() if line]
    errors = [line for line in result.err.splitlines() if not line.startswith("hint:")]
    what = "; ".join([*lines, *errors][:5])
    return [
        Problem(
            str(store.repo.git_dir),
            f"git fsck: {what}",
            _FETCH,
        )
    ]
