"""Many trials: skip what is done, spread the rest over processes or a cluster, name what failed.

A trial is done when its folder holds a complete result with the fingerprint of the same inputs,
settings and version. One bad file never stops the others.
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
from homodyn.analysis.settings import Settings, digest, fingerprint
from homodyn.errors import CaptureError, FormatError, HomodynError
from homodyn.report.files import origin, recorded_summary, write_analysis
from homodyn.report.overview import write_overview

THREADS = ("HOMODYN_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that tell how many threads a process may use."""


TIMEOUT = "5s"
"""How long a scheduler may take to answer."""


class Done(StrEnum):
    """How a trial of a batch ended."""

    WRITTEN = "written"
    SKIPPED = "skipped"
    """It was done before, with the same inputs."""
    FAILED = "failed"


@dataclass(frozen=True)
class Outcome:
    """One trial of a batch: how it ended, where its result is, and the reason of a failure."""

    trial: str
    name: str
    done: Done
    folder: str
    seconds: float = 0.0
    reason: str = ""
    light: str = ""
    """``good``, ``fair`` or ``poor`` for a result that was written."""


@dataclass(frozen=True)
class Batch:
    """All trials of a run, in the order in which they were asked for."""

    outcomes: tuple[Outcome, ...]

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Those that have no result."""
        return tuple(outcome for outcome in self.outcomes if outcome.done is Done.FAILED)

    def count(self, done: Done) -> int:
        """How many ended so."""
        return sum(outcome.done is done for outcome in self.outcomes)


class Watcher(Protocol):
    """Who hears of the progress of a batch."""

    def stage(self, name: str, stage: str) -> None:
        """A stage of a trial begins; told only when trials run in this process."""

    def ended(self, outcome: Outcome) -> None:
        """A trial has ended."""


class Silent:
    """A watcher that says nothing."""

    def stage(self, name: str, stage: str) -> None:
        """Nothing."""

    def ended(self, outcome: Outcome) -> None:
        """Nothing."""


def analyze_all(
    trials: Sequence[str | Path],
    settings: Settings,
    output: str | Path,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    overwrite: bool = False,
    watcher: Watcher | None = None,
) -> Batch:
    """Analyse trials and write each result into a folder of ``output`` named after the trial.

    ``jobs`` processes work at once; ``cluster`` is the address of a Dask scheduler instead, whose
    workers must see the same files. Finished trials are skipped unless ``overwrite``.
    """
    if jobs < 1:
        raise CaptureError(f"jobs is {jobs}; expected 1 or more processes")
    watcher = watcher or Silent()
    output = Path(output)
    if output.exists() and not output.is_dir():
        raise FormatError("it is a file, expected a folder for the results", str(output))
    names = folder_names(trials)
    ended: dict[str, Outcome] = {}
    waiting: list[tuple[str, str, str]] = []
    for trial, name in zip(trials, names, strict=True):
        before = None if overwrite else _before(str(trial), name, settings, output / name)
        if before is None:
            waiting.append((str(trial), name, str(output / name)))
        else:
            ended[name] = before
            watcher.ended(before)
    for outcome in _run(waiting, settings, jobs, cluster, watcher):
        ended[outcome.name] = outcome
        watcher.ended(outcome)
    if any(outcome.done is not Done.FAILED for outcome in ended.values()):
        write_overview(output)
    return Batch(tuple(ended[name] for name in names))


def analyze_one(
    trial: str,
    name: str,
    settings: Settings,
    folder: str,
    tell: Callable[[str], None] | None = None,
) -> Outcome:
    """Analyse and write one trial; a failure is an outcome, not an exception."""
    started = perf_counter()
    try:
        mark = fingerprint(trial, settings)
        analysis = replace(analyze(trial, settings, tell=tell), name=name)
        if tell is not None:
            tell("writing")
        write_analysis(analysis, folder, overwrite=True, mark=mark)
        from homodyn.report.quality import overall, verdicts

        light = overall(verdicts(analysis))
        return Outcome(trial, name, Done.WRITTEN, folder, perf_counter() - started, light=light)
    except HomodynError as error:
        reason = " ".join(str(error).split())
    except MemoryError:
        reason = "there is not enough memory for it; cut it with --from and --to"
    except Exception as error:
        # A fault of Homodyn in one trial must not cost the results of the others.
        reason = f"Homodyn failed on it: {type(error).__name__}: {' '.join(str(error).split())}"
    return Outcome(trial, name, Done.FAILED, folder, perf_counter() - started, reason)


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


def _before(trial: str, name: str, settings: Settings, folder: Path) -> Outcome | None:
    """The outcome of a trial that is not run: done, without a file, or in another's place."""
    try:
        mark = fingerprint(trial, settings)
    except HomodynError as error:
        return Outcome(trial, name, Done.FAILED, str(folder), reason=str(error))
    there = recorded_summary(folder)
    if there.get("fingerprint") == mark:
        return Outcome(trial, name, Done.SKIPPED, str(folder))
    files = there.get("files", {})
    if there and there.get("origin") != origin(trial) and files.get("trial") != digest(trial):
        return Outcome(
            trial,
            name,
            Done.FAILED,
            str(folder),
            reason=f"{folder} holds the result of another recording, {there.get('source')}; "
            "choose another folder, or replace it with --overwrite",
        )
    return None


