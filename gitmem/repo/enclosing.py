"""Hides a store from the repository that it lies in."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from gitmem.domain.shell import shell_word
from gitmem.errors import GitFailed, NotFound
from gitmem.repo.discovery import find_git_dir
from gitmem.repo.environment import PIN_ARGUMENTS, personal_environment
from gitmem.repo.opening import git_reason
from gitmem.repo.runner import DEFAULT_TIMEOUT, finish, require_git, shown, start

_MAX_ANSWER = 64 * 1024


def hide_from_enclosing(root: Path) -> str:
    """Name ``root`` in ``info/exclude`` of the repository around it, unless it stands there.

    That file is local and belongs to no commit: the enclosing repository's index, refs and
    configuration stay as they are, and so do its ``.gitignore`` files, which count for more. So
    git is asked whether it ignores the folder now.

    Returns a sentence for the person: what was done, or why the folder is to be seen all the same
    and what to do. It is empty where there is no repository around or nothing was to do.
    """
    place = root.resolve()
    for folder in place.parents:
        try:
            dirs = find_git_dir(folder)
        except NotFound:
            continue
        if dirs.is_bare:
            return ""
        exclude = dirs.common / "info" / "exclude"
        changed = _exclude(exclude, _pattern(place, folder))
        visible = _why_visible(folder, place)
        if visible:
            return f"{root} is not hidden from the repository around it: {visible}"
        hidden = f"{root} is hidden from the repository around it, in {exclude}"
        return hidden if changed else ""
    return ""


def _exclude(path: Path, line: str) -> bool:
    """Append a line to a file that does not have it; whether that was done."""
    old = path.read_bytes() if path.exists() else b""
    data = line.encode("utf-8", "surrogateescape")
    if data in old.split(b"\n"):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    with path.open("ab") as file:
        file.write(gap + data + b"\n")
    return True


def _pattern(place: Path, folder: Path) -> str:
    """The line of an exclude file of ``folder`` that hides the folder ``place`` only."""
    relative = place.relative_to(folder).as_posix()
    escaped = "".join(f"\\{char}" if char in "\\*?[" else char for char in relative)
    stripped = escaped.rstrip(" ")
    return "/" + stripped + "\\ " * (len(escaped) - len(stripped)) + "/"


class _Rule(NamedTuple):
    """The line of an exclude file that decides about a path; all empty where none does."""

    file: str
    line: str
    pattern: str

    @property
    def hides(self) -> bool:
        return bool(self.pattern) and not self.pattern.startswith("!")


def _why_visible(folder: Path, place: Path) -> str:
    """Why the repository at ``folder`` does not ignore ``place``, and what to do; or nothing."""
    try:
        rule = _deciding_rule(folder, place)
        if rule.hides:
            return ""
        if _deciding_rule(folder, place, "--no-index").hides:
            name = shell_word(str(place.relative_to(folder)))
            remedy = f"git -C {shell_word(str(folder))} rm -r --cached -- {name}"
            return f"git tracks it there. To have it left alone: {remedy}"
    except GitFailed as error:
        return f"git cannot say whether it ignores it ({error.message})"
    file = (folder / (rule.file or ".gitignore")).resolve()
    if not place.is_relative_to(file.parent):
        file = folder / ".gitignore"
    shows = f"line {rule.line} of {file} ({shown(rule.pattern)}) shows it; " if rule.file else ""
    return f"{shows}add this line at the end of {file}: {shown(_pattern(place, file.parent))}"


def _deciding_rule(folder: Path, place: Path, *options: str) -> _Rule:
    """Ask git, with the person's settings.

    Raises:
        GitFailed: git cannot say.
    """
    environment = personal_environment()
    del environment["GIT_LITERAL_PATHSPECS"]  # which this command knows nothing of
    command = [require_git(), "--no-pager", *PIN_ARGUMENTS, "check-ignore", "-v", "-n", "-z"]
    process = start([*command, *options, "--stdin"], cwd=folder, environment=environment)
    asked = b"./" + str(place.relative_to(folder)).encode("utf-8", "surrogateescape") + b"\0"
    result = finish(process, "check-ignore", asked, DEFAULT_TIMEOUT, _MAX_ANSWER)
    fields = result.out.decode("utf-8", "surrogateescape").split("\0")
    if result.code not in (0, 1) or len(fields) < 3:
        raise GitFailed(git_reason(result.err))
    return _Rule(*fields[:3])
