"""Wearable robots: simulations of walking in different robots, and a whole search."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from homodyn.bench.harness import BenchmarkRow, benchmark
from homodyn.codesign import DesignStudy, topologies
from homodyn.codesign.reference_walker import ReferenceStudy
from homodyn.search import MMPSO, Study

MIN_CANDIDATES, MAX_CANDIDATES = 16, 128
"""Simulated together; the instructions of a processor take 8 or 16 at once."""
REQUIRED_RATE = 500.0
"""Evaluations of 10 s a second and core, with a device."""
SEARCH_LIMIT_S = 900.0
MEMORY_LIMIT_MB = 2048.0
WARM_UP_GENERATIONS = 60
"""Generations that find robots which stay up, before rates are measured."""


@benchmark("codesign")
def codesign(quick: bool) -> Iterator[BenchmarkRow]:
    """Walking in different robots per second and core, and a search of 160,000 candidates."""
    yield _device_rate(20 if quick else WARM_UP_GENERATIONS)
    yield _person_rate(20 if quick else WARM_UP_GENERATIONS)
    yield from _whole_search(5 if quick else 800)


def _device_rate(generations: int) -> BenchmarkRow:
    """Different candidates of topology 2 that stay up for 10 s; broken ones do not count."""
    study = DesignStudy("bench", topologies=(topologies()[1],), optimizer=MMPSO(population=200))
    found = study.search(1, iterations=generations)
    values, groups = _leaders(found.study, 3, MAX_CANDIDATES)
    topology = study.topologies[0]
    pairs, shares, places = study.designs.places(values, groups, topology)
    batch = study.designs.batch(values, pairs)
    parameters = study.device(topology).parameter_values(pairs, shares, places)
    walker = study.walker(topology)
    simulated, seconds = 0.0, 0.0
    for _ in range(3):
        start = time.process_time()
        outcome = walker.simulate(batch, parameters, threads=1)
        seconds += time.process_time() - start
        simulated += float(outcome.time[~outcome.broken].sum())
    note = _note(len(values), outcome.time, outcome.broken)
    return BenchmarkRow.from_rates(
        "walks of 10 s in different robots", simulated / seconds, REQUIRED_RATE,
        unit="1/s per core", required=1.0, note=note,
    )  # fmt: skip


def _person_rate(generations: int) -> BenchmarkRow:
    """The same without a robot."""
    study = ReferenceStudy("bench person", iterations=generations)
    found = study.search(1)
    values, _ = _leaders(found.study, 1, MAX_CANDIDATES)
    simulated, seconds = 0.0, 0.0
    for _ in range(3):
        start = time.process_time()
        outcome = study.simulate(values, threads=1)
        seconds += time.process_time() - start
        simulated += float(outcome.time[~outcome.broken].sum())
    return BenchmarkRow.from_rates(
        "walks of 10 s without a robot", simulated / seconds, None,
        unit="1/s per core", required=None,
        note=_note(len(values), outcome.time, outcome.broken),
    )  # fmt: skip


def _leaders(study: Study, stage: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Different candidates of a search that stay up the longest; fewer where it found fewer."""
    table = study.best(20 * count)
    kept = np.flatnonzero(table.stage >= stage)
    if len(kept) < MIN_CANDIDATES:  # A short search finds few that stay up to the end.
        kept = np.arange(len(table))
    _, first = np.unique(np.nan_to_num(table.values[kept]), axis=0, return_index=True)
    chosen = np.sort(first)[:count]
    groups = table.groups[kept][chosen]
    return table.values[kept][chosen], groups[:, 0] if groups.shape[1] else groups


def _note(count: int, times: np.ndarray, broken: np.ndarray) -> str:
    up = int((times >= 1.0).sum())
    return (
        f"{count} different candidates, {up} up to the end, {int(broken.sum())} broken (not "
        "counted); simulated time of those that fell counts as a part; the peer is a limit"
    )


_SEARCH_SCRIPT = """
import json, resource, sys, time
from homodyn.codesign import load_design_study
from homodyn.codesign.search_outcome import search_outcome
study = load_design_study("wearable")
start, cpu = time.perf_counter(), time.process_time()
found = study.search(1, database=sys.argv[1], iterations=int(sys.argv[2]))
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
outcome = search_outcome(study, found.study)
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([seconds, cpu, memory, outcome.candidates, outcome.evaluations, outcome.counts]))
"""


def _whole_search(iterations: int) -> Iterator[BenchmarkRow]:
    """Rows of a search in a process of its own, with the time to build its ten programs."""
    import json

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(
            [sys.executable, "-c", _SEARCH_SCRIPT, str(Path(folder) / "s.db"), str(iterations)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
    seconds, cpu, memory, candidates, evaluations, counts = json.loads(done.stdout)
    cores = os.cpu_count() or 1
    note = (
        f"{candidates} candidates, {evaluations} simulated to a result, {counts['broken']} broken; "
        f"{cpu:.0f} s of processor time on {cores} cores; the peer is a limit"
    )
    yield BenchmarkRow.from_times(
        f"search of {iterations} generations of 200", seconds, SEARCH_LIMIT_S,
        unit="s", required=1.0, note=note,
    )  # fmt: skip
    yield BenchmarkRow.from_times(
        "search, memory", memory, MEMORY_LIMIT_MB, unit="MB", required=1.0,
        note="the peer is a limit",
    )  # fmt: skip
