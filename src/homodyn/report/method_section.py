"""The section of a page that compares tracking by physics with inverse dynamics."""

from __future__ import annotations

import numpy as np

from homodyn.analysis.physics_method import MethodComparison
from homodyn.capture.kinetics import Work
from homodyn.report.html import Cell, bullet_list, number, table

MIN_TORQUE_NM = 1.0
"""Coordinates whose torque stays below this value (rms) are left out of the table."""


def method_section(comparison: MethodComparison | None) -> str:
    """Differences of angles, torques, ground force and work of both methods.

    Args:
        comparison: The comparison; None for an analysis by one method.

    Returns:
        HTML; empty without a comparison.
    """
    if comparison is None:
        return ""
    return bullet_list(comparison.sentences()) + _coordinates(comparison) + _works(comparison)


def _coordinates(comparison: MethodComparison) -> str:
    rows: list[list[Cell]] = []
    for k, title in enumerate(comparison.titles):
        torques = (comparison.inverse_torque[k], comparison.physics_torque[k])
        if np.nanmax([*torques, 0.0]) < MIN_TORQUE_NM:
            continue
        rows.append(
            [
                title,
                number(float(np.degrees(comparison.angle_difference[k]))),
                *(number(float(value)) for value in torques),
                number(float(comparison.torque_difference[k])),
            ]
        )
    return table(
        [
            ("coordinate", ""),
            ("angle difference (deg)", "n"),
            ("torque, inverse (N m)", "n"),
            ("torque, physics (N m)", "n"),
            ("torque difference (N m)", "n"),
        ],
        rows,
        "Root mean squares over the trial; torques over the frames in which both methods have them",
    )


def _works(comparison: MethodComparison) -> str:
    rows = [["physics", *_totals(comparison.physics_work)]]
    if comparison.inverse_work is not None:
        rows.insert(0, ["inverse dynamics", *_totals(comparison.inverse_work)])
    return table(
        [
            ("method", ""),
            ("net (J)", "n"),
            ("positive (J)", "n"),
            ("negative (J)", "n"),
            ("absolute (J)", "n"),
            ("integrated torque (N m s)", "n"),
        ],
        rows,
        "Work of all joints over the trial",
    )


def _totals(work: Work) -> list[str]:
    totals = (work.total_net, work.total_positive, work.total_negative, work.total_absolute)
    return [number(value) for value in (*totals, float(work.effort.sum()))]
