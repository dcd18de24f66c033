"""Named columns over time: the base of recordings, motions and loads."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import count_of, unknown_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes as PlotAxes

MAX_PLOTTED_COLUMNS = 12
"""Columns that `TimeSeries.plot` draws when none are named."""


def require_pandas() -> Any:
    """Import pandas.

    Returns:
        The module.

    Raises:
        HomodynError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise HomodynError(
            "a data frame needs the package pandas: pip install 'homodyn[pandas]'"
        ) from None
    return pandas


@record
class Curve(Record):
    """One quantity over time: ``np.asarray(curve)`` gives its values."""

    name: str
    """Name of the quantity."""
    unit: str
    """Unit of the values; empty for dimensionless quantities."""
    time: np.ndarray
    """(samples,), s."""
    values: np.ndarray
    """(samples,) or (samples, components)."""

    def headline(self) -> str:
        """Name, unit and number of samples."""
        unit = f" ({self.unit})" if self.unit else ""
        return f"{self.name}{unit}: {count_of(len(self.time), 'sample')}"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values."""
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.time)

    def to_pandas(self) -> pd.Series | pd.DataFrame:
        """The curve as a pandas series (or a data frame, for several components) over time in s.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        index = pandas.Index(self.time, name="time (s)")
        title = f"{self.name} ({self.unit})" if self.unit else self.name
        if self.values.ndim == 1:
            return pandas.Series(self.values, index=index, name=title)
        columns = [f"{title} {axis}" for axis in component_names(self.values.shape[1])]
        return pandas.DataFrame(self.values, index=index, columns=columns)

    def plot(self, ax: PlotAxes | None = None, **style: Any) -> PlotAxes:
        """Draw the curve over time.

        Args:
            ax: Matplotlib axes to draw into; new ones when left out.
            style: Passed on to ``ax.plot``.

        Returns:
            The axes.
        """
        ax = ax or new_axes()
        label = style.pop("label", self.name)
        if self.values.ndim == 1:
            ax.plot(self.time, self.values, label=label, **style)
        else:
            for k, axis in enumerate(component_names(self.values.shape[1])):
                ax.plot(self.time, self.values[:, k], label=f"{label} {axis}", **style)
            ax.legend()
        ax.set_xlabel("time (s)")
        ax.set_ylabel(f"{self.name} ({self.unit})" if self.unit else self.name)
        return ax


class TimeSeries(Record):
    """A record of named columns over one time axis.

    A subclass has a ``time`` (field or property) and implements `columns`.
    """

    @abstractmethod
    def columns(self) -> Mapping[str, Curve]:
        """All columns by name, in order.

        Returns:
            One `Curve` per column.
        """

    def resolve_column(self, name: str) -> str:
        """Resolve a name or an accepted alias to the name of a column.

        Args:
            name: Name or alias.

        Returns:
            The key of `columns`.

        Raises:
            HomodynError: There is no such column; the message lists the columns.
        """
        columns = self.columns()
        if name in columns:
            return name
        raise HomodynError(unknown_name("column", name, columns))

    def __getitem__(self, name: str) -> Curve:
        """One column by its name or an alias."""
        return self.columns()[self.resolve_column(name)]

    def to_pandas(self) -> pd.DataFrame:
        """All columns as a pandas data frame over time in s, with units in the column names.

        Raises:
            HomodynError: pandas is not installed.
        """
        pandas = require_pandas()
        parts: dict[str, np.ndarray] = {}
        time: np.ndarray | None = None
        for name, curve in self.columns().items():
            time = curve.time if time is None else time
            unit = f" ({curve.unit})" if curve.unit else ""
            if curve.values.ndim == 1:
                parts[f"{name}{unit}"] = curve.values
            else:
                for k, axis in enumerate(component_names(curve.values.shape[1])):
                    parts[f"{name} {axis}{unit}"] = curve.values[:, k]
        index = pandas.Index(np.zeros(0) if time is None else time, name="time (s)")
        return pandas.DataFrame(parts, index=index)

    def plot(self, *names: str, ax: PlotAxes | None = None, **style: Any) -> PlotAxes:
        """Draw columns over time into one pair of axes.

        Args:
            names: Columns, by name or alias; the first 12 when left out.
            ax: Matplotlib axes to draw into; new ones when left out.
            style: Passed on to ``ax.plot``.

        Returns:
            The axes.

        Raises:
            HomodynError: A column is unknown.
        """
        columns = self.columns()
        chosen = [self.resolve_column(name) for name in names]
        ax = ax or new_axes()
        drawn = [columns[name] for name in chosen or list(columns)[:MAX_PLOTTED_COLUMNS]]
        for curve in drawn:
            curve.plot(ax, **style)
        units = {curve.unit for curve in drawn}
        if len(drawn) > 1:
            ax.set_ylabel(units.pop() if len(units) == 1 else "")
            ax.legend()
        return ax


def component_names(count: int) -> tuple[str, ...]:
    """Names of the components of a vector.

    Args:
        count: Number of components.

    Returns:
        ``x``, ``y``, ``z`` for up to three components; numbers for more.
    """
    return ("x", "y", "z")[:count] if count <= 3 else tuple(map(str, range(count)))


def new_axes() -> PlotAxes:
    """New matplotlib axes in a figure of their own.

    Returns:
        The axes.
    """
    import matplotlib.pyplot as plt

    return plt.subplots()[1]
