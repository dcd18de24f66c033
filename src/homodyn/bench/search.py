"""Overhead of a search per candidate, and size of a large study."""

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
"""Limits of the overhead per candidate (us)."""
LARGE_STUDY_CANDIDATES = 1_000_000


def free(parameters: dict[str, float]) -> float:
    """An objective of negligible cost."""
    return parameters["x0"]


def free_batch(values: Any) -> Any:
    """An objective of negligible cost for a batch."""
    return values[:, 0]


@benchmark("search")
def search(quick: bool) -> Iterator[BenchmarkRow]:
    """Overhead per candidate on three executors, and size of a large study."""
    generations = 5 if quick else 30
    yield _overhead("in process, one call per generation", LIMITS["in process"], generations, True)
    yield _overhead("in process, one call per candidate", LIMITS["in process"], generations, False)
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
    """Row of the overhead per candidate: the median over generations."""
    with tempfile.TemporaryDirectory() as folder:
        # Processes start and modules load in the first generation, which does not count. Work in
        # this process is measured in processor time, which does not depend on other programs.
        clock = time.process_time if where == "serial" else time.perf_counter
        ends: list[float] = []

        def record_end(progress: SearchProgress) -> None:
            if not progress.evaluated:
                ends.append(clock())

        minimize(
            free_batch if batch else free,
            BOUNDS,
            optimizer=PSO(population=POPULATION_SIZE),
            iterations=generations + 1,
            batch=batch,
            where=where,
            database=Path(folder) / "study.db",
            progress=record_end,
        )
    steps = [after - before for before, after in itertools.pairwise(ends)]
    each = statistics.median(steps) / POPULATION_SIZE * 1e6
    note = "median generation of 1000 candidates, recorded; the peer is a limit"
    return BenchmarkRow.from_times(
        f"overhead per candidate, {name}", each, limit, unit="us", required=1.0, note=note
    )


@contextlib.contextmanager
def _cluster() -> Iterator[str]:
    """A Dask scheduler and two workers as separate processes."""
    with tempfile.TemporaryDirectory() as folder:
        scheduler_file = Path(folder) / "scheduler.json"
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

        def start(module: str, *words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard"]
            return subprocess.Popen(
                [*command, "--scheduler-file", str(scheduler_file), "--host=127.0.0.1", *words],
                env=environment,
                cwd=folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

        processes = [start("dask_scheduler", "--port=0")]
        try:
            while not scheduler_file.exists():
                time.sleep(0.1)
            processes += [start("dask_worker", "--nthreads=1", "--no-nanny") for _ in range(2)]
            yield str(scheduler_file)
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
    """Rows of a large study, which a separate process runs to measure its memory."""
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
        note = f"{seconds:.0f} s, {size:.0f} MB on disk; the peer is a limit"
        memory = float(done.stdout.split()[-1])
        yield BenchmarkRow.from_times(
            f"{name}, memory", memory, 1000.0, unit="MB", required=1.0, note=note
        )
        for count in (1, 10):
            start = time.perf_counter()
            best_solutions(Study.open(path), count)
            seconds = time.perf_counter() - start
            yield BenchmarkRow.from_times(
                f"{name}, reading the best {count}",
                seconds,
                1.0,
                unit="s",
                required=1.0,
                note="the peer is a limit",
            )
