"""Many writers at once: nothing is lost, nothing is done twice, and main is one line."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from gitmem import MemoryStore
from gitmem.errors import Busy
from tests.conftest import Effort
from tests.memory.words import ADA, BEN, DAY, NOW, change_set, item, opened, user
from tests.races.crowd import Act, Member, Said, Wait, at_once, crowd, outcome
from tests.store.stories import copy, plain, rev

T = TypeVar("T")


def patiently(act: Callable[[], T], busy: list[str]) -> T:
    """Do what one is told where others were at work for half a minute: try again, and note it."""
    for _ in range(20):
        try:
            return act()
        except Busy as error:
            busy.append(error.message)
    return act()


def merge_many(root: Path, numbers: range) -> Callable[[Wait], tuple[list[str], list[str]]]:
    """Propose and approve a fact for each number; the merges, and why it had to try again."""

    def member(wait: Wait) -> tuple[list[str], list[str]]:
        commits: list[str] = []
        busy: list[str] = []
        with opened(root) as memory:
            wait()
            for number in numbers:
                text = f"Fact {number}: the 第{number}号 service listens on port {8000 + number}."
                record = item(text, name=f"f-{number}", body=text)
                change = change_set([user(text)], record)
                proposal = patiently(partial(memory.propose, change), busy).proposal
                assert proposal
                result = patiently(partial(memory.approve, proposal, person=ADA), busy)
                assert result.state == "merged" and result.commit
                commits.append(result.commit)
        return commits, busy

    return member


def read_on(root: Path, until: Path) -> Member:
    """Read everything again and again, with a new connection each time."""

    def member(wait: Wait) -> int:
        wait()
        reads = 0
        while reads == 0 or not until.exists():
            with opened(root) as memory:
                assert "base" in [line.name for line in memory.list()]
                assert "根本" in memory.show("base").body
                memory.search("port 端口")
                memory.proposals()
                memory.log()
            reads += 1
        return reads

    return member


@pytest.fixture(scope="module")
def _base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("base") / "memory"
    with MemoryStore.init(root, clock=lambda: NOW) as memory:
        memory.remember("The base of it all. 一切的根本。", name="base", type="project", person=BEN)
    return root


@pytest.fixture
def root(_base: Path, tmp_path: Path) -> Path:
    """A memory with one fact."""
    return copy(_base, tmp_path / "memory")


def approve(proposal: str) -> Act:
    return lambda memory: memory.approve(proposal, person=ADA)


def propose(root: Path, name: str, text: str) -> str:
    with opened(root) as memory:
        made = memory.propose(change_set([user(text)], item(text, name=name, body=text)))
    assert made.proposal, made
    return made.proposal


def assert_sound(root: Path, since: str, merges: int) -> None:
    """So many merges on one line since then; all is verified; view and files are main's."""
    chain = plain(root, "rev-list", "--first-parent", f"{since}..main").split()
    assert len(chain) == merges
    firsts = plain(root, "log", "--first-parent", "--format=%P", f"{since}..main").splitlines()
    assert len({line.split()[0] for line in firsts}) == merges, "no two have the same first parent"
    with opened(root, NOW + 120) as memory:
        with memory._opened().repo.lock():  # who lost a race left what it had written
            pass
        memory.status()  # finishes what a busy moment left
        report = memory.fsck()
        assert report.ok, report.problems
        assert not memory.status().strays
    plain(root, "fsck", "--full", "--strict")
    assert plain(root, "status", "--porcelain") == ""
    assert (root / "MEMORY.md").read_text("utf-8").strip() == plain(root, "show", "main:MEMORY.md")
    assert plain(root, "for-each-ref", "refs/gitmem/inflight") == ""
    assert list((root / ".git").rglob("*.lock")) == []


def test_eight_processes_propose_and_merge_while_others_read(root: Path, effort: Effort) -> None:
    """200 in the long form: the packs are joined on the way, more than once."""
    since, each, over = rev(root, "main"), effort.count(1, 25), root.parent / "over"
    writers = [merge_many(root, range(n * each, (n + 1) * each)) for n in range(8)]
    left = multiprocessing.get_context("fork").Value("i", len(writers))

    def counted(writer: Callable[[Wait], tuple[list[str], list[str]]]) -> Member:
        def member(wait: Wait) -> tuple[list[str], list[str], float]:
            began: list[float] = []

            def waited() -> None:
                wait()
                began.append(time.monotonic())

            commits, busy = writer(waited)
            with left.get_lock():
                left.value -= 1
                if not left.value:
                    over.touch()
            return commits, busy, time.monotonic() - began[0]

        return member

    said = crowd(*map(counted, writers), read_on(root, over))
    seconds = max(took for _, _, took in said[:-1])
    waited_in_vain = [why for _, busy, _ in said[:-1] for why in busy]
    print(
        f"{8 * each} merges by 8 writers: {8 * each / seconds:.1f} a second, "
        f"{len(waited_in_vain)} times busy for half a minute"
    )
    assert effort.soak or waited_in_vain == []
    assert len({commit for commits, _, _ in said[:-1] for commit in commits}) == 8 * each
    with opened(root) as memory:
        names = {line.name for line in memory.list()}
    assert names == {"base", *(f"f-{number}" for number in range(8 * each))}
    assert_sound(root, since, 8 * each)


