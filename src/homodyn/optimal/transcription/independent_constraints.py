"""Linearly independent rows of a set of contacts.

Four points of a rigid foot have twelve rows but remove six degrees of freedom. All twelve carry
force, but only six may be acceleration equations: redundant equations have no unique multipliers,
and solvers fail on them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from homodyn.dynamics.constraint_rows import constraint_jacobian
from homodyn.dynamics.constraints import Constraint
from homodyn.model import Model

RANK_TOLERANCE = 1e-6
"""Singular values below this fraction of the largest count as zero."""


def new_independent_rows(
    model: Model, q: np.ndarray, known: Constraint | None, new: Constraint
) -> list[int]:
    """Rows of ``new`` that are independent of ``known`` and of the rows before them."""
    count = len(new.rows)
    if not count:
        return []
    G = np.asarray(constraint_jacobian(model, q, new))
    basis = np.zeros((0, model.nv))
    if known is not None and len(known.rows):
        basis = np.asarray(constraint_jacobian(model, q, known))
    chosen = []
    for n in range(count):
        extended = np.vstack([basis, G[n]])
        rank = np.linalg.matrix_rank(extended, RANK_TOLERANCE)
        if rank > np.linalg.matrix_rank(basis, RANK_TOLERANCE):
            chosen.append(n)
            basis = extended
    return chosen


def independent_rows(model: Model, q: np.ndarray, contacts: Constraint) -> list[int]:
    """A well-conditioned maximal set of independent rows in a pose.

    Columns of the transposed Jacobian are pivoted: each chosen row is the one that is explained
    least by those chosen before.
    """
    if not len(contacts.rows):
        return []
    G = np.asarray(constraint_jacobian(model, q, contacts))
    _, R, order = qr(G.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    return sorted(order[: int((sizes > RANK_TOLERANCE * sizes[0]).sum())].tolist())
