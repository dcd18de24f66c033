"""Paths of the centre of mass: how long a plan takes, and its margin beside the printed ones.

A function of rows, for the benchmark of balance.
"""

from __future__ import annotations

from collections.abc import Iterator

from homodyn.balance import load_scene, plan_com
from homodyn.bench.harness import BenchmarkRow

MAX_TIME_S = 3.0
"""s in which a plan must be found, with the wrenches of its stances."""
PUBLISHED_MARGINS = {"biped": 25.86, "complex": 20.0, "car": 19.4, "quadruped": 280.55}
"""Smallest margins that Qiu (2012) prints, N m and for the last N."""


def plan_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Time of the search against its budget, and margin on a dense grid against the printed one."""
    for name, printed in PUBLISHED_MARGINS.items():
        # A stance keeps its wrenches: each plan begins with a scene of its own.
        plans = [plan_com(load_scene(name)) for _ in range(1 if quick else 3)]
        best = min(plan.seconds + plan.set_seconds for plan in plans)
        unit = plans[0].measure.margin.unit
        yield BenchmarkRow.from_times(
            f"{name}: plan with free durations, against {MAX_TIME_S:g} s",
            best,
            MAX_TIME_S,
            unit="s",
            required=1,
            note=f"{plans[0].duration:.2f} s long, {plans[0].iterations} iterations, "
            f"{min(plan.set_seconds for plan in plans):.2f} s of it for wrenches",
        )
        yield BenchmarkRow.from_rates(
            f"{name}: smallest margin on a dense grid, against the printed one",
            plans[0].margin,
            printed,
            unit=unit,
            required=1,
        )
