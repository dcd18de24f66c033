"""Ranges of gait measures and loads that people can have; values outside are errors of the data.

The ranges are bounds of what is possible, not of what is normal: they include children and
pathological gait. Published extremes stand behind each number; the bounds are engineering choices
beyond them, so that a value outside points to wrong data and not to a rare person.

- Walking: over five speeds, the mean and three standard deviations of 83 children reach moments of
  3.1 (hip), 1.7 (knee) and 2.3 N m/kg (ankle) and a vertical force of 2.05 body weights; stance
  shares are 56 to 68 % (Schwartz, Rozumalski and Trost 2008, J. Biomech. 41:1639).
- Running: knee extension moments of 2.5 and hip abduction moments of 1.8 N m/kg (Heiderscheit et
  al. 2011, Med. Sci. Sports Exerc. 43:296). Sprinting at 12.1 m/s: steps of 2.70 m, 4.36 steps/s,
  contacts of 86 ms and flights of 145 ms (a stance share of 19 %), 4.2 body weights (Čoh et al.
  2018, Kinesiology 50:172).
- Standing up from a chair: peaks of 1.9 (hip), 2.0 (knee) and 1.3 N m/kg (ankle) (Yoshioka et al.
  2007, BioMed. Eng. OnLine 6:26). Squats are alike.
- Jumps and landings have no bound of their own: those of all movements hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.load_validity import valid_torques
from homodyn.foundation import Record, record
from homodyn.gait import GaitMeasures
from homodyn.gait.gait_cycles import joint_landings
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Loads
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import LEGS, readings


@record(eq=True)
class PossibleRange(Record):
    """Smallest and largest possible value of a quantity."""

    low: float
    high: float
    unit: str

    def contains(self, value: float) -> bool:
        """Whether a value is within the range."""
        return self.low <= value <= self.high


MEASURE_RANGES: Mapping[str, PossibleRange] = {
    "cadence": PossibleRange(20.0, 330.0, "steps/min"),
    "velocity": PossibleRange(-3.0, 13.0, "m/s"),
    "stride length": PossibleRange(-3.0, 6.0, "m"),
    "stance share": PossibleRange(15.0, 92.0, "%"),
    "stride duration": PossibleRange(0.3, 6.0, "s"),
    "peak vertical force": PossibleRange(0.1, 12.0, "body weights"),
}
"""Ranges of all movements; backward walking has negative lengths and speeds."""
MAX_WALKING_SPEED_M_S = 3.5
"""Speed (m/s) that only race walkers exceed."""
WALKING_RANGES: Mapping[str, PossibleRange] = {
    "cadence": PossibleRange(20.0, 240.0, "steps/min"),
    "velocity": PossibleRange(-2.5, MAX_WALKING_SPEED_M_S, "m/s"),
    "stride length": PossibleRange(-2.0, 3.0, "m"),
    "stance share": PossibleRange(45.0, 92.0, "%"),
    "peak vertical force": PossibleRange(0.1, 2.5, "body weights"),
}
"""Narrower ranges where both feet are on the ground at some time of each cycle."""


class Movement(StrEnum):
    """Kinds of movement with bounds of their own."""

    WALKING = "walking"
    """Both feet are on the ground at some time of each cycle."""
    RUNNING = "running"
    """Cycles without double support."""
    JUMPING = "jumping"
    """Both feet land together."""
    IN_PLACE = "standing, squatting or standing up"
    """The feet stay on the ground."""
    ANY = "people"
    """Not known."""


MAX_LEG_TORQUE_N_M_KG = 8.0
"""Net torque of hip, knee or ankle per body mass that no movement reaches."""
MAX_VERTICAL_FORCE_WEIGHTS = 16.0
"""Vertical force of all feet in body weights that no movement in a laboratory reaches."""
LEG_TORQUE_BOUNDS_N_M_KG: Mapping[Movement, float] = {
    Movement.WALKING: 3.5,
    Movement.RUNNING: 6.0,
    Movement.IN_PLACE: 4.0,
}
"""Bounds of torques by movement; `MAX_LEG_TORQUE_N_M_KG` for the others."""
VERTICAL_FORCE_BOUNDS_WEIGHTS: Mapping[Movement, float] = {
    Movement.WALKING: 2.5,
    Movement.RUNNING: 6.0,
    Movement.IN_PLACE: 3.0,
}
"""Bounds of the vertical force by movement; `MAX_VERTICAL_FORCE_WEIGHTS` for the others."""


def classify_movement(
    measures: GaitMeasures | None, events: Sequence[Event], *, searched: bool = True
) -> Movement:
    """The kind of movement that gait measures and events show.

    Args:
        measures: Gait measures; None where there are none.
        events: Foot strikes and foot offs.
        searched: Whether events could be searched for; without, nothing is known.

    Returns:
        The movement; ``ANY`` for single steps.
    """
    if joint_landings(events):
        return Movement.JUMPING
    if measures is not None and (is_walking(measures) or _has_double_support(events)):
        return Movement.WALKING
    if measures is not None and any(row.name == "cadence" for row in measures.rows):
        return Movement.RUNNING
    return Movement.IN_PLACE if searched and not events else Movement.ANY


def _has_double_support(events: Sequence[Event]) -> bool:
    """Whether a foot strikes before the other one, which is on the ground, leaves it."""
    steps = sorted(
        (event for event in events if event.label in (FOOT_STRIKE, FOOT_OFF)),
        key=lambda event: event.time,
    )
    return any(
        (one.label, two.label) == (FOOT_STRIKE, FOOT_OFF)
        and one.side is not two.side
        and two.time > one.time
        for one, two in pairwise(steps)
    )


def is_walking(measures: GaitMeasures) -> bool:
    """Whether gait measures are of walking: there is double support in the cycles.

    Args:
        measures: Gait measures of a motion.

    Returns:
        True for walking; False for running and when it is not known.
    """
    return any(row.name == "double support duration" and row.mean > 0 for row in measures.rows)


def impossible_measures(measures: GaitMeasures) -> Iterator[str]:
    """Gait measures whose mean is outside of what people can do.

    Args:
        measures: Gait measures of a motion.

    Yields:
        One phrase each, with value and range.
    """
    walking = is_walking(measures)
    ranges = {**MEASURE_RANGES, **(WALKING_RANGES if walking else {})}
    movement = "walking" if walking else "people"
    for row in measures.rows:
        possible = ranges.get(row.name)
        if possible is not None and not possible.contains(row.mean):
            side = "" if row.side == "both" else f" {row.side}"
            yield (
                f"{row.name}{side} {row.mean:.3g} {row.unit} (possible for {movement}: "
                f"{possible.low:g} to {possible.high:g})"
            )


def impossible_loads(
    loads: Loads, segmentation: CycleSegmentation, movement: Movement = Movement.ANY
) -> Iterator[str]:
    """Peak forces and torques outside of what people can do, over the valid frames.

    Args:
        loads: Loads of a motion.
        segmentation: Its gait cycles.
        movement: The kind of movement, which decides the bounds.

    Yields:
        One phrase each, with value and bound.
    """
    model = loads.motion.model
    weight = model.mass * float(np.linalg.norm(model.gravity))
    vertical = loads.ground_force[loads.valid] @ Axes.of(model).up / weight
    peak = float(vertical.max(initial=0.0))
    bound = VERTICAL_FORCE_BOUNDS_WEIGHTS.get(movement, MAX_VERTICAL_FORCE_WEIGHTS)
    if peak > bound:
        yield f"vertical force {peak:.3g} body weights (possible for {movement}: up to {bound:g})"
    bound = LEG_TORQUE_BOUNDS_N_M_KG.get(movement, MAX_LEG_TORQUE_N_M_KG)
    torques = np.abs(valid_torques(loads, segmentation)) / model.mass
    for reading in readings(model):
        column = torques[:, reading.index]
        column = column[np.isfinite(column)]
        if reading.joint in LEGS and column.size and column.max() > bound:
            side = f"{reading.side} " if reading.side != "middle" else ""
            yield (
                f"torque of {side}{reading.title.lower()} {column.max():.3g} N m/kg (possible for "
                f"{movement}: up to {bound:g})"
            )
