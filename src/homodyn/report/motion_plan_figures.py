"""Figures of a planned motion: postures in the scene, clearance and balance over time."""

from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from homodyn import dynamics
from homodyn.model.side import side_of
from homodyn.motion import Scene
from homodyn.motion.obstacle_points import surface_points
from homodyn.motion.supports import ContactPatch
from homodyn.plan import MotionPlan
from homodyn.report.colors import ALERT_COLOR, INK, side_color
from homodyn.report.html import PageFigure
from homodyn.report.posed_geometry import convex_outline
from homodyn.report.replay import body_capsules, capsule_ends
from homodyn.report.svg import Plot, nice_range

VIEWS = {"from the side (y, z)": (1, 2), "from the front (x, z)": (0, 2), "from above": (0, 1)}
"""World axes of the views."""
POINTS_PER_METER = 72.0
OBSTACLE_COLOR, OBSTACLE_EDGE = "#e9ecef", "#c3cad2"


def postures_figure(plan: MotionPlan, poses: Sequence[np.ndarray]) -> Figure:
    """Postures side by side in three views of the scene.

    Args:
        plan: The plan that they belong to.
        poses: Postures (nq,) to draw.
    """
    count = len(poses)
    figure = Figure(figsize=(2.3 * count, 7.6), layout="constrained")
    axes = figure.subplots(len(VIEWS), count, squeeze=False, sharex="row", sharey="row")
    ends = capsule_ends(plan.model, np.array(poses))
    com = dynamics.center_of_mass(plan.model, np.array(poses))
    for row, (title, view) in enumerate(VIEWS.items()):
        for k in range(count):
            plot = axes[row][k]
            _draw_scene(plot, plan.scene, view)
            _draw_body(plot, plan, ends[k], view)
            plot.plot(*com[k][list(view)], "o", color=INK, ms=3)
            plot.set_aspect("equal")
            plot.tick_params(labelsize=6)
            for side in ("top", "right"):
                plot.spines[side].set_visible(False)
        axes[row][0].set_ylabel(title, fontsize=8)
        middle = com[:, list(view)].mean(axis=0)
        axes[row][0].set_xlim(middle[0] - 1.0, middle[0] + 1.0)
        axes[row][0].set_ylim(middle[1] - 1.1, middle[1] + 1.1)
    return figure


def _draw_scene(plot: Axes, scene: Scene, view: tuple[int, int]) -> None:
    for obstacle in scene.obstacles:
        points = surface_points(obstacle)
        outline = convex_outline(points[:, list(view)]) if len(points) else np.zeros((0, 2))
        if len(outline) > 2:
            plot.add_patch(
                Polygon(outline, closed=True, fc=OBSTACLE_COLOR, ec=OBSTACLE_EDGE, lw=0.6)
            )
    for name, support in scene.supports.items():
        if isinstance(support, ContactPatch) and view == (0, 1):
            color = side_color(side_of(name))
            corners = support.corners[:, list(view)]
            plot.add_patch(Polygon(corners, closed=True, fc="none", ec=color, lw=0.8))


def _draw_body(plot: Axes, plan: MotionPlan, ends: np.ndarray, view: tuple[int, int]) -> None:
    for capsule, (start, end) in zip(body_capsules(plan.model), ends, strict=True):
        color = side_color(side_of(capsule.body))
        width = max(1.0, 0.6 * POINTS_PER_METER * capsule.radius)
        pair = np.array([start, end])[:, list(view)]
        plot.plot(pair[:, 0], pair[:, 1], color=color, lw=width, alpha=0.55, solid_capstyle="round")


def curves_figure(plan: MotionPlan) -> PageFigure:
    """Clearance and balance margin over time, with the changes of support."""
    time = plan.motion.time
    margin = plan.balance.wrench
    panels = []
    for title, unit, values in (
        ("Clearance", "mm", 1000 * np.minimum(plan.clearance, 1.0)),
        ("Balance margin of the whole body", "N m", margin),
        (
            "Deviation of the center of mass from its plan",
            "mm",
            1000 * plan.tracking[:, 0],
        ),
    ):
        low, high = nice_range(values, zero=True)
        plot = Plot(
            title,
            (float(time[0]), float(time[-1])),
            (low, high),
            "time (s)",
            unit,
            width=980.0,
            height=170.0,
            alt=f"{title} over time",
        )
        for instant in plan.instants[1:-1]:
            x = np.array([instant, instant])
            plot.line(x, np.array([low, high]), "gray thin")
        panels.append(plot.line(time, values, "ink").svg())
    caption = (
        "Clearance is the least distance from obstacles that are not touched on purpose. The "
        "margin is the largest disturbance that the supports can bear. Vertical lines: changes of "
        "support."
    )
    return PageFigure("curves", tuple(panels), caption, columns=1, legend=False)


def timing_figure(plan: MotionPlan, recorded: Sequence[float] = ()) -> Figure:
    """Bars of the time that each body spends on supports, and a recorded timing below.

    Args:
        plan: The plan.
        recorded: Instants of the same changes of support in a recording, s; empty for none.
    """
    bodies = list(dict.fromkeys(each.body for each in plan.scene.supports.values()))
    figure = Figure(figsize=(9.0, 0.5 + 0.42 * len(bodies) * (2 if len(recorded) else 1)))
    plot = figure.subplots()
    rows = [("planned", plan.instants)]
    if len(recorded):
        rows.append(("recorded", np.asarray(recorded, dtype=float)))
    labels = []
    for k, body in enumerate(bodies):
        for j, (name, instants) in enumerate(rows):
            y = -(k * (len(rows) + 0.4) + j)
            labels.append((y, f"{body.replace('_', ' ')}, {name}"))
            for step, (start, end) in zip(
                plan.scene.steps, itertools.pairwise(instants), strict=False
            ):
                if any(plan.scene.supports[each].body == body for each in step.supports):
                    color = side_color(side_of(body))
                    alpha = 0.75 if name == "planned" else 0.35
                    plot.barh(y, end - start, 0.8, left=start, color=color, alpha=alpha, lw=0)
    plot.set_yticks([y for y, _ in labels], [text for _, text in labels], fontsize=7)
    plot.set_xlabel("time (s)", fontsize=8)
    for instant in plan.instants:
        plot.axvline(instant, color=ALERT_COLOR, lw=0.3)
    for side in ("top", "right"):
        plot.spines[side].set_visible(False)
    figure.set_layout_engine("constrained")
    return figure


def image_html(figure: Figure, alt: str) -> str:
    """A figure as an image inside a page.

    Args:
        figure: The figure.
        alt: Description for screen readers.
    """
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110)
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{alt}" style="max-width:100%" src="data:image/png;base64,{data}">'
