"""Accelerations under exact constraints in a step with rows along coordinates at its end."""

from __future__ import annotations

from typing import Any

from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.kkt_methods import solve_constrained
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.spatial import Array

ERROR_REDUCTION = 0.2
"""Fraction of the error of a constraint that one step removes."""


def constrained_step(
    constraints: Any,
    tree: Tree,
    tau: Array,
    wrenches: dict[str, Array],
    added: Array | None,
    rotation: Array,
    h: Array,
) -> tuple[Array, Array]:
    """Accelerations and constraint forces of a step.

    Constraints hold for the velocities at the end of the step, v + h (a + rotation), so their error
    does not grow. Those with their own stabilization hold for accelerations, as they define it.

    Args:
        constraints: Closed loops and pinned points.
        tree: The model at the start of the step.
        tau: Generalized forces besides wrenches and bias (N m, N), (nv,).
        wrenches: Wrenches on bodies, as those of contacts.
        added: Inertia along the degrees of freedom of rows at the end of the step, (nv,).
        rotation: What is added to the accelerations for rotating axes, (nv,).
        h: Length of the step (s).

    Returns:
        Accelerations (nv,), and the force of each row (N, N m).
    """
    rows = ConstraintRows(tree, constraints)
    speeds, turning = rows.matrix.times(tree.v), rows.matrix.times(rotation)
    bias = rows.bias if any(row.stabilization is not None for row in rows.rows) else speeds
    target = []
    for k, row in enumerate(rows.rows):
        if row.stabilization is not None:
            target.append(bias[k])
            continue
        error = rows.errors[k] if row.has_anchor and row.measure != "none" else 0.0
        target.append(-(speeds[k] + ERROR_REDUCTION * error / h) / h - turning[k])
    load = tau - newton_euler(tree, None, wrenches or None)
    a, force, _ = solve_constrained(rows, load, target, "range", added)
    return a, force
