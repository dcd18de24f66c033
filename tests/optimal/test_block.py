"""The derivatives handed to the solver are those of the functions."""

import casadi as ca
import numpy as np
import pytest

from homodyn.optimal.calls import Calls
from support.optimal import jump


def dense(sparsity, entries):
    return np.array(ca.DM(sparsity, entries))


@pytest.mark.parametrize("transcription", ["shooting", "collocation", "forward"])
def test_derivatives_agree_with_differences(transcription):
    built = jump(3).build(transcription)
    rng = np.random.default_rng(3)
    calls = Calls(built.program)
    y = built.guess / built.scale + 0.05 * rng.standard_normal(len(built.names))
    lam = rng.standard_normal(built.program.rows)
    direction = rng.standard_normal(len(y))
    step = 1e-6

    def at(t):
        f, g = calls.value(y + t * direction)
        grad, entries = calls.slope(y + t * direction)
        return f, grad, g, dense(calls.jacobian_sparsity, entries)

    (f0, grad0, g0, jac0), (f1, grad1, g1, jac1) = at(-step), at(step)
    _, grad, _, jac = at(0.0)
    assert (f1 - f0) / (2 * step) == pytest.approx(grad @ direction, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose((g1 - g0) / (2 * step), jac @ direction, rtol=1e-4, atol=1e-4)
    upper = dense(calls.hessian_sparsity, calls.curvature(y, 1.3, lam))
    hessian = upper + upper.T - np.diag(np.diag(upper))
    slope = (1.3 * (grad1 - grad0) + (jac1 - jac0).T @ lam) / (2 * step)
    size = np.abs(slope).max()
    np.testing.assert_allclose(hessian @ direction, slope, atol=1e-5 * size)
