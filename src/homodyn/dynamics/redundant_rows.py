"""Redundant rows between two bodies, replaced by independent ones.

Four points under a foot have twelve rows for six motions. Which six rows are independent depends on
the pose: in a level foot, the rows of two points along the line between them are equal. So no rows
are selected. The rows of a pair of bodies are G = W J with the six motions J of one relative to the
other, and an orthonormal basis U of the columns of W gives

    G = U B,    B = (U^T W) J,    target' = U^T target,    force = U force'

where B has independent rows. Forces keep their norm, so those of minimum norm remain so, and the
part of the target that no motion can reach drops out. The columns of W are pivoted by comparisons
in the generated code. Pairs with redundant rows are found when a function is traced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce

import casadi as ca
import numpy as np

from homodyn.dynamics.constraint_rows import ConstraintRows
from homodyn.dynamics.constraints import Constraint
from homodyn.dynamics.tree import Tree
from homodyn.dynamics.wrenches import PairWrench, WrenchRows, as_column
from homodyn.model import Model
from homodyn.spatial import Array, cross, stack

NEGLIGIBLE_SQUARED_RATIO = 1e-20
"""Ratio of squared lengths below which a column is rounding error."""


Block = tuple[tuple[int, ...], list[list[Array]], list[PairWrench]]
"""Rows of a pair of bodies (or one row), the columns of U, and the wrenches of B."""


@dataclass(frozen=True, eq=False)
class RowReduction:
    """Rows with those of redundant pairs of bodies replaced by independent ones."""

    rows: ConstraintRows

    @cached_property
    def redundant(self) -> tuple[tuple[int, ...], ...]:
        """The rows of each pair of bodies with redundant rows."""
        return redundant_pairs(self.rows.tree.model, self.rows.constraints)

    @cached_property
    def _blocks(self) -> list[Block]:
        """One block for each redundant pair, and for each of the other rows."""
        replaced = {k: group for group in self.redundant for k in group}
        blocks: list[Block] = []
        for k, wrench in enumerate(self.rows.wrenches):
            if k not in replaced:
                blocks.append(((k,), [[1.0]], [wrench]))
            elif k == replaced[k][0]:
                group = replaced[k]
                W = pair_matrix(self.rows, group)
                U = orthonormal_basis(W)
                blocks.append((group, U, [_combine_wrenches(wrench, W, u) for u in U]))
        return blocks

    @cached_property
    def independent(self) -> WrenchRows:
        """The independent rows."""
        wrenches = [wrench for _, _, block in self._blocks for wrench in block]
        return WrenchRows(self.rows.tree, wrenches)

    def reduce_target(self, target: Sequence[Array]) -> list[Array]:
        """U^T target."""
        return [
            sum(u * target[k] for u, k in zip(column, group, strict=True))
            for group, U, _ in self._blocks
            for column in U
        ]

    def expand_force(self, force: Array) -> Array:
        """U force, for all rows."""
        result: list[Array] = [ca.SX(0)] * len(self.rows.wrenches)
        place = 0
        for group, U, _ in self._blocks:
            for column in U:
                for u, k in zip(column, group, strict=True):
                    result[k] = result[k] + u * force[place]
                place += 1
        return as_column(result)


def pair_matrix(rows: ConstraintRows, group: Sequence[int]) -> list[list[Array]]:
    """W as six columns: the wrenches of rows of one pair, at the place of the first."""
    start = rows.wrenches[group[0]].place
    lines = []
    for k in group:
        wrench = rows.wrenches[k]
        arm = wrench.place - start
        moment = ca.SX(wrench.turn) + cross(arm, ca.SX(wrench.slide))
        lines.append([ca.SX(wrench.slide)[c] for c in range(3)] + [moment[c] for c in range(3)])
    return [[line[c] for line in lines] for c in range(6)]


def _combine_wrenches(first: PairWrench, W: list[list[Array]], u: list[Array]) -> PairWrench:
    """A row of U^T W as a wrench at the place of the first row."""
    parts = [sum(x * w for x, w in zip(u, column, strict=True)) for column in W]
    return PairWrench(first.body, first.other, first.place, stack(*parts[:3]), stack(*parts[3:]))


def orthonormal_basis(columns: list[list[Array]]) -> list[list[Array]]:
    """An orthonormal basis of the span of columns, padded with zero vectors to their number.

    By modified Gram-Schmidt with pivoting: each step selects the longest remaining column by a sum
    over all of them, with weight 1 for one and 0 for the others.
    """
    remaining = [list(column) for column in columns]
    basis: list[list[Array]] = []
    floor: Array = None
    for _ in columns:
        squares = [sum(x * x for x in column) for column in remaining]
        longest = reduce(ca.fmax, squares)
        if floor is None:
            floor = ca.fmax(NEGLIGIBLE_SQUARED_RATIO * longest, 1e-300)
        used = longest > floor
        is_found: Array = 0.0
        pivot: list[Array] = [ca.SX(0)] * len(remaining[0])
        for column, square in zip(remaining, squares, strict=True):
            weight = (square >= longest) * (1 - is_found)
            is_found = is_found + weight
            pivot = [p + weight * x for p, x in zip(pivot, column, strict=True)]
        scale = used / ca.sqrt(ca.fmax(longest, floor))
        unit = [scale * x for x in pivot]
        for column in remaining:
            along = sum(u * x for u, x in zip(unit, column, strict=True))
            column[:] = [x - along * u for u, x in zip(unit, column, strict=True)]
        basis.append(unit)
    return basis


@lru_cache(maxsize=256)
def redundant_pairs(model: Model, constraints: Constraint) -> tuple[tuple[int, ...], ...]:
    """Pairs of bodies whose rows are linearly dependent in every pose, as tuples of rows.

    Tested in random poses, with parameters at their nominal values.
    """
    q = ca.SX.sym("q", model.nq)
    rows = ConstraintRows(Tree(model, q), constraints)
    groups: dict[tuple[int, int], list[int]] = {}
    for k, wrench in enumerate(rows.wrenches):
        groups.setdefault((wrench.body, wrench.other), []).append(k)
    candidates = [tuple(group) for group in groups.values() if len(group) > 1]
    matrices = [
        ca.horzcat(*[ca.vertcat(*column) for column in pair_matrix(rows, group)])
        for group in candidates
    ]
    evaluate = ca.Function("pairs", [q, model.parameter_symbols], matrices)
    rng = np.random.default_rng(0)
    ranks = [0] * len(candidates)
    for _ in range(3):
        values = evaluate.call([rng.uniform(-1, 1, model.nq), model.parameter_values])
        for k, value in enumerate(values):
            ranks[k] = max(ranks[k], int(np.linalg.matrix_rank(np.array(value), tol=1e-8)))
    return tuple(group for group, rank in zip(candidates, ranks, strict=True) if rank < len(group))
