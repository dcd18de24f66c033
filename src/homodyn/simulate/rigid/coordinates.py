"""What holds coordinates on its own: limits, dry friction, springs and dampers, as seen by rigid laws.

A limited coordinate has one row, towards the inside from the limit that is nearer now. Both limits
are never touched in one step unless the range is narrower than a step.
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

    @cached_property
    def limited(self) -> tuple[int, ...]:
        """Entries of v with a limit; coordinates of quaternions have none."""
        finite = np.isfinite(self.model.lower) | np.isfinite(self.model.upper)
        places = self.model.position_index
        return tuple(i for i in range(self.model.nv) if finite[i] and places[i] is not None)

    @cached_property
    def rubbing(self) -> tuple[int, ...]:
        """Entries of v with dry friction."""
        return tuple(
            i
            for i, coordinate in enumerate(self.model.coordinates)
            if is_symbolic(coordinate.friction) or coordinate.friction > 0
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the rows."""
        known = self.model.coordinate_names
        return (
            *(f"{known[i]} limit" for i in self.limited),
            *(f"{known[i]} friction" for i in self.rubbing),
        )

    def limit_gaps(self, q: Array) -> list[tuple[Array, Array]]:
        """For each limited coordinate the way inside (1 or -1) and how far it is from the limit."""
        found = []
        for i in self.limited:
            coordinate, place = self.model.coordinates[i], self.model.position_index[i]
            low, high = q[place] - coordinate.lower, coordinate.upper - q[place]
            if not np.isfinite(self.model.upper[i]):
                found.append((1.0, low))
            elif not np.isfinite(self.model.lower[i]):
                found.append((-1.0, high))
            else:
                found.append((ca.if_else(low < high, 1.0, -1.0), ca.fmin(low, high)))
        return found

    def strengths(self) -> list[Array]:
        """Dry friction (N m, N) of each rubbing coordinate."""
        return [self.model.coordinates[i].friction for i in self.rubbing]

    def stiffness(self) -> list[Array]:
        """Of the spring along each entry of v (N m/rad, N/m); none beside quaternions."""
        return [
            coordinate.stiffness if place is not None else 0.0
            for coordinate, place in zip(
                self.model.coordinates, self.model.position_index, strict=True
            )
        ]

    def damping(self) -> list[Array]:
        """Of the damper along each entry of v (N m s/rad, N s/m)."""
        return [coordinate.damping for coordinate in self.model.coordinates]
