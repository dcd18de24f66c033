"""A plan of the centre of mass in one picture: from above, from the side, margin over time."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle

from homodyn.balance import ComPlan, ContactPatch, Grasp, Scene
from homodyn.balance.support_areas import GroundAxes

INK, GREY, GOOD, BAD, BLUE = "#26313d", "#6b7785", "#1d9a6c", "#c8553d", "#3b78b5"
FEW, MANY = BLUE, "#d99a00"
"""The path on the fewest supports of the plan, and on more."""


def com_plan_figure(plan: ComPlan) -> Figure:
    """The path over its supports seen from above and from the side, and the margin over time."""
    figure = Figure(figsize=(11.0, 7.6), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.5, 1.0))
    above, beside = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
    margin = figure.add_subplot(grid[1, :])
    level = GroundAxes.of(plan.scene.gravity)
    along = _way(plan, level)
    up = np.asarray(level.up)
    _map(above, plan, np.stack([level.first, level.second]))
    above.set_xlabel("x, m")
    above.set_ylabel("y, m")
    above.set_title("from above", loc="left", fontsize=10)
    _map(beside, plan, np.stack([along, up]))
    _corridor(beside, plan, along)
    beside.set_xlabel("along the way, m")
    beside.set_ylabel("height, m")
    beside.set_title("from the side", loc="left", fontsize=10)
    _margin(margin, plan)
    figure.suptitle(f"{plan.scene.name}: {plan.sentence}", fontsize=10, wrap=True)
    for axes in (above, beside, margin):
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    return figure


def _way(plan: ComPlan, level: GroundAxes) -> np.ndarray:
    """The level direction in which the path is longest; the first axis where it goes up alone."""
    flat = level.flat(plan.check.com)
    flat = flat - flat.mean(axis=0)
    if np.abs(flat).max() < 0.05:
        return np.asarray(level.first)
    (a, b), *_ = np.linalg.svd(flat, full_matrices=False)[2]
    way = a * np.asarray(level.first) + b * np.asarray(level.second)
    return way if way @ (plan.check.com[-1] - plan.check.com[0]) >= 0 else -way


def _map(axes: Axes, plan: ComPlan, onto: np.ndarray) -> None:
    """Supports, obstacles and the path, projected on two directions."""
    scene: Scene = plan.scene
    for box in scene.boxes:
        size = np.abs(onto) @ box.size
        corner = onto @ box.center - size / 2
        axes.add_patch(
            Rectangle((corner[0], corner[1]), size[0], size[1], fc="#e9ecef", ec="#c3cad2", lw=0.8)
        )
    for support in scene.supports.values():
        if isinstance(support, Grasp):
            at = onto @ support.position
            axes.plot(at[0], at[1], "D", color=GOOD, ms=6)
        elif isinstance(support, ContactPatch):
            corners = support.corners @ onto.T
            axes.add_patch(Polygon(corners, closed=True, fc="#d7e3ee", ec=GREY, lw=1.2))
            axes.update_datalim(corners)
    counts = [len(step.supports) for step in scene.steps]
    for k, count in enumerate(counts):
        part = plan.check.com[plan.check.phase == k] @ onto.T
        axes.plot(part[:, 0], part[:, 1], color=FEW if count == min(counts) else MANY, lw=2.0)
    changes = plan.spline.at(plan.instants) @ onto.T
    axes.plot(changes[:, 0], changes[:, 1], "o", color=INK, ms=3.5, zorder=3)
    worst = plan.check.com[plan.check.worst] @ onto.T
    axes.plot(worst[0], worst[1], "o", mfc="none", mec=BAD, mew=1.8, ms=10, zorder=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)


def _corridor(axes: Axes, plan: ComPlan, along: np.ndarray) -> None:
    """Bounds of the height at the places of the path."""
    way, x = plan.check.com @ along, plan.check.com[:, 0]
    for ramp in (plan.scene.plan.upper, plan.scene.plan.lower) if plan.scene.plan else ():
        if ramp is not None:
            axes.plot(way, ramp.height(x), color=GREY, lw=0.8, ls="--")


def _margin(axes: Axes, plan: ComPlan) -> None:
    scene, seen = plan.scene, plan.check
    counts = [len(step.supports) for step in scene.steps]
    top = float(np.quantile(seen.margin, 0.98)) * 1.15
    for k, count in enumerate(counts):
        mine = seen.phase == k
        few = count == min(counts)
        if few:
            axes.axvspan(plan.instants[k], plan.instants[k + 1], color="#eaf1f8", lw=0)
        axes.plot(seen.time[mine], seen.margin[mine], color=FEW if few else MANY, lw=1.8)
    axes.plot(plan.worst, plan.margin, "o", mfc="none", mec=BAD, mew=1.8, ms=9)
    axes.axhline(0, color=BAD, lw=0.8)
    axes.set_ylim(min(0.0, plan.margin) - 0.03 * top, top)
    axes.set_xlim(0, plan.duration)
    axes.set_xlabel("time, s (shaded: fewest supports)")
    axes.set_ylabel(f"margin, {plan.measure.margin.unit}")
