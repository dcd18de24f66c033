"""Flat feet as evidence: exact derivatives, and what they decide on a real person."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling.foot_evidence import flat_frames, foot_evidence
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.capture.scaling.shared_markers import shared_markers
from homodyn.dynamics import marker_positions, orientation


@pytest.fixture(autouse=True)
def _without_compiling(monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")


@pytest.fixture(scope="module")
def model():
    return hd.catalog.heiman()


def recording(model, q):
    names = tuple(marker.name for marker in model.markers)
    return shared_markers(model, [hd.capture.Trial("t", names, marker_positions(model, q), 100.0)])


def lifted(model):
    """Ten frames of standing, then ten with the right hip and knee bent."""
    q = np.tile(model.neutral(), (20, 1))
    q[10:, model.coordinate_index("HipRight_RY")] = -0.8
    q[10:, model.coordinate_index("KneeRight_RY")] = 0.4
    return q


def test_a_lifted_foot_is_no_evidence_and_a_flat_one_is(model):
    q = lifted(model)
    evidence = foot_evidence(model, recording(model, q), np.arange(20), 0.035)
    right = evidence.bodies.index("FootRight")
    left = evidence.bodies.index("FootLeft")
    assert (evidence.weights[:10] > 0).all()
    assert (evidence.weights[10:, right] == 0).all()
    assert (evidence.weights[10:, left] > 0).all()
    assert np.abs(evidence.residual(q)).max() < 1e-12
    assert foot_evidence(model, recording(model, q), np.arange(20), 0.0) is None


def test_feet_that_move_in_the_air_are_no_evidence(model):
    rng = np.random.default_rng(0)
    q = np.tile(model.neutral(), (60, 1))
    q[:, 6:] += 0.4 * rng.uniform(-1, 1, (60, model.nq - 6))
    assert foot_evidence(model, recording(model, q), np.arange(60), 0.035) is None


STRIKE, MIDSTANCE, PUSH_OFF, SWING = slice(0, 6), slice(6, 20), slice(20, 30), slice(30, 50)


def foot_of_a_walker():
    """Heights (m) of heel, toe and fifth metatarsal in a step, and of the body."""
    heel, toe, fifth = np.full(50, 0.04), np.full(50, 0.05), np.full(50, 0.03)
    # The heel strikes with 15 mm of compression, the toe up; then it rises over a toe that digs in.
    heel[STRIKE], toe[STRIKE] = 0.025, np.linspace(0.12, 0.06, 6)
    fifth[STRIKE] = np.linspace(0.10, 0.04, 6)
    heel[PUSH_OFF], toe[PUSH_OFF] = np.linspace(0.045, 0.2, 10), np.linspace(0.05, 0.03, 10)
    heel[SWING], toe[SWING], fifth[SWING] = 0.15, 0.09, 0.08
    body = 1.0 + 0.02 * np.sin(np.linspace(0, 4 * np.pi, 50))
    return np.column_stack([heel, toe, fifth]), body


def test_a_walking_foot_is_flat_in_midstance():
    # No marker is at its lowest there: the heel strikes lower, and the toe pushes off lower.
    height, body = foot_of_a_walker()
    np.testing.assert_array_equal(np.flatnonzero(flat_frames(height, body)), np.arange(6, 20))


def test_feet_of_a_person_who_crouches_are_not_flat():
    # Two thirds of the time the person sits with lifted heels.
    height = np.tile([0.04, 0.05], (60, 1))
    height[20:, 0] += 0.012
    body = np.where(np.arange(60) < 20, 1.0, 0.7)
    np.testing.assert_array_equal(np.flatnonzero(flat_frames(height, body)), np.arange(20))


def test_gaps_are_not_flat():
    height, body = foot_of_a_walker()
    height[10, 1] = np.nan
    assert not flat_frames(height, body)[10]
    assert not flat_frames(np.full((5, 2), np.nan), np.ones(5)).any()


def test_all_frames_of_a_foot_count_as_one_observation(model):
    q = np.tile(model.neutral(), (20, 1))
    evidence = foot_evidence(model, recording(model, q), np.arange(20), 0.02)
    q[:, model.coordinate_index("AnkleRight_RY")] += 0.02
    assert (evidence.residual(q) ** 2).sum() == pytest.approx(1.0, rel=1e-3)


def test_derivatives_agree_with_differences(model):
    rng = np.random.default_rng(3)
    evidence = foot_evidence(model, recording(model, lifted(model)), np.arange(20), 0.035)
    q = lifted(model) + 0.2 * rng.normal(size=(20, model.nq))
    v = rng.normal(size=(20, model.nv))
    step = 1e-6
    change = evidence.residual(model.integrate(q, step * v)) - evidence.residual(
        model.integrate(q, -step * v)
    )
    exact = (evidence.jacobian(q) @ v[..., None])[..., 0]
    assert np.abs(exact - change / (2 * step)).max() < 1e-6 * np.abs(exact).max()


@pytest.fixture(scope="module")
def squats(shared_data):
    folder = shared_data / "real_subject4"
    trial = hd.capture.read(folder / "squats1.trc")
    step = trial.frames // 60
    thinned = replace(
        trial,
        positions=trial.positions[::step],
        filled=trial.filled[::step],
        rate=trial.rate / step,
    )
    return hd.load(folder / "unscaled_generic.osim"), thinned


def standing_pitch(generic, trial, prior):
    """Inclination (deg) of the right foot in the first frame, in which the person stands."""
    result = hd.capture.calibrate(generic, trial, prior=prior)
    axes = orientation(result.model, result.q[0], "calcn_r")
    return abs(float(np.degrees(np.arcsin(axes[1, 0]))))


def test_feet_of_a_person_who_squats_are_flat(squats):
    generic, trial = squats
    with_floor = standing_pitch(generic, trial, ScalingPrior())
    without = standing_pitch(generic, trial, ScalingPrior(flat_foot=0.0))
    assert with_floor < 2.5 < 3.0 < without
