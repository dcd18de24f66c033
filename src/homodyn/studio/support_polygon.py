"""The polygon a body stands on: the convex hull of where its shapes of contact touch the ground."""

from __future__ import annotations

import numpy as np

from homodyn.report.posed_geometry import convex_outline
from homodyn.studio.body_geometry import BodyGeometry
from homodyn.studio.document import Actor, nearest_frame

MAX_CONTACT_HEIGHT_M = 0.025
"""Height (m) above the ground below which a place of contact counts as touching."""
MIN_LOADED_SHARE = 0.05
"""Share of the weight from which on a foot counts as loaded."""


def support_polygon(
    body_geometry: BodyGeometry, touching: np.ndarray, loaded: set[str] | None
) -> np.ndarray:
    """Corners (n, 2), m, in order, of the polygon under a body; n is below 3 where there is none.

    ``touching`` are the places of contact (points, 3); ``loaded`` names the bodies that the ground
    pushes, None where that is not known and height alone decides.
    """
    if not len(touching):
        return np.zeros((0, 2))
    heights = touching[:, 2]
    owners = [body for c in body_geometry.contacts for body in [c.body] * _points(c.kind)]
    if loaded is None:
        down = heights < MAX_CONTACT_HEIGHT_M
    else:
        down = np.zeros(len(touching), dtype=bool)
        for body in loaded:
            own = np.array([owner == body for owner in owners])
            if own.any():
                # A foot that rolls touches with its lowest part, wherever markers put the floor.
                down |= own & (heights < heights[own].min() + MAX_CONTACT_HEIGHT_M)
    spots = np.unique(touching[down, :2].round(5), axis=0)
    return convex_outline(spots) if len(spots) >= 3 else np.zeros((0, 2))


def loaded_bodies(actor: Actor, time: float) -> set[str] | None:
    """Bodies that the ground pushes at an instant (s); None where no forces are known."""
    if actor.loads is None or not actor.loads.feet or not actor.moving:
        return None
    frame = nearest_frame(actor.loads.motion.time, time)
    weight = actor.model.mass * float(np.linalg.norm(actor.model.gravity))
    return {
        foot.body
        for foot in actor.loads.feet
        if np.linalg.norm(foot.force[frame]) > MIN_LOADED_SHARE * weight
    }


def _points(kind: str) -> int:
    return {"box": 8, "line": 2, "capsule": 2}.get(kind, 1)
