"""Gaps: places at which a body may touch another body or the world, over symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench
from homodyn.spatial import Array, Transform, cross, stack

WORLD_BODY = -1
"""Body index of the world."""


@dataclass(frozen=True, eq=False)
class Gap:
    """A place of ``body`` and what it may touch on ``other`` (body indices, -1 for the world)."""

    name: str
    """Name of the contact shape and of the place on it."""
    body: int
    other: int
    shape: int
    """Index of the contact shape in ``model.contacts``."""
    distance: Array
    """m; negative where the bodies overlap."""
    normal: Array
    """Unit vector (world) from the other body to this one, (3,)."""
    point: Array
    """Where forces act on both bodies (m, world), (3,): on the surface of the body, at ``distance``
    along the normal from the surface of the other."""
    friction: float | None = None
    """Coefficient of friction of the obstacle; None: that of the contact law."""
    surface_velocity: Array | None = None
    """Velocity (m/s, world) with which the surface of an obstacle at rest moves, such as that of a
    belt, (3,); None: it does not move."""

    @cached_property
    def tangents(self) -> tuple[Array, Array]:
        """Two unit vectors that make a right-handed frame with the normal: t1 x t2 = n.

        On level ground these are x and y; elsewhere the branch-free frame of Duff et al. 2017.
        """
        n = self.normal
        sign = ca.if_else(n[2] < 0, -1.0, 1.0)
        a = -1 / (sign + n[2])
        b = n[0] * n[1] * a
        first = stack(1 + sign * n[0] ** 2 * a, sign * b, -sign * n[0])
        return first, stack(b, sign + n[1] ** 2 * a, -n[1])

    @property
    def wrenches(self) -> tuple[PairWrench, PairWrench, PairWrench]:
        """Unit forces along the normal and the two tangents: rows of the velocity of the gap."""
        none = np.zeros(3)
        return tuple(
            PairWrench(self.body, self.other, self.point, direction, none)
            for direction in (self.normal, *self.tangents)
        )  # type: ignore[return-value]


def gap_velocity(tree: Tree, gap: Gap) -> Array:
    """Relative velocity of the surfaces of both bodies at a gap.

    Args:
        tree: The model at a state.
        gap: The gap.

    Returns:
        Velocity of the point of the body relative to that of the surface of the other (m/s, world),
        (3,).
    """
    velocity = material_velocity(tree, gap)
    return velocity if gap.surface_velocity is None else velocity - gap.surface_velocity


def material_velocity(tree: Tree, gap: Gap) -> Array:
    """Relative velocity of both bodies at a gap; the surface of a belt moves on a body at rest.

    Args:
        tree: The model at a state.
        gap: The gap.

    Returns:
        Velocity of the point of the body relative to that of the other (m/s, world), (3,).
    """
    total: Array = ca.SX.zeros(3)
    for body, sign in ((gap.body, 1.0), (gap.other, -1.0)):
        if body >= 0:
            placement, velocity = tree.placements[body], tree.velocities[body]
            local = placement.point(gap.point)
            total = total + sign * (placement.E.T @ (velocity[3:] + cross(velocity[:3], local)))
    return total


def surface_speeds(gaps: Sequence[Gap]) -> Array:
    """Velocities of the surfaces of obstacles along the rows of gaps.

    Args:
        gaps: The gaps.

    Returns:
        Along the normal and the two tangents of each gap (m/s), (3 gaps,).
    """
    speeds: list[Array] = []
    for gap in gaps:
        if gap.surface_velocity is None:
            speeds += [ca.SX.zeros(1)] * 3
        else:
            speeds += [ca.dot(d, gap.surface_velocity) for d in (gap.normal, *gap.tangents)]
    return ca.vertcat(ca.SX(0, 1), *speeds)


def body_placement(tree: Tree, body: int) -> Transform:
    """Placement of a body in the world; the identity for the world itself."""
    return Transform.identity() if body < 0 else tree.placements[body]
