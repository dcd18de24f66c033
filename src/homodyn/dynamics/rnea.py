"""Inverse dynamics by the recursive Newton-Euler algorithm (Felis 2015, algorithm 1)."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from homodyn.dynamics.external_wrenches import body_wrenches
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.state_function import WRENCHES, state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, Wrenches, stack


@state_function(q="nq", v="nv", a="nv", external=WRENCHES, returns={"tau": "nv"})
def inverse_dynamics(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    a: ArrayInput,
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Generalized forces that produce the accelerations ``a`` at the state (q, v).

    tau = H(q) a + C(q, v) - sum of J^T wrench, by the recursive Newton-Euler algorithm (Felis 2015,
    algorithm 1). The inertia of rotors is included, the passive forces of coordinates are not.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        a: Accelerations, (..., nv).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        tau (N m, N), (..., nv).

    Raises:
        ModelError: ``external`` names a frame that the model does not have, or the world.
        KernelError: An array has the wrong shape or type.
    """
    return newton_euler(Tree(model, q, v), a, external) + armature(model) * a


@state_function(q="nq", v="nv", external=WRENCHES, returns={"bias": "nv"})
def bias_force(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Generalized forces C(q, v) of velocity and gravity: those of zero acceleration.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (N m, N), (..., nv).

    Raises:
        ModelError: ``external`` names a frame that the model does not have, or the world.
        KernelError: An array has the wrong shape or type.
    """
    return newton_euler(Tree(model, q, v), None, external)


@state_function(q="nq", v="nv", returns={"tau": "nv"})
def passive_force(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Generalized forces of springs and dampers along coordinates: k (q0 - q) - b v.

    Felis 2015, section 4.5. Coordinates of quaternion joints have no spring.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (N m, N), (..., nv).

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    positions: Array = q
    velocities: Array = v
    entries: list[Array] = []
    for coordinate, place in zip(model.coordinates, model.position_index, strict=True):
        force = -coordinate.damping * velocities[len(entries)]
        if place is not None:
            force = force + coordinate.stiffness * (coordinate.rest - positions[place])
        entries.append(force)
    return stack(*entries)


def newton_euler(tree: Tree, a: Array | None, external: Mapping[str, Array] | None = None) -> Array:
    """Motion outward, then forces inward: C(q, v), and H a for accelerations ``a``."""
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
