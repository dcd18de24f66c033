"""Which rows of a set of contacts say something that others do not.

Four points of a rigid foot have twelve rows and hold it six times. All twelve carry force, but only
six of them may be asked to stay where they are: equations that say the same twice have no unique
multipliers, and solvers stumble.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from homodyn.dynamics import Constraint, constraint_jacobian
from homodyn.model import Model

DEPENDENT = 1e-6
"""Singular values below this part of the largest count as none."""


def independent_rows(
    model: Model, q: np.ndarray, known: Constraint | None, new: Constraint
) -> list[int]:
    """Rows of ``new`` that forbid a motion which ``known`` and the rows before allow."""
    count = len(new.rows)
    if not count:
        return []
    G = np.asarray(constraint_jacobian(model, q, new))
    kept = np.zeros((0, model.nv))
    if known is not None and len(known.rows):
        kept = np.asarray(constraint_jacobian(model, q, known))
    chosen = []
    for n in range(count):
        tried = np.vstack([kept, G[n]])
        if np.linalg.matrix_rank(tried, DEPENDENT) > np.linalg.matrix_rank(kept, DEPENDENT):
            chosen.append(n)
            kept = tried
    return chosen


def resting_rows(model: Model, q: np.ndarray, contacts: Constraint) -> list[int]:
    """As many rows as are independent in a pose, chosen so that they are so by far.

    Columns of G' are pivoted: each row that is taken is the one that the others explain least.
    """
    if not len(contacts.rows):
        return []
    G = np.asarray(constraint_jacobian(model, q, contacts))
    _, R, order = qr(G.T, mode="economic", pivoting=True)
    sizes = np.abs(np.diag(R))
    return sorted(order[: int((sizes > DEPENDENT * sizes[0]).sum())].tolist())