def test_of_many_revisions_of_one_record_one_wins_and_the_others_need_a_new_approval(
    root: Path, effort: Effort
) -> None:
    since, many = rev(root, "main"), effort.count(3, 40)
    proposals = [propose(root, "base", f"The base is number {n}, 第{n}号.") for n in range(many)]
    ends = at_once(*((root, approve(proposal)) for proposal in proposals))
    assert Counter((end.how, end.code) for end in ends) == {
        ("done", 0): 1,
        ("Waiting", 4): many - 1,
    }
    assert all("stale" in end.words or "base" in end.words for end in ends if end.code)
    winner = proposals[[end.how for end in ends].index("done")]
    losers = [proposal for proposal in proposals if proposal != winner]
    with opened(root) as memory:
        assert {line.id: line.state for line in memory.proposals()} == dict.fromkeys(
            losers, "stale"
        )
        said = memory.show("base").body
        assert memory.rebase(losers[0]).proposal == losers[0]
        (again,) = [line for line in memory.proposals() if line.id == losers[0]]
        assert again.state != "ready" and again.waits_for, again
        assert memory.show("base").body == said, "nothing is merged by a rebase"
        assert memory.approve(losers[0], person=ADA).state == "merged"
        assert memory.show("base").body != said
    assert_sound(root, since, 2)


# --- two at once -------------------------------------------------------------------------------


def rounds(root: Path, tmp_path: Path, effort: Effort) -> list[Path]:
    """Copies of the memory, one for each time that a race is run."""
    return [copy(root, tmp_path / f"round-{n}") for n in range(effort.count(1, 10))]


def test_who_approves_and_who_rejects_the_same_at_once_agree_in_the_end(
    root: Path, tmp_path: Path, effort: Effort
) -> None:
    proposal = propose(root, "db", "数据库用 PostgreSQL 16。")
    since = rev(root, "main")
    for store in rounds(root, tmp_path, effort):
        yes, no = at_once(
            (store, approve(proposal)),
            (store, lambda memory: memory.reject(proposal, reason="否", person=BEN)),
        )
        assert [yes.how, no.how].count("done") == 1, (yes, no)
        loser = no if yes.how == "done" else yes
        assert loser.how in ("NotFound", "Refused", "Busy", "Waiting"), loser
        with opened(store) as memory:
            names = [line.name for line in memory.list()]
            assert ("db" in names) == (yes.how == "done")
            assert memory.proposals() == []
        assert_sound(store, since, 1)


def test_who_approves_and_who_rebases_at_once_lose_nothing(
    root: Path, tmp_path: Path, effort: Effort
) -> None:
    if not effort.soak:
        pytest.skip("in the long form")
    proposal = propose(root, "db", "数据库用 PostgreSQL 16。")
    since = rev(root, "main")
    with opened(root) as memory:
        memory.remember("Another thing.", name="other", type="project", person=BEN)
    for store in rounds(root, tmp_path, effort):
        ends = at_once((store, approve(proposal)), (store, lambda memory: memory.rebase(proposal)))
        assert {end.how for end in ends} <= {"done", "NotFound", "Refused", "Busy"}, ends
        assert "done" in {end.how for end in ends}
        with opened(store) as memory:
            if ends[0].how != "done":  # the branch became another while it was being approved
                memory.approve(proposal, person=ADA)
            assert {line.name for line in memory.list()} == {"base", "other", "db"}
        assert_sound(store, since, 2)


def remember(memory: MemoryStore) -> object:
    return memory.remember("记住这个。", name="new", type="project", person=ADA)


def repair(memory: MemoryStore) -> None:
    assert memory.fsck(repair=True).ok


