"""A memory whose git directory was handed over with every trap that its maker could think of.

Each trap that names a program leaves a file of its own where that program runs. For each there is
a command of plain git that springs it, or a reason why git itself never does.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from tests.store.stories import plain

HOOKS = (
    "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit",
    "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase", "post-checkout",
    "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
    "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite",
    "sendemail-validate", "fsmonitor-watchman", "p4-changelist", "p4-prepare-changelist",
    "p4-post-changelist", "p4-pre-submit", "post-index-change",
)  # fmt: skip

# The store's own file: what is named here, and the two files that it includes.
CONFIG = """
[core]
	fsmonitor = {hooks}/fsmonitor-watchman
	pager = {run}/core.pager
	editor = {run}/core.editor
	sshCommand = {run}/core.sshCommand
	gitProxy = {run}/core.gitProxy
	askPass = {run}/core.askPass
	alternateRefsCommand = {run}/core.alternateRefsCommand
	excludesFile = {run}/core.pager
	attributesFile = {outside}/attributes
	logAllRefUpdates = always
	bigFileThreshold = 1
	looseCompression = 0
	preloadIndex = true
	commentChar = "|"
	sharedRepository = 0666
	checkRoundtripEncoding = UTF-16
[i18n]
	commitEncoding = ISO-8859-1
	logOutputEncoding = ISO-8859-1
[sequence]
	editor = {run}/sequence.editor
[pager]
	show = {run}/pager.show
[filter "code"]
	clean = {run}/filter.clean
	smudge = {run}/filter.smudge
	required = true
[filter "process"]
	process = {run}/filter.process
[diff "text"]
	textconv = {run}/diff.textconv
[diff "run"]
	command = {run}/diff.command
[merge "text"]
	driver = {run}/merge.driver
[difftool "x"]
	cmd = {run}/difftool.cmd
[trailer "x"]
	command = {run}/trailer.command
[tar "x"]
	command = {run}/tar.command
[alias]
	canary = !{run}/alias
	cat-file = !{run}/alias.cat-file
	update-ref = !{run}/alias.cat-file
	fast-import = !{run}/alias.cat-file
	diff-tree = !{run}/alias.cat-file
[credential]
	helper = {run}/credential.helper
