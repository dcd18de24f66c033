"""A recorded step against the walk it was made from: phases, torques and ground forces."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import constraint_jacobian, inverse_dynamics

MASS = 70.0
WEIGHT = MASS * 9.81


@pytest.fixture(scope="module")
def walk():
    return hd.gait.make_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS, plate_noise=0.0
    )


@pytest.fixture(scope="module")
def measured(walk):
    return oc.reconstruct(walk.truth.motion, walk.truth.loads, events=walk.truth.events)


@pytest.fixture(scope="module")
def predicted(walk):
    return oc.reconstruct(walk.truth.motion, events=walk.truth.events, step=0.03)


def sampled(walk, values, time):
    known = walk.truth.motion.time
    return np.column_stack([np.interp(time, known, column) for column in values.T])


def foot(walk, side):
    return next(f for f in walk.truth.loads.feet if f.side == side.lower())


def rms(values):
    return np.sqrt((values**2).mean())


def test_phases_are_those_of_a_step(walk):
    found = oc.footings(walk.truth.motion, events=walk.truth.events)
    assert [footing.name for footing in found] == [
        "right flat",
        "right forefoot",
        "right forefoot and left heel",
        "right forefoot and left flat",
    ]
    assert [len(footing.contacts.rows) for footing in found] == [6, 5, 8, 11]
    offs = [e.time for e in walk.truth.events if e.label == "Foot Off"]
    strike = next(
        e.time for e in walk.truth.events if e.label == "Foot Strike" and e.time > offs[0]
    )
    assert found[0].begin == pytest.approx(offs[0])
    assert found[-1].end == pytest.approx(offs[1])
    assert found[2].begin == pytest.approx(strike)


def test_a_consistent_walk_is_tracked_closely(measured, predicted):
    for result in (measured, predicted):
        assert result.solution.status is oc.Status.SOLVED
        assert max(result.tracking_error.values()) < 0.005  # rad, m


def test_torques_and_forces_are_recovered_where_plates_measured(walk, measured):
    tau = sampled(walk, walk.truth.loads.tau, measured.time)
    assert rms(measured.tau - tau) < 0.04 * rms(tau)
    for side in ("Right", "Left"):
        force = sampled(walk, foot(walk, side).force, measured.time)
        assert rms(measured.ground_force(side) - force) < 0.01 * WEIGHT


def test_the_whole_ground_force_needs_no_plates(walk, predicted):
    force = sum(sampled(walk, foot(walk, side).force, predicted.time) for side in ("Right", "Left"))
    total = predicted.ground_force("Right") + predicted.ground_force("Left")
    assert rms(total - force) < 0.03 * WEIGHT


def test_nothing_is_left_over_at_the_root_and_no_foot_pulls(measured):
    model = measured.motion.model
    for phase, footing in zip(measured.solution.phases, measured.footings, strict=True):
        step = np.diff(phase.time)[:, None]
        v = phase.v[:-1] + step / 2 * phase.a
        q = phase.q[:-1] + step / 2 * phase.v[:-1] + step**2 / 8 * phase.a
        G = constraint_jacobian(model, q, footing.contacts)
        left = inverse_dynamics(model, q, v, phase.a) - np.einsum("kij,ki->kj", G, phase.force)
        np.testing.assert_allclose(left, phase.tau, atol=0.05)
        assert np.abs(left[:, :6]).max() < 0.05  # N, N m
    for side in ("Right", "Left"):
        assert measured.ground_force(side)[:, 2].min() > -0.05


def test_from_markers_and_plates_in_one_call():
    walk = hd.gait.make_trial(strides=2, plates=2, variation=0.0, mass=MASS, noise=0.0005)
    result = oc.reconstruct_trial(walk.model, walk.trial, step=0.03)
    assert result.solution.status.good, result.solution.explain()
    assert max(result.tracking_error.values()) < 0.03
    total = result.ground_force("Right") + result.ground_force("Left")
    force = sum(sampled(walk, foot(walk, side).force, result.time) for side in ("Right", "Left"))
    assert rms(total[:, 2] - force[:, 2]) < 0.15 * WEIGHT


def test_a_model_without_such_feet_is_refused_by_name(walk):
    motion = replace(walk.truth.motion, model=replace(walk.model, contacts=()))
    with pytest.raises(hd.ModelError, match=r"HeelRight.*heel and two toes"):
        oc.footings(motion)
