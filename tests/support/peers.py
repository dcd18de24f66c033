"""The same model in Pinocchio, built joint by joint from the records, without any file between."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from homodyn.model import Joint, Model
from homodyn.spatial import Transform


@dataclass
class Peer:
    """A Pinocchio model with the maps between both ways to write a state.

    Velocities and forces agree entry by entry: a free joint has linear before angular velocity in
    both. Quaternions are (w, x, y, z) here and (x, y, z, w) there.
    """

    model: Model
    pin: pin.Model
    data: pin.Data

    @staticmethod
    def of(model: Model) -> "Peer":
        return Peer(model, *_build(model))

    def q(self, q: np.ndarray) -> np.ndarray:
        there = q.copy()
        for joint, place in zip(self.model.joints, self.model.joint_slots, strict=True):
            if joint.quaternion:
                start = place.q.stop - 4
                there[start : start + 4] = np.roll(q[start : start + 4], -1)
        return there

    def forces(self, q: np.ndarray, external: dict[str, np.ndarray]) -> pin.StdVec_Force:
        """Wrenches (moment, force) in world axes at named frames, as Pinocchio wants them."""
        pin.framesForwardKinematics(self.pin, self.data, self.q(q))
        total = [pin.Force.Zero() for _ in range(self.pin.njoints)]
        for name, wrench in external.items():
            index = self.pin.getFrameId(name)
            joint = self.pin.frames[index].parentJoint
            at = pin.SE3(np.eye(3), self.data.oMf[index].translation)
            given = pin.Force(wrench[3:], wrench[:3])
            total[joint] += self.data.oMi[joint].actInv(at.act(given))
        result = pin.StdVec_Force()
        result.extend(total)
        return result


def _build(model: Model) -> tuple[pin.Model, pin.Data]:
    peer = pin.Model()
    peer.gravity = pin.Motion(np.asarray(model.gravity), np.zeros(3))
    carried = {"world": (0, pin.SE3.Identity())}
    for joint, body in zip(model.joints, model.bodies, strict=True):
        index, at = carried[joint.parent]
        at = at * _se3(joint.placement)
        if joint.nv:
            index = peer.addJoint(index, _joint(joint), at, joint.name)
            at = pin.SE3.Identity()
        at = at * _se3(joint.child_placement).inverse()
        carried[body.name] = (index, at)
        inertia = pin.Inertia(body.mass, np.asarray(body.com), np.asarray(body.inertia))
        peer.appendBodyToJoint(index, inertia, at)
        peer.addFrame(pin.Frame(body.name, index, at, pin.FrameType.OP_FRAME))
    for frame in model.frames:
        index, at = carried[frame.body]
        placed = at * _se3(frame.placement)
        peer.addFrame(pin.Frame(frame.name, index, placed, pin.FrameType.OP_FRAME))
    peer.armature = np.array([c.armature for c in model.coordinates])
    return peer, peer.createData()


def _se3(placement: Transform) -> pin.SE3:
    return pin.SE3(np.asarray(placement.E).T, np.asarray(placement.r))


def _joint(joint: Joint) -> pin.JointModel:
    if joint.kind == "free":
        return pin.JointModelFreeFlyer()
    if joint.kind == "spherical":
        return pin.JointModelSpherical()
    if joint.kind == "translation":
        return pin.JointModelTranslation()
    singles = [_single(motion) for motion in joint.axes]
    if len(singles) == 1:
        return singles[0]
    chain = pin.JointModelComposite()
    for single in singles:
        chain.addJoint(single)
    return chain


def _single(motion) -> pin.JointModel:
    axis = np.asarray(motion.axis)
    main = np.flatnonzero(axis == 1.0)
    if motion.kind == "slide":
        if main.size:
            return (pin.JointModelPX, pin.JointModelPY, pin.JointModelPZ)[main[0]]()
        return pin.JointModelPrismaticUnaligned(axis)
    if motion.pitch:
        return pin.JointModelHelicalUnaligned(axis, motion.pitch)
    if main.size:
        return (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)[main[0]]()
    return pin.JointModelRevoluteUnaligned(axis)
