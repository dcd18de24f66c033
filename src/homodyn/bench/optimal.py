"""Optimal control: a walk tracked beside Moco, and whole bodies against their limits."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterator
from time import perf_counter, process_time

import homodyn.optimal as oc
from homodyn.bench import squat
from homodyn.bench.harness import Row, benchmark
from homodyn.bench.optimal_track import track_rows
from homodyn.gait import make_trial

RECONSTRUCTION, SYNTHESIS, SQUAT = 5.0, 60.0, 4.0
"""s: how long a step, a synthesis from the stored start, and the squat may take."""
MEMORY = 2000.0
"""MB: the most that all of it may hold at once."""
INTERVALS = 50
"""Of the squat that has a limit."""
MESHES = (10, 20, 40, 80)
"""Intervals of the squats whose cost per iteration is told."""


@benchmark("optimal")
def optimal(quick: bool) -> Iterator[Row]:
    """Torque-driven tracking against Moco; steps and squats of whole bodies against limits."""
    yield from track_rows(quick)
    rounds = 1 if quick else 2
    yield _step(rounds)
    yield _squat(rounds)
    yield from _growth(MESHES[: 2 if quick else None])
    if not quick:
        yield _synthesis()
    yield _memory()


def _step(rounds: int) -> Row:
    """A step of a made walk, 34 degrees of freedom."""
    walk = make_trial(noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70).truth

    def solve() -> oc.Solution:
        return oc.reconstruct(walk.motion, walk.loads, events=walk.events, step=0.025).solution

    solution, seconds, used = _best(solve, rounds)
    nodes = sum(len(phase.time) for phase in solution.phases)
    name = f"reconstruction of a step, 34 dof, {nodes} nodes"
    return _limited(name, seconds, used, RECONSTRUCTION, solution)


def _squat(rounds: int) -> Row:
    solution, seconds, used = _best(lambda: squat.problem(INTERVALS).solve(), rounds)
    return _limited(f"squat, 39 dof, {INTERVALS} intervals", seconds, used, SQUAT, solution)


def _synthesis() -> Row:
    solution, seconds, used = _best(lambda: oc.synthesize("mixed", speed=1.5).solution, 1)
    name = "synthesis of a step at 1.5 m/s from the stored start, 34 dof"
    return _limited(name, seconds, used, SYNTHESIS, solution)


def _growth(meshes: tuple[int, ...]) -> Iterator[Row]:
    """Seconds an iteration of the squat on meshes of several sizes."""
    for intervals in meshes:
        problem = squat.problem(intervals)
        problem.solve(between=None)
        used = process_time()
        solution = problem.solve(between=None)
        used = process_time() - used
        each = 1e3 / max(1, solution.iterations)
        told = f"{solution.iterations} iterations, {each * used:.0f} ms of processors each"
        name = f"squat, {intervals} intervals, an iteration"
        yield Row(name, each * solution.seconds["solving"], None, "ms", None, None, told)


def _memory() -> Row:
    """The most that this process held, kernels and all problems above included."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6
    told = f"asked for: {MEMORY:g} MB"
    return Row("peak memory of all of these", held, None, "MB", MEMORY / held, 1.0, told)


def _best(solve: Callable[[], oc.Solution], rounds: int) -> tuple[oc.Solution, float, float]:
    """An answer and the least times of some rounds, of the clock and of processors.

    One round before them finds the kernels.
    """
    solve()
    best, least = float("inf"), float("inf")
    for _ in range(rounds):
        start, used = perf_counter(), process_time()
        found = solve()
        best, least = min(best, perf_counter() - start), min(least, process_time() - used)
    return found, best, least


def _limited(name: str, seconds: float, used: float, most: float, solution: oc.Solution) -> Row:
    told = (
        f"asked for: {most:g} s; {solution.status}, {solution.iterations} iterations, functions "
        f"{solution.seconds['functions']:.2f} s of {solution.seconds['solving']:.2f} s; "
        f"{used:.2f} s of processors"
    )
    ratio = most / seconds if solution.status.good else None
    return Row(name, seconds, None, "s", ratio, 1.0, told)
