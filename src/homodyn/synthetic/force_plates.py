"""Force plates along the path of a walk, and their readings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.motion import STANCE_THRESHOLD, ForcePlate, Side
from homodyn.synthetic.foot_trajectory import FootTrajectory
from homodyn.synthetic.footsteps import Footsteps
from homodyn.synthetic.ground_wrench import GroundWrench

PLATE_WIDTH_M, PLATE_LENGTH_M = 0.4, 0.6
"""Size of a plate."""
PLATE_GAP_M = 0.01
"""Gap between neighboring plates."""


@dataclass(frozen=True)
class PlateStance:
    """One stance of one foot, and the plate under it."""

    side: Side
    """The foot."""
    strike: int
    """Number of the strike of that foot."""
    plate: int
    """Index of the plate."""


@dataclass(frozen=True, eq=False)
class PlateLayout:
    """Plates in a row along the walk."""

    centers: np.ndarray
    """(plates, 2), m."""
    sizes: np.ndarray
    """(plates, 2), m, along X and Y."""
    stances: tuple[PlateStance, ...]
    """Which foot steps on which plate."""

    def corners(self, plate: int) -> np.ndarray:
        """Corners of one plate, (4, 3), m: +x +y, -x +y, -x -y, +x -y of its center."""
        x, y = self.centers[plate]
        a, b = self.sizes[plate] / 2
        return np.array(
            [[x + a, y + b, 0], [x - a, y + b, 0], [x - a, y - b, 0], [x + a, y - b, 0]]
        )


def place_plates(
    steps: Footsteps, feet: Sequence[FootTrajectory], *, count: int, shared_plate: bool, first: int
) -> PlateLayout:
    """One plate under each of ``count`` footfalls from number ``first`` on.

    Footfalls are counted in steps; even numbers are those of the right foot. The long side of a
    plate is along the walk if the steps are long enough. ``shared_plate`` adds a plate of twice the
    length under the two following footfalls.
    """
    along = PLATE_LENGTH_M if steps.step_length > PLATE_LENGTH_M + PLATE_GAP_M else PLATE_WIDTH_M
    across = PLATE_WIDTH_M if along == PLATE_LENGTH_M else PLATE_LENGTH_M
    centers, sizes, stances = [], [], []
    for k in range(count):
        middle = _sole_center(steps, feet, first + k)
        centers.append([middle, 0.0])
        sizes.append([along, across])
        stances.append(_stance(first + k, k))
    if shared_plate:
        ends = [_sole_center(steps, feet, first + count + k) for k in (0, 1)]
        begin = ends[0] - along / 2
        centers.append([(begin + ends[1] + along / 2) / 2, 0.0])
        sizes.append([ends[1] - ends[0] + along, across])
        stances += [_stance(first + count + k, count) for k in (0, 1)]
    return PlateLayout(
        np.array(centers).reshape(-1, 2), np.array(sizes).reshape(-1, 2), tuple(stances)
    )


def _stance(footfall: int, plate: int) -> PlateStance:
    return PlateStance(_footfall_side(footfall), footfall // 2, plate)


def _footfall_side(footfall: int) -> Side:
    return Side.LEFT if footfall % 2 else Side.RIGHT


def _sole_center(steps: Footsteps, feet: Sequence[FootTrajectory], footfall: int) -> float:
    """Position along X of the middle of the sole of a footfall (m)."""
    shape = feet[footfall % 2].shape
    ankle = steps.ankle(_footfall_side(footfall), np.array(float(footfall // 2)))[0]
    return float(ankle + (shape.toe - shape.heel - shape.height / 4) / 2)


def plate_readings(
    layout: PlateLayout,
    steps: Footsteps,
    ground_wrenches: Sequence[GroundWrench],
    clock: np.ndarray,
    *,
    rate: float,
    noise: float,
    rng: np.random.Generator,
) -> tuple[ForcePlate, ...]:
    """Readings of each plate at times of the walk, with noise (N, and a tenth of it in N m)."""
    plates = []
    for k, center in enumerate(layout.centers):
        origin = np.array([*center, 0.0])
        total = np.zeros((len(clock), 6))
        for stance in layout.stances:
            if stance.plate != k:
                continue
            wrench = ground_wrenches[list(Side).index(stance.side)].about(origin)
            phase = steps.phase(stance.side, clock) - stance.strike
            loaded = (phase >= 0) & (phase < steps.stance)
            total[loaded] += wrench[loaded]
        total += rng.normal(size=total.shape) * noise * np.array([0.1, 0.1, 0.1, 1, 1, 1])
        plates.append(_reading(f"Plate {k + 1}", rate, total, origin, layout.corners(k)))
    return tuple(plates)


def _reading(
    name: str, rate: float, wrench: np.ndarray, origin: np.ndarray, corners: np.ndarray
) -> ForcePlate:
    """A plate from the wrench at its center, at the center of pressure where it is loaded."""
    moment, force = wrench[:, :3], wrench[:, 3:]
    loaded = force[:, 2] > STANCE_THRESHOLD.contact_n
    point = np.tile(origin, (len(force), 1))
    lever = np.where(loaded, force[:, 2], 1.0)
    point[:, 0] += np.where(loaded, -moment[:, 1] / lever, 0.0)
    point[:, 1] += np.where(loaded, moment[:, 0] / lever, 0.0)
    torque = moment - np.cross(point - origin, force)
    torque[loaded, :2] = 0.0
    return ForcePlate(name, rate, force, point, torque, corners=corners)


def static_readings(
    layout: PlateLayout, weight: float, point: np.ndarray, *, samples: int, rate: float
) -> tuple[ForcePlate, ...]:
    """The first plate under a person standing still; the other plates are unloaded."""
    plates = []
    for k, center in enumerate(layout.centers):
        origin = np.array([*center, 0.0])
        wrench = np.zeros((samples, 6))
        if k == 0:
            force = np.array([0.0, 0.0, weight])
            wrench[:] = np.concatenate([np.cross(point - origin, force), force])
        plates.append(_reading(f"Plate {k + 1}", rate, wrench, origin, layout.corners(k)))
    return tuple(plates)
