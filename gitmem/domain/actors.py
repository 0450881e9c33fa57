"""Who acts: ``rules``, ``caller``, ``human:Name <address>``, ``model:ID@HOST``, ``gitmem:VERSION``.

Frozen by the manifest's version, since what a proposal needs depends on who proposed it.
"""

from __future__ import annotations

import re

from gitmem.domain.unicode14 import fold
from gitmem.errors import InvalidInput

RULES = "rules"
CALLER = "caller"
_HUMAN = re.compile(r"human:[^<>\x00-\x1f]+ <(?P<address>[^<> \x00-\x1f]+)>\Z")
_MODEL = re.compile(r"model:(?P<id>[^@\x00-\x20\x7f]{1,200})@[^\x00-\x20\x7f]+\Z")
_DATE_IN_PARTS = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_DATE = rf"{_DATE_IN_PARTS}|[0-9]{{8}}|[0-9]{{6}}|[0-9]{{4}}"
# No text fits it in two ways: a name made for that would be tried in all of them, without end.
_SUFFIX = re.compile(rf"(?:[-@](?:latest|{_DATE})|:(?:{_DATE_IN_PARTS}|[a-z0-9]++))++\Z")

_VENDOR = re.compile(r"(?:[a-z]{2,20}\.)+(?=[a-z])")
_VARIANT = re.compile(
    rf"[-_.](?:latest|{_DATE}|gguf|ggml|bin|safetensors|mlx|awq|gptq|exl2|fp8|fp16|bf16|f16|f32|"
    r"int[48]|[48]bit|i?q[0-9](?:_[0-9a-z]{1,3})*)\Z"
)


def is_person(who: str) -> bool:
    """Return whether ``who`` names a person."""
    return _HUMAN.match(who) is not None


def same_person(one: str, other: str) -> bool:
    """Return whether two persons have the same address, whatever the case of its letters."""
    first, second = _HUMAN.match(one), _HUMAN.match(other)
    if first is None or second is None:
        return False
    return fold(first["address"]) == fold(second["address"])


def model_key(who: str) -> str | None:
    """Return the normalised id of a model: vendor prefix, date, ``-latest`` and case are cut.

    None where ``who`` is no model or names none.
    """
    match = _MODEL.match(who)
    if match is None:
        return None
    return _SUFFIX.sub("", fold(match["id"].rsplit("/", 1)[-1])) or None


def model_skeleton(name: str) -> str:
    """Return what of a model's name is left without all by which two ids of one model differ.

    Cut more freely than by :func:`model_key`: folders, a vendor before a dot, the kind of file,
    how it was quantised, whatever follows a colon, and all signs. Two models with the same
    skeleton may still be different; the doubt goes against them. Empty where nothing is left.
    """
    plain = re.split(r"[/\\]", fold(name))[-1].removeprefix("ft:").partition(":")[0]
    plain = _VENDOR.sub("", plain)
    while (shorter := _VARIANT.sub("", plain)) not in ("", plain):
        plain = shorter
    return re.sub(r"[^a-z0-9]", "", plain)


def same_model(one: str, other: str) -> bool:
    """Return whether two ids name one model, as far as :func:`model_skeleton` can tell."""
    return model_skeleton(one) == model_skeleton(other)


def model_name(who: str) -> str:
    """Return the id in ``model:ID@HOST``, empty where ``who`` is no model."""
    match = _MODEL.match(who)
    return match["id"] if match else ""


def check_proposer(who: str) -> str:
    """Return ``who``, where it can have made a proposal.

    A model whose name could not be compared with a reviewer's would be taken for another one.

    Raises:
        InvalidInput: it is none of rules, caller, a person, a model with a name.
    """
    if who in (RULES, CALLER) or is_person(who) or model_key(who):
        return who
    raise InvalidInput(f"{who[:80]!r} cannot have proposed anything")
