"""Where the panels are on the page: tabs at the right, time at the bottom.

To add a panel, write a subclass of `Panel` in a file of its own and name it here.
"""

from __future__ import annotations

from typing import Any

from homodyn.studio.background_tasks import BackgroundTask
from homodyn.studio.panels.balance import BalancePanel
from homodyn.studio.panels.compare import ComparePanel
from homodyn.studio.panels.edit import EditPanel
from homodyn.studio.panels.fit import FitPanel
from homodyn.studio.panels.health import HealthPanel
from homodyn.studio.panels.markers import MarkersPanel
from homodyn.studio.panels.network import NetworkPanel
from homodyn.studio.panels.open import OpenPanel
from homodyn.studio.panels.panel import Panel
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
    ("Fit", (MarkersPanel, FitPanel, HealthPanel)),
    ("Compare", (ComparePanel,)),
    ("Simulate", (SimulatePanel,)),
    ("Studies", (BalancePanel, NetworkPanel, SearchPanel)),
)
"""Tabs at the right and their panels, each a folder, from the top to the bottom."""
BOTTOM_PANELS: tuple[type[Panel], ...] = (TimePanel, PlotsPanel)
"""What stands under the picture."""

PANEL_WIDTH_PX = 350
BOTTOM_SIZE_PX = (640, 330)
"""Pixels."""


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
                self._build(kind(studio, self._place(gui, tab, kind, alone=len(kinds) == 1)))
        below = gui.add_panel()
        time = below.add_tab("Time")
        for kind in BOTTOM_PANELS:
            self._build(kind(studio, time))
        below.float(x=12, y=-12, width=BOTTOM_SIZE_PX[0])

    def _place(self, gui: Any, tab: Any, kind: type[Panel], *, alone: bool) -> Any:
        """A folder in a tab, or the whole tab for a panel that has it for itself."""
        if alone:
            return tab
        with tab:
            return gui.add_folder(kind.title, expand_by_default=kind.expanded)

    def _build(self, panel: Panel) -> None:
        with panel.container:
            panel.build()
        self.panels.append(panel)

    def panel(self, kind: type[Panel]) -> Panel:
        """The panel of a kind."""
        return next(panel for panel in self.panels if isinstance(panel, kind))

    def refresh(self, view: SessionView) -> None:
        """The document changed."""
        for panel in self.panels:
            panel.refresh(view)

    def tick(self, view: SessionView) -> None:
        """Another instant is shown."""
        for panel in self.panels:
            panel.tick(view)

    def on_task_update(self, task: BackgroundTask) -> None:
        """A piece of work went on, or ended."""
        for panel in self.panels:
            panel.on_task_update(task)
