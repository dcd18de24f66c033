"""What a search costs beside the evaluation, and how large a study may grow."""

from __future__ import annotations

import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from homodyn.bench.harness import BenchmarkRow, benchmark, missing
from homodyn.search import PSO, SearchProgress, Study, best_solutions, minimize

POPULATION_SIZE = 1000
BOUNDS = {f"x{k}": (-1.0, 1.0) for k in range(10)}
LIMITS = {"in process": 20.0, "pool": 1000.0, "Dask": 5000.0}
"""Microseconds a candidate may cost where it is evaluated for nothing."""
LARGE_STUDY_CANDIDATES = 1_000_000


def free(parameters: dict[str, float]) -> float:
    """An objective that costs nothing."""
    return parameters["x0"]


def free_batch(values: Any) -> Any:
    """An objective that costs nothing, for many at once."""
    return values[:, 0]


@benchmark("search")
def search(quick: bool) -> Iterator[BenchmarkRow]:
    """Overhead of a search for a candidate, on three executors; size of a large study."""
    generations = 5 if quick else 30
    yield _overhead("in process, one call a generation", LIMITS["in process"], generations, True)
    yield _overhead("in process, one call a candidate", LIMITS["in process"], generations, False)
    yield _overhead("pool", LIMITS["pool"], generations, False, where="pool")
    note = missing("distributed")
    if note:
        yield BenchmarkRow("Dask", None, None, "us", None, None, note)
    else:
        with _cluster() as address:
            yield _overhead("Dask", LIMITS["Dask"], generations, False, where=address)
    yield from _large(LARGE_STUDY_CANDIDATES // 20 if quick else LARGE_STUDY_CANDIDATES)


def _overhead(
    name: str, limit: float, generations: int, batch: bool, where: str = "serial"
) -> BenchmarkRow:
    """Seconds of a whole run less those of starting it, for a candidate."""
    with tempfile.TemporaryDirectory() as folder:
        # Processes start and modules load in the first generation, which is not counted. What is
        # done in this process is timed by its own clock, which others do not advance.
        clock = time.process_time if where == "serial" else time.perf_counter
        began: list[float] = []

        def note(progress: SearchProgress) -> None:
            if not progress.evaluated:
                began.append(clock())

        minimize(
            free_batch if batch else free,
            BOUNDS,
            optimizer=PSO(population=POPULATION_SIZE),
            iterations=generations + 1,
            batch=batch,
            where=where,
            database=Path(folder) / "study.db",
            progress=note,
        )
    steps = [after - before for before, after in itertools.pairwise(began)]
    each = statistics.median(steps) / POPULATION_SIZE * 1e6
    told = "median generation of 1000, recorded; the peer is the limit"
    return BenchmarkRow.from_times(
        f"overhead a candidate, {name}", each, limit, unit="us", required=1.0, note=told
    )


@contextlib.contextmanager
def _cluster() -> Iterator[str]:
    """A scheduler and two workers as processes of their own, for as long as it lasts."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "scheduler.json"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

        def start(module: str, *words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard"]
            return subprocess.Popen(
                [*command, "--scheduler-file", str(told), "--host=127.0.0.1", *words],
                env=environment,
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        processes = [start("dask_scheduler", "--port=0")]
        try:
            while not told.exists():
                time.sleep(0.1)
            processes += [start("dask_worker", "--nthreads=1", "--no-nanny") for _ in range(2)]
            yield str(told)
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


_LARGE_SCRIPT = """
import resource, sys
from homodyn.bench.search import BOUNDS, free_batch
from homodyn.search import PSO, minimize
minimize(free_batch, BOUNDS, optimizer=PSO(population=1000), iterations=int(sys.argv[2]) // 1000,
         batch=True, database=sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def _large(candidates: int) -> Iterator[BenchmarkRow]:
    """A study in a process of its own, so that its memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.db"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _LARGE_SCRIPT, str(path), str(candidates)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        seconds = time.perf_counter() - start
        size = path.stat().st_size / 2**20
        name = f"study of {candidates:,} candidates of 10 parameters"
        told = f"{seconds:.0f} s, {size:.0f} MB on disk; the peer is the limit"
        memory = float(done.stdout.split()[-1])
        yield BenchmarkRow.from_times(
            f"{name}, memory", memory, 1000.0, unit="MB", required=1.0, note=told
        )
        for count in (1, 10):
            start = time.perf_counter()
            best_solutions(Study.open(path), count)
            took = time.perf_counter() - start
            yield BenchmarkRow.from_times(
                f"{name}, best {count}",
                took,
                1.0,
                unit="s",
                required=1.0,
                note="the peer is the limit",
            )
