"""Published means and standard deviations of angles, moments, powers and ground forces."""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.record import Record, record
from homodyn.foundation.text import unknown_name

NORM_SOURCES = {
    "schwartz2008": "83 children at five speeds: Schwartz, Rozumalski, Trost (2008), J Biomech 41",
    "pinzone2014": "two centers at free speed: Pinzone, Schwartz, Thomason, Baker (2014), "
    "Gait Posture 40",
}
"""Studies with tables in the package."""


@record
class NormativeCurve(Record):
    """Mean and standard deviation of a quantity over the gait cycle of healthy people."""

    source: str
    """Key of `NORM_SOURCES`."""
    kind: str
    """``"angle"``, ``"moment"``, ``"power"`` or ``"force"``."""
    quantity: str
    """Such as ``"knee flexion"``; its positive direction is in the name."""
    unit: str
    group: str
    """Speed (``"free"``) or center (``"center 1"``)."""
    percent: np.ndarray
    """(51,): percent of the gait cycle from foot strike to foot strike."""
    mean: np.ndarray
    """(51,), in the unit."""
    sd: np.ndarray
    """(51,), in the unit."""

    def at(self, percent: np.ndarray) -> np.ndarray:
        """The mean at other percentages of the cycle, by linear interpolation.

        Args:
            percent: Percent of the gait cycle, 0 to 100, any shape.

        Returns:
            The mean, in the unit, same shape.
        """
        return np.interp(percent, self.percent, self.mean)

    def headline(self) -> str:
        """Quantity, unit and source."""
        return f"NormativeCurve of {self.quantity} ({self.unit}), {self.group}, {self.source}"


def normative_curves(source: str = "schwartz2008") -> tuple[NormativeCurve, ...]:
    """All curves of a study.

    Args:
        source: Key of `NORM_SOURCES`.

    Returns:
        The curves, in the order of the table.

    Raises:
        HomodynError: There is no such study.
    """
    if source not in NORM_SOURCES:
        raise HomodynError(unknown_name("source of norms", source, NORM_SOURCES))
    return _read(source)


def normative_curve(
    quantity: str, *, kind: str = "angle", group: str = "free", source: str = "schwartz2008"
) -> NormativeCurve:
    """One curve of a study.

    Args:
        quantity: Such as ``"knee flexion"`` or ``"vertical"``.
        kind: ``"angle"``, ``"moment"``, ``"power"`` or ``"force"``.
        group: Speed or center.
        source: Key of `NORM_SOURCES`.

    Returns:
        Mean and standard deviation over the cycle.

    Raises:
        HomodynError: There is no such curve; the message lists those that there are.
    """
    found = normative_curves(source)
    for curve in found:
        if (curve.kind, curve.quantity, curve.group) == (kind, quantity, group):
            return curve
    groups = sorted({curve.group for curve in found})
    if group not in groups:
        raise HomodynError(unknown_name(f"group of {source}", group, groups))
    names = [curve.quantity for curve in found if (curve.kind, curve.group) == (kind, group)]
    if not names:
        kinds = sorted({curve.kind for curve in found})
        raise HomodynError(unknown_name(f"kind of curve of {source}", kind, kinds))
    raise HomodynError(unknown_name(f"{kind} of {source}", quantity, names))


@lru_cache
def _read(source: str) -> tuple[NormativeCurve, ...]:
    text = files("homodyn.gait.norms").joinpath(f"{source}.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    head, *rows = csv.reader(lines)
    percent = np.array(head[5:], dtype=float)
    values = {tuple(row[:5]): np.array(row[5:], dtype=float) for row in rows}
    return tuple(
        NormativeCurve(
            source,
            kind,
            quantity,
            unit,
            group,
            percent,
            mean,
            values[kind, quantity, unit, group, "sd"],
        )
        for (kind, quantity, unit, group, statistic), mean in values.items()
        if statistic == "mean"
    )
