"""Closed loops and held points under laws that look at the end of a step.

Each row of a constraint is a stiff spring-damper taken at the end of the step, as in `rows`. Such
rows have no bounds, so they are a part of the inertia that everything else meets:

    H' = H + h sum s_i K_i^T K_i,        load' = load + sum K_i^T f_i(K_i v),

with s_i and f_i slope and force of row i at the velocities v before the step. Rows that depend on
each other share the load, as springs do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import Constraint, ConstraintSet, anchor_constraints
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.model import WORLD, Model
from homodyn.simulate.implicit_rows import ImplicitRow
from homodyn.spatial import Array, stack

LOOP_STIFFNESS = 1e8
"""N/m, N m/rad: 1 kN opens a loop by a hundredth of a millimetre."""
LOOP_DAMPING = 1e5
"""N s/m, N m s/rad: what is open closes within milliseconds."""


@dataclass(frozen=True, eq=False)
class LoopRow:
    """A constraint row: its entries of the Jacobian and the spring that keeps it closed."""

    name: str
    entries: dict[int, Array]
    spring: ImplicitRow

    def force(self, w: Array) -> Array:
        """Force (N, N m) at the velocities ``w`` of the end of the step."""
        return self.spring.raw(row_product(self.entries, w))


def loop_rows(tree: Tree, constraints: Constraint | None, h: Array) -> list[LoopRow]:
    """The rows of constraints at the state of the tree."""
    if constraints is None:
        return []
    rows = ConstraintRows(tree, constraints)
    loose = [r.name for r in rows.rows if r.measure != "none" and not r.has_anchor]
    if loose:
        raise ModelError(
            f"constraint {loose[0]!r} does not say where it holds its frame: give an anchor, or "
            "take it from a pose with homodyn.dynamics.anchor_constraints"
        )
    return [
        LoopRow(row.name, entries, ImplicitRow.spring(error, LOOP_STIFFNESS, LOOP_DAMPING, h))
        for row, entries, error in zip(rows.rows, rows.matrix.entries, rows.errors, strict=True)
    ]


def anchor_at_pose(
    model: Model, q: np.ndarray, constraints: Constraint | None
) -> Constraint | None:
    """The constraints, those without an anchor held where the pose ``q`` has them."""
    if constraints is None:
        return None
    parts: tuple[Any, ...] = ConstraintSet((constraints,)).constraints
    held: list[Constraint] = []
    for part in parts:
        loose = getattr(part, "anchor", ()) is None and getattr(part, "other", WORLD) == WORLD
        held.append(anchor_constraints(model, q, part) if loose else part)
    return ConstraintSet(tuple(held))


def add_loop_inertia(H: Array, loops: Sequence[LoopRow], h: Array) -> Array:
    """H'."""
    if not loops:
        return H
    A = ca.SX(H)
    add_products(A, [loop.entries for loop in loops], [h * loop.spring.slope for loop in loops])
    return A


def loop_load(tree: Tree, loops: Sequence[LoopRow], w: Array) -> Array:
    """Generalised forces of the rows at the velocities ``w``."""
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
