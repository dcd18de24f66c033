"""Force plates under the path of a walk, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.motion import ForcePlate
from homodyn.synthetic.foot_trajectory import FootTrajectory
from homodyn.synthetic.footsteps import SIDES, Footsteps
from homodyn.synthetic.ground_wrench import GroundWrench

PLATE_WIDTH_M, PLATE_LENGTH_M = 0.4, 0.6
"""Sides of a plate (m)."""
PLATE_GAP_M = 0.01
"""Between neighbouring plates (m)."""
MIN_COP_FORCE_N = 20.0
"""Vertical force (N) above which a reading is given at its centre of pressure."""


@dataclass(frozen=True)
class PlateStance:
    """One stance of one foot, and the plate under it."""

    side: str
    strike: int
    """Number of the strike of that foot."""
    plate: int


@dataclass(frozen=True, eq=False)
class PlateLayout:
    """Plates in a row along the walk."""

    centers: np.ndarray
    """(plates, 2), m."""
    sizes: np.ndarray
    """(plates, 2), m, along X and Y."""
    stances: tuple[PlateStance, ...]

    def corners(self, plate: int) -> np.ndarray:
        """Corners of one plate, (4, 3), m: +x +y, -x +y, -x -y, +x -y of its centre."""
        x, y = self.centers[plate]
        a, b = self.sizes[plate] / 2
        return np.array(
            [[x + a, y + b, 0], [x - a, y + b, 0], [x - a, y - b, 0], [x + a, y - b, 0]]
        )


def place_plates(
    steps: Footsteps, feet: Sequence[FootTrajectory], *, count: int, shared_plate: bool, first: int
) -> PlateLayout:
    """One plate under each of ``count`` footfalls from number ``first`` on, clean strikes all.

    Footfalls are counted in steps, even ones are the right foot's. Plates lie with their long side
    along the walk if the steps leave room for it. ``both`` adds a plate twice as long under the
    two footfalls after those.
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
    return PlateStance(SIDES[footfall % 2], footfall // 2, plate)


def _sole_center(steps: Footsteps, feet: Sequence[FootTrajectory], footfall: int) -> float:
    """Where along X the middle of the sole of a footfall is (m)."""
    side = footfall % 2
    shape = feet[side].shape
    ankle = steps.ankle(SIDES[side], np.array(float(footfall // 2)))[0]
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
    """What each plate reads at instants of the walk's clock, with noise (N, and N m / 10)."""
    plates = []
    for k, center in enumerate(layout.centers):
        origin = np.array([*center, 0.0])
        total = np.zeros((len(clock), 6))
        for landing in layout.stances:
            if landing.plate != k:
                continue
            wrench = ground_wrenches[SIDES.index(landing.side)].about(origin)
            phase = steps.phase(landing.side, clock) - landing.strike
            on = (phase >= 0) & (phase < steps.stance)
            total[on] += wrench[on]
        total += rng.normal(size=total.shape) * noise * np.array([0.1, 0.1, 0.1, 1, 1, 1])
        plates.append(_reading(f"Plate {k + 1}", rate, total, origin, layout.corners(k)))
    return tuple(plates)


def _reading(
    name: str, rate: float, wrench: np.ndarray, origin: np.ndarray, corners: np.ndarray
) -> ForcePlate:
    """A plate from its wrench at its centre, told at the centre of pressure where it is loaded."""
    moment, force = wrench[:, :3], wrench[:, 3:]
    loaded = force[:, 2] > MIN_COP_FORCE_N
    point = np.tile(origin, (len(force), 1))
    lever = np.where(loaded, force[:, 2], 1.0)
    point[:, 0] += np.where(loaded, -moment[:, 1] / lever, 0.0)
    point[:, 1] += np.where(loaded, moment[:, 0] / lever, 0.0)
    torque = moment - np.cross(point - origin, force)
    torque[loaded, :2] = 0.0
    return ForcePlate(name, rate, force, point, torque, corners=corners)


def static_readings(
    layout: PlateLayout, weight: float, place: np.ndarray, *, samples: int, rate: float
) -> tuple[ForcePlate, ...]:
    """The first plate under a person who stands still, the others empty."""
    plates = []
    for k, center in enumerate(layout.centers):
        origin = np.array([*center, 0.0])
        wrench = np.zeros((samples, 6))
        if k == 0:
            force = np.array([0.0, 0.0, weight])
            wrench[:] = np.concatenate([np.cross(place - origin, force), force])
        plates.append(_reading(f"Plate {k + 1}", rate, wrench, origin, layout.corners(k)))
    return tuple(plates)
