"""Compare: curves of up to eight results over the gait cycle, and their differences."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon

from homodyn.analysis.curves import CYCLE_PERCENT
from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.motion import Side
from homodyn.report.colors import GRAY, SIDE_COLORS, hex_from_rgb
from homodyn.studio.comparison import (
    MAX_COMPARED_RESULTS,
    QUANTITIES,
    ComparedCurve,
    Difference,
    compared_curves,
    compared_results,
    curves_csv,
    differences,
    titles,
)
from homodyn.studio.document import StudioDocument
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.line_plot import LineStyle, PlotAxes, add_line_plot, legend, value_range
from homodyn.studio.panels.panel import Panel, offer
from homodyn.studio.panels.visibility_list import VisibilityList
from homodyn.studio.plot_signals import line_dash
from homodyn.studio.session import SessionView

NO_CURVE = "(nothing to compare)"
BOTH = "both"
PLOT_HEIGHT_PX = 130
EDIT_PAUSE_S = 0.5
"""Time (s) without edits after which the curves of an edited body are recomputed."""
DEFAULT_CURVES = {"Angle": "knee flexion", "Torque": "knee flexion", "Ground force": "upward"}
"""Part of the title of the curve that is shown first, by quantity."""


class ComparePanel(Panel):
    """A plot per quantity with all results, and a table of differences below it."""

    title = "Compare"
    expanded = True

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(self.gui, "")
        self.legend = self.gui.add_html("")
        self.list = VisibilityList(self, "Results", expanded=False)
        self.side = self.gui.add_button_group("Side", (BOTH, *map(str, Side)))
        self.choice: dict[str, Any] = {}
        self.plots: dict[str, Any] = {}
        self.tables: dict[str, Any] = {}
        self.folders: dict[str, Any] = {}
        for quantity in QUANTITIES:
            folder = self.folders[quantity] = self.gui.add_folder(
                quantity, expand_by_default=quantity != "Power", visible=False
            )
            with folder:
                choice = self.choice[quantity] = self.gui.add_dropdown("Curve", (NO_CURVE,))
                numbers = self.gui.add_folder(
                    "Numbers", expand_by_default=False, order=choice.order + 0.8
                )
                with numbers:
                    self.tables[quantity] = MarkdownText(self.gui, "")
            self.on_choice(choice)(lambda title: self.session.changed.set())
        self.save = self.gui.add_button(
            "Save curves", icon=Icon.DOWNLOAD, color="gray", visible=False
        )
        self.side.on_click(lambda event: self.session.changed.set())
        self.save.on_click(lambda event: self.studio.attempt(lambda: self._save(event.client)))
        self._motions: tuple[tuple[str, object], ...] = ()
        self._edited = 0.0
        """When a body was last edited (s)."""
        self._is_stale = False
        """Whether the curves are those of a body before its last edits."""
        self._drawn: dict[str, Any] = {}
        self._results: list[tuple[object, ...]] = []

    def refresh(self, view: SessionView) -> None:
        """Offer the curves of the open results; those of an edited body after a pause."""
        motions = tuple((actor.name, actor.motion) for actor in view.document.actors)
        edited = _has_new_motions(self._motions, motions)
        self._motions, now = motions, perf_counter()
        self._is_stale = edited and now - self._edited < EDIT_PAUSE_S
        if edited:
            self._edited = now
        if self._is_stale:
            timer = threading.Timer(1.1 * EDIT_PAUSE_S, self.session.changed.set)
            timer.daemon = True
            timer.start()
        else:
            self._offer_all(view.document)

    def _offer_all(self, document: StudioDocument) -> None:
        moving = [actor.name for actor in document.actors if actor.motion is not None]
        self.state.content = sentence(document, len(moving))
        results = compared_results(document)
        self.legend.content = legend(
            LineStyle(actor.name, GRAY, line_dash(k)) for k, actor in enumerate(results)
        )
        self.list.update(actor for actor in document.actors if actor.motion is not None)
        self.side.visible = self.save.visible = bool(moving)
        for quantity in QUANTITIES:
            self._offer(document, quantity)

    def tick(self, view: SessionView) -> None:
        """Draw the chosen curves after a change."""
        if self._is_stale:
            if perf_counter() - self._edited < EDIT_PAUSE_S:
                return
            self._is_stale = False
            self._offer_all(view.document)
        results: list[tuple[object, ...]] = [
            (actor.name, actor.color, actor.motion, actor.loads, actor.events)
            for actor in compared_results(view.document)
        ]
        # A drag or a simulation creates many documents per second with the same results.
        if not same_parts(results, self._results):
            self._results = results
            self._drawn.clear()
        for quantity in QUANTITIES:
            key = (self.choice[quantity].value, self.side.value)
            if self._drawn.get(quantity) != key:
                self._drawn[quantity] = key
                self._draw(view.document, quantity)

    def _offer(self, document: StudioDocument, quantity: str) -> None:
        options = tuple(titles(document, quantity)) or (NO_CURVE,)
        self.folders[quantity].visible = options != (NO_CURVE,)
        offer(self.choice[quantity], options, _default_curve(quantity, options))

    def _selected_curves(
        self, document: StudioDocument, quantity: str
    ) -> tuple[str, str, list[ComparedCurve]]:
        title = self.choice[quantity].value
        units = titles(document, quantity)
        if title not in units:
            return title, "", []
        sides = tuple(Side) if self.side.value == BOTH else (Side(self.side.value),)
        return title, units[title], compared_curves(document, quantity, title, sides)

    def _draw(self, document: StudioDocument, quantity: str) -> None:
        if quantity in self.plots:
            self.plots.pop(quantity).remove()
        _, unit, curves = self._selected_curves(document, quantity)
        self.tables[quantity].content = difference_table(differences(curves), unit)
        if not curves:
            return
        owners = [actor.name for actor in compared_results(document)]
        styles = [
            LineStyle(
                f"{curve.owner} {curve.side}".strip(),
                SIDE_COLORS.get(curve.side, hex_from_rgb(curve.color)),
                line_dash(owners.index(curve.owner)),
            )
            for curve in curves
        ]
        data = (CYCLE_PERCENT, *(np.asarray(curve.mean, dtype=float) for curve in curves))
        with self.folders[quantity]:
            self.plots[quantity] = add_line_plot(
                self.gui,
                data,
                styles,
                PlotAxes(
                    "cycle (%)",
                    unit,
                    PLOT_HEIGHT_PX,
                    x_range=(0.0, 100.0),
                    y_range=value_range(data),
                ),
                order=self.choice[quantity].order + 0.5,
            )

    def _save(self, client: Any) -> None:
        document = self.session.document
        selection = [self._selected_curves(document, quantity) for quantity in QUANTITIES]
        if not any(curves for _, _, curves in selection):
            raise HomodynError("no open result has curves to save; open one first")
        content = curves_csv(selection).encode()
        client.send_file_download("comparison.csv", content, save_immediately=True)
        self.studio.notify("Saved", "comparison.csv")


def _has_new_motions(
    before: tuple[tuple[str, object], ...], after: tuple[tuple[str, object], ...]
) -> bool:
    """Whether the same bodies have other motions than before, as after an edit."""
    return [name for name, _ in before] == [name for name, _ in after] and any(
        one is not other for (_, one), (_, other) in zip(before, after, strict=True)
    )


def same_parts(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> bool:
    """Whether two lists are equal: texts and tuples by value, records by identity."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, str | tuple) and a == b)
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left, right, strict=True)
    )


