"""Search: progress and convergence of a study, also while another process runs it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.errors import HomodynError
from homodyn.foundation.markup import escape_markup
from homodyn.report.colors import GRAY
from homodyn.report.search_figures import BEST_COLOR, GENERATION_COLOR
from homodyn.search.studies.summary import StudySummary
from homodyn.studio.markdown_text import MarkdownText
from homodyn.studio.panels.line_plot import LineStyle, PlotAxes, add_line_plot, legend
from homodyn.studio.panels.panel import Panel, assign
from homodyn.studio.session import SessionView
from homodyn.studio.study_progress import StudyDatabase, StudyProgress, file_state, read_progress

POLL_INTERVAL_S = 2.0
"""Time (s) between two polls of the database."""
PLOT_HEIGHT_PX = 150
CURVES = (
    LineStyle("best so far", BEST_COLOR),
    LineStyle("best of a generation", GENERATION_COLOR),
    LineStyle("mean", GRAY),
)


class SearchPanel(Panel):
    """An opened study, which is read again when its database changes."""

    title = "Search"

    def build(self) -> None:
        """Create the controls."""
        self.state = MarkdownText(
            self.gui, "Run `homodyn studio job.db` to follow a study of `homodyn search`."
        )
        self.bar = self.gui.add_progress_bar(0.0, visible=False)
        self.legend = self.gui.add_html(legend(CURVES), visible=False)
        self.plot: Any = None
        self.path: Path | None = None
        self.progress: StudyProgress | None = None
        self.error = ""
        self._drawn: object = None

    def show(self, item: object) -> bool:
        """Follow a study."""
        if not isinstance(item, StudyDatabase):
            return False
        self.progress = read_progress(item.path)
        watching = self.path is not None
        self.path = item.path
        self.session.changed.set()
        if not watching:
            threading.Thread(target=self._watch, daemon=True, name="study").start()
        return True

    def tick(self, view: SessionView) -> None:
        """Show the newest progress."""
        found = self.progress
        if found is None or (found is self._drawn and not self.error):
            return
        self._drawn = found
        self.state.content = escape_markup(self.error) or sentence(found.overview)
        self.bar.visible = self.legend.visible = True
        assign(self.bar, 100.0 * found.overview.generations / max(found.overview.iterations, 1))
        self._plot(found)

    def _plot(self, found: StudyProgress) -> None:
        if self.plot is not None:
            self.plot.remove()
            self.plot = None
        if len(found.generation) < 2:
            return
        shown = np.concatenate([found.so_far, found.best])
        positive = bool(np.nanmin(shown) > 0 and np.nanmax(shown) > 10 * np.nanmin(shown))
        curves = (found.so_far, found.best, found.mean)
        label = found.objective
        if positive:
            # On a logarithmic axis the page shows small numbers as 0.
            curves, label = tuple(np.log10(curve) for curve in curves), f"log10 {label}"
        with self.container:
            self.plot = add_line_plot(
                self.gui,
                (found.generation, *curves),
                CURVES,
                PlotAxes("generation", label, PLOT_HEIGHT_PX),
            )

    def _watch(self) -> None:
        """Read the study again when the database or its journals have changed."""
        previous: object = None
        while not self.studio.ended.wait(POLL_INTERVAL_S):
            path = self.path
            state = None if path is None else file_state(path)
            if path is None or state == previous:
                continue
            previous = state
            try:
                self.progress, self.error = read_progress(path), ""
            except HomodynError as error:
                self.error = " ".join(str(error).split())
            self.session.changed.set()


def sentence(overview: StudySummary) -> str:
    """Summary of a study, in Markdown."""
    lines = [escape_markup(line.strip()) for line in overview.lines()]
    return f"**{lines[0]}**\n\n" + "\n\n".join(lines[1:])
