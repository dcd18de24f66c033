"""The banded problem of smoothing against a dense solution of the same problem."""

import numpy as np

from homodyn.plan.posture_smoothing import (
    ACCELERATION_WEIGHT,
    VIOLATION_PENALTY,
    SmoothingProgram,
    solve_frames,
)

FRAMES, SIZE, STEP_S = 9, 3, 0.1


def random_program(rng: np.random.Generator, row_lower: float) -> SmoothingProgram:
    square = rng.normal(size=(FRAMES, SIZE, SIZE))
    return SmoothingProgram(
        square @ np.swapaxes(square, -1, -2) + 0.5 * np.eye(SIZE),
        0.1 * rng.normal(size=(FRAMES, SIZE)),
        rng.normal(size=(FRAMES, 2, SIZE)),
        np.full((FRAMES, 2), row_lower),
        np.full((FRAMES, SIZE), -10.0),
        np.full((FRAMES, SIZE), 10.0),
    )


def dense_solution(program: SmoothingProgram, ways: np.ndarray) -> np.ndarray:
    """The same problem without rows, with full matrices."""
    count = FRAMES * SIZE
    hessian = np.zeros((count, count))
    for k in range(FRAMES):
        part = slice(k * SIZE, (k + 1) * SIZE)
        hessian[part, part] = program.hessian[k]
    difference = np.zeros((FRAMES - 2, FRAMES))
    for k in range(FRAMES - 2):
        difference[k, k : k + 3] = (1, -2, 1)
    second = np.kron(difference, np.eye(SIZE)) / STEP_S**2
    hessian += ACCELERATION_WEIGHT * second.T @ second
    right = -program.linear.ravel() - ACCELERATION_WEIGHT * second.T @ (second @ ways.ravel())
    return np.linalg.solve(hessian, right).reshape(FRAMES, SIZE)


def test_steps_are_those_of_the_dense_problem():
    rng = np.random.default_rng(2)
    program = random_program(rng, -10.0)
    ways = 0.01 * rng.normal(size=(FRAMES, SIZE))
    expected = dense_solution(program, ways)
    assert np.abs(expected).max() < 0.3
    np.testing.assert_allclose(solve_frames(program, ways, STEP_S), expected, atol=1e-9)


def test_violated_rows_are_pushed_to_their_bounds():
    rng = np.random.default_rng(5)
    free, ways = random_program(rng, -10.0), np.zeros((FRAMES, SIZE))
    bound = random_program(np.random.default_rng(5), 0.02)
    value = np.einsum("frj,fj->fr", bound.rows, solve_frames(bound, ways, STEP_S))
    before = np.einsum("frj,fj->fr", free.rows, solve_frames(free, ways, STEP_S))
    assert before.min() < 0.0
    # A quadratic penalty leaves a violation of the order of the gradient over its weight.
    assert value.min() > 0.02 - 100 / VIOLATION_PENALTY
