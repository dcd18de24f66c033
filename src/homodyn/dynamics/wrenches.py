"""Rows of a Jacobian as unit wrenches between two bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.spatial import Array, cross, stack


@dataclass(frozen=True, eq=False)
class PairWrench:
    """Force ``slide`` and moment ``turn`` at ``place`` on ``body``, and the opposite on ``other``.

    All in world axes; body -1 is the world. The power of the wrench is the row times velocity.
    """

    body: int
    other: int
    place: Array
    slide: Array
    turn: Array


@dataclass(frozen=True, eq=False)
class WrenchRows:
    """A Jacobian whose rows are wrenches between bodies of a tree."""

    tree: Tree
    wrenches: Sequence[PairWrench]

    @cached_property
    def entries(self) -> list[dict[int, Array]]:
        """The structurally nonzero entries of each row.

        Joints that are ancestors of both bodies do not move one relative to the other.
        """
        result = []
        for wrench in self.wrenches:
            row: dict[int, Array] = {}
            own, other = (set(self.tree.ancestors(b)) for b in (wrench.body, wrench.other))
            for joint in sorted(own ^ other):
                sign = 1.0 if joint in own else -1.0
                arm = self._arm(wrench.place, joint)
                for (entry, weight), (angular, linear) in zip(
                    self.tree.weights[joint], self.screws[joint], strict=True
                ):
                    speed = linear + cross(angular, arm)
                    value = sign * weight * (dot(wrench.slide, speed) + dot(wrench.turn, angular))
                    row[entry] = row[entry] + value if entry in row else value
            result.append(row)
        return result

    @cached_property
    def _arms(self) -> dict[tuple[int, int], tuple[Array, Array]]:
        return {}

    def _arm(self, place: Array, joint: int) -> Array:
        """Vector from the origin of the joint's body to a place, shared between rows."""
        key = (id(place), joint)
        if key not in self._arms:
            self._arms[key] = (place - self.tree.placements[joint].r, place)
        return self._arms[key][0]

    @cached_property
    def screws(self) -> list[list[tuple[Array, Array]]]:
        """Angular and linear part of every coordinate of each joint, world axes, at the body."""
        result = []
        for joint, placement in zip(self.tree.joints, self.tree.placements, strict=True):
            back = placement.E.T
            columns = range(joint.S.shape[1])
            result.append([(back @ joint.S[:3, k], back @ joint.S[3:, k]) for k in columns])
        return result

    @cached_property
    def jacobian(self) -> Array:
        """All rows as a sparse matrix."""
        G = ca.SX(len(self.wrenches), self.tree.model.nv)
        for k, row in enumerate(self.entries):
            for entry, value in row.items():
                G[k, entry] = value
        return G

    def times(self, v: Array) -> list[Array]:
        """The rows times velocities."""
        return [
            sum((value * v[entry] for entry, value in row.items()), ca.SX(0))
            for row in self.entries
        ]

    def on_bodies(self, k: int) -> dict[int, Array]:
        """Row k as wrenches on bodies, in body frames."""
        wrench = self.wrenches[k]
        result = {}
        for body, sign in ((wrench.body, 1.0), (wrench.other, -1.0)):
            if body >= 0:
                placement = self.tree.placements[body]
                moment = wrench.turn + cross(wrench.place - placement.r, wrench.slide)
                result[body] = sign * stack(placement.E @ moment, placement.E @ wrench.slide)
        return result


def dot(a: Array, b: Array) -> Array:
    """Scalar product of 3-vectors."""
    return sum(a[k] * b[k] for k in range(3))


def as_column(entries: Sequence[Array]) -> Array:
    """Scalars as a column, which may be empty."""
    return ca.vertcat(ca.SX(0, 1), *entries)
