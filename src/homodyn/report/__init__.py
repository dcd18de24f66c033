"""What people look at: figures, tables, drawings, pages and the demonstration."""

from homodyn.report.analysis_folder import HtmlPages, write_analysis
from homodyn.report.ergonomics_section import ergonomics_section, write_ergonomics
from homodyn.report.fault_study_folder import write_fault_study
from homodyn.report.model_drawing import draw_model, save_figure
from homodyn.report.motion_report import motion_page, write
from homodyn.report.reconstruction_folder import write_reconstruction
from homodyn.report.simulation_folder import write_simulation
from homodyn.report.synthesis_folder import write_synthesis
from homodyn.report.tracking_folder import write_tracking
from homodyn.report.trial_page import analysis_page
from homodyn.report.validation_folder import write_validation

__all__ = [
    "HtmlPages",
    "analysis_page",
    "draw_model",
    "ergonomics_section",
    "motion_page",
    "save_figure",
    "write",
    "write_analysis",
    "write_ergonomics",
    "write_fault_study",
    "write_reconstruction",
    "write_simulation",
    "write_synthesis",
    "write_tracking",
    "write_validation",
]
