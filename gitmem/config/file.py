"""The user's own settings: one small YAML file outside every store. It holds no keys.

It says which model plays which role and what one operation may spend. Every value is text, read
by the one reader of YAML; an unknown key is refused, since a setting that is silently ignored
is one that a person relies on in vain.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from gitmem.domain.text import one_line
from gitmem.domain.validation import first_problem, typed_fields
from gitmem.errors import InvalidInput, Usage
from gitmem.llm.settings import OPENAI, check_endpoint
from gitmem.records import read_yaml_mapping, write_yaml_mapping
from gitmem.repo.files import read_regular, write_file

CONFIG_VARIABLE = "GITMEM_CONFIG"
MAX_CONFIG_BYTES = 8192
#: How a person takes a value back.
NONE = "none"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}\Z")


class _Strict(BaseModel):
    model_config = ConfigDict(hide_input_in_errors=True, frozen=True, extra="forbid", strict=True)


class RoleConfig(_Strict):
    """What the file says of one role; see :class:`gitmem.llm.RoleSettings`."""

    model: str = ""
    base_url: str = OPENAI
    api_key_env: str = ""
    api_key_file: str = ""
    timeout: int = Field(default=60, ge=1, le=3600)
    max_output: int = Field(default=4096, ge=64, le=200_000)
    retries: int = Field(default=2, ge=0, le=10)

    @field_validator("model")
    @classmethod
    def _one_line(cls, model: str) -> str:
        if model != one_line(model).strip() or len(model) > 200:
            raise ValueError("is no model's id: one line of at most 200 characters")
        return model

    @field_validator("base_url")
    @classmethod
    def _endpoint(cls, url: str) -> str:
        try:
            return check_endpoint(url)
        except Usage as error:
            raise ValueError(error.message) from None

    @field_validator("api_key_env")
    @classmethod
    def _variable(cls, name: str) -> str:
        if name and not _VARIABLE.match(name):
            raise ValueError("is no name of a variable; the key itself is never written here")
        return name


class BudgetConfig(_Strict):
    """What one operation may spend on models: tokens, and seconds."""

    tokens: int = Field(default=200_000, ge=1000, le=99_999_999)
    seconds: int = Field(default=600, ge=1, le=86_400)


class Config(_Strict):
    """The whole file."""

    proposer: RoleConfig = RoleConfig()
    reviewer: RoleConfig = RoleConfig()
    selector: RoleConfig = RoleConfig()
    consolidator: RoleConfig = RoleConfig()
    budget: BudgetConfig = BudgetConfig()


def config_path(environ: Mapping[str, str]) -> Path:
    """Return where the file is: ``GITMEM_CONFIG``, else the place for a user's settings."""
    if environ.get(CONFIG_VARIABLE):
        return Path(environ[CONFIG_VARIABLE])
    if sys.platform == "win32" and environ.get("APPDATA"):
        return Path(environ["APPDATA"]) / "gitmem" / "config.yaml"
    home = environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return Path(home) / "gitmem" / "config.yaml"


def read_config(path: Path) -> Config:
    """Read the file; one that is not there says nothing.

    Raises:
        InvalidInput: it cannot be read, has an unknown key, or a value out of range.
    """
    return _config(_raw(path), str(path))


def set_value(path: Path, key: str, text: str) -> Config:
    """Set one key of the file, as ``reviewer.model``, and return what it says then.

    ``none`` takes a value back. What the file says besides, its comments too, is not kept as it
    was written: it is written anew.

    Raises:
        Usage: there is no such key.
        InvalidInput: the value is none that the key can have, or the file cannot be read.
    """
    group, name = _split(key)
    raw = _raw(path)
    _config(raw, str(path))
    fields = dict(raw.get(group) or {})
    if text == NONE:
        fields.pop(name, None)
    else:
        fields[name] = text
    raw[group] = fields
    config = _config({key: value for key, value in raw.items() if value}, key, whole=False)
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, write_yaml_mapping({key: value for key, value in raw.items() if value}))
    return config


def keys() -> list[str]:
    """Return every key, in the order of the file."""
    groups = {name: field.annotation for name, field in Config.model_fields.items()}
    return [
        f"{group}.{name}"
        for group, model in groups.items()
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name in model.model_fields
    ]


def _split(key: str) -> tuple[str, str]:
    known = keys()
    if key not in known:
        close = [name for name in known if name.endswith(f".{key}")] or get_close_matches(
            key, known
        )
        guess = f"Did you mean {' or '.join(close[:4])}? " if close else ""
        raise Usage(f"{key[:80]!r} is no setting", hint=f"{guess}`gitmem config show` lists them.")
    group, _, name = key.partition(".")
    return group, name


def _raw(path: Path) -> dict[str, Any]:
    try:
        # One byte more, so that the reader sees where it is too long. A link is the user's own.
        data = read_regular(path.resolve(), MAX_CONFIG_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput(f"cannot be read: {error.strerror}", where=str(path)) from error
    if data is None:
        raise InvalidInput("is no file", where=str(path))
    if not data.strip():
        return {}
    return dict(read_yaml_mapping(data, where=str(path), max_bytes=MAX_CONFIG_BYTES))


def _config(raw: Mapping[str, Any], where: str, *, whole: bool = True) -> Config:
    try:
        return Config.model_validate(typed_fields(Config, raw))
    except ValidationError as error:
        problem = first_problem(error)
        raise InvalidInput(
            problem if whole else problem.partition(": ")[2],
            where=where,
            hint="`gitmem config show` lists every setting.",
        ) from error
