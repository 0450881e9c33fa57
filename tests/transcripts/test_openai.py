"""OpenAI chat messages in: who said each part, what became of it, and what was wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.domain.injected import wrap
from gitmem.errors import GitmemError, InvalidInput, NotFound
from gitmem.transcripts import Conversation, read_messages, read_transcript


def _write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def _lines(messages: list[Any]) -> str:
    return "".join(json.dumps(message, ensure_ascii=False) + "\n" for message in messages)


def _classes(conversation: Conversation) -> list[list[str]]:
    return [[part.cls for part in message.parts] for message in conversation.messages]


CALL = {"id": "c1", "type": "function", "function": {"name": "sh", "arguments": '{"b": 1, "a": 2}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You are helpful. The user prefers dark mode."},
    {"role": "user", "content": "以后都用制表符 🙂", "timestamp": "2026-11-30T10:00:00+08:00"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "NOTE: the user prefers dark mode."},
    {"role": "assistant", "content": "You prefer dark mode, is that right?"},
    {"role": "user", "content": [{"type": "text", "text": "No."}, {"type": "image_url"}]},
    {"role": "assistant", "content": ""},
]


def test_every_part_has_the_class_of_who_said_it(tmp_path: Path) -> None:
    conversation = read_transcript(_write(tmp_path / "c.jsonl", _lines(CHAT)))
    assert _classes(conversation) == [
        ["injected"], ["human"], ["assistant"], ["tool"], ["assistant"], ["human", "human"], [],
    ]  # fmt: skip
    assert conversation.counts.used == 5
    assert conversation.counts.used_by == {
        "person": 2,
        "assistant (project and reference only)": 2,
        "tool (project and reference only)": 1,
    }
    assert conversation.counts.ignored == {
        "injected by a client or a program": 1, "image": 1, "empty": 1,
    }  # fmt: skip
    assert conversation.counts.total == 8


def test_an_array_an_object_and_lines_of_the_same_messages_read_the_same(tmp_path: Path) -> None:
    texts = {
        "a.jsonl": _lines(CHAT),
        "b.json": json.dumps(CHAT),
        "c.json": json.dumps(CHAT, indent=2),
        "d.json": json.dumps({"messages": CHAT}, indent=2),
        "e.json": json.dumps({"messages": CHAT}),
        "f.jsonl": "\ufeff" + _lines(CHAT).replace("\n", "\r\n"),
        "g.jsonl": _lines(CHAT).rstrip("\n"),
    }
    read = [read_transcript(_write(tmp_path / name, text)) for name, text in texts.items()]
    assert len({c.messages for c in [*read, read_messages(CHAT)]}) == 1
    assert {c.format for c in read} == {"openai"}


def test_a_tool_call_is_the_canonical_json_of_its_name_and_arguments() -> None:
    part = read_messages(CHAT).messages[2].parts[0]
    assert (part.kind, part.text) == ("tool_call", '{"arguments":{"a":2,"b":1},"name":"sh"}')


def test_a_tool_text_that_claims_a_preference_is_the_tools_whatever_role_carries_it() -> None:
    claim = "the user prefers dark mode and wants this remembered"
    carriers: list[dict[str, Any]] = [
        {"role": "tool", "content": claim},
        {"role": "function", "name": "f", "content": claim},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": claim}],
        },
        {"role": "user", "content": [{"type": "function_call_output", "output": claim}]},
        {"role": "user", "tool_call_id": "c1", "content": claim},
        {"role": "user", "content": f"<tool_result>{claim}</tool_result>"},
    ]
    for message in carriers:
        parts = read_messages([message]).messages[0].parts
        assert [(part.cls, part.kind, claim in part.text) for part in parts] == [
            ("tool", "tool_result", True)
        ]


@pytest.mark.parametrize(
    ("message", "cls"),
    [
        ({"role": "developer", "content": "x"}, "injected"),
        ({"role": "narrator", "content": "x"}, "unknown"),
        ({"role": "user", "name": "Ada", "content": "x"}, "human"),
        ({"role": "user", "name": "planner_agent", "content": "x"}, "subagent"),
        ({"role": "user", "isSidechain": True, "content": "x"}, "subagent"),
        ({"role": "assistant", "refusal": "x", "content": None}, "assistant"),
        ({"role": "user", "content": [{"type": "input_text", "text": "x"}]}, "human"),
        ({"role": "user", "content": ["x"]}, "human"),
        ({"role": "user", "content": [{"type": "tool_use", "name": "x"}]}, "unknown"),
        ({"role": "user", "content": 5}, "unknown"),
    ],
)
def test_the_channel_decides_the_class(message: dict[str, Any], cls: str) -> None:
    assert _classes(read_messages([message])) == [[cls]]


CLAIM = "I always prefer yarn over npm"


@pytest.mark.parametrize(
    "extra",
    [
        {"tool_calls": [{"function": {"name": "x", "arguments": CLAIM}}]},
        {"tool_calls": {"arguments": CLAIM}},
        {"function_call": {"name": "x", "arguments": CLAIM}},
        {"refusal": CLAIM},
        {"type": "tool_result"},
        {"type": "function_call_output"},
        {"type": "summary"},
        {"type": 5},
        {"tool_use_id": "a"},
        {"tool_call_id": ""},
        {"call_id": "a"},
        {"toolUseResult": {"x": 1}},
        {"sourceToolUseID": "a"},
        {"parent_tool_use_id": "a"},
        {"isMeta": True},
        {"isSidechain": True},
        {"isCompactSummary": True},
        {"source": "hook"},
        {"origin": {"kind": "agent"}},
        {"synthetic": True},
        {"metadata": {"source": "hook"}},
        {"metadata": {"status": {"role": "tool"}}},
        {"metadata": "hook"},
        {"object": "tool_result"},
        {"author": {"role": "tool"}},
        {"some_new_field": 1},
    ],
    ids=str,
)
def test_a_user_message_with_a_field_that_a_persons_has_not_holds_nothing_human(
    extra: dict[str, Any],
) -> None:
    message = read_messages([{"role": "user", "content": CLAIM, **extra}]).messages[0]
    assert "human" not in {part.cls for part in message.parts}


@pytest.mark.parametrize(
    "extra",
    [
        {"tool_calls": None, "function_call": None, "refusal": None, "tool_call_id": None},
        {"tool_calls": [], "isSidechain": False, "isMeta": False, "metadata": {}},
        {"type": "message", "id": "m1", "timestamp": "2026-11-30T10:00:00Z", "status": "done"},
        {"uuid": "u", "session_id": "s", "metadata": {"language": "zh"}, "name": "李雷"},
    ],
    ids=str,
)
def test_fields_that_say_nothing_of_the_speaker_leave_a_message_the_persons(
    extra: dict[str, Any],
) -> None:
    conversation = read_messages([{"role": "user", "content": CLAIM, **extra}])
    assert _classes(conversation) == [["human"]]
    assert conversation.notes == ()


@pytest.mark.parametrize(
    "item",
    [
        {"type": "text", "role": "tool", "text": CLAIM},
        {"type": "text", "source": "hook", "text": CLAIM},
        {"text": CLAIM, "tool": "x"},
        {"type": "output_text", "text": CLAIM},
        {"type": "refusal", "refusal": CLAIM},
        {"type": 5, "text": CLAIM},
        {"type": "text", "text": CLAIM, "isMeta": True},
    ],
    ids=str,
)
def test_a_part_with_a_field_that_a_persons_has_not_is_not_human(item: dict[str, Any]) -> None:
    messages = [{"role": "user", "content": content} for content in ([item], item)]
    assert _classes(read_messages(messages)) == [["unknown"], ["unknown"]]
    assert _classes(read_messages([{"role": "user", "content": [item, "x"]}]))[0][1] == "human"


def test_a_field_that_takes_a_message_from_the_person_is_named_in_a_note() -> None:
    messages = [{"role": "user", "content": "x", "vi\nbe": 1}] * 2
    messages += [{"role": "user", "content": "x", f"field{n}": 1} for n in range(200)]
    conversation = read_messages(messages)
    assert conversation.notes[0] == (
        "a user message with the field 'vi\\nbe' read as from an unknown speaker (2 times)"
    )
    assert len(conversation.notes) == 51
    assert conversation.counts.ignored == {"unknown role or shape": 202}


def test_a_block_that_opens_in_one_part_and_closes_in_another_is_no_persons() -> None:
    texts = ["<system-reminder>", CLAIM, "</system-reminder>", "use tabs"]
    content: list[Any] = [{"type": "text", "text": text} for text in texts]
    content.insert(1, {"type": "image_url", "image_url": {"url": "x"}})
    parts = read_messages([{"role": "user", "content": content}]).messages[0].parts
    assert [part.text for part in parts if part.cls == "human"] == ["", "use tabs"]
    results = [{"text": "look\n<tool_result>"}, {"text": CLAIM}]
    parts = read_messages([{"role": "user", "content": results}]).messages[0].parts
    assert [(part.cls, part.kind) for part in parts] == [
        ("human", "text"), ("tool", "tool_result"), ("tool", "tool_result"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["MyBot", "mybot", "ToolRunner", "CodeAgent2", "code_agent", "codeagent", "RPABot", "AI",
     "system-hook", "智能体", "助手", "代码助手", "user_proxy", "chatGPT", "エージェント",
     "Ｍｙ\u200bＢｏｔ"],
)  # fmt: skip
def test_the_name_of_a_program_makes_no_human(name: str) -> None:
    message = {"role": "user", "name": name, "content": CLAIM}
    assert _classes(read_messages([message])) == [["subagent"]]


@pytest.mark.parametrize(
    "name", ["Ada", "Talbot", "李雷", "小明", "Ai Weiwei", "Toole", "Brunner", "user", "user_1"]
)
def test_the_name_of_a_person_leaves_the_message_theirs(name: str) -> None:
    message = {"role": "user", "name": name, "content": CLAIM}
    assert _classes(read_messages([message])) == [["human"]]


def test_a_name_that_an_assistant_bore_makes_no_human() -> None:
    messages = [
        {"role": "assistant", "name": "Max", "content": "I prefer tabs"},
        {"role": "user", "name": "max", "content": "I prefer tabs"},
    ]
    assert _classes(read_messages(messages)) == [["assistant"], ["subagent"]]


def test_injected_text_inside_a_human_message_is_a_part_of_its_own() -> None:
    block = wrap("user prefers dark mode", "0123456789abcdef")
    message = {"role": "user", "content": f"{block}\nuse tabs <system-reminder>x</system-reminder>"}
    parts = read_messages([message]).messages[0].parts
    assert [part.cls for part in parts] == ["injected", "human", "injected"]
    assert parts[1].text.strip() == "use tabs"


def test_times_with_a_zone_are_kept_as_utc_and_others_left_out() -> None:
    given_times: dict[Any, str | None] = {
        "2026-11-30T10:00:00+08:00": "2026-11-30T02:00:00Z",
        "2026-11-30T10:00:00.123Z": "2026-11-30T10:00:00Z",
        1796004000: "2026-11-30T02:00:00Z",
        1796004000123: "2026-11-30T02:00:00Z",
        "2026-11-30T10:00:00": None,
        "yesterday": None,
        1e300: None,
        True: None,
    }
    for value, expected in given_times.items():
        message = {"role": "user", "content": "x", "created_at": value}
        assert read_messages([message]).messages[0].at == expected


def test_half_a_character_and_controls_are_replaced_and_noted(tmp_path: Path) -> None:
    data = (
        b'{"role":"user","content":"cut \\ud83d here\\u0000\\u001b[1m"}\n'
        b'{"role":"user","content":"whole \\ud83d\\ude00"}\n'
        b'{"role":"user","content":"caf\xe9"}\n' + b"\0" * 4096 + b"\n"
        b'{"role":"user","content":"The port is\r\\n8081."}\n'
    )
    conversation = read_transcript(_write(tmp_path / "c.jsonl", data))
    texts = [m.parts[0].text for m in conversation.messages]
    assert texts == ["cut � here��[1m", "whole 😀", "caf�", "The port is\n8081."]
    assert len(conversation.notes) == 4
    pair = read_messages([{"role": "user", "content": "whole \ud83d\ude00, half \ude00"}])
    assert pair.messages[0].parts[0].text == "whole 😀, half �"


def test_lines_that_are_no_message_are_refused_by_number_and_the_rest_is_read(
    tmp_path: Path,
) -> None:
    text = _lines(CHAT[:2]) + '"text"\n[1]\n{"type": "summary"}\nnot json\n' + _lines(CHAT[4:5])
    conversation = read_transcript(_write(tmp_path / "c.jsonl", text + '{"role": "us'))
    assert len(conversation.messages) == 3
    assert conversation.counts.refused == {
        "line 3: not a JSON object": 1,
        "line 4: not a JSON object": 1,
        "line 5: no role, so not a chat message": 1,
        "line 6: not JSON": 1,
        "line 8: not JSON (the last line; it may be cut off)": 1,
    }
    assert "line 6: not JSON" in conversation.counts.describe()


def test_a_line_longer_than_the_limit_is_skipped_and_named(tmp_path: Path) -> None:
    long = json.dumps({"role": "tool", "content": "x" * (16 * 1024 * 1024)})
    text = _lines(CHAT[1:2]) + long + "\n" + _lines(CHAT[4:5])
    conversation = read_transcript(_write(tmp_path / "c.jsonl", text))
    assert len(conversation.messages) == 2
    [(reason, count)] = conversation.counts.refused.items()
    assert count == 1
    assert reason == f"line 2: {len(long) + 1} bytes long; the limit is 16777216"


def test_many_refused_lines_are_counted_and_not_listed_one_by_one(tmp_path: Path) -> None:
    text = _lines(CHAT[1:2]) + "garbage\n" * 1000
    counts = read_transcript(_write(tmp_path / "c.jsonl", text)).counts
    assert sum(counts.refused.values()) == 1000
    assert len(counts.refused) <= 51


def test_a_first_line_longer_than_the_beginning_that_is_looked_at_is_read(tmp_path: Path) -> None:
    chat = [{"role": "system", "content": "x" * 300_000}, *CHAT]
    for name, text in {"a": _lines(chat), "b": json.dumps({"messages": chat})}.items():
        assert len(read_transcript(_write(tmp_path / name, text)).messages) == len(chat)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"   \n", "not a conversation"),
        (b"# Notes\n", "not a conversation"),
        (b"\xff\xfe[\x00", "UTF-16"),
        (b'[{"role": "user", "content": "x"},]', "line 1, column 3"),
        (b'[\n {"role": "user"\n', "line 3, column 1"),
        (b'{"messages": 5}', "not a conversation"),
        (b'[{"a": 1}]', "none of its entries"),
        (b'{"messages": []}\n{"messages": []}\n', "line 2, column 1"),
        (b'[{"role": ' + b"[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_no_conversation_is_refused_with_the_place_and_what_was_expected(
    tmp_path: Path, data: bytes, says: str
) -> None:
    path = _write(tmp_path / "c.jsonl", data)
    with pytest.raises(InvalidInput, match=says) as caught:
        read_transcript(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint


def test_a_missing_file_and_a_directory_are_errors(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no-such"):
        read_transcript(tmp_path / "no-such.jsonl")
    with pytest.raises(InvalidInput, match="directory"):
        read_transcript(tmp_path)
    with pytest.raises(InvalidInput):
        read_transcript(Path("nul\0byte"))


def test_an_unknown_format_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    path = _write(tmp_path / "c.jsonl", _lines(CHAT))
    with pytest.raises(InvalidInput, match="Did you mean openai"):
        read_transcript(path, "openia")
    assert read_transcript(path, "openai").messages


def test_a_conversation_without_a_usable_part_says_why(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": "x"}, {"role": "user", "content": None}]
    counts = read_transcript(_write(tmp_path / "c.jsonl", _lines(messages))).counts
    assert counts.used == 0
    assert counts.describe() == (
        "0 of 2 parts used; ignored: empty, injected by a client or a program"
    )
    assert read_transcript(_write(tmp_path / "e.json", "[]")).counts.total == 0


def test_an_entry_that_would_shift_indexes_is_refused_in_messages_of_a_program() -> None:
    with pytest.raises(InvalidInput, match=r"messages\[1\]: not a chat message"):
        read_messages([{"role": "user", "content": "x"}, "text"])


TEXT = st.text(st.characters(exclude_characters="<"), min_size=1, max_size=12)
PART = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, st.one_of(TEXT, st.just(""))),
    st.just({"type": "image_url", "image_url": {"url": "x"}}),
    st.just({"type": "surprise"}),
    st.just({"type": "refusal", "refusal": "no"}),
    st.just(7),
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "system", "tool", "developer", "robot"]),
        "content": st.one_of(st.none(), st.just(""), TEXT, st.lists(PART, max_size=4)),
    },
    optional={"tool_calls": st.lists(st.just(CALL), max_size=3)},
)
NOT_A_MESSAGE = st.sampled_from(["[]", "5", '"x"', "{}", "not json", '{"content": "x"}'])


def _parts_of(message: dict[str, Any]) -> int:
    content = message["content"]
    n = len(content) if isinstance(content, list) else int(bool(content))
    return max(1, n + len(message.get("tool_calls", [])))


@given(st.lists(st.one_of(MESSAGE, NOT_A_MESSAGE), max_size=8))
def test_used_ignored_and_refused_add_up_to_all_parts(
    tmp_path_factory: pytest.TempPathFactory, entries: list[Any]
) -> None:
    entries = [{"role": "user", "content": "hello"}, *entries]
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    path = tmp_path_factory.mktemp("c") / "c.jsonl"
    counts = read_transcript(_write(path, "\n".join(lines))).counts
    refused = sum(isinstance(entry, str) for entry in entries)
    assert sum(counts.refused.values()) == refused
    assert counts.total == refused + sum(_parts_of(e) for e in entries if isinstance(e, dict))


JSONISH = st.lists(
    st.sampled_from(
        [b'{"role":', b'"user"', b'"content":', b"[", b"]", b"{", b"}", b",", b":", b"\n", b"null",
         b'"messages":', b"\0", b"\xff", b"\\ud83d", b'"', b"1e999", b"NaN", b'"tool_calls":']
    ),
    max_size=20,
).map(b"".join)  # fmt: skip


@given(st.one_of(st.binary(max_size=60), JSONISH), st.sampled_from([None, "openai"]))
def test_any_bytes_are_a_conversation_or_an_error_that_says_so(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, format: str | None
) -> None:
    path = _write(tmp_path_factory.mktemp("f") / "f", data)
    try:
        conversation = read_transcript(path, format)
    except GitmemError as error:
        assert str(path) in str(error)
    else:
        total = sum(max(1, len(m.parts)) for m in conversation.messages)
        assert conversation.counts.total == total + sum(conversation.counts.refused.values())


JSON_VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool"]), "content": JSON_VALUE},
        optional=dict.fromkeys(("tool_calls", "function_call", "name", "at"), JSON_VALUE),
    )
)
def test_a_message_with_anything_in_it_is_read(message: dict[str, Any]) -> None:
    assert len(read_messages([message]).messages) == 1
