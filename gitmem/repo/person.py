"""Who git says the user is."""

from __future__ import annotations

import os
from pathlib import Path

from gitmem.repo.environment import local_environment
from gitmem.repo.runner import DEFAULT_TIMEOUT, finish, require_git, start

_MAX_ANSWER = 64 * 1024
#: What tells git where the user's own configuration lies.
_USER_SETTINGS = ("XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM")


def configured_person(git_dir: Path) -> tuple[str, str]:
    """Return ``user.name`` and ``user.email`` as git would use them here; empty where unset.

    This is the one call that reads the user's own configuration; ``git config`` starts no
    program, whatever that says.
    """
    environment = local_environment()
    for key in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        environment.pop(key, None)
    environment.update({k: os.environ[k] for k in _USER_SETTINGS if os.environ.get(k)})
    command = [require_git(), f"--git-dir={git_dir}", "config", "-z"]
    command += ["--get-regexp", r"^user\.(name|email)$"]
    process = start(command, cwd=git_dir, environment=environment)
    result = finish(process, "config", None, DEFAULT_TIMEOUT, _MAX_ANSWER)
    found = {"user.name": "", "user.email": ""}
    for item in result.out.decode("utf-8", "replace").split("\0"):
        key, _, value = item.partition("\n")
        found[key] = value.strip()
    return found["user.name"], found["user.email"]
