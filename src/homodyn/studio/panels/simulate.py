"""Simulate: let the active body go under a contact law, push it, and watch forces and energy."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon
from viser.uplot import Series

from homodyn.errors import HomodynError
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
from homodyn.studio.panels.legend import ROOM, legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.push_handle import PushHandle
from homodyn.studio.scene.instances import Arrows
from homodyn.studio.session import SessionView

NO_TARGET = "(nothing)"
LABEL = "simulate"
DURATIONS = ("2", "5", "10", "20")
SPEEDS = ("1", "0.5", "0.25", "0.1")
MIN_REDRAW_S = 0.25
"""s between two pictures of the plots."""
PLOT_WINDOW_SAMPLES = 360
"""Looks that the plots show while a body moves."""
PLOT_HEIGHT_PX = 120
GROUND, HAND = (40, 150, 90), (210, 60, 120)
CURVES = {
    "N": {"ground force": "#28965a", "push force": "#d23c78"},
    "J": {"kinetic energy": "#3f7fd0", "potential": "#e08a3c", "total": "#808080"},
}
"""What the plots show, by unit, and in which colours."""


class SimulatePanel(Panel):
    """The controls of a run, a handle to push with, and two plots."""

    title = "Simulate"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("")
        self.law = self.gui.add_dropdown(
            "Contact",
            tuple(CONTACT_LAW_NAMES.values()),
            hint="Event-driven contact is exact, but slow for a whole body with many contacts",
        )
        self.friction = self.gui.add_number("Friction", 0.8, min=0.0, max=5.0, step=0.05)
        self.hold = self.gui.add_number(
            "Servo stiffness (N m/rad)", 500.0, min=0.0, max=1e5, step=50.0,
            hint="Stiffness with which joints hold the initial pose; 0 for passive joints",
        )  # fmt: skip
        self.duration = self.gui.add_dropdown("Seconds", DURATIONS, initial_value="10")
        self.speed = self.gui.add_dropdown(
            "Speed", SPEEDS, initial_value="1", hint="1 is real time"
        )
        self.push = self.gui.add_dropdown(
            "Push segment", (NO_TARGET,), hint="Shows a handle; drag it to apply a force"
        )
        self.strength = self.gui.add_number(
            "Push stiffness (N/m)",
            1000.0,
            min=10.0,
            max=1e5,
            step=100.0,
            hint="Force per meter of drag",
        )
        self.go = self.gui.add_button("Start simulation", icon=Icon.PLAYER_PLAY)
        self.end = self.gui.add_button("Stop", icon=Icon.PLAYER_STOP, color="red", visible=False)
        self.force_text = self.gui.add_markdown("")
        self.plots: dict[str, Any] = {}
        self.handle = PushHandle(self.studio)
        self.live: LiveSimulation | None = None
        self.samples: list[SimulationSample] = []
        self._arrows: tuple[Arrows, Arrows] | None = None
        self._owner = ""
        self._plotted = 0.0
        self._shown = -1
        self.on_click(self.go)(self.start)
        self.on_click(self.end)(self.stop)
        self.on_choice(self.push)(self._grip)
        self.on_choice(self.strength)(self._strengthen)
        self.studio.on_segment.append(self._on_segment_click)

    def refresh(self, view: SessionView) -> None:
        """Offer the segments of the active body."""
        actor = view.document.actor
        names = (NO_TARGET,) if actor is None else (NO_TARGET, *actor.model.body_names)
        if tuple(self.push.options) != names:
            self.push.options = names
            assign(self.push, NO_TARGET)
            self.handle.drop()
        running = self.live is not None
        self.go.visible, self.end.visible = not running and actor is not None, running
        if not running:
            self.state.content = sentence(actor)

    def tick(self, view: SessionView) -> None:
        """Show the newest look at the run."""
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
            self._plot(self.samples[-PLOT_WINDOW_SAMPLES:])
            self.force_text.content = numbers(sample, live.model.mass)
            self.state.content = moving(self._owner, sample, live.choices, live.stopped)

    def start(self) -> None:
        """Let the active body go from the pose that is drawn."""
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open to simulate; add one under Open")
        if self.live is not None:
            raise HomodynError("a simulation is running; stop it first")
        now = self.session.clock.now
        q = actor.position(now)
        law = next(word for word, name in CONTACT_LAW_NAMES.items() if name == self.law.value)
        choices = SimulationChoices(
            law,
            float(self.friction.value),
            float(self.hold.value),
            float(self.duration.value),
            float(self.speed.value),
        )
        self.session.update_clock(lambda clock: clock.pause())
        self._take_control()
        self.samples, self._shown, self._owner = [], -1, actor.name
        live = self.live = LiveSimulation(actor.model, q, choices, self._hand, self._on_sample)
        self.state.content = f"Preparing **{actor.name}** ..."
        live.start()
        self.go.visible, self.end.visible = False, True
        self.studio.watch(live.done, self._on_end)

    def stop(self) -> None:
        """End the run; what was simulated becomes a result."""
        if self.live is not None:
            self.live.stop()

    def close(self) -> None:
        """End a run that goes on."""
        self.stop()

    def _hand(self) -> HandSpring | None:
        return None if self.live is None else self.handle.hand(self.live.model)

    def _on_sample(self, sample: SimulationSample) -> None:
        self.samples.append(sample)

        def moved(document: StudioDocument) -> StudioDocument:
            if self._owner not in document.names:
                return document
            place = document.index(self._owner)
            return document.with_actor_at(place, document.actors[place].with_pose(sample.q))

        # Thirty pictures a second are enough; the run looks twice as often.
        if len(self.samples) % 2:
            self.session.change(LABEL, moved, merge=True)

    def _on_end(self) -> None:
        """Put the body back and open what came of the run beside it."""
        live, self.live = self.live, None
        if live is None:
            return
        self.go.visible, self.end.visible = True, False
        if self.session.view().undo_label == LABEL:
            self.session.undo()
        if self._arrows is not None:
            for arrows in self._arrows:
                arrows.place(np.zeros((0, 2, 3)), visible=False)
        if live.record is None:
            self.state.content = f"**{self._owner}** could not be simulated."
            raise HomodynError(live.error)
        made = live.actor(result_name(self._owner, live.choices.law))
        if len(live.record.time) > 1:
            self.session.change(f"simulate {self._owner}", lambda d: d.with_actor(made))
            self.session.update_clock(lambda clock: clock.at_frame(0))
        if not live.stopped:
            self.studio.notify("Simulated", live.record.message)
        with self.studio.pause_drawing():
            self._plot(self.samples)
        if self.samples:
            self.force_text.content = numbers(self.samples[-1], live.model.mass)
        self.handle.drop()
        assign(self.push, NO_TARGET)
        self.session.changed.set()

    def _grip(self, segment: str) -> None:
        actor = self.session.document.actor
        if segment == NO_TARGET or actor is None:
            self.handle.drop()
            return
        live = self.live
        q = self.samples[-1].q if live and self.samples else actor.position(self.session.clock.now)
        self.handle.grip(actor.model, q, segment)

    def _take_control(self) -> None:
        """Let other controls release the body."""
        for release in self.studio.on_simulation_control:
            release()

    def _on_segment_click(self, body: str, segment: str) -> None:
        """While a body moves, a click takes hold of it to push, and not to pose."""
        if self.live is not None and body == self._owner:
            self._take_control()
            assign(self.push, segment)
            self._grip(segment)

    def _strengthen(self, newton: float) -> None:
        self.handle.strength = float(newton)

    def _draw_arrows(self, document: StudioDocument, sample: SimulationSample) -> None:
        if self._arrows is None:
            scene = self.studio.server.scene
            self._arrows = (
                Arrows(scene, "/scene/simulated/ground", GROUND),
                Arrows(scene, "/scene/simulated/hand", HAND),
            )
        if self._owner not in document.names:
            return
        actor = document.actors[document.index(self._owner)]
        turn, weight = body_geometry(actor.model).turn, weight_of(actor)
        ground = arrow(turn @ sample.center, turn @ sample.ground, weight)
        self._arrows[0].place(ground)
        pushes = np.zeros((0, 2, 3))
        if sample.push is not None:
            pushes = arrow(turn @ sample.push.place, turn @ sample.push.force, weight)
        self._arrows[1].place(pushes)

    def _plot(self, samples: list[SimulationSample]) -> None:
        if len(samples) < 2:
            return
        time = np.array([sample.time for sample in samples])
        kinetic = np.array([sample.kinetic for sample in samples])
        potential = np.array([sample.potential for sample in samples])
        potential = potential - self.samples[0].potential
        force = np.array([np.linalg.norm(sample.ground) for sample in samples])
        hand = np.array([0.0 if g.push is None else np.linalg.norm(g.push.force) for g in samples])
        self._update_plot("N", (time, force, hand))
        self._update_plot("J", (time, kinetic, potential, kinetic + potential))

    def _update_plot(self, unit: str, data: tuple[np.ndarray, ...]) -> None:
        """Draw, or bring up to date, the plot of a unit."""
        if unit in self.plots:
            self.plots[unit].data = data
            return
        series: list[Series] = [{"label": "time (s)"}]
        series += [
            {"label": name, "stroke": color, "width": 1.5} for name, color in CURVES[unit].items()
        ]
        with self.container:
            self.gui.add_html(legend(CURVES[unit]))
            self.plots[unit] = self.gui.add_uplot(
                data,
                tuple(series),
                scales={"x": {"time": False}},
                axes=({"size": 26}, {"label": unit, "size": 50, "labelSize": 16}),
                legend={"show": False},
                height=PLOT_HEIGHT_PX,
                padding=ROOM,
            )


def moving(name: str, sample: SimulationSample, choices: SimulationChoices, stopped: bool) -> str:
    """How far a run is and how fast, in Markdown; how long it takes where it cannot keep up."""
    if stopped:
        return f"**{name}** stops at {sample.time:.1f} s ..."
    on_task_update = f"**{name}** moves: {sample.time:.1f} s, {sample.pace:.2f} × real time."
    if sample.pace > 0.8 * choices.speed or not sample.pace:
        return on_task_update
    left = (choices.duration - sample.time) / sample.pace
    length = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} minutes"
    return (
        f"{on_task_update} This contact law is slower than the clock here: the rest of the "
        f"{choices.duration:g} s takes about {length}. *Stop* keeps what there is until then."
    )


def result_name(owner: str, law: str) -> str:
    """What to call a run: the body and the law, also when the body came of a run itself."""
    laws = "|".join(re.escape(name) for name in CONTACT_LAW_NAMES.values())
    return f"{re.sub(rf', ({laws})( [0-9]+)?$', '', owner)}, {CONTACT_LAW_NAMES[law]}"


def sentence(actor: Actor | None) -> str:
    """What to do here, in Markdown."""
    if actor is None:
        return "Open or add a body to simulate it."
    return (
        f"**{actor.name}** starts in the pose shown. Start the simulation, select or click a "
        "segment, and drag the handle to push it."
    )


def numbers(sample: SimulationSample, mass: float) -> str:
    """Forces and energy of an instant in words."""
    ground = float(np.linalg.norm(sample.ground))
    hand = 0.0 if sample.push is None else float(np.linalg.norm(sample.push.force))
    return (
        f"Ground {ground:.0f} N ({ground / (mass * 9.81):.2f} body weights), hand {hand:.0f} N, "
        f"kinetic energy {sample.kinetic:.1f} J"
    )


def arrow(start: np.ndarray, force: np.ndarray, weight: float) -> np.ndarray:
    """(1, 2, 3), m, or nothing where a force is not known or too small to see."""
    if not np.isfinite(start).all() or np.linalg.norm(force) < 0.005 * weight:
        return np.zeros((0, 2, 3))
    return np.stack([start, start + force * ARROW_LENGTH_M / weight])[None]
