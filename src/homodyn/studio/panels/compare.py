"""Compare: curves of up to eight results over the cycle, and how far they are apart."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from viser import Icon
from viser.uplot import Series

from homodyn.analysis.curves import CYCLE_PERCENT, SIDES
from homodyn.errors import HomodynError
from homodyn.studio.comparison import (
    MAX_COMPARED_RESULTS,
    QUANTITIES,
    ComparedCurve,
    Difference,
    compared_curves,
    compared_results,
    differences,
    table,
    titles,
)
from homodyn.studio.document import StudioDocument
from homodyn.studio.panels.legend import legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.panels.plots import css_color, value_range
from homodyn.studio.session import SessionView

NO_CURVE = "(nothing to compare)"
BOTH = "both"
PLOT_HEIGHT_PX = 130
EDIT_PAUSE_S = 0.5
"""s without another edit after which the curves of an edited body are worked out anew."""
FAVOURITES = {"Angle": "knee flexion", "Torque": "knee flexion", "Ground force": "upward"}
"""What is shown first, as a part of its title."""
DASHES = {"left": (6, 4)}


class ComparePanel(Panel):
    """A plot for each quantity, with all results in it, and a table of differences under it."""

    title = "Compare"
    expanded = True

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown("")
        self.legend = self.gui.add_html("")
        self.shown: dict[str, Any] = {}
        self.list = self.gui.add_folder("Results", expand_by_default=False, visible=False)
        self.side = self.gui.add_button_group("Side", (BOTH, *SIDES))
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
                    self.tables[quantity] = self.gui.add_markdown("")
            self.on_choice(choice)(lambda word: self.session.changed.set())
        self.save = self.gui.add_button(
            "Save curves", icon=Icon.DOWNLOAD, color="gray", visible=False
        )
        self.side.on_click(lambda event: self.session.changed.set())
        self.save.on_click(lambda event: self.studio.attempt(lambda: self._save(event.client)))
        self._motions: tuple[tuple[str, object], ...] = ()
        self._edited = 0.0
        self._late = False
        self._drawn: dict[str, Any] = {}
        self._shown: list[tuple[object, ...]] = []

    def refresh(self, view: SessionView) -> None:
        """Offer the curves of what is open; of a body that is being edited, when that pauses."""
        motions = tuple((actor.name, actor.motion) for actor in view.document.actors)
        edited = _other_motions(self._motions, motions)
        self._motions, now = motions, perf_counter()
        self._late = edited and now - self._edited < EDIT_PAUSE_S
        if edited:
            self._edited = now
        if self._late:
            again = threading.Timer(1.1 * EDIT_PAUSE_S, self.session.changed.set)
            again.daemon = True
            again.start()
        else:
            self._offer_all(view.document)

    def _offer_all(self, document: StudioDocument) -> None:
        moving = [actor.name for actor in document.actors if actor.motion is not None]
        self.state.content = sentence(document, len(moving))
        self.legend.content = legend(
            {actor.name: css_color(actor.color) for actor in compared_results(document)}
        )
        self._list(document)
        self.side.visible = self.save.visible = bool(moving)
        for quantity in QUANTITIES:
            self._offer(document, quantity)

    def tick(self, view: SessionView) -> None:
        """Draw what was chosen, once."""
        if self._late:
            if perf_counter() - self._edited < EDIT_PAUSE_S:
                return
            self._late = False
            self._offer_all(view.document)
        shown: list[tuple[object, ...]] = [
            (actor.name, actor.color, actor.motion, actor.loads, actor.events)
            for actor in compared_results(view.document)
        ]
        # Dragging and simulating make many documents a second, all with the same results.
        if not same(shown, self._shown):
            self._shown = shown
            self._drawn.clear()
        for quantity in QUANTITIES:
            key = (self.choice[quantity].value, self.side.value)
            if self._drawn.get(quantity) != key:
                self._drawn[quantity] = key
                self._draw(view.document, quantity)

    def _list(self, document: StudioDocument) -> None:
        wanted = {actor.name: actor for actor in document.actors if actor.motion is not None}
        self.list.visible = len(wanted) > 1
        for name in [name for name in self.shown if name not in wanted]:
            self.shown.pop(name).remove()
        for name, actor in wanted.items():
            if name not in self.shown:
                with self.list:
                    box = self.shown[name] = self.gui.add_checkbox(name, actor.shown)
                self.on_choice(box)(partial(self._show, name))
            assign(self.shown[name], actor.shown)

    def _show(self, name: str, on: bool) -> None:
        def shown(document: StudioDocument) -> StudioDocument:
            place = document.index(name)
            return document.with_actor_at(place, replace(document.actors[place], shown=on))

        self.session.change(f"{'show' if on else 'hide'} {name}", shown)

    def _offer(self, document: StudioDocument, quantity: str) -> None:
        words = tuple(titles(document, quantity)) or (NO_CURVE,)
        self.folders[quantity].visible = words != (NO_CURVE,)
        choice = self.choice[quantity]
        if tuple(choice.options) != words:
            before = choice.value
            choice.options = words
            assign(choice, before if before in words else _favourite(quantity, words))

    def _selected_curves(
        self, document: StudioDocument, quantity: str
    ) -> tuple[str, str, list[ComparedCurve]]:
        title = self.choice[quantity].value
        units = titles(document, quantity)
        if title not in units:
            return title, "", []
        sides = SIDES if self.side.value == BOTH else (self.side.value,)
        return title, units[title], compared_curves(document, quantity, title, sides)

    def _draw(self, document: StudioDocument, quantity: str) -> None:
        if quantity in self.plots:
            self.plots.pop(quantity).remove()
        _, unit, curves = self._selected_curves(document, quantity)
        self.tables[quantity].content = markdown(differences(curves), unit)
        if not curves:
            return
        series: list[Series] = [{"label": "cycle (%)"}]
        for curve in curves:
            line: Series = {
                "label": f"{curve.owner} {curve.side}".strip(),
                "stroke": css_color(curve.color),
                "width": 1.5,
            }
            if curve.side in DASHES:
                line["dash"] = DASHES[curve.side]
            series.append(line)
        data = (CYCLE_PERCENT, *(np.asarray(curve.mean, dtype=float) for curve in curves))
        with self.folders[quantity]:
            self.plots[quantity] = self.gui.add_uplot(
                data,
                tuple(series),
                scales={
                    "x": {"time": False, "range": (0.0, 100.0)},
                    "y": {"range": value_range(data)},
                },
                axes=({"size": 26}, {"label": unit, "size": 44, "labelSize": 16}),
                legend={"show": False},
                height=PLOT_HEIGHT_PX,
                order=self.choice[quantity].order + 0.5,
            )

    def _save(self, client: Any) -> None:
        document = self.session.document
        chosen = [self._selected_curves(document, quantity) for quantity in QUANTITIES]
        if not any(curves for _, _, curves in chosen):
            raise HomodynError("no result is open that has curves to be saved; open one first")
        content = table(chosen).encode()
        client.send_file_download("comparison.csv", content, save_immediately=True)
        self.studio.notify("Saved", "comparison.csv")


def _other_motions(
    before: tuple[tuple[str, object], ...], after: tuple[tuple[str, object], ...]
) -> bool:
    """Whether the same bodies have other motions than before, as when one is edited."""
    return [name for name, _ in before] == [name for name, _ in after] and any(
        one is not other for (_, one), (_, other) in zip(before, after, strict=True)
    )


def same(one: list[tuple[object, ...]], other: list[tuple[object, ...]]) -> bool:
    """Whether two lists hold the same things, by value or, for records, by identity."""
    return len(one) == len(other) and all(
        a is b or (isinstance(a, str | tuple) and a == b)
        for left, right in zip(one, other, strict=True)
        for a, b in zip(left, right, strict=True)
    )


def sentence(document: StudioDocument, moving: int) -> str:
    """What is compared, in Markdown."""
    if not moving:
        return (
            "Open results to compare them: drop folders that `homodyn analyze` or "
            "`homodyn simulate` wrote on this page."
        )
    chosen = compared_results(document)
    if moving == 1:
        name = chosen[0].name if chosen else "1 result"
        return f"**{name}** is open: solid right, dashed left. Drop others to compare."
    left_out = sum(a.motion is not None and a.shown for a in document.actors) - len(chosen)
    more = f" {left_out} more: hide some, {MAX_COMPARED_RESULTS} fit." if left_out else ""
    return f"{len(chosen)} of {moving} results over the cycle; solid right, dashed left.{more}"


def markdown(rows: list[Difference], unit: str) -> str:
    """Extremes and distances of curves as a table."""
    if not rows:
        return ""
    lines = [f"| {unit} | least | most | rms from first | r |", "|---|---|---|---|---|"]
    for row in rows:
        alike = "" if row.correlation is None else f"{row.correlation:.3f}"
        name = f"{row.owner} {row.side}".strip().replace("|", "/")
        lines.append(f"| {name} | {row.least:.3g} | {row.greatest:.3g} | {row.rms:.3g} | {alike} |")
    return "\n".join(lines)


def _favourite(quantity: str, words: tuple[str, ...]) -> str:
    wanted = FAVOURITES.get(quantity, "knee")
    return next((word for word in words if wanted in word.lower()), words[0])
