"""What a person may call a commit: ids, tags, branches, and git's ways on from there."""

from __future__ import annotations

from gitmem.domain.layout import MAIN
from gitmem.domain.objects import is_oid
from gitmem.repo.runner import Runner

_MAX_REVISION = 1024
_NOT_FOUND = (0, 1, 128)
_SHORT_MAIN = MAIN.rpartition("/")[2]
_WAYS_ON = ("~", "^", "@{")


def find_commit(runner: Runner, revision: str) -> str | None:
    """Return the id of the commit that ``revision`` names, None where it names none or several.

    ``main`` is the branch, also where a tag has its name. No text is taken for an option.
    """
    try:
        revision.encode("utf-8")
    except UnicodeEncodeError:
        return None
    if not revision or len(revision) > _MAX_REVISION or any(c < " " for c in revision):
        return None
    rest = revision.removeprefix(_SHORT_MAIN)
    if rest != revision and (not rest or rest.startswith(_WAYS_ON)):
        revision = MAIN + rest
    words = ["rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"]
    oid = runner.run(words, ok=_NOT_FOUND).out.decode("ascii", "replace").strip()
    return oid if is_oid(oid) else None
