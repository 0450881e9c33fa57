"""The form that ``gitmem edit`` opens in an editor: description, type and body of a record."""

from __future__ import annotations

from typing import NamedTuple

from gitmem.errors import InvalidInput

_FIELDS = ("description", "type")
_INTRODUCTION = """\
# Change what should change, save and close; you will see the difference before it is made.
# Change nothing, and nothing happens. The text begins after the empty line.
"""


class Form(NamedTuple):
    """What can be edited of a record."""

    description: str
    type: str
    body: str


def write_form(form: Form) -> str:
    """The text of the form."""
    fields = f"description: {form.description}\ntype: {form.type}\n"
    return f"{_INTRODUCTION}{fields}\n{form.body.strip()}\n"


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
        if not colon or name not in _FIELDS:
            raise InvalidInput(
                f"expected 'description: ...' or 'type: ...', found {line[:40]!r}",
                where=f"{where}, line {number}",
            )
        if name in fields:
            raise InvalidInput(f"{name!r} is there twice", where=f"{where}, line {number}")
        fields[name] = value.strip()
    missing = [name for name in _FIELDS if name not in fields]
    if missing:
        raise InvalidInput(f"the line '{missing[0]}: ...' is missing", where=where)
    return Form(fields["description"], fields["type"], body.strip())
