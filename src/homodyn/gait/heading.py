"""Heading: the direction of progression of a walk, straight or turning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.foundation.record import Record, record
from homodyn.gait.gait_cycles import strides
from homodyn.gait.ground_kinematics import GroundKinematics
from homodyn.model.side import Side
from homodyn.motion import Event

TURN_ANGLE_DEG = 20.0
"""Strides whose directions differ by more than this (degrees) form a turn."""
MIN_PROGRESS_M = 0.2
"""A center of mass that travels less than this (m) defines no direction."""


@record
class Heading(Record):
    """Directions of progression, unit vectors in the horizontal plane."""

    direction: np.ndarray
    """(2,): of the whole motion."""
    times: np.ndarray
    """(strides,), s: middle of each stride in a turn; empty for a straight walk."""
    directions: np.ndarray
    """(strides, 2): direction of each of these strides."""
    notes: tuple[str, ...] = ()
    """Sentences on turns, backward walking and missing progress."""

    def at(self, time: float) -> np.ndarray:
        """Direction at a time (s): that of the nearest stride in a turn."""
        if not self.times.size:
            return self.direction
        return np.asarray(self.directions[int(np.argmin(np.abs(self.times - time)))])

    def at_times(self, time: np.ndarray) -> np.ndarray:
        """(times, 2): directions at several times (s)."""
        if not self.times.size:
            return np.broadcast_to(self.direction, (len(time), 2))
        return self.directions[np.abs(self.times[None] - time[:, None]).argmin(axis=1)]


def left_of(direction: np.ndarray) -> np.ndarray:
    """Horizontal direction to the left of a direction, (..., 2)."""
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def find_heading(kinematics: GroundKinematics, events: Sequence[Event]) -> Heading:
    """Direction of progression from the displacement of the center of mass per stride.

    Whole strides cancel the lateral sway. Without a whole stride the displacement from the first
    frame to the last is used; without progress, the direction in which the feet point.
    """
    found = [stride for side in (Side.LEFT, Side.RIGHT) for stride in strides(events, side)]
    inside = [s for s in found if s.start >= kinematics.time[0] and s.end <= kinematics.time[-1]]
    inside.sort(key=lambda s: s.start + s.end)
    moves = np.array(
        [
            (kinematics.at(kinematics.com, s.end) - kinematics.at(kinematics.com, s.start))[:2]
            for s in inside
        ]
    )
    notes: list[str] = []
    total = moves.sum(axis=0) if len(moves) else (kinematics.com[-1] - kinematics.com[0])[:2]
    path = np.linalg.norm(moves, axis=1).sum() if len(moves) else np.linalg.norm(total)
    if path < MIN_PROGRESS_M:
        notes.append(
            f"The center of mass travels only {path:.2f} m: there is no walking direction; forward "
            "is where the feet point."
        )
        total = _foot_direction(kinematics)
    straight = Heading(_unit(total), np.zeros(0), np.zeros((0, 2)))
    headings = np.array([_unit(move) for move in moves])
    turn_angle = _turn_angle(headings) if path >= MIN_PROGRESS_M else 0.0
    if (
        path >= MIN_PROGRESS_M
        and float(_foot_direction(kinematics) @ straight.direction) < 0
        and turn_angle <= TURN_ANGLE_DEG
    ):
        notes.append("The feet point opposite to the direction of progression: backward walking.")
    if turn_angle > TURN_ANGLE_DEG:
        notes.append(
            f"The walk turns by {turn_angle:.0f} degrees; lengths and angles use the direction of "
            "each stride."
        )
        middles = np.array([(s.start + s.end) / 2 for s in inside])
        return Heading(straight.direction, middles, headings, tuple(notes))
    return Heading(straight.direction, straight.times, straight.directions, tuple(notes))


def _turn_angle(headings: np.ndarray) -> float:
    """Range of the stride directions (degrees), unwrapped."""
    if len(headings) < 2:
        return 0.0
    angles = np.unwrap(np.arctan2(headings[:, 1], headings[:, 0]))
    return float(np.rad2deg(np.ptp(angles)))


def _foot_direction(kinematics: GroundKinematics) -> np.ndarray:
    """Mean direction in which the feet point."""
    pointing = [
        kinematics.side(side).toe - kinematics.side(side).heel for side in (Side.LEFT, Side.RIGHT)
    ]
    return _unit(np.mean(pointing, axis=(0, 1))[:2])


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector) / length if length > 1e-12 else np.array([1.0, 0.0])
