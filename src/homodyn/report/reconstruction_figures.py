"""Figures of a reconstructed step, after figures 6.4 to 6.8 of Felis (2015)."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from homodyn.analysis.curves import walking_direction
from homodyn.analysis.elevation_plane import fit_plane
from homodyn.errors import CaptureError
from homodyn.gait import Reconstruction, elevation_angles
from homodyn.model import Model
from homodyn.motion import Side, side_of
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import coordinate_readings
from homodyn.motion.coordinate_columns import angular_coordinates
from homodyn.report.html import PageFigure
from homodyn.report.replay import body_capsules, capsule_ends
from homodyn.report.svg import Plot, nice_range

AXES = ("Forward", "To the left", "Upward")
UPPER = ("Lumbar", "Shoulder", "Elbow", "Wrist", "Neck", "Head", "Clavicula")
"""Prefixes of coordinates above the pelvis."""
DIAGONAL_VIEW = np.array([[0.80, -0.60, 0.0], [-0.30, -0.40, 0.866]])
"""(2, 3): directions to the right and up of a diagonal view of three axes."""


def tracking_errors(result: Reconstruction) -> list[PageFigure]:
    """Mean and standard deviation of the tracking error of each coordinate (fig. 6.4)."""
    model = result.recorded.model
    kinds: dict[str, list[int]] = {"slide": [], "legs": [], "upper": []}
    hidden, turns = result.hidden_coordinates, angular_coordinates(model)
    for k, name in enumerate(model.coordinate_names):
        if name in hidden:
            continue
        upper = name.startswith(UPPER)
        kinds["slide" if not turns[k] else "upper" if upper else "legs"].append(k)
    panels = []
    for kind, title, unit in (
        ("slide", "Pelvis", "mm"),
        ("legs", "Pelvis and legs", "mrad"),
        ("upper", "Upper body", "mrad"),
    ):
        if kinds[kind]:
            panels.append(_bars(result, kinds[kind], title, unit))
    caption = (
        "Reconstructed minus recorded coordinates: mean (bar) and standard deviation (whisker) "
        "over the nodes of the step; positive in the direction that the name states."
    )
    if hidden:
        titles = [coordinate_readings(model)[name].title for name in hidden]
        caption += f" Not followed, because markers hardly show them: {', '.join(titles)}."
    return [PageFigure("tracking", tuple(panels), caption, columns=1)]


def _bars(result: Reconstruction, chosen: Sequence[int], title: str, unit: str) -> str:
    """Tracking errors of some coordinates, in thousandths of their unit."""
    model = result.recorded.model
    names = [model.coordinate_names[k] for k in chosen]
    readings = [coordinate_readings(model)[name] for name in names]
    errors = 1e3 * result.deviation[:, chosen] * [reading.sign for reading in readings]
    mean, sd = errors.mean(axis=0), errors.std(axis=0)
    plot = Plot(
        title,
        (-0.7, len(chosen) - 0.3),
        nice_range(mean - sd, mean + sd, zero=True),
        "",
        unit,
        width=980.0,
        height=250.0,
        bottom=98.0,
        x_ticks=[],
        alt=f"Tracking errors: {title}",
    )
    for k, (name, reading) in enumerate(zip(names, readings, strict=True)):
        tip = f"{reading.title} ({name}): {mean[k]:.2f} ± {sd[k]:.2f} {unit}"
        plot.bar(k, mean[k], 0.6, str(side_of(name) or "middle"), tip)
        plot.whisker(k, mean[k] - sd[k], mean[k] + sd[k])
        (x, _), (y, _) = plot.at(np.array([k, k]), np.array(plot.y))
        plot.parts.append(
            f'<text class="tick end" transform="translate({x:.1f} {y + 10:.1f}) rotate(-38)">'
            f"{escape(reading.title)}</text>"
        )
    return plot.svg()


def overlays(result: Reconstruction, poses: int = 6) -> list[PageFigure]:
    """Recorded and reconstructed body overlaid, from the side and from behind (fig. 6.5)."""
    fitted = result.motion
    model = fitted.model
    frames = np.linspace(0, len(fitted.time) - 1, poses).astype(int)
    recorded = np.column_stack(
        [np.interp(fitted.time[frames], result.recorded.time, c) for c in result.recorded.q.T]
    )
    ends = [capsule_ends(model, q) for q in (recorded, fitted.q[frames])]
    axes, along = Axes.of(model), walking_direction(result.recorded)
    across = np.cross(axes.up, along)
    panels = (
        _strip(model, ends, along, axes.up, fitted.time[frames], "From the right side"),
        _strip(model, ends, -across, axes.up, fitted.time[frames], "From behind"),
    )
    return [
        PageFigure(
            "overlay",
            panels,
            "The recorded body (orange) and the reconstructed body (green, narrower, drawn on top) "
            "at the same instants. They agree where orange is an even rim around green.",
            columns=1,
            legend=False,
        )
    ]


def _strip(
    model: Model,
    ends: Sequence[np.ndarray],
    horizontal: np.ndarray,
    up: np.ndarray,
    time: np.ndarray,
    title: str,
) -> str:
    flat = [np.stack([e @ horizontal, e @ up], axis=-1) for e in ends]
    middles = flat[0][..., 0].mean(axis=(1, 2))
    step = 0.95
    shift = (np.arange(len(time)) * step - middles)[:, None, None]
    low = float(min(f[..., 1].min() for f in flat)) - 0.06
    high = float(max(f[..., 1].max() for f in flat)) + 0.12
    x = (-0.6, (len(time) - 1) * step + 0.6)
    width = 980.0
    scale = (width - 56) / (x[1] - x[0])
    plot = Plot(
        title,
        x,
        (low, high),
        width=width,
        height=52 + scale * (high - low),
        bottom=26,
        x_ticks=[(k * step, f"{t:.2f} s") for k, t in enumerate(time)],
        y_ticks=[],
        alt=f"{title}: recorded and reconstructed body at {len(time)} instants",
    )
    for coordinates, style, share in ((flat[0], "first", 1.0), (flat[1], "second", 0.55)):
        shifted = coordinates.copy()
        shifted[..., 0] += shift
        for k in range(len(time)):
            for place, capsule in enumerate(body_capsules(model)):
                (x0, x1), (y0, y1) = plot.at(shifted[k, place, :, 0], shifted[k, place, :, 1])
                stroke = max(1.2 * capsule.radius * scale * share, 1.0)
                plot.parts.append(
                    f'<path class="line {style}" style="stroke-width:{stroke:.1f}" '
                    f'd="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>'
                )
    return plot.svg()


def torques_per_kg(result: Reconstruction) -> list[PageFigure]:
    """Joint torques per body mass over the step (fig. 6.6)."""
    model = result.recorded.model
    driven = np.flatnonzero(np.abs(result.tau).max(axis=0) > 0)
    measured = None
    if result.measured is not None and _plates_measured(result):
        clock, per_kg = result.measured.motion.time, result.measured.per_kg
        measured = np.column_stack([np.interp(result.time, clock, c) for c in per_kg.T])
    panels = []
    for k in driven:
        name = model.coordinate_names[k]
        reading = coordinate_readings(model)[name]
        torque = reading.sign * result.per_kg[:, k]
        known = [] if measured is None else [reading.sign * measured[:, k]]
        span = nice_range(torque, *known, min_span=0.2)
        plot = _over_step(result, reading.title, "N m/kg", span)
        for values in known:
            plot.line(_percent(result, result.time), values, "gray dash")
        for x, y in _pieces(result, torque):
            plot.line(x, y, str(side_of(name) or "middle"))
        panels.append(plot.svg())
    dashed = " Dashed: inverse dynamics with the plates." if measured is not None else ""
    caption = (
        "Joint torques per body mass over the step, positive in the direction that the title "
        f"states; vertical lines separate the phases.{dashed}"
    )
    return [PageFigure("torques", tuple(panels), caption, columns=4)]


def elevation_loops(result: Reconstruction) -> list[PageFigure]:
    """Elevation angles of thigh, shank and foot, recorded and reconstructed (fig. 6.7)."""
    step = (result.recorded.time >= result.motion.time[0]) & (
        result.recorded.time <= result.motion.time[-1]
    )
    panels, shares = [], []
    for source, motion, kept in (
        ("recorded", result.recorded, step),
        ("reconstructed", result.motion, np.ones(len(result.motion.time), dtype=bool)),
    ):
        try:
            angles = elevation_angles(motion, events=())
        except CaptureError:
            return []
        loops = {side.title: angles.side(side)[kept] for side in Side}
        percent = ", ".join(
            f"{s.lower()} {fit_plane(x).variance_percent:.1f} %" for s, x in loops.items()
        )
        shares.append(f"{source}: {percent}")
        fit = fit_plane(np.concatenate(list(loops.values())))
        edge = np.stack([fit.axes[:, 0], fit.axes[:, 2]])
        for view, title in ((DIAGONAL_VIEW, "diagonal view"), (edge, "plane edge on")):
            panels.append(_loops(loops, view, f"{source.capitalize()}, {title}"))
    caption = (
        "Elevation angles of thigh, shank and foot over the step (deg), in a diagonal view and "
        "with their best-fitting plane edge on. Variance within the plane of each side: "
        f"{'; '.join(shares)}."
    )
    return [PageFigure("elevation", tuple(panels), caption, columns=4)]


def _loops(loops: dict[str, np.ndarray], view: np.ndarray, title: str) -> str:
    flat = {side: loop @ view.T for side, loop in loops.items()}
    points = np.concatenate(list(flat.values()))
    half = max(float(np.ptp(points, axis=0).max()) / 2 * 1.08, 1.0)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    plot = Plot(
        title,
        (middle[0] - half, middle[0] + half),
        (middle[1] - half, middle[1] + half),
        width=240.0,
        height=250.0,
    )
    for side, loop in flat.items():
        plot.line(loop[:, 0], loop[:, 1], side.lower())
        plot.dots(loop[:1, 0], loop[:1, 1], side.lower(), 3.0)
    return plot.svg()


def step_forces(result: Reconstruction) -> list[PageFigure]:
    """Ground forces of both feet along three axes in percent of the weight (fig. 6.8)."""
    weight = result.weight
    measured = _plates_measured(result)
    panels = []
    for side in Side:
        force = 100 * result.ground_force(side) / weight
        known = _plates(result, side) if measured else None
        for k, axis in enumerate(AXES):
            shown = [force[:, k], *([100 * known[:, k] / weight] if known is not None else [])]
            plot = _over_step(
                result,
                f"{side.title}: {axis.lower()}",
                "% of weight",
                nice_range(*shown, min_span=20.0),
            )
            if known is not None:
                plot.line(_percent(result, result.time), shown[1], "ink dash")
            for x, y in _pieces(result, force[:, k]):
                plot.line(x, y, str(side))
            panels.append(plot.svg())
    source = "tracked with the plates" if result.tracked else "predicted from the motion alone"
    dashed = " Dashed: measured by the plates." if measured else ""
    caption = (
        f"Ground forces of each foot over the step, {source}, in percent of body weight.{dashed}"
    )
    return [PageFigure("forces", tuple(panels), caption)]


def _plates(result: Reconstruction, side: Side) -> np.ndarray | None:
    assert result.measured is not None
    feet = [f.force for f in result.measured.feet if f.side is side and not f.predicted]
    if not feet:
        return None
    total, clock = np.sum(feet, axis=0), result.measured.motion.time
    return np.column_stack([np.interp(result.time, clock, c) for c in total.T])


def _plates_measured(result: Reconstruction) -> bool:
    return bool(result.force_errors())


def _percent(result: Reconstruction, time: np.ndarray) -> np.ndarray:
    begin, end = result.contact_phases[0].begin, result.contact_phases[-1].end
    return 100 * (time - begin) / (end - begin)


def _pieces(result: Reconstruction, values: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Values phase by phase, since they may jump between phases."""
    x, counts = _percent(result, result.time), [len(p.control_time) for p in result.solution.phases]
    cuts = np.cumsum(counts)[:-1]
    return list(zip(np.split(x, cuts), np.split(values, cuts), strict=True))


def _over_step(result: Reconstruction, title: str, unit: str, y: tuple[float, float]) -> Plot:
    plot = Plot(title, (0.0, 100.0), y, "step (%)", unit, width=300.0, height=180.0)
    for phase in result.contact_phases[1:]:
        plot.vertical_line(float(_percent(result, np.array([phase.begin]))[0]), "gray")
    return plot
