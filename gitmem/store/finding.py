"""Finding by the beginning of an id: what to say where none, or more than one, begins so."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches

from gitmem.errors import NotFound

_LISTED = 8
_CLOSE = 3


def find_by_prefix(prefix: str, ids: Collection[str], what: str, look: str) -> str:
    """Return the one of ``ids`` that is ``prefix`` or begins with it.

    ``what`` names one of them ("open proposal"), ``look`` is the command that lists them.

    Raises:
        NotFound: none does, and the hint has those that are spelt like it; or several do, and
            it has these.
    """
    if prefix in ids:
        return prefix
    matches = sorted(one for one in ids if prefix and one.startswith(prefix))
    if len(matches) == 1:
        return matches[0]
    see = f"To see what there is: {look}"
    if matches:
        more = [f"  and {len(matches) - _LISTED} more"] if len(matches) > _LISTED else []
        listed = [f"  {one}" for one in matches[:_LISTED]]
        raise NotFound(
            f"{prefix} is the beginning of {len(matches)} {what}s",
            hint="\n".join(["Give more of it:", *listed, *more, see]),
        )
    close = _spelt_like(prefix, ids)
    meant = f"Did you mean {' or '.join(close)}?\n" if close else ""
    raise NotFound(f"there is no {what} {prefix}", hint=f"{meant}{see}")


def _spelt_like(prefix: str, ids: Collection[str]) -> list[str]:
    """Return ids that begin nearly as ``prefix``, the likest first."""
    if not prefix:
        return []
    beginnings = sorted({one[: len(prefix)] for one in ids})
    close = get_close_matches(prefix, beginnings, n=_CLOSE)
    return [one for like in close for one in sorted(ids) if one.startswith(like)][:_CLOSE]
