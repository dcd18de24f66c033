"""The movement of a body in a network is the same record that simulation gives."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import NetworkError
from homodyn.motion import MotionSource
from homodyn.network import parse
from support.equations import motion_residual

FALL = """
require "ground.cdn"
integrator { method = "runge-kutta" }
body "person" from "catalog:heiman" {
    node "Pelvis_TZ" { q0 = 0.93 }
    node "Pelvis_TX" { v0 = 0.3 }
    node "KneeRight_RY" { tau = 5 }
}
node "person" | children | "contacts" | children | nodes : ground.soft {}
"""


@pytest.fixture(scope="module")
def record():
    return parse(FALL).run(0.1, 0.0005, tier="interpreted")


@pytest.fixture(scope="module")
def motion(record):
    return record.motion("person")


def test_states_and_torques_are_those_of_the_network(record, motion):
    assert motion.source is MotionSource.NETWORK
    np.testing.assert_array_equal(motion.time, record.t)
    np.testing.assert_array_equal(motion.q, record["person.q"])
    np.testing.assert_array_equal(motion.v, record["person.v"])
    knee = motion.model.coordinate_index("KneeRight_RY")
    np.testing.assert_array_equal(motion.tau[:, knee], 5.0)
    assert not np.delete(motion.tau, knee, axis=1).any()


def test_forces_are_those_that_simulation_gives(motion):
    model = motion.model
    start, speed = model.pose({"Pelvis_TZ": 0.93}), np.zeros(model.nv)
    speed[0] = 0.3
    torque = np.zeros(model.nv)
    torque[model.coordinate_index("KneeRight_RY")] = 5.0
    expected = hd.simulate.run(
        model,
        start,
        speed,
        0.1,
        0.0005,
        contact=hd.simulate.SoftContact(bristle=False),
        actuation=torque,
        options=hd.simulate.SimulationOptions(
            joint_limits=None, torque_limits=False, integrator="rk4", compiled=False
        ),
    ).motion
    ours = {force.body: force for force in motion.contact_forces}
    theirs = {force.body: force for force in expected.contact_forces}
    assert set(ours) == set(theirs) == {"FootRight", "FootLeft"}
    for body, force in theirs.items():
        assert ours[body].side is force.side
        peak = np.abs(force.force).max()
        assert peak > 50.0
        np.testing.assert_allclose(ours[body].force, force.force, atol=1e-3 * peak)
        loaded = force.force[:, 2] > 20.0
        np.testing.assert_allclose(ours[body].point[loaded], force.point[loaded], atol=1e-3)


def test_accelerations_torques_and_forces_obey_the_equations_of_motion(motion):
    assert np.abs(motion_residual(motion)).max() < 1e-8


def test_a_name_that_is_no_body_lists_the_bodies(record):
    with pytest.raises(NetworkError, match=r"no body 'persn'; did you mean 'person'"):
        record.motion("persn")
