"""Forward dynamics under constraints.

H a = c + G^T force,    G a = gamma          (Felis 2015, eq. 3.7; c = tau - C)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from homodyn.dynamics.constraint_rows import ConstraintRows, row_count
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.kkt_methods import solve_constrained
from homodyn.dynamics.results import result_text
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.state_function import WRENCHES, state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, Wrenches


class ConstrainedMotion(NamedTuple):
    """Accelerations and forces under constraints, and whether the constraints are satisfied."""

    acceleration: np.ndarray
    """Accelerations (rad/s2, m/s2), (..., nv)."""
    force: np.ndarray
    """Force of each row (N, N m), (..., rows); positive along the row on the frame."""
    residual: np.ndarray
    """Largest |G a - gamma| relative to its terms: 1e-12 when satisfied, 1 when not at all."""
    rank: np.ndarray
    """Number of independent rows at this state."""

    def summary(self) -> str:
        """The fields with their shapes and ranges.

        Returns:
            One line per field.
        """
        return result_text(self)

    def __repr__(self) -> str:
        return result_text(self)


def force_shape(model: Model, constraints: Constraint, method: str) -> tuple[int]:
    """Shape of the forces: one entry per row."""
    return row_count(model, constraints)


@state_function(
    q="nq",
    v="nv",
    tau="nv",
    external=WRENCHES,
    returns={"acceleration": "nv", "force": force_shape, "residual": (), "rank": ()},
    record=ConstrainedMotion,
)
def constrained_dynamics(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    tau: ArrayInput,
    constraints: Constraint,
    method: str = "range",
    external: Wrenches | None = None,
    *,
    parameters: ParameterValues | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> ConstrainedMotion:
    """Accelerations and constraint forces under the generalized forces ``tau``.

    Constraints act on accelerations: the state must satisfy them, or they must be stabilized.
    Forces of linearly dependent rows are those of minimum norm; ``rank`` counts the independent
    rows.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        tau: Generalized forces (N m, N), (..., nv).
        constraints: One constraint or a set of them.
        method: "range", "direct", "null" or "recursive"; they give the same result (see
            `homodyn.dynamics.kkt_methods`).
        external: External wrenches by frame name: moment (N m) and force (N), (..., 6), in world
            axes at the origin of that frame.
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float arrays that receive the results, in the order of the fields.

    Returns:
        Accelerations, constraint forces, residual and rank.

    Raises:
        ModelError: A constraint refers to an unknown frame or holds a body to itself, or ``method``
            is unknown.
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q, v)
    rows = ConstraintRows(tree, constraints)
    forces: Array = tau
    load = forces - newton_euler(tree, None, external)
    acceleration, force, rank = solve_constrained(rows, load, rows.bias, method)
    left = residual(rows, acceleration, rows.bias)
    return ConstrainedMotion(acceleration, force, left, rank)


def residual(rows: ConstraintRows, x: Array, target: list[Array]) -> Array:
    """Largest |G x - target| over the largest sum of the absolute terms of a row."""
    worst, size = ca.SX(0), ca.SX(1e-300)
    for row, wanted in zip(rows.matrix.entries, target, strict=True):
        terms = [value * x[entry] for entry, value in row.items()]
        worst = ca.fmax(worst, ca.fabs(sum(terms) - wanted))
        size = ca.fmax(size, sum(ca.fabs(term) for term in terms) + ca.fabs(wanted))
    return worst / size
