"""The order of variables and rows in which a problem separates into stages, if there is one.

Stage k has states x(k) and controls u(k). Rows belong to one stage, or close the gap to the next:
x(k + 1) - F(x(k), u(k)) = 0. A solver that exploits this factors one small matrix per stage
(Vanroye et al. 2023, FATROP). Free durations, parameters, periodicity, rates of change and impacts
couple time points that are not adjacent. Then there is no such order, and `order_by_stages` returns
the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from homodyn.optimal.nlp.nonlinear_program import NonlinearProgram
from homodyn.optimal.nlp.transcribed_problem import TranscribedProblem


@dataclass(frozen=True, eq=False)
class StageOrder:
    """A program whose variables and rows are sorted by stages."""

    program: NonlinearProgram
    """With gap-closing rows scaled so that the next state has the factor one."""
    variables: np.ndarray
    """Indices of the variables in the order of stages: x0, u0, x1, u1, ..."""
    rows: np.ndarray
    """Indices of the rows: for each stage those that close its gap, then its path rows."""
    states: list[int]
    controls: list[int]
    path_rows: list[int]
    """Rows of each stage that close no gap."""
    unit_entries: np.ndarray
    """Entries of the Jacobian that are one: those of the next states."""


def order_by_stages(transcribed: TranscribedProblem, program: NonlinearProgram) -> StageOrder | str:
    """The problem by stages, or the reason why there is no such order."""
    if transcribed.muscles is not None:
        return "the steps of activations are implicit"
    stage, state = _stages(transcribed)
    if (stage < 0).any():
        name = transcribed.names[int(np.flatnonzero(stage < 0)[0])]
        return f"{name} belongs to no single time point"
    rows, columns = program.jacobian_entries
    first, last = (np.full(program.rows, fill) for fill in (stage.max() + 1, -1))
    np.minimum.at(first, rows, stage[columns])
    np.maximum.at(last, rows, stage[columns])
    first = np.where(last < 0, 0, first)
    last = np.maximum(last, first)
    for row in np.flatnonzero(last - first > 1):
        return f"{' '.join(program.row_label(int(row)))} couples distant time points"
    upper_rows, upper_columns, _ = program.hessian_sums
    coupled = np.flatnonzero(stage[upper_rows] != stage[upper_columns])
    if len(coupled):
        one, two = (transcribed.names[int(k[coupled[0]])] for k in (upper_rows, upper_columns))
        return f"the objective couples {one} with {two}"
    gaps = last > first
    follows = gaps[rows] & (stage[columns] == last[rows])
    per_row = np.bincount(rows[follows], minlength=program.rows)
    wrong = np.flatnonzero(gaps & (per_row != 1))
    if len(wrong) or not state[columns[follows]].all():
        first_wrong = int(wrong[0]) if len(wrong) else int(rows[follows][0])
        return f"{' '.join(program.row_label(first_wrong))} is not a step to the next time point"
    target = np.full(program.rows, -1)
    target[rows[follows]] = columns[follows]
    if len(np.unique(target[gaps])) != gaps.sum() or gaps.sum() != (state & (stage > 0)).sum():
        return "some states follow from no state before, or from two"
    _, entries = program.first_derivatives(transcribed.guess)
    scale = program.row_scale.copy()
    scale[rows[follows]] = 1 / (entries[follows] * program.scale[columns[follows]])
    count = int(stage.max()) + 1
    order = np.lexsort((np.arange(len(stage)), ~state, stage))
    row_order = np.lexsort((np.where(gaps, target, np.arange(program.rows)), ~gaps, first))
    return StageOrder(
        NonlinearProgram(program.blocks, program.size, program.scale, scale, program.hessian),
        order,
        row_order,
        np.bincount(stage[state], minlength=count).tolist(),
        np.bincount(stage[~state], minlength=count).tolist(),
        np.bincount(first[~gaps], minlength=count).tolist(),
        np.flatnonzero(follows),
    )


def _stages(transcribed: TranscribedProblem) -> tuple[np.ndarray, np.ndarray]:
    """The stage of each variable (-1 for none), and whether it is a state."""
    stage = np.full(len(transcribed.names), -1)
    state = np.zeros(len(transcribed.names), dtype=bool)
    begin = 0
    for layout in transcribed.layouts:
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
            # A fixed duration is in no row; it may be in any stage.
            stage[layout.duration] = begin + count
        begin += count + 1
    return stage, state