def sentence(document: StudioDocument, moving: int) -> str:
    """What is compared, in Markdown."""
    if not moving:
        return (
            "Open results to compare them: drop result folders of `homodyn analyze` or "
            "`homodyn simulate` on this page."
        )
    results = compared_results(document)
    if moving == 1:
        name = results[0].name if results else "1 result"
        return (
            f"**{escape_markup(name)}**: right red, left blue. Drop more results on this page to "
            "compare."
        )
    omitted = sum(a.motion is not None and a.shown for a in document.actors) - len(results)
    more = f" {omitted} more not shown; the limit is {MAX_COMPARED_RESULTS}." if omitted else ""
    return f"{len(results)} of {moving} results over the cycle: right red, left blue.{more}"


def difference_table(rows: list[Difference], unit: str) -> str:
    """Ranges and differences of curves as a Markdown table."""
    if not rows:
        return ""
    lines = [f"| {unit} | min | max | rms difference | r |", "|---|---|---|---|---|"]
    for row in rows:
        r = "" if row.correlation is None else f"{row.correlation:.3f}"
        name = escape_markup(f"{row.owner} {row.side}".strip())
        values = " | ".join(f"{x:.3g}" for x in (row.minimum, row.maximum, row.rms))
        lines.append(f"| {name} | {values} | {r} |")
    return "\n".join(lines)


def _default_curve(quantity: str, options: tuple[str, ...]) -> str:
    part = DEFAULT_CURVES.get(quantity, "knee")
    return next((title for title in options if part in title.lower()), options[0])
