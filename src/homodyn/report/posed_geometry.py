"""The geometry of a drawing: positions of the parts of a model in a pose, and outlines on a plane.

Up is opposite to gravity. Forward is the horizontal part of x, or of y where x points up; left
follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from homodyn.catalog.standing_height import placements
from homodyn.model import WORLD, ContactShape, Model
from homodyn.model.side import side_of
from homodyn.motion.anatomical_axes import Axes
from homodyn.spatial import Transform

HALF_CIRCLE_POINTS = 24
"""Points of a half circle."""


@dataclass(frozen=True)
class PosedCapsule:
    """A segment from ``start`` to ``end`` in the world (m), swept by ``radius``, and its body."""

    body: str
    start: np.ndarray
    end: np.ndarray
    radius: float


@dataclass(frozen=True)
class PosedGeometry:
    """A model in one pose: points of its parts in the world (m)."""

    axes: Axes
    bodies: dict[str, Transform]
    joints: dict[str, np.ndarray]
    bones: list[tuple[str, np.ndarray, np.ndarray]]
    capsules: list[PosedCapsule]
    markers: dict[str, np.ndarray]
    contacts: list[tuple[ContactShape, Transform]]
    com: np.ndarray
    sides: dict[str, str]
    """Side of each body: ``"left"``, ``"right"`` or ``"middle"``."""
    marker_sides: dict[str, str]

    @property
    def points(self) -> np.ndarray:
        """(n, 3), m: points whose bounding box contains everything that is drawn."""
        corners = [self.com, *self.joints.values(), *self.markers.values()]
        for solid in self.capsules:
            for end, sign in product((solid.start, solid.end), (-1.0, 1.0)):
                corners.append(end + sign * solid.radius)
        for contact, place in self.contacts:
            ends = contact_points(contact, place)
            corners += [*(ends - contact.radius), *(ends + contact.radius)]
        return np.array(corners)


def geometry_at_pose(model: Model, q: np.ndarray) -> PosedGeometry:
    """Positions of all parts in the pose ``q`` (nq); parameters have their default values."""
    if model.parameters:
        model = model.at(model.parameter_values)
    axes = Axes.of(model)
    bodies = _bodies(model, q)
    joints = {
        joint.name: bodies[joint.child].point_back(joint.child_placement.r)
        for joint in model.joints
    }
    own = {joint.child: joints[joint.name] for joint in model.joints}
    bones = [
        (joint.parent, own[joint.parent], joints[joint.name])
        for joint in model.joints
        if joint.parent != WORLD
    ]
    carriers = {bone[0] for bone in bones}
    covered = {capsule.body for capsule in model.capsules}
    for body in model.bodies:
        if body.name not in carriers and body.name not in covered and body.mass > 0:
            bones.append((body.name, own[body.name], bodies[body.name].point_back(body.com)))
    everywhere = {**bodies, WORLD: Transform.identity()}
    mass = sum(body.mass for body in model.bodies)
    moment = sum(body.mass * bodies[body.name].point_back(body.com) for body in model.bodies)
    return PosedGeometry(
        axes,
        bodies,
        joints,
        bones,
        [
            PosedCapsule(
                capsule.body,
                everywhere[capsule.body].point_back(capsule.start),
                everywhere[capsule.body].point_back(capsule.end),
                float(capsule.radius),
            )
            for capsule in model.capsules
        ],
        {m.name: everywhere[m.body].point_back(m.position) for m in model.markers},
        [(c, Transform(c.rotation, c.position) @ everywhere[c.body]) for c in model.contacts],
        moment / mass if mass > 0 else next(iter(joints.values())),
        body_sides(model),
        marker_sides(model, [marker.name for marker in model.markers]),
    )


def _bodies(model: Model, q: np.ndarray) -> dict[str, Transform]:
    placed = [body for _, body in placements(model, np.asarray(q, dtype=float))]
    return dict(zip(model.body_names, placed, strict=True))


@lru_cache(maxsize=32)
def body_sides(model: Model) -> dict[str, str]:
    """``"left"``, ``"right"`` or ``"middle"`` for each body, by its place in the neutral pose."""
    if model.parameters:
        model = model.at(model.parameter_values)
    axes = Axes.of(model)
    bodies = _bodies(model, model.neutral())
    centers = {body.name: bodies[body.name].point_back(body.com) for body in model.bodies}
    lateral = {name: float(center @ axes.left) for name, center in centers.items()}
    root = lateral[model.body_names[0]]
    height = np.ptp(np.array(list(centers.values())) @ axes.up) or 1.0
    margin = 0.015 * height
    return {
        name: "left" if y - root > margin else "right" if root - y > margin else "middle"
        for name, y in lateral.items()
    }


def marker_sides(model: Model, names: Iterable[str]) -> dict[str, str]:
    """``"left"``, ``"right"`` or ``"middle"`` for each marker.

    The side of its body decides; for markers in the middle and for those that the model does not
    have, the side that the name states.
    """
    sides = body_sides(model)
    bodies = {marker.name: marker.body for marker in model.markers}
    found = {}
    for name in names:
        side = sides.get(bodies.get(name, ""), "middle")
        found[name] = side if side != "middle" else str(side_of(name) or "middle")
    return found


def capsule_outline(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """(n, 2): outline of a capsule between two points of a plane: two half circles."""
    along = end - start
    angle = np.arctan2(along[1], along[0]) if along.any() else 0.0
    arc = np.linspace(-np.pi / 2, np.pi / 2, HALF_CIRCLE_POINTS)
    caps = [
        center + radius * np.column_stack([np.cos(arc + turn), np.sin(arc + turn)])
        for center, turn in ((end, angle), (start, angle + np.pi))
    ]
    return np.vstack(caps)


def convex_outline(points: np.ndarray) -> np.ndarray:
    """(n, 2): convex hull of points of a plane, in order; the points themselves if degenerate."""
    try:
        return points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        return points


def contact_points(contact: ContactShape, place: Transform) -> np.ndarray:
    """(n, 3), m, world: the points that span a contact: one, two ends, or eight corners."""
    half = np.asarray(contact.half_size, dtype=float)
    if contact.kind == "box":
        corners = np.array(list(product((-1.0, 1.0), repeat=3))) * half
    elif contact.kind in ("line", "capsule"):
        corners = np.array([[-half[0], 0.0, 0.0], [half[0], 0.0, 0.0]])
    else:
        corners = np.zeros((1, 3))
    return np.array([place.point_back(corner) for corner in corners])
