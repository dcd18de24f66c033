"""Where the drawn parts of a body are in our axes (Z up), for all frames in one batch.

One kernel gives every point: ends of the solid parts, joints, markers, places of contact and the
centre of mass. What does not change with the frame, radii and names, stands in the `Figure`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from homodyn import dynamics
from homodyn.dynamics.tree import Tree
from homodyn.model import WORLD, ContactShape, Model
from homodyn.motion.anatomical_axes import Axes
from homodyn.report.posed_geometry import contact_points
from homodyn.report.replay import BodyCapsule, body_capsules
from homodyn.spatial import Transform
from homodyn.studio.meshes import along, towards
from homodyn.symbolic import Kernel, kernel

THICKEST_JOINT = 0.035
"""Radius (m) of the ball drawn at a joint."""


@dataclass(frozen=True, eq=False)
class DrawnPoints:
    """Points of a body in our axes (m), one row a frame, in single precision."""

    ends: np.ndarray
    """(frames, sticks, 2, 3)."""
    joints: np.ndarray
    """(frames, joints, 3)."""
    markers: np.ndarray
    """(frames, markers, 3)."""
    touching: np.ndarray
    """(frames, points, 3): where shapes of contact may touch the ground."""
    com: np.ndarray
    """(frames, 3)."""

    def middles(self, row: int) -> np.ndarray:
        """(sticks, 3): middles of the solid parts."""
        return np.asarray(self.ends[row].mean(axis=1))

    def turns(self, row: int) -> np.ndarray:
        """(sticks, 4): their directions, as quaternions."""
        return along(self.ends[row, :, 1] - self.ends[row, :, 0])

    def domes(self, row: int) -> np.ndarray:
        """(2 sticks, 4): directions out of both ends of every solid part, as quaternions."""
        out = self.ends[row, :, 1] - self.ends[row, :, 0]
        out = np.where(
            out.any(axis=1, keepdims=True), out, np.array([0.0, 0.0, 1.0], dtype=np.float32)
        )
        return towards(np.stack([-out, out], axis=1).reshape(-1, 3))

    @property
    def caps(self) -> np.ndarray:
        """(frames, 2 sticks, 3): both ends of every solid part."""
        return self.ends.reshape(len(self.ends), -1, 3)


class BodyGeometry:
    """What is drawn of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model.at(model.parameter_values) if model.parameters else model
        self.turn = _world_rotation(self.model)
        """Rotation from the world of the model to ours."""
        self.sticks: tuple[BodyCapsule, ...] = body_capsules(self.model)
        self.bodies = tuple(stick.body for stick in self.sticks)
        self.radii = np.array([stick.radius for stick in self.sticks])
        self.lengths = np.array([np.linalg.norm(s.end - s.start) for s in self.sticks])
        self.joint_names = self.model.joint_names
        self.marker_names = tuple(marker.name for marker in self.model.markers)
        self.contacts = tuple(c for c in self.model.contacts if c.body != WORLD)
        self.sole = np.array([r for c in self.contacts for r in _contact_radii(c)])
        """How far (m) below its point each place of contact reaches."""

    @cached_property
    def _kernel(self) -> Kernel:
        model = self.model
        index = {name: place for place, name in enumerate(model.body_names)}
        still = Transform.identity()
        contact_spots = [
            (contact.body, spot)
            for contact in self.contacts
            for spot in contact_points(contact, Transform(contact.rotation, contact.position))
        ]

        def points(q: ca.SX) -> ca.SX:
            placed = Tree(model, q).placements

            def at(body: str, local: np.ndarray) -> ca.SX:
                place = still if body == WORLD else placed[index[body]]
                return ca.SX(place.point_back(local))

            rows = [at(s.body, end) for s in self.sticks for end in (s.start, s.end)]
            rows += [at(joint.child, joint.child_placement.r) for joint in model.joints]
            rows += [at(marker.body, marker.position) for marker in model.markers]
            rows += [at(body, spot) for body, spot in contact_spots]
            rows.append(ca.SX(dynamics.center_of_mass(model, q)))
            return ca.horzcat(*rows).T

        return kernel(points, q=model.nq)

    def poses(self, q: np.ndarray) -> DrawnPoints:
        """The points at poses (frames, nq), or at a single one."""
        rows = np.atleast_2d(np.asarray(q, dtype=float))
        points = np.asarray(self._kernel(rows)).reshape(len(rows), -1, 3) @ self.turn.T
        points = points.astype(np.float32)
        counts = (
            2 * len(self.sticks),
            len(self.joint_names),
            len(self.marker_names),
            len(self.sole),
        )
        ends, joints, markers, touching, com = np.split(points, np.cumsum(counts), axis=1)
        touching = touching - np.multiply.outer(self.sole, [0.0, 0.0, 1.0]).astype(np.float32)
        return DrawnPoints(ends.reshape(len(rows), -1, 2, 3), joints, markers, touching, com[:, 0])

    def thickness(self, body: str) -> float:
        """Radius (m) of the thickest part of a segment; 0 for what is no segment."""
        return max((s.radius for s in self.sticks if s.body == body), default=0.0)

    @property
    def joint_radius(self) -> float:
        """Of the balls at joints (m): as thick as a usual part is, but no thicker than a knee."""
        return float(min(1.02 * np.median(self.radii), THICKEST_JOINT)) if len(self.radii) else 0.02


@lru_cache(maxsize=32)
def body_geometry(model: Model) -> BodyGeometry:
    """What is drawn of a model; made once for each."""
    return BodyGeometry(model)


def _world_rotation(model: Model) -> np.ndarray:
    axes = Axes.of(model)
    return np.array([axes.forward, axes.left, axes.up])


def _contact_radii(contact: ContactShape) -> list[float]:
    """How far below each of its points a shape reaches (m)."""
    count = {"box": 8, "line": 2, "capsule": 2}.get(contact.kind, 1)
    return [float(contact.radius)] * count
