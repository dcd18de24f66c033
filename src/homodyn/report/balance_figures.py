"""Figures of balance: margins over time, support polygons, force polytopes, and paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from homodyn.balance import (
    BalanceEvaluation,
    ContactPatch,
    Stance,
    static_equilibrium_polygon,
    wrench_set,
)
from homodyn.balance.polytopes import Polytope
from homodyn.balance.support_areas import GroundAxes
from homodyn.errors import NoSolution
from homodyn.model.side import side_of
from homodyn.motion import BoxObstacle, Obstacle
from homodyn.motion.obstacle_points import surface_points
from homodyn.report.colors import (
    ALERT_COLOR,
    GOOD_COLOR,
    GRAY,
    INK,
    SERIES_COLORS,
    side_color,
)

ZMP_COLOR = "#d99a00"


def margins_figure(evaluation: BalanceEvaluation) -> Figure:
    """Force, moment and wrench margins over time, of the whole body and of a point mass.

    Every other phase is shaded.
    """
    figure = Figure(figsize=(9.0, 6.6), layout="constrained")
    plots = figure.subplots(3, 1, sharex=True)
    series = (
        ("force (N)", evaluation.force, evaluation.point_mass.force),
        ("moment (N m)", evaluation.moment, evaluation.point_mass.moment),
        ("wrench (N m)", evaluation.wrench, evaluation.point_mass.wrench),
    )
    whole = evaluation.demand.kind != "point mass"
    for plot, (title, values, single) in zip(plots, series, strict=True):
        _phase_bands(plot, evaluation)
        if whole:
            plot.plot(evaluation.time, single, color=GRAY, lw=1.0, ls="--", label="point mass")
        plot.plot(evaluation.time, values, color=INK, lw=1.6, label=evaluation.demand.kind)
        plot.axhline(0, color=INK, lw=0.8)
        plot.set_ylabel(title)
        plot.margins(x=0)
        for side in ("top", "right"):
            plot.spines[side].set_visible(False)
    worst = evaluation.worst
    plots[2].plot(evaluation.time[worst], evaluation.wrench[worst], "o", color=ALERT_COLOR, ms=6)
    _phase_names(plots[0], evaluation)
    plots[0].legend(frameon=False, loc="best", fontsize=8)
    plots[2].set_xlabel("time (s)")
    figure.suptitle(_wrap(evaluation.sentence), fontsize=9, x=0.01, ha="left", color=INK)
    return figure


def _phase_bands(plot: Any, evaluation: BalanceEvaluation) -> None:
    for k, phase in enumerate(evaluation.phases):
        if k % 2:
            plot.axvspan(phase.start, phase.end, color="#eef1f4", lw=0)


def _phase_names(plot: Any, evaluation: BalanceEvaluation) -> None:
    """Numbers of the phases above their bands, where they fit."""
    whole = evaluation.time[-1] - evaluation.time[0]
    for k, phase in enumerate(evaluation.phases):
        if phase.end - phase.start > 0.015 * whole:
            middle = (phase.start + phase.end) / 2
            plot.text(
                middle, 1.0, k + 1, transform=plot.get_xaxis_transform(), ha="center", va="bottom",
                fontsize=7, color=GRAY,
            )  # fmt: skip


def polygons_figure(
    stances: Sequence[Stance],
    *,
    mass: float,
    gravity: np.ndarray,
    evaluation: BalanceEvaluation | None = None,
) -> Figure:
    """Top view of each stance: supports, static polygon, and paths of center of mass and ZMP.

    Supports of the right are red and supports of the left are blue.
    """
    level = GroundAxes.of(gravity)
    areas = [static_area(stance, mass, gravity) for stance in stances]
    points = np.vstack(
        [level.flat(stance.points) for stance in stances]
        + [area.vertices for area in areas if area is not None]
    )
    low, high = points.min(axis=0) - 0.15, points.max(axis=0) + 0.15
    aspect = float((high - low)[1] / (high - low)[0])
    columns = min(len(stances), 4 if aspect < 1.5 else 6)
    rows = -(-len(stances) // columns)
    width = 2.6 if aspect < 1.5 else max(4.5 / aspect, 1.4)
    height = rows * np.clip(width * aspect, 1.4, 4.5) + 0.7
    figure = Figure(figsize=(width * columns + 0.4, height), layout="constrained")
    plots = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    for k, (plot, stance, area) in enumerate(zip(plots, stances, areas, strict=False)):
        _stance_from_above(plot, stance, level, area)
        if evaluation is not None:
            _paths_from_above(plot, evaluation, k, level)
        plot.set_title(_wrap(f"{k + 1}: {', '.join(stance.names)}", 28), fontsize=7)
        plot.set_aspect("equal")
        plot.set_xlim(low[0], high[0])
        plot.set_ylim(low[1], high[1])
        plot.tick_params(labelsize=7)
    for plot in plots[len(stances) :]:
        plot.set_visible(False)
    figure.supxlabel("m", fontsize=8)
    figure.supylabel("m", fontsize=8)
    title = "supports: right red, left blue; static polygon green"
    title += "" if evaluation is None else "; center of mass black, ZMP orange"
    figure.suptitle(title, fontsize=8, color=GRAY)
    return figure


def static_area(stance: Stance, mass: float, gravity: np.ndarray) -> Polytope | None:
    """Where the center of mass can rest in static equilibrium; None where it cannot."""
    try:
        return static_equilibrium_polygon(stance, mass=mass, gravity=gravity)
    except NoSolution:
        return None


def _stance_from_above(plot: Any, stance: Stance, level: GroundAxes, area: Polytope | None) -> None:
    for name, support in zip(stance.names, stance.supports, strict=True):
        color = side_color(side_of(name))
        points = level.flat(
            support.corners if isinstance(support, ContactPatch) else support.middle[None]
        )
        if len(points) > 2 and np.linalg.matrix_rank(points - points[0], tol=1e-9) > 1:
            outline = points[ConvexHull(points).vertices]
            plot.add_patch(Polygon(outline, fc=(*to_rgb(color), 0.2), ec=color, lw=1.4, zorder=3))
        else:
            plot.plot(*points.T, "s-", color=color, ms=5, lw=2)
    if area is None:
        plot.text(
            0.5, 0.03, "no static equilibrium", transform=plot.transAxes, ha="center", fontsize=7
        )
        return
    corners = area.vertices
    if area.flatness == 0:
        corners = corners[ConvexHull(corners).vertices]
        plot.add_patch(Polygon(corners, fc=GOOD_COLOR, ec=GOOD_COLOR, alpha=0.25, lw=1.0))
    else:
        plot.plot(*corners.T, "o-", color=GOOD_COLOR, lw=1.2, ms=3)


def _paths_from_above(plot: Any, evaluation: BalanceEvaluation, k: int, level: GroundAxes) -> None:
    own = evaluation.phase == k
    phase = evaluation.phases[k]
    belt = level.flat(phase.belt_displacement(evaluation.time[own]))
    com = level.flat(evaluation.demand.com)
    plot.plot(*com.T, color="#c4ccd4", lw=0.8)
    plot.plot(*(com[own] - belt).T, color=INK, lw=1.8)
    plot.plot(*(evaluation.criteria.zmp_position[own] - belt).T, color=ZMP_COLOR, lw=1.2)


def polytopes_figure(
    stances: Sequence[Stance],
    *,
    com: np.ndarray,
    gravity: np.ndarray,
    force: np.ndarray,
    max_stances: int = 9,
) -> Figure:
    """The forces (N) that each stance can exert through the center of mass, in three dimensions."""
    turn = _upright(gravity)
    chosen = list(stances)[:max_stances]
    columns = min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.5 * rows), layout="constrained")
    for k, stance in enumerate(chosen):
        plot: Any = figure.add_subplot(rows, columns, k + 1, projection="3d")
        at = np.asarray(com)[k] if np.ndim(com) == 2 else np.asarray(com)
        required = np.asarray(force)[k] if np.ndim(force) == 2 else np.asarray(force)
        wrenches = wrench_set(stance)
        if not wrenches.polytope.bounded:
            # An unbounded set is shown up to twice the required force.
            wrenches = wrench_set(replace(stance, limit=2 * float(np.linalg.norm(required))))
        try:
            shape = wrenches.force_slice(at).image(turn)
            _solid(plot, shape, SERIES_COLORS[k % len(SERIES_COLORS)])
        except NoSolution:
            plot.text2D(0.3, 0.5, "no force possible", transform=plot.transAxes, fontsize=8)
        else:
            plot.computed_zorder = False
            plot.scatter(*(turn @ required), color=ALERT_COLOR, s=24, depthshade=False, zorder=10)
        plot.set_title(_wrap(f"{k + 1}: {', '.join(stance.names)}", 44), fontsize=7)
        plot.tick_params(labelsize=6)
        for axis, direction in zip("xyz", ("forward", "left", "up"), strict=True):
            getattr(plot, f"set_{axis}label")(f"{direction} (N)", fontsize=7)
    figure.suptitle(
        "Forces through the center of mass that the supports can exert; the dot is required",
        fontsize=9,
        color=INK,
    )
    return figure


def _upright(gravity: np.ndarray) -> np.ndarray:
    """Rotation into axes of which the last one points up, as three-dimensional plots need."""
    level = GroundAxes.of(gravity)
    return np.array([level.first, level.second, level.up])


def _solid(plot: Any, shape: Polytope, color: str) -> None:
    corners = shape.vertices
    if shape.flatness:
        plot.plot(*corners.T, "o-", color=color)
        return
    faces = []
    for incident, normal in zip(shape.incidence, shape.A, strict=True):
        on = corners[incident]
        first = np.linalg.svd(np.atleast_2d(normal))[2][1:]
        flat = (on - on.mean(axis=0)) @ first.T
        faces.append(on[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))])
    plot.add_collection3d(Poly3DCollection(faces, fc=color, ec=INK, lw=0.5, alpha=0.35))
    low, high = corners.min(axis=0), corners.max(axis=0)
    plot.set_xlim(low[0], high[0])
    plot.set_ylim(low[1], high[1])
    plot.set_zlim(low[2], high[2])


def path_figure(evaluation: BalanceEvaluation, obstacles: Sequence[Obstacle] = ()) -> Figure:
    """The path of the center of mass over its supports, colored by the margin."""
    turn = _upright(evaluation.demand.gravity)
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    plot: Any = figure.add_subplot(projection="3d")
    for phase in evaluation.phases:
        stance = phase.stance
        named = () if stance is None else zip(stance.names, stance.supports, strict=True)
        for name, support in named:
            color = side_color(side_of(name))
            if isinstance(support, ContactPatch) and len(support.corners) > 2:
                patch = Poly3DCollection([support.corners @ turn.T], fc=color, ec=color, alpha=0.35)
                plot.add_collection3d(patch)
            else:
                plot.scatter(*(turn @ support.middle), color=color, marker="s", s=30)
    for obstacle in obstacles:
        if isinstance(obstacle, BoxObstacle):
            _wire(plot, obstacle.corners @ turn.T)
        else:
            plot.scatter(*(surface_points(obstacle) @ turn.T).T, color="#b0b8c1", s=1)
    com = evaluation.demand.com @ turn.T
    points = plot.scatter(*com.T, c=evaluation.wrench, cmap="viridis", s=8, vmin=0)
    figure.colorbar(points, ax=plot, shrink=0.6, label="wrench margin (N m)")
    plot.scatter(*com[evaluation.worst], color=ALERT_COLOR, s=50, marker="x")
    plot.set_xlabel("forward (m)")
    plot.set_ylabel("left (m)")
    plot.set_zlabel("up (m)")
    plot.set_aspect("equal")
    spans = np.array([np.ptp(getattr(plot, f"get_{axis}lim")()) for axis in "xyz"])
    for axis, span in zip("xyz", spans, strict=True):
        plot.locator_params(axis=axis, nbins=max(int(6 * span / spans.max()), 1))
    return figure


def _wire(plot: Any, corners: np.ndarray) -> None:
    """The edges of a box with corners (8, 3) in binary order."""
    for a in range(8):
        for bit in (1, 2, 4):
            if not a & bit:
                plot.plot(*corners[[a, a | bit]].T, color="#b0b8c1", lw=0.7)


def _wrap(text: str, width: int = 110) -> str:
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > width:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])
