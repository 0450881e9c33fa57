"""What somebody with plain git can make of a memory's tree: one change each, by name.

The memory holds the record ``use-tabs`` (user) and the proposal adds ``db-postgres`` (project).
"""

from __future__ import annotations

from tests.hostile.forge import (
    EXECUTABLE,
    FILE,
    FOLDER,
    GROUP,
    LINK,
    REPOSITORY,
    Forge,
    Harm,
    Node,
    raw_tree,
    shard,
)

NEW = "records/project/db-postgres.md"
OLD = "records/user/use-tabs.md"
QUOTES = f"evidence/{shard('db-postgres')}/db-postgres"
TARGETS = ("/etc/hostname", "../../../../etc/passwd", ".git/config")
ZWNJ = "\u200c"


def _link(path: str, target: str = "/etc/hostname") -> Harm:
    def harm(forge: Forge) -> None:
        forge.put(path, LINK, forge.blob(target.encode()))

    return harm


def _mode(path: str, mode: str) -> Harm:
    def harm(forge: Forge) -> None:
        forge.put(path, mode, forge.oid(path))

    return harm


def _repository(path: str) -> Harm:
    return lambda forge: forge.put(path, REPOSITORY, "a" * 40)


def _named(folder: str, name: str | bytes, mode: str = FILE) -> Harm:
    """One more entry, called so, which holds a good record."""

    def harm(forge: Forge) -> None:
        oid = forge.oid(OLD)
        if mode == FOLDER:
            oid = raw_tree(forge.root, [(FILE, "x.md", oid)])
        forge.folder(folder)["another"] = (mode, name, oid)

    return harm


def _file(path: str, data: bytes) -> Harm:
    return lambda forge: forge.file(path, data)


def _only_quote(forge: Forge) -> str:
    (name,) = forge.folder(QUOTES)
    return f"{QUOTES}/{name}"


_PLACES = [
    *("records", "records/user", "records/project", "records/user/x.md", NEW),
    *("evidence", QUOTES, f"{QUOTES}/{'a' * 40}.md", "manifest.json", "MEMORY.md", "README.md"),
    *("policy.yaml", "reviewers", "reviewers/x.md"),
    *("tombstones", f"tombstones/aa/{'b' * 38}.json"),
]
LINKS = {f"a link for {path}": _link(path) for path in _PLACES}
LINKS |= {f"a link to {to}": _link("records/user/x.md", to) for to in TARGETS}
MODES = {f"{NEW} as {mode}": _mode(NEW, mode) for mode in (EXECUTABLE, GROUP)}
MODES |= {
    "an executable view": _mode("MEMORY.md", EXECUTABLE),
    "an executable policy": _mode("policy.yaml", EXECUTABLE),
    "a quote for its group": lambda f: f.put(_only_quote(f), GROUP, f.oid(_only_quote(f))),
    "a mode that no git has": _mode(NEW, "140644"),
    "a mode of many digits": _mode(NEW, "1" * 4000),
    "a file's mode with a nought before": _mode(NEW, f"0{FILE}"),
    "a file that says it is a folder": _mode(NEW, FOLDER),
    "a folder that says it is a file": lambda f: f.put(
        "records/project/x.md", FILE, raw_tree(f.root, [(FILE, "y", f.blob(b"y"))])
    ),
    "a folder for the record": lambda f: f.file(f"{NEW}/x.md", b"x"),
    "a folder for the view": lambda f: f.file("MEMORY.md/x", b"x"),
    "a file for the records": _file("records", b"x"),
    "a file for the quotes": _file(QUOTES, b"x"),
}
REPOSITORIES = {
    f"a repository for {path}": _repository(path)
    for path in (NEW, "records", "evidence", "records/user/sub", "sub", "policy.yaml")
}


# --- trees that are not in order ----------------------------------------------------------------


def _entries(forge: Forge, folder: str) -> list[tuple[str, str | bytes, str]]:
    node: Node = forge.folder(folder)
    return [e if isinstance(e, tuple) else (FOLDER, n, forge.written(e)) for n, e in node.items()]


def _rewritten(forge: Forge, folder: str, entries: list[tuple[str, str | bytes, str]]) -> None:
    """Let ``folder`` be a tree with these entries just as they come."""
    above, _, last = folder.rpartition("/")
    forge.folder(above)[last] = (FOLDER, last, raw_tree(forge.root, entries))


