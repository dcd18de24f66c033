"""A reconstructed step compared with its synthetic walk: phases, torques and ground forces."""

import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.catalog.heiman_tables import typical_torques
from homodyn.dynamics import inverse_dynamics
from homodyn.dynamics.constraint_rows import constraint_jacobian
from homodyn.gait import reconstruction

MASS = 70.0
WEIGHT = MASS * 9.81


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=MASS, plate_noise=0.0
    )


@pytest.fixture(scope="module")
def measured(walk):
    return hd.gait.reconstruct(walk.truth.motion, walk.truth.loads, events=walk.truth.events)


@pytest.fixture(scope="module")
def predicted(walk):
    """With the stages, bounds and impacts of the thesis, and plates only to compare with."""
    return hd.gait.reconstruct(
        walk.truth.motion,
        walk.truth.loads,
        force=0.0,
        events=walk.truth.events,
        preset="step",
    )


def sampled(walk, values, time):
    known = walk.truth.motion.time
    return np.column_stack([np.interp(time, known, column) for column in values.T])


def foot(walk, side):
    return next(f for f in walk.truth.loads.feet if f.side == side.lower())


def rms(values):
    return np.sqrt((values**2).mean())


def test_a_consistent_walk_is_tracked_closely(measured, predicted):
    for result in (measured, predicted):
        assert result.solution.status is oc.SolveStatus.SOLVED
        assert max(result.tracking_error.values()) < 0.005  # rad, m
        # Felis 2015, figure 6.4: within 0.01 rad, 1 cm, and 2 cm for the height of the pelvis.
        assert np.abs(result.deviation).max() < 0.01


def test_torques_and_forces_are_recovered_where_plates_measured(walk, measured):
    tau = sampled(walk, walk.truth.loads.tau, measured.time)
    assert rms(measured.tau - tau) < 0.02 * rms(tau)
    for side in ("Right", "Left"):
        force = sampled(walk, foot(walk, side).force, measured.time)
        assert rms(measured.ground_force(side) - force) < 0.02 * rms(force)
        assert rms(measured.ground_force(side) - force) < 0.004 * WEIGHT
    by_side = {error.side: error for error in measured.force_errors()}
    force = sampled(walk, foot(walk, "Right").force, measured.time)
    error = measured.ground_force("Right") - force
    np.testing.assert_allclose(by_side["Right"].rms, np.sqrt((error**2).mean(axis=0)), rtol=1e-6)
    assert by_side["Left"].single == 0.0


def test_the_whole_ground_force_needs_no_plates(walk, predicted):
    force = sum(sampled(walk, foot(walk, side).force, predicted.time) for side in ("Right", "Left"))
    total = predicted.ground_force("Right") + predicted.ground_force("Left")
    assert rms(total - force) < 0.03 * WEIGHT


def test_nothing_is_left_over_at_the_root_and_no_foot_pulls(measured):
    model = measured.recorded.model
    for phase, contact_phase in zip(measured.solution.phases, measured.contact_phases, strict=True):
        step = np.diff(phase.time)[:, None]
        v = phase.v[:-1] + step / 2 * phase.a
        q = phase.q[:-1] + step / 2 * phase.v[:-1] + step**2 / 8 * phase.a
        G = constraint_jacobian(model, q, contact_phase.contacts)
        left = inverse_dynamics(model, q, v, phase.a) - np.einsum("kij,ki->kj", G, phase.force)
        np.testing.assert_allclose(left, phase.tau, atol=0.05)
        assert np.abs(left[:, :6]).max() < 0.05  # N, N m
    for side in ("Right", "Left"):
        assert measured.ground_force(side)[:, 2].min() > -0.05


def test_typical_torques_are_of_the_order_of_the_thesis(measured):
    """Table 6.3: averages over the step and both sides, ankles and hips first, arms last."""
    names = measured.recorded.model.coordinate_names
    mean = dict(zip(names, np.abs(measured.tau).mean(axis=0), strict=True))
    known = typical_torques()

    def both(stem):
        joint, axis = stem.split("_")
        sides = [f"{joint}{side}_{axis}" for side in ("Right", "Left")]
        return np.mean([mean[n] for n in sides]), np.mean([known[n] for n in sides])

    ours, theirs = zip(*map(both, ("Ankle_RY", "Hip_RX", "Hip_RY", "Knee_RY")), strict=True)
    assert max(ours) == ours[0]
    for one, two in zip(ours, theirs, strict=True):
        assert 0.4 < one / two < 2.5
    for light in ("Shoulder_RY", "Elbow_RY"):
        assert both(light)[0] < 0.2 * min(ours)


def test_two_feet_share_the_weight_without_plates_much_as_they_did(predicted):
    for error in predicted.force_errors():
        assert error.single < 0.015 * WEIGHT
        assert error.double < 0.09 * WEIGHT


def test_forces_add_up_to_the_change_of_momentum_plus_weight(predicted):
    """Felis 2015: ground forces are the rate of the whole momentum and carry the weight."""
    model = predicted.recorded.model
    for phase, contact_phase in zip(
        predicted.solution.phases, predicted.contact_phases, strict=True
    ):
        pushed = sum(
            (phase.force * [float(r.frame.endswith(side)) for r in contact_phase.contacts.rows])
            @ np.array([r.slide for r in contact_phase.contacts.rows])
            for side in ("Right", "Left")
        )
        momentum = [np.asarray(hd.dynamics.momentum(model, q, v))[3:] for q, v in states(phase)]
        rate = np.diff(momentum, axis=0) / np.diff(phase.time)[:, None]
        off = pushed - rate - [0, 0, WEIGHT]
        assert rms(off) < 0.005 * WEIGHT


def states(phase):
    return zip(phase.q, phase.v, strict=True)


def test_points_that_swing_stay_above_the_ground(predicted):
    model = predicted.recorded.model
    radius = {c.name: float(c.radius) for c in model.contacts}
    for phase, contact_phase in zip(
        predicted.solution.phases, predicted.contact_phases, strict=True
    ):
        middles = (phase.q[:-1] + phase.q[1:]) / 2
        for name in contact_phase.swing_points:
            if not name.startswith("Meta5"):
                heights = np.asarray(hd.dynamics.position(model, middles, name))[:, 2]
                assert heights.min() - radius[name] > -2e-3
    assert all(predicted.ground_force(side)[:, 2].min() + 0.05 >= 0 for side in ("Right", "Left"))


def test_an_impact_brings_the_foot_to_rest(predicted):
    landed = predicted.solution.phases[2]
    assert len(landed.impulse) == len(landed.force_names)
    heel = hd.dynamics.velocity(predicted.recorded.model, landed.q[0], landed.v[0], "HeelLeft")
    assert abs(heel[2]) < 1e-4
    assert predicted.solution.phases[1].impulse.size == 0


def test_from_markers_and_plates_in_one_call():
    walk = hd.synthetic.walking_trial(strides=2, plates=2, variation=0.0, mass=MASS, noise=0.0005)
    result = reconstruction.reconstruct_trial(walk.model, walk.trial, step=0.03)
    assert result.solution.status.success, result.solution.explain()
    assert max(result.tracking_error.values()) < 0.03
    total = result.ground_force("Right") + result.ground_force("Left")
    force = sum(sampled(walk, foot(walk, side).force, result.time) for side in ("Right", "Left"))
    assert rms(total[:, 2] - force[:, 2]) < 0.15 * WEIGHT
