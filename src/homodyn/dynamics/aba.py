"""Forward dynamics by the articulated body algorithm (Felis 2015, algorithm 3)."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.external_wrenches import body_wrenches
from homodyn.dynamics.mass_factor import factorize_mass_matrix, pivot_reciprocal
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.state_function import WRENCHES, state_function
from homodyn.spatial import (
    Array,
    ArrayInput,
    ArticulatedInertia,
    ParameterValues,
    Wrenches,
    cross_force,
    cross_motion,
    stack,
    stack_columns,
)


@state_function(q="nq", v="nv", tau="nv", external=WRENCHES, returns={"acceleration": "nv"})
def forward_dynamics(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    tau: ArrayInput,
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Accelerations under the generalized forces ``tau`` at the state (q, v).

    By the articulated body algorithm (Felis 2015, algorithm 3), in time linear in the number of
    bodies. For models with coupled coordinates the mass matrix is factorized instead.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        tau: Generalized forces (N m, N), (..., nv).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        Accelerations (rad/s2, m/s2), (..., nv).

    Raises:
        ModelError: ``external`` names a frame that the model does not have, or the world.
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q, v)
    if model.couplers:
        load: Array = tau
        return factorize_mass_matrix(tree, composite_inertia(tree)).solve(
            load - newton_euler(tree, None, external)
        )
    return articulated_body_algorithm(tree, tau, external)


def articulated_body_algorithm(
    tree: Tree,
    tau: Array,
    external: Mapping[str, Array] | None = None,
    added_inertia: Array | None = None,
) -> Array:
    """Velocities outward, articulated inertias inward, accelerations outward.

    ``added_inertia`` (kg m2, kg) is added along the degrees of freedom to that of the rotors: the
    contribution of springs and dampers that are evaluated at the end of a step.
    """
    model = tree.model
    wrenches = body_wrenches(tree, external)
    rotors = [ca.SX(coordinate.armature) for coordinate in model.coordinates]
    if added_inertia is not None:
        rotors = [rotor + added_inertia[k] for k, rotor in enumerate(rotors)]
    inertia = [ArticulatedInertia.of(body) for body in tree.inertias]
    bias, drift = [], []
    for i, joint in enumerate(tree.joints):
        velocity = tree.velocities[i]
        drift.append(joint.c + cross_motion(velocity, joint.v))
        force = cross_force(velocity, tree.inertias[i] @ velocity)
        bias.append(force - wrenches[i] if i in wrenches else force)

    steps = []
    for i in reversed(range(len(inertia))):
        joint, parent = tree.joints[i], model.parents[i]
        rows = [entry for entry, _ in tree.weights[i]]
        transmitted, force = inertia[i], bias[i]
        if rows:
            U = _columns(inertia[i], joint.S)
            D = joint.S.T @ U + ca.diag(stack(*[rotors[k] for k in rows]))
            inverse = inverse_spd(D)
            u = stack(*[tau[k] for k in rows]) - joint.S.T @ bias[i]
            W = U @ inverse
            transmitted = inertia[i].minus_outer(W, U)
            force = bias[i] + W @ u
            steps.append((rows, W, inverse @ u))
        else:
            steps.append((rows, None, None))
        if parent >= 0:
            force = force + transmitted @ drift[i]
            inertia[parent] = inertia[parent] + transmitted.transform_back(joint.X)
            bias[parent] = bias[parent] + joint.X.force_back(force)
    steps.reverse()

    result: list[Array] = [0.0] * model.nv
    accelerations: list[Array] = []
    for i, (rows, W, free) in enumerate(steps):
        joint, parent = tree.joints[i], model.parents[i]
        above = stack(np.zeros(3), -model.gravity) if parent < 0 else accelerations[parent]
        acceleration = joint.X.motion(above) + drift[i]
        if rows:
            own = free - W.T @ acceleration
            for k, row in enumerate(rows):
                result[row] = own[k]
            acceleration = acceleration + joint.S @ own
        accelerations.append(acceleration)
    return stack(*result)


def _columns(inertia: ArticulatedInertia, S: Array) -> Array:
    """``inertia @ S``, column by column."""
    return stack_columns(*[inertia @ S[:, k] for k in range(S.shape[1])])


def inverse_spd(m: Array) -> Array:
    """Inverse of a small symmetric positive definite matrix, by L D L^T without pivoting."""
    n = m.shape[0]
    if n == 1:
        return pivot_reciprocal(m)
    L: dict[tuple[int, int], Array] = {}
    pivots: list[Array] = []
    reciprocal: list[Array] = []
    for j in range(n):
        scaled = [L[j, k] * pivots[k] for k in range(j)]
        pivot = m[j, j] - sum(L[j, k] * scaled[k] for k in range(j))
        pivots.append(pivot)
        reciprocal.append(pivot_reciprocal(pivot))
        for i in range(j + 1, n):
            rest = m[j, i] - sum(L[i, k] * scaled[k] for k in range(j))
            L[i, j] = rest * reciprocal[j]
    # Columns of L^-1, then L^-T D^-1 L^-1.
    K: dict[tuple[int, int], Array] = {}
    for j in range(n):
        K[j, j] = 1.0
        for i in range(j + 1, n):
            K[i, j] = -sum(L[i, k] * K[k, j] for k in range(j, i))
    result = ca.SX(n, n)
    for i in range(n):
        for j in range(i, n):
            entry = sum(K[k, i] * K[k, j] * reciprocal[k] for k in range(j, n))
            result[i, j] = entry
            result[j, i] = entry
    return result