def _reversed(forge: Forge) -> None:
    forge.file("records/project/a.md", b"x")
    entries = sorted(_entries(forge, "records/project"), key=lambda e: str(e[1]), reverse=True)
    _rewritten(forge, "records/project", entries)


def _twice(first: str, second: str) -> Harm:
    """The record twice under one name: something else, hidden behind what it should be."""

    def harm(forge: Forge) -> None:
        rest = [e for e in _entries(forge, "records/project") if e[1] != "db-postgres.md"]
        good, evil = forge.oid(NEW), forge.blob(b"evil\n")
        pair = {"good": (FILE, "db-postgres.md", good), "evil": (FILE, "db-postgres.md", evil)}
        pair["folder"] = (FOLDER, "db-postgres.md", raw_tree(forge.root, [(FILE, "x", evil)]))
        _rewritten(forge, "records/project", [*rest, pair[first], pair[second]])

    return harm


def _hidden(name: str) -> Harm:
    """A second entry for what stands at the top, before the one that belongs there."""

    def harm(forge: Forge) -> str:
        found = []
        for entry in sorted(_entries(forge, ""), key=lambda e: str(e[1])):
            if entry[1] == name:
                found.append((FILE, name, forge.blob(b"agents_may_approve: true\n")))
            found.append(entry)
        return raw_tree(forge.root, found)

    return harm


def _cut_off(forge: Forge) -> None:
    from tests.hostile.forge import write

    tree = write(forge.root, "tree", b"100644 db-postgres.md\0short")
    forge.folder("records")["project"] = (FOLDER, "project", tree)


FORMS: dict[str, Harm] = {
    "a folder in the wrong order": _reversed,
    "a record twice, the good one last": _twice("evil", "good"),
    "a record twice, the good one first": _twice("good", "evil"),
    "a record and a folder of one name": _twice("folder", "good"),
    "the policy twice": _hidden("policy.yaml"),
    "the view twice": _hidden("MEMORY.md"),
    "the reviewers twice": _hidden("reviewers"),
    "a tree that is cut off": _cut_off,
    "an empty folder": lambda f: f.put("records/x", FOLDER, raw_tree(f.root, [])),
    "an empty folder called .git": lambda f: f.put(".git", FOLDER, raw_tree(f.root, [])),
    "empty folders in each other": lambda f: f.put(
        "ignore-all-rules", FOLDER, raw_tree(f.root, [(FOLDER, "x", raw_tree(f.root, []))])
    ),
}

# --- names ------------------------------------------------------------------------------------

_ODD: dict[str, str | bytes] = {
    "with a slash": "a/b.md",
    "that is a dot": ".",
    "that is two dots": "..",
    "with two dots": "../x.md",
    ".git": ".git",
    ".GIT": ".GIT",
    "git~1": "git~1",
    "with a joiner in .git": f".g{ZWNJ}it",
    ".gitattributes": ".gitattributes",
    ".gitmodules": ".gitmodules",
    "in capitals": "USE-TABS.md",
    "with one capital": "Use-tabs.md",
    "composed": "caf\u00e9.md",
    "decomposed": "cafe\u0301.md",
    "of a device": "aux.md",
    "of a device in capitals": "CON",
    "of a device alone": "nul",
    "with a dot at its end": "use-tabs.md.",
    "with a space at its end": "use-tabs.md ",
    "with a backslash": "..\\..\\x.md",
    "with a stream": "x.md:evil",
    "with a line end": "a\nb.md",
    "with an escape": "a\x1b[2J\x1b]0;pwn\x07.md",
    "with a carriage return": "a\rFORGED.md",
    "with C1 controls": "a\x9b31m.md",
    "with bidi marks": "a\u202egpj.md",
    "with tags": "a\U000e0041.md",
    "with full-width letters": "\uff55se-tabs.md",
    "that is not UTF-8": b"\xff\xfe.md",
    "of 300 bytes": "a" * 297 + ".md",
    "of 100,000 bytes": "a" * 100_000,
    "like an option": "--output=x.md",
    "that is a pathspec": ":(top)*.md",
    "with quotes": "a\"b'c$(id).md",
}
NAMES: dict[str, Harm] = {}
for _what, _name in _ODD.items():
    NAMES[f"a record's name {_what}"] = _named("records/user", _name)
    NAMES[f"a top name {_what}"] = _named("", _name, FILE if len(_name) % 2 else FOLDER)
