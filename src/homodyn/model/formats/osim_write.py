"""Writer of OpenSim models, file version 40000 (OpenSim 4.0 and later).

The world keeps the axes of the model. Joints become the joint types of OpenSim that have exactly
their axes, otherwise custom joints; a sequence of axes that no custom joint has becomes a chain
with massless bodies. Quaternions become body-fixed x, y, z angles, since OpenSim has no coordinates
for them. Capsules become drawing shapes (a cylinder and two spheres). What OpenSim lacks is left
out; see `OsimFormat.losses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from homodyn.errors import FormatError
from homodyn.model.body import Body
from homodyn.model.formats.files import write_text
from homodyn.model.formats.osim_frames import GROUND
from homodyn.model.formats.osim_nodes import component, object_set, offset_frame, socket, value
from homodyn.model.formats.osim_write_contacts import contact_force_nodes, sphere_node
from homodyn.model.formats.osim_write_joints import coupler_node, joint_nodes, stage_of_coordinates
from homodyn.model.formats.osim_write_muscles import (
    LIGAMENT_CLASSES,
    MUSCLE_CLASSES,
    ligament_node,
    muscle_node,
    spring_node,
    wrap_node,
)
from homodyn.model.formats.osim_write_shapes import capsule_frames, mesh_nodes
from homodyn.model.formats.plain import refuse_parameters
from homodyn.model.formats.xml_write import XmlNode, xml_text
from homodyn.model.joint import WORLD
from homodyn.model.model import Model

WRITTEN_VERSION = "40000"


def write_osim(model: Model, path: str | Path, *, like: str | Path | None = None) -> None:
    """Write a model as an OpenSim file.

    Args:
        model: The model.
        path: The file.
        like: OpenSim file whose contact forces between spheres and half spaces of the ground are
            kept, where the model has the spheres; models do not contain contact forces.

    Raises:
        FormatError: The model has parameters, a name that OpenSim does not accept, or a joint or
            function that OpenSim cannot express; or ``like`` cannot be read.
    """
    path = Path(path)
    refuse_parameters(model, path)
    try:
        document = _document(model, like)
    except FormatError as error:
        raise FormatError(str(error), str(path)) from None
    write_text(path, xml_text(document))


def _document(model: Model, like: str | Path | None) -> XmlNode:
    joints, massless = [], []
    for joint in model.joints:
        for node, between in joint_nodes(joint):
            joints.append(node)
            massless += [Body(between)] if between else []
    bodies = [_body_node(model, body) for body in (*model.bodies, *massless)]
    names = [node.attributes["name"] for node in (*bodies, *joints)]
    spheres = [sphere_node(c) for c in model.contacts if c.kind == "sphere"]
    half_spaces, contact_forces = contact_force_nodes(model, like)
    if any(names.count(f"{joint.name}_1") > 1 for joint in model.joints):
        raise FormatError("a massless body would have the name of another body; rename that")
    root = component(
        "Model",
        model.name.strip() and _legal_model_name(model.name),
        _ground_node(model),
        value("gravity", model.gravity),
        value("length_units", "meters"),
        value("force_units", "N"),
        object_set("BodySet", bodies),
        object_set("JointSet", joints),
        object_set("ConstraintSet", map(coupler_node, model.couplers)),
        object_set("ForceSet", [*_force_nodes(model), *contact_forces]),
        object_set("MarkerSet", _marker_nodes(model)),
        object_set("ContactGeometrySet", [*half_spaces, *spheres]),
    )
    return XmlNode("OpenSimDocument", {"Version": WRITTEN_VERSION}, [root])


def _legal_model_name(name: str) -> str:
    """The name of a model, with underscores for blanks and slashes."""
    return "".join("_" if letter in "/\\*+ \t\n" else letter for letter in name.strip())


def _body_node(model: Model, body: Body) -> XmlNode:
    I = np.asarray(body.inertia, dtype=float)
    entries = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return component(
        "Body",
        body.name,
        *_attached_nodes(model, body.name),
        value("mass", body.mass),
        value("mass_center", body.com),
        value("inertia", entries),
    )


def _ground_node(model: Model) -> XmlNode:
    return component("Ground", GROUND, *_attached_nodes(model, WORLD))


def _attached_nodes(model: Model, body: str) -> Iterator[XmlNode]:
    """Frames, drawing shapes and wrap objects of a body."""
    frames = [offset_frame(f.name, body, f.placement) for f in model.frames if f.body == body]
    meshes, mesh_frames = mesh_nodes([m for m in model.meshes if m.body == body], body)
    frames += mesh_frames
    for capsule in model.capsules:
        if capsule.body == body:
            frames += capsule_frames(capsule)
    if frames:
        yield XmlNode("components", {}, frames)
    if meshes:
        yield XmlNode("attached_geometry", {}, meshes)
    wraps = [wrap_node(wrap) for wrap in model.wraps if wrap.body == body]
    if wraps:
        yield XmlNode("WrapObjectSet", {"name": "wrapobjectset"}, [XmlNode("objects", {}, wraps)])


def _force_nodes(model: Model) -> Iterator[XmlNode]:
    paths = {
        name: f"/jointset/{joint_name}/{name}"
        for joint in model.joints
        for name, joint_name in stage_of_coordinates(joint).items()
    }
    for muscle in model.muscles:
        if muscle.kind in MUSCLE_CLASSES:
            yield muscle_node(muscle, paths)
    for ligament in model.ligaments:
        if ligament.kind in LIGAMENT_CLASSES:
            yield ligament_node(ligament, paths)
    for joint in model.joints:
        for coordinate in joint.coordinates:
            spring = spring_node(coordinate)
            if spring is not None:
                yield spring


def _marker_nodes(model: Model) -> Iterable[XmlNode]:
    for marker in model.markers:
        yield component(
            "Marker",
            marker.name,
            socket("parent_frame", marker.body),
            value("location", marker.position),
            None if marker.fixed is None else value("fixed", marker.fixed),
        )
