"""Inputs that are made to explode, each with what reads it. Run in a process of its own.

Each case is bounded by counting, not by a clock: a process that may use so many seconds of CPU
and so much memory must come to its end. The sizes are such that work which grows with the square
of the input would take minutes.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from gitmem.cli.output import without_credentials
from gitmem.domain.actors import model_key
from gitmem.domain.commit_message import parse_message, unescape_line
from gitmem.domain.duplicates import close_statements
from gitmem.domain.evidence import match_quote
from gitmem.domain.injected import is_own_command, is_own_prompt, own_pieces, segments
from gitmem.domain.instructions import find_instructions
from gitmem.domain.objects import decode_commit, decode_tree
from gitmem.domain.record import MAX_BYTES
from gitmem.domain.session import Message, Part
from gitmem.domain.text import (
    escape_markdown,
    escape_terminal,
    fold_whitespace,
    normalise_statement,
    one_line,
)
from gitmem.domain.yaml_form import is_written
from gitmem.errors import GitmemError
from gitmem.naming import name_for
from gitmem.ranking import tokens
from gitmem.records import read_frontmatter, read_yaml_mapping
from gitmem.redaction import redact
from gitmem.repo.runner import shown
from gitmem.rules import propose
from gitmem.sessions import SessionFiles
from gitmem.transcripts import read_messages, read_transcript
from tests.fuzz.readers import READERS

#: Seconds of CPU that one case may use, and bytes of address space.
SECONDS = 10
MEMORY = 2 * 1024**3
#: Characters of a text whose patterns are tried: their square is minutes of work.
LENGTH = 60_000

PUMPS = (
    "a", "A", "1", " ", "\n", "-", ".", "_", "=", "/", "+", ":", "\\", '"', "'", "`", "<", ">",
    "[", "]", "(", "{", "|", "#", "@", "*", "~", "?", "!", ",", "%", "\t", "\u3000", "中", "，",
    "。", "是", "我", "a ", "A ", "1 ", "a.", "1.", "a-", "1-", "a_", "A_", "a:", "a/", "a=",
    "a,", "aA", "a1", "Aa", "\n\n", " \n", "- ", "a\n", ">\n", "```\n", "~~~", "* ", "1. ", "| ",
    "**", "``", "<a", "<a>", "</a>", "<a ", "[a", "[redacted:", "password ", "password is ",
    "password=", "password: ", "the password ", "key ", "token=", "密码", "密码是", "密码 ",
    "口令：", "sk-", "ghp_", "AKIA", "eyJ", "eyJa.", "://", "a://", "https://", "a@", "a:b@",
    "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END ", "Bearer ", "Authorization: ",
    "curl -u ", "mysql -p", "Private-Lines: 1\n", "%20", "&a=", "?a=", "\\n", "\\\\", "use ",
    "always ", "never ", "don't ", "please ", "remember ", "i prefer ", "my name is ", "not ",
    "actually ", "because ", "instead of ", "from now on ", "no, ", "it's ", "that ", "the ",
    "and ", "以后", "不要", "请", "记住", "因为", "而不是", "我喜欢", "用", "别", "总是", "应该",
    "其实", "不是", "From: ", "> ", "<system-reminder>", "<system-reminder", "<command-name>/",
    "gitmem ", "ignore ", "previous ", "instructions ", "éé", "e\u0301", "\u200d", "\ufe0f",
    "👩\u200d", "\u202e", "\ud800", "\0", "\x1b[", "\x85", "ﷺ", "İ", "ß", "１", "ａ", "가", "ᄀ",
    "का", "c::", "C#", "a::a", "1111:", ":1111", ":9", "-2026-11-30",
)  # fmt: skip


def message(text: str) -> Message:
    part = Part.model_validate({"kind": "text", "class": "human", "text": text})
    return Message(index=0, role="user", parts=(part,))


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


#: Whatever takes a text from outside, of any length unless a record's limit stands before it.
TAKERS: dict[str, Callable[[str], object]] = {
    "redact": redact,
    "rules": lambda text: propose([message(text)], []),
    "segments": segments,
    "own pieces": own_pieces,
    "own prompt": lambda text: (is_own_prompt(text), is_own_command(text)),
    "instructions": lambda text: find_instructions(text[:MAX_BYTES]),
    "tokens": tokens,
    "name": lambda text: name_for(text, lambda name: False),
    "fold": fold_whitespace,
    "normalise": normalise_statement,
    "terminal": lambda text: (escape_terminal(text), one_line(text)),
    "markdown": escape_markdown,
    "quote": lambda text: match_quote("Use tabs, not spaces.", message(text)),
    "duplicates": lambda text: close_statements([("a", text)], [("b", text + "x")]),
    "messages": lambda text: read_messages([{"role": "user", "name": text, "content": text}]),
    "commit message": lambda text: parse_message(f"x\n\n{text}\n"),
    "unescape": unescape_line,
    "written yaml": lambda text: is_written(f'a: "{text}'),
    "git's words": lambda text: shown(_storable(text)),
    "error": without_credentials,
    "model": lambda text: model_key(f"model:x{text}!@host"),
    "short model": lambda text: model_key(f"model:x{text[:150]}!@host"),
    "tree": lambda text: _decoded(decode_tree, text),
    "commit": lambda text: _decoded(decode_commit, text),
}


def _decoded(decode: Callable[[bytes], object], text: str) -> None:
    try:
        decode(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return


def pumped(pump: str) -> Iterator[str]:
    """Texts in which a piece comes again and again, with an end that fits nothing."""
    text = pump * (LENGTH // len(pump))
    yield text
    yield f"x {text}\0"
    yield f"password is {text}!\n"


# --- values that explode -----------------------------------------------------------------------

_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)
DOCUMENTS: dict[str, bytes] = {
    "alias bomb": f"---\n{_BOMB}---\nx\n".encode(),
    "deep flow": b"---\na: " + b"[" * 4000 + b"\n---\nx\n",
    "deep blocks": b"---\n" + b"".join(b" " * n + b"a:\n" for n in range(80)) + b"---\nx\n",
    "many keys": b"---\n" + b"".join(b"k%d: x\n" % n for n in range(1000)) + b"---\nx\n",
    "quotes": b"---\n" + b'a: "' * 1000 + b"\n---\nx\n",
    "dashes": b"- " * 4000,
    "question marks": b"---\n" + b"? " * 2000 + b"\n---\n",
    "deep array": b"[" * 2_000_000,
    "deep object": b'{"a":' * 1_000_000,
    "long number": b'{"version":' + b"9" * 1_000_000 + b"}",
    "long exponent": b'{"version":1e' + b"9" * 10_000 + b"}",
    "long key": b'{"' + b"a" * 5_000_000 + b'":1}',
    "million keys": b"{" + b",".join(b'"k%d":1' % n for n in range(300_000)) + b"}",
    "long line": b"a" * 20_000_000,
    "empty lines": b"\n" * 2_000_000,
    "trailers": b"x\n\n" + b"Ab: c\n" * 300_000,
    "escapes": b"x\n\nAb: " + b"\\u{1" * 1_000_000 + b"\n",
}


def read_all(data: bytes) -> None:
    """Every reader of the fuzz tests, and the adapters of conversations, on the same bytes."""
    for reader in READERS:
        attempt(lambda reader=reader: reader.read(data))  # type: ignore[misc]
    attempt(lambda: read_frontmatter(data, where="x", max_bytes=10**9))
    attempt(lambda: read_yaml_mapping(data, where="x", max_bytes=10**9))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x-1.jsonl")
        path.write_bytes(data)
        for format in (None, "openai", "claude-code"):
            attempt(lambda format=format: read_transcript(path, format))  # type: ignore[misc]
        attempt(lambda: SessionFiles(Path(folder)).load("x-1"))


CONVERSATIONS: dict[str, Callable[[], bytes]] = {
    "number": lambda: b'{"role":"user","content":' + b"9" * 1_000_000 + b"}\n",
    "parts": lambda: json.dumps(
        [{"role": "user", "content": [{"type": "text"}] * 300_000}]
    ).encode(),
    "fields": lambda: json.dumps(
        [{"role": "user", "content": "x", **{f"tool_{n}": n for n in range(200_000)}}]
    ).encode(),
    "messages": lambda: b'{"role":"user","content":"x"}\n' * 100_000,
    "values in a line": lambda: b'{"type":"user","message":{}}' * 200_000,
    "deep content": lambda: b'{"role":"user","content":' + b"[" * 900 + b"]" * 900 + b"}\n",
    "deep arguments": lambda: json.dumps(
        {"role": "assistant", "tool_calls": [{"function": {"arguments": "[" * 500_000}}]}
    ).encode(),
    "names": lambda: b"".join(
        b'{"role":"assistant","name":"n%d","content":"x"}\n' % n for n in range(50_000)
    ),
    "tags": lambda: json.dumps([{"role": "user", "content": ["<a>", "</a>"] * 4000}]).encode(),
    "broken lines": lambda: b'{"role":\n' * 500_000,
    "NUL": lambda: b"\0" * 20_000_000 + b'{"role":"user","content":"x"}\n',
}


def read_conversation(name: str) -> None:
    """Read a conversation that explodes, and keep what it holds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.jsonl")
        path.write_bytes(CONVERSATIONS[name]())
        for format in ("openai", "claude-code"):
            found = attempt(lambda format=format: read_transcript(path, format))  # type: ignore[misc]
            if found is not None:
                files = SessionFiles(Path(folder, "sessions"))
                files.capture(found, attested="file", now="2026-11-30T16:20:11Z")  # type: ignore[arg-type]


