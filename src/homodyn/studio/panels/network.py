"""Network: sliders on the numbers of a network, and curves that follow them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from viser.uplot import Series

from homodyn.network import Network
from homodyn.studio.document import COLORS
from homodyn.studio.network_runs import (
    LatestRunner,
    NetworkRun,
    OpenNetwork,
    columns,
    first_choice,
    scalars,
    slider_range,
)
from homodyn.studio.panels.legend import ROOM
from homodyn.studio.panels.panel import Panel
from homodyn.studio.panels.plots import css_color
from homodyn.studio.plot_signals import PlotCurve, thin_curve
from homodyn.studio.session import SessionView

NOTHING = "(nothing)"
PLOT_COUNT = 3
MAX_SLIDERS = 24
"""Sliders that are shown at once; the filter chooses which."""
PLOT_HEIGHT_PX = 130


class NetworkPanel(Panel):
    """A network that was opened, run again at each change."""

    title = "Network"

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown(
            "Drop a network (`.cdn`) on this page, or start with `homodyn studio model.cdn`."
        )
        self.sheet: OpenNetwork | None = None
        self.follower: LatestRunner | None = None
        self.numbers: dict[str, float] = {}
        self.run_network: NetworkRun | None = None
        self.sliders: dict[str, Any] = {}
        self.choices: list[Any] = []
        self.plots: list[Any] = []
        self._folder: Any = None
        self._drawn: Any = None

    def show(self, thing: object) -> bool:
        """Take over a network."""
        if not isinstance(thing, OpenNetwork):
            return False
        network = thing.network.prepare()
        self.sheet, self.numbers = thing, scalars(network)
        self.follower = LatestRunner(network, self._on_run)
        self.run_network = None
        with self.studio.pause_drawing():
            self._make(thing)
        self._run()
        return True

    def tick(self, view: SessionView) -> None:
        """Draw the newest run."""
        run_network = self.run_network
        key = (id(run_network), *(choice.value for choice in self.choices))
        if run_network is None or key == self._drawn or self.sheet is None:
            return
        self._drawn = key
        self.state.content = sentence(self.sheet, run_network)
        if run_network.record is not None:
            for k, choice in enumerate(self.choices):
                self._plot(k, choice, run_network)

    def _make(self, sheet: OpenNetwork) -> None:
        if self._folder is not None:
            self._folder.remove()
        self.sliders, self.choices, self.plots, self._drawn = {}, [], [None] * PLOT_COUNT, None
        network = sheet.network
        with self.container:
            self._folder = self.gui.add_folder(sheet.name)
        with self._folder:
            self._choice(network, first_choice(network))
            self.filter = self.gui.add_text("Numbers", "", hint="A part of their names")
            self._list = self.gui.add_folder("Sliders")
            self.reset = self.gui.add_button("Reset to file", color="gray")
            for _ in range(1, PLOT_COUNT):
                self._choice(network, NOTHING)
            self.until = self.gui.add_number("Seconds", 10.0, min=1e-3, step=1.0)
            self.step = self.gui.add_number("Step", network.timestep, min=1e-6, step=1e-3)
        self._make_sliders()
        for box in (self.until, self.step):
            self.on_choice(box)(lambda value: self._run())
        self.on_choice(self.filter)(lambda word: self._rebuild_sliders())
        self._first = dict(self.numbers)
        self.on_click(self.reset)(self._reset)

    def _choice(self, network: Network, first: str) -> None:
        """One more choice of a curve."""
        names = (NOTHING, *network.names)
        choice = self.gui.add_dropdown("Plot", names, initial_value=first or NOTHING)
        self.choices.append(choice)
        self.on_choice(choice)(lambda word: self.session.changed.set())

    def _rebuild_sliders(self) -> None:
        with self.studio.pause_drawing():
            self._make_sliders()

    def _make_sliders(self) -> None:
        for slider in self.sliders.values():
            slider.remove()
        self.sliders = {}
        part = self.filter.value.lower()
        chosen = [name for name in self.numbers if part in name.lower()][:MAX_SLIDERS]
        with self._list:
            for name in chosen:
                low, high, step = slider_range(self.numbers[name])
                slider = self.sliders[name] = self.gui.add_slider(
                    name, min=low, max=high, step=step, initial_value=self.numbers[name]
                )
                self.on_choice(slider)(partial(self._slide, name))

    def _slide(self, name: str, value: float) -> None:
        self.numbers[name] = float(value)
        self._run()

    def _reset(self) -> None:
        self.numbers = dict(self._first)
        self._rebuild_sliders()
        self._run()

    def _run(self) -> None:
        if self.follower is not None:
            self.follower.ask(self.numbers, float(self.until.value), float(self.step.value))

    def _on_run(self, run_network: NetworkRun) -> None:
        self.run_network = run_network
        self.session.changed.set()

    def _plot(self, place: int, choice: Any, run_network: NetworkRun) -> None:
        if self.plots[place] is not None:
            self.plots[place].remove()
            self.plots[place] = None
        if choice.value == NOTHING or run_network.record is None:
            return
        found = list(columns(run_network.record, choice.value).items())[: len(COLORS)]
        grid = np.linspace(
            0, len(run_network.record.t) - 1, min(len(run_network.record.t), 1200)
        ).astype(int)
        curves = [
            thin_curve(PlotCurve(name, color, run_network.record.t[grid], values[grid]), len(grid))
            for (name, values), color in zip(found, COLORS, strict=False)
        ]
        series: list[Series] = [{"label": "time (s)"}]
        for curve in curves:
            series.append({"label": curve.owner, "stroke": css_color(curve.color), "width": 1.5})
        with self._folder:
            self.plots[place] = self.gui.add_uplot(
                (curves[0].time, *(curve.values for curve in curves)),
                tuple(series),
                scales={"x": {"time": False}},
                axes=({"size": 26}, {"size": 50}),
                legend={"show": False},
                height=PLOT_HEIGHT_PX,
                padding=ROOM,
                order=choice.order + 0.5,
            )


def sentence(sheet: OpenNetwork, run_network: NetworkRun) -> str:
    """What came of the last run, in Markdown."""
    if run_network.record is None:
        return f"**{sheet.name}**: {run_network.error}"
    record = run_network.record
    events = f", {len(record.events)} events" if record.events else ""
    ended = ", ended by an event" if record.terminated else ""
    return (
        f"**{sheet.name}**: {len(sheet.network.names)} variables, {record.t[-1]:g} s in "
        f"{len(record)} rows{events}{ended}; it took {1000 * run_network.seconds:.0f} ms."
    )
