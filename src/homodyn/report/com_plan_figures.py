"""Figure of a center-of-mass plan: top view, side view, and margin over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from homodyn.balance import ComPlan, ContactPatch, Grasp, Scene
from homodyn.balance.support_areas import GroundAxes
from homodyn.model.side import side_of
from homodyn.motion.obstacle_points import surface_points
from homodyn.report.colors import ALERT_COLOR, GRAY, INK, SERIES_COLORS, side_color
from homodyn.report.posed_geometry import convex_outline

FEWEST_COLOR, MORE_COLOR = SERIES_COLORS[2], SERIES_COLORS[1]
"""Of the path on the fewest supports of the plan, and on more."""


def com_plan_figure(plan: ComPlan) -> Figure:
    """The path over its supports from top_view and from the side, and its margin over time.

    Supports of the right are red and supports of the left are blue.
    """
    figure = Figure(figsize=(11.0, 7.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.5, 1.0))
    top_view, side_view = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
    margin = figure.add_subplot(grid[1, :])
    level = GroundAxes.of(plan.scene.gravity)
    along = _main_direction(plan, level)
    up = np.asarray(level.up)
    _map(top_view, plan, np.stack([level.first, level.second]))
    top_view.set_xlabel("x (m)")
    top_view.set_ylabel("y (m)")
    top_view.set_title("top view", loc="left", fontsize=10)
    _map(side_view, plan, np.stack([along, up]))
    _corridor(side_view, plan, along)
    side_view.set_xlabel("along the path (m)")
    side_view.set_ylabel("height (m)")
    side_view.set_title("side view", loc="left", fontsize=10)
    _margin(margin, plan)
    figure.suptitle(f"{plan.scene.name}: {plan.sentence}", fontsize=10, wrap=True)
    for axes in (top_view, side_view, margin):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure


def _main_direction(plan: ComPlan, level: GroundAxes) -> np.ndarray:
    """The horizontal direction of the path; the first axis where the path is vertical."""
    flat = level.flat(plan.check.com)
    flat = flat - flat.mean(axis=0)
    if np.abs(flat).max() < 0.05:
        return np.asarray(level.first)
    (a, b), *_ = np.linalg.svd(flat, full_matrices=False)[2]
    direction = a * np.asarray(level.first) + b * np.asarray(level.second)
    forward = direction @ (plan.check.com[-1] - plan.check.com[0]) >= 0
    return np.asarray(direction if forward else -direction)


def _map(axes: Axes, plan: ComPlan, onto: np.ndarray) -> None:
    """Supports, obstacles and the path, projected on two directions (2, 3)."""
    scene: Scene = plan.scene
    for obstacle in scene.obstacles:
        outline = convex_outline(surface_points(obstacle) @ onto.T)
        if len(outline) > 2:
            axes.add_patch(Polygon(outline, closed=True, fc="#e9ecef", ec="#c3cad2", lw=0.8))
            axes.update_datalim(outline)
    for name, support in scene.supports.items():
        color = side_color(side_of(name))
        if isinstance(support, Grasp):
            at = onto @ support.middle
            axes.plot(at[0], at[1], "D", color=color, ms=6)
        elif isinstance(support, ContactPatch):
            corners = support.corners @ onto.T
            axes.add_patch(Polygon(corners, closed=True, fc=(*to_rgb(color), 0.25), ec=color))
            axes.update_datalim(corners)
    counts = [len(step.supports) for step in scene.steps]
    for k, count in enumerate(counts):
        part = plan.check.com[plan.check.phase == k] @ onto.T
        axes.plot(
            part[:, 0],
            part[:, 1],
            color=FEWEST_COLOR if count == min(counts) else MORE_COLOR,
            lw=2.0,
        )
    changes = plan.spline.at(plan.instants) @ onto.T
    axes.plot(changes[:, 0], changes[:, 1], "o", color=INK, ms=3.5, zorder=3)
    worst = plan.check.com[plan.check.worst] @ onto.T
    axes.plot(worst[0], worst[1], "o", mfc="none", mec=ALERT_COLOR, mew=1.8, ms=10, zorder=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)


def _corridor(axes: Axes, plan: ComPlan, along: np.ndarray) -> None:
    """Bounds of the height along the path."""
    distance, x = plan.check.com @ along, plan.check.com[:, 0]
    for ramp in (plan.scene.plan.upper, plan.scene.plan.lower) if plan.scene.plan else ():
        if ramp is not None:
            axes.plot(distance, ramp.height(x), color=GRAY, lw=0.8, ls="--")


def _margin(axes: Axes, plan: ComPlan) -> None:
    scene, check = plan.scene, plan.check
    counts = [len(step.supports) for step in scene.steps]
    top = float(np.quantile(check.margin, 0.98)) * 1.15
    for k, count in enumerate(counts):
        own = check.phase == k
        fewest = count == min(counts)
        if fewest:
            axes.axvspan(plan.instants[k], plan.instants[k + 1], color="#f1edf6", lw=0)
        color = FEWEST_COLOR if fewest else MORE_COLOR
        axes.plot(check.time[own], check.margin[own], color=color, lw=1.8)
    axes.plot(plan.worst, plan.margin, "o", mfc="none", mec=ALERT_COLOR, mew=1.8, ms=9)
    axes.axhline(0, color=INK, lw=0.8)
    axes.set_ylim(min(0.0, plan.margin) - 0.03 * top, top)
    axes.set_xlim(0, plan.duration)
    axes.set_xlabel("time (s); shaded: fewest supports")
    axes.set_ylabel(f"margin ({plan.objective.margin.unit})")
