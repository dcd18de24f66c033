"""Positions and Jacobians that tasks and limits share at one state, over symbols."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from homodyn.dynamics.kinematics import body_jacobians
from homodyn.dynamics.momentum import total_mass, tree_center_of_mass, world_momentum
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.manifold import quaternion_log
from homodyn.spatial import Array, Transform, cross, skew, stack


@dataclass(frozen=True, eq=False)
class KinematicPoint:
    """A model at positions q and velocities v, which tasks and limits evaluate."""

    model: Model
    q: Array
    """(nq,)."""
    v: Array
    """(nv,), rad/s, m/s; zero where only positions matter."""

    @cached_property
    def tree(self) -> Tree:
        """Placements and velocities of the bodies."""
        return Tree(self.model, self.q, self.v)

    def position(self, frame: str) -> Array:
        """World position of a frame, (3,), m."""
        body, placement = self.model.locate(frame)
        return placement.r if body < 0 else self.tree.placements[body].point_back(placement.r)

    def rotation(self, frame: str) -> Array:
        """Axes of a frame in the world as columns, (3, 3)."""
        body, placement = self.model.locate(frame)
        return (placement.E if body < 0 else placement.E @ self.tree.placements[body].E).T

    def jacobians(self, frame: str, point: Array | None = None) -> tuple[Array, Array]:
        """Angular and linear world Jacobians (3, nv) of a frame, or of a point in its axes."""
        body, placement = self.model.locate(frame)
        local = placement.r if point is None else placement.point_back(point)
        return body_jacobians(self.tree, body, local)

    @cached_property
    def center_of_mass(self) -> Array:
        """(3,), m, world."""
        return tree_center_of_mass(self.tree)

    @cached_property
    def momentum_matrix(self) -> Array:
        """(6, nv): angular momentum about the center of mass, then linear momentum, of unit rates.

        Momentum is linear in the velocities: its derivative by them is the centroidal momentum
        matrix (Orin and Goswami 2008).
        """
        rates = ca.SX.sym("rates", self.model.nv)
        momentum = self._momentum(Tree(self.model, self.q, rates))
        return ca.jacobian(momentum, rates)

    @cached_property
    def momentum(self) -> Array:
        """(6,): angular momentum about the center of mass, then linear momentum."""
        return self._momentum(self.tree)

    def _momentum(self, tree: Tree) -> Array:
        about_com = Transform(np.eye(3), self.center_of_mass)
        return about_com.force(world_momentum(tree))

    @cached_property
    def center_of_mass_jacobian(self) -> Array:
        """(3, nv)."""
        return center_of_mass_jacobian(self.tree)

    def bias(self, jacobian: Array) -> Array:
        """The acceleration ``Jdot v`` of rows (m, nv) at these velocities.

        The derivative of ``J(q) v`` along the motion, by the chain rule.
        """
        rates = self.model_rates
        return ca.jtimes(ca.SX(jacobian) @ self.v, self.q, rates)

    @cached_property
    def model_rates(self) -> Array:
        """Time derivative of q, (nq,)."""
        from homodyn.model.configuration import rates

        return ca.SX(rates(self.model, self.q, self.v))


def center_of_mass_jacobian(tree: Tree) -> Array:
    """Jacobian (3, nv) of the center of mass, by the mass and its moment beyond every joint."""
    model = tree.model
    masses: list[Array] = [body.mass for body in model.bodies]
    moments: list[Array] = [
        body.mass * placement.point_back(body.com)
        for body, placement in zip(model.bodies, tree.placements, strict=True)
    ]
    for i in reversed(range(len(masses))):
        parent = model.parents[i]
        if parent >= 0:
            masses[parent] = masses[parent] + masses[i]
            moments[parent] = moments[parent] + moments[i]
    result = ca.SX(3, model.nv)
    for i, (mass, moment) in enumerate(zip(masses, moments, strict=True)):
        if not tree.weights[i]:
            continue
        placement = tree.placements[i]
        S = tree.joints[i].S
        turns, slides = placement.E.T @ S[:3, :], placement.E.T @ S[3:, :]
        origin = placement.point_back(np.zeros(3))
        shift = moment - mass * origin
        for k, (entry, weight) in enumerate(tree.weights[i]):
            speed = cross(turns[:, k], shift) + mass * slides[:, k]
            result[:, entry] = result[:, entry] + weight * speed
    return result / total_mass(model)


def rotation_vector(rotation: Array) -> Array:
    """Axis times angle (3,), rad, of a rotation matrix over symbols; angles up to pi.

    By the quaternion with the largest component (Shepperd 1978), which is regular everywhere.
    """
    R = rotation
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    diagonal = [trace, R[0, 0], R[1, 1], R[2, 2]]
    squares = [1 + trace] + [1 + 2 * R[k, k] - trace for k in range(3)]
    candidates = [
        stack(squares[0], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]),
        stack(R[2, 1] - R[1, 2], squares[1], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]),
        stack(R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], squares[2], R[1, 2] + R[2, 1]),
        stack(R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], squares[3]),
    ]
    largest, chosen = diagonal[0], candidates[0]
    for value, candidate in zip(diagonal[1:], candidates[1:], strict=True):
        better = value > largest
        chosen = ca.if_else(better, candidate, chosen)
        largest = ca.if_else(better, value, largest)
    chosen = chosen / ca.norm_2(chosen)
    return quaternion_log(ca.if_else(chosen[0] < 0, -chosen, chosen))


def cross_matrix(a: Array) -> Array:
    """The matrix of the cross product with a."""
    return skew(a)
