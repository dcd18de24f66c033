"""Batches of trials: skip finished ones, run the others in processes or on a cluster.

A trial is finished when its folder contains a complete result with the fingerprint of the same
inputs, settings and version. A bad file never stops the others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from homodyn.analysis.pipeline import analyze
from homodyn.analysis.quality import overall_light, quality_verdicts
from homodyn.analysis.result_files import PageWriter, origin, read_summary, write_result
from homodyn.analysis.settings import Settings, file_digest, fingerprint
from homodyn.errors import CaptureError, FormatError, HomodynError
from homodyn.foundation import Record, record

THREAD_VARIABLES = (
    "HOMODYN_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)
"""Environment variables that limit the threads of a process."""
CONNECT_TIMEOUT = "5s"
"""Longest time to wait for the scheduler of a cluster."""


class TrialStatus(StrEnum):
    """How a trial of a batch ended."""

    WRITTEN = "written"
    SKIPPED = "skipped"
    """Its result existed, with the same inputs."""
    FAILED = "failed"


@record(eq=True)
class TrialOutcome(Record):
    """One trial of a batch: how it ended, where its result is, and the reason of a failure."""

    trial: str
    name: str
    status: TrialStatus
    folder: str
    seconds: float = 0.0
    reason: str = ""
    light: str = ""
    """``good``, ``fair`` or ``poor`` for a result that was written."""

    def headline(self) -> str:
        """Trial, status and reason."""
        return f"TrialOutcome {self.name!r}: {self.status}" + (
            f", {self.reason}" if self.reason else ""
        )


@record(eq=True)
class BatchResult(Record):
    """The outcome of every trial of a batch, in the order in which the trials were given."""

    outcomes: tuple[TrialOutcome, ...]

    def headline(self) -> str:
        """Number of trials and failures."""
        return f"BatchResult: {len(self.outcomes)} trials, {len(self.failed)} failed"

    @property
    def failed(self) -> tuple[TrialOutcome, ...]:
        """Trials without a result."""
        return tuple(o for o in self.outcomes if o.status is TrialStatus.FAILED)

    def count(self, status: TrialStatus) -> int:
        """Number of trials that ended with this status.

        Args:
            status: The status to count.

        Returns:
            The number of trials.
        """
        return sum(outcome.status is status for outcome in self.outcomes)


class BatchProgress(Protocol):
    """Receives the progress of a batch."""

    def stage(self, name: str, stage: str) -> None:
        """Called when a stage of a trial starts, for trials that run in this process."""

    def trial_finished(self, outcome: TrialOutcome) -> None:
        """Called when a trial has ended."""


class _NoProgress:
    """Ignores progress."""

    def stage(self, name: str, stage: str) -> None:
        """Ignore a stage."""

    def trial_finished(self, outcome: TrialOutcome) -> None:
        """Ignore a finished trial."""


@record(eq=True)
class BatchOptions(Record):
    """How a batch runs: processes or a cluster, and what happens to results that exist."""

    jobs: int = 1
    """Processes that work at once."""
    cluster: str | None = None
    """Address of a Dask scheduler, instead of ``jobs``; its workers must see the same files."""
    overwrite: bool = False
    """Also run trials whose results exist."""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise CaptureError(f"jobs is {self.jobs}; expected 1 or more processes")


def analyze_batch(
    trials: Sequence[str | Path],
    settings: Settings,
    output: str | Path,
    options: BatchOptions | None = None,
    *,
    pages: PageWriter | None = None,
    progress: BatchProgress | None = None,
) -> BatchResult:
    """Analyze trials and write each result into a folder of ``output`` named after the trial.

    Results that exist with the same inputs, settings and version are skipped.

    Args:
        trials: Recordings: .c3d, .trc or .csv.
        settings: Settings of all trials.
        output: Folder of the results; created when missing.
        options: Processes, cluster and overwriting; one process when omitted.
        pages: Writer of HTML pages, such as `homodyn.report.HtmlPages`; none when omitted.
        progress: Receives stages and finished trials.

    Returns:
        The outcome of each trial, in the order of ``trials``.

    Raises:
        CaptureError: A trial is given twice, or no cluster answers.
        FormatError: ``output`` is a file.
    """
    options = options or BatchOptions()
    progress = progress or _NoProgress()
    output = Path(output)
    if output.exists() and not output.is_dir():
        raise FormatError("it is a file, expected a folder for the results", str(output))
    names = folder_names(trials)
    outcomes: dict[str, TrialOutcome] = {}
    tasks: list[_Task] = []
    for trial, name in zip(trials, names, strict=True):
        task = _Task(str(trial), name, settings, str(output / name), pages)
        existing = None if options.overwrite else _existing_outcome(task)
        if existing is None:
            tasks.append(task)
        else:
            outcomes[name] = existing
            progress.trial_finished(existing)
    for outcome in _run(tasks, options, progress):
        outcomes[outcome.name] = outcome
        progress.trial_finished(outcome)
    written = any(outcome.status is not TrialStatus.FAILED for outcome in outcomes.values())
    if written and pages is not None:
        pages.write_overview(output)
    return BatchResult(tuple(outcomes[name] for name in names))


@dataclass(frozen=True)
class _Task:
    """One trial to analyze and the folder to write."""

    trial: str
    name: str
    settings: Settings
    folder: str
    pages: PageWriter | None

    def with_absolute_paths(self) -> _Task:
        """The same task for a process that starts in another folder."""
        return replace(
            self,
            trial=str(Path(self.trial).resolve()),
            settings=self.settings.with_absolute_paths(),
            folder=str(Path(self.folder).resolve()),
        )

    def failure(self, reason: str, seconds: float = 0.0) -> TrialOutcome:
        """The outcome of this task when it has no result."""
        return TrialOutcome(self.trial, self.name, TrialStatus.FAILED, self.folder, seconds, reason)


def _analyze_task(task: _Task, progress: Callable[[str], None] | None = None) -> TrialOutcome:
    """Analyze and write one trial; a failure is an outcome, not an exception."""
    started = perf_counter()
    try:
        run_fingerprint = fingerprint(task.trial, task.settings)
        analysis = replace(analyze(task.trial, task.settings, progress=progress), name=task.name)
        if progress is not None:
            progress("writing")
        write_result(
            analysis, task.folder, overwrite=True, run_fingerprint=run_fingerprint, pages=task.pages
        )
        return TrialOutcome(
            task.trial,
            task.name,
            TrialStatus.WRITTEN,
            task.folder,
            perf_counter() - started,
            light=overall_light(quality_verdicts(analysis)),
        )
    except HomodynError as error:
        reason = " ".join(str(error).split())
    except MemoryError:
        reason = "there is not enough memory for it; shorten it with --from and --to"
    except Exception as error:
        # A bug in Homodyn that affects one trial must not cost the results of the others.
        reason = f"Homodyn failed on it: {type(error).__name__}: {' '.join(str(error).split())}"
    return task.failure(reason, perf_counter() - started)


def folder_names(trials: Sequence[str | Path]) -> list[str]:
    """A folder name for each trial: its file name, with folders in front where two are alike."""
    paths = [Path(trial) for trial in trials]
    same = [path for path, count in Counter(str(p.resolve()) for p in paths).items() if count > 1]
    if same:
        raise CaptureError(f"the same trial is named twice: {', '.join(same)}")
    names = [path.stem for path in paths]
    depth = 1
    while len(set(names)) < len(names):
        alike = {name for name, count in Counter(names).items() if count > 1}
        longer = []
        for path, name in zip(paths, names, strict=True):
            parts = path.resolve().with_suffix("").parts
            if name in alike and depth < len(parts):
                # Files that differ in their suffix alone.
                name = "-".join(parts[-1 - depth :]).strip("/")
                if depth == len(parts) - 1:
                    name += path.suffix.replace(".", "-")
            longer.append(name)
        if longer == names:
            longer = [path.name.replace(".", "-") for path in paths]
        names, depth = longer, depth + 1
    return names


def _existing_outcome(task: _Task) -> TrialOutcome | None:
    """The outcome of a trial that is not run; None for one that must run.

    It is not run when its result exists, its file is missing, or its folder belongs to another
    recording.
    """
    folder = Path(task.folder)
    try:
        run_fingerprint = fingerprint(task.trial, task.settings)
    except HomodynError as error:
        return task.failure(str(error))
    summary = read_summary(folder, with_page=task.pages is not None)
    if summary.get("fingerprint") == run_fingerprint:
        return TrialOutcome(task.trial, task.name, TrialStatus.SKIPPED, task.folder)
    files = summary.get("files", {})
    foreign = summary.get("origin") != origin(task.trial)
    if summary and foreign and files.get("trial") != file_digest(task.trial):
        return task.failure(
            f"{folder} contains the result of another recording, {summary.get('source')}; "
            "choose another folder, or replace it with --overwrite"
        )
    return None


def _run(
    tasks: Sequence[_Task], options: BatchOptions, progress: BatchProgress
) -> Iterator[TrialOutcome]:
    if options.cluster is not None:
        yield from _run_on_cluster(tasks, options.cluster)
    elif options.jobs == 1 or len(tasks) <= 1:
        for task in tasks:
            yield _analyze_task(task, partial(progress.stage, task.name))
    else:
        yield from _run_in_processes(tasks, min(options.jobs, len(tasks)))


def _run_in_processes(tasks: Sequence[_Task], jobs: int) -> Iterator[TrialOutcome]:
    """Run tasks in spawned processes with an equal share of the threads each.

    A process that dies takes its pool with it. Unfinished tasks then run again one by one, each in
    a process of its own, so that only the task at fault fails.
    """
    share = max((os.cpu_count() or 1) // jobs, 1)
    unfinished = list(tasks)
    with _thread_limit(share):
        with _pool(jobs) as pool:
            try:
                for outcome in _collect(pool, unfinished):
                    unfinished = [task for task in unfinished if task.name != outcome.name]
                    yield outcome
            except BrokenProcessPool:
                pass
        for task in unfinished:
            with _pool(1) as pool:
                try:
                    yield pool.submit(_analyze_task, task).result()
                except BrokenProcessPool:
                    yield task.failure("the process that analyzed it died, perhaps out of memory")


def _collect(pool: Executor, tasks: Sequence[_Task]) -> Iterator[TrialOutcome]:
    futures: list[Future[TrialOutcome]] = [pool.submit(_analyze_task, task) for task in tasks]
    for future in as_completed(futures):
        yield future.result()


def _run_on_cluster(tasks: Sequence[_Task], address: str) -> Iterator[TrialOutcome]:
    try:
        import distributed
    except ImportError:
        raise CaptureError(
            "a cluster needs the package distributed: pip install 'homodyn[cluster]', or use "
            "--jobs on this machine"
        ) from None
    try:
        client = distributed.Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise CaptureError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with "
            "`dask scheduler`, and give its address as tcp://host:8786"
        ) from None
    with client:
        submitted: dict[Any, _Task] = {
            client.submit(_analyze_task, task.with_absolute_paths(), pure=False, retries=1): task
            for task in tasks
        }
        for future in distributed.as_completed(list(submitted), loop=client.loop):
            task = submitted[future]
            try:
                yield replace(future.result(), trial=task.trial, folder=task.folder)
            except Exception as error:
                yield task.failure(f"its worker was lost: {' '.join(str(error).split())}")


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))


@contextmanager
def _thread_limit(count: int) -> Iterator[None]:
    """Limit the threads of processes that start inside this context."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ |= {name: str(count) for name in THREAD_VARIABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
