"""Curvature of the marker paths: the second-order term of the Hessian of a marker fit.

The Hessian of 1/2 sum w |r|^2 is J^T W J minus sum w r . d2p/dq2. A rotation about axis a_j, at
coordinate i or nearer to the root, also rotates the velocity v_i of the marker, so with f = w r

    -f . (a_j x v_i(p)) = -a_j . (v_i(p) x f),   sum over markers = -a_j . u_i,
    u_i = v_i x F + G a_i - tr(G) a_i,   F = sum f,   G = sum p f^T,

and F and G are summed over the subtree like a composite inertia. The term is exact for joints of
rotations and translations and for quaternions. The curvature of functions that drive several axes
of a joint is left out, which costs iterations but no accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from homodyn.dynamics.crba import add_block, symmetric_matrix
from homodyn.dynamics.tree import Tree
from homodyn.model.joint import Joint
from homodyn.spatial import Array, Transform, cross, reuse_graph, stack


@dataclass(frozen=True)
class ForceMoments:
    """Forces at points: their sum F and the sum G of p f^T, in the axes of a body at its origin."""

    F: Array
    G: Array

    @staticmethod
    def zero() -> ForceMoments:
        """No force."""
        return ForceMoments(ca.SX(3, 1), ca.SX(3, 3))

    def __add__(self, other: ForceMoments) -> ForceMoments:
        return ForceMoments(self.F + other.F, self.G + other.G)

    def wrench(self) -> Array:
        """Moment about the origin, then force."""
        G = self.G
        moment = (G[1, 2] - G[2, 1], G[2, 0] - G[0, 2], G[0, 1] - G[1, 0])
        return stack(*moment, self.F)

    def transform_back(self, X: Transform) -> ForceMoments:
        """The same in frame A, for ``X`` from A to the present frame."""
        return ForceMoments(*_transform_back(self.F, self.G, X.E, X.r))


@reuse_graph
def _transform_back(F: Array, G: Array, E: Array, r: Array) -> tuple[Array, Array]:
    force = E.T @ F
    return force, E.T @ G @ E + r @ force.T


def marker_curvature(tree: Tree, forces: list[ForceMoments]) -> Array:
    """Minus the sum of f . d2p/dq2 over all points: symmetric, with the sparsity of the tree."""
    model = tree.model
    total = list(forces)
    entries: dict[tuple[int, int], Array] = {}
    for i in reversed(range(len(total))):
        joint, parent = tree.joints[i], model.parents[i]
        if parent >= 0:
            total[parent] = total[parent] + total[i].transform_back(joint.X)
        if not tree.weights[i]:
            continue
        axes = joint.S[:3, :]
        vectors = _moment_vectors(total[i].F, total[i].G, axes, joint.S[3:, :])
        add_block(entries, tree, i, i, _symmetric_joint_block(model.joints[i], -(axes.T @ vectors)))
        j = i
        while model.parents[j] >= 0:
            vectors = tree.joints[j].X.E.T @ vectors
            j = model.parents[j]
            if tree.weights[j]:
                add_block(entries, tree, j, i, -(tree.joints[j].S[:3, :].T @ vectors))
    return symmetric_matrix(model.nv, entries)


@reuse_graph
def _moment_vectors(F: Array, G: Array, axes: Array, translations: Array) -> Array:
    """Vectors u_i = v_i x F + G a_i - tr(G) a_i in columns."""
    rotational = G @ axes - ca.trace(G) * axes
    return rotational - cross(F, translations)


def _symmetric_joint_block(joint: Joint, block: Array) -> Array:
    """Symmetric block of one joint: for two coordinates the entry of the earlier axis is used."""
    size = block.shape[0]
    if joint.quaternion:
        return (block + block.T) / 2
    order: dict[int, int] = {}
    for place, motion in enumerate(joint.axes):
        if motion.coordinate is not None:
            order.setdefault(motion.coordinate, place)
    result = ca.SX(block)
    for row in range(size):
        for column in range(size):
            if order.get(row, 0) > order.get(column, 0):
                result[row, column] = block[column, row]
    return result
