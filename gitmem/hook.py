"""``gitmem hook EVENT``: what git runs. Fast, quiet, and never in a person's way.

git runs these hooks in the middle of a person's command, so nothing is imported here before it
is needed, and whatever fails ends in what is wrong and what to do: only ``pre-commit`` may stop
git, and only where the commit would undo a merge that had not reached the files yet.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from gitmem.domain.layout import MAIN, PRIVATE, PROPOSALS, WORKTREE_NOTE
from gitmem.errors import GitmemError, NotFound
from gitmem.repo.discovery import common_dir, find_git_dir, resolved
from gitmem.repo.refs import symbolic_target

DONE, WRONG_CALL, STOP = 0, 2, 4
"""STOP is the one status with which the installed script stops a commit."""

_BRANCH_CHECKOUT = "1"  # the third argument of post-checkout; 0: files were checked out


class Place(NamedTuple):
    """Where git runs the hook: what to open, the work tree's git directory, the common one."""

    root: Path
    private: Path
    common: Path

    @property
    def has_note(self) -> bool:
        """Whether a merge may not have reached some work tree yet."""
        return os.path.lexists(self.common / PRIVATE / WORKTREE_NOTE)

    @property
    def leaving(self) -> str:
        """The words for git with which this work tree leaves its branch.

        Only one work tree has main checked out.
        """
        return "checkout main" if self.private == self.common else "checkout --detach"

    def gitmem(self, words: str, argument: str = "") -> str:
        """``gitmem WORDS ARGUMENT`` so that it works wherever it is pasted."""
        from gitmem.domain.shell import shell_argument, shell_word

        store = self.common.parent if self.common.name == ".git" else self.common
        last = f" {shell_argument(argument)}" if argument else ""
        return f"gitmem {words} --store {shell_word(str(store))}{last}"

    def git(self, words: str) -> str:
        """``git WORDS`` for this work tree: a person may stand in another repository."""
        from gitmem.domain.shell import shell_word

        return f"git -C {shell_word(str(Path.cwd()))} {words}"


def main(args: Sequence[str]) -> int:
    """Do what is to be done at the event ``args[0]`` and return the exit status."""
    event = args[0] if args else ""
    handle = EVENTS.get(event)
    if handle is None:
        _say(f"there is no hook {event!r}; there are: {', '.join(EVENTS)}")
        return WRONG_CALL
    place = None
    try:
        place = _place()
        return handle(place, args[1:]) if place else DONE
    except (GitmemError, OSError) as error:
        _say_error(error)
        stops = event == "pre-commit" and place is not None and place.has_note
        return STOP if stops else DONE


def _place() -> Place | None:
    """Where git runs this; None where that is no store."""
    root = Path.cwd()
    try:
        private, common, _ = find_git_dir(root)
    except NotFound:
        private = common = root
    named = os.environ.get("GIT_DIR")
    given = resolved(Path(named)) if named else None
    if given is not None and given != private:
        private = given
        root = common = common_dir(private)
    return Place(root, private, common) if (common / PRIVATE).is_dir() else None


# --- the events ----------------------------------------------------------------------------


def _pre_commit(place: Place, _: Sequence[str]) -> int:
    if not place.has_note:
        return DONE
    from gitmem.memory import MemoryStore

    index = Path.cwd() / (os.environ.get("GIT_INDEX_FILE") or place.private / "index")
    with MemoryStore.open(place.root) as memory:
        healed = memory.heal_index(place.private, index)
    if healed is None or not (healed.left or healed.empty):
        return DONE
    finish = place.gitmem("status")
    if healed.left:
        _say(
            "nothing was committed: a merge had not reached these files yet, and both it and you "
            "changed\n"
            + "".join(f"    {_shown(path)}\n" for path in sorted(healed.left))
            + f"Finish the merge here with: {finish}\n"
            f"Then look at what is yours, and commit again: {place.git('diff HEAD')}"
        )
    else:
        _say(
            "nothing was committed: what git took for your changes was a merge that had not "
            f"reached these files yet. Finish it with: {finish}"
        )
    return STOP


def _post_commit(place: Place, _: Sequence[str]) -> int:
    if place.has_note:  # git kept the index for itself until now
        from gitmem.memory import MemoryStore

        with MemoryStore.open(place.root) as memory:
            memory.finish_files()
            _say_each(memory.notes)
    branch = symbolic_target(place.private) or ""
    if branch == MAIN:
        _say(
            "this commit is on main, but no memory: nobody proposed it. To propose what it "
            f"changes: {place.gitmem('adopt')}"
        )
    elif branch.startswith(PROPOSALS):
        proposal = branch.removeprefix(PROPOSALS)
        _say(
            f"a commit by hand stops the proposal {_shown(proposal)}. To take it off the branch, "
            f"which keeps it aside: {place.git(place.leaving)} && "
            f"{place.gitmem('fsck --repair')}\nTo change what the proposal says: "
            f"{place.gitmem('approve --edit', proposal)}"
        )
    return DONE


def _post_checkout(place: Place, args: Sequence[str]) -> int:
    if place.has_note or list(args[2:3]) == [_BRANCH_CHECKOUT]:
        _follow(place)
    return DONE


def _post_merge(place: Place, _: Sequence[str]) -> int:
    _name_strays(place, _follow(place))
    return DONE


def _post_rewrite(place: Place, args: Sequence[str]) -> int:
    strays = _follow(place)
    if list(args[:1]) != ["amend"]:  # post-commit spoke of an amended one
        _name_strays(place, strays)
    return DONE


def _follow(place: Place) -> tuple[str, ...]:
    from gitmem.memory import MemoryStore

    with MemoryStore.open(place.root) as memory:
        strays = memory.follow_git()
        _say_each(memory.notes)
    return strays


EVENTS: dict[str, Callable[[Place, Sequence[str]], int]] = {
    "post-checkout": _post_checkout,
    "post-commit": _post_commit,
    "post-merge": _post_merge,
    "post-rewrite": _post_rewrite,
    "pre-commit": _pre_commit,
}


# --- what is said --------------------------------------------------------------------------


def _name_strays(place: Place, strays: Sequence[str]) -> None:
    if not strays or symbolic_target(place.private) != MAIN:
        return
    what = "the newest commit" if len(strays) == 1 else f"the {len(strays)} newest commits"
    _say(
        f"{what} on main: no memory, since nobody proposed it that way. To propose the change: "
        f"{place.gitmem('adopt')}"
    )


def _say_each(sentences: Sequence[str]) -> None:
    for sentence in sentences:
        _say(sentence)


def _say_error(error: GitmemError | OSError) -> None:
    """What is wrong, and on lines of their own what to do."""
    message, hint = (error.message, error.hint) if isinstance(error, GitmemError) else (error, "")
    lines = [" ".join(line.split()) for line in f"{message}\n{hint}".split("\n")]
    _say("\n".join(line for line in lines if line))


def _say(text: str) -> None:
    print(f"gitmem: {text}", file=sys.stderr)


def _shown(text: str) -> str:
    return text if text.isprintable() else ascii(text)
