"""Conversion of a model to Pinocchio: every joint axis becomes a Pinocchio joint."""

from __future__ import annotations

from typing import Any

import numpy as np

from homodyn.errors import HomodynError
from homodyn.model import Joint, Model
from homodyn.model.functions import IDENTITY
from homodyn.spatial import Transform


def pinocchio_tree(model: Model) -> Any:
    """The same tree in Pinocchio, with its simplest and fastest joints.

    Velocities and forces agree entry by entry. Joints with quaternions are kept; other joints
    become chains of revolute and prismatic joints with massless links.

    Args:
        model: The model.

    Returns:
        The Pinocchio model.

    Raises:
        HomodynError: A joint has no counterpart.
    """
    import pinocchio as pin

    peer = pin.Model()
    peer.gravity = pin.Motion(np.asarray(model.gravity), np.zeros(3))
    placements = {"world": (0, pin.SE3.Identity())}
    for joint, body in zip(model.joints, model.bodies, strict=True):
        index, at = placements[joint.parent]
        at = at * _placement(joint.placement)
        for name, kind in _joints(joint):
            index = peer.addJoint(index, kind, at, name)
            at = pin.SE3.Identity()
        at = at * _placement(joint.child_placement).inverse()
        placements[body.name] = (index, at)
        inertia = pin.Inertia(body.mass, np.asarray(body.com), np.asarray(body.inertia))
        peer.appendBodyToJoint(index, inertia, at)
        peer.addFrame(pin.Frame(body.name, index, at, pin.FrameType.BODY))
    for marker in model.markers:
        index, at = placements[marker.body]
        frame = at * pin.SE3(np.eye(3), np.asarray(marker.position))
        peer.addFrame(pin.Frame(marker.name, index, frame, pin.FrameType.OP_FRAME))
    peer.armature = np.array([coordinate.armature for coordinate in model.coordinates])
    return peer


def peer_positions(model: Model, q: np.ndarray) -> np.ndarray:
    """Positions in the convention of Pinocchio: quaternions with the scalar last.

    Args:
        model: The model.
        q: (..., nq), positions.

    Returns:
        (..., nq).
    """
    converted = q.copy()
    for joint, place in zip(model.joints, model.joint_slots, strict=True):
        if joint.quaternion:
            part = slice(place.q.stop - 4, place.q.stop)
            converted[..., part] = np.roll(q[..., part], -1, axis=-1)
    return converted


def _placement(placement: Transform) -> Any:
    import pinocchio as pin

    return pin.SE3(np.asarray(placement.E).T, np.asarray(placement.r))


def _joints(joint: Joint) -> list[tuple[str, Any]]:
    """Names and Pinocchio joints of one joint."""
    import pinocchio as pin

    if joint.kind == "free":
        return [(joint.name, pin.JointModelFreeFlyer())]
    if joint.kind == "spherical":
        return [(joint.name, pin.JointModelSpherical())]
    plain = {
        ("turn", 0): pin.JointModelRX,
        ("turn", 1): pin.JointModelRY,
        ("turn", 2): pin.JointModelRZ,
        ("slide", 0): pin.JointModelPX,
        ("slide", 1): pin.JointModelPY,
        ("slide", 2): pin.JointModelPZ,
    }
    converted = []
    for k, motion in enumerate(joint.axes):
        if motion.coordinate != k or motion.function != IDENTITY or motion.pitch:
            raise HomodynError(f"joint {joint.name!r} has no counterpart in Pinocchio")
        axis = np.asarray(motion.axis)
        along = int(np.argmax(np.abs(axis)))
        if axis[along] == 1.0:
            kind = plain[motion.kind, along]()
        elif motion.kind == "turn":
            kind = pin.JointModelRevoluteUnaligned(axis)
        else:
            kind = pin.JointModelPrismaticUnaligned(axis)
        converted.append((f"{joint.name}.{k}", kind))
    return converted
