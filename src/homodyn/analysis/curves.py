"""Quantities over the gait cycle, right beside left: what the curves of a report are drawn from.

Where a trial has no complete gait cycle, the same quantities are told over time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from homodyn import dynamics
from homodyn.capture import Signals
from homodyn.foundation import Record, record
from homodyn.gait import (
    GaitCycles,
    cycles,
)
from homodyn.motion import (
    Event,
    Motion,
)
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import Pair, pairs, sideless

STRIKE, OFF = "Foot Strike", "Foot Off"
CYCLE_PERCENT = np.linspace(0.0, 100.0, 101)
SIDES = ("right", "left")
MIN_PELVIS_RANGE_DEG = 1e-6
"""Change (deg) below which a model cannot move so, as one in a plane."""
MIN_WALKING_DISTANCE_M = 0.3
"""Distance (m) of the root from which on its path says where a person walks."""


@record
class CurveEnsemble(Record):
    """One quantity of one side: a row for each gait cycle, or a single row over time."""

    x: np.ndarray
    """(samples,): percent of the cycle, or s."""
    values: np.ndarray
    """(runs, samples)."""

    @property
    def mean(self) -> np.ndarray:
        """(samples,)."""
        return self.values.mean(axis=0)

    @property
    def sd(self) -> np.ndarray:
        """(samples,): standard deviation over the cycles; zero for one."""
        return self.values.std(axis=0, ddof=1) if len(self.values) > 1 else 0.0 * self.values[0]


@record
class BilateralCurve(Record):
    """The same quantity of both sides."""

    title: str
    unit: str
    joint: str
    right: CurveEnsemble | None
    left: CurveEnsemble | None
    over_time: bool = False
    midline: bool = False
    """Whether it is one quantity of the middle of the body, drawn once over time."""

    @property
    def ensembles(self) -> list[tuple[str, CurveEnsemble]]:
        """The sides that are there, by name."""
        found = ((side, getattr(self, side)) for side in SIDES)
        return [(side, strand) for side, strand in found if strand is not None]


@dataclass(frozen=True, eq=False)
class CycleSegmentation:
    """The events of a trial, and how to see quantities through them."""

    time: np.ndarray
    """Instants of the motion (s)."""
    events: tuple[Event, ...]

    @cached_property
    def _strides(self) -> dict[str, GaitCycles]:
        still = np.zeros(len(self.time))
        return {side: cycles(self.time, still, self.events, side) for side in SIDES}

    def count(self, side: str) -> int:
        """Complete cycles of a side."""
        return len(self._strides[side].strides)

    @property
    def has_cycles(self) -> bool:
        """Whether a side has a complete cycle."""
        return any(self.count(side) for side in SIDES)

    def mean_foot_off(self, side: str) -> float | None:
        """Mean part of the cycle (%) at which the foot leaves the ground."""
        parts = self._strides[side].foot_off_percent
        return float(np.mean(parts)) if len(parts) else None

    def stances(self, side: str) -> list[tuple[float, float]]:
        """Spans (s) in which a foot is on the ground by the events, within the motion."""
        found = sorted(
            (event.time, event.label)
            for event in self.events
            if event.context.lower() == side and event.label in (STRIKE, OFF)
        )
        spans, start = [], float(self.time[0])
        standing = bool(found) and found[0][1] == OFF
        for instant, label in found:
            if label == STRIKE:
                start, standing = instant, True
            elif standing:
                spans.append((start, instant))
                standing = False
        if standing:
            spans.append((start, float(self.time[-1])))
        return spans

    def ensemble(
        self, values: np.ndarray, side: str, time: np.ndarray | None = None
    ) -> CurveEnsemble | None:
        """A quantity over the cycles of one side, or over time; None where there is nothing."""
        return self.ensembles(values[:, None], side, time)[0]

    def ensembles(
        self, values: np.ndarray, side: str, time: np.ndarray | None = None
    ) -> list[CurveEnsemble | None]:
        """The columns of an array (samples, quantities), each as a strand of its own."""
        instants = self.time if time is None else time
        if not self.has_cycles:
            return [
                CurveEnsemble(instants, column[None]) if np.isfinite(column).any() else None
                for column in values.T
            ]
        runs = cycles(instants, values, self.events, side).values
        whole = np.isfinite(runs).all(axis=1)
        return [
            CurveEnsemble(CYCLE_PERCENT, runs[kept, :, k]) if kept.any() else None
            for k, kept in enumerate(whole.T)
        ]


def angle_curves(motion: Motion, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Angles of pelvis and joints (deg); slides are left out."""
    degrees = np.rad2deg(motion.q)

    def value(pair: Pair, side: str) -> np.ndarray | None:
        reading = getattr(pair, side)
        if reading is None or reading.q is None or not reading.plane:
            return None
        sign = reading.mirrored if side == "left" else reading.sign
        return sign * degrees[:, reading.q]

    return pelvis_curves(motion, segmentation) + paired_curves(motion, segmentation, "deg", value)


