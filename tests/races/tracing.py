"""What a program did to the files of one folder, as strace saw it, and what a power failure leaves.

The model is the weakest that POSIX allows. A file's content is safe once it was fsynced and not
written since; a name (made, moved or taken away) once its folder was fsynced afterwards. All else
may be lost or not, each by itself.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CALLS = (
    "open,openat,creat,write,pwrite64,writev,pwritev,ftruncate,truncate,sendfile,copy_file_range,"
    "fsync,fdatasync,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,"
    "mkdirat,rmdir,chdir"
)
#: Says of a name or a content that is not safe whether it is there after a power failure.
Survives = Callable[[str], bool]

_BY_DESCRIPTOR = ("write", "pwrite64", "writev", "pwritev", "ftruncate", "fsync", "fdatasync")
_LINE = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<args>.*)\) += (?P<result>-?\d+)(?P<more>.*)")
_UNFINISHED = re.compile(r"(?P<pid>\d+) +(?P<begin>\w+\(.*) <unfinished \.\.\.>")
_RESUMED = re.compile(r"(?P<pid>\d+) +<\.\.\. \w+ resumed>(?P<rest>.*)")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_HERE = re.compile(r"AT_FDCWD<([^>]*)>")
_FOLDER = re.compile(r"(?:AT_FDCWD|\d+)<([^>]*)>")


def why_not() -> str:
    """Why nothing can be traced here; empty where it can."""
    strace = shutil.which("strace")
    if strace is None:
        return "strace is not installed"
    with tempfile.NamedTemporaryFile() as log:
        command = [strace, "-f", "-y", "-o", log.name, "-e", "trace=openat", "true"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else f"strace may not trace here: {said[-1] if said else ''}"


def traced(command: Sequence[str], log: Path) -> list[str]:
    """The command that runs ``command`` and its children and logs what they do to files."""
    strace = shutil.which("strace") or "strace"
    return [strace, "-f", "-y", "-q", "-s", "1000000", "-o", str(log), "-e", f"trace={CALLS}",
            "-e", "signal=none", *command]  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One system call that succeeded: its name, the paths that it names, and what it wrote."""

    name: str
    paths: tuple[str, ...]
    args: str = ""
    data: bytes = b""


def _text(quoted: str) -> bytes:
    value = ast.literal_eval("b" + quoted)
    assert isinstance(value, bytes)
    return value


def _whole_lines(lines: Iterator[str]) -> Iterator[str]:
    """Calls that another process's line cut in two, put together where they ended."""
    begun: dict[str, str] = {}
    for line in lines:
        if found := _UNFINISHED.match(line):
            begun[found["pid"]] = found["begin"]
        elif found := _RESUMED.match(line):
            yield f"{found['pid']} {begun.pop(found['pid'])}{found['rest']}"
        else:
            yield line


def read_calls(log: Path) -> Iterator[Call]:
    """The calls of a log in order; those that failed are left out, but for opens (marks)."""
    at: dict[str, str] = {}  # where each process is, as far as it was said
    with log.open(encoding="utf-8", errors="surrogateescape") as file:
        for line in _whole_lines(iter(file)):
            found = _LINE.match(line)
            if found is None:
                continue
            name, args, is_done = found["name"], found["args"], int(found["result"]) >= 0
            if said := _HERE.search(args):
                at[found["pid"]] = said[1]
            if name == "chdir" and is_done:
                (at[found["pid"]],) = _paths(name, args, at.get(found["pid"], ""))
            elif is_done or name == "openat":
                yield _call(name, args, int(found["result"]), at.get(found["pid"], ""))


def _call(name: str, args: str, result: int, here: str) -> Call:
    if name in _BY_DESCRIPTOR:
        head, _, rest = args.partition(">")
        where = head.partition("<")[2]  # a pipe is no path
        text = _STRING.search(rest)
        data = _text(text[0])[:result] if text and name in ("write", "pwrite64") else b""
        return Call(name, (where,), _STRING.sub("", args), data)
    if name in ("sendfile", "copy_file_range"):
        into = _FOLDER.findall(args)[0 if name == "sendfile" else 1]
        return Call("pwrite64", (into,), args)
    paths = _paths(name, args, here)
    if name.startswith("symlink"):
        paths = paths[1:]  # where it leads, nobody goes
    return Call(name, paths, "failed" if result < 0 else _STRING.sub("", args))


def _paths(name: str, args: str, here: str) -> tuple[str, ...]:
    folders = _FOLDER.findall(args) if name.endswith(("at", "at2")) else []
    quoted = [os.fsdecode(_text(text)) for text in _STRING.findall(args)]
    bases = [*folders, *[here] * len(quoted)]
    return tuple(
        os.path.normpath(os.path.join(base, path))
        for base, path in zip(bases, quoted, strict=False)
    )


# --- the folder -------------------------------------------------------------------------------


@dataclass(eq=False)
class Node:
    """A file or folder whatever its names: whether its content is safe, and what was written."""

    is_folder: bool = False
    is_safe: bool = True
    origin: str | None = None
    written: bytearray | None = None


