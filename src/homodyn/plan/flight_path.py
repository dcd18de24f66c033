"""Paths of a body between two supports: curves and poses at nodes over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation

from homodyn.foundation.record import Record, record

ARC_EXPONENT = 4
"""Of the height of arcs, ``lift (1 - (2 s - 1)^4)``: steep at the ends, flat over obstacles."""


def minimum_jerk(share: np.ndarray) -> np.ndarray:
    """Shares of a way with minimum jerk, at rest at both ends (Flash and Hogan 1985).

    Args:
        share: Shares of the duration, (...), from 0 to 1.
    """
    s = np.clip(share, 0.0, 1.0)
    return np.asarray(s**3 * (10 - 15 * s + 6 * s**2))


@record
class FlightPath(Record):
    """The pose of a body from one support to the next."""

    body: str
    start: float
    """s."""
    end: float
    """s."""
    time: np.ndarray
    """(nodes,), s."""
    position: np.ndarray
    """(nodes, 3), m: of the imposed frame."""
    rotation: np.ndarray
    """(nodes, 3, 3); identity for grips, whose orientation is free."""
    method: str
    """``arc``, ``line``, ``birrt``, or ``samples`` for poses at the nodes alone."""
    iterations: int = 0
    """Of the tree search."""
    lift: float = 0.0
    """m: height of an arc above the line."""

    @property
    def length(self) -> float:
        """m: length of the way between the nodes."""
        return float(np.linalg.norm(np.diff(self.position, axis=0), axis=1).sum())

    def pose(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses at given times; those of the ends before and after the flight.

        Args:
            time: (instants,), s.

        Returns:
            Positions (instants, 3), m, and orientations (instants, 3, 3).
        """
        share = (np.asarray(time, dtype=float) - self.start) / (self.end - self.start)
        if self.method == "samples":
            k = np.clip(np.searchsorted(self.time, time), 0, len(self.time) - 1)
            return self.position[k], self.rotation[k]
        if self.method in ("arc", "line"):
            s = minimum_jerk(share)
            position = (1 - s[:, None]) * self.position[0] + s[:, None] * self.position[-1]
            position[:, 2] += self.lift * (1 - (2 * s - 1) ** ARC_EXPONENT)
            return position, slerp(self.rotation[0], self.rotation[-1], s)
        return self._smooth_pose(np.asarray(time, dtype=float))

    def _smooth_pose(self, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses on a curve with continuous velocity through the nodes, at rest at both ends."""
        at = np.clip(time, self.time[0], self.time[-1])
        slopes = _slopes(self.time, self.position)
        position = CubicHermiteSpline(self.time, self.position, slopes)(at)
        turns = Rotation.from_matrix(self.rotation)
        steps = (turns[:-1].inv() * turns[1:]).as_rotvec()
        k = np.clip(np.searchsorted(self.time, at, side="right") - 1, 0, len(self.time) - 2)
        share = minimum_jerk((at - self.time[k]) / (self.time[k + 1] - self.time[k]))
        turned = turns[k] * Rotation.from_rotvec(share[:, None] * steps[k])
        return position, np.asarray(turned.as_matrix()).reshape(-1, 3, 3)


def arc(
    body: str,
    span: tuple[float, float],
    first: tuple[np.ndarray, np.ndarray],
    last: tuple[np.ndarray, np.ndarray],
    lift: float = 0.0,
) -> FlightPath:
    """A line between two poses, raised by an arc, with minimum jerk along it.

    Args:
        body: The body.
        span: Start and end, s.
        first: Position (3,), m, and orientation (3, 3) at the start.
        last: The same at the end.
        lift: Largest height above the line, m.
    """
    return FlightPath(
        body,
        span[0],
        span[1],
        np.array(span),
        np.array([first[0], last[0]]),
        np.array([first[1], last[1]]),
        "arc" if lift else "line",
        lift=lift,
    )


def slerp(first: np.ndarray, last: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Orientations between two, at shares of the rotation.

    Args:
        first: (3, 3).
        last: (3, 3).
        share: (instants,).

    Returns:
        (instants, 3, 3).
    """
    start = Rotation.from_matrix(first)
    step = (start.inv() * Rotation.from_matrix(last)).as_rotvec()
    return np.asarray((start * Rotation.from_rotvec(np.outer(share, step))).as_matrix())


def _slopes(time: np.ndarray, position: np.ndarray) -> np.ndarray:
    """Slopes of a monotone cubic interpolation: zero at the ends and where a coordinate turns."""
    steps = np.diff(position, axis=0) / np.diff(time)[:, None]
    slopes = np.zeros_like(position)
    if len(time) > 2:
        same = steps[:-1] * steps[1:] > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = 2 / (1 / steps[:-1] + 1 / steps[1:])
        slopes[1:-1] = np.where(same, mean, 0.0)
    return slopes


def largest_rates(path: FlightPath | Sequence[FlightPath], samples: int = 101) -> np.ndarray:
    """Largest speed (m/s) and angular speed (rad/s) of paths.

    Args:
        path: One path or several.
        samples: Instants per path.

    Returns:
        (2,).
    """
    worst = np.zeros(2)
    for each in [path] if isinstance(path, FlightPath) else path:
        time = np.linspace(each.start, each.end, samples)
        position, rotation = each.pose(time)
        step = np.diff(time)
        speed = np.linalg.norm(np.diff(position, axis=0), axis=1) / step
        turns = Rotation.from_matrix(rotation)
        rate = (turns[:-1].inv() * turns[1:]).magnitude() / step
        worst = np.maximum(worst, [speed.max(), rate.max()])
    return worst
