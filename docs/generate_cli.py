"""Write docs/cli.md from the commands' own ``--help``; ``--check``: only say whether it differs.

``make docs`` runs it; a test runs it with ``--check``.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

# What is described is this checkout, whatever version is installed.
sys.path.insert(0, str(Path(__file__).parents[1]))

from gitmem.cli.root import COMMANDS, SECTIONS, gitmem

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 80

SHAPES = {
    "`init`, `status`, `gitmem` alone": (
        "`{store, path, manifest_commit, records: {count, by_type}, proposals: {open, "
        "waiting}, spool, strays: [..], problems: [{path, reason}], warnings: [..], next: "
        "[..]}`; without a store, `gitmem` alone prints `{store: null, next: [..]}`"
    ),
    "`completion`": "`{shell, script}`",
    "`hooks status`, `hooks install`, `hooks remove`": (
        "`{target, folder, elsewhere, complete, hooks: [{event, state, own}]}`; `elsewhere` is the "
        "folder whose hooks git runs instead, or null"
    ),
    "`list`": (
        "`[{name, type, description, blob, status?, valid_from?, valid_until?, change, "
        "approved_at}]`"
    ),
    "`show`": (
        "as in `list`, and `body`, `supersedes`, `evidence: [{id, session, message, class, "
        "attested, at, quote}]`"
    ),
    "`log`": (
        "`[{commit, kind, change, at, approved_by: [..], records: [{name, change}], "
        "reason}]`, newest first"
    ),
    "`why`": (
        "`{name, record, evidence, history: [{proposal, kind, change, proposed_by, session, "
        "reviews: [{by, reviewer, verdict, at, findings, reason}], approved_by, approved_at, "
        "merge}], contexts}`; `contexts` has the whole message around a quote, by evidence id"
    ),
    "`search`": ("`[{name, description, score}]`, the best first"),
    "`proposals`": (
        "`[{id, kind, state, records: [{name, change, type, description}], findings: "
        "[{severity, record, line, text, code}], created_at, proposed_by, waits_for: [..]}]` "
        "with state open (it can be merged), waiting (for a person), changes_requested, stale, "
        "inconclusive"
    ),
    "`diff`": (
        "as in `proposals`, and `change`, `diff: [{name, change, path, before, after, "
        "quotes}]`, `retire_reasons`"
    ),
    "`extract`, `propose`, `remember`, `edit`, `forget`, `adopt`": (
        "`{proposal, state, records, findings, dropped: [{name, reason}], counts, notes, "
        "merge, session}`; `proposal` is null when nothing was proposed. `state` is one of those "
        "in `proposals`, or merged, declined (a person said no), unchanged, or nothing (to propose)"
    ),
    "`approve`, `reject`": (
        "`[{proposal, state, commit, notes}]` with state merged or rejected, or "
        '`{proposal, state: "declined"}`, or '
        '`{proposal, state: "failed", error}`'
    ),
    "`fsck`": ("`{ok, commits, problems: [{where, what, fix}]}`"),
}

INTRODUCTION = """\
# The command line

This page is made from the commands' own `--help` by `make docs`; change it there
(`gitmem/cli/`) or in `docs/generate_cli.py`.

Every command takes `--store PATH`, `--json`, `-v` and `--debug`, before or after its name. The
store is the one of `--store`, else of the variable `GITMEM_STORE`, else the `.memory` that is
found in this folder or above it.

## Exit codes

| code | means |
|---|---|
| 0 | done |
| 1 | refused or failed; the message says why and what to do next; also a person's "no" |
| 2 | the call is wrong: an unknown command or option, a missing argument |
| 3 | a bug in gitmem; the message names a log to paste into a report |
| 4 | waiting: a person has to decide, or the proposal is stale because memory moved on |
| 130 | interrupted |
| 141 | whoever read the output stopped reading (`gitmem log \\| head`), as for other Unix tools |

With several ids, `approve` and `reject` handle each by itself and end with the worst code, of
which 4 is milder than 1.

The log of a bug lies in `gitmem/` under `XDG_STATE_HOME` (else `~/.local/state`), or in the
folder for temporary files. It holds versions, the traceback and the names of the options that
were given, not their values.

## Output

On a terminal: tables with headings, and colour unless `NO_COLOR` is set or `TERM` is `dumb`.
In a pipe: one line for each entry, fields separated by tabs, no headings, no colour; fields may
be added at the end of a line.

