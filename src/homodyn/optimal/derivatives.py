"""First and second derivatives of a block, by the chain rule through its inner symbols.

With w = (z, y) and y = c(z), a function L(z, y) has the derivatives

    dL/dz = L_z + L_y C,     C = dc/dz,
    d2L/dz2 = T' L_ww T + sum_k (L_y)_k d2c_k/dz2,     T = (1; C).

The mechanics of an interval know its middle only. There the Hessian of 34 degrees of freedom takes
100 000 instructions; derived towards the begin of the interval, whose positions, velocities and
accelerations all move the middle, it would take four times as many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from homodyn.symbolic.lazy_kernel import DerivedGraph

if TYPE_CHECKING:
    from homodyn.optimal.block import Block

VERSION = 3
"""Raised whenever the same block gets other derivatives, so that older libraries are not used."""

NOWHERE = np.zeros((2, 0), dtype=int)


def value(block: Block) -> DerivedGraph:
    """Costs and rows."""
    return DerivedGraph(_closed("value", block, [], [block.costs, block.rows]), NOWHERE)


def slope(block: Block) -> DerivedGraph:
    """Gradient of the sum of costs (dense), entries of the Jacobian of rows."""
    total = ca.sum1(block.costs) if block.costs.shape[0] else ca.SX(0)
    gradient = ca.gradient(total, block.z)
    jacobian = ca.jacobian(block.rows, block.z)
    if block.inner.shape[0]:
        outer = ca.jacobian(block.outer, block.z)
        gradient = gradient + outer.T @ ca.gradient(total, block.inner)
        jacobian = jacobian + ca.jacobian(block.rows, block.inner) @ outer
    jacobian = ca.sparsify(jacobian)
    graph = _closed("slope", block, [], [ca.densify(gradient), jacobian.nz[:]])
    return DerivedGraph(graph, _places(jacobian))


def curvature(block: Block) -> DerivedGraph:
    """Entries of the upper triangle of the Hessian of ``weight costs + multipliers . rows``.

    For squares r'r it is 2 (R'R + sum_k r_k d2r_k), R = dr/dw, whose second part is derived with r
    held: it vanishes for what is linear, and has no more entries than r itself.
    """
    weight, multipliers = ca.SX.sym("weight"), ca.SX.sym("multipliers", block.rows.shape[0])
    held = ca.SX.sym("held", block.squares.shape[0])
    w = ca.vertcat(block.z, block.inner)
    total = weight * block.plain + ca.dot(held, block.squares) + ca.dot(multipliers, block.rows)
    bent, gradient = ca.hessian(total, w)
    R = ca.jacobian(block.squares, w)
    hessian = bent + 2 * weight * (R.T @ R)
    upper = ca.triu(_pulled_back(block, hessian, gradient[block.z.shape[0] :]))
    symbols = [block.z, block.inner, block.data, weight, multipliers]
    freed = ca.Function("held", [*symbols, held], [upper])
    upper = freed(*symbols, 2 * weight * block.squares)
    graph = _closed("curvature", block, [weight, multipliers], [upper.nz[:]])
    return DerivedGraph(graph, _places(upper))


def gauss_newton(block: Block) -> DerivedGraph:
    """The same with 2 R' R for squares, R their Jacobian, and without any curvature of rows.

    Costs that are no squares keep their own Hessian.
    """
    weight = ca.SX.sym("weight")
    w = ca.vertcat(block.z, block.inner)
    plain, gradient = ca.hessian(weight * block.plain, w)
    R = ca.jacobian(block.squares, w)
    hessian = plain + 2 * weight * (R.T @ R)
    upper = ca.triu(_pulled_back(block, hessian, gradient[block.z.shape[0] :]))
    graph = _closed("gauss_newton", block, [weight], [upper.nz[:]])
    return DerivedGraph(graph, _places(upper))


def _pulled_back(block: Block, hessian: ca.SX, slope: ca.SX) -> ca.SX:
    """A Hessian towards (z, inner) as one towards z; ``slope`` is the gradient towards inner."""
    if not block.inner.shape[0]:
        return hessian
    outer = ca.jacobian(block.outer, block.z)
    turn = ca.vertcat(ca.SX.eye(block.z.shape[0]), outer)
    held = ca.SX.sym("held", block.inner.shape[0])
    bent = ca.Function(
        "bent", [block.z, block.data, held], [ca.hessian(ca.dot(held, block.outer), block.z)[0]]
    )
    return turn.T @ hessian @ turn + bent(block.z, block.data, slope)


def _closed(name: str, block: Block, more: list[ca.SX], outputs: list[ca.SX]) -> ca.Function:
    """A function of z and data: what stands for ``outer`` is put in its place."""
    open_ = ca.Function("open", [block.z, block.inner, block.data, *more], outputs)
    results = open_.call([block.z, block.outer, block.data, *more])
    # Entries of a matrix with one row come as a row.
    dense = [ca.vec(ca.densify(result)) for result in results]
    return ca.Function(name, [block.z, block.data, *more], dense)


def _places(matrix: ca.SX) -> np.ndarray:
    rows, columns = matrix.sparsity().get_triplet()
    return np.array([rows, columns], dtype=int).reshape(2, -1)
