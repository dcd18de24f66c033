"""First and second derivatives of a block, by the chain rule through its inner symbols.

With w = (z, y) and y = c(z), a function L(z, y) has the derivatives

    dL/dz = L_z + L_y C,     C = dc/dz,
    d2L/dz2 = T' L_ww T + sum_k (L_y)_k d2c_k/dz2,     T = (1; C).

The mechanics of an interval depends on its midpoint only. There the Hessian of 34 degrees of
freedom takes 100 000 instructions. With respect to the state at the start of the interval, whose
positions, velocities and accelerations all change the midpoint, it would take four times as many.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from homodyn.symbolic.lazy_kernel import DerivedGraph

DERIVATION_VERSION = 3
"""Increased whenever the same block gets different derivatives, to invalidate older libraries."""

NO_ENTRIES = np.zeros((2, 0), dtype=int)


@dataclass(frozen=True, eq=False)
class BlockExpressions:
    """The expressions of a block.

    Attributes:
        z: Decision variables.
        data: Numbers that differ between points.
        costs: One entry per objective term.
        rows: Constraint rows.
        inner: Symbols that ``outer`` replaces.
        outer: Expressions in ``z`` and ``data``.
        residuals: Numbers whose squares are added up in the costs.
        plain: Sum of the costs that are not such squares.
    """

    z: ca.SX
    data: ca.SX
    costs: ca.SX
    rows: ca.SX
    inner: ca.SX
    outer: ca.SX
    residuals: ca.SX
    plain: ca.SX


def value(block: BlockExpressions) -> DerivedGraph:
    """Costs and rows."""
    return DerivedGraph(_eliminate_inner("value", block, [], [block.costs, block.rows]), NO_ENTRIES)


def first_derivatives(block: BlockExpressions) -> DerivedGraph:
    """Gradient of the sum of costs (dense), and the nonzeros of the Jacobian of the rows."""
    total = ca.sum1(block.costs) if block.costs.shape[0] else ca.SX(0)
    gradient = ca.gradient(total, block.z)
    jacobian = ca.jacobian(block.rows, block.z)
    if block.inner.shape[0]:
        outer = ca.jacobian(block.outer, block.z)
        gradient = gradient + outer.T @ ca.gradient(total, block.inner)
        jacobian = jacobian + ca.jacobian(block.rows, block.inner) @ outer
    jacobian = ca.sparsify(jacobian)
    graph = _eliminate_inner("slope", block, [], [ca.densify(gradient), jacobian.nz[:]])
    return DerivedGraph(graph, _nonzero_entries(jacobian))


def lagrangian_hessian(block: BlockExpressions) -> DerivedGraph:
    """Nonzeros of the upper triangle of the Hessian of ``weight costs + multipliers . rows``.

    For squares r'r it is 2 (R'R + sum_k r_k d2r_k), R = dr/dw. The second part is derived with r
    constant: it vanishes for linear residuals, and has no more entries than r itself.
    """
    weight, multipliers = ca.SX.sym("weight"), ca.SX.sym("multipliers", block.rows.shape[0])
    constant = ca.SX.sym("constant", block.residuals.shape[0])
    w = ca.vertcat(block.z, block.inner)
    total = (
        weight * block.plain + ca.dot(constant, block.residuals) + ca.dot(multipliers, block.rows)
    )
    curvature, gradient = ca.hessian(total, w)
    R = ca.jacobian(block.residuals, w)
    hessian = curvature + 2 * weight * (R.T @ R)
    upper = ca.triu(_chain_hessian(block, hessian, gradient[block.z.shape[0] :]))
    symbols = [block.z, block.inner, block.data, weight, multipliers]
    with_constant = ca.Function("with_constant", [*symbols, constant], [upper])
    upper = with_constant(*symbols, 2 * weight * block.residuals)
    graph = _eliminate_inner("curvature", block, [weight, multipliers], [upper.nz[:]])
    return DerivedGraph(graph, _nonzero_entries(upper))


def gauss_newton_hessian(block: BlockExpressions) -> DerivedGraph:
    """The same with 2 R'R for squares, R their Jacobian, and without the curvature of rows.

    Costs that are not squares keep their own Hessian.
    """
    weight = ca.SX.sym("weight")
    w = ca.vertcat(block.z, block.inner)
    plain, gradient = ca.hessian(weight * block.plain, w)
    R = ca.jacobian(block.residuals, w)
    hessian = plain + 2 * weight * (R.T @ R)
    upper = ca.triu(_chain_hessian(block, hessian, gradient[block.z.shape[0] :]))
    graph = _eliminate_inner("gauss_newton", block, [weight], [upper.nz[:]])
    return DerivedGraph(graph, _nonzero_entries(upper))


def _chain_hessian(block: BlockExpressions, hessian: ca.SX, gradient: ca.SX) -> ca.SX:
    """A Hessian in (z, inner) as one in z; ``gradient`` is the gradient in inner."""
    if not block.inner.shape[0]:
        return hessian
    outer = ca.jacobian(block.outer, block.z)
    tangent = ca.vertcat(ca.SX.eye(block.z.shape[0]), outer)
    constant = ca.SX.sym("constant", block.inner.shape[0])
    curvature = ca.hessian(ca.dot(constant, block.outer), block.z)[0]
    outer_hessian = ca.Function("outer_hessian", [block.z, block.data, constant], [curvature])
    return tangent.T @ hessian @ tangent + outer_hessian(block.z, block.data, gradient)


def _eliminate_inner(
    name: str, block: BlockExpressions, more: list[ca.SX], outputs: list[ca.SX]
) -> ca.Function:
    """A function of z and data in which inner symbols are replaced by their expressions."""
    with_inner = ca.Function("with_inner", [block.z, block.inner, block.data, *more], outputs)
    results = with_inner.call([block.z, block.outer, block.data, *more])
    # Entries of a matrix with one row come as a row.
    dense = [ca.vec(ca.densify(result)) for result in results]
    return ca.Function(name, [block.z, block.data, *more], dense)


def _nonzero_entries(matrix: ca.SX) -> np.ndarray:
    rows, columns = matrix.sparsity().get_triplet()
    return np.array([rows, columns], dtype=int).reshape(2, -1)
