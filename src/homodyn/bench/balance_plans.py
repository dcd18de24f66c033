"""Plans of the center of mass: time, and margins compared with published ones."""

from __future__ import annotations

from collections.abc import Iterator

from homodyn.balance import load_scene, plan_com
from homodyn.bench.harness import BenchmarkRow

MAX_TIME_S = 3.0
"""Time limit of a plan, including the wrench polytopes of its stances."""
PUBLISHED_MARGINS = {"biped": 25.86, "complex": 20.0, "car": 19.4, "quadruped": 280.55}
"""Smallest margins of Qiu (2012): N m, and N for the quadruped."""
PUBLISHED_DURATIONS_S = {"biped": 3.54, "complex": 4.19, "car": 4.56, "quadruped": 5.29}
"""Durations of the same plans. A slower plan has larger margins."""


def plan_rows(quick: bool) -> Iterator[BenchmarkRow]:
    """Rows of the time of each plan and of its smallest margin on a dense time grid.

    Args:
        quick: Make one plan instead of three.

    Yields:
        The rows.
    """
    for name, published in PUBLISHED_MARGINS.items():
        # A stance caches its polytopes, so each plan loads the scene again.
        plans = [plan_com(load_scene(name)) for _ in range(1 if quick else 3)]
        best = min(plan.seconds + plan.set_seconds for plan in plans)
        unit = plans[0].objective.margin.unit
        yield BenchmarkRow.from_times(
            f"{name}: CoM plan with free durations",
            best,
            MAX_TIME_S,
            unit="s",
            required=1,
            note=f"duration {plans[0].duration:.2f} s, {plans[0].iterations} iterations, "
            f"{min(plan.set_seconds for plan in plans):.2f} s for polytopes; the peer is a limit",
        )
        yield BenchmarkRow.from_rates(
            f"{name}: smallest margin, against Qiu (2012)",
            plans[0].margin,
            published,
            unit=unit,
            required=1,
            note=f"in {plans[0].duration:.2f} s, published in {PUBLISHED_DURATIONS_S[name]:.2f} s",
        )
