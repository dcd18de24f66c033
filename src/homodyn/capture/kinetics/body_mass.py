"""Mass of a subject from force plates that carry the whole body."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.capture.kinetics.feet import find_feet
from homodyn.capture.kinetics.foot_trajectories import foot_trajectories
from homodyn.capture.kinetics.motion_filter import filter_motion
from homodyn.capture.kinetics.plate_assignment import assign_plates
from homodyn.capture.kinetics.plate_consistency import (
    WEIGHT_RATIO_RANGE,
    stance_without_plate,
    vertical_forces,
)
from homodyn.capture.kinetics.plate_sampling import sample_plates
from homodyn.capture.world_frame import world_axes
from homodyn.foundation.record import Record, record
from homodyn.motion import STANCE_THRESHOLD, ForcePlate
from homodyn.motion.motion import Motion

WEIGHING_CUTOFF_HZ = 6.0
"""Cutoff (Hz) of motion and plates; means over a stride hardly depend on it."""
MIN_REQUIRED_WEIGHT_SHARE = 0.5
"""Share of the weight that the motion must require in a frame: in flight there is nothing to
weigh, and close to it errors of the acceleration dominate."""
MAX_PLATEAU_DEVIATION = 0.1
"""Relative deviation from the plateau of frames in which the plates carry the whole body."""
MIN_PLATEAU_SHARE = 0.5
"""Share of the frames with all stance feet on plates that must agree on the mass."""
MIN_WEIGHING_TIME_S = 0.4
"""Duration (s) of these frames: that of one step."""


@record
class MassMeasurement(Record):
    """The mass that force plates carry."""

    mass: float
    """kg."""
    spread: float
    """Standard deviation (kg) over the frames used."""
    duration: float
    """Time (s) in which the plates carry the whole body."""

    def headline(self) -> str:
        """Mass, spread and duration."""
        return f"{self.mass:.2f} kg on the plates (SD {self.spread:.2f} kg, {self.duration:.2f} s)"


def measure_mass(motion: Motion, plates: Sequence[ForcePlate]) -> MassMeasurement | None:
    """The mass of the subject of a motion, from the force plates below the feet.

    In frames in which all feet in stance are on plates, the plates carry m (g + a), with the
    vertical acceleration a of the center of mass, which does not depend on the total mass of the
    model. A chair or a hand rail only takes weight off the plates. The frames with the whole weight
    are therefore those near the upper quartile of the ratio of measured and required force.

    Args:
        motion: The motion of a model with the shape of the subject and any total mass.
        plates: Force plates in Z-up axes, as in ``Trial.plates``.

    Returns:
        The measurement. None if there are no plates, if they carry the whole body in less than half
        of the frames or less than `MIN_WEIGHING_TIME_S`, or if their mass is less than half or more
        than twice that of the model.

    Raises:
        CaptureError: The motion is too short to be filtered, or a plate does not overlap it in
            time.
    """
    model = motion.model
    if not plates or not model.root or not model.mass > 0:
        return None
    filtered = filter_motion(motion, cutoff=WEIGHING_CUTOFF_HZ)
    sampled = sample_plates(
        filtered, plates, cutoff=WEIGHING_CUTOFF_HZ, threshold=STANCE_THRESHOLD.contact_n
    )
    paths = foot_trajectories(filtered, find_feet(model))
    assigned = assign_plates(filtered, sampled, paths, {})
    up = world_axes(model)[2]
    required, measured = vertical_forces(filtered, assigned.feet, up)
    weight = model.mass * float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    known = assigned.usable & ~filtered.edge & (measured > 0)
    known &= ~stance_without_plate(assigned.feet, paths, up)
    known &= required > MIN_REQUIRED_WEIGHT_SHARE * weight
    if not known.any():
        return None
    ratios = measured[known] / required[known]
    level = float(np.percentile(ratios, 75))
    carried = np.abs(ratios / level - 1.0) <= MAX_PLATEAU_DEVIATION
    duration = float(carried.sum() / motion.rate)
    ratio = float(np.median(ratios[carried]))
    low, high = WEIGHT_RATIO_RANGE
    if carried.mean() < MIN_PLATEAU_SHARE or duration < MIN_WEIGHING_TIME_S:
        return None
    if not low <= ratio <= high:
        return None
    return MassMeasurement(ratio * model.mass, float(ratios[carried].std()) * model.mass, duration)
