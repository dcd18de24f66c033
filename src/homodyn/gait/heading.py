"""Where a walk goes: the direction of progression, straight or turning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.gait.gait_cycles import strides
from homodyn.gait.ground_kinematics import GroundKinematics
from homodyn.motion import Event

TURN_ANGLE_DEG = 20.0
"""Strides whose directions differ by more (degrees) belong to a turn."""
MIN_PROGRESS_M = 0.2
"""A centre of mass that comes less far (m) shows no direction."""


@dataclass(frozen=True, eq=False)
class Heading:
    """Directions of progression, unit vectors in the horizontal plane."""

    direction: np.ndarray
    """(2,): of the whole walk."""
    times: np.ndarray
    """(strides,), s: instants of the strides in a turn; empty when the walk is straight."""
    directions: np.ndarray
    """(strides, 2): their directions."""
    notes: tuple[str, ...] = ()

    def at(self, time: float) -> np.ndarray:
        """The direction at an instant: that of the nearest stride in a turn."""
        if not self.times.size:
            return self.direction
        return np.asarray(self.directions[int(np.argmin(np.abs(self.times - time)))])

    def at_times(self, time: np.ndarray) -> np.ndarray:
        """(instants, 2): directions at several instants."""
        if not self.times.size:
            return np.broadcast_to(self.direction, (len(time), 2))
        return self.directions[np.abs(self.times[None] - time[:, None]).argmin(axis=1)]


def left_of(direction: np.ndarray) -> np.ndarray:
    """The horizontal direction to the left of another, (..., 2)."""
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def find_heading(walk: GroundKinematics, events: Sequence[Event]) -> Heading:
    """The direction of progression from where the centre of mass goes, stride by stride.

    Whole strides leave out its sway from side to side. A walk without a whole stride has the
    direction of its ends; one without progress that in which the feet point.
    """
    whole = [stride for side in ("left", "right") for stride in strides(events, side)]
    inside = [s for s in whole if s.start >= walk.time[0] and s.end <= walk.time[-1]]
    inside.sort(key=lambda s: s.start + s.end)
    moves = np.array([(walk.at(walk.com, s.end) - walk.at(walk.com, s.start))[:2] for s in inside])
    notes: list[str] = []
    total = moves.sum(axis=0) if len(moves) else (walk.com[-1] - walk.com[0])[:2]
    path = np.linalg.norm(moves, axis=1).sum() if len(moves) else np.linalg.norm(total)
    if path < MIN_PROGRESS_M:
        notes.append(
            f"The centre of mass comes only {path:.2f} m far: no walking direction; forward is "
            "where the feet point."
        )
        total = _foot_direction(walk)
    straight = Heading(_unit(total), np.zeros(0), np.zeros((0, 2)))
    headings = np.array([_unit(move) for move in moves])
    turned = _turn_angle(headings) if path >= MIN_PROGRESS_M else 0.0
    if (
        path >= MIN_PROGRESS_M
        and float(_foot_direction(walk) @ straight.direction) < 0
        and turned <= TURN_ANGLE_DEG
    ):
        notes.append("The feet point against the direction of progression: walking backward.")
    if turned > TURN_ANGLE_DEG:
        notes.append(
            f"The walk turns by {turned:.0f} degrees; lengths and angles follow the direction of "
            "each stride."
        )
        middles = np.array([(s.start + s.end) / 2 for s in inside])
        return Heading(straight.direction, middles, headings, tuple(notes))
    return Heading(straight.direction, straight.times, straight.directions, tuple(notes))


def _turn_angle(headings: np.ndarray) -> float:
    """Largest angle (degrees) by which the course departs from its first stride, unwound."""
    if len(headings) < 2:
        return 0.0
    angles = np.unwrap(np.arctan2(headings[:, 1], headings[:, 0]))
    return float(np.rad2deg(np.ptp(angles)))


def _foot_direction(walk: GroundKinematics) -> np.ndarray:
    """Where the feet point, in the mean."""
    pointing = [walk.side(side).toe - walk.side(side).heel for side in ("left", "right")]
    return _unit(np.mean(pointing, axis=(0, 1))[:2])


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector) / length if length > 1e-12 else np.array([1.0, 0.0])
