"""Largest accelerations of the coordinates, with braking distances."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.bounds import bounds_by_coordinate
from homodyn.control.limits.limit import Limit, LimitRows
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import Model
from homodyn.model.configuration import plain_entries

UNLIMITED_ACCELERATION = 1e12
"""Acceleration (rad/s2, m/s2) that stands for none: finite, so that its braking distance is."""


@record
class AccelerationLimit(Limit):
    """Keeps the change of velocity per step within the largest accelerations.

    It also keeps velocities so low that the coordinates can brake before their limits, after a step
    at that velocity: ``|v| dt + v^2 / (2 a) <= distance`` (Flacco, De Luca and Khatib 2015, IEEE
    Trans. Robot. 31:637, with the step of a sampled controller).
    """

    max_acceleration: float | Mapping[str, float] | np.ndarray
    """rad/s2, m/s2: one number for the actuated coordinates, (nv,), or by coordinate."""
    velocity: ArrayLike | None = None
    """(..., nv), rad/s, m/s: velocity before the step; None: at rest."""
    precedence: ClassVar[int] = 10

    def structure(self, model: Model) -> Hashable:
        """Nothing but the model.

        Args:
            model: The model.
        """
        return ()

    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Largest accelerations, and the velocity before the step.

        Args:
            model: The model.
            q: Positions, (..., nq).

        Raises:
            ModelError: An acceleration is negative, or the velocity has the wrong shape.
        """
        bound = bounds_by_coordinate(
            model,
            self.max_acceleration,
            np.full(model.nv, np.inf),
            f"{self.title}: max_acceleration",
        )
        v = np.zeros(model.nv) if self.velocity is None else np.asarray(self.velocity, dtype=float)
        if v.shape[-1:] != (model.nv,) or not np.isfinite(v).all():
            raise ModelError(f"{self.title}: velocity is {model.nv} finite numbers, got {v.shape}")
        return {
            "bound": np.clip(bound, 1 / UNLIMITED_ACCELERATION, UNLIMITED_ACCELERATION),
            "velocity": v,
        }

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """Bounds of all coordinates.

        Args:
            point: The state.
            inputs: Symbols of accelerations and velocity.
            dt: Length of the step, s.
        """
        model, bound = point.model, inputs["bound"]
        last, change = inputs["velocity"] * dt, bound * dt**2
        lower, upper = last - change, last + change
        for entry, place in zip(*plain_entries(model), strict=True):
            k, q = int(entry), point.q[int(place)]
            for limit, sign in ((float(model.lower[k]), -1), (float(model.upper[k]), 1)):
                if not np.isfinite(limit):
                    continue
                left = ca.fmax(sign * (limit - q), 0.0)
                brake = dt * bound[k] * (ca.sqrt(dt**2 + 2 * left / bound[k]) - dt)
                if sign > 0:
                    upper[k] = ca.fmax(ca.fmin(upper[k], brake), lower[k])
                else:
                    lower[k] = ca.fmin(ca.fmax(lower[k], -brake), upper[k])
        return LimitRows(lower, upper)
