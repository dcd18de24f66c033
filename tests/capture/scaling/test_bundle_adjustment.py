"""The arrow-shaped least squares: against a dense solver, and its certainty against sampling."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from homodyn.capture.scaling.bundle_adjustment import CalibrationProblem, adjust_bundle, fit_poses
from homodyn.capture.scaling.marker_model import marker_model
from homodyn.capture.scaling.prior import ScalingPrior, parameter_prior
from homodyn.model import Assembly, Body, Model, joints

FRAMES = 6


def arm() -> Model:
    """Two links on a base that turns, with three markers each."""
    at = [(0.05, 0.0, -0.1), (-0.04, 0.03, -0.2), (0.0, -0.05, -0.3)]
    made = (
        Assembly("arm")
        .add(Body("upper", 2.0, [0, 0, -0.15], np.eye(3) * 0.02), joints.spherical())
        .add(
            Body("lower", 1.0, [0, 0, -0.12], np.eye(3) * 0.01),
            joints.revolute("y"),
            "upper",
            at=(0.01, 0.02, -0.3),
        )
    )
    for body in ("upper", "lower"):
        for k, place in enumerate(at):
            made = made.marker(f"{body}{k}", body, place)
    return made.model()


def setting(seed: int = 0, noise: float = 1e-3, robust: float | None = None):
    model = arm()
    names = [marker.name for marker in model.markers]
    markers = marker_model(model, names)
    prior = ScalingPrior(marker=0.01, center=0.005)
    belief = parameter_prior(model, names, prior, size=1.0, stature_known=False)
    rng = np.random.default_rng(seed)
    covariance = belief.covariance(prior.marker)
    phi = rng.multivariate_normal(belief.mean, covariance)
    q = model.random(rng, FRAMES)
    measured = markers.positions(q, belief.unknowns.person(phi))
    measured = measured + rng.normal(0, noise, measured.shape)
    measured[2, 1] = np.nan
    precision = belief.precision(prior.marker)
    problem = CalibrationProblem(
        markers, belief.unknowns, measured, belief.mean, precision, noise, robust
    )
    return problem, q, phi, belief


def dense(problem: CalibrationProblem, q: np.ndarray) -> np.ndarray:
    """The same minimum by a general solver that knows no structure and no derivatives."""
    model = problem.markers.model
    root = np.linalg.cholesky(problem.precision).T
    neutral = model.neutral()

    def residuals(x: np.ndarray) -> np.ndarray:
        dv, phi = x[: q.shape[0] * model.nv].reshape(len(q), -1), x[q.shape[0] * model.nv :]
        here = problem.markers.step(q, dv)
        error = problem.markers.positions(here, problem.unknowns.person(phi)) - problem.measured
        error = error[np.isfinite(error)] / problem.noise
        away = model.difference(np.tile(neutral, (len(q), 1)), here)[:, 3:] / 3.0
        return np.concatenate([error, root @ (phi - problem.mean), away.ravel()])

    start = np.concatenate([np.zeros(len(q) * model.nv), problem.mean])
    return least_squares(residuals, start, xtol=1e-12, ftol=1e-12, gtol=1e-12)


def test_the_minimum_is_that_of_a_dense_solver():
    problem, q, _, _ = setting()
    found = adjust_bundle(problem, q, problem.mean, tolerance=1e-10)
    reference = dense(problem, q)
    phi = reference.x[FRAMES * problem.markers.model.nv :]
    assert found.converged
    assert found.cost == pytest.approx(reference.cost, rel=1e-6)
    np.testing.assert_allclose(found.phi, phi, atol=2e-6)


def test_the_information_is_the_schur_complement_of_the_dense_normal_equations():
    problem, q, _, _ = setting()
    found = adjust_bundle(problem, q, problem.mean, tolerance=1e-10)
    J = dense(problem, q).jac
    H, n = J.T @ J, FRAMES * problem.markers.model.nv
    schur = H[n:, n:] - H[n:, :n] @ np.linalg.solve(H[:n, :n], H[:n, n:])
    np.testing.assert_allclose(found.information, schur, rtol=1e-3, atol=1e-3 * schur.max())


def test_the_truth_lies_where_the_posterior_says():
    """Normalised errors of persons drawn from the prior are standard normal, jointly too."""
    squares, sizes = [], []
    for seed in range(25):
        problem, q, phi, _ = setting(seed)
        found = adjust_bundle(problem, q, problem.mean)
        off = phi - found.phi
        squares.append(off @ found.information @ off)
        sizes.append(len(off))
    # A sum of chi-squares: mean n, variance 2 n.
    total, count = sum(squares), sum(sizes)
    assert abs(total - count) < 4 * np.sqrt(2 * count)


def test_a_marker_that_is_wrong_counts_less_when_robust():
    problem, q, phi, _ = setting()
    measured = problem.measured.copy()
    measured[0, 4] += 0.3
    plain = adjust_bundle(replace(problem, measured=measured), q, problem.mean)
    robust = adjust_bundle(replace(problem, measured=measured, robust=0.003), q, problem.mean)
    off = [np.abs(found.phi - phi)[-18:].max() for found in (plain, robust)]
    assert off[1] < 0.5 * off[0]


def test_poses_alone_are_found_from_far_away():
    problem, q, phi, _ = setting(noise=1e-9)
    person = problem.unknowns.person(phi)
    start = problem.markers.step(q, np.full((FRAMES, 4), 0.5))
    found = fit_poses(problem.markers, person, problem.measured, start, iterations=60)
    off = problem.markers.positions(found, person) - problem.measured
    assert np.nanmax(np.abs(off)) < 2e-4
