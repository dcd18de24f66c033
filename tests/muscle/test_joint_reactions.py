"""Joint reactions against Newton and Euler body by body, and against OpenSim."""

import numpy as np
import pytest

import homodyn as hd
from homodyn import dynamics
from support import muscled_leg
from support.opensim_walks import load_walk, read_columns, rows_of, run_opensim, write_table

GRAVITY = 9.80665


@pytest.fixture(scope="module")
def leg():
    return muscled_leg.build()


@pytest.fixture(scope="module")
def loads(leg):
    return muscled_leg.loads(muscled_leg.swing(leg))


def required_wrench(model, motion, bodies, point):
    """Force and moment about a moving point (frames, 3) that move bodies and carry their weight."""
    force, moment = np.zeros((2, motion.frames, 3))
    state = (model, motion.q, motion.v)
    for name in bodies:
        body = model.body(name)
        center = dynamics.position(model, motion.q, name, body.com)
        acceleration = dynamics.acceleration(*state, motion.a, name, body.com)
        turn = dynamics.orientation(model, motion.q, name)
        inertia = turn @ np.array(body.inertia, dtype=float) @ np.swapaxes(turn, 1, 2)
        w = dynamics.angular_velocity(*state, name)
        spin = dynamics.angular_acceleration(*state, motion.a, name)
        total = body.mass * (acceleration - np.array(model.gravity))
        euler = np.einsum("fab,fb->fa", inertia, spin)
        euler += np.cross(w, np.einsum("fab,fb->fa", inertia, w))
        force += total
        moment += np.cross(center - point, total) + euler
    return force, moment


def muscle_wrench(model, motion, forces, bodies, point):
    """Force and moment of muscles on straight lines on some bodies."""
    force, moment = np.zeros((2, motion.frames, 3))
    for k, muscle in enumerate(model.muscles):
        ends = [
            np.broadcast_to(p.position, point.shape)
            if p.body == "world"
            else dynamics.position(model, motion.q, p.body, p.position)
            for p in muscle.points
        ]
        along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0], axis=1)[:, None]
        for end, body, sign in zip(ends, (p.body for p in muscle.points), (1, -1), strict=True):
            if body in bodies:
                pull = sign * forces[:, k, None] * along
                force += pull
                moment += np.cross(end - point, pull)
    return force, moment


@pytest.mark.parametrize(("joint", "bodies"), [("knee", ["shank"]), ("hip", ["thigh", "shank"])])
def test_reactions_are_what_muscles_leave_of_the_inertia(leg, loads, joint, bodies):
    motion = loads.motion
    forces = np.random.default_rng(1).uniform(0, 800, (motion.frames, len(leg.muscles)))
    found = hd.muscle.joint_reactions(loads, forces, joints=[joint], frame="ground")
    point = dynamics.position(leg, motion.q, bodies[0])
    needed = required_wrench(leg, motion, bodies, point)
    pulled = muscle_wrench(leg, motion, forces, bodies, point)
    np.testing.assert_allclose(found.force[:, 0], needed[0] - pulled[0], atol=1e-7)
    np.testing.assert_allclose(found.moment[:, 0], needed[1] - pulled[1], atol=1e-7)


def test_moments_about_the_axes_are_torques_that_muscles_do_not_produce(leg, loads):
    result = hd.muscle.static_optimization(loads.motion, loads)
    found = hd.muscle.joint_reactions(result)
    about_axes = found.moment[:, :, 1]
    np.testing.assert_allclose(about_axes, result.reserves, atol=1e-6)
    bare = hd.muscle.joint_reactions(loads)
    np.testing.assert_allclose(bare.moment[:, :, 1], loads.tau, atol=1e-9)
    assert found.per_weight.max() > bare.per_weight.max()


def test_the_parent_feels_the_opposite(leg, loads):
    child = hd.muscle.joint_reactions(loads, frame="ground", on="child")
    parent = hd.muscle.joint_reactions(loads, frame="ground", on="parent")
    # The joint frames of both bodies have the same origin here.
    np.testing.assert_allclose(parent.force, -child.force)
    np.testing.assert_allclose(parent.moment, -child.moment, atol=1e-9)


@pytest.mark.parametrize("frame", ["parent", "child"])
def test_frames_turn_the_components(leg, loads, frame):
    ground = hd.muscle.joint_reactions(loads, frame="ground", joints=["knee"])
    turned = hd.muscle.joint_reactions(loads, frame=frame, joints=["knee"])
    body = {"parent": "thigh", "child": "shank"}[frame]
    axes = dynamics.orientation(leg, loads.motion.q, body)
    np.testing.assert_allclose(
        np.einsum("fab,fb->fa", axes, turned.force[:, 0]), ground.force[:, 0], atol=1e-9
    )
    np.testing.assert_allclose(turned.per_weight, ground.per_weight)


