"""The banded problem of smoothing against a dense one; momentum rates against the dynamics."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.plan.posture_smoothing import (
    ACCELERATION_WEIGHT,
    MOMENTUM_WEIGHT,
    VIOLATION_PENALTY,
    SmoothingProgram,
    SmoothnessRows,
    smoothness_rows,
    solve_frames,
)

FRAMES, SIZE, ROWS = 9, 3, 4


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


def random_rows(rng: np.random.Generator) -> SmoothnessRows:
    before, own, after = rng.normal(size=(3, FRAMES, ROWS, SIZE))
    before[0], after[-1] = 0.0, 0.0
    return SmoothnessRows(before, own, after, 0.1 * rng.normal(size=(FRAMES, ROWS)))


def dense_solution(
    program: SmoothingProgram, rows: SmoothnessRows, damping: float = 0.0
) -> np.ndarray:
    """The same problem without rows of distances, with full matrices."""
    count = FRAMES * SIZE
    hessian = damping * np.eye(count)
    matrix = np.zeros((FRAMES, ROWS, FRAMES, SIZE))
    for k in range(FRAMES):
        part = slice(k * SIZE, (k + 1) * SIZE)
        hessian[part, part] += program.hessian[k]
        for shift, block in ((-1, rows.before), (0, rows.own), (1, rows.after)):
            if 0 <= k + shift < FRAMES:
                matrix[k, :, k + shift] = block[k]
    whole = matrix.reshape(FRAMES * ROWS, count)
    hessian += whole.T @ whole
    right = -program.linear.ravel() - whole.T @ rows.value.ravel()
    return np.linalg.solve(hessian, right).reshape(FRAMES, SIZE)


@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_steps_are_those_of_the_dense_problem(damping):
    rng = np.random.default_rng(2)
    program, rows = random_program(rng, -10.0), random_rows(rng)
    expected = dense_solution(program, rows, damping)
    assert np.abs(expected).max() < 0.3
    np.testing.assert_allclose(solve_frames(program, rows, damping), expected, atol=1e-9)


def test_violated_rows_are_pushed_to_their_bounds():
    bound, rows = (
        random_program(np.random.default_rng(5), 0.02),
        random_rows(np.random.default_rng(6)),
    )
    free = random_program(np.random.default_rng(5), -10.0)
    value = np.einsum("frj,fj->fr", bound.rows, solve_frames(bound, rows))
    before = np.einsum("frj,fj->fr", free.rows, solve_frames(free, rows))
    assert before.min() < 0.0
    # A quadratic penalty leaves a violation of the order of the gradient over its weight.
    assert value.min() > 0.02 - 100 / VIOLATION_PENALTY


def test_rows_are_accelerations_and_momentum_rates():
    model = hd.catalog.manikin(1.75, 70.0)
    step, count = 0.02, 9
    time = step * np.arange(count)
    way = np.zeros(model.nv)
    for name, rate in (("right_hip_flexion", 1.0), ("lumbar_flexion", 0.4)):
        way[model.coordinate_names.index(name)] = rate
    q = np.asarray(model.integrate(model.neutral(), (0.3 * np.sin(6 * time))[:, None] * way))
    rows = smoothness_rows(model, q, step)
    acceleration = rows.value[1:-1, :-3] / np.sqrt(ACCELERATION_WEIGHT)
    expected = np.asarray(model.difference(q[1:-1], q[2:]) - model.difference(q[:-2], q[1:-1]))
    np.testing.assert_allclose(acceleration, expected / step**2, atol=1e-8)
    rate = rows.value[1:-1, -3:] / np.sqrt(MOMENTUM_WEIGHT)
    v = (6 * 0.3 * np.cos(6 * time))[:, None] * way
    exact = np.asarray(hd.dynamics.momentum(model, q, v))[:, :3]
    np.testing.assert_allclose(rate, ((exact[2:] - exact[:-2]) / (2 * step)), atol=0.15)
    assert np.abs(rate).max() > 3.0


def test_rows_beyond_the_ends_are_at_rest():
    model = hd.catalog.manikin(1.75, 70.0)
    q = np.tile(model.neutral(), (4, 1))
    assert np.abs(smoothness_rows(model, q, 0.05).value).max() < 1e-12
    q[1:, model.coordinate_names.index("root_tx")] += 0.01
    jump = smoothness_rows(model, q, 0.05).value
    assert np.abs(jump[0]).max() > 0.0
    np.testing.assert_allclose(np.abs(jump[2:]).max(), 0.0, atol=1e-12)
