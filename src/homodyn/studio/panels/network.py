"""Network: sliders of the parameters of a network, and curves that follow them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from homodyn.foundation import count_of
from homodyn.foundation.markup import escape_markup
from homodyn.network import Network, NetworkResult
from homodyn.report.colors import SERIES_COLORS
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.network_runs import (
    LatestRunner,
    NetworkRun,
    OpenNetwork,
    default_variable,
    scalar_parameters,
    slider_range,
    variable_columns,
)
from homodyn.studio.panels.line_plot import LineStyle, PlotAxes, add_line_plot
from homodyn.studio.panels.panel import Panel
from homodyn.studio.session import SessionView

NOTHING = "(nothing)"
PLOT_COUNT = 3
MAX_SLIDERS = 24
"""Sliders that are shown; a filter selects them."""
PLOT_HEIGHT_PX = 130
MAX_ROWS = 1200
"""Rows of a run that are plotted."""


class NetworkPanel(Panel):
    """An opened network, which runs again after each change."""

    title = "Network"

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(
            self.gui, "Drop a network (`.cdn`) on this page, or run `homodyn studio model.cdn`."
        )
        self.opened: OpenNetwork | None = None
        self.runner: LatestRunner | None = None
        self.parameters: dict[str, float] = {}
        self.run: NetworkRun | None = None
        """The newest run."""
        self.sliders: dict[str, Any] = {}
        self.choices: list[Any] = []
        self.plots: list[Any] = []
        self._folder: Any = None
        self._drawn: Any = None

    def show(self, item: object) -> bool:
        """Show a network."""
        if not isinstance(item, OpenNetwork):
            return False
        network = item.network.prepare()
        self.opened, self.parameters = item, scalar_parameters(network)
        self.runner = LatestRunner(network, self._on_run)
        self.run = None
        with self.studio.pause_drawing():
            self._create_controls(item)
        self._start_run()
        return True

    def tick(self, view: SessionView) -> None:
        """Draw the newest run."""
        run = self.run
        key = (id(run), *(choice.value for choice in self.choices))
        if run is None or key == self._drawn or self.opened is None:
            return
        self._drawn = key
        self.state.content = sentence(self.opened, run)
        if run.result is not None:
            for k, choice in enumerate(self.choices):
                self._plot(k, choice, run.result)

    def _create_controls(self, opened: OpenNetwork) -> None:
        if self._folder is not None:
            self._folder.remove()
        self.sliders, self.choices, self.plots, self._drawn = {}, [], [None] * PLOT_COUNT, None
        network = opened.network
        with self.container:
            self._folder = self.gui.add_folder(opened.name)
        with self._folder:
            self._add_choice(network, default_variable(network))
            self.filter = self.gui.add_text("Parameters", "", hint="Part of their names")
            self._list = self.gui.add_folder("Sliders")
            self.reset = self.gui.add_button("Reset to file", color="gray")
            for _ in range(1, PLOT_COUNT):
                self._add_choice(network, NOTHING)
            self.until = self.gui.add_number("Seconds", 10.0, min=1e-3, step=1.0)
            self.step = self.gui.add_number("Step", network.timestep, min=1e-6, step=1e-3)
        self._create_sliders()
        for box in (self.until, self.step):
            self.on_choice(box)(lambda value: self._start_run())
        self.on_choice(self.filter)(lambda text: self._replace_sliders())
        self._defaults = dict(self.parameters)
        self.on_click(self.reset)(self._reset)

    def _add_choice(self, network: Network, default: str) -> None:
        """Add a menu of the variables."""
        names = (NOTHING, *network.names)
        choice = self.gui.add_dropdown("Plot", names, initial_value=default or NOTHING)
        self.choices.append(choice)
        self.on_choice(choice)(lambda name: self.session.changed.set())

    def _replace_sliders(self) -> None:
        with self.studio.pause_drawing():
            self._create_sliders()

    def _create_sliders(self) -> None:
        for slider in self.sliders.values():
            slider.remove()
        self.sliders = {}
        part = self.filter.value.lower()
        selected = [name for name in self.parameters if part in name.lower()][:MAX_SLIDERS]
        with self._list:
            for name in selected:
                low, high, step = slider_range(self.parameters[name])
                slider = self.sliders[name] = self.gui.add_slider(
                    name, min=low, max=high, step=step, initial_value=self.parameters[name]
                )
                self.on_choice(slider)(partial(self._set_parameter, name))

    def _set_parameter(self, name: str, value: float) -> None:
        self.parameters[name] = float(value)
        self._start_run()

    def _reset(self) -> None:
        self.parameters = dict(self._defaults)
        self._replace_sliders()
        self._start_run()

    def _start_run(self) -> None:
        if self.runner is not None:
            self.runner.request(self.parameters, float(self.until.value), float(self.step.value))

    def _on_run(self, run: NetworkRun) -> None:
        self.run = run
        self.session.changed.set()

    def _plot(self, index: int, choice: Any, result: NetworkResult) -> None:
        if self.plots[index] is not None:
            self.plots[index].remove()
            self.plots[index] = None
        if choice.value == NOTHING:
            return
        rows = np.linspace(0, len(result.t) - 1, min(len(result.t), MAX_ROWS)).astype(int)
        columns = list(variable_columns(result, choice.value).items())[: len(SERIES_COLORS)]
        with self._folder:
            self.plots[index] = add_line_plot(
                self.gui,
                (result.t[rows], *(values[rows] for _, values in columns)),
                [LineStyle(name, c) for (name, _), c in zip(columns, SERIES_COLORS, strict=False)],
                PlotAxes("time (s)", "", PLOT_HEIGHT_PX),
                order=choice.order + 0.5,
            )


def sentence(opened: OpenNetwork, run: NetworkRun) -> str:
    """The result of the last run, in Markdown."""
    if run.result is None:
        return f"**{escape_markup(opened.name)}**: {escape_markup(run.error)}"
    result = run.result
    events = f", {count_of(len(result.events), 'event')}" if result.events else ""
    ended = ", ended by an event" if result.terminated else ""
    return (
        f"**{escape_markup(opened.name)}**: {count_of(len(opened.network.names), 'variable')}, "
        f"{result.t[-1]:g} s in {count_of(len(result), 'row')}{events}{ended}; computed in "
        f"{1000 * run.seconds:.0f} ms."
    )
