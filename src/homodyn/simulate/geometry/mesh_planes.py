"""Contact with meshes: the tangent planes of a mesh at the places that are nearest to a body.

Kernels are traced once, so they cannot search a mesh. Before each step ``coal`` finds the place of
the mesh that is nearest to each probe of a contact shape (Pan, Chitta and Manocha 2012); within the
step the mesh is the plane there. This is exact for flat faces, and of first order where the mesh
curves or a probe passes an edge. The planes are batch parameters of the kernel.

Shapes touch meshes with their probes: points and spheres with their center, lines and capsules also
with the place of their axis that is nearest, boxes with their corners only. A mesh must be closed:
the solid angle of its triangles tells inside from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from homodyn.dynamics.tree import Tree
from homodyn.errors import ModelError
from homodyn.motion import MeshObstacle
from homodyn.simulate.geometry.contact_geometry import ContactGeometry
from homodyn.simulate.geometry.contact_probes import contact_probes
from homodyn.simulate.geometry.distance_fields import GroundPart, MeshPlanes
from homodyn.spatial import Array
from homodyn.symbolic import Kernel, kernel

MIN_DISTANCE_M = 1e-9
"""Distance from the surface below which its normal is that of the triangle."""
INSIDE_WINDING_NUMBER = 0.5
EDGE_TOLERANCE = 1e-9
"""Barycentric coordinate below zero at which a place still counts as inside a triangle."""


def mesh_obstacles(geometry: ContactGeometry) -> list[MeshObstacle]:
    """The meshes among the obstacles of a geometry."""
    return [part for part in geometry.obstacles if isinstance(part, MeshObstacle)]


@dataclass(frozen=True, eq=False)
class _MeshProbe:
    """A probe of a contact shape, or the nearest place of its axis, and a mesh."""

    name: str
    mesh: int
    center: int
    """Index of the center, or of the first of the two ends of an axis."""
    axis: bool


class MeshQueries:
    """Finds the tangent planes of meshes for poses of a model.

    Args:
        geometry: A geometry with meshes.

    Raises:
        ImportError: The package coal is not installed.
    """

    def __init__(self, geometry: ContactGeometry) -> None:
        self._geometry = geometry
        meshes = mesh_obstacles(geometry)
        self._meshes = [_SearchedMesh(mesh) for mesh in meshes]
        self._probes: list[_MeshProbe] = []
        self._centers: list[tuple[int, Any]] = []
        for name in geometry.contacts or ():
            shape = next(one for one in geometry.model.contacts if one.name == name)
            body = geometry.model.body_names.index(shape.body)
            probes = contact_probes(shape, body)
            first = len(self._centers)
            self._centers += [(body, probe.center) for probe in probes]
            for k, mesh in enumerate(meshes):
                self._probes += [
                    _MeshProbe(plane_key(probe.name, mesh), k, first + i, False)
                    for i, probe in enumerate(probes)
                ]
                if shape.kind in ("line", "capsule"):
                    key = plane_key(f"{shape.name}.nearest", mesh)
                    self._probes.append(_MeshProbe(key, k, first, True))

    @property
    def names(self) -> list[str]:
        """Names of the batch parameters: five numbers for each probe and mesh."""
        return [f"{probe.name} {part}" for probe in self._probes for part in MeshPlanes.NUMBERS]

    @cached_property
    def _kernel(self) -> Kernel:
        model = self._geometry.model

        def centers(q: Array) -> Array:
            tree = Tree(model, q)
            points = [tree.placements[body].point_back(place) for body, place in self._centers]
            return ca.horzcat(*points).T

        size = (len(self._centers), 3)
        return kernel(centers, q=model.nq, outputs={"centers": size}, name="probes of meshes")

    def values(self, q: np.ndarray) -> np.ndarray:
        """The numbers of all planes at a pose, in the order of ``names``.

        Args:
            q: Positions, (nq,).

        Returns:
            (names,).
        """
        centers = self._kernel(q)
        rows = []
        for probe in self._probes:
            mesh, center = self._meshes[probe.mesh], centers[probe.center]
            fraction = 0.0
            if probe.axis:
                end = centers[probe.center + 1]
                fraction = mesh.nearest_fraction(center, end)
                center = (1 - fraction) * center + fraction * end
            normal, offset = mesh.tangent_plane(center)
            rows.append([*normal, offset, fraction])
        return np.array(rows).ravel()


def plane_key(probe: str, mesh: MeshObstacle) -> str:
    """Prefix of the batch parameters of a probe and a mesh."""
    return f"{probe} on {mesh.title}"


def bind_meshes(geometry: ContactGeometry, batch: Mapping[str, Array]) -> ContactGeometry:
    """The geometry with the tangent planes of a step.

    Args:
        geometry: A geometry.
        batch: Batch parameters by name, with those of `MeshQueries`.

    Returns:
        The geometry itself where it has no meshes, or the planes are not known.
    """
    if not mesh_obstacles(geometry):
        return geometry
    parts: list[GroundPart] = []
    for part in geometry.obstacles:
        if isinstance(part, MeshObstacle):
            key = f" on {part.title} "
            planes: dict[str, list[Array]] = {}
            for name, value in batch.items():
                if key in name:
                    planes.setdefault(name.split(key)[0], []).append(value)
            if not planes:
                return geometry
            parts.append(MeshPlanes(part, planes))
        else:
            parts.append(part)
    return replace(geometry, ground=tuple(parts))


class _SearchedMesh:
    """A mesh in the world with its bounding volumes."""

    def __init__(self, obstacle: MeshObstacle) -> None:
        try:
            import coal
        except ImportError:
            raise ImportError(
                f"contact with {obstacle.title} needs the package coal: pip install 'homodyn[plan]'"
            ) from None
        self._coal = coal
        triangles = obstacle.mesh
        vertices = obstacle.to_world(triangles.vertices)
        self._corners = vertices[triangles.faces]
        first, second = (self._corners[:, k] - self._corners[:, 0] for k in (1, 2))
        normals = np.cross(first, second)
        self._areas = np.linalg.norm(normals, axis=1)
        if not np.all(self._areas > 0):
            worst = int(np.argmin(self._areas))
            raise ModelError(f"{obstacle.title}: triangle {worst} has no area; remove it")
        self._normals = normals / self._areas[:, None]
        self._lower, self._upper = vertices.min(axis=0), vertices.max(axis=0)
        self._volumes = coal.BVHModelOBBRSS()
        self._volumes.beginModel(len(triangles.faces), len(vertices))
        points, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        for vertex in vertices:
            points.append(vertex)
        for face in triangles.faces:
            faces.append(coal.Triangle(*(int(k) for k in face)))
        self._volumes.addSubModel(points, faces)
        self._volumes.endModel()
        self._point = coal.Sphere(0.0)
        self._fixed = coal.Transform3s()

    def _nearest(self, shape: Any, placement: Any) -> tuple[float, np.ndarray, np.ndarray]:
        result = self._coal.DistanceResult()
        request = self._coal.DistanceRequest()
        distance = self._coal.distance(
            shape, placement, self._volumes, self._fixed, request, result
        )
        own, other = result.getNearestPoint1(), result.getNearestPoint2()
        return float(distance), np.array(own), np.array(other)

    def nearest_fraction(self, start: np.ndarray, end: np.ndarray) -> float:
        """Fraction of an axis, from its start, that is nearest to the mesh."""
        arm = end - start
        length = float(np.linalg.norm(arm))
        if length == 0:
            return 0.0
        placement = self._coal.Transform3s()
        placement.setTranslation((start + end) / 2)
        placement.setRotation(_rotation_to(arm / length))
        _, own, _ = self._nearest(self._coal.Capsule(0.0, length), placement)
        return float(np.clip((own - start) @ arm / length**2, 0.0, 1.0))

    def tangent_plane(self, point: np.ndarray) -> tuple[np.ndarray, float]:
        """Outward normal and offset of the plane n x = offset at the place nearest to a point."""
        placement = self._coal.Transform3s()
        placement.setTranslation(point)
        _, _, place = self._nearest(self._point, placement)
        arm = point - place
        distance = float(np.linalg.norm(arm))
        if distance < MIN_DISTANCE_M:
            normal = self._normals[self._triangle_at(point)]
        else:
            normal = arm / distance * (-1.0 if self._contains(point) else 1.0)
        return normal, float(normal @ place)

    def _contains(self, point: np.ndarray) -> bool:
        """Whether the solid angle of the triangles, over 4 pi, is that of a point inside."""
        if np.any(point < self._lower) or np.any(point > self._upper):
            return False
        a, b, c = (self._corners[:, k] - point for k in range(3))
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        sides = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
        winding = np.arctan2(volume, sides).sum() / (2 * np.pi)
        return bool(winding > INSIDE_WINDING_NUMBER)

    def _triangle_at(self, point: np.ndarray) -> int:
        """The triangle on which a point of the surface is."""
        corners = self._corners
        heights = np.abs(((point - corners[:, 0]) * self._normals).sum(1))
        inside = np.full(len(corners), np.inf)
        for k in range(3):
            edge = corners[:, (k + 1) % 3] - corners[:, k]
            part = (np.cross(edge, point - corners[:, k]) * self._normals).sum(1) / self._areas
            inside = np.minimum(inside, part)
        return int(np.argmin(np.where(inside >= -EDGE_TOLERANCE, heights, np.inf)))


def _rotation_to(direction: np.ndarray) -> np.ndarray:
    """A rotation matrix whose third column is a unit vector."""
    least = np.eye(3)[int(np.argmin(np.abs(direction)))]
    first = np.cross(least, direction)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(direction, first), direction])
