"""A person edits records with an editor: what becomes a proposal, and what is only named."""

from __future__ import annotations

import os
import re
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import Waiting
from gitmem.results import ProposalDiff, ProposalResult
from gitmem.services.adopting import MAX_ADOPTED
from tests.memory.words import objects, private_files, state, why_dropped
from tests.store.stories import ADA, BEN, MAIN, QUOTE, names, opened, plain, propose, rev

TABS = "records/user/use-tabs.md"
SAID = "缩进一律用制表符，宽度为四。"
BODY = "Use tabs, not spaces, for indentation."
TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def adopt(root: Path, **how: object) -> ProposalResult:
    with opened(root) as memory:
        return memory.adopt(person=ADA, **how)  # type: ignore[arg-type]


def approve(root: Path, proposal: str | None) -> list[str]:
    assert proposal
    with opened(root) as memory:
        memory.approve(proposal, person=ADA)
        return memory.notes


def edit(root: Path, old: str = BODY, new: str = SAID, path: str = TABS) -> bytes:
    """Edit a file as an editor does; returns what it holds now."""
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")
    return (root / path).read_bytes()


def write(root: Path, name: str, *, kind: str = "user", fields: str = "", body: str = SAID) -> Path:
    path = root / f"records/{kind}/{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f"---\nname: {name}\ndescription: 关于{name}的事\ntype: {kind}\n{fields}---\n\n"
    path.write_text(head + body + "\n", encoding="utf-8")
    return path


def paste(reason: str) -> None:
    """Run the command that a message ends with, in a shell, where the person stands."""
    command = re.search(r"(?:mkdir|mv|git) .*$", reason)
    assert command, reason
    subprocess.run(["bash", "-c", command[0]], check=True, capture_output=True)
    assert not list(Path.cwd().rglob("PWN*"))


def status(root: Path) -> str:
    return plain(root, "status", "--porcelain")


# --- what is proposed --------------------------------------------------------------------------


def test_an_edit_waits_as_a_proposal_with_the_persons_text_as_its_quote(root: Path) -> None:
    main, mine = rev(root, MAIN), edit(root)
    result = adopt(root)
    assert result.proposal and result.proposal.startswith("adopt-")
    assert (result.state, result.dropped, result.notes) == ("waiting", (), ())
    assert [(record.name, record.change) for record in result.records] == [("use-tabs", "revised")]
    assert rev(root, MAIN) == main
    assert (root / TABS).read_bytes() == mine
    with opened(root) as memory:
        shown = memory.diff(result.proposal)
        session = memory._sessions().load(result.session or "")
    assert shown.summary.proposed_by == f"human:{ADA}"
    old, new = shown.records[0].quotes
    assert old.quote == BODY
    assert (new.quote, new.cls, new.attested) == (SAID, "human", "caller")
    assert session is not None
    assert [part.text for message in session.messages for part in message.parts] == [SAID]


def test_once_it_is_approved_the_edit_is_memory_and_the_files_are_clean(root: Path) -> None:
    edit(root)
    assert approve(root, adopt(root).proposal) == []
    with opened(root) as memory:
        record = memory.show("use-tabs")
        assert record.body == SAID
        assert [quote.quote for quote in record.evidence] == [BODY, SAID]
        assert memory.fsck().ok
        assert adopt(root).state == "nothing"
    assert status(root) == ""


def test_every_field_that_a_person_wrote_is_kept(root: Path) -> None:
    fields = 'valid_from: 2026-01-02\nvalid_until: "2027-01-01"\nteam: 蓝队\nids:\n- "007"\n- no\n'
    edit(root, 'description: "User prefers tabs"\n', f"description: 喜欢制表符\n{fields}")
    edit(root, 'type: "user"', "type: feedback")
    approve(root, adopt(root).proposal)
    text = (root / TABS).read_text(encoding="utf-8")
    for line in (
        'description: "喜欢制表符"',
        'type: "feedback"',
        'valid_from: "2026-01-02"',
        'valid_until: "2027-01-01"',
        'team: "蓝队"',
        '- "007"',
        '- "no"',
    ):
        assert f"\n{line}\n" in text, line
    assert text.endswith(f"---\n\n{BODY}\n")
    assert status(root) == ""


