"""Simulate: let the active body go under a contact law, push it, and watch forces and energy."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon
from viser.uplot import Series

from homodyn.errors import HomodynError
from homodyn.report.replay import ARROW
from homodyn.studio.arrows import weight_of
from homodyn.studio.document import Actor, Document
from homodyn.studio.figure import figure
from homodyn.studio.panels.legend import ROOM, legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.panels.pose import PosePanel
from homodyn.studio.pushing import PushHandle
from homodyn.studio.scene.many import Arrows
from homodyn.studio.session import View
from homodyn.studio.simulating import NAMES, Choices, Glance, Hand, LiveRun

NOTHING = "(nothing)"
LABEL = "simulate"
DURATIONS = ("2", "5", "10", "20")
SPEEDS = ("1", "0.5", "0.25", "0.1")
LEAST = 0.25
"""s between two pictures of the plots."""
WINDOW = 360
"""Looks that the plots show while a body moves."""
HEIGHT = 120
GROUND, HAND = (40, 150, 90), (210, 60, 120)
CURVES = {
    "N": {"force of the ground": "#28965a", "of the hand": "#d23c78"},
    "J": {"kinetic energy": "#3f7fd0", "potential": "#e08a3c", "both": "#808080"},
}
"""What the plots show, by unit, and in which colours."""


class SimulatePanel(Panel):
    """The controls of a run, a handle to push with, and two plots."""

    title = "Simulate"
    unfolded = True

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("")
        self.law = self.gui.add_dropdown(
            "Contact",
            tuple(NAMES.values()),
            hint="From event to event is exact, and slow for a whole body on many contacts",
        )
        self.friction = self.gui.add_number("Friction", 0.8, min=0.0, max=5.0, step=0.05)
        self.hold = self.gui.add_number(
            "Servos (N m/rad)", 500.0, min=0.0, max=1e5, step=50.0,
            hint="with which joints hold the first pose; 0 lets them go",
        )  # fmt: skip
        self.duration = self.gui.add_dropdown("Seconds", DURATIONS, initial_value="10")
        self.speed = self.gui.add_dropdown(
            "Speed", SPEEDS, initial_value="1", hint="1 is real time"
        )
        self.push = self.gui.add_dropdown(
            "Push at", (NOTHING,), hint="A handle appears there: hold it and drag"
        )
        self.strength = self.gui.add_number(
            "Strength (N/m)", 1000.0, min=10.0, max=1e5, step=100.0, hint="for each metre of drag"
        )
        self.go = self.gui.add_button("Let go", icon=Icon.PLAYER_PLAY)
        self.end = self.gui.add_button("Stop", icon=Icon.PLAYER_STOP, color="red", visible=False)
        self.told_forces = self.gui.add_markdown("")
        self.plots: dict[str, Any] = {}
        self.handle = PushHandle(self.studio)
        self.live: LiveRun | None = None
        self.glances: list[Glance] = []
        self._arrows: tuple[Arrows, Arrows] | None = None
        self._owner = ""
        self._plotted = 0.0
        self._shown = -1
        self.on_click(self.go)(self.start)
        self.on_click(self.end)(self.stop)
        self.on_choice(self.push)(self._grip)
        self.on_choice(self.strength)(self._strengthen)
        self.studio.on_segment.append(self._clicked)

    def refresh(self, view: View) -> None:
        """Offer the segments of the active body."""
        actor = view.document.actor
        names = (NOTHING,) if actor is None else (NOTHING, *actor.model.body_names)
        if tuple(self.push.options) != names:
            self.push.options = names
            assign(self.push, NOTHING)
            self.handle.drop()
        running = self.live is not None
        self.go.visible, self.end.visible = not running and actor is not None, running
        if not running:
            self.state.content = sentence(actor)

    def tick(self, view: View) -> None:
        """Show the newest look at the run."""
        live = self.live
        if live is None or not self.glances:
            return
        glance = self.glances[-1]
        self.handle.follow(live.model, glance.q)
        if len(self.glances) != self._shown:
            self._shown = len(self.glances)
            self._draw_arrows(view.document, glance)
        if perf_counter() - self._plotted > LEAST:
            self._plotted = perf_counter()
            self._plot(self.glances[-WINDOW:])
            self.told_forces.content = numbers(glance, live.model.mass)
            self.state.content = moving(self._owner, glance, live.choices, live.stopped)

    def start(self) -> None:
        """Let the active body go from the pose that is drawn."""
        actor = self.session.document.actor
        if actor is None:
            raise HomodynError("no body is open that could be let go; add one under Open")
        if self.live is not None:
            raise HomodynError("a body moves already; stop it first")
        now = self.session.clock.now
        q = actor.position(now)
        law = next(word for word, name in NAMES.items() if name == self.law.value)
        choices = Choices(
            law,
            float(self.friction.value),
            float(self.hold.value),
            float(self.duration.value),
            float(self.speed.value),
        )
        self.session.tune(lambda clock: clock.stopped())
        self.studio.layout.panel(PosePanel).handle.drop()  # type: ignore[attr-defined]
        self.glances, self._shown, self._owner = [], -1, actor.name
        live = self.live = LiveRun(actor.model, q, choices, self._hand, self._looked)
        self.state.content = f"Preparing **{actor.name}** ..."
        live.start()
        self.go.visible, self.end.visible = False, True
        self.studio.watch(live.done, self._ended)

    def stop(self) -> None:
        """End the run; what was simulated becomes a result."""
        if self.live is not None:
            self.live.stop()

    def close(self) -> None:
        """End a run that goes on."""
        self.stop()

    def _hand(self) -> Hand | None:
        return None if self.live is None else self.handle.hand(self.live.model)

    def _looked(self, glance: Glance) -> None:
        self.glances.append(glance)

        def moved(document: Document) -> Document:
            if self._owner not in document.names:
                return document
            place = document.index(self._owner)
            return document.replaced(place, document.actors[place].in_pose(glance.q))

        # Thirty pictures a second are enough; the run looks twice as often.
        if len(self.glances) % 2:
            self.session.change(LABEL, moved, merge=True)

    def _ended(self) -> None:
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
            self.state.content = f"**{self._owner}** could not be let go."
            raise HomodynError(live.error)
        made = live.actor(result_name(self._owner, live.choices.law))
        if len(live.record.time) > 1:
            self.session.change(f"simulate {self._owner}", lambda d: d.with_actor(made))
            self.session.tune(lambda clock: clock.at_frame(0))
        if not live.stopped:
            self.studio.notify("Simulated", live.record.message)
        with self.studio.pausing():
            self._plot(self.glances)
        if self.glances:
            self.told_forces.content = numbers(self.glances[-1], live.model.mass)
        self.handle.drop()
        assign(self.push, NOTHING)
        self.session.changed.set()

    def _grip(self, segment: str) -> None:
        actor = self.session.document.actor
        if segment == NOTHING or actor is None:
            self.handle.drop()
            return
        live = self.live
        q = self.glances[-1].q if live and self.glances else actor.position(self.session.clock.now)
        self.handle.grip(actor.model, q, segment)

    def _clicked(self, body: str, segment: str) -> None:
        """While a body moves, a click takes hold of it to push, and not to pose."""
        if self.live is not None and body == self._owner:
            self.studio.layout.panel(PosePanel).handle.drop()  # type: ignore[attr-defined]
            assign(self.push, segment)
            self._grip(segment)

    def _strengthen(self, newton: float) -> None:
        self.handle.strength = float(newton)

    def _draw_arrows(self, document: Document, glance: Glance) -> None:
        if self._arrows is None:
            scene = self.studio.server.scene
            self._arrows = (
                Arrows(scene, "/scene/simulated/ground", GROUND),
                Arrows(scene, "/scene/simulated/hand", HAND),
            )
        if self._owner not in document.names:
            return
        actor = document.actors[document.index(self._owner)]
        turn, weight = figure(actor.model).turn, weight_of(actor)
        ground = arrow(turn @ glance.centre, turn @ glance.ground, weight)
        self._arrows[0].place(ground)
        pushes = np.zeros((0, 2, 3))
        if glance.push is not None:
            pushes = arrow(turn @ glance.push.place, turn @ glance.push.force, weight)
        self._arrows[1].place(pushes)

    def _plot(self, glances: list[Glance]) -> None:
        if len(glances) < 2:
            return
        time = np.array([glance.time for glance in glances])
        kinetic = np.array([glance.kinetic for glance in glances])
        potential = np.array([glance.potential for glance in glances])
        potential = potential - self.glances[0].potential
        force = np.array([np.linalg.norm(glance.ground) for glance in glances])
        hand = np.array([0.0 if g.push is None else np.linalg.norm(g.push.force) for g in glances])
        self._put("N", (time, force, hand))
        self._put("J", (time, kinetic, potential, kinetic + potential))

    def _put(self, unit: str, data: tuple[np.ndarray, ...]) -> None:
        """Draw, or bring up to date, the plot of a unit."""
        if unit in self.plots:
            self.plots[unit].data = data
            return
        series: list[Series] = [{"label": "time (s)"}]
        series += [
            {"label": name, "stroke": colour, "width": 1.5} for name, colour in CURVES[unit].items()
        ]
        with self.container:
            self.gui.add_html(legend(CURVES[unit]))
            self.plots[unit] = self.gui.add_uplot(
                data,
                tuple(series),
                scales={"x": {"time": False}},
                axes=({"size": 26}, {"label": unit, "size": 50, "labelSize": 16}),
                legend={"show": False},
                height=HEIGHT,
                padding=ROOM,
            )


def moving(name: str, glance: Glance, choices: Choices, stopped: bool) -> str:
    """How far a run is and how fast, in Markdown; how long it takes where it cannot keep up."""
    if stopped:
        return f"**{name}** stops at {glance.time:.1f} s ..."
    told = f"**{name}** moves: {glance.time:.1f} s, {glance.pace:.2f} × real time."
    if glance.pace > 0.8 * choices.speed or not glance.pace:
        return told
    left = (choices.duration - glance.time) / glance.pace
    length = f"{left:.0f} s" if left < 120 else f"{left / 60:.0f} minutes"
    return (
        f"{told} This contact law is slower than the clock here: the rest of the "
        f"{choices.duration:g} s takes about {length}. *Stop* keeps what there is until then."
    )


def result_name(owner: str, law: str) -> str:
    """What to call a run: the body and the law, also when the body came of a run itself."""
    laws = "|".join(re.escape(name) for name in NAMES.values())
    return f"{re.sub(rf', ({laws})( [0-9]+)?$', '', owner)}, {NAMES[law]}"


def sentence(actor: Actor | None) -> str:
    """What to do here, in Markdown."""
    if actor is None:
        return "Open or add a body, then let it go here."
    return (
        f"**{actor.name}** begins in the pose that is drawn. Let it go, choose or click a segment, "
        "and drag the handle to push it."
    )


def numbers(glance: Glance, mass: float) -> str:
    """Forces and energy of an instant in words."""
    ground = float(np.linalg.norm(glance.ground))
    hand = 0.0 if glance.push is None else float(np.linalg.norm(glance.push.force))
    return (
        f"Ground {ground:.0f} N ({ground / (mass * 9.81):.2f} body weights), hand {hand:.0f} N, "
        f"kinetic energy {glance.kinetic:.1f} J"
    )


def arrow(start: np.ndarray, force: np.ndarray, weight: float) -> np.ndarray:
    """(1, 2, 3), m, or nothing where a force is not known or too small to see."""
    if not np.isfinite(start).all() or np.linalg.norm(force) < 0.005 * weight:
        return np.zeros((0, 2, 3))
    return np.stack([start, start + force * ARROW / weight])[None]
