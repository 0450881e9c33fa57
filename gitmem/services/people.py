"""What a person is called, before it is written where it stays for good."""

from __future__ import annotations

from gitmem.errors import InvalidInput
from gitmem.redaction import find_secrets


def check_person(who: str) -> None:
    """Refuse a ``human:Name <address>`` that holds a secret: it would travel with main.

    Raises:
        InvalidInput: naming the kind of secret, never what it is.
    """
    found = find_secrets(who.removeprefix("human:"))
    if found:
        raise InvalidInput(
            f"the person's name holds what looks like a secret ({found[0].kind})",
            hint="Nothing was written. Look at --as, GITMEM_USER, and git's user.name and "
            "user.email.",
        )