def _run(
    waiting: Sequence[tuple[str, str, str]],
    settings: Settings,
    jobs: int,
    cluster: str | None,
    watcher: Watcher,
) -> Iterator[Outcome]:
    if cluster is not None:
        yield from _on_cluster(waiting, settings, cluster)
    elif jobs == 1 or len(waiting) <= 1:
        for trial, name, folder in waiting:
            yield analyze_one(trial, name, settings, folder, partial(watcher.stage, name))
    else:
        yield from _in_processes(waiting, settings, min(jobs, len(waiting)))


def _in_processes(
    waiting: Sequence[tuple[str, str, str]], settings: Settings, jobs: int
) -> Iterator[Outcome]:
    """Spawned processes with a share of the threads each.

    A process that dies takes its pool with it; what had not ended then runs again one by one, each
    in a process of its own, so that only the culprit fails.
    """
    share = max((os.cpu_count() or 1) // jobs, 1)
    left = list(waiting)
    with _threads(share):
        with _pool(jobs) as pool:
            try:
                for outcome in _collected(pool, left, settings):
                    left = [item for item in left if item[1] != outcome.name]
                    yield outcome
            except BrokenProcessPool:
                pass
        for trial, name, folder in left:
            with _pool(1) as pool:
                try:
                    yield pool.submit(analyze_one, trial, name, settings, folder).result()
                except BrokenProcessPool:
                    reason = "the process that analysed it died, perhaps for want of memory"
                    yield Outcome(trial, name, Done.FAILED, folder, reason=reason)


def _collected(
    pool: Executor, waiting: Sequence[tuple[str, str, str]], settings: Settings
) -> Iterator[Outcome]:
    tasks: list[Future[Outcome]] = [
        pool.submit(analyze_one, trial, name, settings, folder) for trial, name, folder in waiting
    ]
    for task in as_completed(tasks):
        yield task.result()


def _on_cluster(
    waiting: Sequence[tuple[str, str, str]], settings: Settings, address: str
) -> Iterator[Outcome]:
    try:
        import distributed
    except ImportError:
        raise CaptureError(
            "a cluster needs the package distributed: pip install 'homodyn[cluster]', or use "
            "--jobs on this machine"
        ) from None
    try:
        client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise CaptureError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with "
            "`dask scheduler`, and give its address as tcp://host:8786"
        ) from None
    with client:
        items = {}
        for trial, name, folder in waiting:
            task: Any = client.submit(
                analyze_one,
                str(Path(trial).resolve()),
                name,
                settings.located(),
                str(Path(folder).resolve()),
                pure=False,
                retries=1,
            )
            items[task] = (trial, name, folder)
        for task in distributed.as_completed(list(items), loop=client.loop):
            trial, name, folder = items[task]
            try:
                yield replace(task.result(), trial=trial, folder=folder)
            except Exception as error:
                reason = f"its worker was lost: {' '.join(str(error).split())}"
                yield Outcome(trial, name, Done.FAILED, folder, reason=reason)


def _pool(jobs: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(max_workers=jobs, mp_context=get_context("spawn"))


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Processes started meanwhile use so many threads."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ |= {name: str(count) for name in THREADS}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
