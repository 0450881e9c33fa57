"""From the text of a file to typed fields, and what pydantic found wrong in one line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from gitmem.domain.text import one_line

#: Characters of a field's name in an error; keys come from outside and may be of any length.
_SHOWN = 80
_NUMBER = re.compile(r"[0-9]{1,8}\Z")
_BOOLEANS = {"true": True, "false": False}


def first_problem(error: ValidationError) -> str:
    """Return the first problem of ``error`` as ``field: what``."""
    problem = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(one_line(str(part)[:_SHOWN]) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if field else message


def typed_fields(model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``raw`` with texts turned into what the fields of a strict ``model`` want.

    What has another form stays as it is, so that the model refuses it by name.
    """
    fields = model.model_fields
    return {
        key: _typed(fields[key].annotation, value) if key in fields else value
        for key, value in raw.items()
    }


def _typed(wanted: Any, value: Any) -> Any:
    if isinstance(wanted, type) and issubclass(wanted, BaseModel):
        return typed_fields(wanted, value) if isinstance(value, Mapping) else value
    if get_origin(wanted) is tuple:
        return tuple(value) if isinstance(value, list) else value
    if not isinstance(value, str):
        return value
    if wanted is bool:
        return _BOOLEANS.get(value, value)
    # The only literal that is a number, view.format, is compared as one.
    is_number = wanted is int or (get_origin(wanted) is not None and wanted.__args__ == (1,))
    return int(value) if is_number and _NUMBER.match(value) else value
