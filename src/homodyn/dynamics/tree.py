"""The tree at one state: placements, velocities, accelerations, and sums over subtrees.

Every recursion of this package starts from ``Tree``. Quantities are in body frames. What is not
needed costs nothing in a kernel: only expressions that reach an output are kept.
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
    """A model at positions ``q`` and, where rates matter, velocities ``v``."""

    model: Model
    q: Array
    v: Array = None

    @cached_property
    def joints(self) -> list[JointState]:
        """Transform, motion subspace, velocity and bias of every joint, parent to child body."""
        positions = joint_positions(self.model, self.q)
        rates = (
            [np.zeros(joint.nv) for joint in self.model.joints]
            if self.v is None
            else joint_velocities(self.model, self.q, self.v)
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
        """For each joint, per coordinate: its entry of v and the factor it follows that with."""
        return joint_weights(self.model, self.q)

    @cached_property
    def placements(self) -> list[Transform]:
        """From the world to every body."""
        placed: list[Transform] = []
        for joint, parent in zip(self.joints, self.model.parents, strict=True):
            placed.append(joint.X if parent < 0 else joint.X @ placed[parent])
        return placed

    @cached_property
    def velocities(self) -> list[Array]:
        """Spatial velocity of every body, in its own frame."""
        moving: list[Array] = []
        for joint, parent in zip(self.joints, self.model.parents, strict=True):
            carrier = ZERO_MOTION if parent < 0 else moving[parent]
            moving.append(_carried_velocity(joint.X.E, joint.X.r, carrier, joint.v))
        return moving

    def accelerations(self, a: Array | None, gravity: bool) -> list[Array]:
        """Spatial acceleration of every body for joint accelerations ``a`` (None: zero).

        With ``gravity`` the world accelerates upwards instead of bodies having weight
        (a_0 = -g; Felis prints a_0 = 0 in algorithm 3, which drops it).
        """
        base = stack(np.zeros(3), -self.model.gravity) if gravity else ZERO_MOTION
        if a is None:
            a = np.zeros(self.model.nv)
        rates = joint_accelerations(self.model, self.q, self.v, a)
        result: list[Array] = []
        for i, (joint, parent) in enumerate(zip(self.joints, self.model.parents, strict=True)):
            carrier = base if parent < 0 else result[parent]
            moving = (self.velocities[i], joint.v, joint.c, joint.S, rates[i])
            result.append(_carried_acceleration(joint.X.E, joint.X.r, carrier, *moving))
        return result

    @cached_property
    def bias_accelerations(self) -> list[Array]:
        """Accelerations of the bodies without joint accelerations, gravity as one upwards."""
        return self.accelerations(None, gravity=True)

    def accumulate_inward(self, forces: list[Array]) -> list[Array]:
        """Each force with those of the subtree it carries added, in the body's frame."""
        total = list(forces)
        for i in reversed(range(len(total))):
            parent = self.model.parents[i]
            if parent >= 0:
                X = self.joints[i].X
                total[parent] = _with_carried_force(total[parent], X.E, X.r, total[i])
        return total

    def project(self, forces: list[Array]) -> Array:
        """Generalised forces S^T f; a coordinate that others follow collects their share."""
        shares: list[list[Array]] = [[] for _ in range(self.model.nv)]
        for joint, force, weights in zip(self.joints, forces, self.weights, strict=True):
            along = ca.vertsplit(_along(joint.S, force)) if weights else ()
            for part, (entry, weight) in zip(along, weights, strict=True):
                shares[entry].append(part if type(weight) is float else weight * part)
        return stack(*(reduce(add, share) for share in shares))

    def ancestors(self, body: int) -> list[int]:
        """The body and all that carry it, outermost first."""
        chain = []
        while body >= 0:
            chain.append(body)
            body = self.model.parents[body]
        return chain


@reuse_graph
def _carried_velocity(E: Array, r: Array, carrier: Array, own: Array) -> Array:
    return Transform(E, r).motion(carrier) + own


@reuse_graph
def _carried_acceleration(
    E: Array,
    r: Array,
    carrier: Array,
    velocity: Array,
    own: Array,
    bias: Array,
    S: Array,
    rates: Array,
) -> Array:
    inside = bias + cross_motion(velocity, own)
    if S.shape[1]:
        inside = inside + S @ rates
    return inside + Transform(E, r).motion(carrier)


@reuse_graph
def _with_carried_force(force: Array, E: Array, r: Array, carried: Array) -> Array:
    return force + Transform(E, r).force_back(carried)


@reuse_graph
def _along(S: Array, force: Array) -> Array:
    return S.T @ force
