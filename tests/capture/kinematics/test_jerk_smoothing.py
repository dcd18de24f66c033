"""Trajectories that minimize marker errors and jerk."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import homodyn as hd
from homodyn.capture import inverse_kinematics
from homodyn.capture.kinematics.observability import marker_jacobian
from homodyn.dynamics import marker_positions
from homodyn.model import Assembly, joints, rod
from homodyn.motion import FitStatus
from support.movements import marked, swaying, trial_of


def small(root: joints.JointType) -> hd.Model:
    arm = (
        Assembly("arm")
        .add(rod("upper", 1.0, (0, 0, 0), (0, 0, -0.4)), root)
        .add(
            rod("lower", 0.5, (0, 0, 0), (0, 0, -0.4)),
            joints.revolute("y"),
            "upper",
            at=(0, 0, -0.4),
        )
        .model()
    )
    return marked(arm)


@pytest.mark.parametrize("root", [joints.revolute("y"), joints.spherical(), joints.free()])
def test_the_banded_answer_is_the_minimum_of_the_joint_problem(root: joints.JointType) -> None:
    model = small(root)
    frames, rate, cutoff = 9, 50.0, 4.0
    trial = trial_of(model, swaying(model, frames, amplitude=0.4), rate=rate, noise=0.02)
    plain = inverse_kinematics(model, trial)
    motion = inverse_kinematics(model, trial, smooth=cutoff)
    assert set(motion.status) == {FitStatus.CONVERGED}
    J = marker_jacobian(model, plain.q)
    stiffness = np.median(np.einsum("fki,fki->fi", J, J), axis=0)
    weight = np.sqrt(stiffness) * (rate / (2 * np.pi * cutoff)) ** 3

    def residuals(x: np.ndarray) -> np.ndarray:
        q = model.integrate(motion.q, x.reshape(frames, model.nv))
        error = marker_positions(model, q) - trial.positions
        jerk = np.diff(model.difference(q[:-1], q[1:]), n=2, axis=0)
        return np.concatenate([error.ravel(), (weight * jerk).ravel()])

    here = np.zeros(frames * model.nv)
    oracle = least_squares(residuals, here, xtol=1e-13, ftol=1e-13, gtol=1e-13)
    assert np.abs(oracle.x).max() < 1e-4
    assert np.sum(residuals(here) ** 2) <= 2 * oracle.cost * (1 + 1e-9)


def test_smoothing_brings_noisy_poses_nearer_to_the_truth() -> None:
    model = hd.catalog.heiman()
    q = swaying(model, 30, amplitude=0.25)
    trial = trial_of(model, q, noise=0.001)
    errors = {}
    for smooth in (None, 6.0):
        motion = inverse_kinematics(model, trial, smooth=smooth)
        errors[smooth] = np.sqrt(np.mean((motion.q - q) ** 2)), np.std(motion.a[4:-4], axis=0)
    assert errors[6.0][0] < 0.7 * errors[None][0]
    assert np.median(errors[6.0][1] / errors[None][1]) < 0.3


def test_limits_apply_when_smoothed_and_gaps_are_bridged() -> None:
    model = hd.catalog.heiman()
    q = swaying(model, 20)
    knee = model.coordinate_index("KneeRight_RY")
    q[:, knee] = model.lower[knee] - 0.1
    trial = trial_of(model, q, noise=0.001)
    positions = trial.positions.copy()
    positions[9:11] = np.nan
    trial = hd.capture.Trial("gap", trial.markers, positions, 100.0)
    motion = inverse_kinematics(model, trial, smooth=8.0)
    assert (motion.q[:, knee] >= model.lower[knee] - 1e-12).all()
    assert motion.at_limit[:, knee].mean() > 0.8
    assert list(np.flatnonzero(motion.status == FitStatus.UNSEEN)) == [9, 10]
    assert np.abs(motion.q[9:11, :6] - q[9:11, :6]).max() < 0.02


def test_the_cutoff_is_where_an_oscillation_is_halved() -> None:
    model = small(joints.revolute("y"))
    rate, frames = 100.0, 400
    time = np.arange(frames) / rate
    for frequency in (2.0, 5.0, 10.0):
        q = np.zeros((frames, 2))
        q[:, 0] = 0.02 * np.sin(2 * np.pi * frequency * time)
        motion = inverse_kinematics(model, trial_of(model, q, rate=rate), smooth=5.0)
        kept = np.std(motion.q[100:300, 0]) / np.std(q[100:300, 0])
        expected = {2.0: 1.0, 5.0: 0.5, 10.0: 1 / 65}[frequency]
        assert kept == pytest.approx(expected, abs=0.12)
