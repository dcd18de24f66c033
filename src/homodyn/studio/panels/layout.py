"""Arrangement of the panels: tabs and plots at the right, the time line at the bottom.

To add a panel, write a subclass of `Panel` in its own file and list it here.
"""

from __future__ import annotations

from typing import Any

from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.panels.balance import BalancePanel
from homodyn.studio.panels.compare import ComparePanel
from homodyn.studio.panels.edit import EditPanel
from homodyn.studio.panels.fit import FitPanel
from homodyn.studio.panels.health import HealthPanel
from homodyn.studio.panels.live import LivePanel
from homodyn.studio.panels.markers import MarkersPanel
from homodyn.studio.panels.network import NetworkPanel
from homodyn.studio.panels.open import OpenPanel
from homodyn.studio.panels.panel import Panel, set_visible
from homodyn.studio.panels.plan import PlanPanel
from homodyn.studio.panels.plots import PlotsPanel
from homodyn.studio.panels.pose import PosePanel
from homodyn.studio.panels.save import SavePanel
from homodyn.studio.panels.scene import ScenePanel
from homodyn.studio.panels.search import SearchPanel
from homodyn.studio.panels.simulate import SimulatePanel
from homodyn.studio.panels.time import TimePanel
from homodyn.studio.panels.view import ViewPanel
from homodyn.studio.session import SessionView
from homodyn.studio.studio_page import StudioPage

TABS: tuple[tuple[str, tuple[type[Panel], ...]], ...] = (
    ("Body", (OpenPanel, ScenePanel, PosePanel, EditPanel, ViewPanel, SavePanel)),
    ("Fit", (FitPanel, MarkersPanel, HealthPanel)),
    ("Compare", (ComparePanel,)),
    ("Simulate", (SimulatePanel,)),
    ("Plan", (PlanPanel,)),
    ("Live", (LivePanel,)),
    ("Studies", (BalancePanel, NetworkPanel, SearchPanel)),
)
"""Tabs at the right and their panels, each a folder, from top to bottom."""

PANEL_WIDTH_PX = 350
TIME_WIDTH_PX = 640
TIME_MARGIN_PX = 12


class PanelLayout:
    """All panels of a page."""

    def __init__(self, studio: StudioPage) -> None:
        gui = studio.server.gui
        self.panels: list[Panel] = []
        gui.set_panel_label("Homodyn studio")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(PANEL_WIDTH_PX)
        tabs = gui.add_tab_group()
        for label, kinds in TABS:
            tab = tabs.add_tab(label)
            for kind in kinds:
                self._build(kind(studio, self._container(gui, tab, kind, alone=len(kinds) == 1)))
        time = gui.add_panel()
        self._build(TimePanel(studio, time.add_tab("Time")))
        time.float(x=TIME_MARGIN_PX, y=-TIME_MARGIN_PX, width=TIME_WIDTH_PX)
        # The plots are in the lower half of the column at the right and leave the scene free.
        self._plots_window = gui.add_panel(visible=False)
        self._plots = PlotsPanel(studio, self._plots_window.add_tab("Plots"))
        self._build(self._plots)
        self._plots_window.dock_below(gui.main_panel)

    def _container(self, gui: Any, tab: Any, kind: type[Panel], *, alone: bool) -> Any:
        """A folder in a tab; the tab itself for its only panel."""
        if alone:
            return tab
        with tab:
            return gui.add_folder(kind.title, expand_by_default=kind.expanded)

    def _build(self, panel: Panel) -> None:
        with panel.container:
            panel.build()
        self.panels.append(panel)

    def panel(self, kind: type[Panel]) -> Panel:
        """The panel of a class."""
        return next(panel for panel in self.panels if isinstance(panel, kind))

    def refresh(self, view: SessionView) -> None:
        """Update all panels after a change of the document."""
        for panel in self.panels:
            panel.refresh(view)
        # Without a signal to plot, the other panels have the whole column.
        set_visible(self._plots_window, self._plots.has_signals)

    def tick(self, view: SessionView) -> None:
        """Update all panels to the current instant."""
        for panel in self.panels:
            panel.tick(view)

    def on_task_update(self, task: BackgroundTask) -> None:
        """Show the progress or the end of a background task in all panels."""
        for panel in self.panels:
            panel.on_task_update(task)
