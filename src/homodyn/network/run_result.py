"""The result of a run from the rows that it recorded."""

from __future__ import annotations

import numpy as np

from homodyn.errors import NetworkError
from homodyn.network.result import TERMINATE, LazyValues, NetworkResult, StateTransition
from homodyn.network.step_kernels import StepKernels

MAX_LISTED_VARIABLES = 6
"""Variables that are named when a run diverges."""


def run_result(
    kernels: StepKernels,
    rows: np.ndarray,
    delays: np.ndarray | None,
    p: np.ndarray,
    time_grid: np.ndarray,
    compiled: bool,
) -> NetworkResult:
    """The result of a run.

    Args:
        kernels: Kernels of the network.
        rows: (rows, size), the column after every attempt that was recorded.
        delays: (rows, delayed), delayed values; None for a network without any.
        p: Parameters.
        time_grid: Start time (s), time step (s) and number of steps.
        compiled: Whether native code was used.

    Returns:
        The result.

    Raises:
        NetworkError: The run diverged.
    """
    slices = kernels.slices
    if not np.all(np.isfinite(rows[-1])):
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        last = time_grid[0] + time_grid[1] * rows[max(bad - 1, 0)][slices["k"]][0]
        names = not_finite_names(kernels, rows[bad])
        raise NetworkError(
            f"the run diverges after {last:g} s: {names} not finite; "
            "a smaller time step or another method may help"
        )
    time = time_grid[0] + time_grid[1] * rows[:, slices["k"]][:, 0] + rows[:, slices["s"]][:, 0]
    is_row = _time_rows(rows[:, slices["row"]][:, 0] != 0, time)
    # Without events, all entries are rows and are not copied.
    chosen = slice(None) if is_row.all() else is_row
    kept = rows[chosen]
    t = time[chosen]
    delayed = np.zeros(kernels.delayed_count) if delays is None else delays[chosen]
    states = {}
    for place, node in enumerate(kernels.system.nodes_with_states):
        numbers = kept[:, slices["e"]][:, place].astype(int)
        states[node.path] = np.array(node.states)[numbers]

    def compute(name: str) -> np.ndarray:
        variable = kernels.system.variables[name]
        return np.asarray(kernels.observe(variable)(kept, p, t, delayed))

    return NetworkResult(
        t,
        _transitions(kernels, rows, time),
        LazyValues(kernels.system.variables, compute),
        states,
        "compiled" if compiled else "interpreted",
        dict(kernels.system.bodies),
    )


def _time_rows(completed: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Which recorded entries are rows of the result: completed steps, and the first entry."""
    is_row = completed.copy()
    is_row[0] = True
    # An event that ends the run exactly at the end of a step replaces the row of that step.
    last = np.flatnonzero(is_row)[-2:]
    if len(last) == 2 and time[last[0]] == time[last[1]]:
        is_row[last[0]] = False
    return is_row


def _transitions(
    kernels: StepKernels, rows: np.ndarray, time: np.ndarray
) -> tuple[StateTransition, ...]:
    """Events of a run, in order."""
    fired = rows[:, kernels.slices["fired"]] != 0
    # Events of the first entry belong to the previous part of an incremental run.
    fired[0] = False
    transitions = []
    for row, number in np.argwhere(fired):
        monitored = kernels.events[number]
        target = monitored.event.to_state
        state = TERMINATE if target is None else target
        transitions.append(StateTransition(float(time[row]), monitored.node.path, state))
    return tuple(transitions)


def not_finite_names(kernels: StepKernels, state: np.ndarray) -> str:
    """Names of the variables that are not finite.

    Args:
        kernels: Kernels of the network.
        state: A column of a run.

    Returns:
        The names as text.
    """
    system = kernels.system
    names = []
    for table, variables in (("x", system.states), ("h", system.discrete)):
        values = state[kernels.slices[table]]
        for variable in variables:
            begin, shape = system.slot(variable, table)
            if not np.all(np.isfinite(values[begin : begin + shape[0] * shape[1]])):
                names.append(variable.path)
    return ", ".join(names[:MAX_LISTED_VARIABLES]) or "values"
