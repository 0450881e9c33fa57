"""Say in one line what pydantic found wrong."""

from __future__ import annotations

from pydantic import ValidationError


def first_problem(error: ValidationError) -> str:
    """Return the first problem of ``error`` as ``field: what``."""
    problem = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    return f"{field}: {message}" if field else message
