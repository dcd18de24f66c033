"""Plots: coordinates, torques, ground forces, powers and marker errors over time."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from homodyn.report.colors import hex_from_rgb
from homodyn.studio.document import StudioDocument
from homodyn.studio.panels.line_plot import (
    CURSOR_STYLE,
    LineStyle,
    PlotAxes,
    PlotData,
    add_line_plot,
    legend,
    value_range,
    with_cursor,
)
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.plot_signals import (
    PlotCurve,
    PlotSignal,
    plot_signals,
    signal_curves,
    thin_curve,
)
from homodyn.studio.session import SessionView

NOTHING = "(nothing)"
MIN_REDRAW_S = 0.12
"""Time (s) between two positions of the cursor during playback; each sends the whole plot."""
PLOT_HEIGHT_PX = 115


class PlotsPanel(Panel):
    """Two plots, each with a menu of its signal."""

    title = "Plots"

    def build(self) -> None:
        """Create the controls."""
        self.rows = [
            PlotRow(
                self, "Plot", lambda labels: _default_label(labels, "angle: right knee", "knee", "")
            ),
            PlotRow(
                self,
                "Second plot",
                lambda labels: _default_label(labels, "force: right foot, upward"),
            ),
        ]

    @property
    def has_signals(self) -> bool:
        """Whether there is something to plot."""
        return bool(self.rows[0].signals)

    def refresh(self, view: SessionView) -> None:
        """Offer the signals of the open bodies."""
        signals = {signal.label: signal for signal in plot_signals(view.document)}
        for row in self.rows:
            row.offer(signals)

    def tick(self, view: SessionView) -> None:
        """Draw the chosen signals with a cursor at the current instant."""
        for row in self.rows:
            row.tick(view)
        # A second menu is useless before the first plot exists.
        visible = self.rows[0].plot is not None
        if self.rows[1].menu.visible != visible:
            self.rows[1].menu.visible = visible


class PlotRow:
    """One plot with its menu; a vertical line marks the current instant."""

    def __init__(self, panel: Panel, label: str, default: Callable[[list[str]], str]) -> None:
        self.panel = panel
        self.default = default
        """Returns the label of the signal that is plotted first."""
        self.menu = panel.gui.add_dropdown(label, (NOTHING,))
        self.signals: dict[str, PlotSignal] = {}
        self.plot: Any = None
        self.owners: Any = None
        """Legend of the bodies, if there are several."""
        self.data: PlotData = ()
        self._key: Any = None
        self._cursor = (np.nan, 0.0)
        """Instant (s) of the cursor, and when it was drawn."""
        panel.on_choice(self.menu)(lambda label: panel.session.changed.set())

    def offer(self, signals: dict[str, PlotSignal]) -> None:
        """Set the signals of the menu, by label."""
        self.signals = signals
        labels = (NOTHING, *signals)
        if tuple(self.menu.options) != labels:
            previous = self.menu.value
            is_first = len(self.menu.options) == 1
            self.menu.options = labels
            keeps = previous in labels and not is_first
            assign(self.menu, previous if keeps else self.default(list(signals)))

    def tick(self, view: SessionView) -> None:
        """Draw the chosen signal with a cursor at the current instant."""
        document, clock = view.document, view.clock
        key = (self.menu.value, plotted_parts(document))
        if key != self._key:
            self._key = key
            self._draw(document)
            self._cursor = (np.nan, 0.0)
        now = perf_counter()
        due = now - self._cursor[1] > MIN_REDRAW_S or not clock.playing
        if self.plot is not None and clock.now != self._cursor[0] and due:
            self._cursor = (clock.now, now)
            self.plot.data = with_cursor(self.data, clock.now)

    def _draw(self, document: StudioDocument) -> None:
        for handle in (self.plot, self.owners):
            if handle is not None:
                handle.remove()
        self.plot = self.owners = None
        signal = self.signals.get(self.menu.value)
        if signal is None:
            return
        curves = [thin_curve(curve) for curve in signal_curves(document, signal)]
        if not curves:
            return
        self.data = on_common_times(curves)
        styles = [LineStyle(c.owner, hex_from_rgb(c.color), c.dash) for c in curves]
        gui = self.panel.gui
        with self.panel.container:
            if len(curves) > 1:
                self.owners = gui.add_html(legend(styles), order=self.menu.order + 0.4)
            self.plot = add_line_plot(
                gui,
                with_cursor(self.data, float(self.data[0][0])),
                [*styles, CURSOR_STYLE],
                PlotAxes("time (s)", signal.unit, PLOT_HEIGHT_PX, y_range=value_range(self.data)),
                order=self.menu.order + 0.5,
            )


def plotted_parts(document: StudioDocument) -> tuple[object, ...]:
    """Everything that curves depend on; poses, which change during a drag, are not included."""
    return tuple((a.name, a.shown, a.color, a.motion, a.loads) for a in document.actors)


def on_common_times(curves: list[PlotCurve]) -> PlotData:
    """All instants of several curves, and the values of each at them; NaN outside a curve."""
    time = np.unique(np.concatenate([curve.time for curve in curves]))
    return (
        time,
        *(np.interp(time, curve.time, curve.values, left=np.nan, right=np.nan) for curve in curves),
    )


def _default_label(labels: list[str], *parts: str) -> str:
    """The first label that contains one of the parts, in their order; else nothing."""
    for part in parts:
        for label in labels:
            if part in label.lower():
                return label
    return NOTHING
