"""Records of gait measures: a table of values per side and cycle, with reasons for missing ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name
from homodyn.foundation.time_series import require_pandas

if TYPE_CHECKING:
    import pandas as pd


MEASURE_ALIASES = {"speed": "velocity", "walking speed": "velocity", "gait speed": "velocity"}
"""Other names of measures."""
SYMMETRY_PREFIX = "symmetry index of "
"""Beginning of the names of symmetry indices, followed by the measure."""


@record
class GaitMeasure(Record):
    """One measure of one side, with its value in each cycle."""

    name: str
    """Name of the measure."""
    unit: str
    """Unit of the values; empty where they have none."""
    side: str
    """``"left"``, ``"right"`` or ``"both"``."""
    values: np.ndarray
    """(cycles,), finite; at least one."""
    times: np.ndarray
    """(cycles,), s: the time of each value."""

    @property
    def mean(self) -> float:
        """Mean over the cycles."""
        return float(self.values.mean())

    @property
    def sd(self) -> float | None:
        """Standard deviation over the cycles (n - 1); None for a single one."""
        return float(self.values.std(ddof=1)) if len(self.values) > 1 else None

    def headline(self) -> str:
        """Name, side, mean and standard deviation."""
        label = self.name if self.side == "both" else f"{self.name}, {self.side}"
        spread = "" if self.sd is None else f" +- {self.sd:.3f}"
        return f"{label}: {self.mean:.3f}{spread} {self.unit}".rstrip()


@record(eq=True)
class MissingMeasure(Record):
    """A measure that could not be computed, and the reason."""

    name: str
    """Name of the measure."""
    side: str
    """``"left"``, ``"right"`` or ``"both"``."""
    reason: str
    """Why it could not be computed."""

    def headline(self) -> str:
        """Name, side and reason."""
        return f"{self.name} ({self.side}): {self.reason}"

    def __repr__(self) -> str:
        """The headline: measures are missing in groups, which are printed as tuples."""
        return f"<{self.headline()}>"


@record
class GaitMeasures(Record):
    """All measures of a walk, and the reasons for those that could not be computed.

    ``measures["step length", "right"]`` is the measure of a side, ``measures["velocity"]`` one of
    both sides.
    """

    rows: tuple[GaitMeasure, ...]
    """The computed measures."""
    missing: tuple[MissingMeasure, ...] = ()
    """The measures that could not be computed."""
    direction: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0]))
    """(2,): direction of progression in the horizontal plane, Z up."""
    belt_speed: float = 0.0
    """m/s; zero overground."""
    pendulum_length: float = 0.0
    """m: pendulum length of the extrapolated center of mass."""
    notes: tuple[str, ...] = ()
    """Sentences on events, treadmill, heading and assumptions."""

    def headline(self) -> str:
        """Number of measures."""
        return f"GaitMeasures: {len(self.rows)} computed, {len(self.missing)} missing"

    def summary(self) -> str:
        """The table as text: one line per measure, then all missing measures and notes.

        Returns:
            Several lines of text.
        """
        missing = [gap.headline() for gap in self.missing]
        return "\n".join([*measure_lines(self.rows), *missing, *self.notes])

    def to_pandas(self) -> pd.DataFrame:
        """The table as a data frame: name, unit, side, cycles, mean, sd, values.

        Returns:
            One row per measure.

        Raises:
            HomodynError: pandas is not installed.
        """
        return require_pandas().DataFrame(self.to_table())

    def __getitem__(self, key: str | tuple[str, str]) -> GaitMeasure:
        """A measure by its name, or by name and side.

        A measure of each side by its name alone has the values of both sides in order of time.
        ``"speed"`` and ``"walking speed"`` mean ``"velocity"``.
        """
        name, side = key if isinstance(key, tuple) else (key, "both")
        name = MEASURE_ALIASES.get(name.lower(), name)
        found = self._find(name, side)
        if found is not None:
            return found
        for absent in self.missing:
            if absent.name == name and side in (absent.side, "both"):
                raise CaptureError(f"{name} ({absent.side}) is missing: {absent.reason}")
        names = dict.fromkeys(row.name for row in self.rows)
        if name in names:
            sides = [row.side for row in self.rows if row.name == name]
            raise CaptureError(f"{name} has no side {side!r}; accepted: {', '.join(sides)}")
        raise CaptureError(unknown_name("measure", name, names))

    def _find(self, name: str, side: str) -> GaitMeasure | None:
        """The computed measure; that of both sides is pooled where each side has its own."""
        rows = {row.side: row for row in self.rows if row.name == name}
        if side in rows or side != "both" or not rows:
            return rows.get(side)
        order = np.argsort(np.concatenate([row.times for row in rows.values()]), kind="stable")
        values = np.concatenate([row.values for row in rows.values()])[order]
        times = np.concatenate([row.times for row in rows.values()])[order]
        return GaitMeasure(name, next(iter(rows.values())).unit, "both", values, times)

    def __contains__(self, key: object) -> bool:
        """Whether a measure was computed."""
        name, side = key if isinstance(key, tuple) else (key, "both")
        if not isinstance(name, str):
            return False
        return self._find(MEASURE_ALIASES.get(name.lower(), name), side) is not None

    def to_table(self) -> list[dict[str, object]]:
        """The table as plain data.

        Returns:
            One dictionary per measure: name, unit, side, cycles, mean, sd, values.
        """
        return [
            {
                "name": row.name,
                "unit": row.unit,
                "side": row.side,
                "cycles": len(row.values),
                "mean": row.mean,
                "sd": row.sd,
                "values": [float(value) for value in row.values],
            }
            for row in self.rows
        ]

    def to_csv(self) -> str:
        """The table as CSV text, with one column per cycle.

        Returns:
            The text of a file.
        """
        cycles_count = max((len(row.values) for row in self.rows), default=0)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        heads = [f"cycle {k + 1}" for k in range(cycles_count)]
        writer.writerow(["name", "unit", "side", "cycles", "mean", "sd", *heads])
        for row in self.rows:
            values = [f"{value:.6g}" for value in row.values]
            values += [""] * (cycles_count - len(values))
            sd = "" if row.sd is None else f"{row.sd:.6g}"
            writer.writerow(
                [row.name, row.unit, row.side, len(row.values), f"{row.mean:.6g}", sd, *values]
            )
        return text.getvalue()

    def __str__(self) -> str:
        """The table as text, with the first missing measure and the first note."""
        lines = measure_lines(self.rows)
        for entries in ([gap.headline() for gap in self.missing], self.notes):
            rest = f" (and {len(entries) - 1} more: see summary())" if len(entries) > 1 else ""
            lines += [f"{entry}{rest}" for entry in entries[:1]]
        return "\n".join(lines)


def measure_lines(rows: Sequence[GaitMeasure]) -> list[str]:
    """A text table of measures, one line per name, with columns for the sides.

    Args:
        rows: The measures.

    Returns:
        Lines: a header, then mean and standard deviation on the left, on the right and of both
        sides, and the symmetry index where there is one. Empty without measures.
    """
    if not rows:
        return []
    by_name: dict[str, dict[str, GaitMeasure]] = {}
    for row in rows:
        of = row.name.removeprefix(SYMMETRY_PREFIX)
        known = of != row.name and any(other.name == of for other in rows)
        name, column = (of, "symmetry") if known else (row.name, row.side)
        by_name.setdefault(name, {})[column] = row
    width = max(len(name) for name in by_name)
    columns = ("left", "right", "both")
    header = "".join(f"{column:>17}" for column in columns)
    lines = [f"{'':<{width}} {'':<9}{header}  symmetry index".rstrip()]
    for name, cells in by_name.items():
        unit = next((row.unit for side, row in cells.items() if side != "symmetry"), "")
        texts = "".join(f"{_mean_and_sd(cells.get(column)):>17}" for column in columns)
        symmetry = cells.get("symmetry")
        index = "" if symmetry is None else f"{round(symmetry.mean, 1) + 0.0:10.1f} %"
        lines.append(f"{name:<{width}} {unit:<9}{texts}{index}".rstrip())
    return lines


def _mean_and_sd(row: GaitMeasure | None) -> str:
    """Mean and standard deviation in three decimals."""
    if row is None:
        return ""
    # Adding zero turns -0.0 into 0.0.
    spread = "" if row.sd is None else f" ± {row.sd:.3f}"
    return f"{round(row.mean, 3) + 0.0:.3f}{spread}"
