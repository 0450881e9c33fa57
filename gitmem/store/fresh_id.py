"""An id for a new proposal that none has, or ever had."""

from __future__ import annotations

from dataclasses import replace

from gitmem.domain.canonical import sha256_hex
from gitmem.domain.layout import KEPT, PROPOSALS
from gitmem.errors import Busy
from gitmem.store.drafting import Origin, proposal_id
from gitmem.store.store import Store

#: An id has 24 random bits; with a thousand proposals a day, five misses do not happen by chance.
_TRIES = 5


def with_fresh_id(store: Store, origin: Origin) -> Origin:
    """Return ``origin`` with a nonce whose id no open, decided or kept proposal has.

    Hold the store's lock from here until the proposal is written.

    Raises:
        Busy: several in a row are taken.
    """
    for _ in range(_TRIES):
        name = proposal_id(origin)
        taken = store.projection.decided(name) or any(
            store.repo.read_ref(prefix + name) for prefix in (PROPOSALS, KEPT)
        )
        if not taken:
            return origin
        origin = replace(origin, nonce=sha256_hex(origin.nonce.encode("ascii"))[:32])
    raise Busy(f"no free id like {name} was found", hint="Nothing was written; try again.")
