"""What people look at: figures, tables, checks, reports of trials and the demonstration."""

from homodyn.report.batch import Batch, Outcome, analyze_all
from homodyn.report.draw import draw, save_drawing
from homodyn.report.files import write_analysis
from homodyn.report.page import page
from homodyn.report.reconstruction import write_reconstruction
from homodyn.report.recorded import Recorded, read_recorded
from homodyn.report.simulation import write_simulation
from homodyn.report.synthesis import Compared, write_synthesis

__all__ = [
    "Batch",
    "Compared",
    "Outcome",
    "Recorded",
    "analyze_all",
    "draw",
    "page",
    "read_recorded",
    "save_drawing",
    "write_analysis",
    "write_reconstruction",
    "write_simulation",
    "write_synthesis",
]
