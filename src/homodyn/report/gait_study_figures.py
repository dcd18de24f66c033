"""Figures of a gait study: angles beside norms, impedance, torques, ground forces, progress."""

from __future__ import annotations

import numpy as np

from homodyn.errors import CaptureError
from homodyn.gait import cycles, find_events
from homodyn.gait.norm_comparison import COMPARED_ANGLES, merge_bounces
from homodyn.gait.norms import normative_curve
from homodyn.gait.studies.gait_controller import FREQUENCY
from homodyn.gait.studies.gait_solution import GaitSolution
from homodyn.report.html import PageFigure
from homodyn.report.svg import Plot, nice_range
from homodyn.search.studies.study import Study
from homodyn.simulate import BatchSimulator, SimulationOptions

PHASE_SAMPLES = 200
SIDES = ("right", "left")
LOADED_SHARE = 0.02
"""A foot stands when it bears more than this share of the weight."""
PHASE_BINS = 50
"""Bins of the phase of the controller in which swing is found."""


def gait_study_figures(solution: GaitSolution) -> tuple[PageFigure, ...]:
    """Angles beside normative bands, impedance over the cycle, vertical forces."""
    return tuple(
        PageFigure(name, plots, caption, 3)
        for name, plots, caption in (
            ("angles", _angle_plots(solution), "Angles of the cycles of the second half, right and "
             "left, beside mean and standard deviation of normative data."),
            ("stiffness", _gain_plots(solution, "stiffness", "N m/rad"), "Stiffness over the cycle "
             "of the controller; the swing of the right leg is shaded."),
            ("damping", _gain_plots(solution, "damping", "N m s/rad"), "Damping over the cycle of "
             "the controller; the swing of the right leg is shaded."),
            ("torque", _torque_plots(solution), "Torques of both legs in the last two seconds, "
             "and their limits where the model has some."),
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
    swing = swing_phases(solution)
    for joint in study.controller.joints:
        curve = values[f"right {joint} {gain}"]
        top = nice_range(curve, min_span=1.0, zero=True)
        plot = Plot(f"{joint} {gain}", (0.0, 100.0), top, "phase (%)", unit, alt=f"{joint} {gain}")
        for start, end in swing:
            plot.span(100 * start, 100 * end, "gray")
        plots.append(plot.line(values["phase"] * 100, curve, "right").svg())
    return tuple(plots)


def _signal_values(solution: GaitSolution) -> dict[str, np.ndarray]:
    """Gains of the right leg over one cycle of the controller."""
    study = solution.study
    frequency, steps = _frequency(solution), PHASE_SAMPLES
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


def swing_phases(solution: GaitSolution) -> list[tuple[float, float]]:
    """Phases of the controller in which the right foot bears no load, in the second half.

    Args:
        solution: The gait.

    Returns:
        Intervals of the phase (cycles), in order.
    """
    result = solution.result
    own = [force.force[:, 2] for force in result.motion.contact_forces if force.side == "right"]
    if not own:
        return []
    weight = result.model.mass * float(np.linalg.norm(result.model.gravity))
    kept = result.time >= result.time[-1] / 2
    loaded = np.sum(own, axis=0)[kept] > LOADED_SHARE * weight
    bins = np.floor((result.time[kept] * _frequency(solution)) % 1.0 * PHASE_BINS).astype(int)
    counts = np.bincount(bins, minlength=PHASE_BINS)[:PHASE_BINS]
    share = np.bincount(bins, loaded, minlength=PHASE_BINS)[:PHASE_BINS] / np.maximum(counts, 1)
    free = (share < 0.5) & (counts > 0)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], free.astype(int), [0]])))
    return [(a / PHASE_BINS, b / PHASE_BINS) for a, b in edges.reshape(-1, 2)]


def _frequency(solution: GaitSolution) -> float:
    """Cycles of the controller per second."""
    given = solution.study.controller.frequency
    return float(given) if isinstance(given, (int, float)) else solution.parameters[FREQUENCY]


def _torque_plots(solution: GaitSolution) -> tuple[str, ...]:
    result = solution.result
    end = float(result.time[-1])
    kept = (result.time >= end - 2.0) & (np.arange(len(result.time)) < len(result.time) - 1)
    limits = np.asarray(result.model.max_force, dtype=float)
    plots = []
    for joint, bounds in solution.study.controller.joints.items():
        columns = {
            side: result.model.coordinate_index(name)
            for side, name in zip(SIDES, (bounds.right, bounds.left), strict=True)
        }
        curves = {side: result.torques[kept, k] for side, k in columns.items()}
        limit = limits[columns["right"]]
        shown = [*curves.values(), *([[limit, -limit]] if np.isfinite(limit) else [])]
        extent = nice_range(np.concatenate(shown), min_span=1.0)
        plot = Plot(
            f"{joint} torque", (end - 2.0, end), extent, "time (s)", "N m", alt=f"{joint} torque"
        )
        if np.isfinite(limit):
            plot.horizontal_line(limit, "gray", "limit").horizontal_line(-limit, "gray")
        for side, curve in curves.items():
            plot.line(result.time[kept], curve, side)
        plots.append(plot.svg())
    return tuple(plots)


def progress_figures(study: Study, stages: int) -> tuple[PageFigure, ...]:
    """The completed stages and the last objective over the generations of a search.

    Args:
        study: The recorded search.
        stages: Stages of the goal before the last objective.

    Returns:
        One figure; none where no generation is complete.
    """
    rows = study.generations()
    if len(rows) < 2:
        return ()
    number = np.array([row.number for row in rows], dtype=float)
    stage = np.maximum.accumulate([row.best_stage for row in rows])
    span = (0.0, float(number[-1]))
    first = Plot(
        "completed objectives", span, (0.0, float(max(stages, 1))), "generation",
        alt="completed objectives",
    )  # fmt: skip
    plots = [first.line(number, stage, "right").svg()]
    last = [row for row in rows if row.best_stage == stages]
    if len(last) > 1:
        x = np.array([row.number for row in last], dtype=float)
        best = np.minimum.accumulate([row.best_value for row in last])
        extent = nice_range(best, min_span=1e-9)
        second = Plot("last objective", span, extent, "generation", alt="last objective")
        plots.append(second.line(x, best, "right").svg())
    return (PageFigure("progress", tuple(plots), "Progress of the search.", 2),)
