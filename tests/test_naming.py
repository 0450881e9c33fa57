"""Names made out of key words, English and Chinese."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.layout import is_name
from gitmem.naming import name_for


def free(_name: str) -> bool:
    return False


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("Use tabs, not spaces, for indentation", "tabs-not-spaces-indentation"),
        ("I prefer tabs over spaces", "prefer-tabs-over-spaces"),
        ("Never commit secrets to git", "never-commit-secrets-git"),
        ("I don't like ORMs", "dont-like-orms"),
        ("The API docs live at https://docs.example.com/v2", "api-docs-live"),
        ("数据库迁移必须先备份", "shujuku-qianyi-beifen"),
        ("我喜欢用制表符缩进", "xihuan-zhibiaofu-suojin"),
        ("提交信息一律用英文", "tijiao-xinxi-yilv-yingwen"),
        ("包管理器统一用 pnpm", "baoguanliqi-tongyi-pnpm"),
    ],
)
def test_a_name_is_made_of_the_words_that_tell(statement: str, name: str) -> None:
    assert name_for(statement, free) == name


@pytest.mark.parametrize("statement", ["I like café style", "I like cafe\u0301 style"])
def test_an_accent_is_left_out_however_it_was_typed(statement: str) -> None:
    assert name_for(statement, free) == "like-cafe-style"


def test_a_name_has_at_most_six_words() -> None:
    name = name_for("Alpha bravo charlie delta echo foxtrot golf hotel", free)
    assert name == "alpha-bravo-charlie-delta-echo-foxtrot"


def test_a_taken_name_gets_four_digits_of_the_hash() -> None:
    taken = {"prefer-tabs"}
    name = name_for("I prefer tabs", taken.__contains__)
    assert name.startswith("prefer-tabs-")
    assert len(name) == len("prefer-tabs-") + 4
    assert name_for("I prefer tabs!", taken.__contains__) != name


def test_a_longer_hash_is_used_when_the_short_one_is_taken_too() -> None:
    first = name_for("I prefer tabs", {"prefer-tabs"}.__contains__)
    second = name_for("I prefer tabs", {"prefer-tabs", first}.__contains__)
    assert second.startswith(first)
    assert len(second) == len(first) + 4


@pytest.mark.parametrize("statement", ["", "！！", "the of a", "。", "🙂"])
def test_where_no_word_is_left_the_hash_alone_tells_names_apart(statement: str) -> None:
    name = name_for(statement, free)
    assert name.startswith("note-")
    assert is_name(name)


@pytest.mark.parametrize("device", ["con", "NUL", "Aux", "com1"])
def test_no_name_is_a_device_of_windows(device: str) -> None:
    name = name_for(device, free)
    assert is_name(name)
    assert name.startswith(f"{device.lower()}-")


@given(st.text(max_size=300), st.sets(st.text("abcdefghi-", max_size=12), max_size=5))
def test_any_text_gets_a_legal_free_name_and_always_the_same(text: str, taken: set[str]) -> None:
    name = name_for(text, taken.__contains__)
    assert is_name(name)
    assert name not in taken
    assert name == name_for(text, taken.__contains__)


@given(st.text("数据库迁移必须先备份我喜欢用制表符缩进提交信息女绿的了ab1 -", max_size=60))
def test_any_chinese_gets_a_legal_name_of_at_most_six_words(text: str) -> None:
    name = name_for(text, free)
    assert is_name(name)
    assert name.count("-") < 6


def test_the_pinyin_tables_are_loaded_only_for_chinese() -> None:
    code = (
        "import sys; from gitmem.naming import name_for;"
        "name_for('I prefer tabs', lambda name: False); print('pypinyin' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
