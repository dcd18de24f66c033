"""Tables of named columns over time, as in files of coordinates, forces and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import record
from homodyn.foundation.text import count_of, duplicate_names, unknown_name
from homodyn.foundation.time_series import Curve, TimeSeries


@record
class Table(TimeSeries):
    """Named columns over time; NaN where a cell is blank."""

    names: tuple[str, ...]
    """Names of the columns, without time."""
    time: np.ndarray
    """(rows,), s."""
    values: np.ndarray
    """(rows, columns), as the file has them."""
    degrees: bool = False
    """True where angles are in degrees, as the file or its format states."""
    title: str = ""
    """Title in the file."""
    header: Mapping[str, str] = field(default_factory=dict)
    """Further header entries of the file."""
    notes: tuple[str, ...] = ()
    """What the reader decided, one sentence each."""

    def __post_init__(self) -> None:
        for name, shape in (
            ("time", (len(self.time),)),
            ("values", (len(self.time), len(self.names))),
        ):
            array: np.ndarray = np.array(getattr(self, name), dtype=float)
            if array.shape != shape:
                raise CaptureError(
                    f"table {self.title!r}: {name} has shape {array.shape}, {shape} is expected"
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        doubled = duplicate_names(self.names)
        if doubled:
            raise CaptureError(
                f"table {self.title!r} has several columns with the same name: {', '.join(doubled)}"
            )

    def headline(self) -> str:
        """Title, and the numbers of rows and columns."""
        title = self.title or "table"
        return f"{title}: {count_of(len(self.time), 'row')}, {count_of(len(self.names), 'column')}"

    def columns(self) -> Mapping[str, Curve]:
        """All columns by name.

        Returns:
            One `Curve` per column, in the units of the file.
        """
        return {
            name: Curve(name, "", self.time, self.values[:, k]) for k, name in enumerate(self.names)
        }

    def column(self, name: str) -> np.ndarray:
        """The values of one column.

        Args:
            name: Name of the column.

        Returns:
            (rows,), as in the file.

        Raises:
            CaptureError: There is no such column.
        """
        if name not in self.names:
            raise CaptureError(unknown_name("column", name, self.names))
        return self.values[:, self.names.index(name)]

    def select(self, names: tuple[str, ...] | list[str]) -> np.ndarray:
        """The values of several columns.

        Args:
            names: Names of the columns.

        Returns:
            (rows, len(names)), as in the file.

        Raises:
            CaptureError: A column does not exist.
        """
        if not names:
            return np.zeros((len(self.time), 0))
        return np.stack([self.column(name) for name in names], axis=-1)
