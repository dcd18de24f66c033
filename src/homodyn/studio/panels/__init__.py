"""The panels of the page: each is a file of its own, and the layout says where it goes."""

from homodyn.studio.panels.layout import PanelLayout
from homodyn.studio.panels.panel import Panel

__all__ = ["Panel", "PanelLayout"]
