"""Ranges of the coordinates."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from homodyn.control.kinematic_point import KinematicPoint
from homodyn.control.limits.limit import Limit, LimitRows
from homodyn.errors import ModelError
from homodyn.foundation.record import record
from homodyn.model import Model
from homodyn.model.configuration import plain_entries


@record
class ConfigurationLimit(Limit):
    """Keeps the coordinates within the ranges of the model.

    A step covers at most ``gain`` of the distance to a limit. Coordinates that are outside their
    range return into it, at the velocity limit if there is one.
    """

    gain: float = 0.5
    """From 0 to 1; below 1 a limit is approached in several steps."""
    margin: float = 0.0
    """rad, m: distance to keep from the limits of the model."""
    precedence: ClassVar[int] = 20

    def __post_init__(self) -> None:
        if not 0 < self.gain <= 1:
            raise ModelError(f"{self.title}: gain is above 0 and at most 1, got {self.gain!r}")
        if not self.margin >= 0:
            raise ModelError(f"{self.title}: margin is a number from 0 up, got {self.margin!r}")

    def structure(self, model: Model) -> Hashable:
        """Nothing but the model.

        Args:
            model: The model.
        """
        return ()

    def inputs(self, model: Model, q: np.ndarray) -> Mapping[str, np.ndarray]:
        """Gain and margin.

        Args:
            model: The model.
            q: Positions, (..., nq).
        """
        return {"gain": np.array([self.gain]), "margin": np.array([self.margin])}

    def rows(self, point: KinematicPoint, inputs: Mapping[str, Any], dt: Any) -> LimitRows:
        """Bounds of the coordinates with a range.

        Args:
            point: The state.
            inputs: Symbols of gain and margin.
            dt: Length of the step, s.
        """
        model, gain, margin = point.model, inputs["gain"], inputs["margin"]
        lower, upper = ca.SX.ones(model.nv) * -np.inf, ca.SX.ones(model.nv) * np.inf
        for entry, place in zip(*plain_entries(model), strict=True):
            low, high = float(model.lower[entry]), float(model.upper[entry])
            # Locked coordinates have a range of zero, which has no room for a margin.
            inset = ca.fmin(margin, (high - low) / 2) if np.isfinite(high - low) else margin
            if np.isfinite(low):
                lower[int(entry)] = gain * (low + inset - point.q[int(place)])
            if np.isfinite(high):
                upper[int(entry)] = gain * (high - inset - point.q[int(place)])
        return LimitRows(lower, upper)
