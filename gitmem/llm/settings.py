"""Where the model of a role is and how it is asked. Never a key: only where one is found."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from gitmem.errors import Usage

ROLES = ("proposer", "reviewer", "selector", "consolidator")
"""What a model can be asked to be."""

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """The model of one role. ``max_output`` is in tokens; ``timeout`` in seconds, of one reply
    from the question to its end, and as often again as there are ``retries``.

    ``api_key_env`` names the variable that holds the key, ``api_key_file`` a file outside the
    store that does; with neither, nothing but a local endpoint can be asked.
    """

    role: str
    model: str
    base_url: str = OPENAI
    api_key_env: str = ""
    api_key_file: str = ""
    timeout: float = 60.0
    max_output: int = 4096
    retries: int = 2

    @property
    def host(self) -> str:
        """Host and port of the endpoint, as they are shown and recorded."""
        return shown_host(self.base_url)


def check_endpoint(url: str) -> str:
    """Return ``url``, where it can be an endpoint: https, or http on this machine.

    Raises:
        Usage: it is neither, has no host, or holds a password, which is then not repeated.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Usage("the address of the endpoint is no URL", hint=_HINT) from None
    if "@" in parts.netloc:
        raise Usage(
            "the address of the endpoint holds a name or a password",
            hint="Keep the key in a variable and name that: api_key_env.",
        )
    strange = not url.isprintable() or any(c.isspace() or c in "\\?#%" for c in url)
    if not host or strange or port == 0:
        raise Usage("that is no address of an endpoint", hint=_HINT)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)):
        return url
    raise Usage(
        f"{parts.scheme}://{host} is neither https nor on this machine",
        hint="What is said in a conversation, and the key, would cross the network unencrypted. "
        + _HINT,
    )


_HINT = "Give an address like https://api.example.com/v1 or http://127.0.0.1:8080/v1."


def is_loopback(host: str) -> bool:
    """Whether ``host`` is this machine by its very name or number."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
        inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (inner or address).is_loopback
    except ValueError:
        return False


def shown_host(url: str) -> str:
    """Return host and port of ``url``: all of an address that is ever shown or recorded."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{host}:{parts.port}" if parts.port else host
