"""Evaluation of candidates by a network: parameters are its variables, objectives are formulas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import HomodynError, SearchError
from homodyn.foundation import Record, record, unknown_name
from homodyn.network import Network, load
from homodyn.search.expression import Expression
from homodyn.search.goal import Goal
from homodyn.search.space import Space

DURATION_SETTINGS = ("duration", "max-time")
"""Names of the setting with the end of a run (s); the second one is that of XML jobs."""
STEP_SETTINGS = ("dt", "timestep")
"""Names of the setting with the time step (s); that of the network by default."""
END_TIME = "t_end"
"""Name of the end time of a run (s) in formulas."""


@record
class NetworkRuns(Record):
    """Which network a job runs, for how long, and the formulas of the objectives."""

    path: Path
    """The network (.cdn)."""
    formulas: Mapping[str, str] = field(default_factory=dict)
    """Formulas of variables of the network at the end of a run, by name of the objective."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """``duration`` (or ``max-time``) and ``dt`` of a run (s)."""


class NetworkEvaluation:
    """Simulates a batch of candidates as one sweep of a network and computes their objectives.

    Args:
        runs: The network, its end time and the formulas.
        space: Parameters; their names are dotted names of variables of the network.
        goal: Objectives; one without a formula is itself a variable of the network.

    Raises:
        SearchError: The network cannot be read, a formula is wrong or is that of no objective, or
            the end of the runs is missing.
    """

    def __init__(self, runs: NetworkRuns, space: Space, goal: Goal) -> None:
        try:
            self.network: Network = load(runs.path)
        except HomodynError as error:
            raise SearchError(f"network of the job: {error}") from None
        self.space, self.goal = space, goal
        self.duration = _number(runs.settings, DURATION_SETTINGS)
        self.dt = _number(runs.settings, STEP_SETTINGS, 0.0) or None
        unknown = [name for name in runs.formulas if name not in goal.names]
        if unknown:
            raise SearchError(unknown_name("objective of a formula", unknown[0], goal.names))
        self.formulas = {
            name: Expression(str(runs.formulas.get(name, name))) for name in goal.names
        }

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Objectives of candidates.

        Args:
            values: (candidates, parameters).

        Returns:
            (candidates, objectives); NaN where the run diverged.

        Raises:
            SearchError: A formula uses a name that the network lacks.
        """
        columns = {name: values[:, k] for k, name in enumerate(self.space.names)}
        try:
            sweep = self.network.sweep(columns, self.duration, self.dt, grid=False)
        except HomodynError as error:
            raise SearchError(f"network of the job: {error}") from None
        found = np.empty((len(values), len(self.goal.names)))
        for k, name in enumerate(self.goal.names):
            formula = self.formulas[name]
            known = {
                one: sweep.time if one == END_TIME else self._final(sweep, one)
                for one in formula.variables
            }
            found[:, k] = np.broadcast_to(formula(known), len(values))
        found[sweep.diverged] = np.nan
        return found

    def _final(self, sweep: Any, name: str) -> np.ndarray:
        """The value of a variable at the end of every run."""
        if name not in sweep.values:
            raise SearchError(
                f"the network has no variable {name!r}; formulas of objectives use variables "
                f"of the network and {END_TIME}"
            )
        return np.asarray(sweep[name], dtype=float).reshape(len(sweep.time), -1)[:, 0]


def _number(
    settings: Mapping[str, Any], names: tuple[str, ...], default: float | None = None
) -> float:
    """The first of these settings."""
    for name in names:
        if name in settings:
            try:
                return float(settings[name])
            except (TypeError, ValueError):
                raise SearchError(f"setting {name!r} is {settings[name]!r}, no number") from None
    if default is None:
        raise SearchError(
            f"a network needs the setting duration: the end of its runs (s); got {sorted(settings)}"
        )
    return default
