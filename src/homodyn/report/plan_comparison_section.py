"""Section of the page of a plan beside a recording: paths, timing and joint curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from homodyn.analysis.plan_comparison import PlanComparison
from homodyn.report.html import PageFigure, figures_html, paragraph, table
from homodyn.report.svg import Plot, nice_range

PATH_VIEWS = {"from above": (0, 1), "from the side": (1, 2), "from the front": (0, 2)}
AXES = ("x (m)", "y (m)", "z (m)")


def comparison_summary(comparison: PlanComparison) -> dict[str, Any]:
    """A comparison as plain numbers.

    Args:
        comparison: The comparison.
    """
    return {
        "recording": comparison.recording.name,
        "planned_duration_s": comparison.plan.duration,
        "recorded_duration_s": comparison.recorded_duration,
        "com_distance_rms_m": comparison.com_distance,
        "turn_rad": comparison.turn,
        "joints_rms_deg": {curve.title: curve.rms for curve in comparison.joint_curves},
        "recorded_phases": [
            {"supports": each.supports, "start_s": each.start, "end_s": each.end}
            for each in comparison.recorded_phases
        ],
    }


def comparison_html(comparison: PlanComparison) -> str:
    """Paths, timing and joint curves of plan and recording.

    Args:
        comparison: The comparison.
    """
    words = (
        f"Plan: {comparison.plan.duration:.2f} s; recording {comparison.recording.name}: "
        f"{comparison.recorded_duration:.2f} s. The recording is turned by "
        f"{np.degrees(comparison.turn):.0f} degrees about the vertical so that both centers of "
        f"mass start at one place and move in one direction; over normalized time they are "
        f"{100 * comparison.com_distance:.0f} cm apart (rms). Joint angles of different models "
        "have different zeros."
    )
    parts = [paragraph(words), figures_html([_paths(comparison), _joints(comparison)])]
    for title, phases in (
        ("planned phase", comparison.planned_phases),
        ("recorded phase", comparison.recorded_phases),
    ):
        rows = [[p.supports, f"{p.start:.2f}", f"{p.end - p.start:.2f}"] for p in phases]
        if rows:
            parts.append(table([(title, ""), ("start (s)", "n"), ("duration (s)", "n")], rows))
        else:
            parts.append(paragraph(f"No {title} is known: no contact of a foot was detected."))
    return "".join(parts)


def _paths(comparison: PlanComparison) -> PageFigure:
    panels = []
    for title, (a, b) in PATH_VIEWS.items():
        plan, own = comparison.planned_com, comparison.recorded_com
        plot = Plot(
            f"Center of mass {title}",
            nice_range(np.r_[plan[:, a], own[:, a]], min_span=0.2),
            nice_range(np.r_[plan[:, b], own[:, b]], min_span=0.2),
            AXES[a],
            AXES[b],
            alt=f"Path of the center of mass {title}, plan and recording",
        )
        panels.append(
            plot.line(own[:, a], own[:, b], "gray").line(plan[:, a], plan[:, b], "ink").svg()
        )
    return PageFigure(
        "paths", tuple(panels), "Plan (black) and recording (gray).", columns=3, legend=False
    )


def _joints(comparison: PlanComparison) -> PageFigure:
    panels = []
    for curve in comparison.joint_curves:
        share = np.linspace(0.0, 100.0, len(curve.planned))
        plot = Plot(
            curve.title,
            (0.0, 100.0),
            nice_range(np.r_[curve.planned, curve.recorded], min_span=10.0),
            "% of the duration",
            "deg",
            alt=f"{curve.title}, plan and recording",
        )
        lines = plot.line(share, curve.recorded, "gray").line(share, curve.planned, "ink")
        panels.append(lines.svg())
    return PageFigure(
        "joints",
        tuple(panels),
        "Joint angles of plan (black) and recording (gray) over the duration of each.",
        columns=4,
        legend=False,
    )
