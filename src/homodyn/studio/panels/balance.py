"""Balance: margins of a motion over time, and the polygon over its feet in the scene."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon
from viser.uplot import Series

from homodyn.studio.document import nearest
from homodyn.studio.judging import BalanceScene, Judged, judge, judge_scene, path_trial
from homodyn.studio.panels.legend import ROOM, legend
from homodyn.studio.panels.panel import Panel
from homodyn.studio.panels.plots import LEAST, span, with_cursor
from homodyn.studio.scene.many import Lines
from homodyn.studio.session import View
from homodyn.studio.tasks import Task

ROOT = "/scene/balance"
HEIGHT = 130
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
CURVES = {"push that is left (N)": "#3f7fd0", "moment that is left (N m)": "#e08a3c"}


class BalancePanel(Panel):
    """Judges the active body, or a scene of supports that was opened."""

    title = "Balance"
    unfolded = True

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown(
            "How far is a motion from falling? Judge the active body, or drop a scene of supports."
        )
        self.friction = self.gui.add_number("Friction", 0.7, min=0.05, max=3.0, step=0.05)
        self.button = self.gui.add_button("Judge the motion", icon=Icon.SCALE)
        self.told_now = self.gui.add_markdown("")
        self.legend = self.gui.add_html(legend(CURVES), visible=False)
        self.judged: Judged | None = None
        self.plot: Any = None
        self.table: tuple[np.ndarray, ...] = ()
        self._drawn: object = None
        self._cursor = (np.nan, 0.0)
        self._nodes: dict[str, Lines] = {}
        self._way: Judged | None = None
        self.on_click(self.button)(self._judge)

    def show(self, thing: object) -> bool:
        """Judge the path of a scene."""
        if not isinstance(thing, BalanceScene):
            return False
        judged = judge_scene(thing)
        trial = path_trial(thing, judged)
        self.session.change(f"open {thing.name}", lambda d: d.with_trial(trial), opened=True)
        self.judged = judged
        self.session.changed.set()
        return True

    def refresh(self, view: View) -> None:
        """Forget a judgement whose body is gone or moves otherwise."""
        judged = self.judged
        if judged is not None and judged.motion is not None:
            motions = [actor.motion for actor in view.document.actors]
            if not any(motion is judged.motion for motion in motions):
                self.judged = None

    def tick(self, view: View) -> None:
        """Draw the margins with a cursor, and the polygon at the instant that is shown."""
        judged, now = self.judged, view.clock.now
        if judged is not self._drawn:
            self._drawn = judged
            self._draw(judged)
        if judged is None:
            self._clear()
            return
        self._polygon(judged, now)
        moment = perf_counter()
        late = moment - self._cursor[1] > LEAST or not view.clock.playing
        if self.plot is not None and now != self._cursor[0] and late:
            self._cursor = (now, moment)
            self.plot.data = with_cursor(self.table, now)
            self.told_now.content = instant_sentence(judged, now)

    def _judge(self) -> None:
        document, friction = self.session.document, float(self.friction.value)

        def work(task: Task) -> None:
            task.tell("finding stances and what they can give")
            self.judged = judge(document, friction)

        self.studio.tasks.start("Judging the balance", work)

    def _draw(self, judged: Judged | None) -> None:
        if self.plot is not None:
            self.plot.remove()
            self.plot = None
        if judged is None:
            return
        found = judged.evaluation
        self.legend.visible = True
        self.state.content = (
            f"**{judged.owner}**: balanced in {100 * found.balanced:.0f} % of the judged frames. "
            f"{found.sentence}"
        )
        keep = np.unique(np.linspace(0, len(judged.time) - 1, 600).astype(int))
        curves = [np.where(np.isfinite(c), c, np.nan)[keep] for c in (found.force, found.wrench)]
        self.table = (judged.time[keep], *curves)
        series: list[Series] = [{"label": "time (s)"}]
        for name, colour in CURVES.items():
            series.append({"label": name, "stroke": colour, "width": 1.5})
        series.append({"label": "now", "stroke": CURSOR, "width": 2, "points": {"show": False}})
        self._cursor = (np.nan, 0.0)
        with self.container:
            self.plot = self.gui.add_uplot(
                with_cursor(self.table, float(self.table[0][0])),
                tuple(series),
                scales={"x": {"time": False}, "y": {"range": span(self.table)}},
                axes=({"size": 26}, {"label": "N, N m", "size": 50, "labelSize": 16}),
                legend={"show": False},
                height=HEIGHT,
                padding=ROOM,
            )

    def _polygon(self, judged: Judged, now: float) -> None:
        corners = judged.polygon(now)
        colour = GOOD if judged.balanced(now) else BAD
        for name, own, width in NODES:
            if name not in self._nodes:
                self._nodes[name] = Lines(self.studio.server.scene, f"{ROOT}/{name}", own, width)
        raised = corners + np.array([0.0, 0.0, 0.012]) if len(corners) else corners
        outline = np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
        if len(corners):
            centre = judged.centre(now)
            foot = np.array([centre[0], centre[1], raised[:, 2].mean()])
            outline = np.concatenate([outline, np.stack([centre, foot])[None]])
        self._nodes["good"].place(outline, visible=colour == GOOD)
        self._nodes["bad"].place(outline, visible=colour == BAD)
        if self._way is not judged:
            self._way = judged
            self._nodes["path"].place(judged.path)
        self._nodes["supports"].place(judged.supports(now) + np.array([0.0, 0.0, 0.006]))

    def _clear(self) -> None:
        self._way = None
        for node in self._nodes.values():
            node.place(np.zeros((0, 2, 3)), visible=False)


def instant_sentence(judged: Judged, now: float) -> str:
    """The margins at an instant (s), in Markdown."""
    frame = nearest(judged.time, now)
    found = judged.evaluation
    number = int(found.phase[frame])
    if number < 0 or not np.isfinite(found.wrench[frame]):
        return f"{now:.2f} s: in flight, or on supports that were not found."
    supports = " and ".join(found.phases[number].supports)
    return (
        f"{now:.2f} s on {supports}: a push of {found.force[frame]:.0f} N or a moment of "
        f"{found.wrench[frame]:.0f} N m is left."
    )
