"""Inverse dynamics by the recursive Newton-Euler algorithm (Felis 2015, algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from homodyn.dynamics.external_wrenches import body_wrenches
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.traced import WRENCHES, function_of_state
from homodyn.spatial import Array, stack


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
    """Generalised forces (N m, N) of velocity and gravity: what zero acceleration takes."""
    return newton_euler(Tree(model, q, v), None, external)


@function_of_state(q="nq", v="nv", returns={"tau": "nv"})
def passive_force(model: Model, q: Array, v: Array) -> Array:
    """Generalised forces (N m, N) of springs and dampers along coordinates: k (q0 - q) - b v.

    Felis 2015, section 4.5. Coordinates of quaternion joints have no position to spring back to.
    """
    entries: list[Array] = []
    for coordinate, place in zip(model.coordinates, model.position_index, strict=True):
        force = -coordinate.damping * v[len(entries)]
        if place is not None:
            force = force + coordinate.stiffness * (coordinate.rest - q[place])
        entries.append(force)
    return stack(*entries)


def newton_euler(tree: Tree, a: Array | None, external: Mapping[str, Array] | None = None) -> Array:
    """Outward for motion, inward for forces."""
    accelerations = tree.bias_accelerations if a is None else tree.accelerations(a, gravity=True)
    wrenches = body_wrenches(tree, external)
    forces = []
    for i, inertia in enumerate(tree.inertias):
        velocity = tree.velocities[i]
        force = inertia.force(velocity, accelerations[i])
        forces.append(force - wrenches[i] if i in wrenches else force)
    return tree.project(tree.accumulate_inward(forces))


def armature(model: Model) -> Array:
    """Inertia of geared rotors along each degree of freedom (kg m2, kg)."""
    return stack(ca.SX(0, 1), *[coordinate.armature for coordinate in model.coordinates])
