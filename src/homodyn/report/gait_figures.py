"""Figures of gait analysis: angles, torques, powers, ground forces, elevation, EMG, energy.

Each function takes records and returns figures: SVG panels with a caption.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import (
    BilateralCurve,
    CurveEnsemble,
    CycleSegmentation,
    angle_curves,
    signal_curves,
    walking_direction,
)
from homodyn.analysis.elevation_plane import fit_plane
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.analysis.load_validity import all_loads_valid
from homodyn.capture import Signals
from homodyn.capture.kinematics import world_axes
from homodyn.gait import ElevationAngles
from homodyn.motion import (
    STANCE_THRESHOLD,
    ForcePlate,
    Loads,
    Motion,
    MotionSource,
    Side,
)
from homodyn.motion.anatomical_axes import Axes
from homodyn.report.html import PageFigure
from homodyn.report.svg import Plot, nice_range

COMPUTED_SOURCES = (
    MotionSource.SIMULATED,
    MotionSource.OPTIMIZED,
    MotionSource.SYNTHETIC,
    MotionSource.NETWORK,
)
"""Motions whose ground forces are results of a computation, not of plates."""


def joint_angles(motion: Motion, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Angles of pelvis and legs, and of the upper body (Felis 2015, fig. 6.3)."""
    legs, upper = _split_by_joint(
        angle_curves(motion, segmentation), ("Pelvis", "Hip", "Knee", "Ankle")
    )
    averaging = _averaging_text(segmentation)
    figures = [
        PageFigure(
            "angles",
            _panels(legs, segmentation, 10.0),
            f"Angles of pelvis and legs (deg) {averaging}.",
        ),
        PageFigure(
            "angles-upper", _panels(upper, segmentation, 10.0), f"Other angles (deg) {averaging}."
        ),
    ]
    return [figure for figure in figures if figure.panels]


