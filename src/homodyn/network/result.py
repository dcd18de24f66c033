"""Results of runs and sweeps of a network: every variable by its dotted name, and the events."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.errors import NetworkError
from homodyn.foundation import Record, count_of, record
from homodyn.foundation.text import unknown_name
from homodyn.foundation.time_series import MAX_PLOTTED_COLUMNS, require_pandas
from homodyn.model import Model
from homodyn.motion import Motion
from homodyn.network.body_motion import body_motion

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes as PlotAxes

TERMINATE = "terminate"
"""Name of the event-state of a run that an event ended."""


class LazyValues(Mapping[str, np.ndarray]):
    """Values of variables by name, each computed when it is first used; the arrays are read-only.

    Args:
        names: Names of the variables; a collection that finds a name at once, such as a mapping.
        compute: Returns the values of a variable.
    """

    def __init__(self, names: Collection[str], compute: Callable[[str], np.ndarray]) -> None:
        self._names = names
        self._compute = compute
        self._computed: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._computed:
            if name not in self._names:
                raise KeyError(name)
            values = np.asarray(self._compute(name)).view()
            values.flags.writeable = False
            self._computed[name] = values
        return self._computed[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@record(eq=True)
class StateTransition(Record):
    """An event that occurred in a run."""

    time: float
    """When it occurred (s)."""
    node: str
    """Dotted name of its node."""
    state: str
    """The event-state that the node entered; ``"terminate"`` if the event ended the run."""

    def headline(self) -> str:
        """Time, node and event-state."""
        return f"StateTransition: {self.node or 'network'} to {self.state!r} at {self.time:g} s"


@record
class NetworkResult(Record):
    """Result of a run: one row per time step, every variable by its dotted name.

    ``result["slip.y"]`` has the shape (rows,); vectors and matrices have further axes.
    """

    t: np.ndarray
    """(rows,), time (s)."""
    events: tuple[StateTransition, ...]
    """Events that occurred, in order."""
    values: Mapping[str, np.ndarray]
    """Values (rows, ...) by dotted name, computed when they are used."""
    states: Mapping[str, np.ndarray]
    """(rows,), the event-state of every node that has event-states."""
    tier: str
    """``"compiled"`` or ``"interpreted"``."""
    bodies: Mapping[str, Model] = field(default_factory=dict)
    """Models of the nodes that are bodies, by dotted name."""

    @property
    def names(self) -> tuple[str, ...]:
        """Dotted names of all variables."""
        return tuple(self.values)

    def __getitem__(self, name: str) -> np.ndarray:
        """The values of a variable, or the time for ``"t"``.

        Raises:
            NetworkError: There is no such variable.
        """
        if name == "t":
            return self.t
        if name not in self.values:
            raise NetworkError(unknown_name("variable", name, [*self.names, "t"]))
        return self.values[name]

    def __contains__(self, name: str) -> bool:
        return name in self.values or name == "t"

    def __len__(self) -> int:
        return len(self.t)

    def motion(self, body: str) -> Motion:
        """The movement of a body of the network.

        Args:
            body: Dotted name of its node.

        Returns:
            Positions, velocities, accelerations, the torques that act on its coordinates, and the
            forces that act on its segments and contacts.

        Raises:
            NetworkError: The network has no such body.
        """
        if body not in self.bodies:
            raise NetworkError(unknown_name("body", body, self.bodies))
        return body_motion(self.bodies[body], self.t, lambda key: self[f"{body}.{key}"], body)

    @property
    def terminated(self) -> bool:
        """Whether an event ended the run."""
        return bool(self.events) and self.events[-1].state == TERMINATE

    def headline(self) -> str:
        """Time span, and numbers of rows, variables and events."""
        span = f"t = {self.t[0]:g} to {self.t[-1]:g} s in {count_of(len(self.t), 'row')}"
        variables = count_of(len(self.values), "variable")
        return f"NetworkResult: {span}, {variables}, {count_of(len(self.events), 'event')}"

    def __repr__(self) -> str:
        """The headline; the variables are not computed for it."""
        return self.headline()

    def to_pandas(self, *names: str) -> pd.DataFrame:
        """Variables as a data frame over time (s); entries of vectors and matrices are numbered.

        Args:
            names: Dotted names of the variables; all of them when left out.

        Returns:
            The data frame.

        Raises:
            HomodynError: pandas is not installed.
            NetworkError: There is no such variable.
        """
        pandas = require_pandas()
        columns: dict[str, np.ndarray] = {}
        for name in names or self.names:
            columns.update(scalar_columns(name, self[name]))
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="time (s)"))

    def plot(self, *names: str, ax: PlotAxes | None = None, **style: Any) -> PlotAxes:
        """Plot variables over time.

        Args:
            names: Dotted names of the variables; when left out, the first 12 that vary.
            ax: Matplotlib axes to draw into; new ones when left out.
            style: Passed on to ``ax.plot``.

        Returns:
            The axes.

        Raises:
            NetworkError: There is no such variable.
        """
        import matplotlib.pyplot as plt

        columns: dict[str, np.ndarray] = {}
        for name in names or self.names:
            columns.update(scalar_columns(name, self[name]))
        if not names:
            varying = [name for name, column in columns.items() if np.ptp(column) > 0]
            columns = {name: columns[name] for name in varying[:MAX_PLOTTED_COLUMNS]}
        axes = ax if ax is not None else plt.subplots()[1]
        for name, column in columns.items():
            axes.plot(self.t, column, **{"label": name, **style})
        axes.set_xlabel("time (s)")
        if columns:
            axes.legend()
        return axes


@record
class SweepResult(Record):
    """Final values of many runs: ``sweep["slip.steps"]`` has one value per set of parameters."""

    shape: tuple[int, ...]
    """One axis per parameter, or a single axis for values in step."""
    parameters: dict[str, np.ndarray]
    """Values of the parameters along the axes."""
    time: np.ndarray
    """(*shape), end time of each run (s)."""
    diverged: np.ndarray
    """(*shape), runs whose values are not finite."""
    values: Mapping[str, np.ndarray]
    """Final values (runs, ...) by dotted name, computed when they are used."""
    tier: str
    """``"compiled"`` or ``"interpreted"``."""
    bodies: Mapping[str, Model] = field(default_factory=dict)
    """Models of the nodes that are bodies, by dotted name."""

    @property
    def names(self) -> tuple[str, ...]:
        """Dotted names of all variables."""
        return tuple(self.values)

    def __getitem__(self, name: str) -> np.ndarray:
        """Final values (*shape, ...) of a variable.

        Raises:
            NetworkError: There is no such variable.
        """
        if name not in self.values:
            raise NetworkError(unknown_name("variable", name, self.names))
        values = self.values[name]
        return values.reshape(self.shape + values.shape[1:])

    def headline(self) -> str:
        """Number of runs, parameters and diverged runs."""
        shape = " x ".join(map(str, self.shape))
        text = f"SweepResult: {shape} runs over {', '.join(self.parameters)}"
        count = int(self.diverged.sum())
        return f"{text}, {count} diverged" if count else text

    def __repr__(self) -> str:
        """The headline; the variables are not computed for it."""
        return self.headline()

    def parameter_values(self) -> dict[str, np.ndarray]:
        """The parameters of every run.

        Returns:
            (*shape) by name of the parameter.
        """
        if len(self.shape) != len(self.parameters):
            return dict(self.parameters)
        grids = np.meshgrid(*self.parameters.values(), indexing="ij")
        return dict(zip(self.parameters, grids, strict=True))

    def to_pandas(self, *names: str) -> pd.DataFrame:
        """One row per run: parameters, end time, whether it diverged, and final values.

        Args:
            names: Dotted names of the variables; all of them when left out.

        Returns:
            The data frame.

        Raises:
            HomodynError: pandas is not installed.
            NetworkError: There is no such variable.
        """
        pandas = require_pandas()
        columns = {name: grid.ravel() for name, grid in self.parameter_values().items()}
        columns |= {"time (s)": self.time.ravel(), "diverged": self.diverged.ravel()}
        for name in names or [name for name in self.names if name not in self.parameters]:
            values = self[name]
            flat = values.reshape(-1, *values.shape[len(self.shape) :])
            columns.update(scalar_columns(name, flat))
        return pandas.DataFrame(columns)

    def plot(self, name: str, ax: PlotAxes | None = None, **style: Any) -> PlotAxes:
        """Plot the final value of a variable over one parameter, or as a map over two.

        Args:
            name: Dotted name of a scalar variable.
            ax: Matplotlib axes to draw into; new ones when left out.
            style: Passed on to ``ax.plot`` or ``ax.pcolormesh``.

        Returns:
            The axes.

        Raises:
            NetworkError: There is no such variable, it is not a scalar, or the sweep has more than
                two axes.
        """
        import matplotlib.pyplot as plt

        values = np.where(self.diverged, np.nan, self._scalar(name))
        if len(self.shape) > 2:
            raise NetworkError(f"the sweep has {len(self.shape)} axes; 1 or 2 can be plotted")
        axes = ax if ax is not None else plt.subplots()[1]
        first, *others = self.parameters
        axes.set_xlabel(first)
        if len(self.shape) == 1:
            axes.plot(self.parameters[first], values, **{"label": name, **style})
            axes.set_ylabel(name)
            return axes
        second = others[0]
        mesh = axes.pcolormesh(
            self.parameters[first],
            self.parameters[second],
            values.T,
            **{"shading": "auto", **style},
        )
        axes.set_ylabel(second)
        axes.figure.colorbar(mesh, ax=axes, label=name)
        return axes

    def _scalar(self, name: str) -> np.ndarray:
        values = self[name]
        if values.shape != self.shape:
            shape = "x".join(map(str, values.shape[len(self.shape) :]))
            raise NetworkError(f"{name} is {shape}; a scalar variable is needed")
        return values


def scalar_columns(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of single numbers.

    Args:
        name: Dotted name of a variable.
        values: (rows, ...), its values.

    Returns:
        The values of a scalar by its name; entries of vectors and matrices as ``name[0]``,
        ``name[1]``, ..., matrices row by row.
    """
    if values.ndim == 1:
        return {name: values}
    flat = values.reshape(len(values), -1)
    return {f"{name}[{k}]": flat[:, k] for k in range(flat.shape[1])}
