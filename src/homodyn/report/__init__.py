"""What people look at: figures, tables, checks, reports of trials and the demonstration."""

from homodyn.report.analysis import Analysis, analyze
from homodyn.report.batch import Batch, Outcome, analyze_all
from homodyn.report.draw import draw, save_drawing
from homodyn.report.files import write_analysis
from homodyn.report.model_check import check, check_file
from homodyn.report.page import page
from homodyn.report.reconstruction import write_reconstruction
from homodyn.report.recorded import Recorded, read_recorded
from homodyn.report.settings import Settings
from homodyn.report.simulation import write_simulation
from homodyn.report.synthesis import Compared, write_synthesis

__all__ = [
    "Analysis",
    "Batch",
    "Compared",
    "Outcome",
    "Recorded",
    "Settings",
    "analyze",
    "analyze_all",
    "check",
    "check_file",
    "draw",
    "page",
    "read_recorded",
    "save_drawing",
    "write_analysis",
    "write_reconstruction",
    "write_simulation",
    "write_synthesis",
]
