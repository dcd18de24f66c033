"""The folder of a gait study: a page with its replay and figures, the motion and a summary."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates
from homodyn.errors import CaptureError
from homodyn.foundation import atomic_folder
from homodyn.gait import cycles, find_events
from homodyn.gait.norm_comparison import COMPARED_ANGLES, merge_bounces
from homodyn.gait.norms import normative_curve
from homodyn.gait.studies.gait_controller import FREQUENCY
from homodyn.gait.studies.gait_solution import GaitSolution
from homodyn.model import save
from homodyn.report.html import (
    PageFigure,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.simulation_folder import evenly_sampled
from homodyn.report.svg import Plot, nice_range
from homodyn.simulate import BatchSimulator, SimulationOptions

PAGE_FILE, PARAMETERS_FILE = "report.html", "parameters.json"
PHASE_SAMPLES = 200
SIDES = ("right", "left")


def write_gait_solution(
    solution: GaitSolution, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write page, model, motion, parameters and summary of a gait, completely or not at all.

    Args:
        solution: The gait.
        folder: The folder to write; its parents are created.
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
        (temporary / PAGE_FILE).write_text(gait_study_page(solution), encoding="utf-8")
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


def gait_study_page(solution: GaitSolution) -> str:
    """The page of a gait: replay, objectives, cycles beside norms, impedance and forces."""
    motion = evenly_sampled(solution.result)
    rows = []
    for k, one in enumerate(solution.study.objectives):
        known = solution.study.gait_objective(one.name)
        state = "last objective" if one.until is None else "met" if k < solution.stage else "missed"
        value = f"{solution.objectives[one.name]:.4g}"
        rows.append((known.description, value, known.unit, one.until or "", state))
    heads = [("objective", ""), ("value", "n"), ("unit", ""), ("condition", ""), ("", "")]
    sections = {
        "replay": ("Movement", replay_html(replay_data(motion), pose_strip(motion))),
        "objectives": ("Objectives", table(heads, rows)),
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


def gait_study_figures(solution: GaitSolution) -> tuple[PageFigure, ...]:
    """Angles beside normative bands, impedance over the cycle, vertical forces."""
    return tuple(
        PageFigure(name, plots, caption, 3)
        for name, plots, caption in (
            ("angles", _angle_plots(solution), "Angles of the cycles of the second half, right and "
             "left, beside mean and standard deviation of normative data."),
            ("stiffness", _gain_plots(solution, "stiffness", "N m/rad"), "Stiffness over the cycle "
             "of the controller."),
            ("damping", _gain_plots(solution, "damping", "N m s/rad"), "Damping over the cycle of "
             "the controller."),
            ("force", _force_plots(solution), "Vertical force of each foot in the last two "
             "seconds."),
        )
        if plots
    )  # fmt: skip


def _angle_plots(solution: GaitSolution) -> tuple[str, ...]:
    motion = solution.result.motion
    half = motion.crop(float(motion.time[-1]) / 2, float(motion.time[-1]))
    try:
        events = merge_bounces(find_events(half))
        found = {
            name: [cycles(half, f"{side} {name}", events, side) for side in SIDES]
            for name in COMPARED_ANGLES
        }
    except CaptureError:
        return ()
    plots = []
    for name, both in found.items():
        norm = normative_curve(name)
        drawn = [one.values[one.complete] for one in both]
        extent = np.concatenate([norm.mean - norm.sd, norm.mean + norm.sd, *map(np.ravel, drawn)])
        plot = Plot(
            name, (0.0, 100.0), nice_range(extent, min_span=10.0), "gait cycle (%)", "degrees",
            alt=f"{name} beside norms",
        )  # fmt: skip
        plot.band(norm.percent, norm.mean - norm.sd, norm.mean + norm.sd, "gray")
        for side, one, rows in zip(SIDES, both, drawn, strict=True):
            for row in rows:
                plot.line(one.percent, row, side)
        plots.append(plot.svg())
    return tuple(plots)


def _gain_plots(solution: GaitSolution, gain: str, unit: str) -> tuple[str, ...]:
    study = solution.study
    values = _signal_values(solution)
    plots = []
    for joint in study.controller.joints:
        curve = values[f"right {joint} {gain}"]
        top = nice_range(curve, min_span=1.0, zero=True)
        plot = Plot(f"{joint} {gain}", (0.0, 100.0), top, "phase (%)", unit, alt=f"{joint} {gain}")
        plots.append(plot.line(values["phase"] * 100, curve, "right").svg())
    return tuple(plots)


def _signal_values(solution: GaitSolution) -> dict[str, np.ndarray]:
    """Gains of the right leg over one cycle of the controller."""
    study = solution.study
    given = study.controller.frequency
    frequency = given if isinstance(given, (int, float)) else solution.parameters[FREQUENCY]
    steps = PHASE_SAMPLES
    dt = 1.0 / frequency / steps
    simulator = BatchSimulator(
        study.model,
        contact=None,
        actuation=None,
        options=SimulationOptions(
            signals=study.controller.signals(),
            batch_parameters=dict(solution.parameters),
            recorded_quantities=("signals",),
        ),
    )
    q, v = study.start
    rolled = simulator(q[None], 0 * v[None], steps * dt, dt)
    found = {name: np.ravel(x[0]) for name, x in rolled.records["signals"].items()}
    constant = {
        f"right {joint} {gain}": solution.parameters.get(f"{joint} {gain}")
        for joint in study.controller.joints
        for gain in ("stiffness", "damping")
    }
    count = len(next(iter(found.values())))
    for name, value in constant.items():
        if value is not None:
            found[name] = np.full(count, value)
    return {**found, "phase": np.linspace(0.0, 1.0, count)}


def _force_plots(solution: GaitSolution) -> tuple[str, ...]:
    result = solution.result
    end = float(result.time[-1])
    kept = result.time >= end - 2.0
    weight = result.model.mass * float(np.linalg.norm(result.model.gravity))
    plots = []
    for side in SIDES:
        own = [force.force[:, 2] for force in result.motion.contact_forces if force.side == side]
        if own:
            share = np.sum(own, axis=0)[kept] / weight
            top = nice_range(share, min_span=1.0, zero=True)
            plot = Plot(
                f"{side} foot", (end - 2.0, end), top, "time (s)", "body weights",
                alt=f"vertical force of the {side} foot",
            )  # fmt: skip
            plot.horizontal_line(1.0, "gray", "weight")
            plots.append(plot.line(result.time[kept], share, side).svg())
    return tuple(plots)
