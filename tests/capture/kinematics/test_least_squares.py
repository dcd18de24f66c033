"""The two ways to a minimum: as Felis went it, and all frames at once with exact curvature."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import Trial, inverse_kinematics
from homodyn.capture.kinematics.least_squares import MarkerProblem, levenberg_marquardt, sugihara
from homodyn.capture.kinematics.observability import marker_jacobian
from homodyn.dynamics import marker_positions
from homodyn.model import Assembly, Model, joints, rod
from homodyn.motion import FitStatus
from support.movements import marked, swaying, trial_of
from support.trees import coupled_tree


def problem_of(model: Model, targets: np.ndarray, **options: object) -> MarkerProblem:
    frames, size = len(targets), model.nv
    zeros, ones = np.zeros((frames, size)), np.ones((frames, size))
    wide = np.full(size, np.inf)
    weights = np.ones(targets.shape[:2])
    return MarkerProblem(model, targets, weights, zeros, zeros, ones, -wide, wide, **options)


def test_curvature_of_followers_is_left_out_without_harm() -> None:
    model = marked(coupled_tree())
    q = swaying(model, 4)
    trial = trial_of(model, q, noise=0.02)
    motion = inverse_kinematics(model, trial, tolerance=1e-9)
    assert set(motion.status) == {FitStatus.CONVERGED}
    J = marker_jacobian(model, motion.q)
    error = (trial.positions - marker_positions(model, motion.q)).reshape(4, -1)
    assert np.abs(np.einsum("fki,fk->fi", J, error)).max() < 1e-8


def test_sugihara_takes_the_steps_of_the_corrected_equations() -> None:
    model = hd.catalog.heiman()
    q = swaying(model, 4, amplitude=0.2)
    trial = trial_of(model, q, noise=0.004)
    start = model.neutral()
    motion = inverse_kinematics(model, trial, method="sugihara", start=start, limits=False)
    pose, counts = start.copy(), []
    for frame in range(4):
        count = 0
        while count < 200:
            count += 1
            error = (trial.positions[frame] - marker_positions(model, pose)).ravel()
            J = marker_jacobian(model, pose)
            damping = 0.5 * error @ error + 1e-3
            step = np.linalg.solve(J.T @ J + damping * np.eye(model.nv), J.T @ error)
            pose = pose + step
            if np.linalg.norm(step) < 1e-8:
                break
        counts.append(count)
        assert np.allclose(motion.q[frame], pose, atol=1e-9)
    assert list(motion.iterations) == counts


def test_both_ways_end_in_the_same_minimum() -> None:
    model = hd.catalog.heiman()
    trial = trial_of(model, swaying(model, 6), noise=0.003)
    ours = inverse_kinematics(model, trial)
    theirs = inverse_kinematics(model, trial, method="sugihara")
    assert np.abs(ours.q - theirs.q).max() < 1e-4
    assert ours.rms <= theirs.rms * (1 + 1e-9)
    assert ours.iterations.sum() < theirs.iterations.sum() / 2


def leg() -> Model:
    """A thigh and a shank of half a meter each in a plane, seen at knee and foot."""
    return (
        Assembly("leg")
        .add(rod("thigh", 8.0, (0, 0, 0), (0, 0, -0.5)), joints.revolute("y"))
        .add(
            rod("shank", 4.0, (0, 0, 0), (0, 0, -0.5)),
            joints.revolute("y"),
            "thigh",
            at=(0, 0, -0.5),
        )
        .marker("foot", "shank", (0, 0, -0.5))
        .model()
    )


@pytest.mark.parametrize(
    "target",
    [(0.0, 0.0, -1.6), (0.9, 0.0, -0.9), (0.0, 0.0, -1.0)],
    ids=["beyond reach and straight", "beyond reach", "just in reach and straight"],
)
def test_unreachable_and_singular_targets_converge_where_gauss_newton_fails(target: tuple) -> None:
    model = leg()
    targets = np.array([[target]])
    problem = problem_of(model, targets)
    start = np.array([[0.3, 0.4]])
    length = np.linalg.norm(target)
    nearest = np.array(target) / length * min(length, 1.0)
    for solve in (sugihara, levenberg_marquardt):
        found = solve(problem, start, iterations=20_000, tolerance=1e-7)
        assert found.converged.all()
        assert np.allclose(marker_positions(model, found.q[0])[0], nearest, atol=2e-3)
    if length > 1:
        pose, worst = start[0].copy(), 0.0
        for _ in range(50):
            J = marker_jacobian(model, pose)
            step = (
                np.linalg.pinv(J.T @ J, rcond=1e-15)
                @ J.T
                @ (targets[0, 0] - marker_positions(model, pose)[0])
            )
            pose = pose + step
            worst = float(np.abs(step).max())
        assert worst > 1e-3


def test_a_frame_alone_is_fitted_like_a_frame_among_many() -> None:
    model = hd.catalog.heiman()
    trial = trial_of(model, swaying(model, 10), noise=0.003)
    many = inverse_kinematics(model, trial)
    for frame in (0, 7):
        one = Trial("one", trial.markers, trial.positions[frame : frame + 1], 100.0)
        assert np.allclose(inverse_kinematics(model, one).q[0], many.q[frame], atol=1e-6)
