"""Feet flat on the floor as evidence for the poses of a calibration.

Offsets of the heel and toe markers and the zero of the ankle trade against each other: heel up and
toe down by a centimeter each rotate the foot by five degrees. The soles decide between them. Models
stand with flat feet in their neutral pose, and the feet of people who stand are flat on the floor.

A foot is flat in the frames in which its markers have the heights over each other that they have
most often while it is low and the person is upright. The lowest height of each marker alone does
not show this: a heel is lowest when it strikes, and a toe when it pushes off.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.capture.labeling.landmarks import landmark
from homodyn.capture.scaling.shared_markers import SharedMarkers
from homodyn.dynamics import angular_jacobian, orientation
from homodyn.model import Model

FOREFOOT_PLACES = frozenset({"toe", "first metatarsal", "second metatarsal", "fifth metatarsal"})
"""Places of markers on the front of a foot."""
LOW_PERCENTILE = 5.0
"""Percentile of the heights of a marker that counts as its lowest height."""
MAX_LOW_HEIGHT_M = 0.02
"""Height (m) of a marker above its lowest below which its part of the foot may be on the floor."""
MAX_CROUCH_M = 0.10
"""Depth (m) of the body below its highest over a foot on the floor up to which a person is upright:
those who crouch lift their heels or toes."""
MAX_HEIGHT_DEVIATION_M = 0.003
"""Deviation (m) of the height of a marker over the heel from its most frequent one in a flat
foot."""
MIN_FLAT_SHARE = 0.05
"""Share of the frames in which a foot must be flat: a floor stops a foot again and again, while
feet in the air pass their lowest point rarely."""
MIN_FLAT_FRAMES = 5
"""Frames in which a foot must be flat, of any number."""


@dataclass(frozen=True, eq=False)
class FootEvidence:
    """Inclination of flat feet against the neutral pose, per standard deviation."""

    model: Model
    bodies: tuple[str, ...]
    """The feet."""
    vertical: np.ndarray
    """(3,): up in the world."""
    neutral: np.ndarray
    """(feet, 3): up in the axes of each foot, in the neutral pose."""
    weights: np.ndarray
    """(frames, feet): inverse standard deviations (1/rad), zero where a foot is not flat."""

    def residual(self, q: np.ndarray) -> np.ndarray:
        """Deviations (frames, 3 feet) in standard deviations, for poses (frames, nq)."""
        tilts = [self.vertical @ orientation(self.model, q, body) for body in self.bodies]
        deviation = np.stack(tilts, axis=1) - self.neutral
        return (self.weights[..., None] * deviation).reshape(len(q), -1)

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Derivatives (frames, 3 feet, nv) of `residual` by velocities."""
        x, y, z = self.vertical
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        slopes = [
            orientation(self.model, q, body).swapaxes(-1, -2)
            @ (cross @ angular_jacobian(self.model, q, body))
            for body in self.bodies
        ]
        weighted = self.weights[..., None, None] * np.stack(slopes, axis=1)
        return weighted.reshape(len(q), -1, self.model.nv)


def foot_evidence(
    model: Model, recording: SharedMarkers, frames: np.ndarray, deviation: float
) -> FootEvidence | None:
    """Evidence for the inclination of the feet from frames in which they are flat.

    All frames of one foot together weigh as one observation: shoes and the shape of a foot are the
    same in all of them.

    Args:
        model: The model.
        recording: The recorded markers.
        frames: Indices of the frames whose poses are estimated.
        deviation: Standard deviation of the inclination of a flat foot (rad); 0 omits it.

    Returns:
        The evidence; None where no foot with markers on heel and toe is flat in these frames.
    """
    up = -np.asarray(model.gravity, dtype=float)
    if deviation <= 0 or not up.any():
        return None
    up = up / np.linalg.norm(up)
    height = recording.positions @ up
    body_height = _median_height(height)
    bodies, flat = [], []
    for body, rows in _foot_markers(model, recording.markers):
        on_floor = flat_frames(height[:, rows], body_height)
        if on_floor.sum() >= max(MIN_FLAT_FRAMES, MIN_FLAT_SHARE * len(on_floor)):
            bodies.append(body)
            flat.append(on_floor[frames])
    if not np.any(flat):
        return None
    mask = np.stack(flat, axis=1)
    weights = mask / (deviation * np.sqrt(np.maximum(mask.sum(0), 1)))
    stance = model.neutral()
    neutral = np.array([up @ orientation(model, stance, body) for body in bodies])
    return FootEvidence(model, tuple(bodies), up, neutral, weights)


def flat_frames(height: np.ndarray, body: np.ndarray) -> np.ndarray:
    """Frames in which a foot is flat on the floor.

    Args:
        height: (frames, markers), m: heights of the markers of the foot, the heel first; NaN where
            not seen.
        body: (frames,), m: height of the body.

    Returns:
        (frames,): mask; all false where one of the markers was never seen.
    """
    if not np.isfinite(height).any(0).all():
        return np.zeros(len(height), dtype=bool)
    lowest = np.nanpercentile(height, LOW_PERCENTILE, axis=0)
    low: np.ndarray = (height < lowest + MAX_LOW_HEIGHT_M).all(-1)
    if not low.any():
        return low
    low &= body > np.nanmax(body[low]) - MAX_CROUCH_M
    over_heel = height[:, 1:] - height[:, :1]
    usual = np.array([_half_sample_mode(column) for column in over_heel[low].T])
    flat: np.ndarray = low & (np.abs(over_heel - usual) < MAX_HEIGHT_DEVIATION_M).all(-1)
    return flat


def _median_height(height: np.ndarray) -> np.ndarray:
    """(frames,), m: median height of the markers (frames, markers); NaN where none was seen."""
    result = np.full(len(height), np.nan)
    seen = np.isfinite(height).any(1)
    result[seen] = np.nanmedian(height[seen], axis=1)
    return result


def _half_sample_mode(values: np.ndarray) -> float:
    """The most frequent of some values (Bickel and Fruehwirth 2006): halves that are narrowest."""
    values = np.sort(values)
    while len(values) > 2:
        half = (len(values) + 1) // 2
        widths = values[half - 1 :] - values[: len(values) - half + 1]
        first = int(np.argmin(widths))
        values = values[first : first + half]
    return float(values.mean())


def _foot_markers(model: Model, markers: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The body of each heel marker, with the rows of heel and forefoot markers of that side."""
    bodies = {marker.name: marker.body for marker in model.markers}
    places = [landmark(name) for name in markers]
    found = []
    for k, heel in enumerate(places):
        if heel.place == "heel" and heel.side:
            front = [
                i
                for i, other in enumerate(places)
                if other.side == heel.side and other.place in FOREFOOT_PLACES
            ]
            if front:
                found.append((bodies[markers[k]], [k, *front]))
    return found
