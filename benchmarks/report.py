"""Write docs/performance.md and its picture out of benchmarks/results.json.

    python benchmarks/report.py [--check]

What stands on the page comes from the figures, so the two cannot disagree. ``--check`` writes
nothing and exits with 1 where the page is another than the figures give. The picture needs
matplotlib, which only ``make bench`` installs; the page does not.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
PAGE = HERE.parent / "docs" / "performance.md"
PICTURE = PAGE.with_suffix(".svg")
TEXT = HERE / "performance.md.in"

Results = dict[str, Any]


class Row(NamedTuple):
    """One figure that has, or could have, a limit; ``unit`` is ``ms`` or empty for a ratio."""

    name: str
    passed: float
    worked: float
    unit: str
    limit: float | None
    by: str

    @property
    def is_kept(self) -> bool:
        value: float = getattr(self, self.by)
        return self.limit is None or value <= self.limit


def rows(results: Results) -> Iterator[Row]:
    """Every ratio, and every time that has a limit of its own, which is one of processors."""
    for part in results.values():
        for name, one in part["ratios"].items():
            yield Row(name, one["passed"], one["worked"], "", one["limit"], one["by"])
        for name, limit in part.get("at_most", {}).items():
            one = part["milliseconds"][name]
            yield Row(name, one["least"], one["worked"], " ms", limit, "worked")


def ratios(part: Results) -> str:
    """The table of what a part compares; the value that the limit is for is bold."""
    lines = ["| figure | passed | processors | limit |", "|---|---:|---:|---:|"]
    for row in rows({"": part}):
        values = {by: f"{getattr(row, by):.2f}{row.unit}" for by in ("passed", "worked")}
        limit = ""
        if row.limit is not None:
            values[row.by] = f"**{values[row.by]}**"
            limit = f"{row.limit:g}{row.unit}" + ("" if row.is_kept else " (broken)")
        lines.append(f"| {row.name} | {values['passed']} | {values['worked']} | {limit} |")
    return "\n".join(lines)


def times(part: Results) -> str:
    """The table of a part's times."""
    lines = ["| milliseconds | least | median | of processors |", "|---|---:|---:|---:|"]
    for name, one in part["milliseconds"].items():
        lines.append(f"| {name} | {one['least']:.1f} | {one['median']:.1f} | {one['worked']:.1f} |")
    return "\n".join(lines)


def growth(part: Results) -> str:
    """The table of stores that grow."""
    lines = [
        "| merges | | packs | KB on disk | read, ms | merge, ms |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for label, steps in part["growth"].items():
        for step in steps:
            lines.append(
                f"| {step['merges']:,} | {label} | {step['packs']} | {step['kilobytes']:,} "
                f"| {step['read']:.1f} | {step['merge']:.1f} |"
            )
    return "\n".join(lines)


def machine(part: Results) -> str:
    """The sentence under which circumstances a part was measured."""
    found = part["machine"]
    return (
        f"`{part['command']}`, {part['seconds']:,} seconds, on {found['processors']} processors of "
        f"{found['system']} with a load of {found['load']:g} before it began; Python "
        f"{found['python']}, git {found['git']}, SQLite {found['sqlite']}."
    )


def page(results: Results) -> str:
    """The page, from the text that stays and the figures of the last runs."""
    text = TEXT.read_text(encoding="utf-8")
    for name, part in results.items():
        text = text.replace(f"{{{name}: ratios}}", ratios(part))
        text = text.replace(f"{{{name}: times}}", times(part))
        text = text.replace(f"{{{name}: machine}}", machine(part))
        if "growth" in part:
            text = text.replace(f"{{{name}: growth}}", growth(part))
        for key in ("git_processes", "seconds_to_build"):
            text = text.replace(f"{{{name}: {key}}}", str(part.get(key, "")))
    return text


def draw(results: Results) -> None:
    """Draw the curves: a merge by size, and a store that grows."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "gitmem"  # the same figures give the same file
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
    merge = results["merge"]
    sizes, found = merge["sizes"], merge["milliseconds"]
    for what in ("merge", "merge by hand", "propose", "propose by hand"):
        values = [found[f"{what} at {size:,} records"]["worked"] for size in sizes]
        left.plot(sizes, values, "o-" if "hand" not in what else "o--", label=what)
    left.set(
        xscale="log", xlabel="records", ylabel="milliseconds of processors (median)", ylim=(0, None)
    )
    left.set_title("One durable change, by the size of the memory")
    left.legend()
    for label, steps in results["growth"]["growth"].items():
        merges = [step["merges"] for step in steps]
        right.plot(merges, [step["merge"] for step in steps], "o-", label=f"merge, {label}")
        right.plot(merges, [step["read"] for step in steps], "o--", label=f"read, {label}")
    right.set(xlabel="merges", ylabel="milliseconds that passed (least)", ylim=(0, None))
    right.set_title("A store that grows merge by merge")
    right.legend()
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


def main(arguments: list[str]) -> int:
    """Write the page and the picture, or only check the page."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    text = page(results)
    if "--check" in arguments:
        if PAGE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE} is not what {RESULTS} gives: python benchmarks/report.py", file=sys.stderr)
        return 1
    PAGE.write_text(text, encoding="utf-8")
    draw(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
