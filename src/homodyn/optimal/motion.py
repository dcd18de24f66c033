"""The laws of motion in the intervals of several phases, written and derived once for all of them.

Phases differ in their contacts. Here the equations are those of all contacts of the problem at
once: a phase without some of them has no force there and does not ask them to rest. So one
function, and one piece of native code, serves all phases, and terms and conditions, which are
short, stand apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import ConstraintSet
from homodyn.optimal.block import Block
from homodyn.optimal.writing import Writer
from homodyn.symbolic.lazy_kernel import LazyKernel


class Restricted:
    """A kernel of a block, at a part of its unknowns and rows; the others are nothing."""

    def __init__(self, kernel: LazyKernel, whole: Block, z: np.ndarray, rows: np.ndarray):
        self.kernel = kernel
        self._z, self._rows = z, rows
        self._sizes = whole.z.shape[0], whole.rows.shape[0]

    def _padded(self, z: np.ndarray) -> np.ndarray:
        full = np.zeros((len(z), self._sizes[0]))
        full[:, self._z] = z
        return full

    @cached_property
    def places(self) -> np.ndarray:
        """(2, n): rows and columns of the entries that are left."""
        return self._kept[1]

    @property
    def _kept(self) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    def _found(self, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries in the rows ``across`` (which become 0, 1, ...) and columns that are kept."""
        row, column = self.kernel.entries
        to_row, to_column = (np.full(n, -1) for n in (max(self._sizes), self._sizes[0]))
        to_row[across], to_column[self._z] = np.arange(len(across)), np.arange(len(self._z))
        entries = np.flatnonzero((to_row[row] >= 0) & (to_column[column] >= 0))
        return entries, np.stack([to_row[row[entries]], to_column[column[entries]]])


class RestrictedValue(Restricted):
    """Costs, of which there are none, and rows."""

    @cached_property
    def _kept(self) -> tuple[np.ndarray, np.ndarray]:
        return self._rows, np.zeros((2, 0), dtype=int)

    def __call__(self, z: np.ndarray, data: np.ndarray) -> list[np.ndarray]:
        costs, rows = self.kernel(self._padded(z), data)
        return [costs, rows[:, self._rows]]


class RestrictedSlope(Restricted):
    """Gradient of the costs, entries of the Jacobian of rows."""

    @cached_property
    def _kept(self) -> tuple[np.ndarray, np.ndarray]:
        return self._found(self._rows)

    def __call__(self, z: np.ndarray, data: np.ndarray) -> list[np.ndarray]:
        gradient, entries = self.kernel(self._padded(z), data)
        return [gradient[:, self._z], entries[:, self._kept[0]]]


class RestrictedCurvature(Restricted):
    """Entries of the Hessian, with multipliers of nothing for rows that are left out."""

    @cached_property
    def _kept(self) -> tuple[np.ndarray, np.ndarray]:
        return self._found(self._z)

    def __call__(
        self, z: np.ndarray, data: np.ndarray, weight: np.ndarray, *multipliers: np.ndarray
    ) -> list[np.ndarray]:
        given = []
        for known in multipliers:
            full = np.zeros((len(known), self._sizes[1]))
            full[:, self._rows] = known
            given.append(full)
        (entries,) = self.kernel(self._padded(z), data, weight, *given)
        return [entries[:, self._kept[0]]]


@dataclass(frozen=True, eq=False)
class MotionBlock(Block):
    """The part of a shared block that a phase has."""

    whole: Block | None = None
    z_kept: np.ndarray | None = None
    rows_kept: np.ndarray | None = None

    @cached_property
    def value(self) -> Any:
        """Rows."""
        return RestrictedValue(*self._parts("value"))

    @cached_property
    def slope(self) -> Any:
        """Entries of the Jacobian."""
        return RestrictedSlope(*self._parts("slope"))

    @cached_property
    def curvature(self) -> Any:
        """Entries of the Hessian."""
        return RestrictedCurvature(*self._parts("curvature"))

    @cached_property
    def gauss_newton(self) -> Any:
        """Nothing: rows do not count."""
        return RestrictedCurvature(*self._parts("gauss_newton"))

    def _parts(self, kind: str) -> tuple[LazyKernel, Block, np.ndarray, np.ndarray]:
        assert self.whole is not None
        assert self.z_kept is not None
        assert self.rows_kept is not None
        return getattr(self.whole, kind), self.whole, self.z_kept, self.rows_kept


