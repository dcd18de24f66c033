"""Balance: margins of a motion over time, and the polygon over its feet in the scene."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon
from viser.uplot import Series

from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.balance_evaluation import (
    BalanceResult,
    BalanceScene,
    evaluate_motion,
    evaluate_scene,
    path_trial,
)
from homodyn.studio.document import nearest_frame
from homodyn.studio.panels.legend import ROOM, legend
from homodyn.studio.panels.panel import Panel
from homodyn.studio.panels.plots import MIN_REDRAW_S, value_range, with_cursor
from homodyn.studio.scene.instances import LineSegments
from homodyn.studio.session import SessionView

ROOT = "/scene/balance"
PLOT_HEIGHT_PX = 130
CURSOR = "#d03030"
GOOD, BAD = (46, 150, 90), (200, 60, 60)
"""Colours of the polygon while the supports can give what is needed, and while they cannot."""
NODES = (
    ("good", GOOD, 4.0),
    ("bad", BAD, 4.0),
    ("supports", (110, 120, 140), 2.0),
    ("path", (150, 110, 190), 2.0),
)
"""Lines of the scene: name, colour, width (pixels)."""
CURVES = {"force margin (N)": "#3f7fd0", "moment margin (N m)": "#e08a3c"}


class BalancePanel(Panel):
    """Judges the active body, or a scene of supports that was opened."""

    title = "Balance"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown(
            "Evaluate the balance margins of the active body, or drop a scene file on the page."
        )
        self.friction = self.gui.add_number("Friction", 0.7, min=0.05, max=3.0, step=0.05)
        self.button = self.gui.add_button("Evaluate balance", icon=Icon.SCALE)
        self.instant_text = self.gui.add_markdown("")
        self.legend = self.gui.add_html(legend(CURVES), visible=False)
        self.balance: BalanceResult | None = None
        self.plot: Any = None
        self.table: tuple[np.ndarray, ...] = ()
        self._drawn: object = None
        self._cursor = (np.nan, 0.0)
        self._nodes: dict[str, LineSegments] = {}
        self._way: BalanceResult | None = None
        self.on_click(self.button)(self._evaluate)

    def show(self, thing: object) -> bool:
        """Judge the path of a scene."""
        if not isinstance(thing, BalanceScene):
            return False
        balance = evaluate_scene(thing)
        trial = path_trial(thing, balance)
        self.session.change(f"open {thing.name}", lambda d: d.with_trial(trial), in_file=True)
        self.balance = balance
        self.session.changed.set()
        return True

    def refresh(self, view: SessionView) -> None:
        """Forget a judgement whose body is gone or moves otherwise."""
        balance = self.balance
        if balance is not None and balance.motion is not None:
            motions = [actor.motion for actor in view.document.actors]
            if not any(motion is balance.motion for motion in motions):
                self.balance = None

    def tick(self, view: SessionView) -> None:
        """Draw the margins with a cursor, and the polygon at the instant that is shown."""
        balance, now = self.balance, view.clock.now
        if balance is not self._drawn:
            self._drawn = balance
            self._draw(balance)
        if balance is None:
            self._clear()
            return
        self._polygon(balance, now)
        moment = perf_counter()
        late = moment - self._cursor[1] > MIN_REDRAW_S or not view.clock.playing
        if self.plot is not None and now != self._cursor[0] and late:
            self._cursor = (now, moment)
            self.plot.data = with_cursor(self.table, now)
            self.instant_text.content = instant_sentence(balance, now)

    def _evaluate(self) -> None:
        document, friction = self.session.document, float(self.friction.value)

        def work(task: BackgroundTask) -> None:
            task.tell("detecting stances and their contact wrenches")
            self.balance = evaluate_motion(document, friction)

        self.studio.tasks.start("Evaluating balance", work)

    def _draw(self, balance: BalanceResult | None) -> None:
        if self.plot is not None:
            self.plot.remove()
            self.plot = None
        if balance is None:
            return
        found = balance.evaluation
        self.legend.visible = True
        self.state.content = (
            f"**{balance.owner}**: balanced in {100 * found.balanced_share:.0f} % of the evaluated "
            f"frames. {found.sentence}"
        )
        keep = np.unique(np.linspace(0, len(balance.time) - 1, 600).astype(int))
        curves = [np.where(np.isfinite(c), c, np.nan)[keep] for c in (found.force, found.wrench)]
        self.table = (balance.time[keep], *curves)
        series: list[Series] = [{"label": "time (s)"}]
        for name, color in CURVES.items():
            series.append({"label": name, "stroke": color, "width": 1.5})
        series.append({"label": "now", "stroke": CURSOR, "width": 2, "points": {"show": False}})
        self._cursor = (np.nan, 0.0)
        with self.container:
            self.plot = self.gui.add_uplot(
                with_cursor(self.table, float(self.table[0][0])),
                tuple(series),
                scales={"x": {"time": False}, "y": {"range": value_range(self.table)}},
                axes=({"size": 26}, {"label": "N, N m", "size": 50, "labelSize": 16}),
                legend={"show": False},
                height=PLOT_HEIGHT_PX,
                padding=ROOM,
            )

    def _polygon(self, balance: BalanceResult, now: float) -> None:
        corners = balance.polygon(now)
        color = GOOD if balance.balanced(now) else BAD
        for name, own, width in NODES:
            if name not in self._nodes:
                self._nodes[name] = LineSegments(
                    self.studio.server.scene, f"{ROOT}/{name}", own, width
                )
        raised = corners + np.array([0.0, 0.0, 0.012]) if len(corners) else corners
        outline = np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
        if len(corners):
            center = balance.center(now)
            foot = np.array([center[0], center[1], raised[:, 2].mean()])
            outline = np.concatenate([outline, np.stack([center, foot])[None]])
        self._nodes["good"].place(outline, visible=color == GOOD)
        self._nodes["bad"].place(outline, visible=color == BAD)
        if self._way is not balance:
            self._way = balance
            self._nodes["path"].place(balance.path)
        self._nodes["supports"].place(balance.supports(now) + np.array([0.0, 0.0, 0.006]))

    def _clear(self) -> None:
        self._way = None
        for node in self._nodes.values():
            node.place(np.zeros((0, 2, 3)), visible=False)


def instant_sentence(balance: BalanceResult, now: float) -> str:
    """The margins at an instant (s), in Markdown."""
    frame = nearest_frame(balance.time, now)
    found = balance.evaluation
    number = int(found.phase[frame])
    if number < 0 or not np.isfinite(found.wrench[frame]):
        return f"{now:.2f} s: in flight, or on supports that were not found."
    supports = " and ".join(found.phases[number].supports)
    return (
        f"{now:.2f} s on {supports}: a push of {found.force[frame]:.0f} N or a moment of "
        f"{found.wrench[frame]:.0f} N m is left."
    )
