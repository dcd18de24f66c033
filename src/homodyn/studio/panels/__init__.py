"""The panels of the page, one per file; `PanelLayout` arranges them."""

from homodyn.studio.panels.layout import PanelLayout
from homodyn.studio.panels.panel import Panel

__all__ = ["Panel", "PanelLayout"]
