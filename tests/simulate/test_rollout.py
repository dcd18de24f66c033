"""Rollouts: the same as single runs, whatever the batch, with their own numbers and ends."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import (
    PD,
    Controller,
    Event,
    ImplicitSprings,
    SampledTorques,
    Soft,
    rollout,
    run,
)


def thrown(ball, lanes, seed=0):
    rng = np.random.default_rng(seed)
    q = np.tile(ball.neutral(), (lanes, 1))
    q[:, 2] = rng.uniform(0.12, 0.4, lanes)
    return q, rng.normal(size=(lanes, 6))


@pytest.mark.parametrize("law", [Soft(bristle=True), ImplicitSprings()])
def test_lanes_are_single_runs(ball, law):
    q, v = thrown(ball, 5)
    rolled = rollout(ball, q, v, 0.5, contact=law, record=("q", "v", "forces", "energy"), every=0.1)
    assert rolled.records["q"].shape == (5, 6, 7)
    for lane in range(5):
        alone = run(ball, q[lane], v[lane], 0.5, contact=law, record=0.1)
        np.testing.assert_allclose(rolled.records["q"][lane], alone.q, atol=1e-9)
        np.testing.assert_allclose(rolled.records["v"][lane], alone.v, atol=1e-7)
        np.testing.assert_allclose(rolled.records["forces"][lane], alone.forces, atol=1e-4)
        np.testing.assert_allclose(
            rolled.records["energy"].error[lane], alone.energy.error, atol=1e-7
        )
    np.testing.assert_allclose(rolled.q, rolled.records["q"][:, -1], atol=0)


def test_bits_do_not_depend_on_batch_or_threads(ball):
    q, v = thrown(ball, 41)
    kept = ("q", "forces")
    two = rollout(ball, q, v, 0.3, record=kept, threads=2)
    one = rollout(ball, q, v, 0.3, record=kept, threads=1)
    assert np.array_equal(one.records["q"], two.records["q"])
    assert np.array_equal(one.records["forces"], two.records["forces"])
    for few in (slice(0, 1), slice(7, 12), slice(33, 41)):
        part = rollout(ball, q[few], v[few], 0.3, record=kept)
        assert np.array_equal(part.records["q"], one.records["q"][few])
        assert np.array_equal(part.records["forces"], one.records["forces"][few])


def test_lanes_have_their_own_masses_gains_and_torques():
    arm = (
        Assembly("arm").add(rod("arm", 1.0, (0, 0, 0), (0, 0, -1.0)), joints.revolute("y")).model()
    )
    model = arm.with_parameters("arm.mass")

    def control(t, q, v, lane):
        return -lane["gain"] * q - 0.1 * v

    mass, gain = np.array([1.0, 2.0, 3.0]), np.array([0.0, 5.0, 10.0])
    push = np.linspace(0, 1, 3)[:, None, None] * np.ones((3, 2, 1))
    rolled = rollout(
        model,
        [0.3],
        None,
        1.0,
        contact=None,
        actuation=(control, SampledTorques([0.0, 1.0], push)),
        parameters={"arm.mass": mass},
        lane={"gain": gain},
    )
    for lane in range(3):
        lone = run(
            model,
            [0.3],
            None,
            1.0,
            contact=None,
            actuation=(control, SampledTorques([0.0, 1.0], push[lane])),
            parameters={"arm.mass": mass[lane]},
            lane={"gain": gain[lane]},
        )
        np.testing.assert_allclose(rolled.q[lane], lone.q[-1], atol=1e-10)
    assert len(np.unique(rolled.q)) == 3


def test_constants_of_laws_may_be_numbers_of_lanes(ball):
    q = ball.neutral()
    q[2] = 0.1
    k = np.array([1e3, 1e4, 5e4])
    rolled = rollout(ball, q, None, 3.0, contact=Soft("k", 60.0), lane={"k": k})
    np.testing.assert_allclose(0.1 - rolled.q[:, 2], 9.81 / k, rtol=1e-3)


def test_lanes_end_on_their_own(ball):
    q, v = thrown(ball, 9)
    v[:] = 0
    fallen = Event("fallen", lambda t, q, v, lane: q[2] - 0.1, "falling", action="end")
    rolled = rollout(ball, q, v, 1.0, contact=None, events=[fallen], record=("q",), every=0.1)
    assert np.all(rolled.status == 1)
    expected = np.sqrt(2 * (q[:, 2] - 0.1) / 9.81)
    assert np.all(np.abs(rolled.end_time - expected) < 2e-3)
    np.testing.assert_allclose(rolled.records["q"][:, -1, 2], rolled.q[:, 2], atol=0)
    assert np.all(rolled.q[:, 2] > 0.09)
    assert "9 was ended by an event" in rolled.message


def test_a_lane_that_breaks_leaves_the_others_alone(ball):
    q, v = thrown(ball, 8)
    wild = v.copy()
    wild[3, 4] = np.nan
    good = rollout(ball, q, v, 0.2)
    mixed = rollout(ball, q, wild, 0.2)
    assert mixed.status[3] == 2
    others = np.arange(8) != 3
    assert np.array_equal(mixed.q[others], good.q[others])
    assert np.all(mixed.status[others] == 0)


def test_what_cannot_be_in_lanes_is_refused(ball):
    q = ball.neutral()
    with pytest.raises(hd.ModelError, match="over symbols"):
        rollout(ball, q, actuation=Controller(lambda t, q, v: np.zeros(6), 0.1))
    with pytest.raises(hd.ModelError, match="forces, distances"):
        rollout(ball, q, record=("sound",))
    with pytest.raises(hd.ModelError, match="events end their lane"):
        rollout(ball, q, events=[Event("log", lambda t, q, v, lane: ca.SX(t))])
    with pytest.raises(hd.ModelError, match=r"\(lanes, 7\)"):
        rollout(ball, np.zeros((3, 6)))


def test_a_human_rolls_out_in_lanes(on_the_ground):
    """Twelve leaning humans on springs: same bits alone, weight carried, nothing lost."""
    model = hd.catalog.coman()
    q = on_the_ground(model)
    lanes = np.tile(q, (12, 1))
    lanes[:, 1] += np.linspace(0, 0.02, 12)
    servo = PD(500.0, 20.0, stable=True, target=q)
    rolled = rollout(
        model, lanes, None, 0.3, actuation=servo, record=("forces", "energy"), every=0.1
    )
    assert np.all(rolled.status == 0)
    total = rolled.records["forces"].sum(axis=2)[:, -1, 2]
    np.testing.assert_allclose(total, model.mass * 9.81, rtol=0.6)
    assert np.abs(rolled.records["energy"].error).max() < 2.0
    assert rolled.nbytes > rolled.records["forces"].nbytes
