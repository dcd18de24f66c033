"""Derived kernels against complex steps and against each other."""

import casadi as ca
import numpy as np
import pytest

from homodyn.errors import KernelError
from homodyn.symbolic import hessian, hessian_vector, jacobian, kernel, sparse_jacobian

STEP = 1e-30


def values(x, y):
    """Three smooth functions of four and two numbers, for complex numbers too."""
    return np.stack(
        [
            np.sin(x[..., 0]) * y[..., 1] + x[..., 3] ** 3,
            np.exp(0.3 * x[..., 1] * x[..., 2]) / (2 + y[..., 0] ** 2),
            x[..., 2] * y[..., 0],
        ],
        axis=-1,
    )


def symbols(x, y):
    return ca.vertcat(
        ca.sin(x[0]) * y[1] + x[3] ** 3,
        ca.exp(0.3 * x[1] * x[2]) / (2 + y[0] ** 2),
        x[2] * y[0],
    )


@pytest.fixture
def function():
    return kernel(symbols, x=4, y=2)


@pytest.fixture
def state():
    rng = np.random.default_rng(7)
    return rng.normal(size=(6, 4)), rng.normal(size=(6, 2))


def complex_step(x, y, wrt):
    """Derivatives that are exact to rounding: Im f(x + i h) / h."""
    columns = []
    for k in range((x if wrt == "x" else y).shape[-1]):
        shifted = [x.astype(complex), y.astype(complex)]
        shifted[wrt == "y"][..., k] += 1j * STEP
        columns.append(values(*shifted).imag / STEP)
    return np.stack(columns, axis=-1)


def test_jacobians_equal_complex_steps(function, state):
    dx, dy = jacobian(function, wrt=["x", "y"])(*state)
    np.testing.assert_allclose(dx, complex_step(*state, "x"), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(dy, complex_step(*state, "y"), rtol=1e-13, atol=1e-14)


def test_a_jacobian_of_matrices_has_the_shapes_of_both(state):
    function = kernel(lambda a: ca.sin(a) @ a.T, a=(2, 3))
    a = np.random.default_rng(1).normal(size=(5, 2, 3))
    derived = jacobian(function)(a)
    assert derived.shape == (5, 2, 2, 2, 3)
    step = 1e-6
    for i in range(2):
        for j in range(3):
            offset = np.zeros((2, 3))
            offset[i, j] = step
            numeric = (function(a + offset) - function(a - offset)) / (2 * step)
            np.testing.assert_allclose(derived[..., i, j], numeric, atol=1e-8)


def test_sparse_jacobian_has_just_the_entries_that_can_differ_from_zero(function, state):
    sparse = sparse_jacobian(function, wrt="x")
    assert sorted(zip(sparse.rows, sparse.columns, strict=True)) == [
        (0, 0), (0, 3), (1, 1), (1, 2), (2, 2),
    ]  # fmt: skip
    found = sparse(*state)
    assert found.shape == (6, 5)
    np.testing.assert_allclose(
        sparse.dense(found), jacobian(function, wrt="x")(*state), rtol=1e-14, atol=0
    )
    np.testing.assert_array_equal(sparse.matrix(found[2]).toarray(), sparse.dense(found)[2])


def test_hessian_equals_differences_of_the_gradient(function, state):
    x, y = state
    weights = np.random.default_rng(3).normal(size=(6, 3))
    second = hessian(function, wrt="x")
    upper = second.dense(second(x, y, weights))
    assert not np.tril(upper, -1).any()
    full = upper + np.triu(upper, 1).swapaxes(-1, -2)
    step = 1e-6
    for k in range(4):
        offset = np.zeros(4)
        offset[k] = step
        gradients = [
            np.einsum("si,sij->sj", weights, complex_step(x + sign * offset, y, "x"))
            for sign in (1, -1)
        ]
        numeric = (gradients[0] - gradients[1]) / (2 * step)
        np.testing.assert_allclose(full[:, k], numeric, atol=1e-8)


def test_hessian_vector_product_equals_the_hessian_times_the_vector(function, state):
    x, y = state
    rng = np.random.default_rng(4)
    weights, direction = rng.normal(size=(6, 3)), rng.normal(size=(6, 4))
    second = hessian(function, wrt="x")
    upper = second.dense(second(x, y, weights))
    full = upper + np.triu(upper, 1).swapaxes(-1, -2)
    np.testing.assert_allclose(
        hessian_vector(function, wrt="x")(x, y, weights, direction),
        np.einsum("sij,sj->si", full, direction),
        rtol=1e-12,
        atol=1e-13,
    )


def test_a_scalar_needs_no_multipliers():
    function = kernel(lambda x: ca.sumsqr(x), x=3)
    assert [port.name for port in hessian(function).inputs] == ["x"]
    np.testing.assert_array_equal(hessian(function)(np.zeros(3)), [2, 2, 2])


def test_unknown_ports_are_listed(function):
    with pytest.raises(KernelError, match="no input 'z'; it has x, y"):
        jacobian(function, wrt="z")
    with pytest.raises(KernelError, match="no output 'f'; it has output"):
        hessian(function, of="f")
