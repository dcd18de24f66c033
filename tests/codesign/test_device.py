"""Devices on a planar person: masses, closed loops, and motion that does not depend on the cut."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.codesign import Construction, attach_device, topologies
from homodyn.codesign.loop_closure import LegLoops
from homodyn.dynamics.constraint_rows import constraint_error
from homodyn.errors import HomodynError
from homodyn.model.side import Side

PERSON = hd.catalog.winter_human()


def design(topology, seed=0):
    """A design whose loops close in poses near the upright one."""
    rng = np.random.default_rng(seed)
    free = len(topology.free_joints)
    places = np.stack([rng.uniform(-0.15, 0.15, free), rng.uniform(0.4, 1.2, free)], axis=-1)
    return topology.pairs[0], rng.uniform(0.2, 0.8, 3), places


@pytest.mark.parametrize("number", [1, 2, 5, 10])
def test_mass_and_upright_pose(number):
    topology = topologies()[number - 1]
    device = attach_device(PERSON, topology)
    pair, shares, places = design(topology)
    values = device.parameter_values(pair, shares, places)
    model = device.model.at({name: float(value) for name, value in values.items()})

    assert model.nv == PERSON.nv + 8
    error = constraint_error(model, model.neutral(), device.loops)
    assert np.abs(error).max() < 1e-12  # every design is closed in upright posture

    # Places by hand: attachments along the segments of a person of 1.80 m, who stands on the sole.
    ends = {1: (0.954, 0.954 + 0.288 * 1.8), 2: (0.513, 0.954), 3: (0.039 * 1.8, 0.513)}
    points = {
        k: np.array([0.0, low + shares[k - 1] * (high - low)]) for k, (low, high) in ends.items()
    }
    points |= dict(zip(topology.free_joints, places, strict=True))
    points |= {second: points[first] for first, second in topology.shared_pins}
    bars = 0.0
    for link in topology.linkage.robot_links:
        on = [k for k, joint in enumerate(topology.linkage.joints, 1) if link in joint]
        bars += sum(
            np.linalg.norm(points[a] - points[b]) for i, a in enumerate(on) for b in on[i + 1 :]
        )
    expected = 2 * (0.7 * bars + 2 * 2.0 + 4 * 0.5)
    assert model.mass - PERSON.mass == pytest.approx(expected, rel=1e-9)
    for joint, marker in ((2, "left_robot_2_a"), (3, "left_robot_3_b")):
        if joint in topology.closure_joints:
            x, _, z = hd.dynamics.position(model, model.neutral(), marker)
            assert np.allclose([x, z], points[joint], atol=1e-12)


def test_the_motion_does_not_depend_on_where_loops_are_cut():
    topology = topologies()[1]
    pair, shares, places = (2, 6), (0.5, 0.4, 0.6), [(-0.15, 1.05), (-0.15, 0.75)]
    results = []
    for closures in ((2, 3), (4, 3), (1, 6)):
        device = attach_device(PERSON, replace(topology, closure_joints=closures))
        values = device.parameter_values(pair, shares, places)
        model = device.model.at({name: float(value) for name, value in values.items()})
        q = model.pose({"left_hip": -0.2, "left_knee": 0.35, "right_hip": 0.1})
        numbers = np.array([[values[name] for name in device.model.parameter_names]])
        for side in (Side.LEFT, Side.RIGHT):
            loops = LegLoops(device, side)
            closed, reached = loops.close(q[None], q[loops.human], numbers)
            assert reached.all()
            q = closed[0]
        tau = np.zeros(model.nv)
        for joint in device.joints:
            if joint.number in pair:
                for name, weight in joint.coefficients.items():
                    sign = _rotation_sign(topology, joint)
                    tau[model.coordinate_index(name)] += sign * weight * (30.0 + joint.number)
        motion = hd.dynamics.constrained_dynamics(model, q, np.zeros(model.nv), tau, device.loops)
        person = [model.coordinate_index(name) for name in PERSON.coordinate_names]
        results.append(motion.acceleration[person])
    assert np.abs(results[0]).max() > 1.0
    assert np.allclose(results[1], results[0], atol=1e-6)
    assert np.allclose(results[2], results[0], atol=1e-6)


def _rotation_sign(topology, joint):
    """+1 if the joint rotates its second link of the linkage relative to the first."""
    first = topology.links_of(joint.number)[0]
    names = {"torso": "trunk", "thigh": "left_thigh", "shank": "left_shank"}
    return (
        1.0
        if joint.links[0] in (names.get(first), _robot(joint, first), _mirror(names, first))
        else -1.0
    )


def _robot(joint, link):
    return f"{joint.side.value}_robot_{link}"


def _mirror(names, link):
    return names.get(link, "").replace("left", "right")


def test_masses_of_actuators_follow_the_pair():
    device = attach_device(PERSON, topologies()[0], construction=Construction(actuator_mass=3.0))
    values = device.parameter_values([[1, 5], [2, 6]], np.full((2, 3), 0.5), np.ones((2, 2, 2)))
    assert values["robot.joint_1.mass"].tolist() == [3.0, 0.5]
    assert values["robot.joint_6.mass"].tolist() == [0.5, 3.0]


def test_wrong_inputs_are_refused():
    device = attach_device(PERSON, topologies()[0])
    with pytest.raises(HomodynError, match="free_places has shape"):
        device.parameter_values((1, 5), (0.5, 0.5, 0.5), [[0.0, 1.0]])
    with pytest.raises(HomodynError, match="numbers from 1 to 6"):
        device.parameter_values((1, 9), (0.5, 0.5, 0.5), np.ones((2, 2)))
    with pytest.raises(HomodynError, match="needs a topology on torso, thigh, shank"):
        attach_device(PERSON, topologies(2, ("torso", "thigh"))[0])
    with pytest.raises(HomodynError, match="hinge about the"):
        attach_device(hd.catalog.heiman(), topologies()[0])
    with pytest.raises(HomodynError, match="has parameters"):
        attach_device(PERSON.with_parameters("trunk.mass"), topologies()[0])
    with pytest.raises(HomodynError, match="torso_length is a positive length"):
        attach_device(PERSON, topologies()[0], torso_length=-0.5)
