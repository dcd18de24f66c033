"""Equations of motion of several phases, derived and compiled once for all of them.

Phases differ in their contacts. The shared equations contain all contacts of the problem: a phase
without some of them has no force there and leaves out their acceleration rows. One compiled
function then serves all phases; terms and constraints, which are short, are blocks of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics import ConstraintSet
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.phase_transcriber import PhaseTranscriber
from homodyn.symbolic.lazy_kernel import LazyKernel


class RestrictedKernel:
    """A kernel of a block, restricted to some of its variables and rows; the others are zero."""

    def __init__(self, kernel: LazyKernel, whole: Block, z: np.ndarray, rows: np.ndarray):
        self.kernel = kernel
        self._z, self._rows = z, rows
        self._sizes = whole.z.shape[0], whole.rows.shape[0]

    def _pad(self, z: np.ndarray) -> np.ndarray:
        full = np.zeros((len(z), self._sizes[0]))
        full[:, self._z] = z
        return full

    @cached_property
    def entries(self) -> np.ndarray:
        """(2, n): rows and columns of the remaining entries."""
        return self._selection[1]

    @property
    def _selection(self) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    def _select_entries(self, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries in the rows ``across`` (which become 0, 1, ...) and in the remaining columns."""
        row, column = self.kernel.entries
        to_row, to_column = (np.full(n, -1) for n in (max(self._sizes), self._sizes[0]))
        to_row[across], to_column[self._z] = np.arange(len(across)), np.arange(len(self._z))
        entries = np.flatnonzero((to_row[row] >= 0) & (to_column[column] >= 0))
        return entries, np.stack([to_row[row[entries]], to_column[column[entries]]])


class RestrictedValue(RestrictedKernel):
    """Costs (there are none) and rows."""

    @cached_property
    def _selection(self) -> tuple[np.ndarray, np.ndarray]:
        return self._rows, np.zeros((2, 0), dtype=int)

    def __call__(self, z: np.ndarray, data: np.ndarray) -> list[np.ndarray]:
        costs, rows = self.kernel(self._pad(z), data)
        return [costs, rows[:, self._rows]]


class RestrictedJacobian(RestrictedKernel):
    """Gradient of the costs and nonzeros of the Jacobian of the rows."""

    @cached_property
    def _selection(self) -> tuple[np.ndarray, np.ndarray]:
        return self._select_entries(self._rows)

    def __call__(self, z: np.ndarray, data: np.ndarray) -> list[np.ndarray]:
        gradient, entries = self.kernel(self._pad(z), data)
        return [gradient[:, self._z], entries[:, self._selection[0]]]


class RestrictedHessian(RestrictedKernel):
    """Nonzeros of the Hessian, with zero multipliers for rows that are left out."""

    @cached_property
    def _selection(self) -> tuple[np.ndarray, np.ndarray]:
        return self._select_entries(self._z)

    def __call__(
        self, z: np.ndarray, data: np.ndarray, weight: np.ndarray, *multipliers: np.ndarray
    ) -> list[np.ndarray]:
        given = []
        for own in multipliers:
            full = np.zeros((len(own), self._sizes[1]))
            full[:, self._rows] = own
            given.append(full)
        (entries,) = self.kernel(self._pad(z), data, weight, *given)
        return [entries[:, self._selection[0]]]


@dataclass(frozen=True, eq=False)
class DynamicsBlock(Block):
    """The part of a shared block that belongs to one phase."""

    whole: Block | None = None
    z_entries: np.ndarray | None = None
    row_entries: np.ndarray | None = None

    @cached_property
    def value(self) -> Any:
        """Rows."""
        return RestrictedValue(*self._parts("value"))

    @cached_property
    def jacobian(self) -> Any:
        """Nonzeros of the Jacobian."""
        return RestrictedJacobian(*self._parts("jacobian"))

    @cached_property
    def hessian(self) -> Any:
        """Nonzeros of the Hessian."""
        return RestrictedHessian(*self._parts("hessian"))

    @cached_property
    def gauss_newton(self) -> Any:
        """Zero: rows do not count."""
        return RestrictedHessian(*self._parts("gauss_newton"))

    def _parts(self, kind: str) -> tuple[LazyKernel, Block, np.ndarray, np.ndarray]:
        assert self.whole is not None
        assert self.z_entries is not None
        assert self.row_entries is not None
        return getattr(self.whole, kind), self.whole, self.z_entries, self.row_entries