def test_dates_alone_need_no_new_quote(root: Path) -> None:
    edit(root, 'type: "user"', 'type: "user"\nvalid_until: 2027-01-01')
    result = adopt(root)
    with opened(root) as memory:
        (record,) = memory.diff(result.proposal or "").records
        session = memory._sessions().load(result.session or "")
    assert [quote.quote for quote in record.quotes] == [BODY]
    assert session is not None
    assert session.messages[0].parts[0].text == "Set valid_until of use-tabs to 2027-01-01."


def test_a_quote_that_cannot_support_the_new_type_is_left_behind(root: Path) -> None:
    with opened(root) as memory:
        seen = memory.propose(
            {
                "kind": "extract",
                "messages": [{"role": "assistant", "content": "The build uses CMake 3.28 now."}],
                "records": [
                    {
                        "name": "build",
                        "type": "project",
                        "description": "The build uses CMake",
                        "body": "The build uses CMake 3.28.",
                        "evidence": [{"message": 0, "quote": "The build uses CMake 3.28 now."}],
                    }
                ],
            }
        )
    approve(root, seen.proposal)
    edit(root, 'type: "project"', 'type: "feedback"', "records/project/build.md")
    result = adopt(root)
    with opened(root) as memory:
        (record,) = memory.diff(result.proposal or "").records
    assert [(q.cls, q.quote) for q in record.quotes] == [
        ("human", "Set type of build to feedback.")
    ]
    approve(root, result.proposal)
    assert status(root) == ""


@pytest.mark.parametrize(
    "saved",
    [
        lambda data: data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
    ],
    ids=["LF", "CRLF", "BOM"],
)
@pytest.mark.parametrize("staged", [False, True], ids=["in the file", "staged"])
def test_how_the_editor_saves_and_whether_it_is_staged_do_not_matter(
    root: Path, saved: Callable[[bytes], bytes], staged: bool
) -> None:
    mine = saved(edit(root))
    (root / TABS).write_bytes(mine)
    if staged:
        plain(root, "add", TABS)
    result = adopt(root)
    assert (root / TABS).read_bytes() == mine
    assert approve(root, result.proposal) == []
    with opened(root) as memory:
        assert memory.show("use-tabs").body == SAID
    assert b"\r" not in (root / TABS).read_bytes()
    assert status(root) == ""


def test_an_edit_of_the_same_length_right_after_a_merge_is_seen(root: Path) -> None:
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs of width 4.", person=ADA)
        edit(root, "width 4", "width 8")
        assert [record.name for record in memory.adopt(person=ADA).records] == ["use-tabs"]


