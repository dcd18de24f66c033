"""Ergonomics on a page: scores over time, the worst instants as pictures, limits and strength."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_coordinates, write_csv
from homodyn.foundation import atomic_folder
from homodyn.model import save
from homodyn.motion import Motion, motion_from_poses
from homodyn.plan.ergonomics import ErgonomicAssessment
from homodyn.report.html import (
    PageFigure,
    bullet_list,
    figures_html,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.svg import Plot, nice_range

PAGE_FILE, SCORE_FILE = "report.html", "ergonomics.csv"
MAX_ROWS = 8
"""Rows of the tables of limits and strength."""
MAX_REPLAY_RATE_HZ = 100.0
SCORE_RANGES = {"RULA": 7, "REBA": 15}


def ergonomics_section(assessment: ErgonomicAssessment) -> str:
    """The assessment as HTML, for a page of any kind.

    Args:
        assessment: The assessment.

    Returns:
        Sentence, scores over time, pictures of the worst instants, and tables.
    """
    parts = [
        paragraph(assessment.sentence),
        figures_html(ergonomics_figures(assessment)),
        "<h3>Worst instants</h3>",
        pose_strip(_worst_motion(assessment), len(assessment.worst_frames)),
        _instant_table(assessment),
        "<h3>Reach and limits</h3>",
        _reach_sentence(assessment),
        _limit_table(assessment),
        "<h3>Strength</h3>",
        _strength_table(assessment),
        bullet_list(assessment.notes),
    ]
    return "".join(parts)


def ergonomics_figures(assessment: ErgonomicAssessment) -> tuple[PageFigure, ...]:
    """Scores and angles over time.

    Args:
        assessment: The assessment.

    Returns:
        The figures.
    """
    time = assessment.motion.time
    span = (float(time[0]), float(time[-1]))
    scores = []
    for name, values in (("RULA", assessment.rula.score), ("REBA", assessment.reba.score)):
        plot = Plot(
            f"{name} score", span, (0, SCORE_RANGES[name] + 0.5), "time (s)",
            alt=f"{name} score over time",
        )  # fmt: skip
        scores.append(plot.line(*_steps(time, values), "ink").svg())
    angles = assessment.angles
    trunk = _angle_plot("trunk flexion", time, {"middle": angles.trunk_flexion})
    neck = _angle_plot("neck flexion", time, {"middle": angles.neck_flexion})
    arms = _angle_plot("upper arm", time, {s: a.elevation for s, a in angles.arms.items()})
    elbows = _angle_plot(
        "elbow flexion", time, {s: a.elbow_flexion for s, a in angles.arms.items()}
    )
    return (
        PageFigure("scores", tuple(scores), "Scores of the worse side at each instant.", 2),
        PageFigure("posture", (trunk, neck, arms, elbows),
                   "Angles that the scores are of; the upper arm from the trunk.", 2),
    )  # fmt: skip


def write_ergonomics(
    assessment: ErgonomicAssessment, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write page, scores, summary, model and motion, completely or not at all.

    Args:
        assessment: The assessment.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(assessment.motion.model, temporary / "model.toml")
        write_coordinates(assessment.motion, temporary)
        heads, values = _score_table(assessment)
        write_csv(temporary / SCORE_FILE, assessment.motion.time, heads, values)
        (temporary / PAGE_FILE).write_text(ergonomics_page(assessment), encoding="utf-8")
        text = json.dumps(ergonomics_summary(assessment), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    names = ("model.toml", "motion.csv", "motion.mot", SCORE_FILE, PAGE_FILE, SUMMARY)
    return [folder / name for name in names]


def ergonomics_summary(assessment: ErgonomicAssessment) -> dict[str, Any]:
    """Plain numbers (SI units, degrees)."""
    return dict(assessment.to_summary())


def ergonomics_page(assessment: ErgonomicAssessment) -> str:
    """One self-contained page: movement and assessment."""
    motion = _even(assessment.motion)
    sections = {
        "replay": ("Movement", replay_html(replay_data(motion), pose_strip(motion))),
        "ergonomics": ("Ergonomics", ergonomics_section(assessment)),
    }
    links, body = sections_html(sections)
    title = "Ergonomic assessment"
    return page_html(title, title, assessment.sentence, body, navigation=links)


def _worst_motion(assessment: ErgonomicAssessment) -> Motion:
    frames = list(assessment.worst_frames)
    motion = assessment.motion
    if len(frames) < 2:
        frames = [*frames, *frames]
        time = motion.time[frames] + np.array([0.0, 1e-9])
    else:
        time = motion.time[frames]
    return motion_from_poses(motion.model, time, motion.q[frames])


def _instant_table(assessment: ErgonomicAssessment) -> str:
    rows = []
    for k in assessment.worst_frames:
        parts = {name: int(values[k]) for name, values in assessment.reba.parts.items()}
        rows.append(
            (
                f"{assessment.motion.time[k]:.2f}",
                str(int(assessment.rula.score[k])),
                str(int(assessment.reba.score[k])),
                ", ".join(f"{name} {score}" for name, score in parts.items()),
            )
        )
    columns = [("time (s)", "n"), ("RULA", "n"), ("REBA", "n"), ("parts of REBA", "")]
    return table(columns, rows)


def _reach_sentence(assessment: ErgonomicAssessment) -> str:
    texts = [
        f"{side} hand up to {100 * distance:.0f} cm from the shoulder "
        f"({100 * share:.0f} % of the arm)"
        for side, (distance, share) in assessment.reach.items()
    ]
    return paragraph(f"Reach: {'; '.join(texts)}.")


def _limit_table(assessment: ErgonomicAssessment) -> str:
    rows = [
        (
            use.name.replace("_", " "),
            f"{100 * use.largest_share:.0f}",
            f"{use.time:.2f}",
            f"{100 * use.near_limit:.0f}",
        )
        for use in assessment.limits[:MAX_ROWS]
    ]
    columns = [
        ("coordinate", ""),
        ("largest, % of half range", "n"),
        ("at (s)", "n"),
        ("near its limit, % of time", "n"),
    ]
    return table(columns, rows)


def _strength_table(assessment: ErgonomicAssessment) -> str:
    if not assessment.strengths:
        return paragraph("Torques or strengths are not known.", "empty")
    rows = [
        (
            use.name.replace("_", " "),
            use.direction,
            f"{use.torque:.1f}",
            f"{use.strength:.1f}",
            f"{100 * use.largest_share:.0f}",
            f"{use.time:.2f}",
            use.source,
        )
        for use in assessment.strengths[:MAX_ROWS]
    ]
    columns = [
        ("joint", ""),
        ("direction", ""),
        ("torque (N m)", "n"),
        ("strength (N m)", "n"),
        ("%", "n"),
        ("at (s)", "n"),
        ("source", ""),
    ]
    return table(columns, rows)


def _angle_plot(title: str, time: np.ndarray, curves: dict[str, np.ndarray]) -> str:
    span = (float(time[0]), float(time[-1]))
    values = np.concatenate(list(curves.values()))
    plot = Plot(
        title, span, nice_range(values, min_span=20.0), "time (s)", "degrees", alt=title
    )  # fmt: skip
    for style, angle in curves.items():
        plot.line(time, angle, style)
    return plot.svg()


def _steps(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of a curve that is constant between its changes."""
    changes = np.flatnonzero(np.diff(values)) + 1
    x = np.repeat(time[changes], 2)
    y = np.column_stack([values[changes - 1], values[changes]]).ravel()
    return np.r_[time[0], x, time[-1]], np.r_[values[0], y, values[-1]]


