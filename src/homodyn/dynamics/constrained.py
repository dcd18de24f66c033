"""Forward dynamics under constraints.

H a = c + G^T force,    G a = gamma          (Felis 2015, eq. 3.7; c = tau - C)
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from homodyn.dynamics.constraint_rows import ConstraintRows, row_count
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.kkt_methods import KKTMethod, solve_constrained
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.state_function import WRENCHES, state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, Wrenches


@record
class ConstrainedMotion(Record):
    """Accelerations and forces under constraints, and whether the constraints are satisfied."""

    acceleration: np.ndarray
    """Accelerations (rad/s2, m/s2), (..., nv)."""
    force: np.ndarray
    """Force of each row (N, N m), (..., rows); positive along the row on the frame."""
    residual: np.ndarray
    """Largest |G a - gamma| relative to its terms: about 1e-12 if satisfied, up to 1 if not."""
    rank: np.ndarray
    """Number of independent rows at this state."""


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
    method: KKTMethod = "range",
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
        ModelError: A constraint refers to an unknown frame or connects a body to itself, or
        ``method``
            is unknown.
        KernelError: An array has the wrong shape or type.
    """
    tree = Tree(model, q, v)
    rows = ConstraintRows(tree, constraints)
    forces: Array = tau
    load = forces - newton_euler(tree, None, external)
    acceleration, force, rank = solve_constrained(rows, load, rows.bias, method)
    error = residual(rows, acceleration, rows.bias)
    return ConstrainedMotion(acceleration, force, error, rank)


def residual(rows: ConstraintRows, x: Array, target: list[Array]) -> Array:
    """Largest |G x - target| over the largest sum of the absolute terms of a row."""
    error, size = ca.SX(0), ca.SX(1e-300)
    for row, value in zip(rows.matrix.entries, target, strict=True):
        terms = [coefficient * x[entry] for entry, coefficient in row.items()]
        error = ca.fmax(error, ca.fabs(sum(terms) - value))
        size = ca.fmax(size, sum(ca.fabs(term) for term in terms) + ca.fabs(value))
    return error / size