def joint_torques(loads: Loads, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Torques per kg of body mass (Felis 2015, fig. 6.6)."""
    legs, upper = _split_by_joint(torque_curves(loads, segmentation), ("Hip", "Knee", "Ankle"))
    definition = (
        "Internal torques, exerted by muscles and ligaments; positive in the direction of the "
        "positive angle."
    )
    figures = [
        PageFigure(
            "torques",
            _panels(legs, segmentation, 0.2),
            f"Leg torques per body mass {_averaging_text(segmentation, legs)}. {definition}",
        ),
        PageFigure(
            "torques-upper",
            _panels(upper, segmentation, 0.1),
            f"Other torques per body mass {_averaging_text(segmentation, upper)}. {definition}",
        ),
    ]
    return [figure for figure in figures if figure.panels]


def joint_powers(loads: Loads, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Power of each joint per body mass (W/kg)."""
    curves = power_curves(loads, segmentation)
    if not curves:
        return []
    caption = (
        f"Joint powers per body mass {_averaging_text(segmentation, curves)}. Summed over the "
        "coordinates of each joint; positive power generates mechanical energy."
    )
    return [PageFigure("powers", _panels(curves, segmentation, 0.5), caption)]


def ground_forces(loads: Loads, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Ground forces of both feet along three axes, in % of body weight (Felis 2015, fig. 6.8)."""
    curves = ground_force_curves(loads, segmentation)
    if not curves:
        return []
    source = "measured by the plates"
    if loads.predicted:
        source = "computed from the motion, not measured"
    elif loads.motion.source in COMPUTED_SOURCES:
        source = f"of the {loads.motion.source} motion"
    caption = (
        "Ground forces on the feet in percent of body weight "
        f"{_averaging_text(segmentation, curves)}; {source}."
    )
    return [PageFigure("ground-forces", _panels(curves, segmentation, 10.0), caption)]


def pressure_paths(
    loads: Loads, plates: Sequence[ForcePlate], origin: np.ndarray | None = None
) -> list[PageFigure]:
    """Top view of the floor: plates, paths of the centers of pressure and of the center of mass.

    ``plates`` are in the axes of a trial (Z up).
    """
    motion = loads.motion
    if not any(np.isfinite(foot.point).any() for foot in loads.feet):
        return []
    axes = Axes.of(motion.model)
    to_model = world_axes(motion.model).T
    along = walking_direction(motion)
    flat = np.column_stack([along, np.cross(axes.up, along)])
    com = dynamics.center_of_mass(motion.model, motion.q) @ flat
    start = com[0] if origin is None else origin
    paths = []
    for foot in loads.feet:
        loaded = foot.force @ axes.up > STANCE_THRESHOLD.drawing_n
        path = np.where(loaded[:, None], foot.point, np.nan) @ flat - start
        paths.append((foot.side, path))
    corners = [
        (plate.name, plate.corners @ to_model.T @ flat - start)
        for plate in plates
        if plate.corners is not None
    ]
    com = com - start
    points = np.vstack([*(path for _, path in paths), *(outline for _, outline in corners)])
    x = nice_range(points[:, 0], min_span=0.8, margin=0.04)
    y = nice_range(points[:, 1], min_span=0.5, margin=0.08)
    width, max_height, edge = 980.0, 360.0, 60.0
    scale = min((width - 56) / (x[1] - x[0]), (max_height - edge) / (y[1] - y[0]))
    half = (width - 56) / scale / 2
    plot = Plot(
        "Top view of the floor",
        (sum(x) / 2 - half, sum(x) / 2 + half),
        y,
        "along the walk (m)",
        "m, up is left of the walk",
        width=width,
        height=scale * (y[1] - y[0]) + edge,
        alt="Paths of the centers of pressure under both feet, with the outlines of the plates",
    )
    for name, outline in corners:
        plot.polygon(outline[:, 0], outline[:, 1], "plate")
        top = float(outline[:, 1].max()) - 14.0 / scale
        plot.text(float(outline[:, 0].mean()), top, name, "note middle")
    (x0, x1), (y0, y1) = plot.x, plot.y
    shown = (com[:, 0] > x0) & (com[:, 0] < x1) & (com[:, 1] > y0) & (com[:, 1] < y1)
    plot.line(com[:, 0], np.where(shown, com[:, 1], np.nan), "thin middle")
    for side, path in paths:
        plot.line(path[:, 0], path[:, 1], side or "middle")
    caption = (
        "Paths of the center of pressure under each foot (right red, left blue) and of the center "
        "of mass (gray), seen from above; both axes have the same scale."
    )
    if not corners:
        caption += " The recording does not contain the positions of its plates."
    return [PageFigure("pressure-paths", (plot.svg(),), caption, columns=1)]


def elevation(angles: ElevationAngles, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Elevation angles of thigh, shank and foot (Felis 2015, fig. 6.7).

    The loop is drawn in its plane and edge on; a planar loop is a line in the second view.
    """
    figures = []
    panels = []
    shares = []
    for side in Side:
        degrees = angles.side(side)
        if not np.isfinite(degrees).any():
            continue
        loop = _loop(degrees, segmentation, side, angles.time)
        fit = fit_plane(loop)
        flat = (loop - fit.center) @ fit.axes
        panels += [
            _view(flat[:, [0, 1]], side, "in the plane", "second axis", fit.axes),
            _view(flat[:, [0, 2]], side, "plane edge on", "out of the plane"),
        ]
        shares.append(f"{side}: {fit.variance_percent:.1f} % of the variance lies in the plane")
    if panels:
        caption = (
            "Elevation angles of thigh, shank and foot relative to the vertical, in the sagittal "
            f"plane of the walk, in two views; {'; '.join(shares)}. The dot marks the first foot "
            "strike; the gray lines are the axes of the three angles."
        )
        figures.append(PageFigure("elevation", tuple(panels), caption, columns=4))
        lines = _elevation_lines(angles, segmentation)
        if lines:
            figures.append(
                PageFigure(
                    "elevation-angles",
                    lines,
                    f"The same angles individually {_averaging_text(segmentation)}.",
                )
            )
    return figures


def emg(
    signals: Signals, segmentation: CycleSegmentation, sides: Sequence[str | None]
) -> list[PageFigure]:
    """Envelopes of muscle activity over the cycle with stance shaded (Felis 2015, fig. 2.7)."""
    panels = []
    for curves in signal_curves(signals, segmentation, sides):
        plot = _axes(curves, [strand for _, strand in curves.ensembles], 0.0, zero=True)
        for side, _ in curves.ensembles:
            off = None if curves.over_time else segmentation.mean_foot_off(side)
            if off is not None:
                plot.span(0.0, off, f"stance {side}")
        for side, strand in curves.ensembles:
            style = "middle" if curves.midline else side
            plot.band(strand.x, strand.mean - strand.sd, strand.mean + strand.sd, style)
            plot.line(strand.x, strand.mean, style)
        panels.append(plot.svg())
    if not panels:
        return []
    caption = (
        "Envelopes of the EMG channels "
        f"{_averaging_text(segmentation, off='stance is shaded')}. In the "
        "unit of the channel, not normalized to a maximum voluntary contraction."
    )
    return [PageFigure("emg", tuple(panels), caption)]


def energy(
    motion: Motion, loads: Loads | None, segmentation: CycleSegmentation
) -> list[PageFigure]:
    """Mechanical energy of the body and cumulative work of its joints, over time."""
    model = motion.model
    kinetic = dynamics.kinetic_energy(model, motion.q, motion.v) / model.mass
    potential = dynamics.potential_energy(model, motion.q) / model.mass
    potential = potential - potential.min()
    time = motion.time
    span = (float(time[0]), float(time[-1]))
    bodies = Plot(
        "Energy of the body",
        span,
        nice_range(kinetic, potential, kinetic + potential, zero=True),
        "time (s)",
        "J/kg",
        width=480,
        height=220,
    )
    for values, style in ((kinetic, "first"), (potential, "second"), (kinetic + potential, "ink")):
        bodies.line(time, values, style)
    panels = [bodies.svg()]
    caption = (
        "Kinetic (orange), potential relative to its minimum (green) and total mechanical energy "
        "(black, or white on a dark page) per body mass"
    )
    if loads is not None and loads.power.size and all_loads_valid(loads, segmentation):
        per_kg = loads.power / model.mass
        step = 1.0 / motion.rate
        positive = np.cumsum(np.clip(per_kg, 0.0, None).sum(axis=1)) * step
        negative = np.cumsum(np.clip(per_kg, None, 0.0).sum(axis=1)) * step
        work = Plot(
            "Cumulative joint work",
            span,
            nice_range(positive, negative, zero=True),
            "time (s)",
            "J/kg",
            width=480,
            height=220,
        )
        work.line(time, positive, "second").line(time, negative, "first")
        work.line(time, positive + negative, "ink")
        panels.append(work.svg())
        caption += (
            "; cumulative joint work: positive (green), negative (orange) and net (black or white)"
        )
    return [PageFigure("energy", tuple(panels), caption + ".", columns=2, legend=False)]


def _split_by_joint(
    curves: Sequence[BilateralCurve], first: tuple[str, ...]
) -> tuple[list[BilateralCurve], list[BilateralCurve]]:
    return (
        [curve for curve in curves if curve.joint in first],
        [curve for curve in curves if curve.joint not in first],
    )


def _averaging_text(
    segmentation: CycleSegmentation,
    curves: Sequence[BilateralCurve] = (),
    off: str = "the dashed line is foot off",
) -> str:
    """How curves were averaged; without ``curves``, over all cycles of the trial."""
    if not segmentation.has_cycles:
        return "over time, since the trial has no complete gait cycle"
    counts = {side: segmentation.count(side) for side in Side}
    measured = False
    if curves:
        own = [{side: len(strand.values) for side, strand in curve.ensembles} for curve in curves]
        fewest = {side: min((n[side] for n in own if side in n), default=0) for side in Side}
        measured = any(fewest[side] < counts[side] for side in Side)
        counts = fewest
    text = " and ".join(f"{count} {side}" for side, count in counts.items() if count)
    if sum(counts.values()) == 1:
        return (
            f"over one gait cycle ({text.split()[1]}), from foot strike to foot strike of the "
            f"same foot; {off}"
        )
    known = " with known ground forces" if measured else ""
    return (
        f"over the gait cycle, from foot strike to foot strike of the same foot: mean and one "
        f"standard deviation of {text} cycles{known}; {off}"
    )


def _panels(
    curves: Sequence[BilateralCurve], segmentation: CycleSegmentation, min_span: float
) -> tuple[str, ...]:
    return tuple(_panel(curve, segmentation, min_span) for curve in curves)


def _panel(curves: BilateralCurve, segmentation: CycleSegmentation, min_span: float) -> str:
    strands = curves.ensembles
    if curves.over_time and curves.midline:
        strands = [("middle", strand) for _, strand in strands[:1]]
    plot = _axes(curves, [strand for _, strand in strands], min_span)
    for side, strand in strands:
        if len(strand.values) > 1:
            plot.band(strand.x, strand.mean - strand.sd, strand.mean + strand.sd, side)
    for side, strand in strands:
        off = None if curves.over_time else segmentation.mean_foot_off(side)
        if off is not None:
            plot.vertical_line(off, f"dash {side}")
        plot.line(strand.x, strand.mean, side)
    return plot.svg()


def _axes(
    curves: BilateralCurve, strands: Sequence[CurveEnsemble], min_span: float, zero: bool = False
) -> Plot:
    # The standard deviation of a single cycle is not known.
    edges = [
        strand.mean + sign * np.nan_to_num(strand.sd) for strand in strands for sign in (-1, 1)
    ]
    over_time = curves.over_time
    x = (0.0, 100.0)
    if over_time:
        x = (float(strands[0].x[0]), float(strands[0].x[-1]))
    label = "time (s)" if over_time else "gait cycle (%)"
    sides = " and ".join(side for side, _ in curves.ensembles)
    return Plot(
        curves.title,
        x,
        nice_range(*edges, min_span=min_span, zero=zero),
        label,
        curves.unit,
        alt=f"{curves.title} in {curves.unit}, {sides}, against {label}",
    )


def _loop(
    degrees: np.ndarray, segmentation: CycleSegmentation, side: str, time: np.ndarray
) -> np.ndarray:
    """(n, 3), deg: the angles over the mean cycle, or over the whole trial."""
    strands = [segmentation.ensemble(degrees[:, k], side, time) for k in range(3)]
    if any(strand is None for strand in strands):
        return degrees[np.isfinite(degrees).all(axis=1)]
    return np.column_stack([strand.mean for strand in strands if strand is not None])


def _view(
    loop: np.ndarray, side: str, view: str, y_label: str, axes: np.ndarray | None = None
) -> str:
    """A loop of elevation angles in a plane, both axes at the same scale."""
    x = nice_range(loop[:, 0], min_span=20.0, margin=0.12)
    y = nice_range(loop[:, 1], min_span=0.45 * (x[1] - x[0]), margin=0.15)
    width = 320.0
    plot = Plot(
        f"{side.capitalize()}, {view}",
        x,
        y,
        "first axis (deg)",
        f"{y_label}, deg",
        width=width,
        height=(width - 56) / (x[1] - x[0]) * (y[1] - y[0]) + 60,
        alt=f"Elevation angles of the {side} leg, {view} of their covariation",
    )
    if axes is not None:
        _spokes(plot, axes, 0.3 * (y[1] - y[0]))
    plot.line(loop[:, 0], loop[:, 1], side).dots(loop[:1, 0], loop[:1, 1], side, 3.6)
    return plot.svg()


def _spokes(plot: Plot, axes: np.ndarray, length: float) -> None:
    """The axes of the three angles as directions in the plane."""
    for k, segment in enumerate(("thigh", "shank", "foot")):
        end = length * axes[k, :2]
        plot.line(np.array([0.0, end[0]]), np.array([0.0, end[1]]), "thin middle")
        plot.text(1.18 * end[0], 1.18 * end[1], segment, "note middle")


def _elevation_lines(angles: ElevationAngles, segmentation: CycleSegmentation) -> tuple[str, ...]:
    panels = []
    for k, segment in enumerate(("Thigh", "Shank", "Foot")):
        sides = {
            side: segmentation.ensemble(angles.side(side)[:, k], side, angles.time) for side in Side
        }
        curves = BilateralCurve(
            f"{segment} elevation",
            "deg",
            "",
            sides.get(Side.RIGHT),
            sides.get(Side.LEFT),
            not segmentation.has_cycles,
        )
        if curves.ensembles:
            panels.append(_panel(curves, segmentation, 10.0))
    return tuple(panels)
