"""Which model plays which role, said by the environment and a file outside every store."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.config.file import Config, config_path, keys, read_config, set_value
from gitmem.config.models import origin, role_settings
from gitmem.errors import InvalidInput, Usage
from gitmem.llm import ROLES

LOCAL = "http://127.0.0.1:8080/v1"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "设置" / "config.yaml"


def test_the_file_is_where_a_user_keeps_settings() -> None:
    assert config_path({"GITMEM_CONFIG": "/x/c.yaml"}) == Path("/x/c.yaml")
    assert config_path({"XDG_CONFIG_HOME": "/x"}) == Path("/x/gitmem/config.yaml")
    assert config_path({}) == Path("~/.config/gitmem/config.yaml").expanduser()


def test_without_a_file_nobody_plays_a_role(file: Path) -> None:
    config = read_config(file)
    assert config == Config()
    assert [role_settings(role, config, {}) for role in ROLES] == [None] * 4


def test_what_is_set_is_read_back_and_the_rest_kept(file: Path) -> None:
    set_value(file, "reviewer.model", "qwen-max")
    set_value(file, "reviewer.base_url", LOCAL)
    set_value(file, "reviewer.timeout", "5")
    config = set_value(file, "budget.tokens", "5000")
    assert config == read_config(file) and config.budget.tokens == 5000
    found = role_settings("reviewer", config, {})
    assert found and (found.model, found.base_url, found.timeout) == ("qwen-max", LOCAL, 5.0)
    assert found.api_key_env == "" and found.host == "127.0.0.1:8080"
    assert role_settings("proposer", config, {}) is None
    set_value(file, "reviewer.model", "none")
    assert role_settings("reviewer", read_config(file), {}) is None


def test_the_environment_goes_before_the_file(file: Path) -> None:
    config = set_value(file, "selector.model", "small-1")
    environ = {
        "GITMEM_SELECTOR_MODEL": "small-2",
        "GITMEM_SELECTOR_BASE_URL": LOCAL,
        "GITMEM_SELECTOR_API_KEY_ENV": "MY_KEY",
    }
    found = role_settings("selector", config, environ)
    assert found and (found.model, found.base_url, found.api_key_env) == (
        "small-2",
        LOCAL,
        "MY_KEY",
    )
    assert origin("selector", "model", config, environ) == "GITMEM_SELECTOR_MODEL"
    assert origin("selector", "model", config, {}) == "file"
    assert origin("selector", "retries", config, environ) == "default"


def test_the_key_of_one_host_goes_to_no_other(file: Path) -> None:
    config = set_value(file, "proposer.model", "m")
    found = role_settings("proposer", config, {})
    assert found and found.api_key_env == "OPENAI_API_KEY"
    config = set_value(file, "proposer.base_url", "https://other.example/v1")
    found = role_settings("proposer", config, {})
    assert found and found.api_key_env == ""
    config = set_value(file, "proposer.base_url", "none")
    config = set_value(file, "proposer.api_key_file", "~/钥匙")
    found = role_settings("proposer", config, {})
    assert found and (found.api_key_env, found.api_key_file) == ("", "~/钥匙")


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("reviewer.base_url", "http://example.com/v1", "neither https nor on this machine"),
        ("reviewer.base_url", "https://ada:sekret@e.example", "a name or a password"),
        ("reviewer.api_key_env", "sk-sekret-0123", "the key itself is never written here"),
        ("reviewer.model", "a\x1b[2Jb", "no model's id"),
        ("reviewer.model", "x" * 201, "no model's id"),
        ("reviewer.timeout", "0", "greater than or equal to 1"),
        ("reviewer.timeout", "soon", "valid integer"),
        ("budget.tokens", "-1", "valid integer"),
    ],
)
def test_a_value_that_cannot_be_is_refused_and_nothing_written(
    file: Path, key: str, value: str, why: str
) -> None:
    set_value(file, "proposer.model", "m")
    before = file.read_bytes()
    with pytest.raises(InvalidInput, match=why) as caught:
        set_value(file, key, value)
    assert caught.value.where == key and "sekret" not in str(caught.value)
    assert file.read_bytes() == before


def test_a_setting_that_is_none_is_refused_with_the_one_that_was_meant(file: Path) -> None:
    with pytest.raises(Usage, match=r"reviewer\.model"):
        set_value(file, "reviewer.modle", "m")
    with pytest.raises(Usage, match=r"proposer\.model or "):
        set_value(file, "model", "m")
    assert "selector.base_url" in keys() and not file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "reviewer: [1]\n",
        "reviewers: {}\n",
        "reviewer:\n  modell: x\n",
        "a: &x 1\n",
        "\x00",
        "reviewer: {api_key_env: sk-sekret}\n",
        "# " + "x" * 9000,
    ],
)
def test_a_file_that_cannot_be_meant_is_named_and_not_half_used(file: Path, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_config(file)
    assert str(file) in str(caught.value) and "sekret" not in str(caught.value)
    with pytest.raises(InvalidInput):
        set_value(file, "reviewer.model", "m")
    assert file.read_text() == text


def test_a_file_that_is_a_link_of_the_users_is_followed_and_stays_one(
    file: Path, tmp_path: Path
) -> None:
    real = tmp_path / "dotfiles.yaml"
    file.parent.mkdir()
    file.symlink_to(real)
    set_value(file, "reviewer.model", "m")
    assert file.is_symlink() and read_config(real).reviewer.model == "m"


def test_a_variable_that_cannot_be_is_named_without_its_value() -> None:
    for name, value in (("BASE_URL", "http://sekret.example"), ("API_KEY_ENV", "sk-sekret")):
        environ = {"GITMEM_REVIEWER_MODEL": "m", f"GITMEM_REVIEWER_{name}": value}
        with pytest.raises(InvalidInput) as caught:
            role_settings("reviewer", Config(), environ)
        assert f"GITMEM_REVIEWER_{name}" in str(caught.value)
        assert name == "BASE_URL" or "sekret" not in str(caught.value)
