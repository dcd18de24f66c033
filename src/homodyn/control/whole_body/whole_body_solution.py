"""Results of whole-body control."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of


class WholeBodyStatus(StrEnum):
    """How a program of whole-body control ended."""

    SOLVED = "solved"
    """All constraints hold."""
    RELAXED = "relaxed"
    """The contacts could not be held with the torques and forces allowed, or contradict each other,
    such as two points of a chain that turns; they move as little as possible."""
    TORQUE_LIMITED = "torque limits"
    """The torques allowed hold neither the contacts nor the limits of coordinates and distances;
    contacts move as little as possible, and those limits are left out."""

    @property
    def success(self) -> bool:
        """Whether all constraints hold."""
        return self is WholeBodyStatus.SOLVED


@record
class WholeBodySolution(Record):
    """Torques with the accelerations and contact forces that belong to them."""

    status: WholeBodyStatus
    tau: np.ndarray
    """(nv,), N m, N; zero at the root."""
    a: np.ndarray
    """(nv,), rad/s2, m/s2."""
    forces: np.ndarray
    """(points, 3), N, world: on the points of the contacts that act."""
    points: tuple[str, ...]
    """Names of these points."""

    def headline(self) -> str:
        """Status and number of contact points."""
        return f"WholeBodySolution: {self.status}, {count_of(len(self.points), 'contact point')}"
