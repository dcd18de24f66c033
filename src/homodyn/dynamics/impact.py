"""Collisions: velocities that jump while positions stay."""

from __future__ import annotations

from typing import NamedTuple

from homodyn.dynamics.constrained import force_shape, residual
from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.kkt_methods import solve_constrained
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.traced import function_of_state
from homodyn.spatial import Array


class Impact(NamedTuple):
    """Velocities after a collision, the impulses behind them, and whether that was possible."""

    velocity: Array
    """Of each degree of freedom after the collision (rad/s, m/s)."""
    impulse: Array
    """Of each row (N s, N m s), positive when it pushes the frame along the row."""
    residual: Array
    """Largest |G v+ + e G v-| over the size of the terms in it."""
    rank: Array
    """How many of the rows are independent at this pose."""


@function_of_state(
    q="nq",
    v="nv",
    restitution=(),
    returns={"velocity": "nv", "impulse": force_shape, "residual": (), "rank": ()},
    record=Impact,
)
def impact(
    model: Model,
    q: Array,
    v: Array,
    constraints: Constraint,
    restitution: Array | None = None,
    method: str = "range",
) -> Impact:
    """Velocities after a collision that brings ``constraints`` about.

    H (v+ - v-) = G^T impulse and G v+ = -e G v- (Felis 2015, eq. 3.10). ``restitution`` e is 0 (as
    None) for a collision without rebound, 1 for one that keeps kinetic energy. Give the set that
    holds after the collision: what was in contact before then stays so (Kieboom 2014, eq. 2.96).
    Written for the change of velocity, v+ = v- - (1 + e) H^-1 G^T (G H^-1 G^T)^+ G v-; Kieboom eq.
    2.95 leaves v- and the sign out.
    """
    rows = ConstraintRows(Tree(model, q), constraints)
    before = rows.matrix.times(v)
    rebound = 0.0 if restitution is None else restitution
    target = [-(1 + rebound) * speed for speed in before]
    change, impulse, rank = solve_constrained(rows, None, target, method)
    left = residual(rows, v + change, [-rebound * speed for speed in before])
    return Impact(v + change, impulse, left, rank)