#: What two do at once, each told the id of an open proposal.
PAIRS: dict[str, tuple[Callable[[str], Act], Callable[[str], Act]]] = {
    "remember and a policy": (
        lambda _: remember,
        lambda _: lambda memory: memory.set_policy("rounds", "3", person=BEN),
    ),
    "adopt and approve": (lambda _: lambda memory: memory.adopt(person=BEN), lambda p: approve(p)),
    "a repair and an approval": (lambda _: repair, lambda p: approve(p)),
    "a repair and a rebase": (lambda _: repair, lambda p: lambda memory: memory.rebase(p)),
    "two policies": (
        lambda _: lambda memory: memory.set_policy("rounds", "3", person=BEN),
        lambda _: lambda memory: memory.set_policy("two_person", "true", person=ADA),
    ),
    "one forgets and one edits": (
        lambda _: lambda memory: memory.forget("base", person=ADA),
        lambda _: lambda memory: memory.edit("base", body="另一句。", person=BEN),
    ),
}


@pytest.mark.parametrize("pair", list(PAIRS))
def test_two_that_differ_are_both_in_or_one_is_told(
    root: Path, tmp_path: Path, effort: Effort, pair: str
) -> None:
    if not effort.soak and pair not in list(PAIRS)[1:2]:
        pytest.skip("in the long form")
    proposal = propose(root, "db", "数据库用 PostgreSQL 16。")
    since = rev(root, "main")
    for store in rounds(root, tmp_path, effort):
        edited = store / "records/project/base.md"
        if "adopt" in pair:
            edited.write_text(edited.read_text("utf-8").replace("一切", "万物"), encoding="utf-8")
        ends = at_once(*((store, act(proposal)) for act in PAIRS[pair]))
        merges = check_pair(store, pair, ends)
        if "adopt" in pair:
            plain(store, "checkout", "-q", "--", "records")
        assert_sound(store, since, merges)


def check_pair(store: Path, pair: str, ends: list[Said]) -> int:
    """What must hold after a race; how often main moved."""
    told = {"Busy", "Refused", "Waiting", "NotFound"}
    assert all(end.how == "done" or end.how in told for end in ends), ends
    done = [end.how == "done" for end in ends]
    assert any(done), ends
    with opened(store) as memory:
        names = {line.name for line in memory.list()}
        if pair == "remember and a policy":
            assert ("new" in names, 'rounds: "3"' in memory.policy().text) == tuple(done)
            return sum(done)
        if pair == "two policies":
            text = memory.policy().text
            assert ('rounds: "3"' in text, 'two_person: "true"' in text) == tuple(done)
            return sum(done)
        if pair == "adopt and approve":
            assert all(done), ends
            assert "db" in names
            assert [line.kind for line in memory.proposals()] == ["adopt"]
            return 1
        if pair == "one forgets and one edits":
            assert ("base" in names) != done[0]
            return sum(done)
        assert all(done), ends
        assert ("db" in names) == (pair == "a repair and an approval")
        return int("db" in names)


def test_two_that_begin_a_memory_at_one_place_make_one(tmp_path: Path, effort: Effort) -> None:
    for number in range(effort.count(1, 10)):
        place = tmp_path / f"place-{number}"

        def begin(wait: Wait, place: Path = place) -> Said:
            wait()
            return outcome(lambda: MemoryStore.init(place, clock=lambda: NOW).close())

        ends = crowd(begin, begin)
        assert sorted(end.how for end in ends) == ["Refused", "done"], ends
        with opened(place) as memory:
            memory.remember("It works. 能用。", name="works", type="project", person=ADA)
            assert memory.fsck().ok
        assert plain(place, "rev-list", "--max-parents=0", "main").count("\n") == 0
        assert plain(place, "status", "--porcelain") == ""


def test_what_expires_and_is_reopened_at_once_is_there_or_gone_and_never_half(
    root: Path, tmp_path: Path, effort: Effort
) -> None:
    if not effort.soak:
        pytest.skip("in the long form")
    kept = propose(root, "db", "数据库用 PostgreSQL 16。")
    with opened(root) as memory:
        memory.reject(kept, reason="还没定", person=ADA)
    text = "The server listens on port 8081."
    change = change_set([user(text)], item(text, name="port", body=text))
    for store in rounds(root, tmp_path, effort):
        reopen, other = at_once(
            (store, lambda memory: memory.reopen(kept)),
            (store, lambda memory: memory.propose(change)),
            now=NOW + 91 * DAY,
        )
        assert other.how == "done", other
        assert reopen.how in ("done", "NotFound", "Busy"), reopen
        with opened(store) as memory:
            about = [record.name for line in memory.proposals() for record in line.records]
            assert sorted(about) == (["db", "port"] if reopen.how == "done" else ["port"])
            assert memory.fsck().ok
        plain(store, "fsck", "--full", "--strict")
