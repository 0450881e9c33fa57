"""Every error that gitmem raises on purpose.

One base and few subclasses: a caller catches :class:`GitmemError`, or the subclass that it
can act on. The message names what is wrong (file, line or field, limit, size) and what to do
next. ``exit_code`` is what the command line ends with; the values are documented in
``docs/cli.md``.
"""

from __future__ import annotations


class GitmemError(Exception):
    """Something was refused or failed for a reason that the user can act on."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InvalidInput(GitmemError):
    """Text from outside (record, evidence, policy, transcript, change set) breaks a rule.

    ``where`` is a file, a line or a field, as exact as it is known.
    """

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(f"{where}: {message}" if where else message, hint=hint)
        self.reason = message
        self.where = where


class NotFound(GitmemError):
    """A store, record, proposal, session or commit that was named does not exist."""


class Refused(GitmemError):
    """A rule of the store forbids it: policy, a finding, an approval that is missing."""


class Waiting(GitmemError):
    """Nothing is wrong, but it cannot go on: a person must decide, or the base moved on."""

    exit_code = 4


class Busy(GitmemError):
    """Another process holds the store's lock, or moved a ref first, for longer than the wait."""


class GitFailed(GitmemError):
    """git ended with an error that gitmem did not expect, or is too old, or is not there."""


class ModelFailed(GitmemError):
    """A model gave no usable answer: refused, cut, malformed, too late, or not reachable.

    The message never repeats the answer, a key, or more of an address than its host.
    """


class Usage(GitmemError):
    """The call itself is wrong: an unknown argument, a missing one, two that exclude each other."""

    exit_code = 2
