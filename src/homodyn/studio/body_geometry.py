"""Positions of the drawn parts of a body in world axes (Z up), for all frames in one batch.

One kernel computes all points: ends of the capsules, joints, markers, contact points and the center
of mass. Quantities that do not depend on the frame, such as radii and names, are attributes of
`BodyGeometry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np
from scipy.spatial.transform import Rotation

from homodyn import dynamics
from homodyn.dynamics.tree import Tree
from homodyn.model import WORLD, ContactShape, Model
from homodyn.motion.anatomical_axes import Axes
from homodyn.report.bone_surfaces import BoneSurface, bone_surfaces
from homodyn.report.posed_geometry import contact_points, marker_sides
from homodyn.report.replay import BodyCapsule, body_capsules
from homodyn.spatial import Transform
from homodyn.studio.meshes import axial_rotation, directed_rotation
from homodyn.studio.muscle_lines import muscle_segments
from homodyn.symbolic import Kernel, kernel

MAX_JOINT_RADIUS_M = 0.035
"""Largest radius (m) of the ball that represents a joint."""


@dataclass(frozen=True, eq=False)
class DrawnPoints:
    """Points of a body (m), one row per frame, in single precision."""

    ends: np.ndarray
    """(frames, capsules, 2, 3)."""
    joints: np.ndarray
    """(frames, joints, 3)."""
    markers: np.ndarray
    """(frames, markers, 3)."""
    touching: np.ndarray
    """(frames, points, 3): lowest points of the contact shapes."""
    com: np.ndarray
    """(frames, 3)."""
    muscles: np.ndarray
    """(frames, segments, 2, 3): straight parts of the paths of muscles."""
    bones: np.ndarray
    """(frames, surfaces, 4, 3): origins of the bodies of bone surfaces, and ends of their axes."""

    def centers(self, row: int) -> np.ndarray:
        """(capsules, 3), m: centers of the capsules."""
        return np.asarray(self.ends[row].mean(axis=1))

    def rotations(self, row: int) -> np.ndarray:
        """(capsules, 4): orientations of the capsules, as quaternions."""
        return axial_rotation(self.ends[row, :, 1] - self.ends[row, :, 0])

    def cap_rotations(self, row: int) -> np.ndarray:
        """(2 capsules, 4): outward directions at both ends of every capsule, as quaternions."""
        out = self.ends[row, :, 1] - self.ends[row, :, 0]
        out = np.where(
            out.any(axis=1, keepdims=True), out, np.array([0.0, 0.0, 1.0], dtype=np.float32)
        )
        return directed_rotation(np.stack([-out, out], axis=1).reshape(-1, 3))

    def bone_rotations(self, row: int) -> np.ndarray:
        """(surfaces, 4): orientations of the bodies of bone surfaces, as quaternions."""
        axes = self.bones[row, :, 1:] - self.bones[row, :, :1]
        if not len(axes):
            return np.zeros((0, 4))
        turned = Rotation.from_matrix(axes.transpose(0, 2, 1).astype(float))
        return np.asarray(turned.as_quat(scalar_first=True))

    @property
    def caps(self) -> np.ndarray:
        """(frames, 2 capsules, 3), m: both ends of every capsule."""
        return self.ends.reshape(len(self.ends), -1, 3)


class BodyGeometry:
    """The drawn parts of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model.at(model.parameter_values) if model.parameters else model
        self.rotation = _world_rotation(self.model)
        """(3, 3): rotation from the world of the model to the axes of the scene."""
        self.capsules: tuple[BodyCapsule, ...] = body_capsules(self.model)
        self.bodies = tuple(capsule.body for capsule in self.capsules)
        self.radii = np.array([capsule.radius for capsule in self.capsules])
        self.lengths = np.array([np.linalg.norm(c.end - c.start) for c in self.capsules])
        self.joint_names = self.model.joint_names
        self.marker_names = tuple(marker.name for marker in self.model.markers)
        sides = marker_sides(self.model, self.marker_names)
        self.marker_sides = tuple(sides[name] for name in self.marker_names)
        """``"left"``, ``"right"`` or ``"middle"`` of each marker."""
        self.contacts = tuple(c for c in self.model.contacts if c.body != WORLD)
        self.bones: tuple[BoneSurface, ...] = bone_surfaces(model).surfaces
        """Surfaces of bodies whose files are at hand, in the axes of their bodies."""
        self.contact_radii = np.array([r for c in self.contacts for r in _contact_radii(c)])
        """Distance (m) from each contact point down to the lowest point of its shape."""

    @cached_property
    def _kernel(self) -> Kernel:
        model = self.model
        index = {name: k for k, name in enumerate(model.body_names)}
        identity = Transform.identity()
        contact_positions = [
            (contact.body, position)
            for contact in self.contacts
            for position in contact_points(contact, Transform(contact.rotation, contact.position))
        ]

        def points(q: ca.SX) -> ca.SX:
            placements = Tree(model, q).placements

            def world_point(body: str, local: np.ndarray) -> ca.SX:
                placement = identity if body == WORLD else placements[index[body]]
                return ca.SX(placement.point_back(local))

            rows = [world_point(c.body, end) for c in self.capsules for end in (c.start, c.end)]
            rows += [world_point(joint.child, joint.child_placement.r) for joint in model.joints]
            rows += [world_point(marker.body, marker.position) for marker in model.markers]
            rows += [world_point(body, position) for body, position in contact_positions]
            rows += [
                world_point(bone.body, end)
                for bone in self.bones
                for end in (np.zeros(3), *np.eye(3))
            ]
            rows.append(ca.SX(dynamics.center_of_mass(model, q)))
            return ca.horzcat(*rows).T

        return kernel(points, q=model.nq)

    def poses(self, q: np.ndarray) -> DrawnPoints:
        """The points in poses ``q``, (frames, nq) or (nq,)."""
        rows = np.atleast_2d(np.asarray(q, dtype=float))
        points = np.asarray(self._kernel(rows)).reshape(len(rows), -1, 3) @ self.rotation.T
        points = points.astype(np.float32)
        counts = (
            2 * len(self.capsules),
            len(self.joint_names),
            len(self.marker_names),
            len(self.contact_radii),
            4 * len(self.bones),
        )
        ends, joints, markers, touching, bones, com = np.split(points, np.cumsum(counts), axis=1)
        down = np.multiply.outer(self.contact_radii, [0.0, 0.0, 1.0]).astype(np.float32)
        muscles = (muscle_segments(self.model, rows) @ self.rotation.T).astype(np.float32)
        return DrawnPoints(
            ends.reshape(len(rows), -1, 2, 3),
            joints,
            markers,
            touching - down,
            com[:, 0],
            muscles,
            bones.reshape(len(rows), -1, 4, 3),
        )

    def thickness(self, body: str) -> float:
        """Radius (m) of the thickest capsule of a body; 0 for other names."""
        return max((c.radius for c in self.capsules if c.body == body), default=0.0)

    @property
    def joint_radius(self) -> float:
        """Radius (m) of the balls at joints: that of a typical capsule, within a limit."""
        if not len(self.radii):
            return 0.02
        return float(min(1.02 * np.median(self.radii), MAX_JOINT_RADIUS_M))


def body_geometry(model: Model) -> BodyGeometry:
    """The geometry of a model, computed once per model and place of its mesh files."""
    return _body_geometry(model, tuple(mesh.folder for mesh in model.meshes))


@lru_cache(maxsize=32)
def _body_geometry(model: Model, folders: tuple[str, ...]) -> BodyGeometry:
    return BodyGeometry(model)


def _world_rotation(model: Model) -> np.ndarray:
    axes = Axes.of(model)
    return np.array([axes.forward, axes.left, axes.up])


def _contact_radii(contact: ContactShape) -> list[float]:
    """Radius (m) of a contact shape for each of its points."""
    count = {"box": 8, "line": 2, "capsule": 2}.get(contact.kind, 1)
    return [float(contact.radius)] * count
