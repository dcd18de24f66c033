"""Free bodies that turn: the momentum of everything that hangs on a free joint is kept exactly.

In the axes of a rotating body, Euler's method adds the energy h^2/2 I a^2 per step, where a is the
gyroscopic acceleration: a tumbling body of inertia (1, 2, 3) gains 87 % in 10 s at 60 Hz. Here the
step turns the body with the angular velocity in the middle of the step,

    omega_m = beta + I^-1 exp(-h/2 omega_m) L,        beta = omega - I^-1 L,

with L the angular momentum about the center of mass, I the inertia of the whole tree and beta the
part of omega that is due to its joints. Then the velocities at the end follow from the momentum,
which in world axes changes by the impulses from outside only. For one body this is the implicit
midpoint rule on the rotation group: symmetric in time, so its energy error is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from homodyn.dynamics.aba import inverse_spd
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.manifold import quaternion_exp
from homodyn.spatial import Array, Inertia, cross, quaternion_rotation, skew

MIDPOINT_ITERATIONS = 3
"""Fixed-point iterations for the angular velocity in the middle of a step."""


def free_trees(model: Model) -> list[int]:
    """Bodies whose joint is free and attached to the world, and that have mass."""
    return [
        body
        for body, (joint, parent) in enumerate(zip(model.joints, model.parents, strict=True))
        if joint.kind == "free" and parent < 0
    ]


@dataclass(frozen=True, eq=False)
class FreeTree:
    """What hangs on one free joint, in the axes of its body and about the origin of that body."""

    tree: Tree
    body: int

    @property
    def start(self) -> int:
        """Index in v of the three linear velocities; three angular ones follow."""
        return int(self.tree.model.joint_slots[self.body].v.start)

    @cached_property
    def inertia(self) -> Inertia:
        """Inertia of all bodies."""
        model, composite = self.tree.model, list(self.tree.inertias)
        for i in reversed(range(self.body + 1, len(composite))):
            if model.parents[i] >= self.body:
                parent = model.parents[i]
                moved = composite[i].transform_back(self.tree.joints[i].X)
                composite[parent] = composite[parent] + moved
        return composite[self.body]

    @cached_property
    def center(self) -> Array:
        """Center of mass (m)."""
        return self.inertia.h / self.inertia.m

    @cached_property
    def inverse_inertia(self) -> Array:
        """Inverse of the inertia about the center of mass."""
        c = skew(self.center)
        return inverse_spd(self.inertia.I + self.inertia.m * (c @ c))

    @cached_property
    def _momentum(self) -> Array:
        tree = self.tree
        own = [inertia @ v for inertia, v in zip(tree.inertias, tree.velocities, strict=True)]
        return tree.accumulate_inward(own)[self.body]

    @property
    def linear_momentum(self) -> Array:
        """Of all bodies (kg m/s), (3,)."""
        return self._momentum[3:]

    @property
    def angular_momentum(self) -> Array:
        """About the center of mass (kg m2/s), (3,)."""
        return self._momentum[:3] - cross(self.center, self._momentum[3:])

    @property
    def angular_velocity(self) -> Array:
        """Of the body (rad/s), (3,)."""
        return self.tree.velocities[self.body][:3]

    def coordinates(self, angular: Array, linear: Array) -> Array:
        """Velocities of the joint (6,) from those of the body, both without those of others.

        The axes of the joint may be turned and shifted against those of the body.
        """
        S = self.tree.joints[self.body].S
        turn = S[:3, 3:].T @ angular
        return ca.vertcat(S[3:, :3].T @ (linear - S[3:, 3:] @ turn), turn)

    def wrench(self, force: Array) -> tuple[Array, Array]:
        """Moment and force on the body from generalized forces of the joint."""
        S, own = self.tree.joints[self.body].S, force[self.start : self.start + 6]
        push = S[3:, :3] @ own[:3]
        return S[:3, 3:] @ (own[3:] - S[3:, 3:].T @ push), push

    def to_world(self, vector: Array) -> Array:
        """A vector in world axes."""
        return self.tree.placements[self.body].E.T @ vector

    def from_world(self, vector: Array) -> Array:
        """A vector in the axes of the body."""
        return self.tree.placements[self.body].E @ vector

    def midpoint_acceleration(self, h: Array) -> Array:
        """Acceleration to add for a rotation with the velocity in the middle of the step, (6,)."""
        omega, L, inverse = self.angular_velocity, self.angular_momentum, self.inverse_inertia
        beta = omega - inverse @ L
        middle = omega
        for _ in range(MIDPOINT_ITERATIONS):
            turned = quaternion_rotation(quaternion_exp(h / 2 * middle)) @ L
            middle = beta + inverse @ turned
        change = (middle - omega) / h + inverse @ cross(omega, L)
        return self.coordinates(change, cross(self.center, change))


def midpoint_acceleration(tree: Tree, h: Array) -> Array:
    """Accelerations to add to those of all free trees for rotations by their midpoint, (nv,)."""
    result = ca.SX(tree.model.nv, 1)
    for body in free_trees(tree.model):
        part = FreeTree(tree, body)
        result[part.start : part.start + 6] = part.midpoint_acceleration(h)
    return result


def transport_momentum(tree: Tree, q: Array, v: Array, force: Array, h: Array) -> Array:
    """Velocities at the end of a step in which all momentum comes from outside.

    Args:
        tree: The model at the start of the step.
        q: Positions at the end, (nq,).
        v: Velocities at the end, in the axes there, (nv,).
        force: Generalized forces in the step besides gravity and bias (N m, N), (nv,).
        h: Length of the step (s).

    Returns:
        Velocities, (nv,), of which those of free joints are changed.
    """
    model, result = tree.model, ca.SX(v)
    after = Tree(model, q, v)
    for body in free_trees(model):
        old, new = FreeTree(tree, body), FreeTree(after, body)
        moment, push = old.wrench(force)
        moment = moment - cross(old.center, push)
        linear = new.from_world(
            old.to_world(old.linear_momentum + h * push) + h * old.inertia.m * model.gravity
        )
        angular = new.from_world(old.to_world(old.angular_momentum + h * moment))
        turn = new.inverse_inertia @ (angular - new.angular_momentum)
        shift = (linear - new.linear_momentum) / new.inertia.m - cross(turn, new.center)
        k = old.start
        result[k : k + 6] = result[k : k + 6] + new.coordinates(turn, shift)
    return result
