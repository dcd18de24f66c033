"""The mass matrix by the composite rigid body algorithm (Felis 2015, algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.state_function import state_function
from homodyn.spatial import Array, ArrayInput, Inertia, ParameterValues


@state_function(q="nq", returns={"mass": ("nv", "nv")})
def mass_matrix(
    model: Model,
    q: ArrayInput,
    *,
    parameters: ParameterValues | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Joint-space inertia matrix H(q), by the composite rigid body algorithm.

    Felis 2015, algorithm 2. Entries of two coordinates without a common path are zero.

    Args:
        model: The model.
        q: Positions, (..., nq).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float array that receives the result.

    Returns:
        (kg m2, kg m, kg), (..., nv, nv), symmetric.

    Raises:
        KernelError: An array has the wrong shape or type.
    """
    return composite_inertia(Tree(model, q))


def composite_inertia(tree: Tree) -> Array:
    """H(q) of the bodies and the rotors of their joints."""
    result = composite_matrix(tree, tree.inertias)
    for i, coordinate in enumerate(tree.model.coordinates):
        if isinstance(coordinate.armature, ca.SX) or coordinate.armature:
            result[i, i] = result[i, i] + coordinate.armature
    return result


def composite_matrix(tree: Tree, inertias: Sequence[Inertia]) -> Array:
    """H_ij = S_i^T Ic_i S_j for the ancestors j of i (Felis eq. 3.49).

    ``inertias`` has one entry per body; they need not be those of the model.
    """
    model = tree.model
    composite = list(inertias)
    entries: dict[tuple[int, int], Array] = {}
    for i in reversed(range(len(composite))):
        joint, parent = tree.joints[i], model.parents[i]
        if parent >= 0:
            composite[parent] = composite[parent] + composite[i].transform_back(joint.X)
        if not tree.weights[i]:
            continue
        force = composite[i] @ joint.S
        add_block(entries, tree, i, i, joint.S.T @ force)
        j = i
        while model.parents[j] >= 0:
            force = tree.joints[j].X.force_back(force)
            j = model.parents[j]
            if tree.weights[j]:
                add_block(entries, tree, j, i, tree.joints[j].S.T @ force)
    return symmetric_matrix(model.nv, entries)


def add_block(
    entries: dict[tuple[int, int], Array], tree: Tree, i: int, j: int, block: Array
) -> None:
    """Add S_i^T Ic S_j at the coordinates of joints i and j, above the diagonal."""
    for row, (p, weight_p) in enumerate(tree.weights[i]):
        for column, (q, weight_q) in enumerate(tree.weights[j]):
            if i == j and row > column:
                continue
            share = weight_p * weight_q * block[row, column]
            # Two coordinates that follow the same one contribute twice to its diagonal entry.
            if p == q and (i, row) != (j, column):
                share = 2 * share
            key = (min(p, q), max(p, q))
            entries[key] = entries[key] + share if key in entries else share


def symmetric_matrix(size: int, entries: dict[tuple[int, int], Array]) -> Array:
    """A sparse symmetric matrix from the entries of its upper triangle."""
    result = ca.SX(size, size)
    for (i, j), entry in entries.items():
        result[i, j] = entry
        if i != j:
            result[j, i] = entry
    return result
