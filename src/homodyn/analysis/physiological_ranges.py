"""Ranges of gait measures and loads that people can have; values outside are errors of the data.

The ranges are bounds of what is possible, not of what is normal: they include running, children
from the first steps, and pathological gait. Sources of the numbers:

- Cadence: free walking 90 to 140, children of one year about 180 steps/min (Sutherland 1988, The
  Development of Mature Walking); sprinters 4.5 to 5 steps/s (Weyand et al. 2000, J. Appl. Physiol.
  89:1991). Single steps of hemiparetic gait are slow: 20 steps/min.
- Speed and stride length: the world record of 100 m has 12.3 m/s and steps of up to 2.85 m
  (Graubner and Nixdorf 2011, New Stud. Athl. 26:19); fast walking has strides of about 2 m (Perry
  and Burnfield 2010, Gait Analysis).
- Stance share: walking 55 to 65 %, pathological up to about 85 % (Perry and Burnfield 2010),
  sprinting down to 20 % (Novacheck 1998, Gait Posture 7:77).
- Vertical force: walking 1.0 to 1.5, running 2 to 3, sprinting 4 to 5 body weights (Weyand et al.
  2000; Keller et al. 1996, Clin. Biomech. 11:253); landings on one leg up to 11 (McNitt-Gray 1991).
- Torques: net moments of hip, knee and ankle of walking stay below 2, of running and jumping below
  5 N m/kg (Winter 2009, Biomechanics and Motor Control; Novacheck 1998).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.analysis.load_validity import valid_torques
from homodyn.foundation import Record, record
from homodyn.gait import GaitMeasures
from homodyn.motion import Loads
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
"""Speed (m/s) above which nobody walks without being a race walker."""
WALKING_RANGES: Mapping[str, PossibleRange] = {
    "cadence": PossibleRange(20.0, 240.0, "steps/min"),
    "velocity": PossibleRange(-2.5, MAX_WALKING_SPEED_M_S, "m/s"),
    "stride length": PossibleRange(-2.0, 3.0, "m"),
    "stance share": PossibleRange(45.0, 92.0, "%"),
    "peak vertical force": PossibleRange(0.1, 2.5, "body weights"),
}
"""Narrower ranges where both feet are on the ground at some time of each cycle."""
MAX_LEG_TORQUE_N_M_KG = 8.0
"""Net torque of hip, knee or ankle per body mass that no movement reaches."""
MAX_VERTICAL_FORCE_WEIGHTS = 16.0
"""Vertical force of all feet in body weights that no movement reaches."""


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


def impossible_loads(loads: Loads, segmentation: CycleSegmentation) -> Iterator[str]:
    """Peak forces and torques outside of what people can do, over the valid frames.

    Args:
        loads: Loads of a motion.
        segmentation: Its gait cycles.

    Yields:
        One phrase each, with value and bound.
    """
    model = loads.motion.model
    weight = model.mass * float(np.linalg.norm(model.gravity))
    vertical = loads.ground_force[loads.valid] @ Axes.of(model).up / weight
    peak = float(vertical.max(initial=0.0))
    if peak > MAX_VERTICAL_FORCE_WEIGHTS:
        yield (
            f"vertical force {peak:.3g} body weights (possible: up to "
            f"{MAX_VERTICAL_FORCE_WEIGHTS:g})"
        )
    bound = MAX_LEG_TORQUE_N_M_KG
    torques = np.abs(valid_torques(loads, segmentation)) / model.mass
    for reading in readings(model):
        column = torques[:, reading.index]
        column = column[np.isfinite(column)]
        if reading.joint in LEGS and column.size and column.max() > bound:
            side = f"{reading.side} " if reading.side != "middle" else ""
            yield (
                f"torque of {side}{reading.title.lower()} {column.max():.3g} N m/kg (possible: up "
                f"to {bound:g})"
            )
