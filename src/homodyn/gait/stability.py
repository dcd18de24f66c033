"""Extrapolated centre of mass and margin of stability (Hof, Gazendam and Sinke 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.balance.convex_polygon import inside_polygon
from homodyn.errors import CaptureError
from homodyn.gait.events import FOOT_OFF, FOOT_STRIKE, find_events
from homodyn.gait.gait_cycles import event_times
from homodyn.gait.ground_kinematics import GroundKinematics, ground_kinematics
from homodyn.gait.heading import Heading, find_heading, left_of
from homodyn.motion import Event
from homodyn.motion.motion import Motion

MAX_CONTACT_HEIGHT_M = 0.02
"""A point of the sole touches when it is within this (m) of the lowest it comes to."""


@dataclass(frozen=True, eq=False)
class StabilityMargins:
    """Where the extrapolated centre of mass is in the base of support, frame by frame.

    Positions are over the ground (relative to the belt on a treadmill), Z up. Margins are NaN while
    no foot is on the ground.
    """

    time: np.ndarray
    com: np.ndarray
    """(frames, 3), m."""
    com_velocity: np.ndarray
    """(frames, 3), m/s."""
    xcom: np.ndarray
    """(frames, 2), m: ``x + v / omega0`` in the horizontal plane."""
    forward: np.ndarray
    """(frames,), m: front border of the support less the extrapolated centre of mass."""
    left: np.ndarray
    """(frames,), m: left border less the extrapolated centre of mass, to the left."""
    right: np.ndarray
    """(frames,), m: likewise to the right."""
    inside: np.ndarray
    """(frames,), m: distance to the nearest border of the base polygon, negative outside."""
    pendulum_length: float
    """m: length l of the pendulum."""
    omega0: float
    """1/s: ``sqrt(g / l)``."""
    heading: Heading
    kinematics: GroundKinematics

    def at_strike(self, side: str, time: float) -> tuple[float, float]:
        """Margins (m) to the front and to the outer side of a foot that strikes at an instant.

        The border is that of the whole sole of this foot, on which the person is about to stand.
        """
        direction = self.heading.at(time)
        outward = left_of(direction) * (1.0 if side.lower() == "left" else -1.0)
        xcom = self.kinematics.at(self.xcom, time)
        sole = self.kinematics.at(self.kinematics.side(side).sole, time)[:, :2]
        return (
            float((sole @ direction).max() - xcom @ direction),
            float((sole @ outward).max() - xcom @ outward),
        )


def margin_of_stability(
    motion: Motion, *, events: Sequence[Event] | None = None, pendulum_length: float | None = None
) -> StabilityMargins:
    """Extrapolated centre of mass ``x + v / omega0`` and its distance to the border of support.

    ``omega0 = sqrt(g / l)``; l is ``pendulum`` (m) or, when it is not given, the mean distance of
    the centre of mass from the lower ankle. The base of support is the convex hull of those points
    of the standing feet that touch the ground. ``events`` are found from the motion by default.
    """
    walk = ground_kinematics(motion)
    told = tuple(find_events(motion)) if events is None else tuple(events)
    return stability_margins(walk, told, find_heading(walk, told), pendulum=pendulum_length)


def stability_margins(
    walk: GroundKinematics,
    events: Sequence[Event],
    course: Heading,
    *,
    pendulum: float | None = None,
) -> StabilityMargins:
    """The same for a walk and a course that are known already."""
    length = _pendulum_length(walk) if pendulum is None else float(pendulum)
    if not length > 0:
        raise CaptureError(f"the pendulum must be longer than zero, got {length} m")
    omega0 = float(np.sqrt(walk.gravity / length))
    xcom = walk.com[:, :2] + walk.com_velocity[:, :2] / omega0
    ahead = course.at_times(walk.time)
    borders = np.full((4, len(walk.time)), np.nan)
    touching = {side: _sole_contacts(walk, events, side) for side in ("left", "right")}
    for frame in range(len(walk.time)):
        base = np.concatenate(
            [walk.side(s).sole[frame][touching[s][frame]][:, :2] for s in ("left", "right")]
        )
        if len(base):
            away = base - xcom[frame]
            sideways = away @ left_of(ahead[frame])
            borders[:, frame] = (
                (away @ ahead[frame]).max(),
                sideways.max(),
                -sideways.min(),
                inside_polygon(base, xcom[frame]),
            )
    return StabilityMargins(
        time=walk.time,
        com=walk.com,
        com_velocity=walk.com_velocity,
        xcom=xcom,
        forward=borders[0],
        left=borders[1],
        right=borders[2],
        inside=borders[3],
        pendulum_length=length,
        omega0=omega0,
        heading=course,
        kinematics=walk,
    )


def _pendulum_length(walk: GroundKinematics) -> float:
    ankles = np.stack([walk.left.ankle, walk.right.ankle])
    lower = ankles[:, :, 2].argmin(axis=0)
    stands = ankles[lower, np.arange(len(walk.time))]
    return float(np.linalg.norm(walk.com - stands, axis=1).mean())


def _sole_contacts(walk: GroundKinematics, events: Sequence[Event], side: str) -> np.ndarray:
    """(frames, points): which points of a sole are on the ground."""
    sole = walk.side(side).sole
    height = sole[..., 2] - np.percentile(sole[..., 2], 2, axis=0)
    low = height < MAX_CONTACT_HEIGHT_M
    lowest = height.argmin(axis=1)
    # Markers sit on the shoe: in the roll over the toes the nearest of them stands for the sole.
    low[np.arange(len(sole)), lowest] = True
    return low & stance_phases(walk.time, events, side)[:, None]


def stance_phases(time: np.ndarray, events: Sequence[Event], side: str) -> np.ndarray:
    """(instants,): True from each strike of a foot to its next foot off.

    Before the first event and after the last the foot is in the phase that they imply; without any
    event it stands.
    """
    marks = [(t, True) for t in event_times(events, side, FOOT_STRIKE)]
    marks += [(t, False) for t in event_times(events, side, FOOT_OFF)]
    marks.sort()
    down = np.full(len(time), True if not marks else not marks[0][1])
    for instant, begins in marks:
        down[time >= instant] = begins
    return down
