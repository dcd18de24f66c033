"""Simulate: a live simulation of the active body that can be pushed, with forces and energy."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon

from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.report.colors import GRAY, SERIES_COLORS, hex_from_rgb
from homodyn.report.replay import ARROW_LENGTH_M
from homodyn.studio.body_geometry import body_geometry
from homodyn.studio.document import Actor, StudioDocument
from homodyn.studio.force_arrows import weight_of
from homodyn.studio.live_simulation import (
    CONTACT_LAW_NAMES,
    HandSpring,
    LiveSimulation,
    SimulationChoices,
    SimulationSample,
)
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.line_plot import LineStyle, PlotAxes, PlotData, add_line_plot, legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.push_handle import PushHandle
from homodyn.studio.scene.instances import Arrows
from homodyn.studio.session import SessionView

NO_TARGET = "(nothing)"
UNDO_LABEL = "simulate"
DURATIONS = ("2", "5", "10", "20")
SPEEDS = ("1", "0.5", "0.25", "0.1")
MIN_REDRAW_S = 0.25
"""Time (s) between two updates of the plots."""
MAX_PLOT_POINTS = 600
PLOT_HEIGHT_PX = 120
GROUND_COLOR, PUSH_COLOR = (40, 150, 90), (150, 98, 180)
PLOTS = {
    "N": (
        LineStyle("ground force", hex_from_rgb(GROUND_COLOR)),
        LineStyle("push force", hex_from_rgb(PUSH_COLOR)),
    ),
    "J": (
        LineStyle("kinetic energy", SERIES_COLORS[3]),
        LineStyle("potential energy", SERIES_COLORS[1]),
        LineStyle("total energy", GRAY),
    ),
}
"""Curves of the plots, by unit."""


class SimulatePanel(Panel):
    """The controls of a simulation, a handle that pushes the body, and two plots."""

    title = "Simulate"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, "")
        self.run = self.gui.add_button("Start simulation", icon=Icon.PLAYER_PLAY)
        self.end = self.gui.add_button("Stop", icon=Icon.PLAYER_STOP, color="red", visible=False)
        self.law = self.gui.add_dropdown(
            "Contact",
            tuple(CONTACT_LAW_NAMES.values()),
            hint="Event-driven contact is exact, but slow for a whole body with many contacts",
        )
        self.friction = self.gui.add_number("Friction", 0.8, min=0.0, max=5.0, step=0.05)
        self.servo_stiffness = self.gui.add_number(
            "Servo stiffness (N m/rad)",
            500.0,
            min=0.0,
            max=1e5,
            step=50.0,
            hint="Stiffness with which joints hold the initial pose; 0 for passive joints",
        )
        self.duration = self.gui.add_dropdown("Duration (s)", DURATIONS, initial_value="10")
        self.speed = self.gui.add_dropdown(
            "Speed", SPEEDS, initial_value="1", hint="1 is real time"
        )
        self.push = self.gui.add_dropdown(
            "Push segment", (NO_TARGET,), hint="Shows a handle; drag it to apply a force"
        )
        self.push_stiffness = self.gui.add_number(
            "Push stiffness (N/m)",
            1000.0,
            min=10.0,
            max=1e5,
            step=100.0,
            hint="Force per meter of drag",
        )
        self.force_text = MarkdownText(self.gui, "")
        self.plots: dict[str, Any] = {}
        self._plot_duration = 0.0
        self.handle = PushHandle(self.studio)
        self.live: LiveSimulation | None = None
        self.samples: list[SimulationSample] = []
        self._arrows: tuple[Arrows, Arrows] | None = None
        self._owner = ""
        self._plotted = 0.0
        self._shown = -1
        self.on_click(self.run)(self.start)
        self.on_click(self.end)(self.stop)
        self.on_choice(self.push)(self._attach)
        self.on_choice(self.push_stiffness)(
            lambda stiffness: setattr(self.handle, "stiffness", float(stiffness))
        )
        self.studio.on_segment.append(self._on_segment_click)

    def refresh(self, view: SessionView) -> None:
        """Offer the segments of the active body."""
        actor = view.document.actor
        names = (NO_TARGET,) if actor is None else (NO_TARGET, *actor.model.body_names)
        if tuple(self.push.options) != names:
            self.push.options = names
            assign(self.push, NO_TARGET)
            self.handle.detach()
        running = self.live is not None
        self.run.visible, self.end.visible = not running and actor is not None, running
        if not running:
            self.state.content = instruction(actor)

    def tick(self, view: SessionView) -> None:
        """Show the newest sample of the simulation."""
        live = self.live
        if live is None or not self.samples:
            return
        sample = self.samples[-1]
        self.handle.follow(live.model, sample.q)
        if len(self.samples) != self._shown:
            self._shown = len(self.samples)
            self._draw_arrows(view.document, sample)
        if perf_counter() - self._plotted > MIN_REDRAW_S:
            self._plotted = perf_counter()
            self._plot(self.samples, live.choices.duration)
            self.force_text.content = sample_sentence(sample, live.model.mass)
            self.state.content = progress_sentence(
                self._owner, sample, live.choices, stopped=live.stopped
            )

    def start(self) -> None:
        """Start a simulation of the active body from the current pose.

        Raises:
            HomodynError: No body is open, or a simulation is running.
        """
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open to simulate; add one under Open")
        if self.live is not None:
            raise HomodynError("a simulation is running; stop it first")
        q = actor.position(self.session.clock.now)
        law = next(law for law, name in CONTACT_LAW_NAMES.items() if name == self.law.value)
        choices = SimulationChoices(
            law,
            float(self.friction.value),
            float(self.servo_stiffness.value),
            float(self.duration.value),
            float(self.speed.value),
        )
        self.session.update_clock(lambda clock: clock.pause())
        self._take_control()
        self.samples, self._shown, self._owner = [], -1, actor.name
        live = self.live = LiveSimulation(actor.model, q, choices, self._spring, self._on_sample)
        self.state.content = f"Preparing **{escape_markup(actor.name)}** ..."
        live.start()
        self.run.visible, self.end.visible = False, True
        self.studio.watch(live.done, self._on_end)

    def stop(self) -> None:
        """End the simulation; the simulated part becomes a result."""
        if self.live is not None:
            self.live.stop()

    def close(self) -> None:
        """End a running simulation."""
        self.stop()

    def _spring(self) -> HandSpring | None:
        return None if self.live is None else self.handle.spring(self.live.model)

    def _on_sample(self, sample: SimulationSample) -> None:
        self.samples.append(sample)

        def change(document: StudioDocument) -> StudioDocument:
            if self._owner not in document.names:
                return document
            index = document.index(self._owner)
            return document.with_actor_at(index, document.actors[index].with_pose(sample.q))

        # 30 frames per second are enough; samples come at twice that rate.
        if len(self.samples) % 2:
            self.session.change(UNDO_LABEL, change, merge=True)

    def _on_end(self) -> None:
        """Restore the body and open the result of the simulation."""
        live, self.live = self.live, None
        if live is None:
            return
        self.run.visible, self.end.visible = True, False
        if self.session.view().undo_label == UNDO_LABEL:
            self.session.undo()
        if self._arrows is not None:
            for arrows in self._arrows:
                arrows.place(np.zeros((0, 2, 3)), visible=False)
        if live.record is None:
            self.state.content = f"**{escape_markup(self._owner)}** could not be simulated."
            raise HomodynError(live.error)
        result = live.actor(result_name(self._owner, live.choices.law))
        if len(live.record.time) > 1:
            self.session.change(f"simulate {self._owner}", lambda d: d.with_actor(result))
            self.session.update_clock(lambda clock: clock.at_frame(0))
        if not live.stopped:
            self.studio.notify("Simulation finished", live.record.message)
        with self.studio.pause_drawing():
            self._plot(self.samples, live.choices.duration)
        if self.samples:
            self.force_text.content = sample_sentence(self.samples[-1], live.model.mass)
        self.handle.detach()
        assign(self.push, NO_TARGET)
        self.session.changed.set()

    def _attach(self, segment: str) -> None:
        actor = self.session.document.actor
        if segment == NO_TARGET or actor is None:
            self.handle.detach()
            return
        live = self.live
        q = self.samples[-1].q if live and self.samples else actor.position(self.session.clock.now)
        self.handle.attach(actor.model, q, segment)

    def _take_control(self) -> None:
        """Let other panels release the body."""
        for release in self.studio.on_simulation_control:
            release()

    def _on_segment_click(self, body: str, segment: str) -> None:
        """During a simulation, a click attaches the push handle instead of the pose handle."""
        if self.live is not None and body == self._owner:
            self._take_control()
            assign(self.push, segment)
            self._attach(segment)

    def _draw_arrows(self, document: StudioDocument, sample: SimulationSample) -> None:
        if self._arrows is None:
            scene = self.studio.server.scene
            self._arrows = (
                Arrows(scene, "/scene/simulated/ground", GROUND_COLOR),
                Arrows(scene, "/scene/simulated/push", PUSH_COLOR),
            )
        if self._owner not in document.names:
            return
        actor = document.actors[document.index(self._owner)]
        rotation, weight = body_geometry(actor.model).rotation, weight_of(actor)
        ground = force_arrow(rotation @ sample.center, rotation @ sample.ground, weight)
        self._arrows[0].place(ground)
        push = np.zeros((0, 2, 3))
        if sample.push is not None:
            push = force_arrow(
                rotation @ sample.push.position, rotation @ sample.push.force, weight
            )
        self._arrows[1].place(push)

    def _plot(self, samples: list[SimulationSample], duration: float) -> None:
        if len(samples) < 2:
            return
        stride = max(len(samples) // MAX_PLOT_POINTS, 1)
        shown = samples[::stride]
        time = np.array([sample.time for sample in shown])
        kinetic = np.array([sample.kinetic for sample in shown])
        potential = np.array([sample.potential for sample in shown]) - samples[0].potential
        ground = np.array([np.linalg.norm(sample.ground) for sample in shown])
        push = np.array([0.0 if s.push is None else np.linalg.norm(s.push.force) for s in shown])
        if duration != self._plot_duration:
            self._remove_plots()
            self._plot_duration = duration
        self._update_plot("N", (time, ground, push))
        self._update_plot("J", (time, kinetic, potential, kinetic + potential))

    def _update_plot(self, unit: str, data: PlotData) -> None:
        """Create the plot of a unit, or update its data."""
        if unit in self.plots:
            self.plots[unit][1].data = data
            return
        with self.container:
            names = self.gui.add_html(legend(PLOTS[unit]))
            plot = add_line_plot(
                self.gui,
                data,
                PLOTS[unit],
                PlotAxes("time (s)", unit, PLOT_HEIGHT_PX, x_range=(0.0, self._plot_duration)),
            )
            self.plots[unit] = (names, plot)

    def _remove_plots(self) -> None:
        for handles in self.plots.values():
            for handle in handles:
                handle.remove()
        self.plots = {}


def progress_sentence(
    name: str, sample: SimulationSample, choices: SimulationChoices, *, stopped: bool
) -> str:
    """Time and speed of a simulation, and the remaining time if it is slow, in Markdown."""
    if stopped:
        return f"Stopping **{escape_markup(name)}** at {sample.time:.1f} s ..."
    progress = f"**{escape_markup(name)}**: {sample.time:.1f} s, {sample.pace:.2f} × real time."
    if sample.pace > 0.8 * choices.speed or not sample.pace:
        return progress
    left = (choices.duration - sample.time) / sample.pace
    length = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} minutes"
    return (
        f"{progress} This contact law is slower than the chosen speed: the rest of the "
        f"{choices.duration:g} s takes about {length}. *Stop* keeps the simulated part."
    )


def result_name(owner: str, law: str) -> str:
    """The name of a result: body and contact law, also if the body is a result itself."""
    laws = "|".join(re.escape(name) for name in CONTACT_LAW_NAMES.values())
    return f"{re.sub(rf', ({laws})( [0-9]+)?$', '', owner)}, {CONTACT_LAW_NAMES[law]}"


def instruction(actor: Actor | None) -> str:
    """How to start a simulation, in Markdown."""
    if actor is None:
        return "Open or add a body to simulate it."
    return (
        f"**{escape_markup(actor.name)}** starts in the pose shown. Start the simulation, select "
        "or click a "
        "segment, and drag the handle to push it."
    )


def sample_sentence(sample: SimulationSample, mass: float) -> str:
    """Forces and kinetic energy of a sample."""
    ground = float(np.linalg.norm(sample.ground))
    push = 0.0 if sample.push is None else float(np.linalg.norm(sample.push.force))
    return (
        f"Ground force {ground:.0f} N ({ground / (mass * 9.81):.2f} body weights), push force "
        f"{push:.0f} N, kinetic energy {sample.kinetic:.1f} J"
    )


def force_arrow(start: np.ndarray, force: np.ndarray, weight: float) -> np.ndarray:
    """(1, 2, 3), m: the arrow of a force (3,), N; empty if it is unknown or small."""
    if not np.isfinite(start).all() or np.linalg.norm(force) < 0.005 * weight:
        return np.zeros((0, 2, 3))
    return np.stack([start, start + force * ARROW_LENGTH_M / weight])[None]
