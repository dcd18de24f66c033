"""The mass matrix by the composite rigid body algorithm (Felis 2015, algorithm 2)."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.traced import function_of_state
from homodyn.spatial import Array, Inertia


@function_of_state(q="nq", returns={"mass": ("nv", "nv")})
def mass_matrix(model: Model, q: Array) -> Array:
    """Joint-space inertia H(q) (kg m2, kg m, kg); zero where two coordinates share no path."""
    return composite_inertia(Tree(model, q))


def composite_inertia(tree: Tree) -> Array:
    """H(q) of the bodies and the rotors that turn with them."""
    result = composite_matrix(tree, tree.inertias)
    for i, coordinate in enumerate(tree.model.coordinates):
        if isinstance(coordinate.armature, ca.SX) or coordinate.armature:
            result[i, i] = result[i, i] + coordinate.armature
    return result


def composite_matrix(tree: Tree, inertias: Sequence[Inertia]) -> Array:
    """H_ij = S_i^T Ic_i S_j for j on the way from i to the world (Felis eq. 3.49).

    ``inertias`` holds one for each body; they need not be those of the model.
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
    """Put S_i^T Ic S_j where the coordinates of joints i and j are, above the diagonal."""
    for row, (p, weight_p) in enumerate(tree.weights[i]):
        for column, (q, weight_q) in enumerate(tree.weights[j]):
            if i == j and row > column:
                continue
            share = weight_p * weight_q * block[row, column]
            # A pair of distinct coordinates that follow one and the same counts both ways.
            if p == q and (i, row) != (j, column):
                share = 2 * share
            key = (min(p, q), max(p, q))
            entries[key] = entries[key] + share if key in entries else share


def symmetric_matrix(size: int, entries: dict[tuple[int, int], Array]) -> Array:
    """A sparse symmetric matrix from its upper entries."""
    result = ca.SX(size, size)
    for (i, j), entry in entries.items():
        result[i, j] = entry
        if i != j:
            result[j, i] = entry
    return result
