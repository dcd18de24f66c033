"""What wrapping a straight segment over a surface yields."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from homodyn.spatial import Array

NO_CONTACT = 0.0
"""The segment does not touch the surface."""
POSSIBLE_CONTACT = 1.0
"""The segment may wrap; of all such segments of a path, the one that lengthens it least does."""
MANDATORY_CONTACT = 2.0
"""The segment penetrates the surface; the first such segment of a path wraps."""


@dataclass(frozen=True)
class SurfaceContact:
    """The part of a path on a surface, in the frame of the wrap object."""

    status: Array
    """`NO_CONTACT`, `POSSIBLE_CONTACT` or `MANDATORY_CONTACT`."""
    start: Array
    """First tangent point, (3,), m."""
    end: Array
    """Second tangent point, (3,), m."""
    length: Array
    """Length of the path on the surface, m."""

    @staticmethod
    def from_column(values: ca.SX) -> SurfaceContact:
        """The contact that `to_column` described."""
        return SurfaceContact(values[0], values[1:4], values[4:7], values[7])

    def to_column(self) -> ca.SX:
        """All values as one column of 8."""
        return ca.vertcat(self.status, self.start, self.end, self.length)
