"""Progress on stderr: the stage of a command, the elapsed time and the kernels it compiles."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.progress import TimeElapsedColumn as ElapsedColumn
from rich.text import Text

Stage = Callable[[str], None]
"""Shows the name of the stage that begins."""


class CompiledKernelsColumn(ProgressColumn):
    """Number of kernels that were compiled since the progress began; empty while there are none.

    Compilation is what makes a first run slow, so a new user sees what is going on.
    """

    max_refresh = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._before = _compiled_kernels()

    def render(self, task: Task) -> Text:
        """The count."""
        from homodyn.foundation import count_of

        count = _compiled_kernels() - self._before
        text = f"{count_of(count, 'kernel')} compiled" if count > 0 else ""
        return Text(text, style="dim")


def _compiled_kernels() -> int:
    """Number of kernels in the cache."""
    from homodyn.symbolic import cache

    return cache.usage()[0]


@contextmanager
def stage_progress(first: str) -> Iterator[Stage]:
    """Show a spinner with the stage of a command on stderr, where that is a terminal.

    Args:
        first: Name of the first stage.

    Yields:
        Function that shows the name of the next stage.
    """
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        ElapsedColumn(),
        CompiledKernelsColumn(),
        console=Console(stderr=True, highlight=False),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )
    with progress:
        task = progress.add_task(first, total=None)
        yield lambda stage: progress.update(task, description=stage)
