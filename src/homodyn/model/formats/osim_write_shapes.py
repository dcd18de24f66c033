"""Meshes and capsules as drawing shapes of OpenSim files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from homodyn.model.formats.osim_capsules import CAPSULE_END_ENDINGS, CAPSULE_ENDING
from homodyn.model.formats.osim_nodes import component, offset_frame, value
from homodyn.model.formats.xml_write import XmlNode
from homodyn.model.joint import is_identity
from homodyn.model.shapes import Capsule, Mesh
from homodyn.spatial import Transform

MIN_CAPSULE_RADIUS_M = 1e-6
"""OpenSim draws no shape without a size."""


def mesh_nodes(meshes: Iterable[Mesh], body: str) -> tuple[list[XmlNode], list[XmlNode]]:
    """Elements of the meshes in the frame of a body, and frames of those that are placed in it.

    Args:
        meshes: The meshes of the body.
        body: Name of the body.
    """
    own, frames = [], []
    for k, mesh in enumerate(meshes, 1):
        node = component(
            "Mesh",
            f"{body}_geom_{k}",
            value("socket_frame", ".."),
            value("scale_factors", mesh.scale),
            value("mesh_file", mesh.file),
        )
        if is_identity(mesh.placement):
            own.append(node)
        else:
            shown = XmlNode("attached_geometry", {}, [node])
            frames.append(offset_frame(f"{body}_geom_frame_{k}", body, mesh.placement, shown))
    return own, frames


def capsule_frames(capsule: Capsule) -> list[XmlNode]:
    """Frames with the shapes of a capsule: a sphere, or a cylinder about y and two spheres."""
    start, end = np.asarray(capsule.start, float), np.asarray(capsule.end, float)
    length = float(np.linalg.norm(end - start))
    radius = max(float(capsule.radius), MIN_CAPSULE_RADIUS_M)
    E = _rotation_with_y_along((end - start) / length) if length else np.eye(3)
    middle = f"{capsule.name}{CAPSULE_ENDING}"
    ball = component("Sphere", "sphere", value("socket_frame", ".."), value("radius", radius))
    if not length:
        return [_frame(middle, capsule.body, Transform(E, start), [ball])]
    tube = component(
        "Cylinder",
        "cylinder",
        value("socket_frame", ".."),
        value("radius", radius),
        value("half_height", length / 2),
    )
    ends = zip(CAPSULE_END_ENDINGS, (start, end), strict=True)
    return [
        _frame(middle, capsule.body, Transform(E, (start + end) / 2), [tube]),
        *(_frame(f"{capsule.name}{e}", capsule.body, Transform(E, r), [ball]) for e, r in ends),
    ]


def _frame(name: str, body: str, placement: Transform, shapes: Sequence[XmlNode]) -> XmlNode:
    return offset_frame(name, body, placement, XmlNode("attached_geometry", {}, list(shapes)))


def _rotation_with_y_along(direction: np.ndarray) -> np.ndarray:
    """A coordinate rotation, (3, 3), whose second axis is a unit vector."""
    across = np.cross(direction, np.eye(3)[np.argmin(np.abs(direction))])
    across = across / np.linalg.norm(across)
    return np.array([across, direction, np.cross(across, direction)])
