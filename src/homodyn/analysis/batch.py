"""Batches of trials: skip finished ones, run the others in processes or on a cluster.

A trial is finished when its folder contains a complete result with the fingerprint of the same
inputs, settings and version. A bad file never stops the others.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Protocol

from homodyn.analysis.pipeline import analyze
from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.result_files import PageWriter, origin, read_summary, write_result
from homodyn.analysis.settings import Settings, file_digest, fingerprint
from homodyn.analysis.trial_folders import select_trials
from homodyn.analysis.verdict import QualityLight, overall_light
from homodyn.errors import CaptureError, FormatError, HomodynError
from homodyn.foundation import Record, count_of, record
from homodyn.foundation.executors import (
    DaskExecutor,
    Executor,
    ExecutorError,
    ProcessExecutor,
    TaskResult,
    WorkerLost,
)

CLUSTER_TIMEOUT_S = 5.0
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
    """The file of the trial."""
    name: str
    """Name of its folder."""
    status: TrialStatus
    folder: str
    """The folder of its result."""
    seconds: float = 0.0
    """Duration of the analysis (s)."""
    reason: str = ""
    """Why it failed."""
    light: str = ""
    """``good``, ``fair`` or ``poor`` for a result that was written."""
    verdict: str = ""
    """The first reason why a result that was written is not good."""

    def headline(self) -> str:
        """Trial, status and reason."""
        return f"TrialOutcome {self.name!r}: {self.status}" + (
            f", {self.reason}" if self.reason else ""
        )


@record(eq=True)
class BatchResult(Record):
    """The outcome of every trial of a batch, in the order in which the trials were given."""

    outcomes: tuple[TrialOutcome, ...]
    notes: tuple[str, ...] = ()
    """Decisions, one sentence each."""

    def headline(self) -> str:
        """Number of trials and failures."""
        return f"BatchResult: {count_of(len(self.outcomes), 'trial')}, {len(self.failed)} failed"

    @property
    def failed(self) -> tuple[TrialOutcome, ...]:
        """Outcomes of the trials without a result."""
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
    """Interface that receives the progress of a batch; implement both methods.

    They are called in the process that called `analyze_batch`, one at a time.
    """

    def stage(self, name: str, stage: str) -> None:
        """Called when a stage of a trial starts, for trials that run in this process.

        Args:
            name: Name of the trial.
            stage: Name of the stage.
        """

    def trial_finished(self, outcome: TrialOutcome) -> None:
        """Called when a trial has ended.

        Args:
            outcome: How it ended.
        """


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
    trials: str | Path | Sequence[str | Path],
    settings: Settings,
    output: str | Path,
    options: BatchOptions | None = None,
    *,
    pages: PageWriter | None = None,
    progress: BatchProgress | None = None,
    executor: Executor | None = None,
) -> BatchResult:
    """Analyze trials and write each result into a folder of ``output`` named after the trial.

    Results that exist with the same inputs, settings and version are skipped. A folder stands for
    all .c3d and .trc files in it; the one whose name says that the subject stands still (static,
    standing, t-pose, calib) is used for scaling, unless the settings name a static trial.

    Args:
        trials: A recording (.c3d, .trc or .csv), a folder of recordings, or several of both.
        settings: Settings of all trials.
        output: Folder of the results; created when missing.
        options: Processes, cluster and overwriting; one process when omitted.
        pages: Writer of HTML pages, such as `homodyn.report.HtmlPages`; none when omitted.
        progress: Receives stages and finished trials.
        executor: Where trials run, instead of the processes or the cluster of ``options``; it stays
            open. Its workers must see the same files.

    Returns:
        The outcome of each trial, in the order of ``trials``, those of a folder by name.

    Raises:
        CaptureError: A trial is given twice, or no cluster answers.
        FormatError: ``output`` is a file, or a folder has no recordings or several that may be the
            static trial.
    """
    options = options or BatchOptions()
    progress = progress or _NoProgress()
    output = Path(output)
    if output.exists() and not output.is_dir():
        raise FormatError("it is a file; a folder for the results is expected", str(output))
    selected = select_trials(trials, settings.static)
    settings = replace(settings, static=selected.static)
    names = folder_names(selected.trials)
    outcomes: dict[str, TrialOutcome] = {}
    tasks: list[_Task] = []
    for trial, name in zip(selected.trials, names, strict=True):
        task = _Task(trial, name, settings, str(output / name), pages)
        existing = None if options.overwrite else _existing_outcome(task)
        if existing is None:
            tasks.append(task)
        else:
            outcomes[name] = existing
            progress.trial_finished(existing)
    for outcome in _run(tasks, options, executor, progress):
        outcomes[outcome.name] = outcome
        progress.trial_finished(outcome)
    written = any(outcome.status is not TrialStatus.FAILED for outcome in outcomes.values())
    if written and pages is not None:
        pages.write_overview(output)
    return BatchResult(tuple(outcomes[name] for name in names), selected.notes)


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
        verdicts = quality_verdicts(analysis)
        light = overall_light(verdicts)
        reasons = [v.sentence for v in verdicts if v.light is light is not QualityLight.GOOD]
        return TrialOutcome(
            task.trial,
            task.name,
            TrialStatus.WRITTEN,
            task.folder,
            perf_counter() - started,
            light=str(light),
            verdict=reasons[0] if reasons else "",
        )
    except HomodynError as error:
        reason = " ".join(str(error).split())
    except MemoryError:
        reason = "there is not enough memory; analyze a shorter interval with --from and --to"
    except Exception as error:
        # A bug in Homodyn that affects one trial must not cost the results of the others.
        reason = f"internal error: {type(error).__name__}: {' '.join(str(error).split())}"
    return task.failure(reason, perf_counter() - started)


def folder_names(trials: Sequence[str | Path]) -> list[str]:
    """A folder name for each trial: its file name, with folders in front where names are equal.

    Raises:
        CaptureError: A trial is given twice.
    """
    paths = [Path(trial) for trial in trials]
    repeated = [p for p, count in Counter(str(p.resolve()) for p in paths).items() if count > 1]
    if repeated:
        raise CaptureError(f"the same trial is given twice: {', '.join(repeated)}")
    names = [path.stem for path in paths]
    depth = 1
    while len(set(names)) < len(names):
        equal = {name for name, count in Counter(names).items() if count > 1}
        longer = []
        for path, name in zip(paths, names, strict=True):
            parts = path.resolve().with_suffix("").parts
            if name in equal and depth < len(parts):
                # Files that differ in their suffix only.
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
    tasks: Sequence[_Task],
    options: BatchOptions,
    executor: Executor | None,
    progress: BatchProgress,
) -> Iterator[TrialOutcome]:
    if executor is not None:
        yield from _run_elsewhere(tasks, executor)
    elif options.cluster is not None:
        with _connect(options.cluster) as cluster:
            yield from _run_elsewhere(tasks, cluster)
    elif options.jobs == 1 or len(tasks) <= 1:
        for task in tasks:
            yield _analyze_task(task, partial(progress.stage, task.name))
    else:
        yield from _run_in_processes(tasks, min(options.jobs, len(tasks)))


def _run_in_processes(tasks: Sequence[_Task], jobs: int) -> Iterator[TrialOutcome]:
    """Run tasks in processes of this machine, each with an equal share of the threads.

    A task whose process died runs again when the others have finished, alone: it may have lacked
    memory only because several ran at once.
    """
    threads = max((os.cpu_count() or 1) // jobs, 1)
    lost: list[_Task] = []
    with ProcessExecutor(jobs, threads=threads) as executor:
        for result in executor.map_unordered(_portable_analysis(), tasks, attempts=1):
            if isinstance(result.error, WorkerLost):
                lost.append(tasks[result.index])
            else:
                yield _outcome(tasks[result.index], result)
    for task in lost:
        with ProcessExecutor(1, threads=threads) as executor:
            (result,) = executor.map_unordered(_portable_analysis(), [task], attempts=1)
        if isinstance(result.error, WorkerLost):
            yield task.failure("the process that analyzed it died, perhaps out of memory")
        else:
            yield _outcome(task, result)


def _run_elsewhere(tasks: Sequence[_Task], executor: Executor) -> Iterator[TrialOutcome]:
    """Run tasks on an executor whose workers may start in other folders."""
    unfinished = dict(enumerate(tasks))
    portable = [task.with_absolute_paths() for task in tasks]
    try:
        for result in executor.map_unordered(_portable_analysis(), portable):
            task = unfinished.pop(result.index)
            yield replace(_outcome(task, result), trial=task.trial, folder=task.folder)
    except ExecutorError as error:
        for task in unfinished.values():
            yield task.failure(f"its worker was lost: {error}")


def _connect(address: str) -> Executor:
    """The cluster of a scheduler.

    Raises:
        CaptureError: The package ``distributed`` is missing, or no scheduler answers.
    """
    try:
        return DaskExecutor(address, label="analysis", timeout=CLUSTER_TIMEOUT_S)
    except ExecutorError as error:
        raise CaptureError(f"{error}; or use --jobs on this machine") from None


def _portable_analysis() -> Callable[[_Task], TrialOutcome]:
    """The analysis of one task; a partial, so that page writers of a script are sent by value."""
    return partial(_analyze_task, progress=None)


def _outcome(task: _Task, result: TaskResult[TrialOutcome]) -> TrialOutcome:
    """The outcome of a task that an executor ran."""
    if result.value is not None:
        return result.value
    return task.failure(f"its worker was lost: {' '.join(str(result.error).split())}")
