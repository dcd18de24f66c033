"""Torques of walks that were synthetic with the forces that explain them."""

import numpy as np
import pytest

from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics import joint_work, power_balance, residuals
from homodyn.synthetic import walking_trial


@pytest.fixture(scope="module")
def synthetic():
    return walking_trial(
        noise=0.0, gaps=0.0, plate_noise=0.0, strides=2, plates=2, shared_plate=True
    )


def test_torques_are_the_true_ones_where_all_is_measured(synthetic):
    truth = synthetic.truth
    found = inverse_dynamics(truth.motion, synthetic.trial.plates, cutoff=None, threshold=0.0)
    assert 0.2 < found.usable.mean() < 0.9
    assert np.abs(found.residual_force[found.usable]).max() < 1e-6
    np.testing.assert_allclose(found.tau[found.usable], truth.loads.tau[found.usable], atol=1e-6)


def test_a_threshold_costs_no_more_than_itself(synthetic):
    found = inverse_dynamics(synthetic.truth.motion, synthetic.trial.plates, cutoff=None)
    assert 1.0 < np.abs(found.residual_force[found.usable]).max() < 25.0


def test_two_feet_on_the_long_plate_are_noted(synthetic):
    found = inverse_dynamics(synthetic.truth.motion, synthetic.trial.plates, cutoff=None)
    (note,) = (note for note in found.notes if "both feet are on it at the same time" in note)
    name = note.split("'")[1]
    assert {foot.side for foot in found.feet if name in foot.plates} == {"left", "right"}
    # Wherever the frame is usable, each foot bears what it truly bore.
    for mine, theirs in zip(found.feet, synthetic.truth.loads.feet, strict=True):
        assert mine.body == theirs.body
        assert np.abs(mine.force - theirs.force)[found.usable].max() < 25.0


def test_the_balance_of_power_closes(synthetic):
    balance = power_balance(
        inverse_dynamics(synthetic.truth.motion, synthetic.trial.plates, cutoff=None)
    )
    assert np.abs(balance.missing[2:-2]).max() < 0.02 * np.abs(balance.energy_rate).max()


def test_predicted_forces_are_exact_on_one_foot_and_near_on_two(synthetic):
    found = inverse_dynamics(synthetic.truth.motion, cutoff=None)
    weight = synthetic.model.mass * 9.81
    for mine, theirs in zip(found.feet, synthetic.truth.loads.feet, strict=True):
        error = np.linalg.norm(mine.force - theirs.force, axis=-1)
        assert np.median(error) < 1e-6
        assert np.sqrt(np.mean(error**2)) < 0.12 * weight


@pytest.mark.parametrize("first", [0, 17, 41])
def test_torques_at_the_ends_of_a_recording_are_right_or_flagged(synthetic, first):
    motion, plates = synthetic.truth.motion, synthetic.trial.plates
    whole = inverse_dynamics(motion, plates)
    kept = np.arange(first + 20, motion.frames - 30)
    cut = inverse_dynamics(motion.take(kept), plates)
    joints = list(cut.joints)
    error = np.abs(cut.tau - whole.tau[kept])[:, joints].max(axis=1)
    assert error[~cut.edge].max() < 5.0
    assert error[cut.edge].max() > 10.0
    assert not (cut.valid & cut.edge).any()
    # Work and residuals leave the ends out.
    work = joint_work(cut)
    assert work.start == cut.time[~cut.edge][0]
    assert work.end == cut.time[~cut.edge][-1]
    assert residuals(cut).frames == cut.valid.sum()
