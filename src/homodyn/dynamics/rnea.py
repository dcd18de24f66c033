"""Inverse dynamics by the recursive Newton-Euler algorithm (Felis 2015, algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from homodyn.dynamics.external import body_wrenches
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.configuration import plain_entries
from homodyn.model.traced import WRENCHES, function_of_state
from homodyn.spatial import Array, cross_force, stack


@function_of_state(q="nq", v="nv", a="nv", external=WRENCHES, returns={"tau": "nv"})
def inverse_dynamics(
    model: Model, q: Array, v: Array, a: Array, external: Mapping[str, Array] | None = None
) -> Array:
    """Generalised forces tau (N m, N) that give the accelerations ``a`` at the state (q, v).

    ``external`` maps frame names to wrenches (moment, force) in world axes at those frames.
    """
    return newton_euler(Tree(model, q, v), a, external) + armature(model) * a


@function_of_state(q="nq", v="nv", external=WRENCHES, returns={"bias": "nv"})
def bias_force(
    model: Model, q: Array, v: Array, external: Mapping[str, Array] | None = None
) -> Array:
    """Generalised forces (N m, N) of velocity and gravity: inverse dynamics for a = 0."""
    return newton_euler(Tree(model, q, v), None, external)


@function_of_state(q="nq", v="nv", returns={"tau": "nv"})
def passive_force(model: Model, q: Array, v: Array) -> Array:
    """Generalised forces (N m, N) of springs and dampers along coordinates: k (q0 - q) - b v.

    Felis 2015, section 4.5. Coordinates of quaternion joints have no position to spring back to.
    """
    position = dict(zip(*plain_entries(model), strict=True))
    forces: list[Array] = []
    for k, coordinate in enumerate(model.coordinates):
        force = -coordinate.damping * v[k]
        if k in position:
            force = force + coordinate.stiffness * (coordinate.rest - q[int(position[k])])
        forces.append(force)
    return stack(*forces)


def newton_euler(tree: Tree, a: Array | None, external: Mapping[str, Array] | None = None) -> Array:
    """Outward for motion, inward for forces."""
    accelerations = tree.accelerations(a, gravity=True)
    wrenches = body_wrenches(tree, external)
    forces = []
    for i, inertia in enumerate(tree.inertias):
        velocity = tree.velocities[i]
        force = inertia @ accelerations[i] + cross_force(velocity, inertia @ velocity)
        forces.append(force - wrenches[i] if i in wrenches else force)
    return tree.project(tree.inward(forces))


def armature(model: Model) -> Array:
    """Inertia of geared rotors along each degree of freedom (kg m2, kg)."""
    return stack(ca.SX(0, 1), *[coordinate.armature for coordinate in model.coordinates])
