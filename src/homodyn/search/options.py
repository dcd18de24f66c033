"""Options of a search: its database, its executor, its time limit and its progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, TypedDict

from homodyn.errors import SearchError
from homodyn.foundation import Record, record
from homodyn.foundation.executors import Executor
from homodyn.search.studies.result import SearchProgress

ProgressCallback = Callable[[SearchProgress], None]


class SearchKeywords(TypedDict, total=False):
    """The fields of `SearchOptions` as keywords of `minimize` and `run`."""

    database: str | Path | None
    where: str | Executor | None
    workers: int | None
    folder: Path | None
    stop_after: float | None
    progress: ProgressCallback | None


@record
class SearchOptions(Record):
    """How a search runs: where, for how long, and where it is recorded.

    Raises:
        SearchError: A value is out of range.
    """

    _transient: ClassVar[tuple[str, ...]] = ("progress",)

    database: str | Path | None = None
    """File or URL in which the study is recorded; memory by default."""
    where: str | Executor | None = None
    """``"serial"``, ``"pool"``, ``"auto"``, the address of a Dask scheduler, or an `Executor`; by
    default as the job says."""
    workers: int | None = None
    """Processes of the pool; by default as the job says."""
    folder: Path | None = None
    """Folder of the files that the job names; the current folder by default."""
    stop_after: float | None = None
    """Time (s) after which the run stops, to be resumed; candidates that are being evaluated then
    do not count as failed."""
    progress: ProgressCallback | None = None
    """Called after every generation, and at intervals within a long one."""

    def __post_init__(self) -> None:
        if self.workers is not None and self.workers < 1:
            raise SearchError(f"workers is {self.workers}; expected at least 1")
        if self.stop_after is not None and not self.stop_after >= 0:
            raise SearchError(f"stop_after is {self.stop_after} s; expected 0 s or more")
