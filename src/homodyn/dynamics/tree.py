"""The tree at one state: placements, velocities, accelerations, and sums over subtrees.

Every recursion of this package starts from ``Tree``. Quantities are in body frames. Expressions
that no output depends on are not part of a kernel, so unused properties cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import casadi as ca
import numpy as np

from homodyn.model import Model
from homodyn.model.coordinate_layout import (
    joint_accelerations,
    joint_positions,
    joint_velocities,
    joint_weights,
)
from homodyn.model.joint import ZERO_MOTION, JointState
from homodyn.spatial import (
    Array,
    Inertia,
    Transform,
    cross_motion,
    reuse_graph,
    stack,
)


@dataclass(frozen=True)
class Tree:
    """A model at positions ``q`` and, where needed, velocities ``v``."""

    model: Model
    q: Array
    v: Array = None

    @cached_property
    def joints(self) -> list[JointState]:
        """Transform, motion subspace, velocity and bias of every joint, parent to child body."""
        positions = joint_positions(self.model.joint_slots, self.q)
        rates = (
            [np.zeros(joint.nv) for joint in self.model.joints]
            if self.v is None
            else joint_velocities(self.model.joint_slots, self.q, self.v)
        )
        return [
            joint.state(q_i, v_i)
            for joint, q_i, v_i in zip(self.model.joints, positions, rates, strict=True)
        ]

    @cached_property
    def inertias(self) -> list[Inertia]:
        """The spatial inertia of every body."""
        return [body.spatial_inertia for body in self.model.bodies]

    @cached_property
    def weights(self) -> list[list[tuple[int, Array]]]:
        """For each joint, per coordinate: its entry of v and the factor of that entry."""
        return joint_weights(self.model.joint_slots, self.q)

    @cached_property
    def placements(self) -> list[Transform]:
        """Transforms from the world to every body."""
        result: list[Transform] = []
        for joint, parent in zip(self.joints, self.model.parents, strict=True):
            result.append(joint.X if parent < 0 else joint.X @ result[parent])
        return result

    @cached_property
    def velocities(self) -> list[Array]:
        """Spatial velocity of every body, in its own frame."""
        result: list[Array] = []
        for joint, parent in zip(self.joints, self.model.parents, strict=True):
            base = ZERO_MOTION if parent < 0 else result[parent]
            result.append(_child_velocity(joint.X.E, joint.X.r, base, joint.v))
        return result

    def accelerations(self, a: Array | None, gravity: bool) -> list[Array]:
        """Spatial acceleration of every body for joint accelerations ``a`` (None: zero).

        With ``gravity`` the world accelerates by -g, which replaces the weight of the bodies (Felis
        prints a_0 = 0 in algorithm 3, which omits it).
        """
        world = stack(np.zeros(3), -self.model.gravity) if gravity else ZERO_MOTION
        if a is None:
            a = np.zeros(self.model.nv)
        rates = joint_accelerations(self.model.joint_slots, self.q, self.v, a)
        result: list[Array] = []
        for i, (joint, parent) in enumerate(zip(self.joints, self.model.parents, strict=True)):
            base = world if parent < 0 else result[parent]
            own = (self.velocities[i], joint.v, joint.c, joint.S, rates[i])
            result.append(_child_acceleration(joint.X.E, joint.X.r, base, *own))
        return result

    @cached_property
    def bias_accelerations(self) -> list[Array]:
        """Accelerations of the bodies without joint accelerations, minus gravity."""
        return self.accelerations(None, gravity=True)

    def accumulate_inward(self, forces: list[Array]) -> list[Array]:
        """Each force with the sum of those of its subtree, in the body's frame."""
        total = list(forces)
        for i in reversed(range(len(total))):
            parent = self.model.parents[i]
            if parent >= 0:
                X = self.joints[i].X
                total[parent] = _with_child_force(total[parent], X.E, X.r, total[i])
        return total

    def project(self, forces: list[Array]) -> Array:
        """Generalized forces S^T f; a coordinate that others follow receives their share."""
        shares: list[list[Array]] = [[] for _ in range(self.model.nv)]
        for joint, force, weights in zip(self.joints, forces, self.weights, strict=True):
            parts = ca.vertsplit(_project_force(joint.S, force)) if weights else ()
            for part, (entry, weight) in zip(parts, weights, strict=True):
                shares[entry].append(part if type(weight) is float else weight * part)
        return stack(*(reduce(add, share) for share in shares))

    def ancestors(self, body: int) -> list[int]:
        """The body and its ancestors, from the body to the root."""
        chain = []
        while body >= 0:
            chain.append(body)
            body = self.model.parents[body]
        return chain


@reuse_graph
def _child_velocity(E: Array, r: Array, base: Array, own: Array) -> Array:
    return Transform(E, r).motion(base) + own


@reuse_graph
def _child_acceleration(
    E: Array,
    r: Array,
    base: Array,
    velocity: Array,
    own: Array,
    bias: Array,
    S: Array,
    rates: Array,
) -> Array:
    relative = bias + cross_motion(velocity, own)
    if S.shape[1]:
        relative = relative + S @ rates
    return relative + Transform(E, r).motion(base)


@reuse_graph
def _with_child_force(force: Array, E: Array, r: Array, child: Array) -> Array:
    return force + Transform(E, r).force_back(child)


@reuse_graph
def _project_force(S: Array, force: Array) -> Array:
    return S.T @ force
