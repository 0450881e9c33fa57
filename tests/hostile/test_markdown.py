"""MEMORY.md of a whole memory, read as CommonMark: one list item for each record, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.cli import main
from tests.store.stories import ADA, clock, opened, plain

DESCRIPTIONS = [
    "a [link](https://evil.example) and ![image](x.png)",
    "ends the link ](https://evil.example)",
    "<script>alert(1)</script> and <b>bold</b>",
    "<!-- a comment",
    "`code` and ``more` of it",
    "```fence",
    "# heading",
    "=====",
    "-----",
    "- item",
    "* item",
    "+ item",
    "1. first",
    "2) second",
    "> quote",
    "&lt;b&gt; &#35; &copy;",
    "<https://evil.example> and https://evil.example and www.evil.example",
    "a | b | c",
    "[^1]: a footnote and [^1]",
    "[ref]: https://evil.example",
    "ends with a backslash \\",
    "\\# not a heading \\",
    "*a* **b** _c_ __d__ ~~e~~",
    "$x$ and @someone and #1",
    "emoji 👨‍👩‍👧 and ❤️",
    "שלום עולם and مرحبا بالعالم",
    "数据库用 PostgreSQL，别用 MySQL。",
    "    four spaces at first",
    "[x] a task",
    "***",
    "| --- | --- |",
    "<div>",
    "</ul>",
    "{{ template }} {% raw %}",
]


def test_hostile_descriptions_are_as_many_list_items_and_nothing_else(tmp_path: Path) -> None:
    markdown_it = pytest.importorskip("markdown_it")
    root = tmp_path / "memory"
    said = [f"{text} (number {n:02})" for n, text in enumerate(DESCRIPTIONS)]
    records = [
        {
            "name": f"record-{n:02}",
            "type": "project",
            "description": text,
            "body": f"Fact number {n:02} of this project, 第 {n} 条。",
            "evidence": [{"message": n, "quote": f"number {n:02}"}],
        }
        for n, text in enumerate(said)
    ]
    messages = [{"role": "user", "content": text} for text in said]
    with MemoryStore.init(root, clock=clock) as memory:
        result = memory.propose({"kind": "extract", "messages": messages, "records": records})
        assert result.proposal
        kept = {record.name for record in result.records}
        memory.approve(result.proposal, person=ADA)
        assert {line.name for line in memory.list()} == kept
    assert len(kept) > len(DESCRIPTIONS) * 0.8, result.dropped
    for preset in ("commonmark", "gfm-like"):
        options = {"linkify": False} if preset == "gfm-like" else {}
        tokens = markdown_it.MarkdownIt(preset, options).parse((root / "MEMORY.md").read_text())
        kinds = [token.type for token in tokens]
        assert kinds.count("list_item_open") == len(kept)
        assert set(kinds) <= {
            *("heading_open", "heading_close", "inline", "bullet_list_open", "bullet_list_close"),
            *("list_item_open", "list_item_close", "paragraph_open", "paragraph_close"),
        }
        links = [
            child.attrs["href"]
            for token in tokens
            for child in token.children or ()
            if child.type == "link_open"
        ]
        assert sorted(links) == sorted(f"records/project/{name}.md" for name in kept)
        inside = {child.type for token in tokens for child in token.children or ()}
        assert inside <= {"text", "text_special", "link_open", "link_close", "softbreak"}
    assert plain(root, "status", "--porcelain") == ""
    with opened(root) as memory:
        assert memory.fsck().ok
    assert main(["--store", str(root), "list", "--json"]) == 0