def motion_blocks(writers: list[Writer]) -> list[Block]:
    """For each phase the laws of motion at its places; phases that can share what is derived."""
    groups: dict[Any, list[int]] = {}
    for k, writer in enumerate(writers):
        low, high = writer.phase.duration_bounds
        loaded = tuple(load.frame for load in writer.phase.loads)
        key = (low < high, writer.phase.stabilization, tuple(writer.layout.actuated), loaded)
        groups.setdefault(key, []).append(k)
    made: dict[int, Block] = {}
    for members in groups.values():
        together = ConstraintSet(tuple(writers[k].phase.contacts for k in members))
        whole = _Whole(writers[members[0]], together)
        made |= {k: whole.part(writers[k]) for k in members}
    return [made[k] for k in range(len(writers))]


class _Whole:
    """The laws of motion with all contacts of some phases."""

    def __init__(self, writer: Writer, contacts: ConstraintSet) -> None:
        phase = replace(writer.phase, contacts=contacts, terms=(), conditions=())
        layout = replace(writer.layout, phase=phase)
        all_rows = tuple(range(len(contacts.rows)))
        self.contacts = contacts
        self.writer = replace(writer, layout=layout, resting=all_rows)
        maker, extra, _ = self.writer.maker()
        at = writer.places.windows[0]
        self.symbols = self.writer.symbols(at, {"force": len(contacts.rows)})
        written = writer.transcription.written(maker, self.symbols)
        self.extra = len(extra)
        self.rows = written.rows
        self.wrenches = maker.wrenches
        numbers = maker.numbers(np.zeros(1), np.zeros(1))
        none = ca.SX(0, 1)
        z = ca.vertcat(*(s for group in self.symbols.values() for s in group), *extra)
        row = ca.densify(ca.vertcat(none, *(value for _, value in written.rows)))
        self.block = Block(
            "motion",
            z,
            ca.vertcat(none, *(symbol for symbol, _ in numbers)),
            none,
            row,
            (),
            (),
            np.zeros((0, z.shape[0]), dtype=int),
            np.zeros((0, sum(symbol.shape[0] for symbol, _ in numbers))),
            np.zeros((0, row.shape[0])),
            np.zeros((0, row.shape[0])),
            (),
            ca.vertcat(none, *(symbol for symbol, _ in maker.lifts)),
            ca.densify(ca.vertcat(none, *(outer for _, outer in maker.lifts))),
        )

    def part(self, writer: Writer) -> MotionBlock:
        """Those of one phase."""
        places = writer.places
        count = len(places.windows)
        own = {row: k for k, row in enumerate(self.contacts.rows)}
        forces = [own[row] for row in writer.phase.contacts.rows]
        resting = [forces[k] for k in writer.resting]
        z_kept = _kept(self._z_sizes(), {"force": forces}, self.extra)
        sizes = [(name, value.shape[0]) for name, value in self.rows]
        rows_kept = _kept(sizes, {"contact": resting}, 0)
        asked = writer.labelled(
            [(name, value[resting] if name == "contact" else value) for name, value in self.rows]
        )
        maker, _, shared = writer.maker()
        maker = replace(maker, wrenches=self.wrenches)
        numbers = [known for _, known in maker.numbers(places.passed, places.part)]
        index = np.array([[*writer.seen(at), *shared] for at in places.windows], dtype=int)
        return MotionBlock(
            writer.phase.name,
            self.block.z[z_kept.tolist()],
            self.block.data,
            self.block.costs,
            self.block.rows[rows_kept.tolist()],
            (),
            asked.names,
            index,
            np.concatenate(numbers, axis=1),
            np.tile(np.array(asked.lower), (count, 1)),
            np.tile(np.array(asked.upper), (count, 1)),
            writer.place_names,
            whole=self.block,
            z_kept=z_kept,
            rows_kept=rows_kept,
        )

    def _z_sizes(self) -> list[tuple[str, int]]:
        return [(key, s.shape[0]) for key, group in self.symbols.items() for s in group]


def _kept(sizes: list[tuple[str, int]], chosen: Mapping[str, list[int]], extra: int) -> np.ndarray:
    """Places of all entries but those of some names, of which a choice is kept."""
    kept, begin = [], 0
    for name, size in sizes:
        kept.append(begin + np.array(chosen.get(name, range(size)), dtype=int))
        begin += size
    return np.concatenate([*kept, begin + np.arange(extra)])
