"""The support polygon: the convex hull of the contact points that touch the ground."""

from __future__ import annotations

import numpy as np

from homodyn.motion import STANCE_THRESHOLD
from homodyn.report.posed_geometry import convex_outline
from homodyn.studio.body_geometry import BodyGeometry
from homodyn.studio.document import Actor, nearest_frame

MAX_CONTACT_HEIGHT_M = 0.025
"""Height (m) above the ground below which a contact point counts as touching."""
MIN_LOADED_SHARE = 0.05
"""Share of the body weight above which a foot counts as loaded."""


def support_polygon(
    body_geometry: BodyGeometry, touching: np.ndarray, loaded: set[str] | None
) -> np.ndarray:
    """Vertices (n, 2), m, in order, of the polygon under a body; n is 0 if there is none.

    Args:
        body_geometry: The geometry of the body.
        touching: (points, 3), m: the contact points.
        loaded: Names of the bodies on which the ground exerts a force; None if unknown, then the
            height alone decides.
    """
    if not len(touching):
        return np.zeros((0, 2))
    heights = touching[:, 2]
    owners = [body for c in body_geometry.contacts for body in [c.body] * _point_count(c.kind)]
    if loaded is None:
        down = heights < MAX_CONTACT_HEIGHT_M
    else:
        down = np.zeros(len(touching), dtype=bool)
        for body in loaded:
            own = np.array([owner == body for owner in owners])
            if own.any():
                # The lowest part of a rolling foot touches, whatever height the markers give it.
                down |= own & (heights < heights[own].min() + MAX_CONTACT_HEIGHT_M)
    points = np.unique(touching[down, :2].round(5), axis=0)
    return convex_outline(points) if len(points) >= 3 else np.zeros((0, 2))


def loaded_bodies(actor: Actor, time: float) -> set[str] | None:
    """Bodies on which the ground exerts a force at an instant (s); None if forces are unknown."""
    if actor.loads is None or not actor.loads.feet or not actor.moving:
        return None
    frame = nearest_frame(actor.loads.motion.time, time)
    weight = actor.model.mass * float(np.linalg.norm(actor.model.gravity))
    threshold = STANCE_THRESHOLD.for_weight(weight)
    return {foot.body for foot in actor.loads.feet if threshold.in_contact(foot.force[frame])}


def _point_count(kind: str) -> int:
    return {"box": 8, "line": 2, "capsule": 2}.get(kind, 1)