def test_ground_forces_reach_the_joints_they_pass(human, human_loads):
    reactions = hd.muscle.joint_reactions(human_loads, frame="ground")
    foot = human_loads.feet[0]
    joint = next(j.name for j in human.joints if j.child == foot.body)
    ankle = reactions.force[:, reactions.joint(joint)]
    body = human.body(foot.body)
    assert np.linalg.norm(ankle + foot.force, axis=1).max() < 1.5 * body.mass * GRAVITY


@pytest.fixture(scope="module")
def human():
    return hd.catalog.heiman(height=1.75, mass=70)


@pytest.fixture(scope="module")
def human_loads(human):
    """Standing on the right foot, whose force is the weight."""
    time = np.linspace(0, 0.2, 5)
    motion = hd.motion.motion_from_poses(human, time, np.tile(human.neutral(), (5, 1)))
    name = next(b for b in human.body_names if "foot" in b.lower() and "right" in b.lower())
    force = np.tile(-human.mass * np.array(human.gravity), (5, 1))
    point = dynamics.position(human, motion.q, name)
    foot = hd.motion.ContactForce(name, "right", force, point, np.zeros((5, 3)))
    tau = dynamics.inverse_dynamics(human, motion.q, motion.v, motion.a)
    return hd.motion.Loads.from_torques(motion, tau, (foot,))


def test_columns_and_names(leg, loads):
    found = hd.muscle.joint_reactions(loads)
    assert found.joints == ("hip", "knee")
    assert found["knee force"].values.shape == (loads.motion.frames, 3)
    assert found["hip moment"].unit == "N m"
    assert found.body_weight == pytest.approx(leg.mass * np.linalg.norm(leg.gravity))
    assert "body weights" in found.headline()


def test_wrong_requests_name_what_is_accepted(leg, loads):
    with pytest.raises(hd.HomodynError, match=r"no joint 'ankle'.*knee"):
        hd.muscle.joint_reactions(loads, joints=["ankle"])
    with pytest.raises(hd.HomodynError, match="no joint 'ankle'"):
        hd.muscle.joint_reactions(loads).joint("ankle")
    with pytest.raises(hd.HomodynError, match="no frame 'world'"):
        hd.muscle.joint_reactions(loads, frame="world")
    with pytest.raises(hd.HomodynError, match=r"shape \(60, 2\); \(60, 6\) is expected"):
        hd.muscle.joint_reactions(loads, np.zeros((60, 2)))
    forces = np.zeros((60, 6))
    forces[7, 2] = np.nan
    with pytest.raises(hd.HomodynError, match="'vastus' is not a number in frame 7"):
        hd.muscle.joint_reactions(loads, forces)


@pytest.mark.parametrize(
    ("name", "interval", "on", "tolerance"),
    # OpenSim takes accelerations from the forces: with moment arms that differ by 6e-8 m, those of
    # the light feet of the second model differ by 0.05 rad/s2, and so do reactions by 0.008 N m.
    [("gait10dof", (0.8, 0.85), "child", 1e-6), ("gait54", (1.0, 1.05), "parent", 1e-4)],
)
def test_reactions_are_those_of_opensim(shared_data, tmp_path, name, interval, on, tolerance):
    walk = load_walk(shared_data, name)
    model, motion = walk.model, walk.motion
    result = hd.muscle.static_optimization(motion, walk.loads)
    forces = np.zeros((motion.frames, len(model.muscles)))
    forces[:, [m.name in result.muscles for m in model.muscles]] = result.forces
    arms = hd.muscle.moment_arms(model, motion.q)
    rest = walk.loads.tau - np.einsum("fmc,fm->fc", arms, forces)
    names = [muscle.name for muscle in model.muscles]
    names += [f"reserve_{coordinate}" for coordinate in model.coordinate_names]
    table = write_table(
        tmp_path / "forces.sto", names, motion.time, np.column_stack([forces, rest])
    )
    request = {"reserves": dict.fromkeys(model.coordinate_names, 1.0), "forces": table}
    run_opensim(walk, tmp_path, interval, frame=on, on=on, **request)
    expected = read_columns(tmp_path / "run_reactions_ReactionLoads.sto")
    rows = rows_of(walk, expected["time"])
    ours = hd.muscle.joint_reactions(walk.loads, forces, frame=on, on=on)
    for joint in model.joints:
        if joint.parent == "world":
            continue
        k = ours.joint(joint.name)
        prefix = f"{joint.name}_on_{getattr(joint, on)}_in_"
        columns = [column for column in expected if column.startswith(prefix)]
        for letter, values in (("f", ours.force), ("m", ours.moment)):
            theirs = np.column_stack([expected[c] for c in columns if c[-2] == letter])
            error = np.abs(values[rows, k] - theirs).max()
            assert error < tolerance * max(np.abs(theirs).max(), 100.0), (joint.name, letter)
