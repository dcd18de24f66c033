"""Plots under the time line: any coordinate, torque, force, power or marker error over time."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from homodyn.studio.document import Document
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.session import View
from homodyn.studio.signals import KINDS, Curve, curves, names_of, thinned, unit_of

NOTHING = "(nothing to plot)"
LEAST = 0.08
"""s between two places of the cursor: a plot is sent whole when its cursor moves."""
HEIGHT = 150
CURSOR = "#d03030"


class PlotsPanel(Panel):
    """One plot with the choice of its curve; a red line stands at the instant that is shown."""

    title = "Plots"

    def build(self) -> None:
        """Make the controls."""
        self.kind = self.gui.add_dropdown("Plot", KINDS)
        self.name = self.gui.add_dropdown("of", (NOTHING,))
        self.plot: Any = None
        self.table: tuple[np.ndarray, ...] = ()
        self._key: Any = None
        self._cursor = (np.nan, 0.0)
        self.on_choice(self.kind)(lambda kind: self._offer(self.session.document))
        self.on_choice(self.name)(lambda name: self.session.changed.set())

    def refresh(self, view: View) -> None:
        """Offer what can be plotted of what is open."""
        self._offer(view.document)

    def tick(self, view: View) -> None:
        """Draw the chosen curve, and its cursor at the instant of the clock."""
        document, clock = view.document, view.clock
        key = (self.kind.value, self.name.value, view.version)
        if key != self._key:
            self._key = key
            self._draw(document)
            self._cursor = (np.nan, 0.0)
        now = perf_counter()
        late = now - self._cursor[1] > LEAST or not clock.playing
        if self.plot is not None and clock.now != self._cursor[0] and late:
            self._cursor = (clock.now, now)
            self.plot.data = with_cursor(self.table, clock.now)

    def _offer(self, document: Document) -> None:
        names = names_of(document, self.kind.value) or (NOTHING,)
        if tuple(self.name.options) != names:
            before = self.name.value
            self.name.options = names
            assign(self.name, before if before in names else _first(names))
        self.session.changed.set()

    def _draw(self, document: Document) -> None:
        if self.plot is not None:
            self.plot.remove()
            self.plot = None
        kind, name = self.kind.value, self.name.value
        found = curves(document, kind, name)
        self.name.visible = bool(names_of(document, kind))
        if not found:
            return
        thin = [thinned(curve) for curve in found]
        self.table = together(thin)
        unit = unit_of(document, kind, name)
        with self.container:
            self._add(name, unit, thin)

    def _add(self, name: str, unit: str, thin: list[Curve]) -> None:
        self.plot = self.gui.add_uplot(
            with_cursor(self.table, float(self.table[0][0])),
            (
                {"label": "time (s)"},
                *(
                    {"label": c.owner, "stroke": "#%02x%02x%02x" % c.colour, "width": 1.5}
                    for c in thin
                ),
                {"label": "now", "stroke": CURSOR, "width": 2, "points": {"show": False}},
            ),
            scales={"x": {"time": False}},
            axes=({"label": "time (s)"}, {"label": f"{name} ({unit})", "size": 56}),
            legend={"show": len(thin) > 1},
            height=HEIGHT,
            order=self.name.order + 0.5,
        )


def together(found: list[Curve]) -> tuple[np.ndarray, ...]:
    """All instants of some curves, and the values of each at them; NaN outside a curve."""
    time = np.unique(np.concatenate([curve.time for curve in found]))
    return (
        time,
        *(
            np.interp(time, curve.time, curve.values, left=np.nan, right=np.nan)
            for curve in found
        ),
    )


def with_cursor(table: tuple[np.ndarray, ...], now: float) -> tuple[np.ndarray, ...]:
    """A table of curves with one more column: a line from the lowest to the highest at an instant.

    Both ends stand in rows of their own at that instant, where the curves keep their values.
    """
    time, *values = table
    place = int(np.searchsorted(time, now))
    levels = np.concatenate(values)
    levels = levels[np.isfinite(levels)]
    low, high = (float(levels.min()), float(levels.max())) if len(levels) else (0.0, 1.0)
    mark = np.full(len(time) + 2, np.nan)
    mark[place : place + 2] = low, high
    return (
        np.insert(time, place, (now, now)),
        *(np.insert(v, place, (np.interp(now, time, v),) * 2) for v in values),
        mark,
    )


def _first(names: tuple[str, ...]) -> str:
    """A curve that says something at once: a knee where there is one."""
    return next((name for name in names if "knee" in name.lower()), names[0])