| command | fields in a pipe |
|---|---|
| `list` | name, type, description, time of approval |
| `log` | commit, time, kind, change, records, who approved |
| `search` | score, name, description |
| `proposals` | id, kind, state, records, what it waits for |

In records, `+name` is added, `~name` revised, `-name` retired. Whatever a record, a quote or a
message says is shown and never obeyed: control characters, characters that reorder text and
invisible ones are printed as `\\x1b` or `\\u{202e}`.

Notes about what a command healed, left or skipped go to standard error, as `note: ...`; so do
progress, on a terminal, and errors, as `error: ...` with `hint: ...`.

Commands with which a person decides (`remember`, `edit`, `forget`, `approve`, `reject`) show
what they will do and ask; anything but `y`, `yes` or `是` means no. Without a terminal they need
`--yes`; without it they end with 4. Where the store's policy forbids `--yes`, only an answer on a
terminal decides. `reject` also takes a proposal that cannot be read, and shows why.

What is given and empty (`--as ""`) is refused, not taken for left out.

`gitmem` alone says how things stand and what to do next, or how to begin; it ends with 0.
What `status` says to do next ends with a command that can be pasted.

An id may be cut short, as long as only one begins so. What was mistyped is answered with what
is spelt like it.

`gitmem completion bash`, `zsh` or `fish` prints a script with which the shell completes commands,
options, the names of records, the ids of proposals, types, formats and keys of the policy.

## JSON

`--json` prints one document on standard output, in UTF-8. After an error standard output is
empty, and the last line of standard error is
`{"error": {"message": "...", "hint": "...", "exit_code": 1}}`. A document comes with an exit code
other than 0 where the outcome is the answer: problems that `fsck` found, a "no" on the terminal,
a change that waits, and `approve` and `reject`, where each id has its own entry.
Keys may be added; none is renamed or removed. `?` marks a key that may be absent.

{shapes}

### A change set

What `gitmem propose FILE` reads; `-` is standard input. Messages are OpenAI chat messages, and
`message` counts them from 0.

```json
{
  "kind": "extract",
  "messages": [{"role": "user", "content": "Always use tabs in this project."}],
  "records": [
    {
      "name": "use-tabs",
      "type": "feedback",
      "description": "Use tabs for indentation",
      "body": "Use tabs, not spaces.",
      "evidence": [{"message": 0, "quote": "Always use tabs in this project."}]
    }
  ],
  "retire": []
}
```
"""


def help_of(command: click.Command, name: str, parent: click.Context | None = None) -> str:
    """What ``--help`` prints on a terminal of a fixed width."""
    with click.Context(
        command,
        info_name=name,
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    ) as context:
        return command.get_help(context).rstrip()


def chapter(group: click.Group, name: str, parent: click.Context, mark: str) -> Iterator[str]:
    """What a command's help says, and that of the commands below it."""
    command = group.get_command(parent, name)
    if command is None:
        raise SystemExit(f"{name} is listed and not there")
    yield f"{mark} {parent.command_path} {name}\n\n```text\n{help_of(command, name, parent)}\n```\n"
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name, parent=parent)
        for inner in command.list_commands(context):
            yield from chapter(command, inner, context, f"{mark}#")


def page() -> str:
    """The whole page."""
    shapes = [f"| {names} | {shape} |" for names, shape in SHAPES.items()]
    table = "\n".join(["| command | document |", "|---|---|", *shapes])
    pieces = [
        INTRODUCTION.replace("{shapes}", table),
        "## gitmem\n",
        f"```text\n{help_of(gitmem, 'gitmem')}\n```\n",
    ]
    root = click.Context(gitmem, info_name="gitmem")
    for title, commands in SECTIONS.items():
        pieces.append(f"## {title}\n")
        for name in commands:
            pieces += chapter(gitmem, name, root, "###")
    assert len(COMMANDS) == sum(len(commands) for commands in SECTIONS.values())
    return "\n".join(pieces)


def main() -> int:
    """Write the page, or compare it."""
    wanted = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8", newline="\n")
        return 0
    there = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    difference = difflib.unified_diff(
        there.splitlines(), wanted.splitlines(), "docs/cli.md", "what --help prints", lineterm=""
    )
    sys.stderr.write("\n".join(difference))
    if there != wanted:
        sys.stderr.write("\nRun: make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
