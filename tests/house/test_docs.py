"""The documents keep what they promise: links lead somewhere, named tests exist, nothing leaks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "hooks/**/*.md", "demo/**/*.md", "benchmarks/**/*.md")
    for path in ROOT.glob(pattern)
)
REQUIRED = [
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/architecture.md",
    "docs/cli.md",
    "docs/format.md",
    "docs/guarantees.md",
]
README_LINES = 120
ADRS = sorted((ROOT / "docs" / "adr").glob("*.md"))
ADR_SECTIONS = ["Status", "Context", "Options", "Decision"]

# Folders of whoever's machine, and hosts that packages come from: neither belongs in a project.
MACHINE_PATH = re.compile(r"(?<![\w.~>}-])/(?:home|root|Users|farm|opt|tmp|work)/\w")
INDEX_HOST = re.compile(r"pypi\.org|pythonhosted\.|npmjs\.|deb\.debian\.|proxy\.golang\.")


def tokens(path: Path) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8")):
        yield token
        yield from token.children or []


def links(path: Path) -> list[str]:
    """What the document links to or shows as a picture."""
    found = [t.attrGet("href") or t.attrGet("src") for t in tokens(path)]
    return [str(target) for target in found if target]


def anchors(path: Path) -> set[str]:
    """The names that git hosts give to the document's headings."""
    inline = [t for t in tokens(path) if t.type in ("heading_open", "inline")]
    names = set()
    for opening, content in pairwise(inline):
        if opening.type == "heading_open":
            plain = re.sub(r"[^\w\- ]", "", content.content.lower())
            names.add(plain.replace(" ", "-"))
    return names


def project_files() -> list[Path]:
    """The text files of the project: what git tracks, or everything unpacked from an archive."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True
        )
        paths = [ROOT / name.decode() for name in listed.stdout.split(b"\0") if name]
    else:
        paths = [p for p in ROOT.rglob("*") if not any(q.startswith(".") for q in p.parts)]
    return [path for path in paths if path.is_file() and path.suffix != ".pyc"]


@pytest.mark.parametrize("name", REQUIRED)
def test_a_document_that_others_rely_on_is_there(name: str) -> None:
    assert (ROOT / name).is_file()


def test_the_readme_fits_its_limit() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= README_LINES


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_inside_the_project_lead_somewhere(path: Path) -> None:
    broken = []
    for link in links(path):
        target = urlsplit(link)
        if target.scheme:
            continue
        file = (path.parent / unquote(target.path)).resolve() if target.path else path
        anchored = bool(target.fragment) and file.suffix == ".md"
        if not file.exists() or (anchored and target.fragment not in anchors(file)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_tests_that_a_document_names_exist(path: Path) -> None:
    missing = []
    for file, name in re.findall(
        r"`(tests/[\w./-]+)(?:::(\w+))?[^`]*`", path.read_text(encoding="utf-8")
    ):
        if not (ROOT / file).exists():
            missing.append(file)
        elif name and name not in functions_of(ROOT / file):
            missing.append(f"{file}::{name}")
    assert missing == []


def functions_of(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = (ast.AsyncFunctionDef, ast.ClassDef, ast.FunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, named)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_document_names_no_folder_of_a_machine(path: Path) -> None:
    assert MACHINE_PATH.findall(path.read_text(encoding="utf-8")) == []


def test_no_file_names_a_package_index_or_the_folder_it_was_written_in() -> None:
    # A folder as short as /app would be found in honest text.
    here = f"{ROOT}/" if len(ROOT.parts) > 2 else None
    leaks = []
    for path in project_files():
        text = path.read_bytes().decode("utf-8", "replace")
        if (here and here in text) or INDEX_HOST.search(text):
            leaks.append(str(path.relative_to(ROOT)))
    assert leaks == []


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [int(path.name[:4]) for path in ADRS] == list(range(1, len(ADRS) + 1))
    assert len(ADRS) >= 6


@pytest.mark.parametrize("path", ADRS, ids=lambda p: p.stem)
def test_a_decision_has_its_four_parts(path: Path) -> None:
    headings = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert [h for h in headings if h in ADR_SECTIONS] == ADR_SECTIONS


def test_the_command_reference_is_what_help_prints() -> None:
    generator = ROOT / "docs" / "generate_cli.py"
    done = subprocess.run(
        [sys.executable, str(generator), "--check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_a_broken_link_and_a_leak_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading, here\n\n[a](gone.md) ![b](b.png) `[c](code.md)`\n")
    assert links(page) == ["gone.md", "b.png"]
    assert anchors(page) == {"a-heading-here"}
    assert MACHINE_PATH.search("see /home" + "/ada/x")
    assert not MACHINE_PATH.search("records/opt/x.md and https://example.org/opt/x")
    assert INDEX_HOST.search("pypi" + ".org")
