"""Force plates under the path of a walk, and what they read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.motion import ForcePlate
from homodyn.synthetic.balance import Wrench
from homodyn.synthetic.foot import FootPlan
from homodyn.synthetic.steps import SIDES, Footsteps

SHORT, LONG = 0.4, 0.6
"""Sides of a plate (m)."""
GAP = 0.01
"""Between neighbouring plates (m)."""
LOADED = 20.0
"""Vertical force (N) above which a reading is given at its centre of pressure."""


@dataclass(frozen=True)
class Landing:
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
    landings: tuple[Landing, ...]

    def corners(self, plate: int) -> np.ndarray:
        """Corners of one plate, (4, 3), m: +x +y, -x +y, -x -y, +x -y of its centre."""
        x, y = self.centers[plate]
        a, b = self.sizes[plate] / 2
        return np.array(
            [[x + a, y + b, 0], [x - a, y + b, 0], [x - a, y - b, 0], [x + a, y - b, 0]]
        )


def lay_plates(
    steps: Footsteps, feet: Sequence[FootPlan], *, count: int, both: bool, first: int
) -> PlateLayout:
    """One plate under each of ``count`` footfalls from number ``first`` on, clean strikes all.

    Footfalls are counted in steps, even ones are the right foot's. Plates lie with their long side
    along the walk if the steps leave room for it. ``both`` adds a plate twice as long under the
    two footfalls after those.
    """
    along = LONG if steps.step_length > LONG + GAP else SHORT
    across = SHORT if along == LONG else LONG
    centers, sizes, landings = [], [], []
    for k in range(count):
        middle = _middle(steps, feet, first + k)
        centers.append([middle, 0.0])
        sizes.append([along, across])
        landings.append(_landing(first + k, k))
    if both:
        ends = [_middle(steps, feet, first + count + k) for k in (0, 1)]
        begin = ends[0] - along / 2
        centers.append([(begin + ends[1] + along / 2) / 2, 0.0])
        sizes.append([ends[1] - ends[0] + along, across])
        landings += [_landing(first + count + k, count) for k in (0, 1)]
    return PlateLayout(
        np.array(centers).reshape(-1, 2), np.array(sizes).reshape(-1, 2), tuple(landings)
    )


def _landing(footfall: int, plate: int) -> Landing:
    return Landing(SIDES[footfall % 2], footfall // 2, plate)


def _middle(steps: Footsteps, feet: Sequence[FootPlan], footfall: int) -> float:
    """Where along X the middle of the sole of a footfall is (m)."""
    side = footfall % 2
    shape = feet[side].shape
    ankle = steps.ankle(SIDES[side], np.array(float(footfall // 2)))[0]
    return float(ankle + (shape.toe - shape.heel - shape.height / 4) / 2)


def plate_readings(
    layout: PlateLayout,
    steps: Footsteps,
    ground: Sequence[Wrench],
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
        for landing in layout.landings:
            if landing.plate != k:
                continue
            wrench = ground[SIDES.index(landing.side)].about(origin)
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
    loaded = force[:, 2] > LOADED
    point = np.tile(origin, (len(force), 1))
    lever = np.where(loaded, force[:, 2], 1.0)
    point[:, 0] += np.where(loaded, -moment[:, 1] / lever, 0.0)
    point[:, 1] += np.where(loaded, moment[:, 0] / lever, 0.0)
    torque = moment - np.cross(point - origin, force)
    torque[loaded, :2] = 0.0
    return ForcePlate(name, rate, force, point, torque, corners=corners)


def standing_reading(
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
