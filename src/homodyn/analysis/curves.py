"""Curves over the gait cycle, of the right and the left side.

For a trial without a complete gait cycle the curves are over time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from homodyn import dynamics
from homodyn.capture import Signals
from homodyn.capture.kinematics.segment_observability import seen_segments
from homodyn.foundation import Record, record
from homodyn.gait import GaitCycles, cycles
from homodyn.motion import Event, Motion, Side
from homodyn.motion.anatomical_axes import Axes
from homodyn.motion.clinical import Pair, pairs, sideless

STRIKE, OFF = "Foot Strike", "Foot Off"
CYCLE_PERCENT = np.linspace(0.0, 100.0, 101)
"""Samples of a gait cycle (%)."""
MIN_PELVIS_RANGE_DEG = 1e-6
"""Range (deg) below which an angle is constant, as in planar models."""
MIN_WALKING_DISTANCE_M = 0.3
"""Distance (m) of the root above which its path gives the direction of walking."""


@record
class CurveEnsemble(Record):
    """One quantity of one side: one row per gait cycle, or a single row over time."""

    x: np.ndarray
    """(samples,): percent of the cycle, or time (s)."""
    values: np.ndarray
    """(cycles, samples)."""

    @property
    def mean(self) -> np.ndarray:
        """(samples,): mean over the cycles."""
        return self.values.mean(axis=0)

    @property
    def sd(self) -> np.ndarray:
        """(samples,): standard deviation over the cycles (n - 1); NaN for a single one."""
        if len(self.values) > 1:
            return self.values.std(axis=0, ddof=1)
        return np.full(self.values.shape[1], np.nan)


@record
class BilateralCurve(Record):
    """One quantity of both sides, by its clinical name."""

    title: str
    """Such as ``"Knee flexion"``."""
    unit: str
    joint: str
    """Such as ``"Knee"``; empty where there is none."""
    right: CurveEnsemble | None
    left: CurveEnsemble | None
    over_time: bool = False
    """Whether the curves are over time instead of the gait cycle."""
    midline: bool = False
    """Whether it is one quantity of the midline, seen over the cycles of both sides."""

    def headline(self) -> str:
        """Title, unit and number of cycles."""
        counts = [f"{len(ensemble.values)} {side}" for side, ensemble in self.ensembles]
        return f"{self.title} ({self.unit}): {', '.join(counts)}"

    @property
    def ensembles(self) -> list[tuple[str, CurveEnsemble]]:
        """The sides with data, by name."""
        sides = ((side, getattr(self, side)) for side in Side)
        return [(side, ensemble) for side, ensemble in sides if ensemble is not None]


@record
class CycleSegmentation(Record):
    """The gait cycles of a motion, by its events, to cut quantities into cycles."""

    time: np.ndarray
    """(frames,), s."""
    events: tuple[Event, ...]
    """Foot strikes and foot offs."""

    def headline(self) -> str:
        """Number of cycles of each side."""
        counts = [f"{self.count(side)} {side}" for side in Side]
        return f"CycleSegmentation: {', '.join(counts)}"

    @cached_property
    def _strides(self) -> dict[str, GaitCycles]:
        zeros = np.zeros(len(self.time))
        return {side: cycles(self.time, zeros, self.events, side) for side in Side}

    def count(self, side: str) -> int:
        """Number of complete cycles of a side.

        Args:
            side: ``"right"`` or ``"left"``.

        Returns:
            The number.
        """
        return len(self._strides[side].strides)

    @property
    def has_cycles(self) -> bool:
        """Whether a side has a complete cycle."""
        return any(self.count(side) for side in Side)

    def mean_foot_off(self, side: str) -> float | None:
        """Mean percentage of the cycle at which the foot leaves the ground.

        Args:
            side: ``"right"`` or ``"left"``.

        Returns:
            The percentage; None without a foot off.
        """
        percent = self._strides[side].foot_off_percent
        return float(np.mean(percent)) if len(percent) else None

    def stances(self, side: str) -> list[tuple[float, float]]:
        """Intervals (s) in which a foot is on the ground by the events, within the motion.

        Args:
            side: ``"right"`` or ``"left"``.

        Returns:
            Start and end of each stance.
        """
        found = sorted(
            (event.time, event.label)
            for event in self.events
            if event.context.lower() == side and event.label in (STRIKE, OFF)
        )
        stances, start = [], float(self.time[0])
        in_stance = bool(found) and found[0][1] == OFF
        for time, label in found:
            if label == STRIKE:
                start, in_stance = time, True
            elif in_stance:
                stances.append((start, time))
                in_stance = False
        if in_stance:
            stances.append((start, float(self.time[-1])))
        return stances

    def ensemble(
        self, values: np.ndarray, side: str, time: np.ndarray | None = None
    ) -> CurveEnsemble | None:
        """A quantity over the cycles of one side, or over time.

        Args:
            values: (samples,).
            side: ``"right"`` or ``"left"``.
            time: (samples,), s; the time of the motion by default.

        Returns:
            The curves; None if no cycle has all its values.
        """
        return self.ensembles(values[:, None], side, time)[0]

    def ensembles(
        self, values: np.ndarray, side: str, time: np.ndarray | None = None
    ) -> list[CurveEnsemble | None]:
        """`ensemble` of every column of an array (samples, quantities)."""
        times = self.time if time is None else time
        if not self.has_cycles:
            return [
                CurveEnsemble(times, column[None]) if np.isfinite(column).any() else None
                for column in values.T
            ]
        by_cycle = cycles(times, values, self.events, side).values
        complete = np.isfinite(by_cycle).all(axis=1)
        return [
            CurveEnsemble(CYCLE_PERCENT, by_cycle[kept, :, k]) if kept.any() else None
            for k, kept in enumerate(complete.T)
        ]


def hidden_columns(motion: Motion) -> frozenset[int]:
    """Columns of velocity coordinates without a result: not shown by markers, or locked."""
    names = motion.model.coordinate_names
    return frozenset(names.index(name) for name in seen_segments(motion).hidden_coordinates)


def angle_curves(motion: Motion, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Angles of pelvis and joints (deg), with clinical signs.

    Translations, locked coordinates and those that no marker shows are left out.
    """
    degrees = np.rad2deg(motion.q)
    hidden = hidden_columns(motion)

    def value(pair: Pair, side: str) -> np.ndarray | None:
        reading = getattr(pair, side)
        if reading is None or reading.q is None or not reading.plane or reading.index in hidden:
            return None
        sign = reading.mirrored if side == "left" else reading.sign
        return sign * degrees[:, reading.q]

    return pelvis_curves(motion, segmentation) + paired_curves(motion, segmentation, "deg", value)


