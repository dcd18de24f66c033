"""Durations, notes and missing parts of an analysis that runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeVar

from homodyn.errors import HomodynError

ProgressCallback = Callable[[str], None]
"""Called with the name of each stage when it begins."""
Result = TypeVar("Result")


class AnalysisRun:
    """Durations, notes and missing parts of a run."""

    def __init__(self, progress: ProgressCallback) -> None:
        self.progress = progress
        self.seconds: dict[str, float] = {}
        self.notes: tuple[str, ...] = ()
        self.missing: dict[str, str] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Report the start of a stage and measure its duration."""
        self.progress(name)
        started = perf_counter()
        yield
        self.seconds[name] = perf_counter() - started

    def attempt(self, part: str, compute: Callable[[], Result]) -> Result | None:
        """Compute an optional part of the result; None and a reason if that fails."""
        try:
            return compute()
        except HomodynError as error:
            self.missing[part] = str(error)
            return None
