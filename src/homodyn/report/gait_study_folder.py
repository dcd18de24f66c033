"""The folder of a gait study: a page with its replay and figures, the motion and a summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates
from homodyn.foundation import atomic_folder
from homodyn.gait.studies.gait_solution import GaitSolution
from homodyn.model import save
from homodyn.report.gait_study_figures import gait_study_figures, progress_figures
from homodyn.report.html import (
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.simulation_folder import evenly_sampled
from homodyn.search.studies.study import Study

PAGE_FILE, PARAMETERS_FILE = "report.html", "parameters.json"


def write_gait_solution(
    solution: GaitSolution,
    folder: str | Path,
    *,
    search: Study | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Write page, model, motion, parameters and summary of a gait, completely or not at all.

    Args:
        solution: The gait.
        folder: The folder to write; its parents are created.
        search: The recorded search that found the gait, for figures of its progress.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(solution.study.model, temporary / "model.toml")
        write_coordinates(solution.result.motion, temporary)
        (temporary / PAGE_FILE).write_text(gait_study_page(solution, search), encoding="utf-8")
        for name, content in (
            (PARAMETERS_FILE, solution.parameters),
            (SUMMARY, gait_summary(solution)),
        ):
            text = json.dumps(content, indent=2, allow_nan=False)
            (temporary / name).write_text(text + "\n", encoding="utf-8")
    names = ("model.toml", "motion.csv", "motion.mot", PARAMETERS_FILE, PAGE_FILE, SUMMARY)
    return [folder / name for name in names]


def gait_summary(solution: GaitSolution) -> dict[str, Any]:
    """The outcome of a gait study as plain numbers (SI units); None for what is not known."""
    comparison = solution.comparison
    found = {name: _finite(value) for name, value in solution.objectives.items()}
    return {
        "study": solution.study.name,
        "model": solution.study.model.name,
        "sentence": solution.sentence,
        "stage": solution.stage,
        "stages": len(solution.study.objectives) - 1,
        "objectives": found,
        "simulation": {
            "status": solution.result.status.name.lower(),
            "message": solution.result.message,
        },
        "norms": None
        if comparison is None
        else {
            "source": comparison.source,
            "cycles": comparison.cycles,
            "stance_share": _finite(comparison.stance_share),
            "double_support_share": _finite(comparison.double_support_share),
            "peak_force_body_weights": _finite(comparison.peak_force),
            "force_peaks": comparison.force_peaks,
            "swing_knee_flexion_deg": _finite(comparison.swing_knee_flexion),
            "correlations": {k: _finite(r) for k, r in comparison.correlations.items()},
        },
        "notes": list(solution.notes),
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def gait_study_page(solution: GaitSolution, search: Study | None = None) -> str:
    """The page of a gait: replay, objectives, cycles beside norms, impedance and forces.

    Args:
        solution: The gait.
        search: The recorded search that found the gait, for figures of its progress.

    Returns:
        The page (HTML).
    """
    motion = evenly_sampled(solution.result)
    rows = []
    for k, one in enumerate(solution.study.objectives):
        known = solution.study.gait_objective(one.name)
        state = "last objective" if one.until is None else "met" if k < solution.stage else "missed"
        value = f"{solution.objectives[one.name]:.4g}"
        rows.append((known.description, value, known.unit, one.until or "", state))
    heads = [("objective", ""), ("value", "n"), ("unit", ""), ("condition", ""), ("", "")]
    stages = len(solution.study.objectives) - 1
    progress = () if search is None else progress_figures(search, stages)
    objectives = table(heads, rows) + (figures_html(progress) if progress else "")
    sections = {
        "replay": ("Movement", replay_html(replay_data(motion), pose_strip(motion))),
        "objectives": ("Objectives", objectives),
        "figures": ("Cycles and impedance", figures_html(gait_study_figures(solution))),
        "norms": ("Beside normative data", _norm_table(solution)),
        "notes": ("Assumptions and notes", "".join(map(paragraph, solution.notes)) or "None."),
    }
    links, body = sections_html(sections)
    name = solution.study.name
    sentence = f"The gait {solution.sentence}."
    return page_html(name, name, sentence, body, navigation=links)


def _norm_table(solution: GaitSolution) -> str:
    found = solution.comparison
    if found is None:
        return paragraph("The gait has no complete cycles.")
    rows = [
        ("stance (% of the cycle)", f"{100 * found.stance_share:.0f}", "59 to 62"),
        ("double support (%)", f"{100 * found.double_support_share:.0f}", "16 to 24"),
        ("peak vertical force (body weights)", f"{found.peak_force:.2f}", "1.0 to 1.3"),
        ("peaks of the vertical force", str(found.force_peaks), "2"),
        ("largest knee flexion (deg)", f"{found.swing_knee_flexion:.0f}", "55 to 65"),
        *((f"correlation of {k}", f"{r:.2f}", "1") for k, r in found.correlations.items()),
    ]
    return table([("measure", ""), ("this gait", "n"), ("people", "n")], rows)
