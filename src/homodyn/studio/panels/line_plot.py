"""Line plots in panels, with legends and a time cursor.

Every plot has an explicit horizontal range. Without one the page computes it from the data, and if
new data arrive while the plot is being mounted, the range stays undefined and the plot empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import viser
from viser.uplot import Series

PADDING_PX = (10, 8, 0, 0)
"""Space above, right of, below and left of a plot, so that the numbers at its corners fit."""
CURSOR_COLOR = "#8a93a0"

PlotData = tuple[np.ndarray, ...]
"""Horizontal values (n,), and the values (n,) of each curve; NaN interrupts a curve."""


@dataclass(frozen=True)
class LineStyle:
    """The look of a curve."""

    label: str
    color: str
    """``"#rrggbb"``."""
    dash: tuple[int, ...] = ()
    """Pixels of strokes and gaps; empty for a solid line."""
    width: float = 1.5


@dataclass(frozen=True)
class PlotAxes:
    """The axes of a plot."""

    x_label: str
    """Name of the horizontal axis in tooltips."""
    y_label: str
    height: int
    """Height of the plot (pixels)."""
    x_range: tuple[float, float] | None = None
    """Horizontal range; None for that of the data."""
    y_range: tuple[float, float] | None = None
    """Vertical range; None lets it follow the data."""


CURSOR_STYLE = LineStyle("now", CURSOR_COLOR, width=2)


def add_line_plot(
    gui: viser.GuiApi,
    data: PlotData,
    styles: Sequence[LineStyle],
    axes: PlotAxes,
    *,
    order: float | None = None,
) -> viser.GuiUplotHandle:
    """Add a plot to the open container.

    Args:
        gui: The controls.
        data: Horizontal values, and the values of each curve.
        styles: Style of each curve.
        axes: Labels, ranges and height.
        order: Position among the controls.

    Returns:
        The control; assign its ``data`` to update the curves.
    """
    series: list[Series] = [{"label": axes.x_label}]
    for style in styles:
        line: Series = {"label": style.label, "stroke": style.color, "width": style.width}
        line["points"] = {"show": False}
        if style.dash:
            line["dash"] = style.dash
        series.append(line)
    low, high = axes.x_range or data_range(data[0])
    vertical: dict[str, object] = {} if axes.y_range is None else {"y": {"range": axes.y_range}}
    return gui.add_uplot(
        data,
        tuple(series),
        scales={"x": {"time": False, "range": (low, high)}, **vertical},  # type: ignore[dict-item]
        axes=({"size": 26}, {"label": axes.y_label, "size": 50, "labelSize": 16}),
        legend={"show": False},
        height=axes.height,
        padding=PADDING_PX,
        order=order,
    )


def data_range(values: np.ndarray) -> tuple[float, float]:
    """First and last of increasing values; a range around a single value."""
    low, high = float(values[0]), float(values[-1])
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def value_range(data: PlotData) -> tuple[float, float]:
    """Vertical range of all curves, with a margin."""
    values = np.concatenate(data[1:])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.06 * (high - low) or 0.5
    return low - margin, high + margin


def with_cursor(data: PlotData, now: float) -> PlotData:
    """The curves, and one more with a vertical line at an instant.

    The plot has no vertical lines, so the additional curve runs below the visible range and rises
    through it at the instant, in three inserted rows in which the other curves are interpolated.
    """
    time, *values = data
    low, high = value_range(data)
    below = low - (high - low)
    row = int(np.searchsorted(time, now))
    cursor = np.full(len(time) + 3, below)
    cursor[row + 1] = high
    return (
        np.insert(time, row, (now,) * 3),
        *(np.insert(v, row, (np.interp(now, time, v),) * 3) for v in values),
        cursor,
    )


def legend(styles: Iterable[LineStyle]) -> str:
    """HTML with a sample of each line and its label."""
    entries = [
        '<span style="white-space:nowrap"><svg width="22" height="8" '
        'style="vertical-align:middle">'
        f'<line x1="0" y1="4" x2="22" y2="4" stroke="{style.color}" stroke-width="2.5" '
        f'stroke-dasharray="{" ".join(map(str, style.dash))}"/></svg> {escape(style.label)}</span>'
        for style in styles
    ]
    return f'<div style="padding:6px 12px 4px;font-size:13px">{" &nbsp; ".join(entries)}</div>'
