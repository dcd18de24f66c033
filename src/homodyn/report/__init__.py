"""What people look at: figures, tables, checks and the demonstration."""

from homodyn.report.draw import draw, save_drawing
from homodyn.report.model_check import check, check_file

__all__ = ["check", "check_file", "draw", "save_drawing"]