@dataclass
class Disk:
    """The names below ``root`` as programs see them (``now``) and as they are safe (``safe``)."""

    root: str
    now: dict[str, Node] = field(default_factory=dict)
    safe: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Path, copy: Path) -> Disk:
        """The disk on which ``root`` is safe as it lies in ``copy``."""
        disk = cls(str(root))
        if copy.exists():
            for path in (copy, *copy.rglob("*")):
                at = os.path.normpath(os.path.join(root, path.relative_to(copy)))
                disk.now[at] = Node(is_folder=path.is_dir(), origin=str(path))
        disk.safe = dict(disk.now)
        return disk

    def has(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root + "/")

    def apply(self, call: Call) -> None:
        """Let a call happen."""
        if call.args == "failed":
            return
        known = all(map(os.path.isabs, call.paths)) or call.name in _BY_DESCRIPTOR
        assert known or call.name.startswith("open"), f"a path of a folder unknown: {call}"
        if not any(map(self.has, call.paths)):
            return
        {"open": self._open, "openat": self._open, "creat": self._open,
         "write": self._write, "pwrite64": self._write, "writev": self._write,
         "pwritev": self._write, "ftruncate": self._write, "truncate": self._write,
         "fsync": self._sync, "fdatasync": self._sync,
         "rename": self._rename, "renameat": self._rename, "renameat2": self._rename,
         "link": self._link, "linkat": self._link,
         "symlink": self._symlink, "symlinkat": self._symlink,
         "unlink": self._remove, "unlinkat": self._remove, "rmdir": self._remove,
         "mkdir": self._mkdir, "mkdirat": self._mkdir,
         }[call.name](call)  # fmt: skip

    def _open(self, call: Call) -> None:
        (path,) = call.paths
        if path not in self.now and "O_CREAT" in call.args:
            self.now[path] = Node(is_safe=False, written=bytearray())
        elif "O_TRUNC" in call.args and path in self.now:
            self.now[path].is_safe = False
            self.now[path].written = bytearray()

    def _write(self, call: Call) -> None:
        node = self.now.get(call.paths[0])
        if node is None:  # its name is gone already
            return
        node.is_safe = False
        at = call.args.rpartition(", ")[2]
        if node.written is None:
            return
        if call.name == "write":
            node.written += call.data
        elif call.name == "pwrite64" and call.data:
            node.written.extend(bytes(max(0, int(at) - len(node.written))))
            node.written[int(at) : int(at) + len(call.data)] = call.data
        elif call.name == "ftruncate":
            del node.written[int(at) :]
        else:
            node.written = None

    def _sync(self, call: Call) -> None:
        (path,) = call.paths
        node = self.now.get(path)
        if node is None:
            return
        node.is_safe = True
        if not node.is_folder:
            return
        for name in {n for n in (*self.now, *self.safe) if os.path.dirname(n) == path}:
            if name in self.now:
                self.safe[name] = self.now[name]
                continue
            for gone in [n for n in self.safe if n == name or n.startswith(name + "/")]:
                del self.safe[gone]

    def _rename(self, call: Call) -> None:
        old, new = call.paths
        assert not self.now[old].is_folder or not any(n.startswith(old + "/") for n in self.now)
        self.now[new] = self.now.pop(old)

    def _link(self, call: Call) -> None:
        old, new = call.paths
        self.now[new] = self.now[old]

    def _symlink(self, call: Call) -> None:
        self.now[call.paths[0]] = Node()

    def _remove(self, call: Call) -> None:
        self.now.pop(call.paths[0], None)

    def _mkdir(self, call: Call) -> None:
        self.now[call.paths[0]] = Node(is_folder=True)

    # --- questions ----------------------------------------------------------------------------

    def unsafe(self, wanted: Callable[[str], bool]) -> list[str]:
        """What a power failure could take of the files that are ``wanted``, and why."""
        found = []
        for path, node in sorted(self.now.items()):
            if node.is_folder or not wanted(path):
                continue
            if not node.is_safe:
                found.append(f"{path}: not fsynced after it was written")
            part = path
            while part != self.root:
                if self.safe.get(part) is not self.now[part]:
                    found.append(f"{path}: {os.path.dirname(part)} not fsynced after {part} came")
                part = os.path.dirname(part)
        return found

    def after_power_failure(self, target: Path, after: Path, survives: Survives) -> None:
        """Write to ``target`` what is there when the machine is on again.

        ``after`` is a copy of the folder as programs saw it last. ``survives`` says of each name
        that is not safe whether its newest state is there all the same, and of each content
        (``content of PATH``) whether it is there or the file is empty.
        """
        chosen: dict[str, Node] = {}
        for path in sorted({*self.now, *self.safe}):
            now, safe = self.now.get(path), self.safe.get(path)
            node = now if now is safe or survives(path) else safe
            parent = chosen.get(os.path.dirname(path))
            if node is not None and (path == self.root or (parent and parent.is_folder)):
                chosen[path] = node
        for path, node in chosen.items():
            to = target / os.path.relpath(path, self.root)
            if node.is_folder:
                to.mkdir(parents=True)
                continue
            to.write_bytes(self._content(path, node, after, survives))
            source = after / os.path.relpath(path, self.root)
            if source.is_file():
                shutil.copymode(source, to)

    def _content(self, path: str, node: Node, after: Path, survives: Survives) -> bytes:
        if not node.is_safe and not survives(f"content of {path}"):
            return b""
        for name, there in self.now.items():
            if there is node:
                return (after / os.path.relpath(name, self.root)).read_bytes()
        if node.written is not None:
            return bytes(node.written)
        assert node.origin, f"nothing says what {path} held"
        return Path(node.origin).read_bytes()


def nothing_survives(_: str) -> bool:
    """The worst: only what is safe is there."""
    return False


def names_survive(what: str) -> bool:
    """The second worst: every name is there, and nothing in it."""
    return not what.startswith("content of ")


def by_chance(luck: random.Random) -> Survives:
    """Each by itself is there or not."""
    return lambda _: luck.random() < 0.5
