"""Point contacts and impacts of a whole body, against Pinocchio."""

import numpy as np
import pytest

from homodyn.dynamics import PointContact, constrained_dynamics, impact
from homodyn.dynamics.constraint_rows import constraint_bias, constraint_jacobian

pin = pytest.importorskip("pinocchio")

AGREEMENT = 1e-9
POINTS = (
    ("foot_right", (0.1, 0.02, -0.07)),
    ("foot_left", (-0.04, 0.0, -0.07)),
    ("head", (0, 0, 0.2)),
)


def same_tree(model):
    """The model in Pinocchio, joints of several axes as chains of bodies without mass."""
    result = pin.Model()
    result.gravity.linear = np.array(model.gravity)
    last = {"world": 0}
    single = {
        ("turn", 0): pin.JointModelRX,
        ("turn", 1): pin.JointModelRY,
        ("turn", 2): pin.JointModelRZ,
        ("slide", 0): pin.JointModelPX,
        ("slide", 1): pin.JointModelPY,
        ("slide", 2): pin.JointModelPZ,
    }
    for body, joint in zip(model.bodies, model.joints, strict=True):
        place = pin.SE3(joint.placement.E.T, joint.placement.r)
        parent = last[joint.parent]
        if joint.kind == "free":
            parent = result.addJoint(parent, pin.JointModelFreeFlyer(), place, joint.name)
        for k, motion in enumerate(joint.axes):
            kind = single[motion.kind, int(np.argmax(motion.axis))]
            parent = result.addJoint(parent, kind(), place, f"{joint.name} {k}")
            place = pin.SE3.Identity()
        inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.inertia))
        result.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        last[body.name] = parent
    return result, last


def contact_models(tree, last):
    """Its contacts at the points, in world axes."""
    created = []
    for body, point in POINTS:
        place = pin.SE3(np.eye(3), np.array(point, dtype=float))
        kind = pin.ContactType.CONTACT_3D
        created.append(
            pin.RigidConstraintModel(
                kind, tree, last[body], place, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )
        )
    return created


def arranged(model, q):
    """Positions in Pinocchio's order: quaternions have their real part last."""
    result = np.array(q)
    if model.joints[0].kind == "free":
        result[3:7] = q[[4, 5, 6, 3]]
    return result


@pytest.fixture(scope="module")
def contacts():
    first, *others = [PointContact(body, point) for body, point in POINTS]
    return first + others[0] + others[1]


def test_constrained_dynamics_agrees(person, kit, contacts):
    tree, last = same_tree(person)
    models = contact_models(tree, last)
    q, v, tau = kit.states(person, 5, 41, spread=0.4)
    ours = constrained_dynamics(person, q, v, tau, contacts)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 50)
    for k in range(len(q)):
        data, constraint_data = tree.createData(), [m.createData() for m in models]
        pin.initConstraintDynamics(tree, data, models, constraint_data)
        a = pin.constraintDynamics(
            tree, data, arranged(person, q[k]), v[k], tau[k], models, constraint_data, settings
        )
        scale = np.abs(a).max()
        assert np.abs(ours.acceleration[k] - a).max() < AGREEMENT * scale
        forces = np.array(data.lambda_c)
        assert np.abs(ours.force[k] - forces).max() < AGREEMENT * np.abs(forces).max()


def test_jacobian_and_bias_agree(person, kit, contacts):
    tree, last = same_tree(person)
    q, v, _ = kit.states(person, 3, 42, spread=0.4)
    G = constraint_jacobian(person, q, contacts)
    gamma = constraint_bias(person, q, v, contacts)
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for k in range(len(q)):
        ids = []
        for body, point in POINTS:
            place = pin.SE3(np.eye(3), np.array(point, dtype=float))
            frame = pin.Frame(f"{body} {k}", last[body], place, pin.FrameType.OP_FRAME)
            ids.append(tree.addFrame(frame))
        data = tree.createData()
        where = arranged(person, q[k])
        pin.forwardKinematics(tree, data, where, v[k], np.zeros(tree.nv))
        pin.updateFramePlacements(tree, data)
        pin.computeJointJacobians(tree, data, where)
        J = np.vstack([pin.getFrameJacobian(tree, data, i, axes)[:3] for i in ids])
        drift = [pin.getFrameClassicalAcceleration(tree, data, i, axes).linear for i in ids]
        np.testing.assert_allclose(G[k], J, atol=1e-12)
        np.testing.assert_allclose(gamma[k], -np.concatenate(drift), atol=1e-11)


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_impact_agrees(person, kit, contacts, restitution):
    tree, _ = same_tree(person)
    q, v, _ = kit.states(person, 3, 43, spread=0.4)
    ours = impact(person, q, v, contacts, restitution)
    G = constraint_jacobian(person, q, contacts)
    for k in range(len(q)):
        data = tree.createData()
        after = pin.impulseDynamics(
            tree, data, arranged(person, q[k]), v[k], G[k], restitution, 0.0
        )
        np.testing.assert_allclose(ours.velocity[k], after, rtol=1e-9, atol=1e-9)
