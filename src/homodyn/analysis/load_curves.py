"""Curves of torques, powers and ground forces over the gait cycle, of strides with valid loads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.analysis.curves import (
    BilateralCurve,
    CycleSegmentation,
    hidden_columns,
    paired_curves,
    walking_direction,
)
from homodyn.analysis.load_validity import foot_force_valid, valid_power, valid_torques
from homodyn.motion import Loads, Side
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import Pair, pairs


def torque_curves(loads: Loads, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Joint torques per body mass (N m/kg), with the signs of the angles."""
    mass = loads.motion.model.mass
    torques = valid_torques(loads, segmentation)

    def value(pair: Pair, side: str) -> np.ndarray | None:
        reading = getattr(pair, side)
        if reading is None or not reading.plane:
            return None
        sign = reading.mirrored if side == "left" else reading.sign
        return sign * torques[:, reading.index] / mass

    return paired_curves(loads.motion, segmentation, "N m/kg", value)


def power_curves(loads: Loads, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Power of each joint per body mass (W/kg), all its coordinates together."""
    motion = loads.motion
    power = valid_power(loads, segmentation)
    hidden = hidden_columns(motion)
    joints: dict[str, list[Pair]] = {}
    for pair in pairs(motion.model):
        joints.setdefault(pair.joint or pair.title, []).append(pair)
    curves = []
    for joint, members in joints.items():
        sides = {}
        for side in Side:
            columns = sorted(
                {r.index for p in members if (r := getattr(p, side)) is not None} - hidden
            )
            if columns:
                total = power[:, columns].sum(axis=1) / motion.model.mass
                sides[side] = segmentation.ensemble(total, side)
        if any(ensemble is not None for ensemble in sides.values()):
            curves.append(
                BilateralCurve(
                    f"{joint} power",
                    "W/kg",
                    joint,
                    sides.get(Side.RIGHT),
                    sides.get(Side.LEFT),
                    not segmentation.has_cycles,
                    all(pair.middle for pair in members),
                )
            )
    return curves


def ground_force_curves(loads: Loads, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Ground forces forward, toward the midline and upward, in percent of body weight."""
    motion = loads.motion
    axes = Axes.of(motion.model)
    weight = motion.model.mass * float(np.linalg.norm(motion.model.gravity))
    forward = walking_direction(motion)
    left = np.cross(axes.up, forward)
    directions: list[tuple[str, Callable[[str], np.ndarray]]] = [
        ("Forward", lambda side: forward),
        ("Toward the midline", lambda side: left if side == "right" else -left),
        ("Upward", lambda side: axes.up),
    ]
    curves = []
    for title, direction in directions:
        sides = {}
        for side in Side:
            forces = [foot.force for foot in loads.feet if foot.side == side]
            if forces:
                share = 100 * np.sum(forces, axis=0) @ direction(side) / weight
                known = foot_force_valid(loads, segmentation, side)
                sides[side] = segmentation.ensemble(np.where(known, share, np.nan), side)
        if any(ensemble is not None for ensemble in sides.values()):
            curves.append(
                BilateralCurve(
                    title,
                    "% body weight",
                    "",
                    sides.get(Side.RIGHT),
                    sides.get(Side.LEFT),
                    not segmentation.has_cycles,
                )
            )
    return curves
