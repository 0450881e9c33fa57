"""Which store, which person, whose session: settings of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem import MemoryStore
from gitmem.config import AGENT_VARIABLES, agent_client, find_store, parse_person, who_am_i
from gitmem.errors import NotFound, Usage
from tests.conftest import RunGit


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A memory in a workspace that is the current folder."""
    MemoryStore.init(tmp_path / ".memory").close()
    return tmp_path / ".memory"


# --- the store ---------------------------------------------------------------------------------


def test_a_path_that_is_given_wins_over_the_environment_and_the_folder(store: Path) -> None:
    environ = {"GITMEM_STORE": "/from/environment"}
    assert find_store("given", environ) == Path("given")
    assert find_store(None, environ) == Path("/from/environment")
    assert find_store(None, {"GITMEM_STORE": ""}) == store


def test_an_empty_path_is_not_taken_for_none(store: Path) -> None:
    with pytest.raises(Usage, match="empty"):
        find_store("", {})


def test_the_store_is_found_from_any_folder_below(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = store.parent / "src" / "深" / "er"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert find_store(None, {}) == store


def test_the_nearest_store_counts(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = store.parent / "inner"
    MemoryStore.init(inner / ".memory").close()
    monkeypatch.chdir(inner)
    assert find_store(None, {}) == inner / ".memory"


def test_a_folder_of_that_name_which_is_no_store_is_passed_over(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = store.parent / "inner"
    (inner / ".memory").mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert find_store(None, {}) == store


def test_without_a_store_it_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        find_store(None, {})
    assert str(tmp_path) in caught.value.message
    assert "gitmem init" in caught.value.hint and "GITMEM_STORE" in caught.value.hint


def test_a_bare_store_is_found(
    tmp_path: Path, store: Path, git: RunGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "clone", "-q", "--bare", str(store), ".memory")
    monkeypatch.chdir(other)
    assert find_store(None, {}) == other / ".memory"


def test_a_store_found_through_a_link_out_of_the_workspace_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MemoryStore.init(tmp_path / "outside").close()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / ".memory").symlink_to(tmp_path / "outside")
    monkeypatch.chdir(workspace)
    with pytest.raises(NotFound) as caught:
        find_store(None, {})
    assert "link that leads out" in caught.value.message
    assert "--store" in caught.value.hint
    assert find_store(workspace / ".memory", {}) == workspace / ".memory", "named, it is meant"


def test_a_git_folder_that_leads_out_of_the_workspace_is_refused_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    MemoryStore.init(tmp_path / "outside").close()
    workspace = tmp_path / "workspace"
    (workspace / ".memory").mkdir(parents=True)
    (workspace / ".memory" / ".git").symlink_to(tmp_path / "outside" / ".git")
    monkeypatch.chdir(workspace)
    with pytest.raises(NotFound):
        find_store(None, {})


def test_a_link_inside_the_workspace_and_a_workspace_behind_a_link_are_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "real"
    MemoryStore.init(workspace / "state").close()
    (workspace / ".memory").symlink_to("state")
    link = tmp_path / "link"
    link.symlink_to(workspace)
    for here in (workspace, link):
        monkeypatch.chdir(here)
        with MemoryStore.open() as memory:
            assert memory.list() == []


def test_a_linked_work_tree_of_the_project_uses_the_main_ones_memory(
    tmp_path: Path, git: RunGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    MemoryStore.init(project / ".memory").close()
    git(project, "worktree", "add", "-q", str(tmp_path / "feature"))
    monkeypatch.chdir(tmp_path / "feature")
    assert find_store(None, {}).resolve() == project / ".memory"
    assert git(project, "status", "--porcelain") == "", "the project does not see the memory"


# --- the person --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, who",
    [
        ("Ada Lovelace <ada@example.org>", "human:Ada Lovelace <ada@example.org>"),
        ("  王  小明 <wang@example.cn> ", "human:王 小明 <wang@example.cn>"),
        ("O'Neil, J. <j@localhost>", "human:O'Neil, J. <j@localhost>"),
    ],
)
def test_a_person_is_a_name_and_an_address(text: str, who: str) -> None:
    assert parse_person(text) == who


@pytest.mark.parametrize(
    "text",
    [
        "Ada",
        "<ada@example.org>",
        "Ada ada@example.org",
        "Ada <>",
        "Ada <a b>",
        "Ada <a@b> <c@d>",
        "Ada <a@b>\x00",
        "A\u202eda <a@b>",
        "x" * 200 + " <a@b>",
        "",
    ],
)
def test_what_names_no_person_is_refused(text: str) -> None:
    with pytest.raises(Usage, match="names no person"):
        parse_person(text)


def test_a_flag_wins_over_the_variable_and_that_over_git() -> None:
    environ = {"GITMEM_USER": "Env <env@x.org>"}
    git_person = ("Git", "git@x.org")
    assert who_am_i("Flag <f@x.org>", environ, git_person).who == "human:Flag <f@x.org>"
    assert who_am_i(None, environ, git_person).who == "human:Env <env@x.org>"
    assert who_am_i(None, {}, git_person).who == "human:Git <git@x.org>"
    assert not who_am_i(None, {}, git_person).hint


@pytest.mark.parametrize("git_person", [("", ""), ("Ada", ""), ("", "ada@x.org"), ("<\n>", "<>")])
def test_without_a_full_name_it_is_the_login_with_a_hint(git_person: tuple[str, str]) -> None:
    me = who_am_i(None, {}, git_person)
    assert parse_person(me.who.removeprefix("human:")) == me.who
    assert "user.name" in me.hint and "GITMEM_USER" in me.hint


def test_a_name_in_git_that_holds_marks_cannot_forge_an_address() -> None:
    me = who_am_i(None, {}, ("Eve <ada@example.org>", "eve@x.org"))
    assert me.who == "human:Eve ada@example.org <eve@x.org>"


def test_an_empty_name_is_not_taken_for_none_but_an_empty_variable_is() -> None:
    with pytest.raises(Usage):
        who_am_i("", {"GITMEM_USER": "Env <env@x.org>"}, ("Git", "git@x.org"))
    assert who_am_i(None, {"GITMEM_USER": ""}, ("Git", "git@x.org")).who == "human:Git <git@x.org>"


def test_a_variable_that_names_nobody_is_an_error_and_not_passed_over() -> None:
    with pytest.raises(Usage):
        who_am_i(None, {"GITMEM_USER": "nobody"}, ("Git", "git@x.org"))


# --- the session -------------------------------------------------------------------------------


def test_an_agents_session_is_known_by_its_variable() -> None:
    assert agent_client({}) is None
    assert agent_client({"CLAUDECODE": ""}) is None
    for name in AGENT_VARIABLES:
        assert agent_client({name: "1"}) == name
    assert agent_client(os.environ) is None, "these tests run outside of one"
