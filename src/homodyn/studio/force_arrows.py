"""Forces as arrows: from their points of application, with a length proportional to the force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.motion import ForcePlate
from homodyn.report.replay import ARROW_LENGTH_M
from homodyn.studio.body_geometry import BodyGeometry
from homodyn.studio.document import Actor, nearest_frame

MIN_FORCE_SHARE = 0.02
"""Share of the body weight below which a force is not drawn."""
DEFAULT_WEIGHT_N = 700.0
"""Weight (N) that scales the arrows when no body is open."""


@dataclass(frozen=True, eq=False)
class ForceArrows:
    """Arrows, and the side of the body that each acts on."""

    ends: np.ndarray
    """(n, 2, 3), m: start and tip."""
    sides: tuple[str, ...]
    """``"right"``, ``"left"`` or ``"middle"``, (n)."""


def weight_of(actor: Actor | None) -> float:
    """Weight (N) of a body; `DEFAULT_WEIGHT_N` without a body or without gravity."""
    if actor is None or not np.any(actor.model.gravity):
        return DEFAULT_WEIGHT_N
    return float(actor.model.mass * np.linalg.norm(actor.model.gravity))


def contact_arrows(actor: Actor, body_geometry: BodyGeometry, time: float) -> ForceArrows:
    """Forces of the ground on a body at an instant (s), in the axes of the scene."""
    if actor.loads is None or not actor.moving:
        return ForceArrows(np.zeros((0, 2, 3)), ())
    frame = nearest_frame(actor.loads.motion.time, time)
    feet = actor.loads.feet
    rotation = body_geometry.rotation.T
    points = np.array([foot.point[frame] for foot in feet]).reshape(-1, 3) @ rotation
    forces = np.array([foot.force[frame] for foot in feet]).reshape(-1, 3) @ rotation
    sides = [str(foot.side or "middle") for foot in feet]
    return scaled_arrows(points, forces, sides, weight_of(actor))


def plate_arrows(plates: Sequence[ForcePlate], time: float, weight: float) -> ForceArrows:
    """Forces that plates measured at an instant (s); ``weight`` (N) scales their length."""
    recorded = [plate for plate in plates if len(plate.force)]
    frames = [nearest_frame(plate.time, time) for plate in recorded]
    points = np.array([p.point[k] for p, k in zip(recorded, frames, strict=True)]).reshape(-1, 3)
    forces = np.array([p.force[k] for p, k in zip(recorded, frames, strict=True)]).reshape(-1, 3)
    return scaled_arrows(points, forces, ["middle"] * len(recorded), weight)


def scaled_arrows(
    points: np.ndarray, forces: np.ndarray, sides: Sequence[str], weight: float
) -> ForceArrows:
    """Arrows of forces (n, 3), N, at points (n, 3), m; small and unknown forces are left out."""
    visible = np.isfinite(points).all(axis=1) & np.isfinite(forces).all(axis=1)
    visible &= np.linalg.norm(forces, axis=1) > MIN_FORCE_SHARE * weight
    start = points[visible]
    ends = np.stack([start, start + forces[visible] * ARROW_LENGTH_M / weight], axis=1)
    return ForceArrows(ends, tuple(s for s, shown in zip(sides, visible, strict=True) if shown))
