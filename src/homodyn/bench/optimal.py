"""Optimal control: a walk tracked beside Moco, whole bodies against limits, and larger meshes."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

from homodyn.bench import squat
from homodyn.bench.harness import BenchmarkRow, benchmark
from homodyn.bench.optimal_speed import speed_rows
from homodyn.bench.optimal_track import track_rows

MESHES = (10, 20, 40, 80)
"""Intervals of the squats whose cost per iteration is told."""


@benchmark("optimal")
def optimal(quick: bool) -> Iterator[BenchmarkRow]:
    """Torque-driven tracking against Moco; steps and squats of whole bodies against limits."""
    yield from track_rows(quick)
    yield from speed_rows(quick)
    yield from growth_rows(MESHES[: 2 if quick else None])


def growth_rows(meshes: tuple[int, ...]) -> Iterator[BenchmarkRow]:
    """Seconds of processors that an iteration of the squat takes on meshes of several sizes.

    Those of the clock would tell of whoever else is at work between one mesh and the next.
    """
    for intervals in meshes:
        problem = squat.problem(intervals)
        problem.solve(defect_tolerance=None).transcribed.compile()
        used = process_time()
        solution = problem.solve(defect_tolerance=None)
        used = process_time() - used
        each = 1e3 / max(1, solution.iterations)
        told = f"{solution.iterations} iterations, {each * solution.timings['solving']:.0f} ms each"
        name = f"squat, {intervals} intervals, an iteration"
        yield BenchmarkRow(name, each * used, None, "ms of processors", None, None, told)
