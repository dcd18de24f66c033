"""Section of the page of a plan about its execution in simulation."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from homodyn.plan import PlanExecution
from homodyn.report.html import PageFigure, bullet_list, figures_html, paragraph, table
from homodyn.report.replay import pose_strip, replay_data, replay_html
from homodyn.report.svg import Plot, nice_range

AXES = ("x", "y", "z")


def execution_summary(execution: PlanExecution) -> dict[str, Any]:
    """The execution of a plan as plain numbers (SI units).

    Args:
        execution: The execution.
    """
    weights = execution.options.weights
    return {
        "status": str(execution.status),
        "sentence": execution.message,
        "speed": execution.speed,
        "com_error_rms_m": execution.com_rms,
        "com_error_max_m": float(execution.com_error.max()),
        "largest_slip_m": execution.largest_slip,
        "least_clearance_m": float(execution.clearance.min())
        if np.isfinite(execution.clearance.min())
        else None,
        "closest": execution.closest,
        "planned_wrenches_available": execution.included,
        "relaxed_calls": len(execution.relaxed_times),
        "weights": {name: float(value) for name, value in vars(weights).items()},
        "supports": execution.rows(),
        "computing_s": execution.seconds,
        "notes": list(execution.notes),
    }


def execution_html(execution: PlanExecution) -> str:
    """Outcome, replay, supports and curves of the execution of a plan.

    Args:
        execution: The execution.
    """
    weights = execution.options.weights
    rows = [
        [
            hold.support,
            f"{hold.start:.2f}",
            f"{hold.end:.2f}",
            f"{1000 * hold.slip:.1f}",
            f"{1000 * hold.placement:.1f}",
            "–" if hold.included is None else "yes" if hold.included else "no",
        ]
        for hold in execution.holds
    ]
    columns = [
        ("support", ""),
        ("start (s)", "n"),
        ("end (s)", "n"),
        ("slip (mm)", "n"),
        ("placement error (mm)", "n"),
        ("planned forces available", ""),
    ]
    closest = execution.clearance.min()
    distance = (
        f"Least distance from what is not touched on purpose: {1000 * closest:.0f} mm "
        f"({execution.closest})."
        if np.isfinite(closest)
        else ""
    )
    tuned = (
        f"Weights: center of mass {weights.com:g}, feet {weights.feet:g}, hands "
        f"{weights.hands:g}, root {weights.root:g}, posture {weights.posture:g}; stiffness of the "
        f"feedback (1/s2): {weights.com_stiffness:g}, {weights.feet_stiffness:g}, "
        f"{weights.feet_stiffness:g}, {weights.root_stiffness:g}, {weights.posture_stiffness:g}, "
        "damping critical."
    )
    parts = [
        paragraph(execution.message),
        paragraph(distance) if distance else "",
        bullet_list(execution.notes) if execution.notes else "",
        replay_html(replay_data(execution.motion), pose_strip(execution.motion)),
        table(columns, rows),
        figures_html([_curves(execution)]),
        f"<p>{escape(tuned)}</p>",
    ]
    return "".join(parts)


def _curves(execution: PlanExecution) -> PageFigure:
    """Center of mass of simulation and reference, and the distance between both."""
    time = execution.simulation.time
    span = (float(time[0]), float(time[-1]))
    panels = []
    for k, axis in enumerate(AXES):
        own, wanted = execution.com[:, k], execution.com_reference[:, k]
        plot = Plot(
            f"Center of mass, {axis}",
            span,
            nice_range(np.r_[own, wanted]),
            "time (s)",
            "m",
            alt=f"Center of mass along {axis}, plan and simulation",
        )
        panels.append(plot.line(time, wanted, "gray").line(time, own, "ink").svg())
    error = 1000 * execution.com_error
    plot = Plot("Distance from the plan", span, nice_range(error, zero=True), "time (s)", "mm")
    panels.append(plot.line(time, error, "ink").svg())
    caption = "Center of mass in the simulation (black) and in the plan (gray)."
    return PageFigure("execution", tuple(panels), caption, columns=2, legend=False)
