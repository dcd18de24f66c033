"""Planning, execution and support planning against the times that are asked of them.

All figures are processor time of one process, which the load of the machine affects least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import process_time

from homodyn.bench.harness import BenchmarkRow, benchmark, environment
from homodyn.errors import NoSolution
from homodyn.plan import (
    ExecutionOptions,
    MotionPlan,
    MotionPlanOptions,
    PlanExecution,
    execute,
    load_case,
    motion,
    plan_supports,
)

CASE_LIMIT_S = 60.0
"""From the scene to the executed motion."""
FLIGHT_LIMIT_S = 2.0
"""Median of a flight by trees."""
COM_LIMIT_MM = 20.0
"""Root mean square of the error of the center of mass in execution (Qiu 2012, V33)."""
SUPPORT_LIMIT_S = 20.0
SEED_COUNT = 10


@benchmark("plan")
def plan(quick: bool) -> Iterator[BenchmarkRow]:
    """Cases from the scene to the executed motion, flights by trees, and the support planner."""
    with environment("HOMODYN_THREADS", "1"):
        for case in ("board",) if quick else ("board", "car"):
            yield from _case_rows(case)
        yield _support_row()
        if not quick:
            yield from _tree_rows("car")


def _case_rows(case: str) -> Iterator[BenchmarkRow]:
    """Plan and execution of a case: time, error of the center of mass."""
    begin = process_time()
    planned = motion(load_case(case))
    planning = process_time() - begin
    run = execute(planned, options=ExecutionOptions(speed=1.0))
    yield from execution_rows(case, run, planning, process_time() - begin)


def execution_rows(
    case: str, run: PlanExecution, planning: float, total: float
) -> Iterator[BenchmarkRow]:
    """Rows of an executed plan: time from the scene on, and error of the center of mass.

    Args:
        case: Name of the case.
        run: The execution.
        planning: Processor time of the plan, s.
        total: Processor time of plan and execution, s.

    Yields:
        The rows.
    """
    yield BenchmarkRow.from_times(
        f"{case}: plan and execution",
        total,
        CASE_LIMIT_S,
        unit="s",
        required=1.0,
        note=f"plan {planning:.0f} s; {run.message} The peer is the limit",
    )
    yield BenchmarkRow.from_times(
        f"{case}: error of the center of mass in execution, rms",
        1000 * run.com_rms,
        COM_LIMIT_MM,
        unit="mm",
        required=1.0,
        note=f"slips up to {1000 * run.largest_slip:.0f} mm; the peer is the limit",
    )
    yield BenchmarkRow.from_rates(
        f"{case}: executed to its end",
        float(run.status.success),
        1.0,
        unit="runs",
        required=1.0,
        note=f"status {run.status}",
    )


def _support_row() -> BenchmarkRow:
    """The support planner on the scene of the board with its first two soles."""
    scene = load_case("board")
    first = {name: scene.supports[name] for name in scene.steps[0].supports}
    begin = process_time()
    found = plan_supports(replace(scene, supports=first, steps=(), path=None))
    return BenchmarkRow.from_times(
        "board: supports and their order",
        process_time() - begin,
        SUPPORT_LIMIT_S,
        unit="s",
        required=1.0,
        note=f"{found.sentence} The peer is the limit",
    )


def _tree_rows(case: str) -> Iterator[BenchmarkRow]:
    """Flights of feet by trees, with ten seeds."""
    seconds: list[float] = []
    found = 0
    for seed in range(SEED_COUNT):
        begin = process_time()
        planned = _by_trees(case, seed)
        seconds.append(process_time() - begin)
        found += planned is not None
    yield BenchmarkRow.from_rates(
        f"{case}: seeds with all flights by trees", found, SEED_COUNT, unit="plans", required=1.0
    )
    yield BenchmarkRow.from_times(
        f"{case}: median time of a whole plan with flights by trees",
        median(seconds),
        None,
        unit="s",
        required=None,
        note=f"{FLIGHT_LIMIT_S:g} s are asked of a flight alone",
    )


def _by_trees(case: str, seed: int) -> MotionPlan | None:
    """A plan with flights by trees; None where one is not found."""
    try:
        return motion(load_case(case), options=MotionPlanOptions(flight="birrt", seed=seed))
    except NoSolution:
        return None
