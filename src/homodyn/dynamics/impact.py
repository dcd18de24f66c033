"""Impacts: velocities jump while positions do not change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.dynamics.constrained import force_shape, residual
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.kkt_methods import KKTMethod, solve_constrained
from homodyn.dynamics.tree import Tree
from homodyn.foundation.record import Record, record
from homodyn.model import Model
from homodyn.model.state_function import state_function
from homodyn.spatial import Array, ArrayInput, ParameterValues, ScalarInput


@record
class Impact(Record):
    """Velocities after an impact, the impulses, and whether the constraints are satisfied."""

    velocity: np.ndarray
    """Velocities after the impact (rad/s, m/s), (..., nv)."""
    impulse: np.ndarray
    """Impulse of each row (N s, N m s), (..., rows); positive along the row on the frame."""
    residual: np.ndarray
    """Largest |G v+ + e G v-| relative to its terms."""
    rank: np.ndarray
    """Number of independent rows at this pose."""


@state_function(
    q="nq",
    v="nv",
    restitution=(),
    returns={"velocity": "nv", "impulse": force_shape, "residual": (), "rank": ()},
    record=Impact,
)
def impact(
    model: Model,
    q: ArrayInput,
    v: ArrayInput,
    constraints: Constraint,
    restitution: ScalarInput | None = None,
    method: KKTMethod = "range",
    *,
    parameters: ParameterValues | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> Impact:
    """Velocities after an impact that makes ``constraints`` active.

    H (v+ - v-) = G^T impulse and G v+ = -e G v- (Felis 2015, eq. 3.10). Pass the set that is active
    after the impact; contacts that were active before then stay closed (Kieboom 2014, eq. 2.96).
    Solved for the change of velocity, v+ = v- - (1 + e) H^-1 G^T (G H^-1 G^T)^+ G v-; Kieboom eq.
    2.95 omits v- and the sign.

    Args:
        model: The model.
        q: Positions, (..., nq).
        v: Velocities, (..., nv).
        constraints: One constraint or a set of them.
        restitution: Coefficient of restitution e: 0 (default) without rebound, 1 for conserved
            kinetic energy.
        method: "range", "direct", "null" or "recursive"; they give the same result (see
            `homodyn.dynamics.kkt_methods`).
        parameters: Values of the parameters of the model, as an array in their order or a mapping
            from names; their stored values by default.
        out: Contiguous float arrays that receive the results, in the order of the fields.

    Returns:
        Velocities after the impact, impulses, residual and rank.

    Raises:
        ModelError: A constraint refers to an unknown frame or connects a body to itself, or
        ``method``
            is unknown.
        KernelError: An array has the wrong shape or type.
    """
    rows = ConstraintRows(Tree(model, q), constraints)
    velocity: Array = v
    before = rows.matrix.times(velocity)
    rebound: Array = 0.0 if restitution is None else restitution
    target = [-(1 + rebound) * speed for speed in before]
    change, impulse, rank = solve_constrained(rows, None, target, method)
    error = residual(rows, velocity + change, [-rebound * speed for speed in before])
    return Impact(velocity + change, impulse, error, rank)
