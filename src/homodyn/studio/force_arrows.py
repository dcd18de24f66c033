"""Forces as arrows: from where they act, as long as they are strong."""

from __future__ import annotations

import numpy as np

from homodyn.motion import ForcePlate
from homodyn.report.replay import ARROW_LENGTH_M
from homodyn.studio.body_geometry import BodyGeometry
from homodyn.studio.document import Actor, nearest_frame

MIN_FORCE_SHARE = 0.02
"""Share of the weight below which a force is not drawn."""
DEFAULT_WEIGHT_N = 700.0
"""N: of a person nobody weighed."""


def weight_of(actor: Actor | None) -> float:
    """N: of a body, or of a usual person."""
    if actor is None or not np.any(actor.model.gravity):
        return DEFAULT_WEIGHT_N
    return float(actor.model.mass * np.linalg.norm(actor.model.gravity))


def contact_arrows(actor: Actor, body_geometry: BodyGeometry, time: float) -> np.ndarray:
    """(n, 2, 3), m, in our axes: what the ground does to a body at an instant (s)."""
    if actor.loads is None or not actor.moving:
        return np.zeros((0, 2, 3))
    frame = nearest_frame(actor.loads.motion.time, time)
    feet = actor.loads.feet
    points = np.array([foot.point[frame] for foot in feet]).reshape(-1, 3) @ body_geometry.turn.T
    forces = np.array([foot.force[frame] for foot in feet]).reshape(-1, 3) @ body_geometry.turn.T
    return _arrows(points, forces, weight_of(actor))


def plate_arrows(plates: tuple[ForcePlate, ...], time: float, weight: float) -> np.ndarray:
    """(n, 2, 3), m: what plates measured at an instant (s)."""
    loaded = [plate for plate in plates if len(plate.force)]
    frames = [nearest_frame(plate.time, time) for plate in loaded]
    points = np.array([p.point[k] for p, k in zip(loaded, frames, strict=True)]).reshape(-1, 3)
    forces = np.array([p.force[k] for p, k in zip(loaded, frames, strict=True)]).reshape(-1, 3)
    return _arrows(points, forces, weight)


def _arrows(points: np.ndarray, forces: np.ndarray, weight: float) -> np.ndarray:
    seen = np.isfinite(points).all(axis=1) & np.isfinite(forces).all(axis=1)
    seen &= np.linalg.norm(forces, axis=1) > MIN_FORCE_SHARE * weight
    start = points[seen]
    return np.stack([start, start + forces[seen] * ARROW_LENGTH_M / weight], axis=1)
