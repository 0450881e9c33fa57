"""Which model plays a role here: the environment first, then the user's file."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.config.file import Config, RoleConfig
from gitmem.errors import InvalidInput, Usage
from gitmem.llm.settings import OPENAI, RoleSettings, check_endpoint

#: What of a role the environment can say, as ``GITMEM_REVIEWER_MODEL``.
IN_ENVIRONMENT = ("model", "base_url", "api_key_env")

OPENAI_KEY = "OPENAI_API_KEY"


def variable(role: str, name: str) -> str:
    """Return the variable that sets ``name`` of ``role``."""
    return f"GITMEM_{role.upper()}_{name.upper()}"


def role_settings(role: str, config: Config, environ: Mapping[str, str]) -> RoleSettings | None:
    """Return the model of a role, or None where nobody set one.

    Raises:
        InvalidInput: a variable holds what the setting cannot be.
    """
    told: RoleConfig = getattr(config, role)
    fields = told.model_dump()
    for name in IN_ENVIRONMENT:
        value = environ.get(variable(role, name), "").strip()
        if value:
            fields[name] = _checked(role, name, value)
    if not fields["model"]:
        return None
    if not fields["api_key_env"] and not fields["api_key_file"] and fields["base_url"] == OPENAI:
        # Of this one host only: another's must never get the key that was meant for it.
        fields["api_key_env"] = OPENAI_KEY
    return RoleSettings(role=role, **{**fields, "timeout": float(fields["timeout"])})


def origin(role: str, name: str, config: Config, environ: Mapping[str, str]) -> str:
    """Return where a setting comes from: the variable's name, ``file`` or ``default``."""
    if name in IN_ENVIRONMENT and environ.get(variable(role, name), "").strip():
        return variable(role, name)
    told = getattr(config, role)
    return "file" if name in told.model_fields_set else "default"


def _checked(role: str, name: str, value: str) -> str:
    try:
        RoleConfig.model_validate({name: value})
    except ValueError as error:
        why = "is no address of an endpoint" if name == "base_url" else "cannot be that"
        hint = ""
        if name == "base_url":
            try:
                check_endpoint(value)
            except Usage as refused:
                why, hint = refused.message, refused.hint
        raise InvalidInput(why, where=variable(role, name), hint=hint) from error
    return value
