"""Costs and constraints at the ends of intervals: boundaries of a phase and interior nodes.

States are decision variables there. Controls need not be: the controls of the interval are carried
on to its end as the transcription defines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from homodyn.optimal.statement.muscle_drive import MUSCLE_CONTROLS
from homodyn.optimal.statement.path_constraints import PathConstraint
from homodyn.optimal.statement.time_point import TimePoint
from homodyn.optimal.transcription.block import Block
from homodyn.optimal.transcription.constraint_rows import ConstraintRowList
from homodyn.optimal.transcription.contact_dynamics import constrained_dynamics
from homodyn.optimal.transcription.costs import CostSums
from homodyn.optimal.transcription.muscle_symbols import (
    muscle_variables,
    window_with_muscles,
)
from homodyn.optimal.transcription.phase_transcriber import PhaseTranscriber
from homodyn.optimal.transcription.time_point_builder import SymbolData

CONTROLS = ("a", "force", "tau")
ALL_CONTROLS = (*CONTROLS, *MUSCLE_CONTROLS)


@dataclass(frozen=True, eq=False)
class BoundaryPoint:
    """The first or last time point of a phase, its symbols and their indices.

    Attributes:
        time_point: The time point.
        symbols: All symbols.
        controls: The symbols that are controls.
        index: Decision variables of the symbols.
        data: Symbols for numbers, with their values.
    """

    time_point: TimePoint
    symbols: ca.SX
    controls: ca.SX
    index: np.ndarray
    data: list[SymbolData]


def phase_blocks(transcriber: PhaseTranscriber) -> list[Block]:
    """All blocks of a phase but its equations of motion where phases share them."""
    return [
        *transcriber.point_blocks(),
        *transcriber.interval_blocks(),
        *node_blocks(transcriber),
        boundary_block(transcriber, "start"),
        boundary_block(transcriber, "end"),
        *transcriber.change_blocks(),
        *interior_node_blocks(transcriber),
    ]


def boundary_point(transcriber: PhaseTranscriber, at: str) -> BoundaryPoint:
    """The time point at the ``"start"`` or the ``"end"``."""
    builder, extra, shared = transcriber.time_point_builder()
    n = 0 if at == "start" else -1
    weights = transcriber.transcription.boundary_weights(float(at == "end"))
    keys = [k for k in ("q", "v", *CONTROLS) if k in transcriber.layout.index]
    window: dict[str, Sequence[int]] = {k: [n] for k in keys}
    for k in CONTROLS:
        if k in window and len(weights) > 1:
            known = range(len(transcriber.layout.index[k]))
            window[k] = list(known[: len(weights)] if n == 0 else known[-len(weights) :])
    window = window_with_muscles(window, transcriber.layout.index)
    symbols = transcriber.symbols(window)
    muscles = muscle_variables(symbols, (1.0,), weights.tolist())
    controls = {k: _weighted_sum(symbols[k], weights) for k in CONTROLS if k in window}
    q, v, tau = symbols["q"][0], symbols["v"][0], controls["tau"]
    if "a" in controls:
        a, force = controls["a"], controls["force"]
    else:
        drive = builder.expand_torques(tau) + builder.generalized_load(q, v, 0.0)
        acting = builder.muscle_point(q, v, muscles)
        drive = drive if acting is None else drive + acting.torque
        a, force = constrained_dynamics(transcriber.model, transcriber.phase, q, v, drive)
    elapsed = ca.SX(0) if n == 0 else builder.duration
    time_point = replace(builder(q, v, a, tau, force, 0.0, muscles), elapsed=elapsed)
    index = np.array([*transcriber.variable_index(window), *shared], dtype=int)
    width = np.array([1 / transcriber.phase.intervals])
    data = builder.point_data(np.array([0.0 if n == 0 else 1.0]), width)
    control_symbols = ca.vertcat(*(s for k in ALL_CONTROLS for s in symbols.get(k, ())))
    all_symbols = ca.vertcat(*_flatten(symbols), *extra)
    return BoundaryPoint(time_point, all_symbols, control_symbols, index, data)


def boundary_block(transcriber: PhaseTranscriber, at: str) -> Block:
    """Terms and constraints at the start or the end of a phase."""
    point, phase = boundary_point(transcriber, at), transcriber.phase
    costs, rows = CostSums(), ConstraintRowList()
    for term in (t for t in phase.terms if t.when == at):
        target = None
        if term.target is not None:
            target = transcriber.target_values(term, np.array([0.0 if at == "start" else 1.0]))[0]
        costs.add(term, transcriber.term_value(term, point.time_point, target), target)
    chosen = [c for c in phase.constraints if c.when == at]
    if at == "end" and transcriber.transcription.samples_at_nodes:
        chosen += [c for c in phase.constraints if c.when == "path"]
    rows.add_constraints(chosen, point.time_point, transcriber.phase_label)
    rows += _carried_inequalities(transcriber, point)
    label = (transcriber.point_label(0 if at == "start" else phase.intervals),)
    index = point.index[None, :]
    return transcriber.assemble_block(point.symbols, point.data, costs, rows, index, label)


def _carried_inequalities(transcriber: PhaseTranscriber, point: BoundaryPoint) -> ConstraintRowList:
    """Path inequalities that depend on controls, where these are carried on to the boundaries."""
    rows = ConstraintRowList()
    if len(transcriber.transcription.boundary_weights(0.0)) > 1:
        chosen = [c for c in _inequalities(transcriber) if c.when == "path"]
        rows.add_constraints(chosen, point.time_point, transcriber.phase_label)
    return rows.depending_on(point.controls)


def _inequalities(transcriber: PhaseTranscriber) -> list[PathConstraint]:
    constraints = transcriber.interval_constraints
    return [c for c in constraints if not np.array_equal(c.lower, c.upper)]


def node_blocks(transcriber: PhaseTranscriber) -> list[Block]:
    """Inequalities at interior nodes, where controls are polynomials beyond their points.

    Controls may jump at nodes, so rows that depend on them are required from both sides.
    """
    count = transcriber.phase.intervals
    weights = transcriber.transcription.boundary_weights
    many = len(weights(0.0))
    chosen = _inequalities(transcriber)
    if many == 1 or count == 1 or not chosen:
        return []
    builder, extra, shared = transcriber.time_point_builder()

    def expand(keys: Sequence[str], entries: Sequence[int]) -> dict[str, Sequence[int]]:
        return window_with_muscles(dict.fromkeys(keys, entries), transcriber.layout.index)

    state = transcriber.symbols(expand(("q", "v"), [0]))
    before, after = (transcriber.symbols(expand(CONTROLS, range(many))) for _ in range(2))
    sides = []
    for side, at in ((after, 0.0), (before, 1.0)):
        a, force, tau = (_weighted_sum(side[key], weights(at)) for key in CONTROLS)
        rows = ConstraintRowList()
        muscles = muscle_variables({**state, **side}, (1.0,), weights(at).tolist())
        time_point = builder(state["q"][0], state["v"][0], a, tau, force, 0.0, muscles)
        rows.add_constraints(chosen, time_point, transcriber.phase_label)
        sides.append(rows)
    rows = sides[0] + sides[1].depending_on(ca.vertcat(*_flatten(before)))
    z = ca.vertcat(*_flatten(state), *_flatten(before), *_flatten(after), *extra)
    index = [
        [
            *transcriber.variable_index(expand(("q", "v"), [k])),
            *transcriber.variable_index(expand(CONTROLS, range(many * (k - 1), many * k))),
            *transcriber.variable_index(expand(CONTROLS, range(many * k, many * (k + 1)))),
            *shared,
        ]
        for k in range(1, count)
    ]
    data = builder.point_data(np.arange(1, count) / count, np.full(count - 1, 1 / count))
    labels = tuple(transcriber.point_label(k) for k in range(1, count))
    indices = np.array(index, dtype=int)
    return [transcriber.assemble_block(z, data, CostSums(), rows, indices, labels)]


def interior_node_blocks(transcriber: PhaseTranscriber) -> list[Block]:
    """Constraints strictly inside a phase, at its interior nodes where samples lie on nodes."""
    count = transcriber.phase.intervals
    chosen = [c for c in transcriber.phase.constraints if c.when == "inside"]
    if not transcriber.transcription.samples_at_nodes or not chosen or count == 1:
        return []
    builder, extra, shared = transcriber.time_point_builder()
    layout = transcriber.layout
    keys = tuple(window_with_muscles({key: [0] for key in ("q", "v", "tau")}, layout.index))
    symbols = {k: ca.SX.sym(k, layout.index[k].shape[1]) for k in keys}
    q, v, tau = (symbols[k] for k in ("q", "v", "tau"))
    muscles = muscle_variables({k: [x] for k, x in symbols.items()}, (1.0,), (1.0,))
    drive = builder.expand_torques(tau) + builder.generalized_load(q, v, 0.0)
    acting = builder.muscle_point(q, v, muscles)
    drive = drive if acting is None else drive + acting.torque
    a, force = constrained_dynamics(transcriber.model, transcriber.phase, q, v, drive)
    rows = ConstraintRowList()
    point = builder(q, v, a, tau, force, 0.0, muscles)
    rows.add_constraints(chosen, point, transcriber.phase_label)
    nodes = range(1, count)
    index = [np.concatenate([*(layout.index[k][n] for k in keys), shared]) for n in nodes]
    block = transcriber.assemble_block(
        ca.vertcat(*symbols.values(), *extra),
        builder.point_data(np.arange(1, count) / count, np.full(count - 1, 1 / count)),
        CostSums(),
        rows,
        np.array(index, dtype=int),
        tuple(transcriber.point_label(n) for n in nodes),
    )
    return [block]


def _flatten(symbols: dict[str, list[ca.SX]]) -> list[ca.SX]:
    return [symbol for group in symbols.values() for symbol in group]


def _weighted_sum(parts: Sequence[ca.SX], weights: np.ndarray) -> ca.SX:
    """A weighted sum; a single part is returned unchanged."""
    if len(parts) == 1:
        return parts[0]
    return sum((w * part for w, part in zip(weights, parts, strict=True)), ca.SX(0))
