"""The margin that a plan maximizes, as facets of the wrench polytope for a solver.

For a point mass at x the wrench (x x f, f) has the slack ``b - (F + m x x) . f`` in the facet
inequality ``m . moment + F . force <= b``. The distance is the slack divided by the length of the
row for the disturbance: a force at the center of mass (M_s1), or a force and a moment (M_s3) about
a point.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.balance.wrench_polytope import WrenchSet
from homodyn.foundation.record import Record, record

MIN_SQUARED_LENGTH = 1e-24
"""Squared length of a row below which it is not divided by."""


class MarginKind(StrEnum):
    """Kind of disturbance that a margin measures."""

    FORCE = "force"
    """A force at the center of mass: M_s1, N."""
    WRENCH = "wrench"
    """A force and a moment together: M_s3, N m."""

    @property
    def unit(self) -> str:
        """N or N m."""
        return "N" if self is MarginKind.FORCE else "N m"


@record(eq=True)
class MarginObjective(Record):
    """A margin with, for M_s3, its reference point and the length that relates N to N m."""

    margin: MarginKind = MarginKind.WRENCH
    """Kind of disturbance."""
    about: tuple[float, float, float] | None = (0.0, 0.0, 0.0)
    """Reference point of the moments (m); the world origin in Qiu's printed results; None for the
    center of mass."""
    unit: float = 1.0
    """m."""

    @property
    def fixed(self) -> bool:
        """Whether the lengths of the rows are independent of the center of mass."""
        return self.margin is MarginKind.WRENCH and self.about is not None

    @property
    def length_weights(self) -> tuple[float, float]:
        """Weights of |m|2 and |F + m x x|2 in the squared length of a row."""
        return (0.0, 1.0) if self.margin is MarginKind.FORCE else (1.0, self.unit**-2)

    def facets(self, wrenches: WrenchSet) -> np.ndarray:
        """The facets of a wrench set for moments about the world origin.

        Args:
            wrenches: The wrench set.

        Returns:
            (rows, 7): moment rows, force rows and bounds; of length one where the length does not
            depend on the center of mass.
        """
        about = np.asarray(self.about if self.fixed else (0.0, 0.0, 0.0), dtype=float)
        moment, force, bounds = wrenches.rows(about, unit=self.unit)
        force = force - np.cross(moment, about)
        return np.c_[moment, force, bounds]

    def row_lengths(self, moment: np.ndarray, force_at_com: np.ndarray) -> np.ndarray:
        """Lengths of rows, by which slack is divided to give distances.

        Args:
            moment: Moment rows m, (..., 3).
            force_at_com: Force rows for moments about the center of mass, F + m x x, (..., 3).

        Returns:
            (...,): one where the rows are of length one already.
        """
        if self.fixed:
            return np.ones(np.broadcast_shapes(moment.shape, force_at_com.shape)[:-1])
        of_moment, of_force = self.length_weights
        square = of_moment * (moment**2).sum(axis=-1) + of_force * (force_at_com**2).sum(axis=-1)
        return np.sqrt(np.maximum(square, MIN_SQUARED_LENGTH))

    def distances(self, facets: np.ndarray, com: np.ndarray, force: np.ndarray) -> np.ndarray:
        """Distances of the wrenches of a point mass to every facet.

        Args:
            facets: From `facets`, (rows, 7).
            com: Position of the mass, (instants, 3), m.
            force: Force on the mass, (instants, 3), N.

        Returns:
            (instants, rows), N or N m; negative outside.
        """
        moment, force_rows, bounds = facets[:, :3], facets[:, 3:6], facets[:, 6]
        slack = bounds - np.cross(com, force) @ moment.T - force @ force_rows.T
        if self.fixed:
            return slack
        at_com = force_rows + np.cross(moment[None], com[:, None])
        return slack / self.row_lengths(moment, at_com)
