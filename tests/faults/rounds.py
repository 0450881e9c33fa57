"""A program that proposes and approves without end, and says of each merge that it is there."""

from __future__ import annotations

import os
from pathlib import Path

from gitmem import MemoryStore
from tests.memory.words import ADA, change_set, item, user


def propose_and_approve(root: Path, rounds: list[int]) -> None:
    """Merge a fact of its own in each of the rounds; a line on standard output for each."""
    for number in rounds:
        text = f"Machine {number} stands in Dalian, and its name is 小雨 {number}."
        name = f"machine-{number}"
        fact = item(text, name=name, body=text, description=text)
        with MemoryStore.open(root) as memory:
            proposal = memory.propose(change_set([user(text)], fact)).proposal
            if proposal is None:  # the last program proposed it, and was killed
                proposal = next(
                    line.id
                    for line in memory.proposals()
                    if name in [record.name for record in line.records]
                )
            memory.approve(proposal, person=ADA)
        os.write(1, f"{name}\n".encode())