def signal_curves(
    signals: Signals, segmentation: CycleSegmentation, sides: Sequence[str | None]
) -> list[BilateralCurve]:
    """Each analog channel over the cycles of its side, right and left of a muscle together.

    A channel without a side in its name is cut into the cycles of the first side that has some.
    """
    curves: dict[str, BilateralCurve] = {}
    default = next((side for side in Side if segmentation.count(side)), "right")
    for column, (name, side) in enumerate(zip(signals.names, sides, strict=True)):
        used = side or default
        ensemble = segmentation.ensemble(signals.values[:, column], used, signals.time)
        if ensemble is None:
            continue
        unit = signals.units[column] if column < len(signals.units) else ""
        title = sideless(name) if side else name
        if title in curves and getattr(curves[title], used) is not None:
            title = name
        curve = curves.get(title) or BilateralCurve(
            title, unit, "", None, None, not segmentation.has_cycles, side is None
        )
        curves[title] = (
            replace(curve, right=ensemble) if used == "right" else replace(curve, left=ensemble)
        )
    return list(curves.values())


def pelvis_curves(motion: Motion, segmentation: CycleSegmentation) -> list[BilateralCurve]:
    """Tilt, obliquity and rotation of the root body relative to the direction of walking (deg).

    Cardan angles in the order rotation, obliquity, tilt (Baker 2001, J. Biomech. 34), of the
    rotation from the neutral pose, in axes whose forward is the direction of walking. There are
    none when no marker shows the root body.
    """
    if motion.model.body_names[0] in seen_segments(motion).unseen_bodies:
        return []
    tilt, obliquity, rotation = np.rad2deg(pelvis_angles(motion))
    angles = (
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
        for title, right, left in angles
        if np.ptp(right) > MIN_PELVIS_RANGE_DEG
    ]


def pelvis_angles(motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tilt about left, obliquity about forward and rotation about up of the root (rad)."""
    model = motion.model
    root = model.body_names[0]
    axes = Axes.of(model)
    forward = walking_direction(motion)
    walking = np.column_stack([forward, np.cross(axes.up, forward), axes.up])
    standing = np.column_stack([axes.forward, axes.left, axes.up])
    neutral = dynamics.orientation(model, model.neutral(), root)
    matrix = walking.T @ dynamics.orientation(model, motion.q, root) @ neutral.T @ standing
    obliquity = np.arcsin(np.clip(matrix[:, 2, 1], -1.0, 1.0))
    tilt = np.arctan2(-matrix[:, 2, 0], matrix[:, 2, 2])
    rotation = np.unwrap(np.arctan2(-matrix[:, 0, 1], matrix[:, 1, 1]))
    return tilt, obliquity, rotation


def walking_direction(motion: Motion) -> np.ndarray:
    """The direction of walking: a horizontal unit vector in the world of the model.

    It is that of the path of the root, or its heading if it stays in place.
    """
    model = motion.model
    axes = Axes.of(model)
    root = model.body_names[0]
    path = dynamics.position(model, motion.q[[0, -1]], root)
    along = path[1] - path[0]
    along = along - (along @ axes.up) * axes.up
    if np.linalg.norm(along) < MIN_WALKING_DISTANCE_M:
        middle = len(motion.q) // 2
        neutral = dynamics.orientation(model, model.neutral(), root)
        along = dynamics.orientation(model, motion.q[middle], root) @ neutral.T @ axes.forward
        along = along - (along @ axes.up) * axes.up
    return along / np.linalg.norm(along)


def paired_curves(
    motion: Motion,
    segmentation: CycleSegmentation,
    unit: str,
    value: Callable[[Pair, str], np.ndarray | None],
) -> list[BilateralCurve]:
    """Curves of all coordinates with values.

    Args:
        motion: The motion.
        segmentation: Its gait cycles.
        unit: Unit of the values.
        value: The values (frames,) of a coordinate on a side; None where there are none.

    Returns:
        One curve per pair of coordinates, by clinical name.
    """
    found = pairs(motion.model)
    ensembles: dict[str, dict[int, CurveEnsemble | None]] = {}
    for side in Side:
        columns = {k: value(pair, side) for k, pair in enumerate(found)}
        known = {k: column for k, column in columns.items() if column is not None}
        # All columns of a side are cut into cycles at once.
        cut = segmentation.ensembles(np.column_stack(list(known.values())), side) if known else []
        ensembles[side] = dict(zip(known, cut, strict=True))
    return [
        BilateralCurve(
            pair.title,
            unit,
            pair.joint,
            ensembles["right"].get(k),
            ensembles["left"].get(k),
            not segmentation.has_cycles,
            pair.middle,
        )
        for k, pair in enumerate(found)
        if ensembles["right"].get(k) is not None or ensembles["left"].get(k) is not None
    ]
