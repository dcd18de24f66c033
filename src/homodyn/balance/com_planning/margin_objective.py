"""Which margin a plan maximises, as sides of the polytope that a solver can take.

For a point mass at x the wrench (x x f, f) leaves ``b - (F + m x x) . f`` to the side
``m . moment + F . force <= b``. Its distance is that divided by the length of what a disturbance
feels: a force at the centre of mass (M_s1), or a force and a moment (M_s3) about a point.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from homodyn.balance.wrench_polytope import WrenchSet


class MarginKind(StrEnum):
    """What disturbs."""

    FORCE = "force"
    """A force at the centre of mass: M_s1, N."""
    WRENCH = "wrench"
    """A force and a moment together: M_s3, N m."""

    @property
    def unit(self) -> str:
        """N or N m."""
        return "N" if self is MarginKind.FORCE else "N m"


@dataclass(frozen=True, eq=False)
class MarginObjective:
    """A margin, and for M_s3 the point that moments are about and the length that makes N of N m.

    ``about`` is a fixed point (m), the origin of the world behind Qiu's printed figures; None is
    the centre of mass itself.
    """

    margin: MarginKind = MarginKind.WRENCH
    about: tuple[float, float, float] | None = (0.0, 0.0, 0.0)
    unit: float = 1.0

    @property
    def fixed(self) -> bool:
        """Whether the length of a side is the same wherever the centre of mass is."""
        return self.margin is MarginKind.WRENCH and self.about is not None

    @property
    def shares(self) -> tuple[float, float]:
        """Weights of |m|2 and |F + m x x|2 in the squared length of a side."""
        return (0.0, 1.0) if self.margin is MarginKind.FORCE else (1.0, self.unit**-2)

    def sides(self, wrenches: WrenchSet) -> np.ndarray:
        """(rows, 7): moment rows, force rows and bounds for moments about the world origin.

        Each of length one where the length does not depend on the centre of mass.
        """
        about = np.asarray(self.about if self.fixed else (0.0, 0.0, 0.0), dtype=float)
        moment, force, bounds = wrenches.rows(about, unit=self.unit)
        force = force - np.cross(moment, about)
        return np.c_[moment, force, bounds]

    def distances(self, sides: np.ndarray, com: np.ndarray, force: np.ndarray) -> np.ndarray:
        """(instants, rows), N or N m: distance to every side, negative outside."""
        moment, across, bounds = sides[:, :3], sides[:, 3:6], sides[:, 6]
        left = bounds - np.cross(com, force) @ moment.T - force @ across.T
        if self.fixed:
            return left
        at = across + np.cross(moment[None], com[:, None])
        turning, pushing = self.shares
        square = turning * (moment**2).sum(axis=1) + pushing * (at**2).sum(axis=-1)
        return left / np.sqrt(np.maximum(square, 1e-24))