@pytest.mark.skipif(os.name != "posix", reason="the filter is a shell's")
def test_no_filter_of_the_persons_settings_is_run_to_look_at_files(
    root: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    plain(root, "config", "filter.shout.clean", f"touch {ran}; tr a-z A-Z")
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/attributes").write_text("*.md filter=shout\n")
    assert adopt(root).state == "nothing"
    edit(root)
    approve(root, adopt(root).proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == SAID
    assert not ran.exists()


@pytest.mark.parametrize("staged", [False, True], ids=["untracked", "staged"])
def test_a_new_file_needs_no_evidence_of_its_own(root: Path, staged: bool) -> None:
    write(root, "short-answers", body="回答要简短。\n**Why:** 时间有限。")
    if staged:
        plain(root, "add", "records")
    result = adopt(root)
    assert [(record.name, record.change) for record in result.records] == [
        ("short-answers", "added")
    ]
    assert approve(root, result.proposal) == []
    with opened(root) as memory:
        record = memory.show("short-answers")
    assert record.body == "回答要简短。\n**Why:** 时间有限。"
    assert record.evidence[0].quote == f"关于short-answers的事\n\n{record.body}"
    assert status(root) == ""


def test_evidence_that_a_person_made_up_is_not_taken(root: Path) -> None:
    write(root, "made-up", fields=f"evidence:\n- {'1' * 40}\n")
    edit(root, "evidence:\n", f'evidence:\n- "{"2" * 40}"\n')
    edit(root)
    result = adopt(root)
    with opened(root) as memory:
        quotes = [q.quote for r in memory.diff(result.proposal or "").records for q in r.quotes]
    assert quotes == [f"关于made-up的事\n\n{SAID}", BODY, SAID]


def test_a_quote_that_a_person_took_out_of_the_file_goes(root: Path) -> None:
    edit(root)
    approve(root, adopt(root).proposal)
    with opened(root) as memory:
        first, second = (quote.id for quote in memory.show("use-tabs").evidence)
    edit(root, f'- "{first}"\n', "")
    approve(root, adopt(root).proposal)
    with opened(root) as memory:
        assert [quote.id for quote in memory.show("use-tabs").evidence] == [second]
    assert status(root) == ""


def test_a_deleted_file_retires_its_record_and_leaves_no_tombstone(root: Path) -> None:
    (root / TABS).unlink()
    result = adopt(root)
    assert [(record.name, record.change) for record in result.records] == [("use-tabs", "retired")]
    assert approve(root, result.proposal) == []
    assert names(root) == []
    assert status(root) == ""
    assert not (root / "evidence").exists()
    assert "tombstones" not in plain(root, "ls-tree", "--name-only", MAIN)
    assert "retired use-tabs: deleted by hand" in plain(root, "log", "-1", "--format=%B", MAIN)


def test_a_renamed_file_is_one_record_retired_and_one_added(root: Path) -> None:
    edit(root, 'name: "use-tabs"', 'name: "indent-tabs"')
    plain(root, "mv", TABS, "records/user/indent-tabs.md")
    result = adopt(root)
    assert [(record.name, record.change) for record in result.records] == [
        ("indent-tabs", "added"),
        ("use-tabs", "retired"),
    ]
    assert approve(root, result.proposal) == []
    assert names(root) == ["indent-tabs"]
    assert status(root) == ""


def test_several_edits_are_one_proposal_and_the_shortest_has_a_quote(root: Path) -> None:
    write(root, "a", body="好。")
    edit(root, "User prefers tabs", "制表符")
    result = adopt(root)
    assert [record.name for record in result.records] == ["a", "use-tabs"]
    with opened(root) as memory:
        new, old = memory.diff(result.proposal or "").records
    assert [quote.quote for quote in new.quotes] == ["关于a的事\n\n好。"]
    assert [quote.quote for quote in old.quotes] == [BODY, "use-tabs (user): 制表符"]
    assert approve(root, result.proposal) == []
    assert status(root) == ""


def test_a_long_text_is_quoted_in_parts(root: Path) -> None:
    text = "。".join(f"第{number}条规则要记住" for number in range(80)) + "。"
    write(root, "rules", body=text)
    result = adopt(root)
    with opened(root) as memory:
        (record,) = memory.diff(result.proposal or "").records
    assert len(record.quotes) > 1
    assert "".join(quote.quote for quote in record.quotes).endswith(text[-200:])
    approve(root, result.proposal)
    assert status(root) == ""


def test_what_many_files_say_is_proposed_in_portions(root: Path) -> None:
    for number in range(MAX_ADOPTED + 2):
        write(
            root,
            f"fact-{number:03}",
            body=f"第 {number} 件事：接口 {number} 用端口 {8000 + number}。",
        )
    first = adopt(root)
    assert len(first.records) == MAX_ADOPTED
    assert sorted(why_dropped(first)) == ["fact-100", "fact-101"]
    second = adopt(root)
    assert [record.name for record in second.records] == ["fact-100", "fact-101"]
    assert second.dropped == ()
    approve(root, second.proposal)
    approve(root, first.proposal)
    assert status(root) == ""


# --- nothing to adopt --------------------------------------------------------------------------


def nothing(root: Path) -> None:
    pass


def other_quotes(root: Path) -> None:
    edit(root, 'description: "User prefers tabs"', "description: User prefers tabs")


def white_space(root: Path) -> None:
    edit(root, BODY, f"\n{BODY.replace(', ', ',  ')}\n\n")


def staged_and_taken_back(root: Path) -> None:
    before = (root / TABS).read_bytes()
    edit(root)
    plain(root, "add", TABS)
    (root / TABS).write_bytes(before)


def evidence_emptied(root: Path) -> None:
    text = (root / TABS).read_text(encoding="utf-8")
    (root / TABS).write_text(re.sub(r"evidence:\n(- .*\n)+", "evidence: []\n", text))


def files_of_an_editor(root: Path) -> None:
    for name in (".#use-tabs.md", "use-tabs.md~", ".use-tabs.md.swp", "#use-tabs.md#"):
        (root / "records/user" / name).write_text("x", encoding="utf-8")


@pytest.mark.parametrize(
    "act",
    [
        nothing,
        other_quotes,
        white_space,
        evidence_emptied,
        staged_and_taken_back,
        files_of_an_editor,
    ],
)
def test_there_is_nothing_to_adopt(root: Path, act: Callable[[Path], None]) -> None:
    act(root)
    before, found = state(root), private_files(root)
    result = adopt(root)
    assert (result.proposal, result.state, result.dropped) == (None, "nothing", ())
    assert state(root) == before
    assert {name: data for name, data in private_files(root).items() if ".git/" not in name} == {
        name: data for name, data in found.items() if ".git/" not in name
    }


def test_a_checkout_with_other_line_ends_is_no_edit(root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    plain(tmp_path, "clone", "-q", "-c", "core.autocrlf=true", str(root), str(clone))
    assert b"\r\n" in (clone / TABS).read_bytes()
    assert adopt(clone).state == "nothing"
    (clone / TABS).write_bytes((clone / TABS).read_bytes().replace(BODY.encode(), SAID.encode()))
    plain(clone, "add", TABS)
    assert approve(clone, adopt(clone).proposal) == []
    assert status(clone) == ""


def test_files_that_git_leaves_out_are_not_taken_for_deleted(root: Path) -> None:
    plain(root, "update-index", "--skip-worktree", TABS)
    (root / TABS).unlink()
    assert adopt(root).state == "nothing"


def test_the_same_edit_again_points_to_the_proposal_that_waits(root: Path) -> None:
    edit(root)
    write(root, "short-answers")
    first = adopt(root)
    before = state(root)
    again = adopt(root)
    assert (again.proposal, again.state, again.records) == (
        first.proposal,
        "waiting",
        first.records,
    )
    (note,) = again.notes
    assert note.endswith(f"gitmem approve {first.proposal}")
    assert state(root) == before
    write(root, "another", body="另外一件事情。")
    third = adopt(root)
    assert [record.name for record in third.records] == ["another"]
    assert third.proposal != first.proposal


def test_what_an_open_proposal_says_already_is_not_proposed_again(
    root: Path, proposal: str
) -> None:
    path = root / "records/project/db-postgres.md"
    path.parent.mkdir()
    text = plain(root, "show", f"proposals/{proposal}:records/project/db-postgres.md")
    path.write_text(re.sub(r"evidence:\n- .*\n", "", text) + "\n", encoding="utf-8")
    result = adopt(root)
    assert result.proposal == proposal
    assert result.notes == (
        f"db-postgres: proposed already so, in {proposal}: gitmem approve {proposal}",
    )
    assert approve(root, proposal) == []
    assert status(root) == ""


# --- what is only named ------------------------------------------------------------------------


def illegal_files(root: Path) -> dict[str, str]:
    """Write every kind of illegal file; returns what is named -> a pattern of its reason."""
    for name, description in (("colon", "Order: db first"), ("comment", "use it, not #random")):
        path = write(root, name)
        path.write_text(path.read_text().replace(f"关于{name}的事", description))
    write(root, "worse").rename(root / "records/user/other-name.md")
    write(root, "too-long", body="很长" * 800)
    write(root, "too-long-with-quotes", body="字" * 1320)
    write(root, "secret", body=f"发布用的令牌是 {TOKEN}。")
    write(root, "decomposed", body=unicodedata.normalize("NFD", "Das Café ist zu."))
    write(root, "hidden", body="Use tabs\u202e always.")
    write(root, "not-text").write_bytes(b"---\nname: not-text\n\xff\n---\n")
    write(root, "huge").write_bytes(b"x" * 300_000)
    path = write(root, "misplaced", kind="project")
    path.write_text(path.read_text().replace("type: project", "type: user"))
    (root / "records/project/use-tabs.md").write_bytes((root / TABS).read_bytes())
    (root / "records/user/link.md").symlink_to("/etc/hostname")
    write(root, "no-type", kind="wish")
    write(root, "no-fields").write_text("Just a note 笔记\n", encoding="utf-8")
    write(root, "twice", body="第一种说法，用户级的。")
    write(root, "twice", kind="project", body="第二种说法，项目级的。")
    write(root, "x").rename(root / "records/user/缩进.md")
    return {
        "colon": r"^records/user/colon\.md:3: .*double quotes\.$",
        "comment": r"^records/user/comment\.md:3: text after # is ignored",
        "other-name": r"^records/user/other-name\.md: says it is worse, but its file is other-name",
        "too-long": r"^records/user/too-long\.md: .*4\d\d\d bytes; the limit is 4096",
        "too-long-with-quotes": r"^records/user/too-long-\S+\.md: with its quotes, .* 4096",
        "secret": r"^records/user/secret\.md:7: holds what looks like a secret",
        "decomposed": r"^records/user/decomposed\.md: body: .*NFC",
        "hidden": r"^records/user/hidden\.md: body: .*U\+202E",
        "not-text": r"^records/user/not-text\.md:3: not UTF-8",
        "huge": r"^records/user/huge\.md: it has 300000 bytes",
        "misplaced": r"is no place for a user record: mv /\S+ /\S+/records/user/misplaced\.md$",
        "use-tabs": r"the name is taken, by records/user/use-tabs\.md",
        "link": r"^records/user/link\.md: .*symbolic link",
        "records/wish/no-type.md": r"'wish' is no type",
        "no-fields": r"^records/user/no-fields\.md:1: there is no frontmatter",
        "twice": r"stands in two files, records/project/twice\.md and records/user/twice\.md",
        "records/user/缩进.md": r"'缩进' is not a legal name\. A name is lower-case letters",
    }


def test_illegal_files_are_named_with_their_reasons_and_the_rest_goes_on(root: Path) -> None:
    expected = illegal_files(root)
    write(root, "good")
    result = adopt(root)
    assert [record.name for record in result.records] == ["good"]
    dropped = why_dropped(result)
    assert dropped.keys() == expected.keys()
    for name, pattern in expected.items():
        assert re.search(pattern, dropped[name]), dropped[name]


def test_a_moved_file_is_put_back_and_not_taken_for_deleted(root: Path) -> None:
    edit(root, 'type: "user"', 'type: "feedback"')
    (root / "records/feedback").mkdir()
    (root / TABS).rename(root / "records/feedback/use-tabs.md")
    result = adopt(root)
    assert result.proposal is None
    paste(why_dropped(result)["use-tabs"])
    approve(root, adopt(root).proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").summary.type == "feedback"
    assert status(root) == ""


@pytest.mark.parametrize(
    "target",
    [
        "records/usr/use-tabs.md",
        "records/user/制表符.md",
        "records/user/tabs.md",
        "records/user/he lm;touch PWN;.md",
        "records/user/it's  $(touch PWN)\n`touch PWN`\u202e.md",
        "records/user/-f.md",
    ],
)
def test_a_file_moved_to_no_place_of_its_name_is_not_taken_for_deleted(
    root: Path, target: str
) -> None:
    (root / target).parent.mkdir(exist_ok=True)
    (root / TABS).rename(root / target)
    result = adopt(root)
    assert (result.proposal, result.records) == (None, ())
    assert len(result.dropped) == 2
    paste(why_dropped(result)["use-tabs"])
    assert (adopt(root).state, status(root)) == ("nothing", "")


def test_a_moved_file_is_put_back_in_the_work_tree_that_it_is_in(
    root: Path, tmp_path: Path
) -> None:
    linked = tmp_path / "it's a  链接"
    plain(root, "checkout", "-q", "--detach")
    plain(root, "worktree", "add", "-q", str(linked), "main")
    (linked / TABS).rename(linked / "records/tabs.md")
    (linked / "records/user").rmdir()
    paste(why_dropped(adopt(root))["use-tabs"])
    assert status(linked) == status(root) == ""


def test_a_folder_that_became_a_link_deletes_nothing(root: Path, tmp_path: Path) -> None:
    (root / "records/user").rename(tmp_path / "elsewhere")
    (root / "records/user").symlink_to(tmp_path / "elsewhere")
    result = adopt(root)
    assert result.proposal is None
    assert "records/user is a symbolic link" in why_dropped(result)["use-tabs"]


def test_a_secret_reaches_neither_a_session_nor_an_object(root: Path) -> None:
    write(root, "secret", body=f"发布用的令牌是 {TOKEN}。")
    write(root, "good")
    approve(root, adopt(root).proposal)
    assert TOKEN.encode() not in objects(root)
    found = [name for name, data in private_files(root).items() if TOKEN.encode() in data]
    assert found == ["records/user/secret.md"]


def test_what_is_no_record_is_never_adopted_and_named_with_what_to_do(root: Path) -> None:
    edit(root)
    quote = next((root / "evidence").rglob("*.md"))
    for path in (quote, root / "manifest.json", root / "MEMORY.md", root / "README.md"):
        path.write_text(path.read_text(encoding="utf-8") + "我的\n", encoding="utf-8")
    reviewer = next((root / "reviewers").glob("*.md"))
    reviewer.write_text(reviewer.read_text() + "More.\n", encoding="utf-8")
    (root / "notes.txt").write_text("untracked\n", encoding="utf-8")
    result = adopt(root)
    assert [record.name for record in result.records] == ["use-tabs"]
    dropped = why_dropped(result)
    name = quote.relative_to(root).as_posix()
    assert set(dropped) == {
        name,
        "manifest.json",
        "MEMORY.md",
        reviewer.relative_to(root).as_posix(),
    }
    assert dropped[name].endswith(f"git -C {root} checkout HEAD -- {name}")
    assert "gitmem remember" in dropped["MEMORY.md"]
    assert result.notes == ("no part of memory, and left as they are: README.md",)
    paste(dropped["manifest.json"])
    assert "manifest.json" not in why_dropped(adopt(root))


# --- the policy --------------------------------------------------------------------------------


def test_a_changed_policy_is_decided_about_by_itself(root: Path) -> None:
    edit(root, 'two_person: "false"', "two_person: true  # 两个人", path="policy.yaml")
    edit(root)
    asked = []

    def confirm(diff: object) -> bool:
        asked.append(diff)
        return True

    result = adopt(root, confirm=confirm, confirm_policy=confirm)
    assert len(asked) == 2
    assert result.proposal and result.state == "waiting"
    assert [record.name for record in result.records] == ["use-tabs"]
    assert result.dropped == ()
    assert result.notes[-1].startswith("policy.yaml: decided in policy-")
    assert "两个人" in plain(root, "show", f"{MAIN}:policy.yaml")
    assert plain(root, "log", "-1", "--format=%s", MAIN).startswith("policy policy-")
    assert status(root) == f"M {TABS}"
    with opened(root) as memory:
        memory.approve(result.proposal, person=BEN)  # the one who edited it may not, from now on
    assert status(root) == ""


def test_a_policy_that_is_none_is_named_and_the_rest_goes_on(root: Path) -> None:
    edit(root, 'two_person: "false"', "two_person: perhaps", path="policy.yaml")
    edit(root)
    main = rev(root, MAIN)
    result = adopt(root)
    assert result.proposal
    assert "two_person" in why_dropped(result)["policy.yaml"]
    assert rev(root, MAIN) == main


def test_a_no_to_the_policy_changes_nothing(root: Path) -> None:
    edit(root, 'two_person: "false"', "two_person: true", path="policy.yaml")
    before = state(root)
    result = adopt(root, confirm_policy=lambda diff: False)
    assert (result.proposal, result.state) == (None, "declined")
    assert state(root) == before


def decide(root: Path, key: str, value: str) -> str:
    with opened(root) as memory:
        decision = memory.set_policy(key, value, person=BEN).decision
    assert decision
    return decision


def test_a_policy_begun_before_somebody_elses_decision_does_not_take_that_back(root: Path) -> None:
    edit(root, 'two_person: "false"', "two_person: true  # 两个人", path="policy.yaml")
    first = decide(root, "daily_proposals", "7")
    second = decide(root, "view.lines", "50")
    edit(root)
    main = rev(root, MAIN)
    result = adopt(root)
    assert [record.name for record in result.records] == ["use-tabs"]
    assert rev(root, MAIN) == main
    reason = why_dropped(result)["policy.yaml"]
    assert reason.startswith(f"was edited before {first} by human:{BEN}, {second} by human:{BEN},")
    assert "(daily_proposals: 7, view.lines: 50)" in reason
    edit(root, 'daily_proposals: "20"', "daily_proposals: 7", path="policy.yaml")
    edit(root, 'lines: "', 'lines: "50" # ', path="policy.yaml")
    assert adopt(root).dropped == ()
    with opened(root) as memory:
        now = {key.key: key.value for key in memory.policy().keys}
    assert (now["two_person"], now["daily_proposals"], now["view.lines"]) == (True, 7, 50)


def test_a_policy_can_be_put_back_as_it_was_and_a_decision_changed_on_purpose(root: Path) -> None:
    before = (root / "policy.yaml").read_bytes()
    decide(root, "view.lines", "50")
    (root / "policy.yaml").write_bytes(before)
    assert adopt(root).notes[-1].startswith("policy.yaml: decided in policy-")
    decide(root, "view.lines", "50")
    edit(root, 'lines: "50"', "lines: 60", path="policy.yaml")
    assert adopt(root).notes[-1].startswith("policy.yaml: decided in policy-")
    with opened(root) as memory:
        assert 60 in [key.value for key in memory.policy().keys if key.key == "view.lines"]


def test_a_policy_that_is_set_while_the_person_reads_records_is_not_overwritten(root: Path) -> None:
    edit(root, 'two_person: "false"', "two_person: true", path="policy.yaml")
    edit(root)

    def meanwhile(diff: ProposalDiff) -> bool:
        decide(root, "view.lines", "50")
        return True

    result = adopt(root, confirm=meanwhile)
    assert result.proposal
    assert why_dropped(result)["policy.yaml"].startswith("the policy changed on main meanwhile")
    with opened(root) as memory:
        assert 50 in [key.value for key in memory.policy().keys if key.key == "view.lines"]
    assert "was edited before policy-" in why_dropped(adopt(root))["policy.yaml"]


# --- asking, and what happens meanwhile --------------------------------------------------------


def test_a_no_writes_nothing(root: Path) -> None:
    mine, before = edit(root), state(root)
    seen: list[ProposalDiff] = []

    def no(diff: ProposalDiff) -> bool:
        seen.append(diff)
        return False

    result = adopt(root, confirm=no)
    assert (result.proposal, result.state) == (None, "declined")
    assert SAID in seen[0].records[0].after
    assert state(root) == before
    assert (root / TABS).read_bytes() == mine


def test_what_changes_on_main_while_the_person_reads_is_not_proposed(root: Path) -> None:
    mine = edit(root)

    def meanwhile(diff: ProposalDiff) -> bool:
        with opened(root) as other:
            other.edit("use-tabs", body="Use tabs of width 8.", person=BEN)
        return True

    with pytest.raises(Waiting):
        adopt(root, confirm=meanwhile)
    assert (root / TABS).read_bytes() == mine
    assert not plain(root, "for-each-ref", "refs/heads/proposals/adopt-*")


def test_two_who_adopt_the_same_edit_at_once_make_one_proposal(root: Path) -> None:
    edit(root)
    others: list[ProposalResult] = []

    def meanwhile(diff: ProposalDiff) -> bool:
        others.append(adopt(root))
        return True

    with pytest.raises(Waiting, match="proposed meanwhile"):
        adopt(root, confirm=meanwhile)
    listed = plain(root, "for-each-ref", "--format=%(refname)", "refs/heads/proposals/adopt-*")
    assert listed == f"refs/heads/proposals/{others[0].proposal}"


def test_a_file_that_was_edited_further_stays_and_is_named(root: Path) -> None:
    edit(root)
    result = adopt(root)
    mine = edit(root, SAID, "还是用空格吧，宽度为二。")
    notes = approve(root, result.proposal)
    assert (root / TABS).read_bytes() == mine
    assert any(TABS in note for note in notes), notes
    with opened(root) as memory:
        assert memory.show("use-tabs").body == SAID
    again = adopt(root)
    assert again.proposal != result.proposal
    approve(root, again.proposal)
    with opened(root) as memory:
        assert memory.show("use-tabs").body == "还是用空格吧，宽度为二。"
    assert status(root) == ""


def test_a_comment_that_no_record_keeps_is_not_lost(root: Path) -> None:
    edit(root)
    mine = edit(root, "---\nname", "---\n# 我自己的备注\nname")
    result = adopt(root)
    assert any("comments" in note and TABS in note for note in result.notes)
    notes = approve(root, result.proposal)
    assert (root / TABS).read_bytes() == mine
    assert any(TABS in note for note in notes)


def test_a_rejected_edit_stays_in_the_file(root: Path) -> None:
    mine = edit(root)
    result = adopt(root)
    with opened(root) as memory:
        memory.reject(result.proposal or "", reason="不要", person=ADA)
    assert (root / TABS).read_bytes() == mine
    assert names(root) == ["use-tabs"]


def test_a_stale_proposal_of_the_same_edit_is_pointed_to_with_the_way_on(root: Path) -> None:
    edit(root)
    first = adopt(root)
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs of width 8.", person=BEN)
    again = adopt(root)
    assert (again.proposal, again.state) == (first.proposal, "stale")
    assert again.notes[-1].endswith(f"gitmem rebase {first.proposal}")


def test_the_merge_of_another_proposal_leaves_the_edit_and_adopt_finds_it_still(
    root: Path, proposal: str
) -> None:
    mine = edit(root)
    propose(root, "deploy", QUOTE + "部署在周五。")
    approve(root, proposal)
    assert (root / TABS).read_bytes() == mine
    assert [record.name for record in adopt(root).records] == ["use-tabs"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a file it may not read")
def test_a_file_that_cannot_be_read_is_named(root: Path) -> None:
    (root / TABS).chmod(0)
    assert "cannot be read" in why_dropped(adopt(root))["use-tabs"]


# --- what git has in hand ----------------------------------------------------------------------


def test_the_marks_of_a_conflict_never_become_memory(root: Path) -> None:
    edit(root)
    plain(root, "stash", "-q")
    with opened(root) as memory:
        memory.edit("use-tabs", body="Use tabs of width 8.", person=BEN)
    done = subprocess.run(["git", "stash", "pop"], cwd=root, capture_output=True, check=False)
    assert done.returncode != 0
    result = adopt(root)
    assert result.proposal is None
    reason = why_dropped(result)["use-tabs"]
    assert "it has a conflict in git" in reason
    paste(reason)
    result = adopt(root)
    assert result.proposal is None
    assert "holds the marks of a conflict" in why_dropped(result)["use-tabs"]
    write(root, "use-tabs", body=SAID)
    assert adopt(root).proposal


def test_a_committed_conflict_and_one_in_the_policy_are_named(root: Path) -> None:
    marks = "<<<<<<< HEAD\n{}\n=======\n别的\n>>>>>>> side\n"
    edit(root, BODY, marks.format(BODY))
    plain(root, "commit", "-q", "-a", "-m", "结")
    edit(root, 'two_person: "false"\n', marks.format('two_person: "false"'), path="policy.yaml")
    result = adopt(root)
    assert result.proposal is None
    assert all("marks of a conflict" in why for why in why_dropped(result).values())
    assert set(why_dropped(result)) == {"use-tabs", "policy.yaml"}


def test_lines_that_look_like_one_mark_are_a_text_like_any_other(root: Path) -> None:
    edit(root, BODY, "Heading\n=======\n\n>>>>>>> says who?")
    assert adopt(root).proposal


@pytest.mark.parametrize("flag", ["skip-worktree", "assume-unchanged"])
def test_a_changed_file_that_git_is_to_overlook_is_named(root: Path, flag: str) -> None:
    plain(root, "update-index", f"--{flag}", TABS)
    assert adopt(root).dropped == ()
    mine = edit(root)
    reason = why_dropped(adopt(root))["use-tabs"]
    assert f"update-index --no-{flag}" in reason
    paste(reason)
    assert adopt(root).proposal
    assert (root / TABS).read_bytes() == mine


def test_a_file_that_is_left_out_of_the_checkout_is_no_edit(root: Path) -> None:
    plain(root, "update-index", "--skip-worktree", TABS)
    (root / TABS).unlink()
    result = adopt(root)
    assert (result.state, result.dropped) == ("nothing", ())


def test_a_file_in_the_place_of_all_records_is_no_deletion_of_them(root: Path) -> None:
    (root / "records").rename(root / "elsewhere")
    (root / "records").write_text("一个文件\n")
    result = adopt(root)
    assert (result.proposal, result.records) == (None, ())
    assert any("is no folder" in note for note in result.notes)