def dynamics_blocks(transcribers: list[PhaseTranscriber]) -> list[Block]:
    """For each phase the equations of motion at its points; similar phases share derivatives."""
    groups: dict[Any, list[int]] = {}
    for k, transcriber in enumerate(transcribers):
        phase = transcriber.phase
        low, high = phase.duration_bounds
        frames = tuple(load.frame for load in phase.external_loads)
        given = bool(phase.prescribed)
        key = (low < high, phase.stabilization, tuple(transcriber.layout.actuated), frames, given)
        groups.setdefault(key, []).append(k)
    blocks: dict[int, Block] = {}
    for members in groups.values():
        contacts = ConstraintSet(tuple(transcribers[k].phase.contacts for k in members))
        shared = _SharedDynamics(transcribers[members[0]], contacts)
        blocks |= {k: shared.part(transcribers[k]) for k in members}
    return [blocks[k] for k in range(len(transcribers))]


class _SharedDynamics:
    """Equations of motion with all contacts of some phases."""

    def __init__(self, transcriber: PhaseTranscriber, contacts: ConstraintSet) -> None:
        phase = replace(transcriber.phase, contacts=contacts, terms=(), constraints=())
        layout = replace(transcriber.layout, phase=phase)
        all_rows = tuple(range(len(contacts.rows)))
        self.contacts = contacts
        self.transcriber = replace(transcriber, layout=layout, independent_rows=all_rows)
        builder, extra, _ = self.transcriber.time_point_builder()
        at = transcriber.points.windows[0]
        self.symbols = self.transcriber.symbols(at, {"force": len(contacts.rows)})
        equations = transcriber.transcription.equations(builder, self.symbols)
        self.extra = len(extra)
        self.rows = equations.rows
        self.wrenches = builder.wrenches
        data = builder.point_data(np.zeros(1), np.zeros(1))
        none = ca.SX(0, 1)
        z = ca.vertcat(*(s for group in self.symbols.values() for s in group), *extra)
        row = ca.densify(ca.vertcat(none, *(value for _, value in equations.rows)))
        self.block = Block(
            "motion",
            z,
            ca.vertcat(none, *(symbol for symbol, _ in data)),
            none,
            row,
            (),
            (),
            np.zeros((0, z.shape[0]), dtype=int),
            np.zeros((0, sum(symbol.shape[0] for symbol, _ in data))),
            np.zeros((0, row.shape[0])),
            np.zeros((0, row.shape[0])),
            (),
            ca.vertcat(none, *(symbol for symbol, _ in builder.substitutions)),
            ca.densify(ca.vertcat(none, *(outer for _, outer in builder.substitutions))),
        )

    def part(self, transcriber: PhaseTranscriber) -> DynamicsBlock:
        """The equations of one phase."""
        points = transcriber.points
        count = len(points.windows)
        own = {row: k for k, row in enumerate(self.contacts.rows)}
        forces = [own[row] for row in transcriber.phase.contacts.rows]
        independent = [forces[k] for k in transcriber.independent_rows]
        z_entries = _selected_entries(self._z_sizes(), {"force": forces}, self.extra)
        sizes = [(name, value.shape[0]) for name, value in self.rows]
        row_entries = _selected_entries(sizes, {"contact": independent}, 0)
        rows = transcriber.label_rows(
            [
                (name, value[independent] if name == "contact" else value)
                for name, value in self.rows
            ]
        )
        builder, _, shared = transcriber.time_point_builder()
        builder = replace(builder, wrenches=self.wrenches)
        data = [known for _, known in builder.point_data(points.begin, points.width)]
        windows = points.windows
        index = np.array([[*transcriber.variable_index(at), *shared] for at in windows], dtype=int)
        return DynamicsBlock(
            transcriber.phase.name,
            self.block.z[z_entries.tolist()],
            self.block.data,
            self.block.costs,
            self.block.rows[row_entries.tolist()],
            (),
            rows.names,
            index,
            np.concatenate(data, axis=1),
            np.tile(np.array(rows.lower), (count, 1)),
            np.tile(np.array(rows.upper), (count, 1)),
            transcriber.point_labels,
            whole=self.block,
            z_entries=z_entries,
            row_entries=row_entries,
        )

    def _z_sizes(self) -> list[tuple[str, int]]:
        return [(key, s.shape[0]) for key, group in self.symbols.items() for s in group]


def _selected_entries(
    sizes: list[tuple[str, int]], chosen: Mapping[str, list[int]], extra: int
) -> np.ndarray:
    """Indices of all entries; of some names only the chosen ones."""
    selected, begin = [], 0
    for name, size in sizes:
        selected.append(begin + np.array(chosen.get(name, range(size)), dtype=int))
        begin += size
    return np.concatenate([*selected, begin + np.arange(extra)])
