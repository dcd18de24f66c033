"""The derivatives handed to the solver are those of the functions."""

import casadi as ca
import numpy as np
import pytest

from homodyn.optimal.nlp.nlp_callbacks import NlpCallbacks
from support.optimal import jump


def dense(sparsity, entries):
    return np.array(ca.DM(sparsity, entries))


@pytest.mark.parametrize(
    "transcription", ["midpoint", "collocation", "multiple_shooting", "felis2015"]
)
def test_derivatives_agree_with_differences(transcription):
    transcribed = jump(3).transcribe(transcription)
    rng = np.random.default_rng(3)
    callbacks = NlpCallbacks(transcribed.program)
    y = transcribed.guess / transcribed.scale + 0.05 * rng.standard_normal(len(transcribed.names))
    lam = rng.standard_normal(transcribed.program.rows)
    direction = rng.standard_normal(len(y))
    step = 1e-6

    def at(t):
        f, g = callbacks.objective_and_rows(y + t * direction)
        grad, entries = callbacks.gradient_and_jacobian(y + t * direction)
        return f, grad, g, dense(callbacks.jacobian_sparsity, entries)

    (f0, grad0, g0, jac0), (f1, grad1, g1, jac1) = at(-step), at(step)
    _, grad, _, jac = at(0.0)
    assert (f1 - f0) / (2 * step) == pytest.approx(grad @ direction, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose((g1 - g0) / (2 * step), jac @ direction, rtol=1e-4, atol=1e-4)
    upper = dense(callbacks.hessian_sparsity, callbacks.hessian(y, 1.3, lam))
    hessian = upper + upper.T - np.diag(np.diag(upper))
    slope = (1.3 * (grad1 - grad0) + (jac1 - jac0).T @ lam) / (2 * step)
    size = np.abs(slope).max()
    np.testing.assert_allclose(hessian @ direction, slope, atol=1e-5 * size)
