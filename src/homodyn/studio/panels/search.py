"""Search: how far a study is and how it converges, also while another process runs it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
from viser.uplot import Series

from homodyn.errors import HomodynError
from homodyn.search.summary import StudySummary
from homodyn.studio.panels.legend import ROOM, legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.session import SessionView
from homodyn.studio.study_progress import StudyDatabase, StudyProgress, file_state, read_progress

POLL_INTERVAL_S = 2.0
"""s between two looks at the database."""
PLOT_HEIGHT_PX = 150
CURVES = {"best so far": "#c44e52", "best of a generation": "#4a6fa5", "mean": "#9a9a9a"}


class SearchPanel(Panel):
    """A study whose database was opened; it is looked at again while it grows."""

    title = "Search"

    def build(self) -> None:
        """Make the controls."""
        self.state = self.gui.add_markdown(
            "Start with `homodyn studio job.db` to follow a study of `homodyn search`."
        )
        self.progress = self.gui.add_progress_bar(0.0, visible=False)
        self.legend = self.gui.add_html(legend(CURVES), visible=False)
        self.plot: Any = None
        self.path: Path | None = None
        self.read_progress: StudyProgress | None = None
        self.error = ""
        self._drawn: object = None

    def show(self, thing: object) -> bool:
        """Follow a study."""
        if not isinstance(thing, StudyDatabase):
            return False
        self.read_progress = read_progress(thing.path)
        watching = self.path is not None
        self.path = thing.path
        self.session.changed.set()
        if not watching:
            threading.Thread(target=self._watch, daemon=True, name="study").start()
        return True

    def tick(self, view: SessionView) -> None:
        """Draw the newest figures."""
        found = self.read_progress
        if found is None or (found is self._drawn and not self.error):
            return
        self._drawn = found
        self.state.content = self.error or sentence(found.overview)
        self.progress.visible = self.legend.visible = True
        assign(
            self.progress, 100.0 * found.overview.generations / max(found.overview.iterations, 1)
        )
        self._plot(found)

    def _plot(self, found: StudyProgress) -> None:
        if self.plot is not None:
            self.plot.remove()
            self.plot = None
        if len(found.generation) < 2:
            return
        series: list[Series] = [{"label": "generation"}]
        for name, color in CURVES.items():
            series.append({"label": name, "stroke": color, "width": 1.5})
        shown = np.concatenate([found.so_far, found.best])
        positive = bool(np.nanmin(shown) > 0 and np.nanmax(shown) > 10 * np.nanmin(shown))
        curves = (found.so_far, found.best, found.mean)
        label = found.objective
        if positive:
            # The page writes small numbers of a logarithmic axis as 0.
            curves, label = tuple(np.log10(curve) for curve in curves), f"log10 {label}"
        with self.container:
            self.plot = self.gui.add_uplot(
                (found.generation, *curves),
                tuple(series),
                scales={"x": {"time": False}},
                axes=({"size": 26}, {"label": label, "size": 50, "labelSize": 16}),
                legend={"show": False},
                height=PLOT_HEIGHT_PX,
                padding=ROOM,
            )

    def _watch(self) -> None:
        """Look again whenever the database, or what is written beside it, has changed."""
        seen: object = None
        while not self.studio.ended.wait(POLL_INTERVAL_S):
            path = self.path
            now = None if path is None else file_state(path)
            if path is None or now == seen:
                continue
            seen = now
            try:
                self.read_progress, self.error = read_progress(path), ""
            except HomodynError as error:
                self.error = " ".join(str(error).split())
            self.session.changed.set()


def sentence(overview: StudySummary) -> str:
    """A study in Markdown."""
    lines = [line.strip() for line in overview.lines()]
    return f"**{lines[0]}**\n\n" + "\n\n".join(lines[1:])
