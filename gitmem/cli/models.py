"""The models of this machine: config show, config set, config check."""

from __future__ import annotations

import os
from typing import Any

import click

from gitmem.cli.boundary import DONE, REFUSED
from gitmem.cli.call import Call
from gitmem.cli.options import command, common_options
from gitmem.cli.output import Piece, Styled
from gitmem.config.file import Config, config_path, keys, read_config, set_value
from gitmem.config.models import origin, role_settings
from gitmem.errors import GitmemError, NotFound, Usage
from gitmem.llm import ROLES

_EXAMPLE = "\b\nExample:\n  gitmem config set reviewer.model qwen-max"
#: Seconds and tokens that trying one endpoint may take.
_TRY = (120.0, 20_000)


@click.group("config", invoke_without_command=True, params=[*common_options()], epilog=_EXAMPLE)
@click.pass_context
def config(ctx: click.Context) -> int | None:
    """Show, set or try the models of this machine.

    They stand in a file of yours outside every store; GITMEM_REVIEWER_MODEL and the like go before
    it. Keys are never written there: only the name of the variable, or the file, that holds one.
    """
    return _show(ctx.ensure_object(Call)) if ctx.invoked_subcommand is None else None


@command("show", example="gitmem config show")
def show(call: Call) -> int:
    """Show every setting, and where it comes from."""
    return _show(call)


def _show(call: Call) -> int:
    path = config_path(os.environ)
    told = read_config(path)
    rows = [_row(key, told) for key in keys()]
    out = call.output.out
    if call.json:
        settings = {key: {"value": value, "from": where} for key, value, where in rows}
        out.json({"file": str(path), "settings": settings})
        return DONE
    table: list[list[Piece]] = [
        [Styled(key, "name"), str(value), Styled(where, "" if where != "default" else "dim")]
        for key, value, where in rows
    ]
    out.table(["setting", "value", "from"], table, whole=["setting"])
    out.line()
    out.line(Styled(f"the file is {path}", "dim"))
    return DONE


def _row(key: str, told: Config) -> tuple[str, Any, str]:
    group, _, name = key.partition(".")
    if group not in ROLES:
        where = "file" if name in told.budget.model_fields_set else "default"
        return key, getattr(told.budget, name), where
    found = role_settings(group, told, os.environ)
    value = getattr(found if found is not None else getattr(told, group), name)
    return (
        key,
        int(value) if isinstance(value, float) else value,
        origin(group, name, told, os.environ),
    )


@command("set", example="gitmem config set reviewer.model qwen-max")
@click.argument("key")
@click.argument("value")
def set_setting(call: Call, key: str, value: str) -> int:
    """Set one setting in your file.

    KEY is written as `gitmem config show` does, as in reviewer.base_url; VALUE none takes it back.
    """
    path = config_path(os.environ)
    told = set_value(path, key, value)
    _, now, where = _row(key, told)
    if call.json:
        call.output.out.json({"file": str(path), "key": key, "value": now, "from": where})
        return DONE
    call.output.out.line(Styled(key, "name"), f": {now}" if now != "" else ": none")
    if where not in ("file", "default"):
        call.output.note(f"{where} is set and goes before the file")
    return DONE


@command("check", example="gitmem config check reviewer")
@click.argument("role", required=False)
def check(call: Call, role: str | None) -> int:
    """Ask each model a small question.

    Reports which model answers, whether it can be held to JSON, and whether it calls tools, which a
    reviewer has to. ROLE: proposer, reviewer, selector or consolidator (default: all that are set).
    """
    if role is not None and role not in ROLES:
        raise Usage(f"{role!r} is no role; it is one of {', '.join(ROLES)}")
    told = read_config(config_path(os.environ))
    asked = [role] if role else [r for r in ROLES if role_settings(r, told, os.environ)]
    if not asked or (role and role_settings(role, told, os.environ) is None):
        raise NotFound(
            f"no model is set{f' for the {role}' if role else ''}",
            hint=f"Set one: gitmem config set {role or 'reviewer'}.model NAME",
        )
    tried = {name: _try(name, told) for name in asked}
    good = all(found["usable"] for found in tried.values())
    out = call.output.out
    if call.json:
        out.json(tried)
    else:
        for name, found in tried.items():
            style = "good" if found["usable"] else "bad"
            out.line(
                Styled(name, "name"),
                ": ",
                Styled("usable" if found["usable"] else "not usable", style),
            )
            for what in ("asked", "model", "json", "tools", "error", "hint"):
                if found.get(what):
                    out.line(f"{what:<6} {found[what]}", indent=2)
        _warn_same(call, tried)
    return DONE if good else REFUSED


def _try(role: str, told: Config) -> dict[str, Any]:
    from gitmem.llm import Budget, ModelClient, probe

    settings = role_settings(role, told, os.environ)
    assert settings is not None
    found: dict[str, Any] = {"asked": f"{settings.model} at {settings.host}", "usable": False}
    seconds, tokens = _TRY
    try:
        with ModelClient(settings, os.environ) as client:
            seen = probe(client, Budget(tokens, seconds), os.urandom(8).hex())
    except GitmemError as error:
        return {**found, "error": error.message, "hint": error.hint}
    needs_tools = role == "reviewer"
    usable = bool(seen.model) and seen.json in ("schema", "plain")
    return {
        **found,
        "model": seen.model or "the endpoint does not say which model answered",
        "json": seen.json,
        "tools": seen.tools,
        "usable": usable and (seen.tools == "yes" or not needs_tools),
    }


def _warn_same(call: Call, tried: dict[str, dict[str, Any]]) -> None:
    from gitmem.domain.actors import same_model

    one, other = (tried.get(role, {}).get("model") for role in ("proposer", "reviewer"))
    if one and other and same_model(one, other):
        call.output.note(
            "proposer and reviewer are the same model: no review of it will count. Set another "
            "one: gitmem config set reviewer.model NAME"
        )


for subcommand in (show, set_setting, check):
    config.add_command(subcommand)
