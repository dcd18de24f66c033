"""Feet flat on the floor as evidence for the poses of a calibration.

Offsets of the heel and toe markers and the zero of the ankle trade against each other: heel up and
toe down by a centimeter each rotate the foot by five degrees. The soles decide between them. Models
stand with flat feet in their neutral pose, and a foot whose heel and toe are both at their lowest
is flat on a level floor.
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
MAX_FLAT_HEIGHT_M = 0.01
"""Height (m) of a marker above its lowest below which its part of the foot is on the floor."""
MIN_FLAT_SHARE = 0.1
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
    bodies, flat = [], []
    for body, rows in _foot_markers(model, recording.markers):
        height = recording.positions[:, rows] @ up
        if not np.isfinite(height).any(0).all():
            continue
        above = height - np.nanpercentile(height, LOW_PERCENTILE, axis=0)
        on_floor = (above < MAX_FLAT_HEIGHT_M).all(-1)
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