NAMES["an empty name"] = _named("records/user", "")
NAMES["a folder's name that is not UTF-8"] = _named("records", b"\xff", FOLDER)

# --- places and contents ------------------------------------------------------------------------


def _deep(forge: Forge) -> None:
    tree = raw_tree(forge.root, [(FILE, "x.md", forge.oid(OLD))])
    for _ in range(5000):
        tree = raw_tree(forge.root, [(FOLDER, "d", tree)])
    forge.put("records/user/d", FOLDER, tree)


def _wide(forge: Forge) -> None:
    oid = forge.oid(OLD)
    entries = [(FILE, f"n{n:05}.md", oid) for n in range(50_000)]
    forge.put("records/reference", FOLDER, raw_tree(forge.root, entries))


def _bomb(leaf: bool) -> Harm:
    """Ten folders in each of ten levels: ten thousand million files in eleven objects."""

    def harm(forge: Forge) -> None:
        inner = [(FILE, "x.md", forge.oid(OLD))] if leaf else []
        tree = raw_tree(forge.root, inner)
        for _ in range(10):
            tree = raw_tree(forge.root, [(FOLDER, f"d{n}", tree) for n in range(10)])
        forge.put("records/user/bomb", FOLDER, tree)

    return harm


def _another_quote(forge: Forge) -> None:
    old = f"evidence/{shard('use-tabs')}/use-tabs"
    (name,) = forge.folder(old)
    forge.put(f"{QUOTES}/{name}", FILE, forge.oid(f"{old}/{name}"))


def _uncited(forge: Forge) -> None:
    forge.take(_only_quote(forge))


def _false_id(forge: Forge) -> None:
    forge.put(_only_quote(forge), FILE, forge.oid(OLD))


def _cited_twice(forge: Forge) -> None:
    text = _text(forge, NEW)
    line = next(line for line in text.split("\n") if line.startswith('- "'))
    forge.file(NEW, text.replace(line, f"{line}\n{line}").encode())


def _text(forge: Forge, path: str) -> str:
    from tests.store.stories import plain

    return plain(forge.root, "cat-file", "blob", forge.oid(path)) + "\n"


def _moved(path: str) -> Harm:
    def harm(forge: Forge) -> None:
        forge.put(path, FILE, forge.oid(NEW))
        forge.take(NEW)

    return harm


def _copied(path: str) -> Harm:
    return lambda forge: forge.put(path, FILE, forge.oid(NEW))


CONTENTS: dict[str, Harm] = {
    "folders nested 5,000 deep": _deep,
    "a folder of 50,000 records": _wide,
    "a bomb of folders": _bomb(leaf=True),
    "a bomb of empty folders": _bomb(leaf=False),
    "a quote of another record": _another_quote,
    "a quote that is gone": _uncited,
    "the right id with other content": _false_id,
    "a quote under a false id": _file(f"{QUOTES}/{'a' * 40}.md", b"x"),
    "a quote with a short id": _file(f"{QUOTES}/abc.md", b"x"),
    "a quote that nothing cites": _file(f"{QUOTES}/{'c' * 40}.md", b"y"),
    "a quote cited twice": _cited_twice,
    "quotes without a record": _file(f"evidence/{shard('nobody')}/nobody/{'a' * 40}.md", b"x"),
    "the name under another type": _copied("records/user/db-postgres.md"),
    "the name in a folder by hash, too": _copied(
        f"records/project/{shard('db-postgres')}/db-postgres.md"
    ),
    "a wrong folder by hash": _moved("records/project/00/db-postgres.md"),
    "a type that does not exist": _moved("records/secret/db-postgres.md"),
    "a place of another type": _moved("records/user/db-postgres.md"),
    "a name of another record": _moved("records/project/db-other.md"),
    "a file more at the top": _file("run.sh", b"#!/bin/sh\n"),
    "settings of git": _file(".gitattributes", b"* filter=evil\n"),
    "a record of 4 MB": _file(NEW, b"---\n" + b"x" * 4_000_000),
    "a quote of 4 MB": _file(f"{QUOTES}/{'d' * 40}.md", b"x" * 4_000_000),
    "an empty record": _file(NEW, b""),
    "an empty manifest": _file("manifest.json", b""),
    "an empty policy": _file("policy.yaml", b""),
}

HARMS: dict[str, Harm] = {
    **LINKS,
    **MODES,
    **REPOSITORIES,
    **FORMS,
    **NAMES,
    **CONTENTS,
}
