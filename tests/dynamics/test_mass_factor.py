"""The branch-sparse factor of the mass matrix."""

import numpy as np

from homodyn import dynamics as hd
from homodyn.dynamics.crba import composite_inertia
from homodyn.dynamics.mass_factor import factorize_mass_matrix
from homodyn.dynamics.tree import Tree
from homodyn.symbolic import kernel
from support.trees import (
    pendulums,
    random_state,
    relative_error,
)


def factor_solver(model):
    def solve(q, b):
        tree = Tree(model, q)
        return factorize_mass_matrix(tree, composite_inertia(tree)).solve(b)

    return kernel(solve, q=model.nq, b=model.nv)


def test_sparse_factor_solves_like_a_dense_one_and_is_cheaper_with_branches():
    chain, branched = pendulums(1, 15), pendulums(5, 3)
    costs = []
    for model in (chain, branched):
        q, b, _ = random_state(model, 1)
        solve = factor_solver(model)
        assert relative_error(solve(q, b), np.linalg.solve(hd.mass_matrix(model, q), b)) < 1e-10
        costs.append(solve.instructions)
    assert costs[1] < costs[0] / 2
