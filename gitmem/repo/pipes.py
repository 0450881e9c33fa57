"""Feeding a process and collecting what it prints, within limits of time and size."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
import threading
import time
from typing import IO, NamedTuple

_CHUNK = 64 * 1024
#: What a pipe takes at once when it says that it is ready: POSIX guarantees 512, Linux has 4096.
_PIPE_BUF = 512 if sys.platform == "win32" else 4096


class Exchanged(NamedTuple):
    """What came out of a process, and whether a limit was hit before its pipes were closed."""

    out: bytes
    err: bytes
    expired: bool
    overflow: bool


def exchange(
    process: subprocess.Popen[bytes],
    stdin: bytes | None,
    timeout: float,
    max_output: int,
    max_error: int,
) -> Exchanged:
    """Feed ``stdin`` to a process and read until it closes its output.

    Output beyond ``max_output`` bytes, or ``timeout`` seconds, end the exchange: the caller then
    ends the process. Error text beyond ``max_error`` bytes is read and dropped.
    """
    if sys.platform == "win32":  # select() knows no pipes there
        return _by_threads(process, stdin, timeout, max_output, max_error)
    return _by_selector(process, stdin, timeout, max_output, max_error)


def _by_selector(
    process: subprocess.Popen[bytes],
    stdin: bytes | None,
    timeout: float,
    max_output: int,
    max_error: int,
) -> Exchanged:
    assert process.stdout and process.stderr
    deadline = time.monotonic() + timeout
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, out)
        selector.register(process.stderr, selectors.EVENT_READ, err)
        rest = memoryview(stdin or b"")
        if process.stdin and stdin is not None:
            selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline - time.monotonic()))
            if not ready and time.monotonic() >= deadline:
                return Exchanged(bytes(out), bytes(err), expired=True, overflow=False)
            for key, _ in ready:
                if key.fileobj is process.stdin:
                    rest = _write_some(selector, process.stdin, rest)
                else:
                    _read_some(selector, key)
            if len(out) > max_output:
                return Exchanged(bytes(out[:max_output]), bytes(err), expired=False, overflow=True)
            del err[max_error:]
    return Exchanged(bytes(out), bytes(err), expired=False, overflow=False)


def _read_some(selector: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    chunk = os.read(key.fd, _CHUNK)
    if chunk:
        key.data.extend(chunk)
    else:
        selector.unregister(key.fileobj)


def _write_some(selector: selectors.BaseSelector, pipe: IO[bytes], rest: memoryview) -> memoryview:
    try:
        rest = rest[os.write(pipe.fileno(), rest[:_PIPE_BUF]) :] if rest else rest
    except BrokenPipeError:  # git ended early; its status and error text say why
        rest = memoryview(b"")
    if not rest:
        selector.unregister(pipe)
        _close(pipe)
    return rest


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # what was still in the buffer has no reader any more
        return


def _by_threads(
    process: subprocess.Popen[bytes],
    stdin: bytes | None,
    timeout: float,
    max_output: int,
    max_error: int,
) -> Exchanged:
    assert process.stdout and process.stderr
    out, err = bytearray(), bytearray()
    full = threading.Event()

    def feed(pipe: IO[bytes], data: bytes) -> None:
        with contextlib.suppress(OSError):  # git ended early; its status and error say why
            pipe.write(data)
        _close(pipe)

    def drain(pipe: IO[bytes], into: bytearray, limit: int) -> None:
        while chunk := pipe.read(_CHUNK):
            into.extend(chunk[: max(0, limit + 1 - len(into))])
            if into is out and len(into) > limit:
                full.set()
                return

    threads = [
        threading.Thread(target=drain, args=(process.stdout, out, max_output), daemon=True),
        threading.Thread(target=drain, args=(process.stderr, err, max_error), daemon=True),
    ]
    if process.stdin and stdin is not None:
        threads.append(threading.Thread(target=feed, args=(process.stdin, stdin), daemon=True))
    deadline = time.monotonic() + timeout
    for thread in threads:
        thread.start()
    threads[0].join(timeout)
    if not full.is_set():
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
    expired = not full.is_set() and any(thread.is_alive() for thread in threads)
    return Exchanged(bytes(out[:max_output]), bytes(err[:max_error]), expired, full.is_set())
