"""Forward dynamics under constraints.

H a = c + G^T force,    G a = gamma          (Felis 2015, eq. 3.7; c = tau - C)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca

from homodyn.dynamics.constraint_rows import ConstraintRows, row_count
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.kkt_methods import solve_constrained
from homodyn.dynamics.rnea import newton_euler
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.traced import WRENCHES, function_of_state
from homodyn.spatial import Array


class ConstrainedMotion(NamedTuple):
    """Accelerations and forces under constraints, and whether the constraints could be met."""

    acceleration: Array
    """Of each degree of freedom (rad/s2, m/s2)."""
    force: Array
    """Of each row (N, N m), positive when it pushes the frame along the row."""
    residual: Array
    """Largest |G a - gamma| over the size of the terms in it: 1e-12 when met, 1 when not at all."""
    rank: Array
    """How many of the rows are independent at this state."""


def force_shape(model: Model, constraints: Constraint, method: str) -> tuple[int]:
    """Shape of the forces: one entry a row."""
    return row_count(model, constraints)


@function_of_state(
    q="nq",
    v="nv",
    tau="nv",
    external=WRENCHES,
    returns={"acceleration": "nv", "force": force_shape, "residual": (), "rank": ()},
    record=ConstrainedMotion,
)
def constrained_dynamics(
    model: Model,
    q: Array,
    v: Array,
    tau: Array,
    constraints: Constraint,
    method: str = "range",
    external: Mapping[str, Array] | None = None,
) -> ConstrainedMotion:
    """Accelerations and constraint forces under the generalised forces ``tau`` (N m, N).

    ``method`` is "range", "direct", "null" or "recursive", which agree (see ``methods``). Forces of
    rows that depend on each other are those of minimum norm; ``rank`` says that there are some.
    ``external`` maps frame names to wrenches (moment, force) in world axes at those frames.
    Constraints are taken at the level of accelerations: the state must meet them, or they must be
    stabilised.
    """
    tree = Tree(model, q, v)
    rows = ConstraintRows(tree, constraints)
    load = tau - newton_euler(tree, None, external)
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
