"""Poses of Human36 from sitting to standing, on which the center of mass stays above the feet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from homodyn.catalog import human36
from homodyn.dynamics import center_of_mass, position, velocity
from homodyn.model import Joint, Model
from homodyn.model.functions import Linear
from homodyn.spatial import Array, stack

SIDES = ("right", "left")
RISE = "rise"
"""Name of the signal: the part of the rise that the knees have reached."""
SEATED_RAD = 1.5
"""Flexion of hips and knees of a person who sits."""
STAND_KNEE_RAD = 1.55
STAND_ANKLE_RAD = 0.35
"""Flexion of the knees and dorsiflexion of the ankles in front of a chair."""
LEAN_S, RISE_S = 0.6, 2.0
"""Time to lean forward, and time to rise."""
COM_BEFORE_ANKLE_M = 0.03
"""Where the center of mass is kept while rising."""
RAIL_BODY = "thorax"
RAIL_KP, RAIL_KD = 2000.0, 300.0
"""Rails that the hands hold: horizontal spring and damper, N/m and N s/m."""
RISE_DEGREE = 7
"""Degree of the polynomial of the hip angle while rising."""


def keep_coordinates(model: Model, kept: Sequence[str], pose: Mapping[str, float]) -> Model:
    """A model in which other coordinates are fixed.

    Args:
        model: The model; its joints are chains of axes.
        kept: Coordinates that stay.
        pose: Values of those that are fixed; others have their defaults.

    Raises:
        ModelError: A coordinate is unknown.
    """
    for name in (*kept, *pose):
        model.coordinate_index(name)
    return replace(model, joints=tuple(_fix(joint, kept, pose) for joint in model.joints))


def _fix(joint: Joint, kept: Sequence[str], pose: Mapping[str, float]) -> Joint:
    names = [coordinate.name for coordinate in joint.coordinates]
    stay = [k for k, name in enumerate(names) if name in kept]
    if len(stay) == len(names):
        return joint
    axes = []
    for axis in joint.axes:
        k = axis.coordinate
        if k in stay:
            axes.append(replace(axis, coordinate=stay.index(k)))
        elif k is not None:
            value = axis.function.value(pose.get(names[k], joint.coordinates[k].default))
            axes.append(replace(axis, coordinate=None, function=Linear(0.0, value)))
        else:
            axes.append(axis)
    coordinates = tuple(joint.coordinates[k] for k in stay)
    return replace(joint, kind="custom", coordinates=coordinates, axes=tuple(axes))


def sagittal_human() -> Model:
    """Human36 with ten coordinates; its arms reach forward."""
    kept = ["root_tx", "root_tz", "root_ry", "back_extension"]
    kept += [f"{s}_{j}" for s in SIDES for j in
             ("hip_flexion", "knee_extension", "ankle_dorsiflexion")]  # fmt: skip
    arms = {f"{s}_shoulder_flexion": 1.2 for s in SIDES}
    model = keep_coordinates(human36(), kept, arms)
    shapes = tuple(c for c in model.contacts if "fingertip" not in c.name)
    return replace(model, contacts=shapes)


class RisingPath:
    """Poses from sitting to standing on which the center of mass stays above the feet."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._parts = np.linspace(0, 1, 41)
        hips = np.array([self._hip_angle(part) for part in self._parts])
        self._hip = np.polynomial.polynomial.polyfit(self._parts, hips, RISE_DEGREE)
        self._lean = np.polynomial.polynomial.polyval(0.0, self._hip)
        seated = self._pose(0.0, SEATED_RAD)
        self.seat_height = float(position(model, seated, "right_thigh")[2]) - 0.002
        self.seat_x = float(position(model, seated, "right_thigh")[0])
        standing = self._pose(1.0, float(hips[-1]))
        self.standing_height = float(position(model, standing, "lower_trunk")[2])

    def planned_part(self, t: Array) -> Array:
        """Part of the rise, from 0 to 1, that is planned for a time over symbols."""
        s = ca.fmin(ca.fmax((t - LEAN_S) / RISE_S, 0.0), 1.0)
        return s * s * (3 - 2 * s)

    def measured_part(self, t: Array, q: Array, v: Array, batch: Any) -> Array:
        """Part of the rise that the knees have reached."""
        entries = [self.model.coordinate_index(f"{side}_knee_extension") for side in SIDES]
        mean = sum(q[k] for k in entries) / len(entries)
        return ca.fmin(ca.fmax(1 + mean / STAND_KNEE_RAD, 0.0), 1.0)

    def knee(self, t: Array) -> Array:
        """Planned extension of the knees."""
        return -STAND_KNEE_RAD * (1 - self.planned_part(t))

    def knee_rate(self, t: Array) -> Array:
        """Its rate of change, rad/s."""
        s = ca.fmin(ca.fmax((t - LEAN_S) / RISE_S, 0.0), 1.0)
        return STAND_KNEE_RAD / RISE_S * 6 * s * (1 - s)

    def pose(self, t: Array, part: Array) -> Array:
        """All coordinates at a time and a part of the rise."""
        s = ca.fmin(ca.fmax(t / LEAN_S, 0.0), 1.0)
        leaning = s * s * (3 - 2 * s)
        rising: Array = 0.0
        for coefficient in self._hip[::-1]:
            rising = rising * part + coefficient
        hip = rising + (1 - leaning) * (SEATED_RAD - self._lean)
        return self._pose(part, hip)

    def rail_force(self, t: Array, q: Array, v: Array, batch: Any) -> Array:
        """Horizontal force of the rails on the thorax, N."""
        planned = self.pose(t, batch[RISE])
        gap = position(self.model, q, RAIL_BODY)[0] - position(self.model, planned, RAIL_BODY)[0]
        rate = velocity(self.model, q, v, RAIL_BODY)[0]
        return stack(-RAIL_KP * gap - RAIL_KD * rate, 0.0, 0.0)

    def _pose(self, part: Array, hip: Array) -> Array:
        """Coordinates with the feet flat below the ankles' start."""
        model = self.model
        knee = STAND_KNEE_RAD * (1 - part)
        ankle = STAND_ANKLE_RAD * (1 - part)
        values = {f"{s}_knee_extension": -knee for s in SIDES}
        values |= {f"{s}_hip_flexion": hip for s in SIDES}
        values |= {f"{s}_ankle_dorsiflexion": ankle for s in SIDES}
        # The shank leans by the dorsiflexion, the thigh by knee flexion minus that.
        thigh = knee - ankle
        values["root_ry"] = hip - thigh
        lengths = self._lengths()
        sine, cosine = (ca.sin, ca.cos) if isinstance(part, ca.SX) else (np.sin, np.cos)
        values["root_tx"] = -lengths[0] * sine(thigh) + lengths[1] * sine(ankle)
        height = lengths[0] * cosine(thigh) + lengths[1] * cosine(ankle) + lengths[2]
        values["root_tz"] = height - sum(lengths)
        columns: list[Any] = [values.get(name, 0.0) for name in model.coordinate_names]
        return stack(*columns) if isinstance(part, ca.SX) else np.array(columns, dtype=float)

    def _lengths(self) -> tuple[float, float, float]:
        """Thigh, shank, and height of the ankle."""
        known = {joint.name: joint for joint in self.model.joints}
        thigh, shank = (
            float(np.linalg.norm(np.asarray(known[f"right_{n}"].placement.r)))
            for n in ("knee", "ankle")
        )
        sole = next(c for c in self.model.contacts if c.name == "right_heel")
        return thigh, shank, float(-np.asarray(sole.position)[2])

    def _hip_angle(self, part: float) -> float:
        """Flexion of the hips at which the center of mass is above the feet."""
        low, high = -0.3, 2.6
        for _ in range(40):
            middle = (low + high) / 2
            pose = self._pose(part, middle)
            ankle = position(self.model, pose, "right_foot")[0]
            if center_of_mass(self.model, pose)[0] - ankle < COM_BEFORE_ANKLE_M:
                low = middle
            else:
                high = middle
        return (low + high) / 2
