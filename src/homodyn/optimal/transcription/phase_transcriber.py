"""Transcription of one phase into blocks: evaluation points, intervals, rates of change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics.constraints import row_names
from homodyn.errors import HomodynError
from homodyn.model import Model
from homodyn.optimal.statement.muscle_drive import ACTIVATION, TENDON_FORCE
from homodyn.optimal.statement.objective_terms import ObjectiveTerm
from homodyn.optimal.statement.path_constraints import PathConstraint
from homodyn.optimal.statement.phase import Phase, entry_names
from homodyn.optimal.statement.phase_series import evaluate_series
from homodyn.optimal.statement.springs import Spring
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.constraint_rows import ConstraintRowList, Row
from homodyn.optimal.transcription.costs import CostSums
from homodyn.optimal.transcription.interface import EvaluationPoints, TimeSample, Transcription
from homodyn.optimal.transcription.layout import PhaseLayout
from homodyn.optimal.transcription.muscle_symbols import window_with_muscles
from homodyn.optimal.transcription.time_point_builder import (
    Substitution,
    SymbolData,
    TimePointBuilder,
)
from homodyn.spatial import Array
from homodyn.symbolic.branch_errors import explain_branches

GUESSED_TIME = "s of the guess"
"""Unit of the times in labels of points: durations may be free until the problem is solved."""


@dataclass(frozen=True, eq=False)
class PhaseTranscriber:
    """Makes the blocks of one phase.

    Attributes:
        model: The model.
        layout: Indices of the decision variables of the phase.
        transcription: The discretization.
        parameters: Indices of the parameters of the problem.
        springs: Springs of the problem.
        independent_rows: Contact rows whose acceleration is an equation; the others depend on them.
    """

    model: Model
    layout: PhaseLayout
    transcription: Transcription
    parameters: Mapping[str, int]
    springs: tuple[Spring, ...] = ()
    independent_rows: Sequence[int] = ()

    @property
    def phase(self) -> Phase:
        """The phase."""
        return self.layout.phase

    @cached_property
    def points(self) -> EvaluationPoints:
        """Where the phase is evaluated."""
        points = self.transcription.points(self.phase.intervals)
        if self.layout.muscles is None:
            return points
        known = self.layout.index
        windows = tuple(window_with_muscles(window, known) for window in points.windows)
        return replace(points, windows=windows)

    def interval_window(self, k: int) -> dict[str, Sequence[int]]:
        """Entries of each quantity that interval ``k`` depends on."""
        return window_with_muscles(self.transcription.window(k), self.layout.index)

    @property
    def point_labels(self) -> tuple[str, ...]:
        """Labels of these points."""
        return tuple(self.point_label(node) for node in self.points.nodes)

    @property
    def interval_constraints(self) -> list[PathConstraint]:
        """Constraints of the intervals; interior ones too where samples lie between nodes."""
        placements = ("path",) if self.transcription.samples_at_nodes else ("path", "inside")
        return [c for c in self.phase.constraints if c.when in placements]

    def time_point_builder(self) -> tuple[TimePointBuilder, list[ca.SX], list[int]]:
        """A builder, and the symbols and indices of duration and parameters."""
        low, high = self.phase.duration_bounds
        begin, width, duration = (ca.SX.sym(n) for n in ("passed", "part", "duration"))
        shared = {name: ca.SX.sym(name) for name in self.parameters}
        symbols, indices = list(shared.values()), list(self.parameters.values())
        # A fixed duration stays out of all derivatives.
        if low < high:
            symbols, indices = [duration, *symbols], [self.layout.duration, *indices]
        builder = TimePointBuilder(
            self.model,
            self.phase,
            self.layout.actuated,
            duration,
            begin,
            width,
            shared,
            self.springs,
            self.independent_rows,
            muscles=self.layout.muscles,
        )
        return builder, symbols, indices

    def variable_index(self, window: Mapping[str, Sequence[int]]) -> np.ndarray:
        """Indices of the decision variables in a window."""
        return np.concatenate(
            [np.zeros(0, dtype=int)]
            + [self.layout.index[key][n] for key, entries in window.items() for n in entries]
        )

    def symbols(
        self,
        window: Mapping[str, Sequence[int]],
        sizes: Mapping[str, int] = MappingProxyType({}),
    ) -> dict[str, list[ca.SX]]:
        """Symbols for each quantity of a window; ``sizes`` overrides their lengths."""
        return {
            key: [
                ca.SX.sym(f"{key}{n}", sizes.get(key, self.layout.index[key].shape[1]))
                for n in range(len(entries))
            ]
            for key, entries in window.items()
        }

    def _samples_and_rows(
        self, builder: TimePointBuilder, symbols: Mapping[str, list[ca.SX]]
    ) -> tuple[list[TimeSample], list[Row]]:
        """Samples of a point, and its equations where phases do not share them."""
        if self.transcription.has_contact_forces:
            return self.transcription.samples(builder, symbols), []
        equations = self.transcription.equations(builder, symbols)
        return equations.samples, equations.rows

    def point_blocks(self) -> list[Block]:
        """Terms and, in a block of their own, constraints: equal terms are compiled once."""
        points = self.points
        builder, extra, shared = self.time_point_builder()
        symbols = self.symbols(points.windows[0])
        samples, equations = self._samples_and_rows(builder, symbols)
        data = builder.point_data(points.begin, points.width)
        costs = CostSums()
        for term in (t for t in self.phase.terms if t.when == "path"):
            for sample in samples:
                target = None
                if term.target is not None:
                    fractions = points.begin + sample.fraction * points.width
                    known = self.target_values(term, fractions)
                    target = ca.SX.sym("target", known.shape[1])
                    data.append((target, known))
                value = self.term_value(term, sample.time_point, target)
                costs.add(term, value, target, sample.weight * builder.step)
        rows = self.label_rows(equations)
        for sample in (s for s in samples if s.fraction < 1.0):
            rows.add_constraints(self.interval_constraints, sample.time_point, self.phase_label)
        z = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        windows = points.windows
        index = np.array([[*self.variable_index(at), *shared] for at in windows], dtype=int)
        labels = self.point_labels
        plain, inner = builder.point_data(points.begin, points.width), builder.substitutions
        return [
            self.assemble_block(z, data, costs, ConstraintRowList(), index, labels, inner),
            self.assemble_block(z, plain, CostSums(), rows, index, labels, inner),
        ]

    def interval_blocks(self) -> list[Block]:
        """Equations that couple the points of each interval."""
        count = self.phase.intervals
        windows = [self.interval_window(k) for k in range(count)]
        builder, extra, shared = self.time_point_builder()
        symbols = self.symbols(windows[0])
        rows = self.label_rows(self.transcription.interval_equations(builder, symbols))
        if not rows.rows:
            return []
        z = ca.vertcat(*(s for group in symbols.values() for s in group), *extra)
        index = np.array([[*self.variable_index(at), *shared] for at in windows], dtype=int)
        data = builder.point_data(np.arange(count) / count, np.full(count, 1 / count))
        labels = tuple(self.point_label(k + 0.5) for k in range(count))
        return [self.assemble_block(z, data, CostSums(), rows, index, labels)]

    def change_blocks(self) -> list[Block]:
        """Costs of rates of change between the samples of neighboring points."""
        terms = [term for term in self.phase.terms if term.when == "change"]
        points = self.points
        if not terms or len(points.windows) < 2:
            return []
        builder, extra, shared = self.time_point_builder()
        one, two = (self.symbols(points.windows[0]) for _ in range(2))
        gap, begin, width = (ca.SX.sym(name) for name in ("gap", "passed", "part"))
        costs = CostSums()
        next_builder = replace(builder, begin=begin, width=width, wrenches={})
        first, second = (
            self.transcription.samples(each, symbols)
            for each, symbols in ((builder, one), (next_builder, two))
        )
        interval = builder.duration * gap
        for term in terms:
            change = self.term_value(term, second[0].time_point, None) - self.term_value(
                term, first[0].time_point, None
            )
            costs.add(term, change / interval, None, interval)
        groups = [s for symbols in (one, two) for group in symbols.values() for s in group]
        z = ca.vertcat(*groups, *extra)
        index = np.array(
            [
                [*self.variable_index(a), *self.variable_index(b), *shared]
                for a, b in pairwise(points.windows)
            ]
        )
        begins, widths = points.begin, points.width
        data = [
            *builder.point_data(begins[:-1], widths[:-1]),
            (begin, begins[1:, None]),
            (width, widths[1:, None]),
            (gap, np.diff(begins)[:, None]),
            *next_builder.load_data(begins[1:], widths[1:]),
        ]
        middles = (points.nodes[1:] + points.nodes[:-1]) / 2
        labels = tuple(self.point_label(node) for node in middles)
        rows = ConstraintRowList()
        return [self.assemble_block(z, data, costs, rows, index, labels, builder.substitutions)]

    def equation_block(
        self,
        at: str,
        z: list[ca.SX],
        index: np.ndarray,
        rows: list[Row],
        bounded: ConstraintRowList | None = None,
    ) -> Block:
        """Equations at the boundary of a phase, and rows with bounds of their own."""
        label = (f"{self.phase_label}, {at}",)
        labeled = self.label_rows(rows)
        if bounded is not None:
            labeled = labeled + bounded
        return self.assemble_block(ca.vertcat(*z), [], CostSums(), labeled, index[None, :], label)

    def assemble_block(
        self,
        z: ca.SX,
        data: Sequence[SymbolData],
        costs: CostSums,
        rows: ConstraintRowList,
        index: np.ndarray,
        labels: tuple[str, ...],
        substitutions: Sequence[Substitution] = (),
    ) -> Block:
        """A block from symbols, their numbers and variables, costs and rows."""
        count = len(labels)
        none = ca.SX(0, 1)
        outputs = [
            ca.vertcat(none, *costs.by_term.values()),
            rows.values,
            ca.vertcat(none, *(expression for _, expression in substitutions)),
            ca.vertcat(none, *costs.residuals),
            costs.plain,
        ]
        # A variable that occurs twice in z becomes one symbol.
        _, first, inverse = np.unique(index[0], return_index=True, return_inverse=True)
        if len(first) < index.shape[1]:
            representative = first[inverse]
            outputs = ca.substitute(outputs, [z], [z[representative.tolist()]])
            order = np.sort(first)
            z, index = z[order.tolist()], index[:, order]
        inner = ca.vertcat(none, *(symbol for symbol, _ in substitutions))
        # Unused symbols are left out: blocks with equal expressions are then identical.
        needed = _dependencies([*outputs[:2], *outputs[3:]], inner)
        inner, outputs[2] = inner[needed], outputs[2][needed]
        used = _dependencies(outputs, z) or [0]
        z, index = z[used], index[:, used]
        bounds = [np.tile(np.array(side, dtype=float), (count, 1)) for side in rows.bounds]
        cost, row, outer, residuals, plain = (ca.densify(part) for part in outputs)
        return Block(
            self.phase.name,
            z,
            ca.vertcat(none, *(symbol for symbol, _ in data)),
            cost,
            row,
            tuple(costs.by_term),
            rows.names,
            index,
            np.concatenate([np.zeros((count, 0)), *(known for _, known in data)], axis=1),
            bounds[0],
            bounds[1],
            labels,
            inner,
            outer,
            residuals,
            plain,
        )

    def target_values(self, term: ObjectiveTerm, fractions: np.ndarray) -> np.ndarray:
        """Target of a term at fractions of the phase; refuses values that are not finite."""
        assert term.target is not None
        values = evaluate_series(term.target, fractions)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            raise HomodynError(
                f"phase {self.phase.name!r}, term {term.name!r}: the target is "
                f"{values[tuple(bad[0])]} in column {bad[0][1]} at {fractions[bad[0][0]]:.0%} of "
                "the phase; targets must be finite everywhere"
            )
        return values

    def term_value(self, term: ObjectiveTerm, time_point: TimePoint, target: Array | None) -> Array:
        """Value of a term; it must have as many entries as its target."""
        with explain_branches(f"phase {self.phase.name!r}: objective term {term.name!r}"):
            value = ca.SX(term.value(time_point))
        if target is not None and target.shape[0] != value.shape[0]:
            raise HomodynError(
                f"phase {self.phase.name!r}, term {term.name!r}: the target has "
                f"{target.shape[0]} columns for {value.shape[0]} values"
            )
        return value

    def label_rows(self, equations: Sequence[Row]) -> ConstraintRowList:
        """Equations entry by entry, labeled by coordinate or contact row."""
        rows = ConstraintRowList()
        for name, value in equations:
            column = ca.SX(value)
            rows.add(name, column, 0.0, 0.0, self._entry_labels(name, column.shape[0]))
        return rows

    @property
    def phase_label(self) -> str:
        """The phase by name."""
        return f"phase {self.phase.name!r}"

    def _entry_labels(self, name: str, size: int) -> tuple[str, ...]:
        if name == "contact":
            names = row_names(self.phase.contacts)
            return tuple(names[k] for k in self.independent_rows)
        muscles = self.layout.muscles
        if muscles is not None and ("activation" in name or "tendon" in name):
            return muscles.variable_names(
                self.model, ACTIVATION if "activation" in name else TENDON_FORCE
            )
        quantity = "q" if " q" in f" {name}" and size == self.model.nq else "v"
        labels = entry_names(self.model, self.phase.contacts, quantity)
        return labels if len(labels) == size else ()

    def point_label(self, node: float) -> str:
        """Label of a node, or of a point between nodes, with its time in the guessed phase."""
        intervals = self.phase.intervals
        at = self.phase.duration_guess * node / intervals
        return f"{self.phase_label}, node {node:.4g} of {intervals} ({at:.3f} {GUESSED_TIME})"


def bounded_rows(
    name: str, value: ca.SX, lower: Any, upper: Any, labels: Sequence[str]
) -> ConstraintRowList:
    """Rows of a single value with bounds."""
    rows = ConstraintRowList()
    rows.add(name, value, lower, upper, labels)
    return rows


def _dependencies(values: Sequence[ca.SX], symbols: ca.SX) -> list[int]:
    """Indices of the symbols that expressions depend on."""
    pattern = ca.jacobian_sparsity(ca.vertcat(*values), symbols)
    return sorted(set(pattern.get_col()))
