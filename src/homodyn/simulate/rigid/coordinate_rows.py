"""Rigid limits and dry friction of coordinates, as rows of an event-driven law.

A limited coordinate has one row, away from its nearer limit. Both limits are reached at once only
if they are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.spatial import Array, is_symbolic


@dataclass(frozen=True, eq=False)
class CoordinateRows:
    """The rows of a model's coordinates: first limits, then dry friction."""

    model: Model
    limits: bool = True

    @cached_property
    def limited(self) -> tuple[int, ...]:
        """Entries of v with a limit; coordinates of quaternions have none."""
        if not self.limits:
            return ()
        finite = np.isfinite(self.model.lower) | np.isfinite(self.model.upper)
        places = self.model.position_index
        return tuple(i for i in range(self.model.nv) if finite[i] and places[i] is not None)

    @cached_property
    def frictional(self) -> tuple[int, ...]:
        """Entries of v with dry friction."""
        return tuple(
            i
            for i, coordinate in enumerate(self.model.coordinates)
            if is_symbolic(coordinate.friction) or coordinate.friction > 0
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the rows."""
        known = self.model.coordinate_names
        return (
            *(f"{known[i]} limit" for i in self.limited),
            *(f"{known[i]} friction" for i in self.frictional),
        )

    def limit_gaps(self, q: Array) -> list[tuple[Array, Array]]:
        """Direction inside (1 or -1) and distance to the limit of each limited coordinate."""
        gaps = []
        for i in self.limited:
            coordinate, place = self.model.coordinates[i], self.model.position_index[i]
            low, high = q[place] - coordinate.lower, coordinate.upper - q[place]
            if not np.isfinite(self.model.upper[i]):
                gaps.append((1.0, low))
            elif not np.isfinite(self.model.lower[i]):
                gaps.append((-1.0, high))
            else:
                gaps.append((ca.if_else(low < high, 1.0, -1.0), ca.fmin(low, high)))
        return gaps

    def friction_torques(self) -> np.ndarray:
        """Dry friction (N m, N) of each coordinate that has one."""
        coordinates = self.model.coordinates
        return np.array(
            [self.model.nominal_value(coordinates[i].friction) for i in self.frictional], float
        )
