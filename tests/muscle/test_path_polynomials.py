"""Polynomials fitted to the lengths of muscles."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model.muscles import Muscle, PathPoint
from homodyn.muscle.path_polynomials import (
    ARM_TOLERANCE_M,
    LENGTH_TOLERANCE_M,
    MAX_ORDER,
    chebyshev,
)

SMOOTH = ("straight", "moving", "cylinder", "sphere")


@pytest.fixture(scope="module")
def smooth_model(wraps_model):
    return replace(wraps_model, muscles=tuple(m for m in wraps_model.muscles if m.name in SMOOTH))


@pytest.fixture(scope="module")
def fitted(smooth_model):
    return hd.muscle.fit_polynomials(smooth_model)


def test_lengths_and_arms_are_within_the_stated_errors(smooth_model, fitted):
    states = np.random.default_rng(9).uniform(fitted.lower, fitted.upper, (500, 3))
    length = fitted.lengths(states) - hd.muscle.lengths(smooth_model, states)
    arm = fitted.moment_arms(states) - hd.muscle.moment_arms(smooth_model, states)
    for k, one in enumerate(fitted.polynomials):
        assert np.sqrt(np.mean(length[:, k] ** 2)) < 1.3 * one.length_rms_m
        assert np.abs(length[:, k]).max() < 2 * one.length_max_m
        assert np.abs(arm[:, k]).max() < 2 * one.arm_max_m
        reached = one.length_rms_m <= LENGTH_TOLERANCE_M and one.arm_rms_m <= ARM_TOLERANCE_M
        assert reached or one.order == MAX_ORDER


def test_arms_are_minus_the_derivatives_of_the_lengths(fitted):
    q = ca.SX.sym("q", 3)
    slope = ca.Function("slope", [q], [ca.jacobian(fitted.lengths(q), q)])
    state = np.array([0.2, -0.3, 1.1])
    np.testing.assert_allclose(fitted.moment_arms(state), -slope(state).full(), atol=1e-12)


def test_the_order_rises_until_the_tolerance_is_met(smooth_model):
    muscles = tuple(m for m in smooth_model.muscles if m.name in ("straight", "moving"))
    smooth_model = replace(smooth_model, muscles=muscles)
    coarse = hd.muscle.fit_polynomials(smooth_model, arm_tolerance_m=5e-3, length_tolerance_m=5e-3)
    fine = hd.muscle.fit_polynomials(smooth_model, arm_tolerance_m=2e-4, length_tolerance_m=1e-4)
    for low, high in zip(coarse.polynomials, fine.polynomials, strict=True):
        assert low.order < high.order
        assert low.arm_rms_m > high.arm_rms_m


def test_a_muscle_depends_on_the_coordinates_that_move_it(fitted):
    coordinates = {one.muscle: one.coordinates for one in fitted.polynomials}
    assert coordinates["moving"] == ("elbow_flexion",)
    assert coordinates["sphere"] == ("shoulder_abduction", "shoulder_turn")


def test_a_range_limits_the_states(smooth_model):
    narrow = hd.muscle.fit_polynomials(smooth_model, ranges={"elbow_flexion": (0.5, 0.7)})
    assert (narrow.lower[2], narrow.upper[2]) == (0.5, 0.7)
    assert narrow.to_rows()[1]["order"] <= 3


def test_a_muscle_that_no_coordinate_moves_has_a_constant_length(smooth_model):
    body = smooth_model.bodies[0].name
    ends = (PathPoint("a", body, (0, 0, 0)), PathPoint("b", body, (0, 0, 0.25)))
    still = Muscle("still", smooth_model.muscles[0].kind, ends)
    found = hd.muscle.fit_polynomials(replace(smooth_model, muscles=(still,)))
    states = np.zeros((3, smooth_model.nq))
    np.testing.assert_allclose(found.lengths(states), 0.25, rtol=1e-12)
    assert found.polynomials[0].coordinates == ()
    assert not found.moment_arms(states).any()


def test_refusals(smooth_model):
    with pytest.raises(hd.ModelError, match="elbow_flexion"):
        hd.muscle.fit_polynomials(smooth_model, ranges={"elbow": (0, 1)})
    with pytest.raises(hd.ModelError, match="must not be empty"):
        hd.muscle.fit_polynomials(smooth_model, ranges={"elbow_flexion": (1, 1)})


def test_chebyshev_polynomials_are_cosines():
    angle = 0.7
    values = chebyshev(np.cos(angle), 5)
    np.testing.assert_allclose(values, [np.cos(k * angle) for k in range(6)], atol=1e-14)
