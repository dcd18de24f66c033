"""Where edges of two boxes cross: what corners alone do not see.

Of the nine directions across an edge of each box the one that parts the boxes most is taken, as in
the separating axis test (Gottschalk 1996). Across it each box has two near edges, on the two sides
of its near face; their four crossings carry planks that lie across each other, and one of them two
boxes that meet with an edge each. A crossing counts where it lies on both edges, and while no face
parts the boxes better: away from there its distance grows quickly, without a jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from homodyn.simulate.obstacles import BoxObstacle
from homodyn.spatial import Array, cross

CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]

MIN_SQUARED_SINE = 1e-6
"""Squared sine of the angle below which two edges have no direction across both."""
FADE_SLOPE = 4.0
"""How fast a crossing recedes (m per m) beyond the ends of its edges, or behind a face."""
PREFERENCE_MARGIN_M = 1e-5
"""m: of directions that part boxes equally well to this the first is kept, step after step."""
NO_CROSSING_M = 1e3
"""m: stands for a crossing that there is not."""


@dataclass(frozen=True, eq=False)
class OrientedBox:
    """A box in the world: centre (m), axes and half extents (m)."""

    center: Array
    axes: list[Array]
    half: list[Array]

    @property
    def corners(self) -> list[Array]:
        """All eight, in the world."""
        x, y, z = (h * axis for h, axis in zip(self.half, self.axes, strict=True))
        return [self.center + i * x + j * y + k * z for i, j, k in CORNERS]

    @staticmethod
    def from_obstacle(obstacle: BoxObstacle) -> OrientedBox:
        """A fixed box."""
        axes = [ca.SX(row) for row in np.asarray(obstacle.rotation).tolist()]
        half = [ca.SX(h) for h in np.asarray(obstacle.half_extents).tolist()]
        return OrientedBox(ca.SX(np.asarray(obstacle.position)), axes, half)


@dataclass(frozen=True, eq=False)
class EdgeDirection:
    """A direction across an edge of each box: how far it parts them, and the edges there are."""

    separation: Array
    normal: Array
    edges: list[list[Array]]
    """For each box: the edge, half as long; and the two ways from its centre to edges like it."""

    def better_of(self, other: EdgeDirection) -> EdgeDirection:
        """This direction or, where it parts the boxes clearly better, the other one."""
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
    """Distance (m), normal (from b to a) and place (m, on a) of four crossings of edges."""
    given = [
        part
        for box in (a, b)
        for part in (box.center, ca.horzcat(*box.axes), ca.vertcat(*box.half))
    ]
    found = _graph().call(given, True, False)
    return [(found[3 * k], found[3 * k + 1], found[3 * k + 2]) for k in range(4)]


@lru_cache(maxsize=1)
def _graph() -> ca.Function:
    """All crossings as a graph of two boxes, traced once and copied from then on."""
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
    apart = a.center - b.center
    cosines = [[ca.dot(x, y) for y in b.axes] for x in a.axes]
    best = None
    for i in range(3):
        for j in range(3):
            found = _edge_direction(a, b, apart, cosines, i, j)
            best = found if best is None else best.better_of(found)
    assert best is not None
    behind = ca.fmax(
        _face_separation(a, b, apart, cosines) - best.separation - PREFERENCE_MARGIN_M, 0.0
    )
    n = best.normal
    return [
        _crossing(n, first, second, behind)
        for first in _near_edges(a.center, best.edges[0], -n)
        for second in _near_edges(b.center, best.edges[1], n)
    ]


def _edge_direction(
    a: OrientedBox, b: OrientedBox, apart: Array, cosines: list[list[Array]], i: int, j: int
) -> EdgeDirection:
    normal = cross(a.axes[i], b.axes[j])
    square = 1 - cosines[i][j] ** 2
    # The axis of a capsule or line is a box whose other edges have no length.
    long = ca.logic_and(a.half[i] > 0, b.half[j] > 0)
    slanted = ca.logic_and(square > MIN_SQUARED_SINE, long)
    length = ca.sqrt(ca.if_else(slanted, square, 1.0))
    along = ca.dot(apart, normal)
    reach = ca.SX(0.0)
    for k in range(3):
        # Of the triple product of two axes of one box with one of the other a cosine is left.
        if k != i:
            reach = reach + a.half[k] * ca.fabs(cosines[3 - i - k][j])
        if k != j:
            reach = reach + b.half[k] * ca.fabs(cosines[i][3 - j - k])
    sign = ca.if_else(along < 0, -1.0, 1.0)
    edges = [
        [box.half[m] * box.axes[m], *[box.half[k] * box.axes[k] for k in range(3) if k != m]]
        for box, m in ((a, i), (b, j))
    ]
    return EdgeDirection(
        ca.if_else(slanted, (ca.fabs(along) - reach) / length, -NO_CROSSING_M),
        sign * normal / length,
        edges,
    )


def _face_separation(
    a: OrientedBox, b: OrientedBox, apart: Array, cosines: list[list[Array]]
) -> Array:
    """How far the best face of either box parts them."""
    best = ca.SX(-NO_CROSSING_M)
    for i in range(3):
        shadow = sum(b.half[j] * ca.fabs(cosines[i][j]) for j in range(3))
        best = ca.fmax(best, ca.fabs(ca.dot(apart, a.axes[i])) - a.half[i] - shadow)
        shadow = sum(a.half[j] * ca.fabs(cosines[j][i]) for j in range(3))
        best = ca.fmax(best, ca.fabs(ca.dot(apart, b.axes[i])) - b.half[i] - shadow)
    return best


def _near_edges(center: Array, edge: list[Array], way: Array) -> list[tuple[Array, Array]]:
    """Middles of the two edges farthest along ``way``, in a fixed order, and the edge itself."""
    along, first, second = edge
    m1, m2 = ca.dot(way, first), ca.dot(way, second)
    steep = ca.fabs(m1) >= ca.fabs(m2)
    out, side = ca.if_else(steep, first, second), ca.if_else(steep, second, first)
    face = center + ca.if_else(ca.if_else(steep, m1, m2) < 0, -1.0, 1.0) * out
    return [(face - side, along), (face + side, along)]


def _crossing(
    n: Array, first: tuple[Array, Array], second: tuple[Array, Array], behind: Array
) -> tuple[Array, Array, Array]:
    """Where two lines pass each other, and how far apart along the normal."""
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
    within = ca.fmin(ca.fmax(s, -1.0), 1.0)
    return ca.if_else(slanted, distance, NO_CROSSING_M), n, p + within * u
