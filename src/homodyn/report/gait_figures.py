"""Figures of a gait laboratory: angles, torques, powers, ground forces, elevation, EMG, energy.

Each function takes records and returns figures: panels as SVG text with a caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn import dynamics
from homodyn.analysis.curves import (
    SIDES,
    Curves,
    Rhythm,
    Strand,
    angle_curves,
    heading,
    signal_curves,
)
from homodyn.analysis.known_loads import all_known
from homodyn.analysis.load_curves import ground_force_curves, power_curves, torque_curves
from homodyn.capture import (
    Signals,
    world_axes,
)
from homodyn.gait import ElevationAngles
from homodyn.motion import (
    ForcePlate,
    Loads,
    Motion,
)
from homodyn.motion.anatomical_axes import Axes
from homodyn.report.svg import Plot, nice_range

LOADED = 40.0
"""Vertical force (N) from which on a centre of pressure is drawn."""


@dataclass(frozen=True)
class Figure:
    """Panels side by side, as many in a row as fit, and what they show."""

    name: str
    """A word for file names and links."""
    panels: tuple[str, ...]
    caption: str
    columns: int = 3
    """Panels in a row of a wide page: 1 to 4."""
    legend: bool = True
    """Whether right and left are told by colour."""


def joint_angles(motion: Motion, rhythm: Rhythm) -> list[Figure]:
    """Angles of pelvis and legs, and of the upper body (Felis 2015, fig. 6.3)."""
    legs, upper = _split(angle_curves(motion, rhythm), ("Pelvis", "Hip", "Knee", "Ankle"))
    how = _how(rhythm)
    figures = [
        Figure("angles", _panels(legs, rhythm, 10.0), f"Angles of pelvis and legs (deg) {how}."),
        Figure("angles-upper", _panels(upper, rhythm, 10.0), f"The other angles (deg) {how}."),
    ]
    return [figure for figure in figures if figure.panels]


def joint_torques(loads: Loads, rhythm: Rhythm) -> list[Figure]:
    """Torques per kg of body mass (Felis 2015, fig. 6.6)."""
    legs, upper = _split(torque_curves(loads, rhythm), ("Hip", "Knee", "Ankle"))
    meant = (
        "Internal: what muscles and ligaments do to the joint, positive in the direction in which "
        "the angle is."
    )
    figures = [
        Figure(
            "torques",
            _panels(legs, rhythm, 0.2),
            f"Torques of the legs per body mass {_how(rhythm, legs)}. {meant}",
        ),
        Figure(
            "torques-upper",
            _panels(upper, rhythm, 0.1),
            f"The other torques per body mass {_how(rhythm, upper)}. {meant}",
        ),
    ]
    return [figure for figure in figures if figure.panels]


def joint_powers(loads: Loads, rhythm: Rhythm) -> list[Figure]:
    """Power of each joint per kg of body mass."""
    curves = power_curves(loads, rhythm)
    if not curves:
        return []
    caption = (
        f"Power of the joints per body mass {_how(rhythm, curves)}. All coordinates of a joint "
        "together; positive where muscles give energy to the movement."
    )
    return [Figure("powers", _panels(curves, rhythm, 0.5), caption)]


def ground_forces(loads: Loads, rhythm: Rhythm) -> list[Figure]:
    """Two feet, three axes, in percent of body weight (Felis 2015, fig. 6.8)."""
    curves = ground_force_curves(loads, rhythm)
    if not curves:
        return []
    source = (
        "computed from the motion, not measured" if loads.predicted else "as the plates measured"
    )
    caption = (
        f"Ground forces on the feet in percent of body weight {_how(rhythm, curves)}; {source}."
    )
    return [Figure("ground-forces", _panels(curves, rhythm, 10.0), caption)]


def pressure_paths(
    loads: Loads, plates: Sequence[ForcePlate], origin: np.ndarray | None = None
) -> list[Figure]:
    """The floor from above: plates, paths of the centres of pressure, and that of the body.

    ``plates`` are in our axes, as a trial has them.
    """
    motion = loads.motion
    if not any(np.isfinite(foot.point).any() for foot in loads.feet):
        return []
    axes = Axes.of(motion.model)
    to_model = world_axes(motion.model).T
    along = heading(motion)
    flat = np.column_stack([along, np.cross(axes.up, along)])
    com = dynamics.center_of_mass(motion.model, motion.q) @ flat
    start = com[0] if origin is None else origin
    paths = []
    for foot in loads.feet:
        loaded = foot.force @ axes.up > LOADED
        path = np.where(loaded[:, None], foot.point, np.nan) @ flat - start
        paths.append((foot.side, path))
    corners = [
        (plate.name, plate.corners @ to_model.T @ flat - start)
        for plate in plates
        if plate.corners is not None
    ]
    com = com - start
    points = np.vstack([*(path for _, path in paths), *(outline for _, outline in corners)])
    x = nice_range(points[:, 0], least=0.8, margin=0.04)
    y = nice_range(points[:, 1], least=0.5, margin=0.08)
    width, tallest, edge = 980.0, 360.0, 60.0
    scale = min((width - 56) / (x[1] - x[0]), (tallest - edge) / (y[1] - y[0]))
    half = (width - 56) / scale / 2
    plot = Plot(
        "The floor from above",
        (sum(x) / 2 - half, sum(x) / 2 + half),
        y,
        "along the walk (m)",
        "m, left of the walk is up",
        width=width,
        height=scale * (y[1] - y[0]) + edge,
        alt="Paths of the centres of pressure under both feet, with the outlines of the plates",
    )
    for name, outline in corners:
        plot.polygon(outline[:, 0], outline[:, 1], "plate")
        top = float(outline[:, 1].max()) - 14.0 / scale
        plot.words(float(outline[:, 0].mean()), top, name, "note middle")
    (x0, x1), (y0, y1) = plot.x, plot.y
    shown = (com[:, 0] > x0) & (com[:, 0] < x1) & (com[:, 1] > y0) & (com[:, 1] < y1)
    plot.line(com[:, 0], np.where(shown, com[:, 1], np.nan), "thin middle")
    for side, path in paths:
        plot.line(path[:, 0], path[:, 1], side or "middle")
    caption = (
        "Paths of the centre of pressure under each foot (coloured) and of the centre of mass "
        "(grey), seen from above; x and y have one scale."
    )
    if not corners:
        caption += " The recording does not say where its plates are."
    return [Figure("pressure-paths", (plot.svg(),), caption, columns=1)]


def elevation(angles: ElevationAngles, rhythm: Rhythm) -> list[Figure]:
    """Elevation angles of thigh, shank and foot (Felis 2015, fig. 6.7).

    The loop is drawn in the axes of its plane and against them, so that a flat loop is a line in
    the second view.
    """
    figures = []
    panels = []
    told = []
    for side in SIDES:
        degrees = angles.side(side)
        if not np.isfinite(degrees).any():
            continue
        loop = _loop(degrees, rhythm, side, angles.time)
        fit = plane_of(loop)
        flat = (loop - fit.centre) @ fit.axes
        panels += [
            _view(flat[:, [0, 1]], side, "in the plane", "second axis", fit.axes),
            _view(flat[:, [0, 2]], side, "plane edge on", "out of the plane"),
        ]
        told.append(f"{side}: {fit.share:.1f} % of the variance lies in the plane")
    if panels:
        caption = (
            "Elevation angles of thigh, shank and foot against the vertical, in the sagittal "
            f"plane of the walk, in two views; {'; '.join(told)}. The dot is the first foot "
            "strike, the strokes are the three angles seen in the plane."
        )
        figures.append(Figure("elevation", tuple(panels), caption, columns=4))
        lines = _elevation_lines(angles, rhythm)
        if lines:
            figures.append(
                Figure("elevation-angles", lines, f"The same angles one by one {_how(rhythm)}.")
            )
    return figures


@dataclass(frozen=True, eq=False)
class PlaneFit:
    """The plane that three angles stay near: its middle, axes (columns) and share of variance."""

    centre: np.ndarray
    axes: np.ndarray
    share: float


def plane_of(points: np.ndarray) -> PlaneFit:
    """The plane of least squares through points (rows), by their principal axes."""
    kept = points[np.isfinite(points).all(axis=1)]
    centre = kept.mean(axis=0)
    _, sizes, axes = np.linalg.svd(kept - centre, full_matrices=False)
    variance = sizes**2
    return PlaneFit(centre, axes.T, float(100 * variance[:2].sum() / max(variance.sum(), 1e-30)))


def emg(signals: Signals, rhythm: Rhythm, sides: Sequence[str | None]) -> list[Figure]:
    """Envelopes of muscle activity over the cycle with stance shaded (Felis 2015, fig. 2.7)."""
    panels = []
    for curves in signal_curves(signals, rhythm, sides):
        plot = _frame(curves, [strand for _, strand in curves.strands], 0.0, zero=True)
        for side, _ in curves.strands:
            off = None if curves.over_time else rhythm.foot_off(side)
            if off is not None:
                plot.span(0.0, off, f"stance {side}")
        for side, strand in curves.strands:
            style = "middle" if curves.middle else side
            plot.band(strand.x, strand.mean - strand.sd, strand.mean + strand.sd, style)
            plot.line(strand.x, strand.mean, style)
        panels.append(plot.svg())
    if not panels:
        return []
    caption = (
        f"Envelopes of the EMG channels {_how(rhythm, off='stance is shaded')}. In the unit of the "
        "channel, not normalised to a maximal contraction."
    )
    return [Figure("emg", tuple(panels), caption)]


def energy(motion: Motion, loads: Loads | None, rhythm: Rhythm) -> list[Figure]:
    """Mechanical energy of the body and the work its joints have done, over time."""
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
        "Kinetic (orange), potential above its lowest (green) and whole mechanical energy "
        "(dark) per body mass"
    )
    if loads is not None and loads.power.size and all_known(loads, rhythm):
        per_kg = loads.power / model.mass
        step = 1.0 / motion.rate
        given = np.cumsum(np.clip(per_kg, 0.0, None).sum(axis=1)) * step
        taken = np.cumsum(np.clip(per_kg, None, 0.0).sum(axis=1)) * step
        work = Plot(
            "Work of the joints so far",
            span,
            nice_range(given, taken, zero=True),
            "time (s)",
            "J/kg",
            width=480,
            height=220,
        )
        work.line(time, given, "second").line(time, taken, "first")
        work.line(time, given + taken, "ink")
        panels.append(work.svg())
        caption += (
            "; beside it the work that the joints have given (green), taken (orange) and both "
            "together (dark) since the start"
        )
    return [Figure("energy", tuple(panels), caption + ".", columns=2, legend=False)]


def _split(curves: Sequence[Curves], first: tuple[str, ...]) -> tuple[list[Curves], list[Curves]]:
    return (
        [curve for curve in curves if curve.joint in first],
        [curve for curve in curves if curve.joint not in first],
    )


def _how(
    rhythm: Rhythm, curves: Sequence[Curves] = (), off: str = "the dashed line is foot off"
) -> str:
    """How curves were averaged; without some of their own, as all cycles of the trial."""
    if not rhythm.cyclic:
        return "over time, since the trial has no complete gait cycle"
    told = {side: rhythm.count(side) for side in SIDES}
    if curves:
        runs = [{side: len(strand.runs) for side, strand in curve.strands} for curve in curves]
        least = {side: min((run[side] for run in runs if side in run), default=0) for side in SIDES}
        measured = any(least[side] < told[side] for side in SIDES)
        told = least
    else:
        measured = False
    counts = " and ".join(f"{count} {side}" for side, count in told.items() if count)
    if sum(told.values()) == 1:
        return (
            f"over one gait cycle ({counts.split()[1]}), from foot strike to foot strike of the "
            f"same foot; {off}"
        )
    which = " with known ground forces" if measured else ""
    return (
        f"over the gait cycle, from foot strike to foot strike of the same foot: mean and one "
        f"standard deviation of {counts} cycles{which}; {off}"
    )


def _panels(curves: Sequence[Curves], rhythm: Rhythm, least: float) -> tuple[str, ...]:
    return tuple(_panel(curve, rhythm, least) for curve in curves)


def _panel(curves: Curves, rhythm: Rhythm, least: float) -> str:
    strands = curves.strands
    if curves.over_time and curves.middle:
        strands = [("middle", strand) for _, strand in strands[:1]]
    plot = _frame(curves, [strand for _, strand in strands], least)
    for side, strand in strands:
        if len(strand.runs) > 1:
            plot.band(strand.x, strand.mean - strand.sd, strand.mean + strand.sd, side)
    for side, strand in strands:
        off = None if curves.over_time else rhythm.foot_off(side)
        if off is not None:
            plot.upright(off, f"dash {side}")
        plot.line(strand.x, strand.mean, side)
    return plot.svg()


def _frame(curves: Curves, strands: Sequence[Strand], least: float, zero: bool = False) -> Plot:
    edges = [strand.mean + sign * strand.sd for strand in strands for sign in (-1, 1)]
    over_time = curves.over_time
    x = (0.0, 100.0)
    if over_time:
        x = (float(strands[0].x[0]), float(strands[0].x[-1]))
    label = "time (s)" if over_time else "gait cycle (%)"
    sides = " and ".join(side for side, _ in curves.strands)
    return Plot(
        curves.title,
        x,
        nice_range(*edges, least=least, zero=zero),
        label,
        curves.unit,
        alt=f"{curves.title} in {curves.unit}, {sides}, against {label}",
    )


def _loop(degrees: np.ndarray, rhythm: Rhythm, side: str, time: np.ndarray) -> np.ndarray:
    """Three angles over the mean cycle, or over the whole trial."""
    strands = [rhythm.strand(degrees[:, k], side, time) for k in range(3)]
    if any(strand is None for strand in strands):
        return degrees[np.isfinite(degrees).all(axis=1)]
    return np.column_stack([strand.mean for strand in strands if strand is not None])


def _view(
    loop: np.ndarray, side: str, seen: str, upward: str, axes: np.ndarray | None = None
) -> str:
    """A loop of elevation angles on a plane, both axes at one scale."""
    x = nice_range(loop[:, 0], least=20.0, margin=0.12)
    y = nice_range(loop[:, 1], least=0.45 * (x[1] - x[0]), margin=0.15)
    width = 320.0
    plot = Plot(
        f"{side.capitalize()}, {seen}",
        x,
        y,
        "first axis (deg)",
        f"{upward}, deg",
        width=width,
        height=(width - 56) / (x[1] - x[0]) * (y[1] - y[0]) + 60,
        alt=f"Elevation angles of the {side} leg, {seen} of their covariation",
    )
    if axes is not None:
        _spokes(plot, axes, 0.3 * (y[1] - y[0]))
    plot.line(loop[:, 0], loop[:, 1], side).dots(loop[:1, 0], loop[:1, 1], side, 3.6)
    return plot.svg()


def _spokes(plot: Plot, axes: np.ndarray, reach: float) -> None:
    """The three angles as directions in the plane."""
    for k, word in enumerate(("thigh", "shank", "foot")):
        end = reach * axes[k, :2]
        plot.line(np.array([0.0, end[0]]), np.array([0.0, end[1]]), "thin middle")
        plot.words(1.18 * end[0], 1.18 * end[1], word, "note middle")


def _elevation_lines(angles: ElevationAngles, rhythm: Rhythm) -> tuple[str, ...]:
    panels = []
    for k, segment in enumerate(("Thigh", "Shank", "Foot")):
        sides = {side: rhythm.strand(angles.side(side)[:, k], side, angles.time) for side in SIDES}
        curves = Curves(
            f"{segment} elevation",
            "deg",
            "",
            sides.get("right"),
            sides.get("left"),
            not rhythm.cyclic,
        )
        if curves.strands:
            panels.append(_panel(curves, rhythm, 10.0))
    return tuple(panels)
