"""Too many rows between two bodies: which sets are found, and the basis that replaces them."""

import casadi as ca
import numpy as np
import pytest

from homodyn.dynamics import ConstraintSet, PointContact, Weld
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.redundant_rows import RowReduction, orthonormal_basis, redundant_pairs
from homodyn.dynamics.tree import Tree


def basis_of(rows, columns):
    """A numeric function of a matrix that gives the basis of its columns."""
    W = ca.SX.sym("W", rows, columns)
    U = orthonormal_basis([[W[i, c] for i in range(rows)] for c in range(columns)])
    return ca.Function("basis", [W], [ca.horzcat(*[ca.vertcat(*u) for u in U])])


@pytest.mark.parametrize("rank", range(5))
def test_basis_is_orthonormal_and_spans_what_the_columns_span(rank):
    rng = np.random.default_rng(rank)
    basis = basis_of(7, 4)
    W = rng.normal(size=(7, rank)) @ rng.normal(size=(rank, 4))
    U = basis(W).full()
    lengths = np.linalg.norm(U, axis=0)
    np.testing.assert_allclose(np.sort(lengths), [0] * (4 - rank) + [1] * rank, atol=1e-13)
    np.testing.assert_allclose(U.T @ U, np.diag(lengths), atol=1e-13)
    np.testing.assert_allclose(U @ (U.T @ W), W, atol=1e-13)


def test_equal_columns_are_taken_once():
    U = basis_of(3, 3)(np.ones((3, 3))).full()
    np.testing.assert_allclose(U @ U.T, np.full((3, 3), 1 / 3), atol=1e-15)


def test_only_pairs_with_dependent_rows_in_every_pose_are_replaced(kit):
    model = kit.human()
    sets = kit.contact_sets()
    for name in ("heel", "forefoot", "flat", "forefoot and flat"):
        assert redundant_pairs(model, sets[name]) == ()
    assert redundant_pairs(model, sets["corners"]) == (tuple(range(12)), tuple(range(12, 24)))
    pair = PointContact("foot_left") + PointContact("hallux_left")
    assert redundant_pairs(model, sets["flat"] + pair) == (tuple(range(6, 12)),)
    assert redundant_pairs(model, ConstraintSet((Weld("foot_left"),))) == ()


def test_replaced_rows_times_basis_are_the_rows(kit):
    model = kit.human()
    q = ca.SX.sym("q", model.nq)
    rows = ConstraintRows(Tree(model, q), kit.contact_sets()["corners"])
    reduction = RowReduction(rows)
    B = reduction.independent.jacobian
    assert B.shape == (12, model.nv)
    y = ca.SX.sym("y", model.nv)
    difference = reduction.expand_force(B @ y) - rows.matrix.jacobian @ y
    evaluate = ca.Function("difference", [q, y], [difference])
    rng = np.random.default_rng(1)
    for _ in range(5):
        left = evaluate(rng.uniform(-1, 1, model.nq), rng.uniform(-1, 1, model.nv)).full()
        assert np.abs(left).max() < 1e-13
