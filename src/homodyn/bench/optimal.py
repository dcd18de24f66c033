"""Optimal control: tracking against Moco, whole-body problems against limits, and mesh sizes."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time

from homodyn.bench import squat
from homodyn.bench.harness import BenchmarkRow, benchmark
from homodyn.bench.optimal_speed import speed_rows
from homodyn.bench.optimal_track import track_rows

MESHES = (10, 20, 40, 80)
"""Intervals of the squats whose time per iteration is measured."""


@benchmark("optimal")
def optimal(quick: bool) -> Iterator[BenchmarkRow]:
    """Torque-driven tracking against Moco; whole-body steps and squats against limits."""
    yield from track_rows(quick)
    yield from speed_rows(quick)
    yield from growth_rows(MESHES[: 2 if quick else None])


def growth_rows(meshes: tuple[int, ...]) -> Iterator[BenchmarkRow]:
    """Rows of the processor time per iteration of the squat on several meshes.

    Elapsed time would depend on other programs.

    Args:
        meshes: Numbers of intervals.

    Yields:
        The rows.
    """
    for intervals in meshes:
        problem = squat.problem(intervals)
        problem.solve(defect_tolerance=None).transcribed.compile()
        used = process_time()
        solution = problem.solve(defect_tolerance=None)
        used = process_time() - used
        each = 1e3 / max(1, solution.iterations)
        elapsed = each * solution.timings["solving"]
        note = f"{solution.iterations} iterations, elapsed time {elapsed:.0f} ms per iteration"
        name = f"squat, {intervals} intervals, time per iteration"
        yield BenchmarkRow(name, each * used, None, "ms processor time", None, None, note)
