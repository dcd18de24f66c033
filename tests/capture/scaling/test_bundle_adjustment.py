"""Bundle adjustment: against a dense solver, and its covariance against sampling."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from homodyn.capture.scaling.bundle_adjustment import CalibrationProblem, adjust_bundle, fit_poses
from homodyn.capture.scaling.marker_model import marker_model
from homodyn.capture.scaling.options import SubjectScalingOptions
from homodyn.capture.scaling.parameter_prior import parameter_prior
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.model import Assembly, Body, Model, joints

FRAMES = 6


def arm() -> Model:
    """Two links on a base that turns, with three markers each."""
    at = [(0.05, 0.0, -0.1), (-0.04, 0.03, -0.2), (0.0, -0.05, -0.3)]
    assembly = (
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
            assembly = assembly.marker(f"{body}{k}", body, place)
    return assembly.model()


def setting(seed: int = 0, noise: float = 1e-3, spread: float = 1.0, artifacts: bool = False):
    """A person drawn from the prior, whose deviations are ``spread`` times the usual ones.

    With ``artifacts``, markers move over the bones with two features of the pose.
    """
    model = arm()
    names = [marker.name for marker in model.markers]
    markers = marker_model(model, names)
    deviations = ScalingPrior(
        landmark=0.01 * spread,
        tracking=0.01 * spread,
        center=0.005 * spread,
        size=0.10 * spread,
        body=0.05 * spread,
        axis=0.10 * spread,
    )
    prior = parameter_prior(model, names, SubjectScalingOptions(prior=deviations), size=None)
    rng = np.random.default_rng(seed)
    features = np.zeros((1, 1, 0))
    if artifacts:
        prior = prior.with_artifacts(2)
        features = np.random.default_rng(9).normal(0.0, 1.0, (FRAMES, len(names), 2))
    covariance = prior.covariance(deviations)
    # The default factorization of multivariate_normal differs between processors.
    phi = rng.multivariate_normal(prior.mean, covariance, method="cholesky")
    q = model.random(rng, FRAMES)
    shape = np.zeros((FRAMES, len(names), 3))
    exact = CalibrationProblem(
        markers,
        prior.unknowns,
        shape,
        prior.mean,
        covariance,
        np.ones(len(names)),
        features=features,
    )
    measured = exact.positions(q, phi)
    measured = measured + rng.normal(0, noise, measured.shape)
    measured[2, 1] = np.nan
    precision = prior.precision(deviations)
    noise_levels = np.full(len(names), noise)
    problem = CalibrationProblem(
        markers,
        prior.unknowns,
        measured,
        prior.mean,
        precision,
        noise_levels,
        features=features,
    )
    return problem, q, phi


def dense(problem: CalibrationProblem, q: np.ndarray) -> np.ndarray:
    """The same minimum by a general solver that knows no structure and no derivatives."""
    model = problem.markers.model
    root = np.linalg.cholesky(problem.precision).T
    neutral = model.neutral()

    def residuals(x: np.ndarray) -> np.ndarray:
        dv, phi = x[: q.shape[0] * model.nv].reshape(len(q), -1), x[q.shape[0] * model.nv :]
        here = problem.markers.step(q, dv)
        error = problem.positions(here, phi) - problem.measured
        error = (error / problem.noise[:, None])[np.isfinite(error)]
        deviation = model.difference(np.tile(neutral, (len(q), 1)), here)[:, 3:] / 3.0
        return np.concatenate([error, root @ (phi - problem.mean), deviation.ravel()])

    start = np.concatenate([np.zeros(len(q) * model.nv), problem.mean])
    return least_squares(residuals, start, xtol=1e-12, ftol=1e-12, gtol=1e-12)


@pytest.mark.parametrize("artifacts", [False, True])
def test_the_minimum_is_that_of_a_dense_solver(artifacts):
    problem, q, _ = setting(artifacts=artifacts)
    found = adjust_bundle(problem, q, problem.mean, tolerance=1e-10)
    reference = dense(problem, q)
    phi = reference.x[FRAMES * problem.markers.model.nv :]
    assert found.converged
    assert found.cost == pytest.approx(reference.cost, rel=1e-6)
    np.testing.assert_allclose(found.phi, phi, atol=2e-6)


@pytest.mark.parametrize("artifacts", [False, True])
def test_the_information_is_the_schur_complement_of_the_dense_normal_equations(artifacts):
    problem, q, _ = setting(artifacts=artifacts)
    found = adjust_bundle(problem, q, problem.mean, tolerance=1e-10)
    J = dense(problem, q).jac
    H, n = J.T @ J, FRAMES * problem.markers.model.nv
    schur = H[n:, n:] - H[n:, :n] @ np.linalg.solve(H[:n, :n], H[:n, n:])
    np.testing.assert_allclose(found.information, schur, rtol=1e-3, atol=1e-3 * schur.max())


def test_the_truth_lies_where_the_posterior_says():
    """Normalized errors of persons drawn from the prior are standard normal, jointly too.

    The covariance is that of the linearized problem, so persons and noise are drawn from a tenth of
    the usual deviations, where curvature does not count.
    """
    squares, sizes = [], []
    for seed in range(60):
        problem, q, phi = setting(seed, noise=1e-4, spread=0.1)
        found = adjust_bundle(problem, q, problem.mean, tolerance=1e-8)
        error = phi - found.phi
        squares.append(error @ found.information @ error)
        sizes.append(len(error))
    # A sum of chi-squares: mean n, variance 2 n.
    total, count = sum(squares), sum(sizes)
    assert abs(total - count) < 4 * np.sqrt(2 * count)


def test_a_wrong_marker_has_less_influence_with_a_huber_loss():
    problem, q, phi = setting()
    measured = problem.measured.copy()
    measured[0, 4] += 0.3
    plain = adjust_bundle(replace(problem, measured=measured), q, problem.mean)
    huber = replace(problem, measured=measured, huber_distance=0.003)
    robust = adjust_bundle(huber, q, problem.mean)
    errors = [np.abs(found.phi - phi)[-18:].max() for found in (plain, robust)]
    assert errors[1] < 0.5 * errors[0]


def test_poses_alone_are_found_from_far_away():
    problem, q, phi = setting(noise=1e-9)
    person = problem.unknowns.person(phi)
    start = problem.markers.step(q, np.full((FRAMES, 4), 0.5))
    found = fit_poses(problem.markers, person, problem.measured, start, iterations=60)
    error = problem.markers.positions(found, person) - problem.measured
    assert np.nanmax(np.abs(error)) < 2e-4
