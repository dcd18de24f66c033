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

    All in world axes; -1 is the world. Its power on a motion of the tree is the row times velocity.
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
        """Row by row, the entries that can differ from zero.

        Joints that carry both bodies cannot move one in the other and are left out.
        """
        result = []
        for wrench in self.wrenches:
            row: dict[int, Array] = {}
            on, under = (set(self.tree.ancestors(b)) for b in (wrench.body, wrench.other))
            for joint in sorted(on ^ under):
                sign = 1.0 if joint in on else -1.0
                arm = self._arm(wrench.place, joint)
                for (entry, weight), (turning, sliding) in zip(
                    self.tree.weights[joint], self.screws[joint], strict=True
                ):
                    linear = sliding + cross(turning, arm)
                    value = sign * weight * (dot(wrench.slide, linear) + dot(wrench.turn, turning))
                    row[entry] = row[entry] + value if entry in row else value
            result.append(row)
        return result

    @cached_property
    def _arms(self) -> dict[tuple[int, int], tuple[Array, Array]]:
        return {}

    def _arm(self, place: Array, joint: int) -> Array:
        """From the origin of the joint's body to a place, shared between rows at one place."""
        key = (id(place), joint)
        if key not in self._arms:
            self._arms[key] = (place - self.tree.placements[joint].r, place)
        return self._arms[key][0]

    @cached_property
    def screws(self) -> list[list[tuple[Array, Array]]]:
        """For each joint, per coordinate: turn and slide at the body's origin, in world axes."""
        result = []
        for joint, placed in zip(self.tree.joints, self.tree.placements, strict=True):
            back = placed.E.T
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
                placed = self.tree.placements[body]
                moment = wrench.turn + cross(wrench.place - placed.r, wrench.slide)
                result[body] = sign * stack(placed.E @ moment, placed.E @ wrench.slide)
        return result


def dot(a: Array, b: Array) -> Array:
    """Scalar product of 3-vectors."""
    return sum(a[k] * b[k] for k in range(3))


def as_column(entries: Sequence[Array]) -> Array:
    """Scalars below each other; there may be none."""
    return ca.vertcat(ca.SX(0, 1), *entries)
