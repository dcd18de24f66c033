"""Extrapolated center of mass and margin of stability (Hof, Gazendam and Sinke 2005)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.balance.polytopes.convex_polygon import signed_distance_inside
from homodyn.errors import CaptureError
from homodyn.foundation.record import Record, record
from homodyn.gait.events import motion_events
from homodyn.gait.gait_cycles import event_times, parse_side
from homodyn.gait.ground_kinematics import GroundKinematics, ground_kinematics
from homodyn.gait.heading import Heading, find_heading, left_of
from homodyn.model.side import Side
from homodyn.motion import FOOT_OFF, FOOT_STRIKE, Event, Motion

MAX_CONTACT_HEIGHT_M = 0.02
"""A point of the sole touches when it is within this (m) of its lowest position."""


@record
class ExtrapolatedComMargins(Record):
    """Margins of stability of the extrapolated center of mass in each frame.

    Positions are over the ground (relative to the belt on a treadmill), Z up. Margins are NaN while
    no foot is on the ground.
    """

    time: np.ndarray
    """(frames,), s."""
    com: np.ndarray
    """(frames, 3), m: center of mass."""
    com_velocity: np.ndarray
    """(frames, 3), m/s."""
    xcom: np.ndarray
    """(frames, 2), m: ``x + v / omega0`` in the horizontal plane."""
    forward: np.ndarray
    """(frames,), m: front border of the support minus the extrapolated center of mass."""
    left: np.ndarray
    """(frames,), m: left border minus the extrapolated center of mass, positive to the left."""
    right: np.ndarray
    """(frames,), m: the same to the right."""
    inside: np.ndarray
    """(frames,), m: distance to the nearest border of the support polygon, negative outside."""
    pendulum_length: float
    """m: length l of the inverted pendulum."""
    omega0: float
    """1/s: ``sqrt(g / l)``."""
    heading: Heading
    """Direction of progression."""
    kinematics: GroundKinematics
    """Trajectories of the legs."""

    def at_strike(self, side: str, time: float) -> tuple[float, float]:
        """Forward and lateral margins (m) of a foot at its strike.

        The border is that of the whole sole of this foot.

        Args:
            side: ``"left"`` or ``"right"``.
            time: Time of the strike (s).

        Returns:
            Margin to the front and to the outer side.
        """
        direction = self.heading.at(time)
        outward = left_of(direction) * parse_side(side).sign
        xcom = self.kinematics.at(self.xcom, time)
        sole = self.kinematics.at(self.kinematics.side(side).sole, time)[:, :2]
        return (
            float((sole @ direction).max() - xcom @ direction),
            float((sole @ outward).max() - xcom @ outward),
        )


def margin_of_stability(
    motion: Motion, *, events: Sequence[Event] | None = None, pendulum_length: float | None = None
) -> ExtrapolatedComMargins:
    """Extrapolated center of mass ``x + v / omega0`` and its margins to the base of support.

    ``omega0 = sqrt(g / l)`` (Hof, Gazendam and Sinke 2005). The base of support is the convex hull
    of the sole points of the stance feet that touch the ground.

    Args:
        motion: Any movement of a model with two legs.
        events: Foot strikes and foot offs; detected when left out.
        pendulum_length: Length l (m); by default the mean distance of the center of mass from the
            lower ankle.

    Returns:
        Margins in each frame.

    Raises:
        CaptureError: The motion is too short or has gaps, its model has no two feet, or the length
            is not positive.
    """
    kinematics = ground_kinematics(motion)
    known = tuple(motion_events(motion)) if events is None else tuple(events)
    heading = find_heading(kinematics, known)
    return stability_margins(kinematics, known, heading, pendulum_length=pendulum_length)


def stability_margins(
    kinematics: GroundKinematics,
    events: Sequence[Event],
    heading: Heading,
    *,
    pendulum_length: float | None = None,
) -> ExtrapolatedComMargins:
    """Margins for known kinematics and heading."""
    length = _pendulum_length(kinematics) if pendulum_length is None else float(pendulum_length)
    if not length > 0:
        raise CaptureError(f"the pendulum length must be positive, got {length} m")
    omega0 = float(np.sqrt(kinematics.gravity / length))
    xcom = kinematics.com[:, :2] + kinematics.com_velocity[:, :2] / omega0
    ahead = heading.at_times(kinematics.time)
    borders = np.full((4, len(kinematics.time)), np.nan)
    touching = {side: _sole_contacts(kinematics, events, side) for side in (Side.LEFT, Side.RIGHT)}
    for frame in range(len(kinematics.time)):
        base = np.concatenate(
            [
                kinematics.side(s).sole[frame][touching[s][frame]][:, :2]
                for s in (Side.LEFT, Side.RIGHT)
            ]
        )
        if len(base):
            away = base - xcom[frame]
            sideways = away @ left_of(ahead[frame])
            borders[:, frame] = (
                (away @ ahead[frame]).max(),
                sideways.max(),
                -sideways.min(),
                signed_distance_inside(base, xcom[frame]),
            )
    return ExtrapolatedComMargins(
        time=kinematics.time,
        com=kinematics.com,
        com_velocity=kinematics.com_velocity,
        xcom=xcom,
        forward=borders[0],
        left=borders[1],
        right=borders[2],
        inside=borders[3],
        pendulum_length=length,
        omega0=omega0,
        heading=heading,
        kinematics=kinematics,
    )


def _pendulum_length(kinematics: GroundKinematics) -> float:
    ankles = np.stack([kinematics.left.ankle, kinematics.right.ankle])
    lower = ankles[:, :, 2].argmin(axis=0)
    lower_ankle = ankles[lower, np.arange(len(kinematics.time))]
    return float(np.linalg.norm(kinematics.com - lower_ankle, axis=1).mean())


def _sole_contacts(kinematics: GroundKinematics, events: Sequence[Event], side: str) -> np.ndarray:
    """(frames, points): whether each point of a sole touches the ground."""
    sole = kinematics.side(side).sole
    height = sole[..., 2] - np.percentile(sole[..., 2], 2, axis=0)
    low = height < MAX_CONTACT_HEIGHT_M
    lowest = height.argmin(axis=1)
    # Markers are on top of the shoe: during push-off the lowest of them represents the sole.
    low[np.arange(len(sole)), lowest] = True
    return low & stance_phases(kinematics.time, events, side)[:, None]


def stance_phases(time: np.ndarray, events: Sequence[Event], side: str) -> np.ndarray:
    """(times,): True from each strike of a foot to its next foot off.

    Before the first and after the last event the phase follows from that event; without events
    the foot is in stance.
    """
    changes = [(t, True) for t in event_times(events, side, FOOT_STRIKE)]
    changes += [(t, False) for t in event_times(events, side, FOOT_OFF)]
    changes.sort()
    stance = np.full(len(time), True if not changes else not changes[0][1])
    for instant, begins in changes:
        stance[time >= instant] = begins
    return stance
