"""Joints, coordinates and coordinate couplers as elements of OpenSim files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from homodyn.model.formats.osim_frames import GROUND
from homodyn.model.formats.osim_joint_stages import (
    JointStage,
    complete_axes,
    coordinates_of_stage,
    split_into_stages,
)
from homodyn.model.formats.osim_nodes import (
    body_fixed_angles,
    component,
    function_node,
    offset_frame,
    value,
)
from homodyn.model.formats.xml_write import XmlNode
from homodyn.model.functions import Constant
from homodyn.model.joint import WORLD, Coordinate, Coupler, Joint, JointAxis
from homodyn.model.joints import slide, turn
from homodyn.spatial import Transform

_BALL = (turn("x", 0), turn("y", 1), turn("z", 2))
_PURE_TYPES: dict[str, tuple[str, tuple[JointAxis, ...]]] = {
    "fixed": ("WeldJoint", ()),
    "revolute": ("PinJoint", (turn("z"),)),
    "prismatic": ("SliderJoint", (slide("x"),)),
    "universal": ("UniversalJoint", _BALL[:2]),
    "euler": ("GimbalJoint", _BALL),
}
"""Joint types of OpenSim that have exactly the axes of a type of ours."""


def angle_joint(joint: Joint) -> Joint:
    """The joint with body-fixed x, y, z angles in the place of a quaternion.

    The names of its coordinates stay. The defaults of a quaternion are a rotation vector; those of
    the result are angles.

    Args:
        joint: Any joint; one without a quaternion is returned as it is.
    """
    if not joint.quaternion:
        return joint
    first = joint.nv - 3
    vector = np.array([float(c.default) for c in joint.coordinates[first:]])
    angles = body_fixed_angles(Rotation.from_rotvec(vector).as_matrix().T)
    coordinates = list(joint.coordinates)
    for k, angle in enumerate(angles.tolist()):
        coordinates[first + k] = replace(coordinates[first + k], default=angle)
    slides = tuple(slide(letter, k) for k, letter in enumerate("xyz"[:first]))
    turns = tuple(replace(axis, coordinate=first + k) for k, axis in enumerate(_BALL))
    return replace(joint, kind="custom", coordinates=tuple(coordinates), axes=slides + turns)


def joint_nodes(joint: Joint) -> Iterator[tuple[XmlNode, str]]:
    """The elements of a joint, with the names of the massless bodies that they need.

    Args:
        joint: The joint, with any axes and functions.

    Yields:
        An element and the name of the massless body that it moves; empty for the child of the
        joint.

    Raises:
        FormatError: OpenSim has no such joint, or a name is not accepted.
    """
    pure = _PURE_TYPES.get(joint.kind)
    if pure is not None and joint.axes == pure[1]:
        yield _pure_joint(joint, pure[0]), ""
        return
    joint = angle_joint(joint)
    stages, backward = split_into_stages(joint)
    if backward:
        joint = replace(
            joint,
            parent=joint.child,
            child=joint.parent,
            placement=joint.child_placement,
            child_placement=joint.placement,
        )
    parent, placement = joint.parent, joint.placement
    for k, stage in enumerate(stages, 1):
        last = k == len(stages)
        child = joint.child if last else f"{joint.name}_{k}"
        name = joint.name if last else f"{joint.name}_part{k}"
        one = replace(
            joint,
            name=name,
            parent=parent,
            child=child,
            placement=placement,
            child_placement=joint.child_placement if last else Transform.identity(),
        )
        yield _custom_joint(one, stage), "" if last else child
        parent, placement = child, Transform.identity()


def stage_of_coordinates(joint: Joint) -> dict[str, str]:
    """The name of the joint of the file that each coordinate of a joint belongs to."""
    pure = _PURE_TYPES.get(joint.kind)
    if pure is not None and joint.axes == pure[1]:
        return {c.name: joint.name for c in joint.coordinates}
    joint = angle_joint(joint)
    stages, _ = split_into_stages(joint)
    return {
        c.name: joint.name if k == len(stages) else f"{joint.name}_part{k}"
        for k, stage in enumerate(stages, 1)
        for _, c in coordinates_of_stage(stage, joint)
    }


def coupler_node(coupler: Coupler) -> XmlNode:
    """The constraint by which a coordinate follows another."""
    return component(
        "CoordinateCouplerConstraint",
        f"{coupler.coordinate}_coupler",
        value("isEnforced", True),
        XmlNode("coupled_coordinates_function", {}, [function_node(coupler.function)]),
        value("independent_coordinate_names", coupler.of),
        value("dependent_coordinate_name", coupler.coordinate),
        value("scale_factor", 1.0),
    )


def _pure_joint(joint: Joint, tag: str) -> XmlNode:
    return component(tag, joint.name, *_sockets(joint), _coordinates(joint, joint.coordinates))


def _custom_joint(joint: Joint, stage: JointStage) -> XmlNode:
    if not stage.coordinates:
        return _pure_joint(_with_fixed_axes(joint, stage), "WeldJoint")
    names = [c.name for c in joint.coordinates]
    axes = [*_transform_axes("rotation", stage.turns, names)]
    axes += _transform_axes("translation", stage.slides, names)
    return component(
        "CustomJoint",
        joint.name,
        *_sockets(joint),
        _coordinates(joint, [c for _, c in coordinates_of_stage(stage, joint)]),
        XmlNode("SpatialTransform", {}, axes),
    )


def _with_fixed_axes(joint: Joint, stage: JointStage) -> Joint:
    """A weld with the displacements of axes that no coordinate drives."""
    placement = joint.placement
    for axis in (*stage.slides, *stage.turns):
        placement = axis.transform(axis.function.value(0.0)) @ placement
    return replace(joint, placement=placement, coordinates=(), axes=())


def _sockets(joint: Joint) -> list[XmlNode]:
    ends = (GROUND if name == WORLD else name for name in (joint.parent, joint.child))
    parent, child = (f"{name}_offset" for name in ends)
    return [
        value("socket_parent_frame", parent),
        value("socket_child_frame", child),
        XmlNode(
            "frames",
            {},
            [
                offset_frame(parent, joint.parent, joint.placement),
                offset_frame(child, joint.child, joint.child_placement),
            ],
        ),
    ]


def _transform_axes(kind: str, axes: list[JointAxis], names: list[str]) -> Iterator[XmlNode]:
    for k, direction in enumerate(complete_axes(axes)):
        axis = axes[k] if k < len(axes) else None
        function = Constant(0.0) if axis is None else axis.function
        if axis is not None and axis.coordinate is None:
            function = Constant(float(axis.function.value(0.0)))
        driver = "" if axis is None or axis.coordinate is None else names[axis.coordinate]
        yield component(
            "TransformAxis",
            f"{kind}{k + 1}",
            value("coordinates", driver),
            value("axis", direction),
            function_node(function, "function"),
        )


def _coordinates(joint: Joint, coordinates: list[Coordinate] | tuple[Coordinate, ...]) -> XmlNode:
    clamped = joint.notes.get("clamped", ())
    return XmlNode(
        "coordinates",
        {},
        [
            component(
                "Coordinate",
                c.name,
                value("default_value", c.default),
                value("range", [c.lower, c.upper]),
                value("clamped", c.name in clamped),
                value("locked", c.locked),
            )
            for c in coordinates
        ],
    )
