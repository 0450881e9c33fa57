"""Does to a store what it is told on its input, and leaves a mark in a trace after each."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from gitmem import MemoryStore
from gitmem.domain.review import Review
from tests.memory.words import ADA, NOW, change_set, item, opened, user
from tests.store.stories import plain

MARK = "/mark-of-the-story/"


def proposal_of(memory: MemoryStore, name: str) -> str:
    """The id of the open proposal about ``name``."""
    open_ones = memory.proposals()
    return next(o.id for o in open_ones if name in [record.name for record in o.records])


def propose(memory: MemoryStore, name: str, text: str) -> None:
    made = memory.propose(change_set([user(text)], item(text, name=name, body=text)))
    assert made.proposal, made


def review(memory: MemoryStore, proposal: str) -> None:
    """A person's no to a change, which waits for other words."""
    store = memory._opened()
    _, tip = store.find_proposal(proposal)
    change = memory.diff(proposal).change
    said = Review(f"human:{ADA}", "person", "request_changes", change, None, (), NOW)
    store.add_review(proposal, tip, said)


def act(root: Path, what: str) -> None:
    """One thing that a person or a program does."""
    if what == "init":
        MemoryStore.init(root, clock=lambda: NOW).close()
        return
    with opened(root) as memory:
        if what == "remember":
            memory.remember("缩进用制表符。", name="use-tabs", type="user", person=ADA)
        elif what == "propose":
            propose(memory, "db", "数据库用 PostgreSQL 16。")
        elif what == "approve":
            memory.approve(proposal_of(memory, "db"), person=ADA)
        elif what == "propose more":
            propose(memory, "port", "The server listens on port 8081.")
        elif what == "review":
            review(memory, proposal_of(memory, "port"))
        elif what == "rebase":
            memory.rebase(proposal_of(memory, "port"))
        elif what == "reject":
            memory.reject(proposal_of(memory, "port"), reason="还没定", person=ADA)
        elif what == "adopt":
            file = root / "records/user/use-tabs.md"
            file.write_text(file.read_text().replace("制表符", "空格"))
            memory.adopt(person=ADA)
        elif what == "extract":
            memory.extract(root.parent / "chat.json")
        elif what == "policy":
            memory.set_policy("rounds", "3", person=ADA)
        elif what == "pack refs by hand":
            plain(root, "pack-refs", "--all")
        elif what == "join packs":
            memory._opened().repo.maybe_repack(every=2)
        elif what == "forget":
            memory.forget("db", person=ADA)
        else:
            raise AssertionError(what)


if __name__ == "__main__":
    for line in sys.stdin:
        act(Path(sys.argv[1]), line.strip())
        with suppress(FileNotFoundError):
            os.open(MARK + line.strip().replace(" ", "-"), os.O_RDONLY)
        print("done", flush=True)
