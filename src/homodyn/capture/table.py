"""Columns over time, as files of coordinates, forces and results hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.text import duplicate_names, unknown_name


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns at instants; NaN where a cell is blank."""

    names: tuple[str, ...]
    """Names of the columns, time not among them."""
    time: np.ndarray
    """(rows,), s."""
    values: np.ndarray
    """(rows, columns), as the file has them."""
    degrees: bool = False
    """True where angles are in degrees, as the file says or its kind implies."""
    title: str = ""
    header: Mapping[str, str] = field(default_factory=dict)
    """What else the head of the file says."""

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
                f"table {self.title!r} has several columns of one name: {', '.join(doubled)}"
            )

    def column(self, name: str) -> np.ndarray:
        """The values of one column, (rows,)."""
        if name not in self.names:
            raise CaptureError(unknown_name("column", name, self.names))
        return self.values[:, self.names.index(name)]

    def columns(self, names: tuple[str, ...] | list[str]) -> np.ndarray:
        """The values of several columns, (rows, len(names))."""
        if not names:
            return np.zeros((len(self.time), 0))
        return np.stack([self.column(name) for name in names], axis=-1)
