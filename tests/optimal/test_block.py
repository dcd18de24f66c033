"""The derivatives handed to the solver are those of the functions."""

import numpy as np
import pytest

from support.optimal import jump


@pytest.mark.parametrize("transcription", ["shooting", "collocation", "forward"])
def test_derivatives_agree_with_differences(transcription):
    built = jump(3).build(transcription)
    rng = np.random.default_rng(3)
    functions = built.program.functions()
    y = built.guess / built.scale + 0.05 * rng.standard_normal(len(built.names))
    lam = rng.standard_normal(built.program.rows)
    direction = rng.standard_normal(len(y))
    step = 1e-6

    def at(t):
        f, grad = (np.array(part)[:, 0] for part in functions["grad_f"](y + t * direction, []))
        g, jac = functions["jac_g"](y + t * direction, [])
        return f[0], grad, np.array(g)[:, 0], np.array(jac)

    (f0, grad0, g0, jac0), (f1, grad1, g1, jac1) = at(-step), at(step)
    _, grad, _, jac = at(0.0)
    assert (f1 - f0) / (2 * step) == pytest.approx(grad @ direction, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose((g1 - g0) / (2 * step), jac @ direction, rtol=1e-4, atol=1e-4)
    upper = np.array(functions["hess_lag"](y, [], 1.3, lam))
    hessian = upper + upper.T - np.diag(np.diag(upper))
    slope = (1.3 * (grad1 - grad0) + (jac1 - jac0).T @ lam) / (2 * step)
    size = np.abs(slope).max()
    np.testing.assert_allclose(hessian @ direction, slope, atol=1e-5 * size)