def signal_curves(
    signals: Signals, segmentation: CycleSegmentation, sides: Sequence[str | None]
) -> list[BilateralCurve]:
    """Each analog channel over the cycles of its side, right and left of a muscle together.

    A channel whose name tells no side is seen over the cycles of the first side that has some.
    """
    made: dict[str, BilateralCurve] = {}
    default = next((side for side in SIDES if segmentation.count(side)), "right")
    for column, (name, side) in enumerate(zip(signals.names, sides, strict=True)):
        seen = side or default
        strand = segmentation.ensemble(signals.values[:, column], seen, signals.time)
        if strand is None:
            continue
        unit = signals.units[column] if column < len(signals.units) else ""
        title = sideless(name) if side else name
        if title in made and getattr(made[title], seen) is not None:
            title = name
        known = made.get(title) or BilateralCurve(
            title, unit, "", None, None, not segmentation.has_cycles, side is None
        )
        made[title] = (
            replace(known, right=strand) if seen == "right" else replace(known, left=strand)
        )
    return list(made.values())


def pelvis_curves(motion: Motion, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Tilt, obliquity and rotation of the root body against the walk (deg).

    Cardan angles in the order rotation, obliquity, tilt (Baker 2001, J. Biomech. 34), of the turn
    from the neutral pose, in axes whose forward is the direction of walking.
    """
    tilt, obliquity, rotation = np.rad2deg(pelvis_angles(motion))
    told = (
        ("Pelvis anterior tilt", tilt, tilt),
        ("Pelvis obliquity, side up", -obliquity, obliquity),
        ("Pelvis rotation, side forward", rotation, -rotation),
    )
    return [
        BilateralCurve(
            title,
            "deg",
            "Pelvis",
            segmentation.ensemble(right, "right"),
            segmentation.ensemble(left, "left"),
            not segmentation.has_cycles,
            True,
        )
        for title, right, left in told
        if np.ptp(right) > MIN_PELVIS_RANGE_DEG
    ]


def pelvis_angles(motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tilt about left, obliquity about forward and rotation about up of the root (rad)."""
    model = motion.model
    root = model.body_names[0]
    axes = Axes.of(model)
    forward = walking_direction(motion)
    walk = np.column_stack([forward, np.cross(axes.up, forward), axes.up])
    stand = np.column_stack([axes.forward, axes.left, axes.up])
    still = dynamics.orientation(model, model.neutral(), root)
    turned = walk.T @ dynamics.orientation(model, motion.q, root) @ still.T @ stand
    obliquity = np.arcsin(np.clip(turned[:, 2, 1], -1.0, 1.0))
    tilt = np.arctan2(-turned[:, 2, 0], turned[:, 2, 2])
    rotation = np.unwrap(np.arctan2(-turned[:, 0, 1], turned[:, 1, 1]))
    return tilt, obliquity, rotation


def walking_direction(motion: Motion) -> np.ndarray:
    """The direction of walking: a level unit vector of the model's world.

    Read off the path of the root, or off where it faces when it stays in place.
    """
    model = motion.model
    axes = Axes.of(model)
    root = model.body_names[0]
    path = dynamics.position(model, motion.q[[0, -1]], root)
    along = path[1] - path[0]
    along = along - (along @ axes.up) * axes.up
    if np.linalg.norm(along) < MIN_WALKING_DISTANCE_M:
        middle = len(motion.q) // 2
        still = dynamics.orientation(model, model.neutral(), root)
        along = dynamics.orientation(model, motion.q[middle], root) @ still.T @ axes.forward
        along = along - (along @ axes.up) * axes.up
    return along / np.linalg.norm(along)


def paired_curves(
    motion: Motion,
    segmentation: CycleSegmentation,
    unit: str,
    value: Callable[[Pair, str], np.ndarray | None],
) -> list[BilateralCurve]:
    """Curves of all coordinates that ``value`` answers for; each side is cut into cycles once."""
    found = pairs(motion.model)
    strands: dict[str, dict[int, CurveEnsemble | None]] = {}
    for side in SIDES:
        columns = {k: value(pair, side) for k, pair in enumerate(found)}
        there = {k: column for k, column in columns.items() if column is not None}
        made = segmentation.ensembles(np.column_stack(list(there.values())), side) if there else []
        strands[side] = dict(zip(there, made, strict=True))
    return [
        BilateralCurve(
            pair.title,
            unit,
            pair.joint,
            strands["right"].get(k),
            strands["left"].get(k),
            not segmentation.has_cycles,
            pair.middle,
        )
        for k, pair in enumerate(found)
        if strands["right"].get(k) is not None or strands["left"].get(k) is not None
    ]
