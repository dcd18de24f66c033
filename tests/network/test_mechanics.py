"""Mechanics in the network language, compared with `dynamics` and known values."""

from pathlib import Path

import numpy as np
import pytest

from homodyn import dynamics
from homodyn.model import Assembly, Body, joints
from homodyn.network import load, parse

FOLDER = Path(__file__).parents[2] / "examples" / "networks"


def test_a_damped_chain_moves_as_known():
    record = load(FOLDER / "pendulum.cdn").run(2)
    rows = {500: 0.5, 1000: 1.0, 2000: 2.0}
    known = {
        0.5: [0.440657, -0.028235, 0.028236, 0.032602, 0.013752],
        1.0: [0.122701, -0.137884, -0.022118, 0.011432, 0.009821],
        2.0: [-0.267400, -0.200431, -0.078413, -0.044237, -0.014306],
    }
    for row, time in rows.items():
        np.testing.assert_allclose(record["q"][row], known[time], atol=1e-6)


def test_an_undamped_chain_keeps_its_energy():
    record = load(FOLDER / "pendulum.cdn").set(damping=0).run(1)
    energy = record["energy"]
    assert energy[0] == pytest.approx(-99.205709, abs=1e-6)
    assert np.ptp(energy) < 1e-9 * 99


def test_the_chain_accelerates_as_the_recursions_of_dynamics_say():
    net = load(FOLDER / "pendulum.cdn").set(damping=0)
    rng = np.random.default_rng(2)
    q, v = rng.normal(size=5), rng.normal(size=5)
    found = [net.set(q=q[:, None], dq=v[:, None]).run(0)[f"a{k}"][0] for k in range(1, 6)]
    inertia = (0.05**2 + 1) / 12
    chain = Assembly("chain")
    for k in range(5):
        body = Body(f"b{k}", 1.0, (0, 0, -0.5), np.diag([inertia, inertia, 0.05**2 / 6]))
        if k:
            chain = chain.add(body, joints.revolute("y"), f"b{k - 1}", at=(0, 0, -1))
        else:
            chain = chain.add(body, joints.revolute("y"))
    expected = dynamics.forward_dynamics(chain.model(), q, v, np.zeros(5))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_motion_subspace_of_a_joint_is_the_derivative_of_its_velocity():
    # A universal joint: X by q0, then Y by q1, seen from the moving body.
    net = parse(
        'q = "[0.4; 0.7]"\nq\' = "[1.5; -0.6]"\n'
        'velocity(q, dq) = "[cos(q[1]) * dq[0]; dq[1]; sin(q[1]) * dq[0]; 0; 0; 0]"\n'
        'S = "∂[velocity; dq](q, q\')"\nc = "dt[S]() * q\'"\n'
    )
    record = net.run(0)
    cosine, sine = np.cos(0.7), np.sin(0.7)
    expected = np.zeros((6, 2))
    expected[:3] = [[cosine, 0], [0, 1], [sine, 0]]
    np.testing.assert_allclose(record["S"][0], expected, atol=1e-15)
    rate = -0.6 * np.array([-sine, 0, cosine]) * 1.5
    np.testing.assert_allclose(record["c"][0], [*rate, 0, 0, 0], atol=1e-15)