def attempt(call: Callable[[], object]) -> object | None:
    """What ``call`` returns, or None where it raises gitmem's own error, which is short."""
    try:
        return call()
    except GitmemError as error:
        assert len(str(error)) < 10_000
        return None


# --- running them ------------------------------------------------------------------------------


def cases() -> dict[str, Callable[[], None]]:
    """Every case by its name."""
    found: dict[str, Callable[[], None]] = {}
    for taker, take in TAKERS.items():
        for pump in PUMPS:
            found[f"{taker}: {pump!a}"] = lambda take=take, pump=pump: [  # type: ignore[misc]
                attempt(lambda text=text: take(text))  # type: ignore[misc]
                for text in pumped(pump)
            ]
    for name, data in DOCUMENTS.items():
        found[f"document: {name}"] = lambda data=data: read_all(data)  # type: ignore[misc]
    for name in CONVERSATIONS:
        found[f"conversation: {name}"] = lambda name=name: read_conversation(name)  # type: ignore[misc]
    return found


def run(names: list[str]) -> None:
    """Run cases and say before each which one it is; whatever passes a limit ends the process."""
    every = cases()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for name in names:
        used = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(used.ru_utime + used.ru_stime) + 1 + SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        print(f"begin {name}", flush=True)
        every[name]()
        print(f"end {name}", flush=True)


if __name__ == "__main__":
    run(json.load(io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8")))
