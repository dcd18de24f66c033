"""Where a walk goes: the direction of progression, straight or turning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.gait.cycles import strides
from homodyn.gait.strides_over_ground import Walk
from homodyn.motion import Event

TURNING = 20.0
"""Strides whose directions differ by more (degrees) belong to a turn."""
PROGRESS = 0.2
"""A centre of mass that comes less far (m) shows no direction."""


@dataclass(frozen=True, eq=False)
class Course:
    """Directions of progression, unit vectors in the horizontal plane."""

    direction: np.ndarray
    """(2,): of the whole walk."""
    middles: np.ndarray
    """(strides,), s: instants of the strides in a turn; empty when the walk is straight."""
    headings: np.ndarray
    """(strides, 2): their directions."""
    notes: tuple[str, ...] = ()

    def at(self, time: float) -> np.ndarray:
        """The direction at an instant: that of the nearest stride in a turn."""
        if not self.middles.size:
            return self.direction
        return np.asarray(self.headings[int(np.argmin(np.abs(self.middles - time)))])

    def along(self, time: np.ndarray) -> np.ndarray:
        """(instants, 2): directions at several instants."""
        if not self.middles.size:
            return np.broadcast_to(self.direction, (len(time), 2))
        return self.headings[np.abs(self.middles[None] - time[:, None]).argmin(axis=1)]


def left_of(direction: np.ndarray) -> np.ndarray:
    """The horizontal direction to the left of another, (..., 2)."""
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def course_of(walk: Walk, events: Sequence[Event]) -> Course:
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
    if path < PROGRESS:
        notes.append(
            f"The centre of mass comes only {path:.2f} m far: no walking direction; forward is "
            "where the feet point."
        )
        total = _facing(walk)
    straight = Course(_unit(total), np.zeros(0), np.zeros((0, 2)))
    headings = np.array([_unit(move) for move in moves])
    turned = _turned(headings) if path >= PROGRESS else 0.0
    if path >= PROGRESS and float(_facing(walk) @ straight.direction) < 0 and turned <= TURNING:
        notes.append("The feet point against the direction of progression: walking backward.")
    if turned > TURNING:
        notes.append(
            f"The walk turns by {turned:.0f} degrees; lengths and angles follow the direction of "
            "each stride."
        )
        middles = np.array([(s.start + s.end) / 2 for s in inside])
        return Course(straight.direction, middles, headings, tuple(notes))
    return Course(straight.direction, straight.middles, straight.headings, tuple(notes))


def _turned(headings: np.ndarray) -> float:
    """Largest angle (degrees) by which the course departs from its first stride, unwound."""
    if len(headings) < 2:
        return 0.0
    angles = np.unwrap(np.arctan2(headings[:, 1], headings[:, 0]))
    return float(np.rad2deg(np.ptp(angles)))


def _facing(walk: Walk) -> np.ndarray:
    """Where the feet point, in the mean."""
    pointing = [walk.side(side).toe - walk.side(side).heel for side in ("left", "right")]
    return _unit(np.mean(pointing, axis=(0, 1))[:2])


def _unit(vector: np.ndarray) -> np.ndarray:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector) / length if length > 1e-12 else np.array([1.0, 0.0])
