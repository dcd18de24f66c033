"""The order of unknowns and rows in which a problem falls into stages, if it does.

Stage k has states x(k) and controls u(k). Rows belong to one stage, or close the gap to the next:
x(k + 1) - F(x(k), u(k)) = 0. A solver that knows this factors one small matrix a stage (Vanroye et
al. 2023, FATROP). What couples more than neighbours (free durations, parameters, periodicity, rates
of change, impacts) leaves no such order; `arranged` then tells what it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.optimal.build import Built
from homodyn.optimal.program import Program


@dataclass(frozen=True, eq=False)
class Stages:
    """A program whose unknowns and rows are sorted by stages."""

    program: Program
    """With gap-closing rows scaled so that the next state has the factor one."""
    unknowns: np.ndarray
    """Places of the unknowns in the order of stages: x0, u0, x1, u1, ..."""
    rows: np.ndarray
    """Places of the rows: for each stage those that close its gap, then its own."""
    states: list[int]
    controls: list[int]
    own: list[int]
    """Rows of each stage that close no gap."""
    ones: np.ndarray
    """Entries of the Jacobian that are one: those of the next states."""


def arranged(built: Built, program: Program) -> Stages | str:
    """The problem by stages, or what stands against it."""
    stage, state = _stages(built)
    if (stage < 0).any():
        name = built.names[int(np.flatnonzero(stage < 0)[0])]
        return f"{name} belongs to no single instant"
    rows, columns = program.jacobian_places
    first, last = (np.full(program.rows, fill) for fill in (stage.max() + 1, -1))
    np.minimum.at(first, rows, stage[columns])
    np.maximum.at(last, rows, stage[columns])
    first = np.where(last < 0, 0, first)
    last = np.maximum(last, first)
    for row in np.flatnonzero(last - first > 1):
        return f"{' '.join(program.row_name(int(row)))} couples distant instants"
    upper_rows, upper_columns, _ = program.hessian_sums
    apart = np.flatnonzero(stage[upper_rows] != stage[upper_columns])
    if len(apart):
        one, two = (built.names[int(k[apart[0]])] for k in (upper_rows, upper_columns))
        return f"the objective couples {one} with {two}"
    gaps = last > first
    follows = gaps[rows] & (stage[columns] == last[rows])
    per_row = np.bincount(rows[follows], minlength=program.rows)
    wrong = np.flatnonzero(gaps & (per_row != 1))
    if len(wrong) or not state[columns[follows]].all():
        odd = int(wrong[0]) if len(wrong) else int(rows[follows][0])
        return f"{' '.join(program.row_name(odd))} is no step to the next instant"
    target = np.full(program.rows, -1)
    target[rows[follows]] = columns[follows]
    if len(np.unique(target[gaps])) != gaps.sum() or gaps.sum() != (state & (stage > 0)).sum():
        return "some states follow from none before, or from two"
    _, entries = program.slopes(built.guess)
    scale = program.row_scale.copy()
    scale[rows[follows]] = 1 / (entries[follows] * program.scale[columns[follows]])
    count = int(stage.max()) + 1
    order = np.lexsort((np.arange(len(stage)), ~state, stage))
    row_order = np.lexsort((np.where(gaps, target, np.arange(program.rows)), ~gaps, first))
    return Stages(
        Program(program.blocks, program.size, program.scale, scale, program.hessian),
        order,
        row_order,
        np.bincount(stage[state], minlength=count).tolist(),
        np.bincount(stage[~state], minlength=count).tolist(),
        np.bincount(first[~gaps], minlength=count).tolist(),
        np.flatnonzero(follows),
    )


def _stages(built: Built) -> tuple[np.ndarray, np.ndarray]:
    """The stage of each unknown (-1 for none), and whether it is a state of it."""
    stage = np.full(len(built.names), -1)
    state = np.zeros(len(built.names), dtype=bool)
    begin = 0
    for layout in built.layouts:
        index, count = layout.index, layout.phase.intervals
        if {"q", "v", "a", "force", "tau"} != set(index):
            continue
        for key in ("q", "v"):
            stage[index[key]] = begin + np.arange(count + 1)[:, None]
            state[index[key]] = True
        for key in ("a", "force", "tau"):
            stage[index[key]] = begin + np.arange(count)[:, None]
        low, high = layout.phase.duration_bounds
        if low == high:
            # A duration that is known stands in no row; it may be anywhere.
            stage[layout.duration] = begin + count
        begin += count + 1
    return stage, state
