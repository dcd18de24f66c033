"""Steps that are best at something, on one page: strips, ground forces, angles and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_csv
from homodyn.analysis.step_comparison import StepComparison
from homodyn.foundation import atomic_folder
from homodyn.gait import (
    StoredStep,
    ground_forces,
    stored_steps,
    stride_events,
    stride_motion,
)
from homodyn.gait import (
    step_similarity as similarity,
)
from homodyn.model import Model, save
from homodyn.report.gait_figures import PageFigure
from homodyn.report.html import Markup, bullet_list, figure, number, paragraph, table
from homodyn.report.replay import asset, pose_strip, replay_data, replay_html
from homodyn.report.svg import Plot, nice_range

AXES = ("forward", "to the left", "upward")
ANGLES = (
    ("Hip_RY", "hip"),
    ("Knee_RY", "knee"),
    ("Ankle_RY", "ankle"),
    ("Lumbar_RY", "lumbar"),
    ("Shoulder_RY", "shoulder"),
    ("Elbow_RY", "elbow"),
)


def write_synthesis(
    compared: StepComparison, folder: str | Path, *, overwrite: bool = False
) -> list[Path]:
    """Write the page, tables and summary of synthesized steps, completely or not at all.

    Args:
        compared: The steps.
        folder: The folder to write; its parents are created.
        overwrite: Replace a folder that already contains a result.

    Returns:
        The files that were written.

    Raises:
        FormatError: The folder exists and may not be replaced, or cannot be written.
    """
    folder = Path(folder)
    with atomic_folder(folder, overwrite=overwrite, is_replaceable=is_result) as temporary:
        save(compared.model, temporary / "model.toml")
        for step in compared.steps:
            _write_tables(compared.model, step, temporary)
        (temporary / "index.html").write_text(synthesis_page(compared), encoding="utf-8")
        text = json.dumps(synthesis_summary(compared), indent=2, allow_nan=False)
        (temporary / SUMMARY).write_text(text + "\n", encoding="utf-8")
    return sorted(folder.iterdir())


def synthesis_summary(compared: StepComparison) -> dict[str, Any]:
    """Every step in plain numbers (SI units), with how its search ended."""
    judged, walk = compared.table, stored_steps()["walk"]
    rows = []
    for k, step in enumerate(compared.steps):
        near = similarity(step, walk)
        rows.append(
            {
                "name": step.name,
                "weights": step.objective.weights if step.objective else {},
                "status": compared.statuses[k],
                "search": list(compared.searches[k]),
                "step_length": step.parameters["length"],
                "speed": step.speed,
                "duration": step.duration,
                "phases": {phase.name: phase.duration for phase in step.phases},
                "criteria": dict(zip(judged.criteria, judged.values[k].tolist(), strict=True)),
                "distance_from_walk": near.distance,
                "posture_distance": near.posture,
                "duration_distance": near.duration,
                "planarity": compared.planes[k][1].variance_percent / 100,
                "lowest_forces": compared.lowest[k],
                "springs": {n: v for n, v in step.parameters.items() if " " in n},
            }
        )
    return {"model": compared.model.name, "mass": float(compared.model.mass), "steps": rows}


def synthesis_page(compared: StepComparison) -> str:
    """The whole page: one HTML file that needs nothing but itself."""
    sections = {
        "Steps": _overview(compared),
        "Replay": _replay(compared),
        "Image strips": _strips(compared),
        "Cross evaluation": _cross(compared),
        "Ground forces": _forces(compared),
        "Joint angles": _angles(compared),
        "Elevation angles": _elevation(compared),
        "Search": _search(compared),
    }
    links = "".join(f'<a href="#s{k}">{name}</a>' for k, name in enumerate(sections))
    body = "".join(
        f'<section id="s{k}"><h2>{name}</h2>{content}</section>'
        for k, (name, content) in enumerate(sections.items())
    )
    model = compared.model
    title = "Steps from objectives"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{asset('page.css')}</style></head><body>"
        f'<header><h1>{title}</h1><p class="sub">{escape(model.name)}, {model.mass:.0f} kg, '
        f"{model.nv} degrees of freedom; periodic mirrored steps after Felis 2015, section 5.4"
        f'</p></header><nav aria-label="Sections"><div>{links}</div></nav><main>{body}</main>'
        "</body></html>\n"
    )


def _overview(compared: StepComparison) -> str:
    columns = [("step", ""), ("status", "")] + [
        (word, "n") for word in ("length, m", "speed, m/s", "duration, s", "single support, s")
    ]
    rows = []
    for step, status in zip(compared.steps, compared.statuses, strict=True):
        single = step.phases[0].duration + step.phases[1].duration
        numbers = (step.parameters["length"], step.speed, step.duration, single)
        rows.append((step.name, status, *(f"{number:.3f}" for number in numbers)))
    off = max(abs(s.parameters["length"] - s.speed * s.duration) for s in compared.steps)
    return table(columns, rows) + paragraph(
        "Step length is speed times duration, as periodicity demands; the largest difference is "
        f"{1000 * off:.2g} mm."
    )


def _replay(compared: StepComparison) -> str:
    step = compared.steps[0]
    motion = stride_motion(compared.model, step, steps=4, rate=50.0)
    return paragraph(f"{step.name}, four steps.") + replay_html(
        replay_data(motion, events=stride_events(step, steps=4)), pose_strip(motion)
    )


def _strips(compared: StepComparison) -> str:
    walk = stored_steps()["walk"]
    rows = []
    for step in [*compared.steps, walk]:
        motion = stride_motion(compared.model, step)
        name = "synthetic walk, for comparison" if step is walk else step.name
        rows.append(f"<h3>{escape(name)}</h3>{pose_strip(motion, poses=9)}")
    return "".join(rows)


def _cross(compared: StepComparison) -> str:
    judged, walk = compared.table, stored_steps()["walk"]
    columns = [("step", "")] + [
        (word, "n") for word in ("torque", "angular momentum", "head", "time, s")
    ]
    best = judged.values.argmin(axis=0)
    rows: list[Sequence[Any]] = []
    for k, (name, values) in enumerate(zip(judged.steps, judged.values, strict=True)):
        cells = [
            Markup(f"<b>{_small(value)}</b>") if best[c] == k else _small(value)
            for c, value in enumerate(values)
        ]
        rows.append((name, *cells))
    near_columns = [("step", "")] + [
        (word, "n") for word in ("distance d", "posture, rad²", "duration, s²", "planarity, %")
    ]
    near_rows = []
    for step, (_, plane) in zip(compared.steps, compared.planes, strict=True):
        near, share = similarity(step, walk), plane.variance_percent
        parts = (near.distance, near.posture, near.duration)
        near_rows.append((step.name, *(f"{x:.4f}" for x in parts), f"{share:.1f}"))
    return table(
        columns, rows, "Each step judged by all criteria; the least of a column is bold."
    ) + table(near_columns, near_rows, "How far each is from the synthetic walk.")


def _small(value: float) -> str:
    return f"{value:.2e}" if value < 1e-2 else number(value)


def _forces(compared: StepComparison) -> str:
    weight = compared.model.mass * float(np.linalg.norm(compared.model.gravity))
    panels = []
    curves = {
        s.name: [ground_forces(s, side) for side in ("Right", "Left")] for s in compared.steps
    }
    for axis, word in enumerate(AXES):
        span = nice_range(
            *(f[:, axis] / weight for pair in curves.values() for _, f in pair), zero=True
        )
        for step in compared.steps:
            plot = Plot(f"{step.name}, {word}", (0, 100), span, "% of the step", "weights")
            start = 100 * step.phases[2].time[0] / step.duration
            plot.span(start, 100.0, "stance")
            for side, (time, force) in zip(("right", "left"), curves[step.name], strict=True):
                stands = np.abs(force).sum(axis=1) > 0
                shown = np.where(stands, force[:, axis] / weight, np.nan)
                plot.line(100 * time / step.duration, shown, side)
            panels.append(plot.svg())
    low = min(min(least.values()) for least in compared.lowest) / weight
    caption = (
        "Ground forces in parts of the weight; both feet stand where it is shaded. The least "
        f"upward force of any contact between the nodes is {number(low)} weights."
    )
    return figure(PageFigure("forces", tuple(panels), caption, min(len(compared.steps), 4)))


def _angles(compared: StepComparison) -> str:
    panels = []
    for stem, word in ANGLES:
        drawn = []
        for step in [*compared.steps, stored_steps()["walk"]]:
            motion = stride_motion(compared.model, step)
            joint, axis = stem.split("_")
            sides = [n for n in compared.model.coordinate_names if n.startswith(joint)]
            name = next(n for n in sides if n.endswith(axis))
            place = compared.model.coordinate_index(name)
            percent = 100 * motion.time / motion.time[-1]
            drawn.append((percent, np.degrees(motion.q[:, place])))
        span = nice_range(*(y for _, y in drawn), least=10.0)
        plot = Plot(word, (0, 100), span, "% of the stride", "deg")
        for k, (x, y) in enumerate(drawn):
            walk = k == len(drawn) - 1
            plot.line(x, y, "grey" if walk else _style(k)[0])
        panels.append(plot.svg())
    names = [*(s.name for s in compared.steps), "synthetic walk"]
    colours = [*(_style(k)[1] for k in range(len(names) - 1)), "grey"]
    words = ", ".join(f"{name}: {colour}" for name, colour in zip(names, colours, strict=True))
    caption = f"Angles of the right side from left foot off on. {words}."
    return figure(PageFigure("angles", tuple(panels), caption, 3, legend=False))


LINE_STYLES = ("right", "left", "first", "second", "ink", "middle")
LINE_COLOR_NAMES = ("red", "blue", "orange", "green", "black", "light grey")


def _style(k: int) -> tuple[str, str]:
    """Class and words of the k-th line; those after the last colour are dashed."""
    n = k % len(LINE_STYLES)
    if k < len(LINE_STYLES):
        return LINE_STYLES[n], LINE_COLOR_NAMES[n]
    return f"{LINE_STYLES[n]} dash", f"{LINE_COLOR_NAMES[n]} dashed"


def _elevation(compared: StepComparison) -> str:
    panels, shares = [], []
    for step, (angles, fit) in zip(compared.steps, compared.planes, strict=True):
        flat = (angles - fit.center) @ fit.axes
        span = nice_range(flat, least=20.0)
        for across, word in ((1, "in the plane"), (2, "plane edge on")):
            plot = Plot(f"{step.name}, {word}", span, span, "first axis (deg)", "deg")
            plot.line(flat[:, 0], flat[:, across], "right")
            plot.dots(flat[:1, 0], flat[:1, across], "ink", 3.0)
            panels.append(plot.svg())
        shares.append(f"{step.name} {fit.variance_percent:.1f} %")
    caption = (
        "Elevation angles of thigh, shank and foot of the right leg over a stride, in the axes of "
        f"their plane and against it. Share of the variance in the plane: {', '.join(shares)}."
    )
    return figure(PageFigure("elevation", tuple(panels), caption, 4, legend=False))


def _search(compared: StepComparison) -> str:
    parts = []
    for step, lines in zip(compared.steps, compared.searches, strict=True):
        parts.append(f"<h3>{escape(step.name)}</h3>")
        parts.append(bullet_list(lines) or paragraph("Stored with the program."))
    return "".join(parts)


def step_file_stem(name: str) -> str:
    """What the files of a step begin with."""
    return name.replace(" ", "_").replace("*", "x")


def _write_tables(model: Model, step: StoredStep, folder: Path) -> None:
    stem = step_file_stem(step.name)
    motion = stride_motion(model, step)
    write_csv(folder / f"{stem}_motion.csv", motion.time, list(model.coordinate_names), motion.q)
    time, right = ground_forces(step, "Right", ends=False)
    forces = np.column_stack([right, ground_forces(step, "Left", ends=False)[1]])
    names = [f"{side} {axis}" for side in ("Right", "Left") for axis in "xyz"]
    write_csv(folder / f"{stem}_forces.csv", time, names, forces)
    torque = np.concatenate([phase.tau for phase in step.phases])
    write_csv(folder / f"{stem}_torques.csv", time, list(model.coordinate_names), torque)
