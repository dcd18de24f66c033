"""Balance: margins of a motion over time, and the static polygon in the scene."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon

from homodyn.foundation.markup import escape_markup
from homodyn.report.colors import ALERT_COLOR, SERIES_COLORS, rgb_from_hex
from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.balance_evaluation import (
    BalanceResult,
    BalanceScene,
    evaluate_motion,
    evaluate_scene,
    path_trial,
)
from homodyn.studio.document import nearest_frame
from homodyn.studio.markdown_text import MarkdownText
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
from homodyn.studio.panels.panel import Panel
from homodyn.studio.scene.instances import LineSegments
from homodyn.studio.session import SessionView

ROOT = "/scene/balance"
PLOT_HEIGHT_PX = 130
MIN_REDRAW_S = 0.12
"""Time (s) between two positions of the cursor during playback."""
MAX_PLOT_POINTS = 600
BALANCED_COLOR, UNBALANCED_COLOR = (46, 150, 90), rgb_from_hex(ALERT_COLOR)
"""Of the polygon while the supports can exert the required wrench, and while they cannot."""
NODES = (
    ("balanced", BALANCED_COLOR, 4.0),
    ("unbalanced", UNBALANCED_COLOR, 4.0),
    ("supports", (110, 120, 140), 2.0),
    ("path", (150, 110, 190), 2.0),
)
"""Lines of the scene: name, color, width (pixels)."""
CURVES = (
    LineStyle("force margin (N)", SERIES_COLORS[0]),
    LineStyle("moment margin (N m)", SERIES_COLORS[1]),
)


class BalancePanel(Panel):
    """Evaluates the balance of the active body, or of an opened scene."""

    title = "Balance"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(
            self.gui,
            "Evaluate the balance margins of the active body, or drop a scene file on the page.",
        )
        self.friction = self.gui.add_number("Friction", 0.7, min=0.05, max=3.0, step=0.05)
        self.button = self.gui.add_button("Evaluate balance", icon=Icon.SCALE)
        self.instant_text = MarkdownText(self.gui, "")
        self.legend = self.gui.add_html(legend(CURVES), visible=False)
        self.balance: BalanceResult | None = None
        self.plot: Any = None
        self.data: PlotData = ()
        self._drawn: object = None
        self._cursor = (np.nan, 0.0)
        """Instant (s) of the cursor, and when it was drawn."""
        self._nodes: dict[str, LineSegments] = {}
        self._path_owner: BalanceResult | None = None
        self.on_click(self.button)(self._evaluate)

    def show(self, item: object) -> bool:
        """Evaluate the path of a scene."""
        if not isinstance(item, BalanceScene):
            return False
        balance = evaluate_scene(item)
        trial = path_trial(item, balance)
        self.session.change(f"open {item.name}", lambda d: d.with_trial(trial), in_file=True)
        self.balance = balance
        self.session.changed.set()
        return True

    def refresh(self, view: SessionView) -> None:
        """Remove a result whose motion is no longer open."""
        balance = self.balance
        if balance is not None and balance.motion is not None:
            motions = [actor.motion for actor in view.document.actors]
            if not any(motion is balance.motion for motion in motions):
                self.balance = None

    def tick(self, view: SessionView) -> None:
        """Draw the margins with a cursor, and the polygon at the current instant."""
        balance, now = self.balance, view.clock.now
        if balance is not self._drawn:
            self._drawn = balance
            self._draw(balance)
        if balance is None:
            self._clear()
            return
        self._draw_polygon(balance, now)
        wall = perf_counter()
        due = wall - self._cursor[1] > MIN_REDRAW_S or not view.clock.playing
        if self.plot is not None and now != self._cursor[0] and due:
            self._cursor = (now, wall)
            self.plot.data = with_cursor(self.data, now)
            self.instant_text.content = instant_sentence(balance, now)

    def _evaluate(self) -> None:
        document, friction = self.session.document, float(self.friction.value)

        def work(task: BackgroundTask) -> None:
            task.report("detecting stances and their contact wrenches")
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
            f"**{escape_markup(balance.owner)}**: balanced in {100 * found.balanced_share:.0f} % "
            "of the evaluated "
            f"frames. {escape_markup(found.sentence)}"
        )
        rows = np.unique(np.linspace(0, len(balance.time) - 1, MAX_PLOT_POINTS).astype(int))
        curves = [np.where(np.isfinite(c), c, np.nan)[rows] for c in (found.force, found.wrench)]
        self.data = (balance.time[rows], *curves)
        self._cursor = (np.nan, 0.0)
        with self.container:
            self.plot = add_line_plot(
                self.gui,
                with_cursor(self.data, float(self.data[0][0])),
                [*CURVES, CURSOR_STYLE],
                PlotAxes("time (s)", "N, N m", PLOT_HEIGHT_PX, y_range=value_range(self.data)),
            )

    def _draw_polygon(self, balance: BalanceResult, now: float) -> None:
        corners = balance.polygon(now)
        balanced = balance.balanced(now)
        for name, color, width in NODES:
            if name not in self._nodes:
                self._nodes[name] = LineSegments(
                    self.studio.server.scene, f"{ROOT}/{name}", color, width
                )
        raised = corners + np.array([0.0, 0.0, 0.012]) if len(corners) else corners
        outline = np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
        if len(corners):
            center = balance.center(now)
            foot = np.array([center[0], center[1], raised[:, 2].mean()])
            outline = np.concatenate([outline, np.stack([center, foot])[None]])
        self._nodes["balanced"].place(outline, visible=balanced)
        self._nodes["unbalanced"].place(outline, visible=not balanced)
        if self._path_owner is not balance:
            self._path_owner = balance
            self._nodes["path"].place(balance.path)
        self._nodes["supports"].place(balance.supports(now) + np.array([0.0, 0.0, 0.006]))

    def _clear(self) -> None:
        self._path_owner = None
        for node in self._nodes.values():
            node.place(np.zeros((0, 2, 3)), visible=False)


def instant_sentence(balance: BalanceResult, now: float) -> str:
    """The margins at an instant (s), in Markdown."""
    frame = nearest_frame(balance.time, now)
    found = balance.evaluation
    number = int(found.phase[frame])
    if number < 0 or not np.isfinite(found.wrench[frame]):
        return f"{now:.2f} s: in flight, or on supports that were not detected."
    supports = escape_markup(" and ".join(found.phases[number].supports))
    return (
        f"{now:.2f} s on {supports}: margins of {found.force[frame]:.0f} N and "
        f"{found.wrench[frame]:.0f} N m."
    )
