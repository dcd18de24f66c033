"""Balance in pictures: margins over time, polygons over the feet, the polytopes themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from scipy.spatial import ConvexHull

from homodyn.balance import (
    BalanceEvaluation,
    ContactPatch,
    Polytope,
    Stance,
    static_equilibrium_polygon,
    wrench_set,
)
from homodyn.balance.support_areas import GroundAxes
from homodyn.errors import NoSolution

INK, GREY, GOOD, BAD = "#26313d", "#6b7785", "#1d9a6c", "#c8553d"
SHADES = ("#3b78b5", "#d99a00", "#1d9a6c", "#8d5aa8", "#c8553d", "#4aa3a2", "#7d8a99")


def margins_figure(judged: BalanceEvaluation) -> Figure:
    """Margins over time: force, moment and wrench, whole body and point mass, phases shaded."""
    figure = Figure(figsize=(9.0, 6.6), layout="constrained")
    plots = figure.subplots(3, 1, sharex=True)
    series = (
        ("force, N", judged.force, judged.point_mass.force),
        ("moment, N m", judged.moment, judged.point_mass.moment),
        ("wrench, N m", judged.wrench, judged.point_mass.wrench),
    )
    whole = judged.demand.kind != "point mass"
    for plot, (title, values, single) in zip(plots, series, strict=True):
        _phase_bands(plot, judged)
        if whole:
            plot.plot(judged.time, single, color=GREY, lw=1.0, ls="--", label="point mass")
        plot.plot(judged.time, values, color=INK, lw=1.6, label=judged.demand.kind)
        plot.axhline(0, color=BAD, lw=0.8)
        plot.set_ylabel(title)
        plot.margins(x=0)
        for side in ("top", "right"):
            plot.spines[side].set_visible(False)
    worst = judged.worst
    plots[2].plot(judged.time[worst], judged.wrench[worst], "o", color=BAD, ms=6)
    _phase_names(plots[0], judged)
    plots[0].legend(frameon=False, loc="best", fontsize=8)
    plots[2].set_xlabel("time, s")
    figure.suptitle(_wrap(judged.sentence), fontsize=9, x=0.01, ha="left", color=INK)
    return figure


def _phase_bands(plot: Any, judged: BalanceEvaluation) -> None:
    for k, phase in enumerate(judged.phases):
        if k % 2:
            plot.axvspan(phase.start, phase.end, color="#eef1f4", lw=0)


def _phase_names(plot: Any, judged: BalanceEvaluation) -> None:
    """Numbers of the phases above their bands, where there is room."""
    whole = judged.time[-1] - judged.time[0]
    for k, phase in enumerate(judged.phases):
        if phase.end - phase.start > 0.015 * whole:
            middle = (phase.start + phase.end) / 2
            plot.text(
                middle, 1.0, k + 1, transform=plot.get_xaxis_transform(), ha="center", va="bottom",
                fontsize=7, color=GREY,
            )  # fmt: skip


def polygons_figure(
    stances: Sequence[Stance],
    *,
    mass: float,
    gravity: np.ndarray,
    judged: BalanceEvaluation | None = None,
) -> Figure:
    """Seen from above: soles and grasps, the static polygon of each stance, CoM and ZMP paths."""
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
    wide = 2.6 if aspect < 1.5 else max(4.5 / aspect, 1.4)
    tall = rows * np.clip(wide * aspect, 1.4, 4.5) + 0.7
    figure = Figure(figsize=(wide * columns + 0.4, tall), layout="constrained")
    plots = np.atleast_1d(figure.subplots(rows, columns, sharex=True, sharey=True)).ravel()
    for k, (plot, stance, area) in enumerate(zip(plots, stances, areas, strict=False)):
        _stance_from_above(plot, stance, level, area)
        if judged is not None:
            _paths_from_above(plot, judged, k, level)
        plot.set_title(_wrap(f"{k + 1}: {', '.join(stance.names)}", 28), fontsize=7)
        plot.set_aspect("equal")
        plot.set_xlim(low[0], high[0])
        plot.set_ylim(low[1], high[1])
        plot.tick_params(labelsize=7)
    for plot in plots[len(stances) :]:
        plot.set_visible(False)
    figure.supxlabel("m", fontsize=8)
    figure.supylabel("m", fontsize=8)
    told = "soles grey, static polygon green"
    told += "" if judged is None else ", centre of mass black, ZMP orange"
    figure.suptitle(told, fontsize=8, color=GREY)
    return figure


def static_area(stance: Stance, mass: float, gravity: np.ndarray) -> Polytope | None:
    """Where the centre of mass may stand still; None where it can nowhere."""
    try:
        return static_equilibrium_polygon(stance, mass=mass, gravity=gravity)
    except NoSolution:
        return None


def _stance_from_above(plot: Any, stance: Stance, level: GroundAxes, area: Polytope | None) -> None:
    for support in stance.supports:
        seen = level.flat(
            support.corners if isinstance(support, ContactPatch) else support.position[None]
        )
        if len(seen) > 2 and np.linalg.matrix_rank(seen - seen[0], tol=1e-9) > 1:
            outline = seen[ConvexHull(seen).vertices]
            plot.add_patch(Polygon(outline, fc="#d5dbe1", ec=GREY, lw=0.8))
        else:
            plot.plot(*seen.T, "s-", color=GREY, ms=5, lw=2)
    if area is None:
        plot.text(0.5, 0.03, "no static balance", transform=plot.transAxes, ha="center", fontsize=7)
        return
    corners = area.vertices
    if area.flatness == 0:
        corners = corners[ConvexHull(corners).vertices]
        plot.add_patch(Polygon(corners, fc=GOOD, ec=GOOD, alpha=0.25, lw=1.0))
    else:
        plot.plot(*corners.T, "o-", color=GOOD, lw=1.2, ms=3)


def _paths_from_above(plot: Any, judged: BalanceEvaluation, k: int, level: GroundAxes) -> None:
    held = judged.phase == k
    phase = judged.phases[k]
    back = level.flat(phase.belt_displacement(judged.time[held]))
    com = level.flat(judged.demand.com)
    plot.plot(*com.T, color="#c4ccd4", lw=0.8)
    plot.plot(*(com[held] - back).T, color=INK, lw=1.8)
    plot.plot(*(judged.criteria.zmp_position[held] - back).T, color="#d99a00", lw=1.2)


def polytopes_figure(
    stances: Sequence[Stance],
    *,
    com: np.ndarray,
    gravity: np.ndarray,
    force: np.ndarray,
    most: int = 9,
) -> Figure:
    """The forces (N) that each stance can give through the centre of mass, in three dimensions."""
    turn = _upright(gravity)
    chosen = list(stances)[:most]
    columns = min(len(chosen), 3)
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(3.6 * columns, 3.5 * rows), layout="constrained")
    for k, stance in enumerate(chosen):
        plot: Any = figure.add_subplot(rows, columns, k + 1, projection="3d")
        at = np.asarray(com)[k] if np.ndim(com) == 2 else np.asarray(com)
        needed = np.asarray(force)[k] if np.ndim(force) == 2 else np.asarray(force)
        wrenches = wrench_set(stance)
        if not wrenches.polytope.bounded:
            # What has no end is shown up to twice the force that is needed.
            wrenches = wrench_set(replace(stance, limit=2 * float(np.linalg.norm(needed))))
        try:
            shape = wrenches.force_slice(at).image(turn)
            _solid(plot, shape, SHADES[k % len(SHADES)])
        except NoSolution:
            plot.text2D(0.3, 0.5, "none through here", transform=plot.transAxes, fontsize=8)
        else:
            plot.computed_zorder = False
            plot.scatter(*(turn @ needed), color=BAD, s=24, depthshade=False, zorder=10)
        plot.set_title(_wrap(f"{k + 1}: {', '.join(stance.names)}", 44), fontsize=7)
        plot.tick_params(labelsize=6)
        for axis, word in zip("xyz", ("forward", "left", "up"), strict=True):
            getattr(plot, f"set_{axis}label")(f"{word}, N", fontsize=7)
    figure.suptitle(
        "Forces through the centre of mass that the supports can give; the needed one in red",
        fontsize=9,
        color=INK,
    )
    return figure


def _upright(gravity: np.ndarray) -> np.ndarray:
    """Rotation into axes with the last one up, as pictures in three dimensions have it."""
    level = GroundAxes.of(gravity)
    return np.array([level.first, level.second, level.up])


def _solid(plot: Any, shape: Polytope, colour: str) -> None:
    corners = shape.vertices
    if shape.flatness:
        plot.plot(*corners.T, "o-", color=colour)
        return
    faces = []
    for held, normal in zip(shape.incidence, shape.A, strict=True):
        on = corners[held]
        first = np.linalg.svd(np.atleast_2d(normal))[2][1:]
        flat = (on - on.mean(axis=0)) @ first.T
        faces.append(on[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))])
    plot.add_collection3d(Poly3DCollection(faces, fc=colour, ec=INK, lw=0.5, alpha=0.35))
    low, high = corners.min(axis=0), corners.max(axis=0)
    plot.set_xlim(low[0], high[0])
    plot.set_ylim(low[1], high[1])
    plot.set_zlim(low[2], high[2])


def path_figure(judged: BalanceEvaluation, boxes: Sequence[Any] = ()) -> Figure:
    """The path of the centre of mass over its supports, coloured by the margin."""
    turn = _upright(judged.demand.gravity)
    figure = Figure(figsize=(6.4, 5.6), layout="constrained")
    plot: Any = figure.add_subplot(projection="3d")
    for phase in judged.phases:
        for support in () if phase.stance is None else phase.stance.supports:
            if isinstance(support, ContactPatch) and len(support.corners) > 2:
                plot.add_collection3d(
                    Poly3DCollection([support.corners @ turn.T], fc="#d5dbe1", ec=GREY, alpha=0.7)
                )
            else:
                plot.scatter(*(turn @ support.middle), color=GREY, marker="s", s=30)
    for box in boxes:
        _wire(plot, turn @ box.center, np.abs(turn @ box.size))
    com = judged.demand.com @ turn.T
    shown = plot.scatter(*com.T, c=judged.wrench, cmap="RdYlGn", s=8, vmin=0)
    figure.colorbar(shown, ax=plot, shrink=0.6, label="wrench margin, N m")
    plot.scatter(*com[judged.worst], color=BAD, s=50, marker="x")
    plot.set_xlabel("forward, m")
    plot.set_ylabel("left, m")
    plot.set_zlabel("up, m")
    plot.set_aspect("equal")
    spans = np.array([np.ptp(getattr(plot, f"get_{axis}lim")()) for axis in "xyz"])
    for axis, span in zip("xyz", spans, strict=True):
        plot.locator_params(axis=axis, nbins=max(int(6 * span / spans.max()), 1))
    return figure


def _wire(plot: Any, center: np.ndarray, size: np.ndarray) -> None:
    corners = center + np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * size
    corners = corners - size / 2
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
