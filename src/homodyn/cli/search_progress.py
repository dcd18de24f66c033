"""How searches show their progress."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from homodyn.search import SearchProgress

PROGRESS_INTERVAL_S = 30.0
"""Seconds between lines of progress where stderr is not a terminal."""


class SearchProgressLine:
    """The progress of a search: a live line in a terminal, else a line every half minute.

    Args:
        subspaces: Number of subspaces of the search.
        quiet: Show nothing.
    """

    def __init__(self, subspaces: int, quiet: bool) -> None:
        from rich.console import Console

        self._subspaces = subspaces
        console = Console(stderr=True)
        self._status = None if quiet or not console.is_terminal else console.status("Starting")
        self._last_printed = None if quiet else time.monotonic()

    def __enter__(self) -> SearchProgressLine:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *reason: object) -> None:
        if self._status is not None:
            self._status.stop()

    def update(self, progress: SearchProgress) -> None:
        """Show the progress."""
        lines = progress_lines(progress, self._subspaces)
        if self._status is not None:
            self._status.update("\n  ".join(lines))
        elif self._last_printed and time.monotonic() - self._last_printed > PROGRESS_INTERVAL_S:
            typer.echo("; ".join(lines), err=True)
            self._last_printed = time.monotonic()


def progress_lines(progress: SearchProgress, subspaces: int) -> list[str]:
    """Progress of a search as text.

    Args:
        progress: The progress.
        subspaces: Number of subspaces of the search.

    Returns:
        A line with generation, best value and remaining time, and where there are pools a line with
        the most visited subspaces.
    """
    from homodyn.search.studies.summary import duration

    current = f" + {progress.evaluated}/{progress.population}" if progress.evaluated else ""
    parts = [f"generation {progress.generation}/{progress.iterations}{current}"]
    if progress.stage >= 0:
        parts.append(f"{progress.criterion} best {progress.best:.6g} mean {progress.mean:.6g}")
        if progress.stages:
            parts.append(f"stage {progress.stage + 1}/{progress.stages + 1}")
    if progress.failed:
        parts.append(f"{progress.failed} failed")
    parts.append(f"{duration(progress.seconds_left)} left")
    lines = [", ".join(parts)]
    if progress.visits:
        visits = "; ".join(f"{name}: {count}" for name, count in progress.visits)
        visited = f"{progress.subspaces} of {subspaces} subspaces visited"
        lines.append(f"{visited}, most {visits}")
    return lines