def _even(motion: Motion) -> Motion:
    """The motion at a frame rate of a replay."""
    if motion.frames < 2:
        time = motion.time[0] + np.array([0.0, 1 / MAX_REPLAY_RATE_HZ])
        return motion_from_poses(motion.model, time, np.repeat(motion.q, 2, axis=0))
    count = max(2, round(motion.duration * min(motion.rate, MAX_REPLAY_RATE_HZ)) + 1)
    return motion.resample(np.linspace(motion.time[0], motion.time[-1], count))


def _score_table(assessment: ErgonomicAssessment) -> tuple[list[str], np.ndarray]:
    columns: dict[str, np.ndarray] = {
        "RULA": assessment.rula.score,
        "REBA": assessment.reba.score,
    }
    for name, scores in (("RULA", assessment.rula.parts), ("REBA", assessment.reba.parts)):
        columns |= {f"{name} {part}": values for part, values in scores.items()}
    angles = assessment.angles
    columns |= {
        "trunk flexion (deg)": angles.trunk_flexion,
        "trunk bend (deg)": angles.trunk_bend,
        "trunk twist (deg)": angles.trunk_twist,
        "neck flexion (deg)": angles.neck_flexion,
    }
    for side, arm in angles.arms.items():
        columns[f"{side} upper arm (deg)"] = arm.elevation
        columns[f"{side} elbow flexion (deg)"] = arm.elbow_flexion
    return list(columns), np.column_stack([np.asarray(x, dtype=float) for x in columns.values()])
