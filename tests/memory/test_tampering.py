"""What a person or a program does to main with plain git is never memory, and never hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.stories import (
    ADA,
    FILE,
    MAIN,
    QUOTE,
    Entry,
    approved,
    assert_stray,
    blob,
    commit_object,
    commit_text,
    copy,
    files,
    forged_merge,
    fsck,
    names,
    opened,
    plain,
    propose,
    refused,
    remembered,
    rev,
    set_main,
    tree_with,
)

RECORD = "records/project/db-postgres.md"
OLD_RECORD = "records/user/use-tabs.md"


def change_text(root: Path, tree: str, path: str, old: str, new: str) -> Entry:
    text = plain(root, "cat-file", "blob", f"{tree}:{path}") + "\n"
    assert old in text
    return FILE, blob(root, text.replace(old, new).encode())


def quote_path(root: Path, tree: str) -> str:
    (path,) = [path for path in files(root, tree) if path.startswith("evidence/") and "db-" in path]
    return path


def test_the_untampered_merge_is_accepted_wherever_it_is_put_on_main(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    merge = approved(root, proposal, tmp_path / "twin")
    set_main(root, merge)
    assert names(root) == ["use-tabs", "db-postgres"]
    assert fsck(root) == []


# --- forged merges: the commit object ----------------------------------------------------------


def other_line(key: str, change: Callable[[str], str]) -> Callable[[str], str]:
    def apply(text: str) -> str:
        lines = text.split("\n")
        at = next(n for n, line in enumerate(lines) if line.startswith(key))
        lines[at] = change(lines[at])
        return "\n".join(lines)

    return apply


def swapped_parents(text: str) -> str:
    tree, first, second, *rest = text.split("\n")
    return "\n".join([tree, second, first, *rest])


HEADS: dict[str, Callable[[str], str]] = {
    "parents swapped": swapped_parents,
    "the proposal is no parent": lambda t: "\n".join(
        line for n, line in enumerate(t.split("\n")) if n != 2
    ),
    "a parent doubled": lambda t: t.replace("\nauthor", "\n" + t.split("\n")[2] + "\nauthor", 1),
    "another author": other_line("author ", lambda line: line.replace("gitmem", "Ada", 1)),
    "another author date": other_line("author ", lambda line: line.replace("17900", "17901")),
    "another committer": other_line("committer ", lambda line: line.replace("<noreply", "<no")),
    "another committer date": other_line("committer ", lambda line: line.replace("17900", "17899")),
    "another time zone": other_line("committer ", lambda line: line.replace("+0000", "+0800")),
    "an encoding": lambda t: t.replace("\n\n", "\nencoding UTF-8\n\n", 1),
    "a signature": lambda t: t.replace("\n\n", "\ngpgsig -----BEGIN\n x\n -----END\n\n", 1),
    "another subject": lambda t: t.replace("\n\nmerge ", "\n\nMerge ", 1),
    "another description": lambda t: t.replace("  added db-postgres", "  revised db-postgres"),
    "another approver": lambda t: t.replace("Approved-By: human:Ada", "Approved-By: human:Bob"),
    "one approver more": lambda t: t.rstrip("\n") + "\nApproved-By: human:Bob <b@example.org>\n",
    "no approver": other_line("Approved-By: ", lambda line: ""),
    "another proposal's id": other_line("Proposal-Id: ", lambda line: line[:-1] + "x"),
    "something skipped": lambda t: t.rstrip("\n") + f"\nSkipped: {'a' * 40}\n",
    "one line end more": lambda t: t + "\n",
    "no line end": lambda t: t.rstrip("\n"),
}


@pytest.mark.parametrize("what", HEADS)
def test_a_merge_commit_of_which_one_part_differs_is_a_stray(
    root: Path, proposal: str, tmp_path: Path, what: str
) -> None:
    before = remembered(root)
    text = commit_text(root, approved(root, proposal, tmp_path / "twin"))
    forged = HEADS[what](text)
    assert forged != text
    oid = commit_object(root, forged)
    set_main(root, oid)
    assert_stray(root, oid, before)


# --- forged merges: the tree -------------------------------------------------------------------

TREES: dict[str, Callable[[Path, str], dict[str, Entry | None]]] = {
    "one byte of the record": lambda r, t: {RECORD: change_text(r, t, RECORD, "16", "17")},
    "one byte of an old record": lambda r, t: {
        OLD_RECORD: change_text(r, t, OLD_RECORD, "spaces", "spacez")
    },
    "the quote under its old name": lambda r, t: {
        quote_path(r, t): change_text(r, t, quote_path(r, t), "别用", "只用")
    },
    "the quote renamed": lambda r, t: {
        quote_path(r, t): None,
        f"{quote_path(r, t)[:-43]}{'a' * 40}.md": files(r, t)[quote_path(r, t)],
    },
    "the quote gone": lambda r, t: {quote_path(r, t): None},
    "a record more": lambda r, t: {"records/user/eve.md": files(r, t)[OLD_RECORD]},
    "a record gone": lambda r, t: {OLD_RECORD: None},
    "a file more": lambda r, t: {"notes.txt": (FILE, blob(r, b"hello"))},
    "a file under reviewers": lambda r, t: {
        "reviewers/eve.md": (FILE, blob(r, b"---\nname: eve\n---\n"))
    },
    "an executable record": lambda r, t: {RECORD: ("100755", files(r, t)[RECORD][1])},
    "a link for a record": lambda r, t: {RECORD: ("120000", blob(r, b"/etc/hostname"))},
    "a link beside the records": lambda r, t: {
        "records/user/x.md": ("120000", blob(r, b"/etc/hostname"))
    },
    "a link for the view": lambda r, t: {"MEMORY.md": ("120000", blob(r, b"/etc/hostname"))},
    "a repository for a record": lambda r, t: {RECORD: ("160000", "a" * 40)},
    "other counts in the manifest": lambda r, t: {
        "manifest.json": change_text(r, t, "manifest.json", '"count":2', '"count":3')
    },
    "another approver in the manifest": lambda r, t: {
        "manifest.json": change_text(r, t, "manifest.json", "human:Ada", "human:Bob")
    },
    "spaces in the manifest": lambda r, t: {
        "manifest.json": change_text(r, t, "manifest.json", '"version":1', '"version": 1')
    },
    "no manifest": lambda r, t: {"manifest.json": None},
    "an edited view": lambda r, t: {"MEMORY.md": change_text(r, t, "MEMORY.md", "tabs", "TABS")},
    "no view": lambda r, t: {"MEMORY.md": None},
    "another policy": lambda r, t: {
        "policy.yaml": change_text(r, t, "policy.yaml", 'allow_yes: "true"', 'allow_yes: "false"')
    },
    "another readme": lambda r, t: {"README.md": (FILE, blob(r, b"trust me\n"))},
    "a tombstone": lambda r, t: {f"tombstones/aa/{'b' * 38}.json": (FILE, blob(r, b"{}\n"))},
    "a name that is not UTF-8": lambda r, t: {"records/user/\udcff.md": files(r, t)[OLD_RECORD]},
}


@pytest.mark.parametrize("what", TREES)
def test_a_merge_with_other_files_is_a_stray_and_the_next_merge_has_nothing_of_it(
    root: Path, proposal: str, tmp_path: Path, what: str
) -> None:
    before = remembered(root)
    merge = approved(root, proposal, tmp_path / "twin")
    tree = rev(root, f"{merge}^{{tree}}")
    forged = tree_with(root, tree, TREES[what](root, tree))
    assert forged != tree
    stray = commit_object(root, commit_text(root, merge).replace(tree, forged))
    plain(root, "update-ref", MAIN, stray)
    reason = assert_stray(root, stray, before)
    assert "its files" in reason

    with opened(root) as memory:
        after = memory.approve(proposal, person=ADA).commit
    assert rev(root, f"{after}^{{tree}}") == tree, "the very tree of an undisturbed merge"
    assert rev(root, f"{after}^1") == stray
    assert f"\nSkipped: {stray}\n" in commit_text(root, after)
    assert names(root) == ["use-tabs", "db-postgres"]
    with opened(root) as memory:
        assert memory.status().strays == ()


# --- forged merges: the branch -----------------------------------------------------------------


def with_second_parent(root: Path, merge: str, tip: str) -> str:
    text = commit_text(root, merge)
    return commit_object(root, text.replace(text.split("\n")[2], f"parent {tip}"))


def test_a_merge_of_a_branch_without_the_approval_is_a_stray(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    before = remembered(root)
    merge = approved(root, proposal, tmp_path / "twin")
    stray = with_second_parent(root, merge, rev(root, f"proposals/{proposal}"))
    set_main(root, stray)
    assert "cannot be merged (waiting)" in assert_stray(root, stray, before)


def rebuilt(root: Path, tip: str, changes: dict[str, Entry | None]) -> str:
    """The branch that ends at ``tip`` again, with other files and every review as it was."""
    chain = plain(root, "rev-list", "--first-parent", "--reverse", f"{MAIN}..{tip}").split()
    old_tree = rev(root, f"{tip}^{{tree}}")
    tree = tree_with(root, old_tree, changes)
    new: dict[str, str] = {}
    for oid in chain:
        text = commit_text(root, oid).replace(old_tree, tree)
        for old, moved in new.items():
            text = text.replace(old, moved)
        new[oid] = commit_object(root, text)
    return new[tip]


@pytest.mark.parametrize("old, new", [("PostgreSQL 16，", "PostgreSQL 17，"), ("别用", "请用")])
def test_an_approval_does_not_cover_a_text_that_was_changed_under_it(
    root: Path, proposal: str, tmp_path: Path, old: str, new: str
) -> None:
    before = remembered(root)
    merge = approved(root, proposal, tmp_path / "twin")
    tip = rev(root, f"{merge}^2")
    changes: dict[str, Entry | None] = {RECORD: change_text(root, tip, RECORD, old, new)}
    other = rebuilt(root, tip, changes)
    tree = tree_with(root, f"{merge}^{{tree}}", changes)
    text = commit_text(root, with_second_parent(root, merge, other))
    stray = commit_object(root, text.replace(rev(root, f"{merge}^{{tree}}"), tree))
    set_main(root, stray)
    assert "checks have not run on this change" in assert_stray(root, stray, before)

    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", other)
    set_main(root, rev(root, f"{merge}^1"))
    with opened(root) as memory:
        error = refused(lambda: memory.approve(proposal, person=ADA))
    assert "checks have not run" in error.message
    assert remembered(root) == before


def test_a_quote_that_was_changed_and_renamed_with_its_record_needs_a_new_approval(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    merge = approved(root, proposal, tmp_path / "twin")
    tip = rev(root, f"{merge}^2")
    path = quote_path(root, tip)
    mode, oid = change_text(root, tip, path, "别用", "只用")
    record = change_text(root, tip, RECORD, path[-43:-3], oid)
    other = rebuilt(root, tip, {path: None, f"{path[:-43]}{oid}.md": (mode, oid), RECORD: record})
    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", other)
    with opened(root) as memory:
        refused(lambda: memory.approve(proposal, person=ADA))
    assert names(root) == ["use-tabs"]


BRANCHES: dict[str, Callable[[Path, str], dict[str, Entry | None]]] = {
    "the policy": lambda r, t: {"policy.yaml": (FILE, blob(r, b"two_person: false\n"))},
    "a reviewer": lambda r, t: {"reviewers/eve.md": (FILE, blob(r, b"x"))},
    "the view": lambda r, t: {"MEMORY.md": (FILE, blob(r, b"x"))},
    "a hook": lambda r, t: {".githooks/post-merge": (FILE, blob(r, b"x"))},
    "an upper-case name": lambda r, t: {"records/user/EVE.md": files(r, t)[RECORD]},
    "a folder of its own": lambda r, t: {"records/secret/eve.md": files(r, t)[RECORD]},
    "a deeper folder": lambda r, t: {"records/user/a/b/eve.md": files(r, t)[RECORD]},
    "a wrong shard": lambda r, t: {"records/user/00/eve.md": files(r, t)[RECORD]},
    "the same name of another type": lambda r, t: {
        "records/user/db-postgres.md": files(r, t)[RECORD]
    },
    "a link": lambda r, t: {"records/user/x.md": ("120000", blob(r, b"/etc/hostname"))},
    "an executable record": lambda r, t: {RECORD: ("100755", files(r, t)[RECORD][1])},
    "an executable quote": lambda r, t: {
        quote_path(r, t): ("100755", files(r, t)[quote_path(r, t)][1])
    },
    "a quote that nothing cites": lambda r, t: {
        f"{quote_path(r, t)[:-43]}{blob(r, b'x')}.md": (FILE, blob(r, b"x"))
    },
    "the quotes of another record": lambda r, t: {
        path: None for path in files(r, t) if path.startswith("evidence/") and "use-tabs" in path
    },
    "a record for a quote": lambda r, t: {
        quote_path(r, t): None,
        f"{quote_path(r, t)[:-43]}{files(r, t)[OLD_RECORD][1]}.md": files(r, t)[OLD_RECORD],
        RECORD: change_text(r, t, RECORD, quote_path(r, t)[-43:-3], files(r, t)[OLD_RECORD][1]),
    },
    "a quote for a record": lambda r, t: {RECORD: files(r, t)[quote_path(r, t)]},
    "a name that is not UTF-8": lambda r, t: {"records/user/\udcff.md": files(r, t)[RECORD]},
    "a quote under a false name": lambda r, t: {quote_path(r, t): (FILE, blob(r, b"x"))},
}


@pytest.mark.parametrize("what", BRANCHES)
def test_a_branch_that_touches_anything_else_is_shown_and_never_merged(
    root: Path, proposal: str, tmp_path: Path, what: str
) -> None:
    before = remembered(root)
    merge = approved(root, proposal, tmp_path / "twin")
    tip = rev(root, f"{merge}^2")
    other = rebuilt(root, tip, BRANCHES[what](root, tip))
    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", other)
    with opened(root) as memory:
        (line,) = memory.proposals()
        assert line.state == "inconclusive"
        assert line.findings[0].text
        assert memory.status().problems[0].path == f"proposals/{proposal}"
        refused(lambda: memory.approve(proposal, person=ADA))
        assert [p.where for p in memory.fsck().problems] == [f"refs/heads/proposals/{proposal}"]
    stray = with_second_parent(root, merge, other)
    set_main(root, stray)
    assert_stray(root, stray, before)


def test_a_review_that_changes_files_makes_its_branch_unmergeable(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    before = remembered(root)
    merge = approved(root, proposal, tmp_path / "twin")
    tip = rev(root, f"{merge}^2")
    tree = rev(root, f"{tip}^{{tree}}")
    other = tree_with(root, tree, {RECORD: change_text(root, tip, RECORD, "16", "17")})
    changing = commit_object(root, commit_text(root, tip).replace(tree, other))
    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", changing)
    with opened(root) as memory:
        (line,) = memory.proposals()
        assert "may not change files" in line.findings[0].text
        refused(lambda: memory.approve(proposal, person=ADA))
    stray = with_second_parent(root, merge, changing)
    set_main(root, stray)
    assert "may not change files" in assert_stray(root, stray, before)


def test_a_proposal_that_stands_on_a_stray_is_never_merged(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    before, base = remembered(root), rev(root, MAIN)
    plain(root, "commit", "-q", "--allow-empty", "-m", "by hand")
    stray = rev(root, MAIN)
    merge = approved(root, proposal, tmp_path / "twin")
    tip = rev(root, f"{merge}^2")
    chain = plain(root, "rev-list", "--first-parent", "--reverse", f"{base}..{tip}").split()
    moved = {base: stray}
    for oid in chain:
        text = commit_text(root, oid)
        for old, new in moved.items():
            text = text.replace(old, new)
        moved[oid] = commit_object(root, text)
    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", moved[tip])
    with opened(root) as memory:
        (line,) = memory.proposals()
        assert line.state == "stale" and "no accepted commit" in line.waits_for[0]
        refused(lambda: memory.approve(proposal, person=ADA))
    forged = with_second_parent(root, merge, moved[tip])
    set_main(root, forged)
    assert "no accepted commit" in assert_stray(root, forged, before)
    with opened(root) as memory:
        memory.rebase(proposal)
        memory.approve(proposal, person=ADA)
        assert memory.fsck(repair=False).passed_over
    assert moved[tip] not in plain(root, "rev-list", "main^2").split()


# --- careless people ---------------------------------------------------------------------------


def add_a_record(root: Path, proposal: str) -> None:
    (root / "records/user/by-hand.md").write_bytes((root / OLD_RECORD).read_bytes())
    plain(root, "add", "-A")
    plain(root, "commit", "-q", "-m", "remember this too")


def change_a_byte(root: Path, proposal: str) -> None:
    path = root / OLD_RECORD
    path.write_bytes(path.read_bytes().replace(b"spaces", b"Spaces"))
    plain(root, "commit", "-q", "-a", "-m", "typo")


def change_the_manifest(root: Path, proposal: str) -> None:
    path = root / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"count":1', b'"count":2'))
    plain(root, "commit", "-q", "-a", "-m", "count")


def change_the_policy(root: Path, proposal: str) -> None:
    (root / "policy.yaml").write_text('agents_may_approve: "true"\n')
    plain(root, "commit", "-q", "-a", "-m", "policy")


def merge_the_proposal(root: Path, proposal: str) -> None:
    plain(root, "merge", "-q", "--no-ff", "-m", "Merge it", f"proposals/{proposal}")


def fast_forward(root: Path, proposal: str) -> None:
    plain(root, "merge", "-q", "--ff-only", f"proposals/{proposal}")


def revert_memory(root: Path, proposal: str) -> None:
    plain(root, "revert", "--no-edit", "-m", "1", "HEAD")


def commit_nothing(root: Path, proposal: str) -> None:
    plain(root, "commit", "-q", "--allow-empty", "-m", "Decision: none\n\nDecision: x")


def octopus(root: Path, proposal: str) -> None:
    tree, tip = rev(root, "HEAD^{tree}"), rev(root, f"proposals/{proposal}")
    head, first = rev(root, "HEAD"), rev(root, "HEAD~1")
    parents = ["-p", head, "-p", tip, "-p", first]
    set_main(root, plain(root, "commit-tree", *parents, "-m", "all", tree))


@pytest.mark.parametrize(
    "act",
    [
        add_a_record,
        change_a_byte,
        change_the_manifest,
        change_the_policy,
        merge_the_proposal,
        fast_forward,
        revert_memory,
        commit_nothing,
        octopus,
    ],
)
def test_a_commit_by_hand_is_no_memory_and_the_next_merge_passes_over_it(
    root: Path, proposal: str, tmp_path: Path, act: Callable[[Path, str], None]
) -> None:
    before, old = remembered(root), rev(root, MAIN)
    clean = rev(root, f"{approved(root, proposal, tmp_path / 'twin')}^{{tree}}")
    act(root, proposal)
    chain = plain(root, "rev-list", "--first-parent", "--reverse", f"{old}..{MAIN}").split()
    assert chain
    for stray in chain:
        assert_stray(root, stray, before)
    with opened(root) as memory:
        assert memory.status().manifest_commit == old
        assert not memory.may_approve(yes=True, terminal=False)  # the policy of the accepted one
        after = memory.approve(proposal, person=ADA).commit
    assert rev(root, f"{after}^1") == chain[-1]
    assert rev(root, f"{after}^{{tree}}") == clean
    told = [line for line in commit_text(root, after).split("\n") if line.startswith("Skipped: ")]
    assert told == [f"Skipped: {stray}" for stray in chain]
    assert names(root) == ["use-tabs", "db-postgres"]
    assert plain(root, "status", "--porcelain") == ""
    fresh = tmp_path / "clone"
    plain(tmp_path, "clone", "-q", str(root), str(fresh))
    assert remembered(fresh) == remembered(root)


def test_a_policy_that_nobody_decided_does_not_open_the_door_for_a_merge(
    root: Path, proposal: str
) -> None:
    before = remembered(root)
    change_the_policy(root, proposal)
    first = rev(root, MAIN)
    merge_the_proposal(root, proposal)
    assert_stray(root, first, before)
    assert_stray(root, rev(root, MAIN), before)


def test_a_message_that_is_not_utf8_is_a_stray_and_stops_no_reader(root: Path) -> None:
    before = remembered(root)
    head = f"tree {rev(root, 'main^{tree}')}\nparent {rev(root, 'main')}\n"
    head += "".join(f"{w} gitmem <noreply@gitmem.invalid> 1790000000 +0000\n" for w in WRITERS)
    said = b"\npolicy x\n\nDecision: policy-20260921-aaaaaa\nDecision-Kind: policy\n"
    said += b"Decided-By: human:\xff <a@b>\n"
    stray = commit_object(root, head.encode() + said)
    set_main(root, stray)
    assert "not UTF-8" in assert_stray(root, stray, before)


WRITERS = ("author", "committer")


def test_a_decision_that_touches_records_or_is_no_persons_is_a_stray(root: Path) -> None:
    before, base = remembered(root), rev(root, "main")
    tree = tree_with(root, "main^{tree}", {OLD_RECORD: None})
    who = "gitmem <noreply@gitmem.invalid> 1790000000 +0000"
    for forged_tree, by in ((tree, "human:Ada <a@b.c>"), (rev(root, "main^{tree}"), "model:x@y")):
        stray = commit_object(
            root,
            f"tree {forged_tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\npolicy p\n\n"
            f"Decision: policy-20260921-aaaaaa\nDecision-Kind: policy\nDecided-By: {by}\n",
        )
        set_main(root, stray)
        reason = assert_stray(root, stray, before)
        assert "cannot touch" in reason or "is a person's" in reason


@pytest.mark.parametrize(
    "path, data",
    [
        ("reviewers/deeper/facts.md", "a reviewer"),
        ("reviewers/facts.txt", "a reviewer"),
        ("reviewers/checks.md", "a reviewer"),
        ("reviewers/facts.md", "---\nname: facts\n---\nno reviewer\n"),
        ("policy.yaml", "two_persons: true\n"),
        (f"tombstones/aa/{'b' * 38}.json", "{}\n"),
        ("MEMORY.md/x", "a folder\n"),
    ],
)
def test_a_decision_that_brings_what_nobody_could_read_is_a_stray(
    root: Path, proposal: str, path: str, data: str
) -> None:
    before, base = remembered(root), rev(root, "main")
    shipped = next(path for path in files(root, base) if path.startswith("reviewers/"))
    oid = files(root, base)[shipped][1] if data == "a reviewer" else blob(root, data.encode())
    changes: dict[str, Entry | None] = {path: (FILE, oid)}
    changes |= {"MEMORY.md": None} if path.startswith("MEMORY.md") else {}
    tree = tree_with(root, f"{base}^{{tree}}", changes)
    who = "gitmem <noreply@gitmem.invalid> 1790000000 +0000"
    stray = commit_object(
        root,
        f"tree {tree}\nparent {base}\nauthor {who}\ncommitter {who}\n\npolicy p\n\n"
        "Decision: policy-20260921-aaaaaa\nDecision-Kind: policy\n"
        f"Decided-By: human:{ADA}\n",
    )
    set_main(root, stray)
    assert path.partition("/")[0] in assert_stray(root, stray, before)
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
    assert names(root) == ["use-tabs", "db-postgres"]


# --- what was decided stays decided ------------------------------------------------------------


def recreate(root: Path, proposal: str, tip: str) -> None:
    plain(root, "update-ref", f"refs/heads/proposals/{proposal}", tip)


def test_a_proposal_is_merged_once(root: Path, proposal: str) -> None:
    with opened(root) as memory:
        merge = memory.approve(proposal, person=ADA).commit
    tip = rev(root, f"{merge}^2")
    recreate(root, proposal, tip)
    with opened(root) as memory:
        assert "was merged" in refused(lambda: memory.approve(proposal, person=ADA)).message
        assert memory.proposals() == []
    assert rev(root, MAIN) == merge


def test_what_was_forgotten_does_not_come_back_by_its_old_approved_branch(
    root: Path, proposal: str
) -> None:
    with opened(root) as memory:
        tip = rev(root, f"{memory.approve(proposal, person=ADA).commit}^2")
        memory.forget("db-postgres", reason="moved away", person=ADA)
    before = remembered(root)
    assert list(before) == ["use-tabs"]
    recreate(root, proposal, tip)
    with opened(root) as memory:
        assert "was merged" in refused(lambda: memory.approve(proposal, person=ADA)).message
    stray = forged_merge(root, tip)
    set_main(root, stray)
    assert "already merged" in assert_stray(root, stray, before)


def test_a_rejected_proposal_stays_rejected_whoever_merges_its_branch(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    tip = rev(root, f"{approved(root, proposal, tmp_path / 'twin')}^2")
    before = remembered(root)
    with opened(root) as memory:
        memory.reject(proposal, reason="not ours", person=ADA)
        assert memory.proposals() == []
    assert rev(root, f"refs/gitmem/kept/{proposal}")
    recreate(root, proposal, tip)
    with opened(root) as memory:
        assert "rejected" in refused(lambda: memory.approve(proposal, person=ADA)).message
    stray = forged_merge(root, tip)
    set_main(root, stray)
    assert "already rejected" in assert_stray(root, stray, before)


def test_the_text_of_a_rejected_proposal_is_reachable_from_no_branch(
    root: Path, proposal: str
) -> None:
    text = rev(root, f"proposals/{proposal}:{RECORD}")
    with opened(root) as memory:
        memory.reject(proposal, reason="不对", person=ADA)
    reachable = plain(root, "rev-list", "--objects", "--branches", "--tags", "--remotes")
    assert text not in reachable
    assert "Reason: 不对" in commit_text(root, MAIN)


def test_what_a_person_forgot_is_not_proposed_again_and_a_person_may_bring_it_back(
    root: Path, proposal: str
) -> None:
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
        memory.forget("db-postgres", reason="moved away", person=ADA)
    (tomb,) = [path for path in files(root, MAIN) if path.startswith("tombstones/")]
    again = {
        "messages": [{"role": "user", "content": QUOTE}],
        "records": [
            {
                "name": "the-database",
                "type": "project",
                "description": QUOTE[:60],
                "body": QUOTE,
                "evidence": [{"message": 0, "quote": QUOTE}],
            }
        ],
    }
    with opened(root) as memory:
        result = memory.propose(again)
        assert result.proposal is None
        (dropped,) = result.dropped
        assert dropped.name == "the-database"
        for part in ("Ada <ada@example.org>", "2026-09-21", "moved away"):
            assert part in dropped.reason, part
        memory.remember(
            QUOTE, name="db-postgres", type="project", description=QUOTE[:60], person=ADA
        )
    assert tomb not in files(root, MAIN)
    assert names(root) == ["use-tabs", "db-postgres"]
    assert fsck(root) == []


def test_a_stray_below_an_old_proposal_does_not_carry_into_it(
    root: Path, proposal: str, tmp_path: Path
) -> None:
    add_a_record(root, proposal)
    second = propose(root, "ci-on-forge", "The CI runs on our own forge, not on a hosted one.")
    assert rev(root, f"proposals/{second}~2") == rev(root, f"{MAIN}~1")
    with opened(root) as memory:
        memory.approve(second, person=ADA)
    assert names(root) == ["use-tabs", "ci-on-forge"]
    assert "records/user/by-hand.md" not in files(root, MAIN)
    assert copy(root, tmp_path / "copy") and names(tmp_path / "copy") == names(root)
