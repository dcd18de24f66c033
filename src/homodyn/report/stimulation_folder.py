"""The folder of a study of stimulation: a page with its replay and figures, tables and a motion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates, write_csv
from homodyn.foundation import atomic_folder
from homodyn.model import save
from homodyn.model.side import Side, side_of
from homodyn.report.html import (
    PageFigure,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.simulation_folder import evenly_sampled, simulation_summary
from homodyn.report.svg import Plot, nice_range
from homodyn.simulate.stimulation_studies import StimulationStudy

PAGE_FILE, STIMULATION_FILE = "report.html", "stimulation.csv"
PHASE_TICKS = ((0.0, "relaxed"), (1.0, "relaxation"), (2.0, "stimulation"))
PHASE_MARGIN = 84.0
"""Space for the names of the phases."""


def write_stimulation(
    study: StimulationStudy, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write the page, tables, model and motion of a study, completely or not at all.

    Args:
        study: The study.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(study.result.model, temporary / "model.toml")
        write_coordinates(study.result.motion, temporary)
        heads, values = _history_table(study)
        write_csv(temporary / STIMULATION_FILE, study.stimulation.time, heads, values)
        (temporary / PAGE_FILE).write_text(stimulation_page(study), encoding="utf-8")
        text = json.dumps(stimulation_summary(study), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    names = ("model.toml", "motion.csv", "motion.mot", STIMULATION_FILE, PAGE_FILE, SUMMARY)
    return [folder / name for name in names]


def stimulation_summary(study: StimulationStudy) -> dict[str, Any]:
    """The outcome of a study as plain numbers (SI units)."""
    return {
        "study": study.name,
        "sentence": study.sentence,
        "measures": dict(study.measures),
        "assumptions": list(study.assumptions),
        "muscles": {
            name: {
                "impulses": int((np.diff(study.stimulation.phases[:, k]) > 0).sum()),
                "largest_force_n": float(study.stimulation.forces[:, k].max()),
                "largest_recruitment": float(study.stimulation.recruitment[:, k].max()),
            }
            for k, name in enumerate(study.stimulation.muscles)
        },
        "simulation": simulation_summary(study.result),
    }


def stimulation_page(study: StimulationStudy) -> str:
    """The page of a study: replay, figures and assumptions in one self-contained file."""
    motion = evenly_sampled(study.result)
    replay = replay_html(replay_data(motion), pose_strip(motion))
    rows = [(name.replace("_", " "), f"{x:.4g}") for name, x in study.measures.items()]
    sections = {
        "replay": ("Movement", replay),
        "figures": ("Stimulation and forces", figures_html(stimulation_figures(study))),
        "measures": ("Measures", table([("measure", ""), ("value", "n")], rows)),
        "assumptions": (
            "Assumptions",
            "".join(paragraph(text) for text in (*study.assumptions, *study.result.notes)),
        ),
    }
    links, body = sections_html(sections)
    sentence = study.sentence[:1].upper() + study.sentence[1:]
    return page_html(study.name, study.name, sentence, body, navigation=links)


def stimulation_figures(study: StimulationStudy) -> tuple[PageFigure, ...]:
    """Calcium phase, recruitment and force by muscle, and the angle of the knees."""
    history = study.stimulation
    span = (float(history.time[0]), float(history.time[-1]))
    phases, recruited, forces = [], [], []
    for k, name in enumerate(history.muscles):
        title, style = name.replace("_", " "), _style(name)
        plot = Plot(
            title, span, (-0.15, 2.3), "time (s)", left=PHASE_MARGIN, y_ticks=PHASE_TICKS,
            alt=f"calcium phase of {title}",
        )  # fmt: skip
        phases.append(plot.line(*_steps(history.time, history.phases[:, k]), style).svg())
        plot = Plot(title, span, (0, 1.08), "time (s)", "1", alt=f"recruitment of {title}")
        steps = _steps(history.time, history.recruitment[:, k])
        recruited.append(plot.line(*steps, style).svg())
        top = nice_range(history.forces[:, k], min_span=10.0, zero=True)
        plot = Plot(title, span, top, "time (s)", "N", alt=f"force of {title}")
        forces.append(plot.line(history.time, history.forces[:, k], style).svg())
    angles = []
    result = study.result
    for name in study.knees:
        k = result.model.coordinate_index(name)
        degrees = np.degrees(result.q[:, k])
        plot = Plot(
            name.replace("_", " "), span, nice_range(degrees, min_span=5.0), "time (s)", "degrees",
            alt=f"angle of {name}",
        )  # fmt: skip
        plot.horizontal_line(0.0, "gray", "stop")
        angles.append(plot.line(result.time, degrees, _style(name)).svg())
    count = 2
    return (
        PageFigure("phase", tuple(phases), "State of calcium: each impulse acts after its delay, "
                   "then relaxes.", count),
        PageFigure("recruitment", tuple(recruited), "Part of the fibers that an impulse recruits, "
                   "while it acts.", count),
        PageFigure("force", tuple(forces), "Force of each muscle.", count),
        PageFigure("angle", tuple(angles), "Angle of the knee; 0 is straight.",
                   2),
    )  # fmt: skip


def _style(name: str) -> str:
    return {Side.RIGHT: "right", Side.LEFT: "left"}.get(side_of(name), "middle")  # type: ignore[arg-type]


def _steps(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a curve that is constant between its changes."""
    changes = np.flatnonzero(np.diff(values)) + 1
    x = np.repeat(time[changes], 2)
    y = np.column_stack([values[changes - 1], values[changes]]).ravel()
    return np.r_[time[0], x, time[-1]], np.r_[values[0], y, values[-1]]


def _history_table(study: StimulationStudy) -> tuple[list[str], np.ndarray]:
    history = study.stimulation
    tables = {
        "phase": history.phases,
        "level (1/s)": history.levels,
        "recruitment": history.recruitment,
        "contractile stiffness (N/m)": history.stiffness,
        "contractile force (N)": history.contractile_forces,
        "force (N)": history.forces,
    }
    heads = [f"{name} {what}" for what in tables for name in history.muscles]
    return heads, np.column_stack(list(tables.values()))