[remote "up"]
	url = {store}
	fetch = +refs/heads/*:refs/remotes/up/*
	uploadpack = {run}/remote.uploadpack
	receivepack = {run}/remote.receivepack
[remote "v"]
	url = {run}/remote.vcs
	vcs = ext
[url "ext::{run}/url.insteadOf "]
	insteadOf = https://example.org/
[protocol "ext"]
	allow = always
[uploadpack]
	packObjectsHook = {run}/uploadpack.packObjectsHook
[receive]
	denyCurrentBranch = updateInstead
	procReceiveRefs = refs/for
[gc]
	auto = 1
	autoPackLimit = 1
	autoDetach = false
	pruneExpire = now
[submodule "sub"]
	url = {sub}
	update = !{run}/submodule.update
	active = true
[trace2]
	eventTarget = {canaries}/trace2.eventTarget
	normalTarget = {canaries}/trace2.eventTarget
[include]
	path = {outside}/included
[includeIf "gitdir:**"]
	path = {outside}/included-if
"""
INCLUDED = """
[commit]
	gpgSign = true
[tag]
	gpgSign = true
[log]
	showSignature = true
[gpg]
	program = {run}/gpg.program
[gpg "x509"]
	program = {run}/gpg.x509.program
[gpg "ssh"]
	program = {run}/gpg.ssh.program
	defaultKeyCommand = {run}/gpg.ssh.defaultKeyCommand
	allowedSignersFile = {outside}/attributes
"""
INCLUDED_IF = """
[diff]
	external = {run}/diff.external
[core]
	hooksPath = {elsewhere}
"""
# In the tree as in info/attributes: which of the memory's files go through which program.
ATTRIBUTES = """
records/** filter=code diff=text merge=text ident working-tree-encoding=UTF-8
manifest.json diff=run
README.md filter=process
MEMORY.md eol=crlf export-subst
"""
SIGNATURES = {
    "gpg.program": "PGP SIGNATURE",
    "gpg.x509.program": "SIGNED MESSAGE",
    "gpg.ssh.program": "SSH SIGNATURE",
}


class Trapped(NamedTuple):
    """Where the traps of a memory are, and what springs them.

    ``springs`` are command lines of a shell in the memory, by the canaries that each one leaves.
    """

    store: Path
    canaries: Path
    springs: dict[str, str]

    def sprung(self) -> set[str]:
        """The names of the programs that have run."""
        return {path.name for path in self.canaries.iterdir()}


#: What git itself never runs because a repository says so, and why not.
NEVER = {
    "alias.cat-file": "an alias does not count where git has a command of that name",
    "uploadpack.packObjectsHook": "taken from the person's own and the machine's settings alone",
    "trace2.eventTarget": "taken from the person's own and the machine's settings alone",
    "sendemail-validate": "run by git send-email, which is installed apart",
    "p4-changelist": "run by git p4, which needs another program",
    "p4-prepare-changelist": "run by git p4, which needs another program",
    "p4-post-changelist": "run by git p4, which needs another program",
    "p4-pre-submit": "run by git p4, which needs another program",
}


def arm(store: Path, outside: Path) -> Trapped:
    """Set every trap in ``store``; the programs lie in ``outside``, a new folder."""
    git_dir = store / ".git"
    places = {name: outside / name for name in ("run", "elsewhere", "canaries", "sub", "push")}
    for name in ("run", "elsewhere", "canaries"):
        (outside / name).mkdir(parents=True)
    (git_dir / "hooks").mkdir(exist_ok=True)
    shown = {name: str(path) for name, path in places.items()}
    shown |= {"store": str(store), "outside": str(outside), "hooks": str(git_dir / "hooks")}
    for path, text in (
        (outside / "included", INCLUDED),
        (outside / "included-if", INCLUDED_IF),
        (outside / "attributes", ATTRIBUTES),
    ):
        path.write_text(text.format(**shown))
    _commits(store)
    _submodule(store, places["sub"])
    _programs(places["run"], places["canaries"])
    for name in HOOKS:
        for folder in (git_dir / "hooks", places["elsewhere"]):
            _program(folder / name, places["canaries"] / name)
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info/attributes").write_text(ATTRIBUTES)
    (store / ".gitattributes").write_text(ATTRIBUTES)
    (git_dir / "objects/info").mkdir(exist_ok=True)
    (git_dir / "objects/info/alternates").write_text(f"{places['sub']}/.git/objects\n")
    (git_dir / "objects/info/http-alternates").write_text("https://example.org/objects\n")
    with (git_dir / "config").open("a") as config:
        config.write(CONFIG.format(**shown))
    return Trapped(store, places["canaries"], {k: v.format(**shown) for k, v in SPRINGS.items()})


def _programs(run: Path, canaries: Path) -> None:
    for name in re.findall(r"{run}/([\w.-]+)", CONFIG + INCLUDED + INCLUDED_IF):
        _program(run / name, canaries / name)


def _program(path: Path, canary: Path) -> None:
    shows = "filter.clean", "filter.smudge"
    last = "cat" if path.name in shows else 'cat "$1"' if path.name == "diff.textconv" else "exit"
    path.write_text(f"#!/bin/sh\n: >>'{canary}'\n{last}\n")
    path.chmod(0o755)


def _commits(store: Path) -> None:
    """Branches beside main: one with each kind of signature, two that change the same record."""
    tree, main = plain(store, "rev-parse", "main^{tree}"), plain(store, "rev-parse", "main")
    for name, kind in SIGNATURES.items():
        text = (
            f"tree {tree}\nparent {main}\nauthor E <e@x> 1 +0000\ncommitter E <e@x> 1 +0000\n"
            f"gpgsig -----BEGIN {kind}-----\n \n eA==\n -----END {kind}-----\n\nsigned\n"
        )
        oid = plain(store, "hash-object", "-t", "commit", "-w", "--stdin", stdin=text)
        plain(store, "update-ref", f"refs/heads/signed/{name}", oid)
    index = {"GIT_INDEX_FILE": str(store / ".git/aside")}
    for side in ("left", "right"):
        blob = plain(store, "hash-object", "-w", "--stdin", stdin=f"{side}\n")
        line = f"100644,{blob},records/user/use-tabs.md"
        plain(store, "read-tree", "main", **index)
        plain(store, "update-index", "--cacheinfo", line, **index)
        changed = plain(store, "write-tree", **index)
        oid = plain(store, "commit-tree", changed, "-p", main, "-m", side)
        plain(store, "update-ref", f"refs/heads/{side}", oid)
    (store / ".git/aside").unlink()


def _submodule(store: Path, sub: Path) -> None:
    sub.mkdir()
    plain(sub, "init", "-q", "-b", "trunk", ".")
    for text in ("one", "two"):
        plain(sub, "commit", "-q", "--allow-empty", "-m", text)
    shutil.copytree(sub, store / "sub")
    (store / ".gitmodules").write_text(f'[submodule "sub"]\n\tpath = sub\n\turl = {sub}\n')
    older = plain(sub, "rev-parse", "HEAD~1")
    plain(store, "add", ".gitmodules")
    plain(store, "update-index", "--add", "--cacheinfo", f"160000,{older},sub")


QUIET = "git -c commit.gpgSign=false -c core.hooksPath={hooks} -c core.fsmonitor=false"
#: By the canaries that they leave. Those on hooks come last: they commit, merge and check out.
SPRINGS = {
    "fsmonitor-watchman post-index-change": "git status",
    "filter.clean": "touch records/user/use-tabs.md; git status",
    "diff.textconv": "git --no-pager log -p",
    "diff.command": "git --no-pager diff main~1 main -- manifest.json",
    "diff.external": "git --no-pager diff main~4 main -- MEMORY.md",
    "gpg.program": "git --no-pager log -1 --show-signature signed/gpg.program",
    "gpg.x509.program": "git --no-pager log -1 signed/gpg.x509.program",
    "gpg.ssh.program": "git --no-pager log -1 signed/gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand": "git -c gpg.format=ssh commit -S --allow-empty -m x",
    "core.pager": "git log",
    "pager.show": "git show main",
    "core.alternateRefsCommand": "git rev-list --alternate-refs --all",
    "alias": "git canary",
    "core.sshCommand": "git ls-remote ssh://127.0.0.1/x",
    "core.gitProxy": "git ls-remote git://127.0.0.1/x",
    "credential.helper core.askPass": (
        "printf 'protocol=https\\nhost=example.org\\n\\n' | git credential fill"
    ),
    "remote.uploadpack": "git fetch up",
    "remote.receivepack": "git push up main:refs/heads/elsewhere",
    "remote.vcs": "git fetch v",
    "url.insteadOf": "git ls-remote https://example.org/x",
    "submodule.update": "git submodule update sub",
    "difftool.cmd": "git --no-pager difftool -y --tool=x main~4 main -- MEMORY.md",
    "trailer.command": "echo x | git interpret-trailers",
    "tar.command": "git archive --format=x main",
    "pre-auto-gc": QUIET + " gc --auto",
    "core.editor": "git -c commit.gpgSign=false commit --allow-empty",
    "filter.smudge": "rm records/user/use-tabs.md; git checkout -- records/user/use-tabs.md",
    "pre-commit prepare-commit-msg commit-msg post-commit reference-transaction": (
        QUIET + " commit --allow-empty -m x"
    ),
    "post-rewrite": QUIET + " commit --amend --allow-empty -m y",
    "post-checkout": QUIET + " checkout -f left",
    "merge.driver pre-merge-commit post-merge": (
        QUIET
        + " merge -m x right; "
        + QUIET
        + " commit -a -m x; "
        + QUIET
        + " merge -m z --no-ff signed/gpg.program"
    ),
    "pre-rebase sequence.editor": QUIET + " rebase -i HEAD~1",
    "applypatch-msg pre-applypatch post-applypatch": (
        QUIET + " rebase --abort; " + QUIET + " checkout -f -B mail right~1; "
        "git format-patch --no-ext-diff --no-textconv -1 --stdout right | " + QUIET + " am"
    ),
    "pre-push pre-receive update proc-receive post-receive post-update push-to-checkout": (
        QUIET + " checkout -f -B here left; git clone -q {store} {push}; cd {push}; "
        "git -c user.name=E -c user.email=e@x commit -q --allow-empty -m x; "
        "git -c core.hooksPath={hooks} push origin HEAD:refs/heads/pushed; "
        "git push origin HEAD:refs/for/x; git push origin HEAD:refs/heads/here"
    ),
    # From here on every git that looks at the file dies of it.
    "filter.process": "touch README.md; git status",
}
