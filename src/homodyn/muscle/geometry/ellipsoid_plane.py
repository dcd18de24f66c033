"""The plane in which a segment wraps over an ellipsoid, after OpenSim's three methods.

The plane contains the segment and a point of the surface. ``"midpoint"`` takes the point closest
to the middle of the part of the segment that is inside. ``"axial"`` takes the crossing of the
segment with the coordinate plane that it is most perpendicular to, and the closest point in that
plane. ``"hybrid"`` takes the axial point for segments along an axis, the mean direction to the
surface along the segment (the fan) for oblique ones, and a blend between both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.muscle.geometry.circle import is_on_side
from homodyn.muscle.geometry.ellipsoid_point import closest_on_ellipsoid
from homodyn.muscle.geometry.selects import norm, select
from homodyn.spatial import Array

FAN_BLEND = (0.7073, 0.9)
"""Direction cosines below which only the fan counts, and above which only the axial point."""
END_BLEND = 0.3
"""Part of the inside segment, at both ends, over which the axial point fades out."""
FAN_SAMPLES = 300
"""Samples of the fan in OpenSim; those from 1 to 298 are used."""
FAN_NODES = 32
"""Nodes of the quadrature that stands for the samples."""


def _fan_quadrature() -> tuple[np.ndarray, np.ndarray]:
    """Places on the inside segment (0 to 1) and weights that stand for OpenSim's samples."""
    nodes, weights = np.polynomial.legendre.leggauss(FAN_NODES)
    lower, upper = 0.5 / FAN_SAMPLES, (FAN_SAMPLES - 1.5) / FAN_SAMPLES
    return (lower + upper) / 2 + (upper - lower) / 2 * nodes, weights / 2


@dataclass(frozen=True)
class WrapPlane:
    """Search for the point that spans the wrapping plane, in units of the mean semi-axis.

    ``first`` and ``second`` are where the segment enters and leaves the ellipsoid; ``direction`` is
    the unit vector of the segment.
    """

    semiaxes: Array
    first: Array
    second: Array
    direction: Array

    @cached_property
    def _axial(self) -> tuple[Array, Array, Array]:
        """The axial point, the place of its crossing between first and second, its cosine."""
        cosines = ca.fabs(self.direction)
        step = self.second - self.first
        point, place, best = ca.SX.zeros(3), ca.SX(0), cosines[0]
        for axis in range(3):
            others = [k for k in range(3) if k != axis]
            along = -self.first[axis] / step[axis]
            crossing = self.first + along * step
            flat = closest_on_ellipsoid(self.semiaxes[others], crossing[others])
            found = ca.SX(3, 1)
            found[axis] = crossing[axis]
            found[others[0]], found[others[1]] = flat[0], flat[1]
            is_best = True if axis == 0 else cosines[axis] > best
            point, place = select(is_best, found, point), select(is_best, along, place)
            best = select(is_best, cosines[axis], best)
        return point, place, best

    @cached_property
    def _cosine(self) -> Array:
        """The largest direction cosine, reduced where the axial crossing is near an end."""
        _, place, best = self._axial
        lower = FAN_BLEND[0]
        inside = ca.fmin(place, 1 - place) / END_BLEND
        fade = ca.fmax(ca.fmin(inside, 1), 0)
        return select(best > lower, lower + fade * (best - lower), best)

    def _fan(self) -> Array:
        """The point in the mean direction from the inside segment to the surface."""
        total = ca.SX.zeros(3)
        step = self.second - self.first
        for place, weight in zip(*_fan_quadrature(), strict=True):
            inside = self.first + place * step
            blade = closest_on_ellipsoid(self.semiaxes, inside) - inside
            total = total + weight * blade / norm(blade)
        middle = self.first + 0.5 * step
        return closest_on_ellipsoid(self.semiaxes, middle + total / norm(total))

    def point(self, method: str, side: tuple[int, int] | None) -> Array:
        """The point of the surface that spans the plane with the segment.

        Args:
            method: ``"hybrid"``, ``"midpoint"`` or ``"axial"``.
            side: Axis and sign of the side that a path wraps around; None: any side.
        """
        lower, upper = FAN_BLEND
        axial, _, cosine = self._axial
        if method == "midpoint":
            found = closest_on_ellipsoid(self.semiaxes, (self.first + self.second) / 2)
        elif method == "axial":
            found = axial
        else:
            cosine = self._cosine
            fan = self._fan()
            share = (cosine - lower) / (upper - lower)
            mixed = closest_on_ellipsoid(self.semiaxes, share * axial + (1 - share) * fan)
            found = select(cosine >= upper, axial, select(cosine <= lower, fan, mixed))
        if side is None:
            return found
        axis, sign = side
        weight = ca.fmax(ca.fmin(1 - (cosine - lower) / (upper - lower), 1), 0)
        mirrored = found + 0
        mirrored[axis] = -(1 - weight) * found[axis]
        on_surface = select(weight > 0, closest_on_ellipsoid(self.semiaxes, mirrored), mirrored)
        return select(is_on_side(found[axis], sign), found, on_surface)
