"""What must be remembered, open, kept and buried: a memory reduced to dictionaries.

It knows nothing of branches, merges or projections. What it takes from git, with plain git, are
the ids of blobs: by them a proposal is stale or not, and a rebase has something left or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitmem.domain.tombstone import statement_hash
from tests.store.stories import plain

NAMES = ("tea", "port", "lunch", "host")
_SAYS = {
    "tea": ("The tea in the kitchen is green.", "The tea is black since May.", "只喝乌龙茶。"),
    "port": ("The server listens on port 8080.", "端口改成了 9090。", "No port is open at night."),
    "lunch": (
        "Lunch begins at twelve o'clock.",
        "午饭在十一点半。",
        "Nobody eats lunch on Friday.",
    ),
    "host": (
        "Staging runs on the blue host.",
        "预发布机器搬到了上海。",
        "There is no staging host.",
    ),
}
TEXTS = {name: tuple(f"{text} ({name})" for text in texts) for name, texts in _SAYS.items()}

Texts = Mapping[str, "str | None"]
"""What becomes of each name: its text, or None where it is retired."""


def key_of(text: str) -> str:
    """The key of the tombstone of a record that says ``text`` in description and body."""
    return statement_hash(f"{text}\n{text}")[:40]


@dataclass(frozen=True)
class Proposed:
    """A proposal: what it makes of each name, on which blobs, and into which blobs."""

    id: str
    kind: str
    texts: dict[str, str | None]
    old: dict[str, str | None]
    new: dict[str, str | None]
    bases: tuple[str, ...]
    by: str = ""

    def without(self, names: Iterable[str]) -> Proposed:
        gone = set(names)

        def left(of: Mapping[str, str | None]) -> dict[str, str | None]:
            return {name: value for name, value in of.items() if name not in gone}

        return replace(self, texts=left(self.texts), old=left(self.old), new=left(self.new))


@dataclass
class Main:
    """What one accepted commit of main says."""

    oid: str
    texts: dict[str, str] = field(default_factory=dict)
    tombs: set[str] = field(default_factory=set)
    decided: dict[str, str] = field(default_factory=dict)
    rounds: str = "2"
    two: bool = False
    before: Main | None = None

    def child(self, oid: str) -> Main:
        said = dict(self.texts), set(self.tombs), dict(self.decided)
        return Main(oid, *said, self.rounds, self.two, self)

    def chain(self) -> list[Main]:
        """This commit and those before it, the newest first."""
        found, at = [], self
        while at is not None:
            found.append(at)
            at = at.before  # type: ignore[assignment]
        return found

    def apply(self, texts: Texts, *, bury: bool = False) -> None:
        """Take a merge that a person approved: what it says is buried no more."""
        for name, text in texts.items():
            old = self.texts.pop(name, None)
            if text is not None:
                self.texts[name] = text
                self.tombs.discard(key_of(text))
            elif old is not None and bury:
                self.tombs.add(key_of(old))


def read_main(root: Path, oid: str, before: Main) -> Main:
    """Return what plain git reads of a commit that a repair made after ``before``."""
    main = Main(oid, decided=dict(before.decided), before=before)
    for name in blobs(root, oid):
        file = plain(root, "show", f"{oid}:records/project/{name}.md")
        main.texts[name] = file.rpartition("\n")[2]
    tree = plain(root, "ls-tree", "-r", "--name-only", oid, "tombstones/").split()
    main.tombs = {path.removeprefix("tombstones/").replace("/", "")[:40] for path in tree}
    policy = plain(root, "show", f"{oid}:policy.yaml")
    main.rounds = policy.partition("rounds: ")[2][:3].strip('" \n')
    main.two = 'two_person: "true"' in policy
    for key, how in (("Proposal-Id", "merged"), ("Rejects", "rejected")):
        main.decided.update(dict.fromkeys(trailers(root, oid, key, newest=1), how))
    return main


def trailers(root: Path, ref: str, key: str, newest: int = 1000) -> list[str]:
    """The values of a trailer along the first parents of a commit, the newest first."""
    form = f"--format=%(trailers:key={key},valueonly)"
    return plain(root, "log", "--first-parent", f"-{newest}", form, ref, "--").split()


def blobs(root: Path, commit: str) -> dict[str, str]:
    """The blob of each record of a commit, as plain git lists them: name -> id."""
    found = {}
    for line in plain(root, "ls-tree", "-r", commit, "records/").splitlines():
        head, _, path = line.partition("\t")
        found[path.rpartition("/")[2].removesuffix(".md")] = head.split(" ")[2]
    return found
