"""The folder of synthesized steps: one page with strips, ground forces, angles and tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from homodyn.analysis.provenance import software_versions
from homodyn.analysis.result_files import SUMMARY, is_result
from homodyn.analysis.result_tables import write_csv
from homodyn.analysis.step_comparison import StepComparison
from homodyn.analysis.step_quality import quality_summary, synthesis_verdicts
from homodyn.foundation import atomic_folder
from homodyn.gait.synthesis import (
    GroundLoads,
    StoredStep,
    ground_forces,
    stride_events,
    stride_motion,
    touchdown_impulses,
)
from homodyn.model import Model, save
from homodyn.motion import Motion, Side
from homodyn.motion.clinical import coordinate_readings
from homodyn.motion.mirrored_motion import VECTOR_IMAGE
from homodyn.report.html import (
    Markup,
    PageFigure,
    bullet_list,
    figure_html,
    number,
    page_html,
    paragraph,
    sections_html,
    table,
)
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.svg import Plot, nice_range
from homodyn.report.verdict_list import verdicts_html

AXES = ("forward", "to the left", "upward")
ANGLE_COORDINATES = (
    ("Hip", "RY"),
    ("Knee", "RY"),
    ("Ankle", "RY"),
    ("Lumbar", "RY"),
    ("Shoulder", "RY"),
    ("Elbow", "RY"),
)
"""Joint and axis of the angles that are plotted."""
LINE_STYLES = {
    "first": "orange",
    "second": "green",
    "third": "violet",
    "fourth": "teal",
    "ink": "black",
    "middle": "light gray",
}
"""CSS class of the curve of each step, and the name of its color; none is that of a side."""


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
    """Every step in plain numbers (SI units), with the status of its search."""
    criteria = compared.cross_evaluation
    rows = []
    for k, step in enumerate(compared.steps):
        near = compared.similarities[k]
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
                "criteria": dict(zip(criteria.criteria, criteria.values[k].tolist(), strict=True)),
                "distance_from_walk": near.distance,
                "posture_distance": near.posture,
                "duration_distance": near.duration,
                "planarity": compared.planes[k][1].variance_percent / 100,
                "lowest_forces": compared.min_normal_forces[k],
                "ground": _ground_summary(compared.ground_loads[k]),
                "springs": {n: v for n, v in step.parameters.items() if " " in n},
            }
        )
    return {
        "complete": True,
        "kind": "synthesis",
        "versions": software_versions(),
        "model": compared.model.name,
        "mass": float(compared.model.mass),
        "quality": quality_summary(synthesis_verdicts(compared)),
        "reference": {
            "name": compared.reference.name,
            "duration": compared.reference.duration,
            "compared_coordinates": _compared_coordinates(compared),
        },
        "steps": rows,
    }


def _compared_coordinates(compared: StepComparison) -> list[str]:
    """The coordinates that the reference shows."""
    names = compared.model.coordinate_names
    shown = compared.reference.compared or (True,) * len(names)
    return [name for name, is_shown in zip(names, shown, strict=True) if is_shown]


def _ground_summary(loads: GroundLoads) -> dict[str, Any]:
    """Friction and impulses of a step in plain numbers."""
    return {
        "friction": loads.friction,
        "required_friction": loads.required_friction,
        "friction_demand": dict(loads.friction_demand),
        "cone_excess": loads.cone_excess,
        "impulse_share": loads.impulse_share,
        "impulse_friction_demand": loads.impulse_demand,
        "impulses": [
            {"time": each.time, "foot": str(each.side), "impulse": each.impulse.tolist()}
            for each in loads.impulses
        ],
    }


def synthesis_page(compared: StepComparison) -> str:
    """The page of synthesized steps: one self-contained HTML file."""
    sections = {
        "At a glance": verdicts_html(synthesis_verdicts(compared)),
        "Steps": _overview(compared),
        "Replay": _replay(compared),
        "Image strips": _strips(compared),
        "Cross evaluation": _cross(compared),
        "Ground forces": _forces(compared),
        "Joint angles": _angles(compared),
        "Elevation angles": _elevation(compared),
        "Search": _search(compared),
    }
    links, body = sections_html({f"s{k}": item for k, item in enumerate(sections.items())})
    model = compared.model
    title = "Synthesized walking steps"
    subtitle = (
        f"{model.name}, {model.mass:.0f} kg, {model.nv} degrees of freedom; periodic mirrored "
        "steps after Felis 2015, section 5.4"
    )
    return page_html(title, title, subtitle, body, navigation=links)


def _overview(compared: StepComparison) -> str:
    columns = [("step", ""), ("status", "")] + [
        (head, "n") for head in ("length (m)", "speed (m/s)", "duration (s)", "single support (s)")
    ]
    rows = []
    for step, status in zip(compared.steps, compared.statuses, strict=True):
        single = step.phases[0].duration + step.phases[1].duration
        numbers = (step.parameters["length"], step.speed, step.duration, single)
        rows.append((step.name, status, *(f"{value:.3f}" for value in numbers)))
    error = max(abs(s.parameters["length"] - s.speed * s.duration) for s in compared.steps)
    return table(columns, rows) + paragraph(
        "Periodicity requires that the step length is speed times duration; the largest difference "
        f"is {1000 * error:.2g} mm."
    )


def _replay(compared: StepComparison) -> str:
    step = compared.steps[0]
    motion = stride_motion(compared.model, step, steps=4, rate=50.0)
    return paragraph(f"{step.name}, four steps.") + replay_html(
        replay_data(motion, events=stride_events(step, steps=4)), pose_strip(motion)
    )


def _strips(compared: StepComparison) -> str:
    motions = {step.name: stride_motion(compared.model, step) for step in compared.steps}
    motions[f"{compared.reference.name}, for comparison"] = compared.reference.stride(
        compared.model
    )
    return "".join(
        f"<h3>{escape(name)}</h3>{pose_strip(motion, poses=9)}" for name, motion in motions.items()
    )


def _cross(compared: StepComparison) -> str:
    criteria = compared.cross_evaluation
    columns = [("step", "")] + [
        (head, "n") for head in ("torque", "angular momentum", "head", "time (s)")
    ]
    best = criteria.values.argmin(axis=0)
    rows: list[Sequence[Any]] = []
    for k, (name, values) in enumerate(zip(criteria.steps, criteria.values, strict=True)):
        cells = [
            Markup(f"<b>{_small(value)}</b>") if best[c] == k else _small(value)
            for c, value in enumerate(values)
        ]
        rows.append((name, *cells))
    near_columns = [("step", "")] + [
        (head, "n") for head in ("distance d", "posture (rad²)", "duration (s²)", "planarity (%)")
    ]
    near_rows = []
    for step, near, (_, plane) in zip(
        compared.steps, compared.similarities, compared.planes, strict=True
    ):
        parts = (near.distance, near.posture, near.duration)
        near_rows.append((step.name, *(f"{x:.4f}" for x in parts), f"{plane.variance_percent:.1f}"))
    shown = len(_compared_coordinates(compared))
    caption = (
        f"Distance of each step from {compared.reference.name}, in the {shown} coordinates that it "
        "shows."
    )
    return table(
        columns, rows, "All criteria of each step; the smallest value of a column is bold."
    ) + table(near_columns, near_rows, caption)


def _small(value: float) -> str:
    return f"{value:.2e}" if value < 1e-2 else number(value)


def _forces(compared: StepComparison) -> str:
    weight = compared.model.mass * float(np.linalg.norm(compared.model.gravity))
    panels = []
    curves = {s.name: [ground_forces(s, side) for side in Side] for s in compared.steps}
    for axis, direction in enumerate(AXES):
        span = nice_range(
            *(f[:, axis] / weight for pair in curves.values() for _, f in pair), zero=True
        )
        for step in compared.steps:
            title = f"{step.name}, {direction}"
            plot = Plot(title, (0, 100), span, "step (%)", "body weights")
            start = 100 * step.phases[2].time[0] / step.duration
            plot.span(start, 100.0, "stance")
            for side, (time, force) in zip(("right", "left"), curves[step.name], strict=True):
                loaded = np.abs(force).sum(axis=1) > 0
                shown = np.where(loaded, force[:, axis] / weight, np.nan)
                plot.line(100 * time / step.duration, shown, side)
            panels.append(plot.svg())
    low = min(min(forces.values()) for forces in compared.min_normal_forces) / weight
    caption = (
        "Ground forces in body weights; double support is shaded. The smallest upward force of any "
        f"contact between the nodes is {number(low)} body weights."
    )
    figure = PageFigure("forces", tuple(panels), caption, min(len(compared.steps), 4))
    return _ground(compared) + figure_html(figure)


def _ground(compared: StepComparison) -> str:
    """Tables of the friction demand and of the impulses."""
    columns = [("step", "")] + [
        (head, "n")
        for head in (
            "friction bound",
            "right demands",
            "left demands",
            "impulses demand",
            "beyond the cone (% weight)",
            "support by impulses (%)",
        )
    ]
    rows, hits = [], []
    for step, loads in zip(compared.steps, compared.ground_loads, strict=True):
        bound = "none" if loads.friction is None else f"{loads.friction:g}"
        demands = [f"{loads.friction_demand[str(side)]:.2f}" for side in Side]
        demands.append(f"{loads.impulse_demand:.2f}")
        shares = [f"{100 * share:.1f}" for share in (loads.cone_excess, loads.impulse_share)]
        rows.append((step.name, bound, *demands, *shares))
        for each in loads.impulses:
            entries = [f"{value:.2f}" for value in each.impulse]
            hits.append((step.name, f"{each.time:.3f}", str(each.side), *entries))
    impulse_columns = [("step", ""), ("time (s)", "n"), ("foot", "")]
    impulse_columns += [(f"{axis} (N s)", "n") for axis in AXES]
    return table(
        columns,
        rows,
        "Friction coefficient that each foot demands where it bears a tenth of the weight or more, "
        "at the nodes and between them, and that of the impulses; the largest tangential force "
        "beyond the cone; and the share of the support that comes as impulses.",
    ) + table(impulse_columns, hits, "Impulses of the ground at the touchdowns of heel and toes.")


def _angles(compared: StepComparison) -> str:
    model = compared.model
    motions = [stride_motion(model, step) for step in compared.steps]
    motions.append(compared.reference.stride(model))
    panels = []
    for joint, axis in ANGLE_COORDINATES:
        name = next(n for n in model.coordinate_names if n.startswith(joint) and n.endswith(axis))
        reading = coordinate_readings(model)[name]
        place = model.coordinate_index(name)
        curves = [
            (100 * m.time / m.time[-1], reading.sign * np.degrees(m.q[:, place])) for m in motions
        ]
        span = nice_range(*(y for _, y in curves), min_span=10.0)
        plot = Plot(reading.title, (0, 100), span, "stride (%)", "deg")
        for k, (x, y) in enumerate(curves):
            is_walk = k == len(curves) - 1
            plot.line(x, y, "gray" if is_walk else _line_style(k)[0])
        panels.append(plot.svg())
    names = [*(step.name for step in compared.steps), compared.reference.name]
    colors = [*(_line_style(k)[1] for k in range(len(names) - 1)), "gray"]
    legend = ", ".join(f"{name}: {color}" for name, color in zip(names, colors, strict=True))
    caption = f"Joint angles of trunk and right side, from left foot off. {legend}."
    return figure_html(PageFigure("angles", tuple(panels), caption, 3, legend=False))


def _line_style(k: int) -> tuple[str, str]:
    """CSS class and color name of the k-th step; dashed after the last color."""
    style, color = list(LINE_STYLES.items())[k % len(LINE_STYLES)]
    return (style, color) if k < len(LINE_STYLES) else (f"{style} dash", f"{color} dashed")


def _elevation(compared: StepComparison) -> str:
    panels, shares = [], []
    for step, (angles, fit) in zip(compared.steps, compared.planes, strict=True):
        flat = (angles - fit.center) @ fit.axes
        span = nice_range(flat, min_span=20.0)
        for across, view in ((1, "in the plane"), (2, "plane edge on")):
            plot = Plot(f"{step.name}, {view}", span, span, "first axis (deg)", "deg")
            plot.line(flat[:, 0], flat[:, across], "right")
            plot.dots(flat[:1, 0], flat[:1, across], "ink", 3.0)
            panels.append(plot.svg())
        shares.append(f"{step.name} {fit.variance_percent:.1f} %")
    caption = (
        "Elevation angles of thigh, shank and foot of the right leg over a stride, in their plane "
        f"and with the plane edge on. Share of the variance in the plane: {', '.join(shares)}."
    )
    return figure_html(PageFigure("elevation", tuple(panels), caption, 4, legend=False))


def _search(compared: StepComparison) -> str:
    parts = []
    for step, lines in zip(compared.steps, compared.searches, strict=True):
        parts.append(f"<h3>{escape(step.name)}</h3>")
        parts.append(bullet_list(lines) or paragraph("Bundled with Homodyn."))
    return "".join(parts)


def step_file_stem(name: str) -> str:
    """Start of the names of the files of a step."""
    return name.replace(" ", "_").replace("*", "x")


def _write_tables(model: Model, step: StoredStep, folder: Path) -> None:
    """Coordinates, torques and forces of two steps at the same times, and their impulses."""
    stem = step_file_stem(step.name)
    motion = stride_motion(model, step)
    coordinates = list(model.coordinate_names)
    write_csv(folder / f"{stem}_motion.csv", motion.time, coordinates, motion.q)
    write_csv(folder / f"{stem}_torques.csv", motion.time, coordinates, motion.tau)
    names = [f"{side.title} {axis}" for side in Side for axis in "xyz"]
    feet = [_foot_force(motion, side) for side in Side]
    write_csv(folder / f"{stem}_forces.csv", motion.time, names, np.hstack(feet))
    times, impulses = _stride_impulses(step)
    write_csv(folder / f"{stem}_impulses.csv", times, names, impulses)


def _foot_force(motion: Motion, side: Side) -> np.ndarray:
    """Force of the ground on one foot (frames, 3), N."""
    total = np.zeros((len(motion.time), 3))
    for force in motion.contact_forces:
        if force.side is side:
            total = total + np.nan_to_num(force.force)
    return total


def _stride_impulses(step: StoredStep) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and impulses (N s) of both feet over a step and its mirror image."""
    impulses = touchdown_impulses(step)
    times = np.unique([each.time for each in impulses])
    first = np.zeros((len(times), 2, 3))
    sides = list(Side)
    for each in impulses:
        first[np.searchsorted(times, each.time), sides.index(each.side)] = each.impulse
    second = first[:, ::-1] * VECTOR_IMAGE
    rows = np.concatenate([first, second]).reshape(-1, 6)
    return np.concatenate([times, times + step.duration]), rows
