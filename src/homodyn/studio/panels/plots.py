"""Plots under the time line: any coordinate, torque, force, power or marker error over time."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from viser.uplot import Series

from homodyn.studio.document import StudioDocument
from homodyn.studio.panels.legend import legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.plot_signals import (
    SIGNAL_KINDS,
    PlotCurve,
    curves,
    signal_names,
    thin_curve,
    unit_of,
)
from homodyn.studio.session import SessionView

NOTHING = "(nothing)"
MIN_REDRAW_S = 0.12
"""s between two places of the cursor: a plot is sent whole when its cursor moves."""
PLOT_HEIGHT_PX = 115
CURSOR = "#d03030"


class PlotsPanel(Panel):
    """Plots under each other, each with the choice of its curve."""

    title = "Plots"

    def build(self) -> None:
        """Make the controls."""
        self.rows = [
            PlotRow(self, "Plot", _first),
            PlotRow(self, "Second plot", lambda words: NOTHING),
        ]

    def refresh(self, view: SessionView) -> None:
        """Offer what can be plotted of what is open."""
        document = view.document
        words = tuple(
            f"{kind}: {name}" for kind in SIGNAL_KINDS for name in signal_names(document, kind)
        )
        for row in self.rows:
            row.offer((NOTHING, *words))

    def tick(self, view: SessionView) -> None:
        """Draw the chosen curves, and their cursors at the instant of the clock."""
        for row in self.rows:
            row.tick(view)
        # A second choice is of no use before the first is made.
        several = self.rows[0].plot is not None
        if self.rows[1].choice.visible != several:
            self.rows[1].choice.visible = several


class PlotRow:
    """One plot; a red line stands at the instant that is shown."""

    def __init__(self, panel: Panel, label: str, first: Callable[[tuple[str, ...]], str]) -> None:
        self.panel = panel
        self.first = first
        """Which curve is drawn until one is chosen."""
        self.choice = panel.gui.add_dropdown(label, (NOTHING,))
        self.plot: Any = None
        self.names: Any = None
        """Whose curves they are, where there are several."""
        self.table: tuple[np.ndarray, ...] = ()
        self._key: Any = None
        self._cursor = (np.nan, 0.0)
        panel.on_choice(self.choice)(lambda word: panel.session.changed.set())

    def offer(self, words: tuple[str, ...]) -> None:
        """Bring the choice to what there is."""
        if tuple(self.choice.options) != words:
            before = self.choice.value
            fresh = len(self.choice.options) == 1
            self.choice.options = words
            assign(self.choice, before if before in words and not fresh else self.first(words))

    def tick(self, view: SessionView) -> None:
        """Draw the chosen curve, and its cursor at the instant of the clock."""
        document, clock = view.document, view.clock
        key = (self.choice.value, owners(document))
        if key != self._key:
            self._key = key
            self._draw(document)
            self._cursor = (np.nan, 0.0)
        now = perf_counter()
        late = now - self._cursor[1] > MIN_REDRAW_S or not clock.playing
        if self.plot is not None and clock.now != self._cursor[0] and late:
            self._cursor = (clock.now, now)
            self.plot.data = with_cursor(self.table, clock.now)

    def _draw(self, document: StudioDocument) -> None:
        for handle in (self.plot, self.names):
            if handle is not None:
                handle.remove()
        self.plot = self.names = None
        kind, _, name = self.choice.value.partition(": ")
        thin = [thin_curve(curve) for curve in curves(document, kind, name)]
        if thin:
            self.table = on_common_times(thin)
            with self.panel.container:
                self._add(unit_of(document, kind, name), thin)

    def _add(self, unit: str, thin: list[PlotCurve]) -> None:
        series: list[Series] = [{"label": "time (s)"}]
        for curve in thin:
            series.append({"label": curve.owner, "stroke": css_color(curve.color), "width": 1.5})
        if len(thin) > 1:
            owners = {curve.owner: css_color(curve.color) for curve in thin}
            self.names = self.panel.gui.add_html(legend(owners), order=self.choice.order + 0.4)
        series.append({"label": "now", "stroke": CURSOR, "width": 2, "points": {"show": False}})
        self.plot = self.panel.gui.add_uplot(
            with_cursor(self.table, float(self.table[0][0])),
            tuple(series),
            scales={"x": {"time": False}, "y": {"range": value_range(self.table)}},
            axes=({"size": 26}, {"label": unit, "size": 44, "labelSize": 16}),
            legend={"show": False},
            height=PLOT_HEIGHT_PX,
            order=self.choice.order + 0.5,
        )


def owners(document: StudioDocument) -> tuple[object, ...]:
    """All that curves are drawn of: poses that are dragged many times a second are not."""
    return tuple((a.name, a.shown, a.color, a.motion, a.loads) for a in document.actors)


def on_common_times(found: list[PlotCurve]) -> tuple[np.ndarray, ...]:
    """All instants of some curves, and the values of each at them; NaN outside a curve."""
    time = np.unique(np.concatenate([curve.time for curve in found]))
    return (
        time,
        *(np.interp(time, curve.time, curve.values, left=np.nan, right=np.nan) for curve in found),
    )


def value_range(table: tuple[np.ndarray, ...]) -> tuple[float, float]:
    """The least and the greatest value to show, with some room around the curves."""
    levels = np.concatenate(table[1:])
    levels = levels[np.isfinite(levels)]
    if not len(levels):
        return 0.0, 1.0
    low, high = float(levels.min()), float(levels.max())
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room


def with_cursor(table: tuple[np.ndarray, ...], now: float) -> tuple[np.ndarray, ...]:
    """A table of curves with one more column: a line upright at an instant.

    The line runs below what is shown, and at the instant up through it and down again, in three
    rows of their own in which the curves keep their values: a plot knows no other upright lines.
    """
    time, *values = table
    low, high = value_range(table)
    below = low - (high - low)
    place = int(np.searchsorted(time, now))
    mark = np.full(len(time) + 3, below)
    mark[place + 1] = high
    return (
        np.insert(time, place, (now,) * 3),
        *(np.insert(v, place, (np.interp(now, time, v),) * 3) for v in values),
        mark,
    )


def css_color(color: tuple[int, int, int]) -> str:
    """A colour as style sheets write it."""
    return "#" + bytes(color).hex()


def _first(names: tuple[str, ...]) -> str:
    """A curve that says something at once: a knee where there is one."""
    return next((name for name in names if "knee" in name.lower()), names[min(1, len(names) - 1)])
