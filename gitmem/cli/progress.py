"""Progress of long work, on standard error, where that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gitmem.cli.output import Output
from gitmem.domain.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gitmem.results import Progress


@contextmanager
def shown_progress(output: Output) -> Iterator[Progress | None]:
    """Give a callback ``(what, done, total)`` that draws a bar; None where nobody would see it."""
    if not output.err.terminal or output.err.dumb:
        yield None
        return
    # Only here, since rich takes long to import.
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, no_color=not output.err.colour, highlight=False)
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
    )
    with progress.Progress(*columns, console=console, transient=True) as bars:
        tasks: dict[str, progress.TaskID] = {}

        def tell(what: str, done: int, total: int | None) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(Text(one_line(what)).plain, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield tell
