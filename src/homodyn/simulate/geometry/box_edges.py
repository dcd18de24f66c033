"""Crossings of the edges of two boxes, which tests of corners alone miss.

Of the nine directions perpendicular to an edge of each box the one with the largest separation is
chosen, as in the separating axis test (Gottschalk 1996). Along it each box has two near edges, on
the two sides of its near face. Their four crossings support planks that lie across each other; one
of them supports two boxes that touch with one edge each. A crossing counts if it lies on both edges
and if no face separates the boxes better. Otherwise its distance grows steeply but continuously.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from homodyn.motion import BoxObstacle
from homodyn.spatial import Array, cross

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]

MIN_SQUARED_SINE = 1e-6
"""Squared sine of the angle below which two edges count as parallel."""
FADE_SLOPE = 4.0
"""Growth of the distance of a crossing (m per m) beyond the ends of its edges, or behind a face."""
PREFERENCE_MARGIN_M = 1e-5
"""Difference of separation below which the first of two directions is kept, step after step."""
NO_CROSSING_M = 1e3
"""Distance of a crossing that does not exist."""


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """A box in the world: center (m), axes and half extents (m)."""

    center: Array
    axes: list[Array]
    half: list[Array]

    @property
    def corners(self) -> list[Array]:
        """The eight corners (m, world)."""
        x, y, z = (h * axis for h, axis in zip(self.half, self.axes, strict=True))
        return [self.center + i * x + j * y + k * z for i, j, k in CORNERS]

    @staticmethod
    def from_obstacle(obstacle: BoxObstacle) -> OrientedBox:
        """A fixed box."""
        axes = [ca.SX(column) for column in np.asarray(obstacle.orientation).T.tolist()]
        half = [ca.SX(h) for h in (np.asarray(obstacle.size) / 2).tolist()]
        return OrientedBox(ca.SX(np.asarray(obstacle.position)), axes, half)


@dataclass(frozen=True, eq=False)
class EdgeDirection:
    """A direction perpendicular to an edge of each box."""

    separation: Array
    """Separation of the boxes along the direction (m)."""
    normal: Array
    """The direction, from the second box to the first."""
    edges: list[list[Array]]
    """Of each box: half the edge, and the two vectors from the center to its parallel edges."""

    def better_of(self, other: EdgeDirection) -> EdgeDirection:
        """This direction, or the other one where it separates the boxes clearly better."""
        chosen = other.separation > self.separation + PREFERENCE_MARGIN_M

        def pick(mine: Array, theirs: Array) -> Any:
            return ca.if_else(chosen, theirs, mine)

        return EdgeDirection(
            pick(self.separation, other.separation),
            pick(self.normal, other.normal),
            [
                [pick(x, y) for x, y in zip(mine, theirs, strict=True)]
                for mine, theirs in zip(self.edges, other.edges, strict=True)
            ],
        )


def edge_crossings(a: OrientedBox, b: OrientedBox) -> list[tuple[Array, Array, Array]]:
    """Distance (m), normal (from b to a) and place (m, on a) of four crossings of edges.

    In order: the first near edge of a with both near edges of b, then the second.
    """
    inputs = [
        part
        for box in (a, b)
        for part in (box.center, ca.horzcat(*box.axes), ca.vertcat(*box.half))
    ]
    outputs = _crossing_graph().call(inputs, True, False)
    return [(outputs[3 * k], outputs[3 * k + 1], outputs[3 * k + 2]) for k in range(4)]


@lru_cache(maxsize=1)
def _crossing_graph() -> ca.Function:
    """All crossings as a graph of two boxes, traced once."""
    boxes, inputs = [], []
    for name in "ab":
        center, axes = ca.SX.sym(f"center {name}", 3), ca.SX.sym(f"axes {name}", 3, 3)
        half = ca.SX.sym(f"half {name}", 3)
        boxes.append(
            OrientedBox(center, [axes[:, k] for k in range(3)], [half[k] for k in range(3)])
        )
        inputs += [center, axes, half]
    return ca.Function("crossings", inputs, [x for one in _four_crossings(*boxes) for x in one])


def _four_crossings(a: OrientedBox, b: OrientedBox) -> list[tuple[Array, Array, Array]]:
    offset = a.center - b.center
    cosines = [[ca.dot(x, y) for y in b.axes] for x in a.axes]
    best = None
    for i in range(3):
        for j in range(3):
            direction = _edge_direction(a, b, offset, cosines, i, j)
            best = direction if best is None else best.better_of(direction)
    assert best is not None
    behind = ca.fmax(
        _face_separation(a, b, offset, cosines) - best.separation - PREFERENCE_MARGIN_M, 0.0
    )
    n = best.normal
    return [
        _crossing(n, first, second, behind)
        for first in _near_edges(a.center, best.edges[0], -n)
        for second in _near_edges(b.center, best.edges[1], n)
    ]


def _edge_direction(
    a: OrientedBox, b: OrientedBox, offset: Array, cosines: list[list[Array]], i: int, j: int
) -> EdgeDirection:
    normal = cross(a.axes[i], b.axes[j])
    square = 1 - cosines[i][j] ** 2
    # The axis of a capsule or line is a box whose other edges have zero length.
    nonzero = ca.logic_and(a.half[i] > 0, b.half[j] > 0)
    slanted = ca.logic_and(square > MIN_SQUARED_SINE, nonzero)
    length = ca.sqrt(ca.if_else(slanted, square, 1.0))
    along = ca.dot(offset, normal)
    extent = ca.SX(0.0)
    for k in range(3):
        # The triple product of two axes of one box with one of the other is a cosine.
        if k != i:
            extent = extent + a.half[k] * ca.fabs(cosines[3 - i - k][j])
        if k != j:
            extent = extent + b.half[k] * ca.fabs(cosines[i][3 - j - k])
    sign = ca.if_else(along < 0, -1.0, 1.0)
    edges = [
        [box.half[m] * box.axes[m], *[box.half[k] * box.axes[k] for k in range(3) if k != m]]
        for box, m in ((a, i), (b, j))
    ]
    return EdgeDirection(
        ca.if_else(slanted, (ca.fabs(along) - extent) / length, -NO_CROSSING_M),
        sign * normal / length,
        edges,
    )


def _face_separation(
    a: OrientedBox, b: OrientedBox, offset: Array, cosines: list[list[Array]]
) -> Array:
    """Largest separation of the boxes along a face normal of either box."""
    best = ca.SX(-NO_CROSSING_M)
    for i in range(3):
        extent = sum(b.half[j] * ca.fabs(cosines[i][j]) for j in range(3))
        best = ca.fmax(best, ca.fabs(ca.dot(offset, a.axes[i])) - a.half[i] - extent)
        extent = sum(a.half[j] * ca.fabs(cosines[j][i]) for j in range(3))
        best = ca.fmax(best, ca.fabs(ca.dot(offset, b.axes[i])) - b.half[i] - extent)
    return best


def _near_edges(center: Array, edge: list[Array], direction: Array) -> list[tuple[Array, Array]]:
    """Middles of the two edges farthest along a direction, in a fixed order, and half the edge."""
    along, first, second = edge
    m1, m2 = ca.dot(direction, first), ca.dot(direction, second)
    steep = ca.fabs(m1) >= ca.fabs(m2)
    outward, sideways = ca.if_else(steep, first, second), ca.if_else(steep, second, first)
    face = center + ca.if_else(ca.if_else(steep, m1, m2) < 0, -1.0, 1.0) * outward
    return [(face - sideways, along), (face + sideways, along)]


def _crossing(
    n: Array, first: tuple[Array, Array], second: tuple[Array, Array], behind: Array
) -> tuple[Array, Array, Array]:
    """Distance along the normal, normal and place of the closest approach of two lines."""
    (p, u), (q, w) = first, second
    r = p - q
    a, b, c = ca.dot(u, u), ca.dot(u, w), ca.dot(w, w)
    d, e = ca.dot(u, r), ca.dot(w, r)
    determinant = a * c - b * b
    slanted = ca.logic_and(determinant > 0.5 * MIN_SQUARED_SINE * a * c, a * c > 0)
    safe = ca.if_else(slanted, determinant, 1.0)
    s, t = (b * e - c * d) / safe, (a * e - b * d) / safe
    beyond = ca.fmax(ca.fabs(s) - 1, 0.0) * ca.sqrt(a) + ca.fmax(ca.fabs(t) - 1, 0.0) * ca.sqrt(c)
    distance = ca.dot(n, r) + FADE_SLOPE * (beyond + behind)
    clipped = ca.fmin(ca.fmax(s, -1.0), 1.0)
    return ca.if_else(slanted, distance, NO_CROSSING_M), n, p + clipped * u
