"""Closed loops and pinned points under step laws.

Each row of a constraint is a stiff spring-damper at the end of the step, as in `implicit_rows`.
Such rows have no bounds, so they become part of the inertia of the step:

    H' = H + h sum s_i K_i^T K_i,        load' = load + sum K_i^T f_i(K_i v),

with s_i and f_i slope and force of row i at the velocities v before the step. Dependent rows share
the load, as springs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import ConstraintSet
from homodyn.dynamics.constraint_rows import ConstraintRows, anchor_constraints
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.tree import Tree
from homodyn.model import WORLD, Model
from homodyn.simulate.rows.implicit_rows import ImplicitRow
from homodyn.spatial import Array, stack

LOOP_STIFFNESS = 1e8
"""N/m, N m/rad: 1 kN opens a loop by 0.01 mm."""
LOOP_DAMPING = 1e5
"""N s/m, N m s/rad: an open loop closes within milliseconds."""
UNANCHORED_DAMPING = 1e8
"""N s/m, N m s/rad, of rows that only stop velocities: 1 kN moves a point by 10 um/s."""


@dataclass(frozen=True, eq=False)
class LoopRow:
    """A row of a constraint."""

    name: str
    entries: dict[int, Array]
    """Entries of the Jacobian that can differ from zero, by their index in v."""
    spring: ImplicitRow
    """The spring-damper that keeps it closed."""

    def force(self, w: Array) -> Array:
        """Force (N, N m) at the velocities ``w`` of the end of the step."""
        return self.spring.raw(row_product(self.entries, w))


def loop_rows(tree: Tree, constraints: Constraint | None, h: Array) -> list[LoopRow]:
    """The rows of constraints at the state of the tree; those without an anchor stop velocities."""
    if constraints is None:
        return []
    rows = ConstraintRows(tree, constraints)
    result = []
    for row, entries, error in zip(rows.rows, rows.matrix.entries, rows.errors, strict=True):
        spring = ImplicitRow.spring(error, LOOP_STIFFNESS, LOOP_DAMPING, h)
        if row.measure != "none" and not row.has_anchor:
            spring = ImplicitRow.spring(0.0, 0.0, UNANCHORED_DAMPING, h)
        result.append(LoopRow(row.name, entries, spring))
    return result


def anchor_at_pose(
    model: Model, q: np.ndarray, constraints: Constraint | None
) -> Constraint | None:
    """The constraints; those without an anchor are anchored where the pose ``q`` has them."""
    if constraints is None:
        return None
    parts: tuple[Any, ...] = ConstraintSet((constraints,)).constraints
    anchored: list[Constraint] = []
    for part in parts:
        missing = getattr(part, "anchor", ()) is None and getattr(part, "other", WORLD) == WORLD
        anchored.append(anchor_constraints(model, q, part) if missing else part)
    return ConstraintSet(tuple(anchored))


def add_loop_inertia(H: Array, loops: Sequence[LoopRow], h: Array) -> Array:
    """The inertia H' with the rows of constraints."""
    if not loops:
        return H
    A = ca.SX(H)
    add_products(A, [loop.entries for loop in loops], [h * loop.spring.slope for loop in loops])
    return A


def loop_load(tree: Tree, loops: Sequence[LoopRow], w: Array) -> Array:
    """Generalized forces of the rows at the velocities ``w``."""
    total = [ca.SX(0.0)] * tree.model.nv
    for loop in loops:
        force = loop.force(w)
        for entry, value in loop.entries.items():
            total[entry] = total[entry] + value * force
    return stack(*total)


def row_product(row: dict[int, Array], w: Array) -> Array:
    """A sparse row times a column."""
    return sum((value * w[entry] for entry, value in row.items()), ca.SX(0))


def add_products(A: Array, rows: Sequence[dict[int, Array]], weights: Sequence[Array]) -> None:
    """Add sum of w_i J_i^T J_i to a symmetric matrix, in place."""
    places = sorted(set().union(*rows))
    weighted = [
        {place: weight * value for place, value in row.items()}
        for row, weight in zip(rows, weights, strict=True)
    ]
    for n, p in enumerate(places):
        for q in places[: n + 1]:
            total = sum(
                row[p] * other[q]
                for row, other in zip(rows, weighted, strict=True)
                if p in row and q in other
            )
            A[p, q] = A[p, q] + total
            if p != q:
                A[q, p] = A[p, q]
