"""The hooks of a store: hooks install, hooks remove, hooks status."""

from __future__ import annotations

import click

from gitmem.cli.boundary import DONE, REFUSED
from gitmem.cli.call import Call
from gitmem.cli.options import command, common_options
from gitmem.cli.output import Piece, Styled
from gitmem.results.hooks import HooksReport

_EXAMPLE = "\b\nExample:\n  gitmem hooks install git"
_SAID = {
    "installed": "installed",
    "outdated": "installed for another gitmem or Python; install again",
    "edited": "installed, and edited by hand since",
    "foreign": "somebody else's",
    "absent": "not installed",
}


@click.group("hooks", params=[*common_options()], epilog=_EXAMPLE)
def hooks() -> None:
    """Install or remove the hooks of a store.

    The hooks of git finish what a cut-off merge left, keep what is derived up to date after a
    pull or a checkout, and name the next step after a commit made by hand. None ever approves.
    `gitmem init` installs them.
    """


@command("install", example="gitmem hooks install git")
@click.argument("target")
def install(call: Call, target: str) -> int:
    """Install hooks; your own ones go on working, and run first.

    TARGET is git: the hooks of the store's own repository.
    """
    with call.opened() as store:
        report = store.install_hooks(target)
    return _show(call, report, done=all(h.state == "installed" for h in report.hooks))


@command("remove", example="gitmem hooks remove git")
@click.argument("target")
def remove(call: Call, target: str) -> int:
    """Remove hooks; your own ones are again as they were.

    TARGET is git: the hooks of the store's own repository.
    """
    with call.opened() as store:
        report = store.remove_hooks(target)
    gone = not any(h.state in ("installed", "outdated", "edited") for h in report.hooks)
    return _show(call, report, done=gone)


@command("status", example="gitmem hooks status")
def status(call: Call) -> int:
    """Show which hooks are installed."""
    with call.opened() as store:
        report = store.hooks()
    return _show(call, report, done=True)


def _show(call: Call, report: HooksReport, *, done: bool) -> int:
    out = call.output.out
    if call.json:
        out.json(report.to_json())
        return DONE if done else REFUSED
    rows: list[list[Piece]] = []
    for hook in report.hooks:
        own = "your own hook runs first" if hook.own and hook.state != "foreign" else ""
        style = "good" if hook.state == "installed" else ""
        rows.append([Styled(hook.event, "name"), Styled(_SAID[hook.state], style), own])
    out.table(["hook", "state", ""], rows, whole=["hook"])
    if report.elsewhere is not None:
        call.output.note(
            f"git runs none of these, but the hooks in {report.elsewhere!r} "
            f"(core.hooksPath, set in {report.origin})"
        )
    return DONE if done else REFUSED


for _command in (install, remove, status):
    hooks.add_command(_command)
