"""The folder of a step of a robot: a page with its replay and figures, tables and a motion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates, write_csv
from homodyn.control import write_trajectory
from homodyn.control.robot_step.bip_task import VALUE_NAMES
from homodyn.control.robot_step.step_result import RobotStepResult
from homodyn.foundation import atomic_folder
from homodyn.model import save
from homodyn.motion import Motion
from homodyn.report.html import (
    PageFigure,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.svg import Plot, nice_range

PAGE_FILE, CONTROL_FILE, TRAJECTORY_FILE = "report.html", "control.csv", "OneStep.traj3"
FRAME_RATE_HZ = 100.0
"""Frames per second of the motion and the replay."""
SUPPORT_LEVELS = {"right": 2.0, "left": 1.0, "suspension": 0.0}


def write_robot_step(
    step: RobotStepResult, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write the page, tables, trajectory, model and motion of a step, completely or not at all.

    Args:
        step: The step.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(step.motion.model, temporary / "model.toml")
        write_coordinates(_frames(step), temporary)
        write_trajectory(temporary / TRAJECTORY_FILE, step.trajectory)
        heads, values = _control_table(step)
        write_csv(temporary / CONTROL_FILE, step.call_times, heads, values)
        (temporary / PAGE_FILE).write_text(robot_step_page(step), encoding="utf-8")
        text = json.dumps(robot_step_summary(step), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    names = (
        "model.toml",
        "motion.csv",
        "motion.mot",
        TRAJECTORY_FILE,
        CONTROL_FILE,
        PAGE_FILE,
        SUMMARY,
    )
    return [folder / name for name in names]


def robot_step_summary(step: RobotStepResult) -> dict[str, Any]:
    """The outcome as plain numbers (SI units)."""
    changes = [
        {"time_s": float(step.call_times[k]), "support": step.supports[k]}
        for k in range(len(step.supports))
        if k == 0 or step.supports[k] != step.supports[k - 1]
    ]
    return {
        "study": "bip-step",
        "status": step.status.value,
        "sentence": step.sentence,
        "measures": step.measures,
        "observer_supports": changes,
        "assumptions": list(step.assumptions),
    }


def robot_step_page(step: RobotStepResult) -> str:
    """The page: replay, figures, measures and assumptions in one self-contained file."""
    motion = _frames(step)
    rows = [(name.replace("_", " "), f"{x:.4g}") for name, x in step.measures.items()]
    sections = {
        "replay": ("Movement", replay_html(replay_data(motion), pose_strip(motion))),
        "figures": ("Control", figures_html(robot_step_figures(step))),
        "measures": ("Measures", table([("measure", ""), ("value", "n")], rows)),
        "assumptions": ("Assumptions", "".join(paragraph(text) for text in step.assumptions)),
    }
    links, body = sections_html(sections)
    return page_html("bip-step", "One step of Bip", step.sentence, body, navigation=links)


def robot_step_figures(step: RobotStepResult) -> tuple[PageFigure, ...]:
    """Forces of the feet, the support of the observer with its error, tracking and voltages."""
    time = step.call_times
    span = (0.0, float(step.motion.time[-1]))
    forces = Plot(
        "forces of the feet", span, nice_range(step.foot_forces, zero=True), "time (s)", "N",
        alt="measured forces of both feet",
    )  # fmt: skip
    forces.line(time, step.foot_forces[:, 0], "right").line(time, step.foot_forces[:, 1], "left")
    levels = np.array([SUPPORT_LEVELS[name] for name in step.supports])
    support = Plot(
        "reference of the observer", span, (-0.2, 2.3), "time (s)", left=84.0,
        y_ticks=tuple((level, name) for name, level in SUPPORT_LEVELS.items()),
        alt="support that gives the pose",
    ).line(time, levels, "ink")  # fmt: skip
    gap = 1000 * step.root_error
    error = Plot(
        "pelvis, estimate to truth", span, nice_range(gap, min_span=0.1, zero=True), "time (s)",
        "mm", alt="distance of the estimated from the true pelvis",
    ).line(time, gap, "ink")  # fmt: skip
    reference = step.trajectory.interpolate(time)[0]
    tracking = []
    for k, side in ((0, "right"), (1, "right"), (3, "left"), (4, "left")):
        values = 100 * np.column_stack([reference[:, k], step.values[:, k]])
        plot = Plot(
            VALUE_NAMES[k], span, nice_range(values, min_span=1.0), "time (s)", "cm",
            alt=f"{VALUE_NAMES[k]}: reference and movement",
        )  # fmt: skip
        tracking.append(plot.line(time, values[:, 0], "gray").line(time, values[:, 1], side).svg())
    volts = Plot(
        "voltages of the motors", span, nice_range(step.voltages, min_span=5.0), "time (s)", "V",
        alt="voltages of all motors",
    )  # fmt: skip
    driven = list(step.motion.model.actuated)
    for place, k in enumerate(driven):
        side = step.motion.model.coordinate_names[k].split("_")[0]
        style = side if side in ("right", "left") else "middle"
        volts.line(step.motion.time, step.voltages[:, place], style)
    return (
        PageFigure("forces", (forces.svg(), support.svg()),
                   "Measured forces (red right, blue left), and the support from which the "
                   "observer has the pose of the robot.", 2),
        PageFigure("observer", (error.svg(), volts.svg()),
                   "Error of the observer, and the voltages of all motors.", 2),
        PageFigure("tracking", tuple(tracking), "Values of the task function: reference gray, "
                   "movement in color.", 2),
    )  # fmt: skip


def _frames(step: RobotStepResult) -> Motion:
    """The motion at the frame rate of the replay."""
    start, end = float(step.motion.time[0]), float(step.motion.time[-1])
    count = max(2, round((end - start) * FRAME_RATE_HZ) + 1)
    return step.motion.resample(np.linspace(start, end, count))


def _control_table(step: RobotStepResult) -> tuple[list[str], np.ndarray]:
    heads = ["right foot (N)", "left foot (N)", "observer error (m)", "pelvis error (m)"]
    columns = [step.foot_forces, step.observer_error[:, None], step.root_error[:, None]]
    reference = step.trajectory.interpolate(step.call_times)[0]
    for what, values in (("reference", reference), ("value", step.values)):
        heads += [f"{what} {name.replace(',', '')}" for name in VALUE_NAMES]
        columns.append(values)
    return heads, np.column_stack(columns)
