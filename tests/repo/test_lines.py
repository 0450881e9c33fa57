"""A line ends where git ends it, whatever else Python takes for the end of one."""

from __future__ import annotations

import pytest

from gitmem import hook
from gitmem.cli.showing import changed_lines
from gitmem.errors import Refused
from gitmem.repo import Repo
from gitmem.repo.oddities import odd_settings
from gitmem.repo.opening import git_reason
from gitmem.repo.packed import unreadable_lines
from gitmem.rules.propose import stated

ODD = pytest.mark.parametrize(
    "odd", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\x1c"], ids=lambda odd: f"U+{ord(odd):04X}"
)


@ODD
def test_a_folder_of_borrowed_objects_is_one_whatever_its_name_holds(repo: Repo, odd: str) -> None:
    borrowed = f"/elsewhere/对象{odd}#no comment"
    (repo.git_dir / "objects/info/alternates").write_text(f"{borrowed}\n", "utf-8")
    (said,) = odd_settings(repo)
    assert "no comment" in said


@ODD
def test_what_git_says_of_a_path_is_one_line(odd: str) -> None:
    said = f"warning: x\nfatal: cannot open 'a{odd}b'\nhint: no"
    assert git_reason(said) == f"fatal: cannot open 'a{odd}b'"


@ODD
def test_a_text_is_compared_and_quoted_by_the_lines_that_an_editor_shows(odd: str) -> None:
    assert changed_lines("", f"缩进{odd}用空格。\n") == [f"+ 缩进{odd}用空格。"]
    assert stated(f"# 题{odd}目\n\n用{odd}空格。\n") == f"用{odd}空格。"


@ODD
def test_a_ref_among_the_packed_ones_is_a_line_of_its_own(repo: Repo, odd: str) -> None:
    packed = repo.git_dir / "packed-refs"
    names = ["refs/heads/a", *([f"refs/heads/b{odd}c"] if odd >= "\x80" else [])]
    packed.write_text("".join(f"{'1' * 40} {name}\n" for name in names), "utf-8")
    assert unreadable_lines(repo.git_dir) == []
    packed.write_bytes(b"1" * 40 + b" refs/heads/a\r2\n" + b"1" * 40 + b" refs/heads/b\n")
    assert unreadable_lines(repo.git_dir) == [1], "a carriage return ends no line"


@ODD
def test_a_hook_says_a_name_in_one_line(odd: str, capsys: pytest.CaptureFixture[str]) -> None:
    hook._say_error(Refused(f"a{odd}b is gone", hint="Look."))
    assert capsys.readouterr().err == "gitmem: a b is gone\nLook.\n"
