"""The form that ``gitmem edit`` opens in an editor: the fields and the body of a record."""

from __future__ import annotations

from typing import NamedTuple

from gitmem.errors import InvalidInput

_NEEDED = ("description", "type")
_OPTIONAL = ("valid_from", "valid_until", "status", "supersedes")
_INTRODUCTION = """\
# Change what should change, save and close; you will see the difference before it is made.
# Change nothing, and nothing happens. The text begins after the empty line.
# Other lines that there may be, and that you may take out: valid_from: 2026-01-31,
# valid_until: 2026-12-31, status: unconfirmed, supersedes: other-name, one-more
"""


class Form(NamedTuple):
    """What can be edited of a record; the fields that may be absent are then empty."""

    description: str
    type: str
    body: str
    valid_from: str = ""
    valid_until: str = ""
    status: str = ""
    supersedes: tuple[str, ...] = ()


def write_form(form: Form) -> str:
    """The text of the form."""
    fields = {name: getattr(form, name) for name in (*_NEEDED, *_OPTIONAL)}
    fields["supersedes"] = ", ".join(form.supersedes)
    shown = [f"{name}: {value}\n" for name, value in fields.items() if value or name in _NEEDED]
    return f"{_INTRODUCTION}{''.join(shown)}\n{form.body.strip()}\n"


def read_form(data: bytes, where: str) -> Form:
    """Read the form back, strictly: what is not understood changes nothing.

    Raises:
        InvalidInput: it is not UTF-8, or a field is missing, unknown or there twice.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"byte {error.start} is not UTF-8", where=where) from error
    head, separator, body = text.replace("\r\n", "\n").partition("\n\n")
    if not separator:
        raise InvalidInput("there is no empty line between the fields and the text", where=where)
    fields: dict[str, str] = {}
    for number, line in enumerate(head.split("\n"), start=1):
        if line.startswith("#"):
            continue
        name, colon, value = line.partition(":")
        if not colon or name not in (*_NEEDED, *_OPTIONAL):
            raise InvalidInput(
                f"expected 'description: ...' or 'type: ...', found {line[:40]!r}",
                where=f"{where}, line {number}",
            )
        if name in fields:
            raise InvalidInput(f"{name!r} is there twice", where=f"{where}, line {number}")
        fields[name] = value.strip()
    missing = [name for name in _NEEDED if name not in fields]
    if missing:
        raise InvalidInput(f"the line '{missing[0]}: ...' is missing", where=where)
    names = split_names(fields.pop("supersedes", ""))
    return Form(**fields, body=body.strip(), supersedes=names)


def split_names(text: str) -> tuple[str, ...]:
    """Return the names in a text that has commas between them; ``none`` has none."""
    if text.strip() in ("", "none"):
        return ()
    return tuple(name.strip() for name in text.split(","))
