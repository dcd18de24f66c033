"""Mass, center of mass, momentum and energy of the whole model."""

from __future__ import annotations

import casadi as ca
import numpy as np

from homodyn.dynamics.kinematics import body_jacobians
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.state_function import state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, Transform, stack


@state_function(q="nq", returns={"center": 3})
def center_of_mass(
    model: Model,
    q: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World position of the center of mass.

    Args:
        model: The model.
        q: Positions, (..., nq).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), m.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    return tree_center_of_mass(Tree(model, q))


@state_function(q="nq", v="nv", returns={"velocity": 3})
def center_of_mass_velocity(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """World velocity of the center of mass: momentum over mass.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3), m/s.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    return world_momentum(Tree(model, q, v))[3:] / total_mass(model)


@state_function(q="nq", returns={"jacobian": (3, "nv")})
def center_of_mass_jacobian(
    model: Model,
    q: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Jacobian J(q) of the center of mass: ``J v`` is its world velocity.

    The mean of the Jacobians of the bodies, weighted by mass (Kieboom eq. 2.70 omits the weights).

    Args:
        model: The model.
        q: Positions, (..., nq).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 3, nv).

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q)
    weighted = sum(
        body.mass * body_jacobians(tree, i, body.com)[1] for i, body in enumerate(model.bodies)
    )
    return weighted / total_mass(model)


@state_function(q="nq", v="nv", returns={"momentum": 6})
def momentum(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Angular momentum about the center of mass, then linear momentum, in world axes.

    Momentum transforms like a force (Felis eq. 3.66 prints the transform of motions).

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (..., 6): kg m2/s, then kg m/s.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q, v)
    shift = Transform.identity()
    return Transform(shift.E, tree_center_of_mass(tree)).force(world_momentum(tree))


@state_function(q="nq", v="nv", returns={"energy": ()})
def kinetic_energy(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Kinetic energy, rotors included.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (...), J.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q, v)
    velocities: Array = v
    total: Array = 0.0
    for inertia, velocity in zip(tree.inertias, tree.velocities, strict=True):
        total = total + 0.5 * (velocity.T @ (inertia @ velocity))
    for k, coordinate in enumerate(model.coordinates):
        total = total + 0.5 * coordinate.armature * velocities[k] * velocities[k]
    return total


@state_function(q="nq", returns={"energy": ()})
def potential_energy(
    model: Model,
    q: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Potential energy of gravity, zero with all mass at the origin of the world.

    Args:
        model: The model.
        q: Positions, (..., nq).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (...), J.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    return -total_mass(model) * ca.dot(
        ca.SX(model.gravity), ca.SX(tree_center_of_mass(Tree(model, q)))
    )


def total_mass(model: Model) -> Array:
    """Mass of all bodies (kg), an expression where masses are parameters."""
    return sum(body.mass for body in model.bodies)


def tree_center_of_mass(tree: Tree) -> Array:
    """World position of the center of mass."""
    weighted = sum(
        body.mass * placement.point_back(body.com)
        for body, placement in zip(tree.model.bodies, tree.placements, strict=True)
    )
    return weighted / total_mass(tree.model)


def world_momentum(tree: Tree) -> Array:
    """Momentum of all bodies about the world's origin, summed along the tree."""
    momenta = [
        inertia @ velocity for inertia, velocity in zip(tree.inertias, tree.velocities, strict=True)
    ]
    subtrees = tree.accumulate_inward(momenta)
    roots = [i for i, parent in enumerate(tree.model.parents) if parent < 0]
    return sum((tree.joints[i].X.force_back(subtrees[i]) for i in roots), stack(*[0.0] * 6))
