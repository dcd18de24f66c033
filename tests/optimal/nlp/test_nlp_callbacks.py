"""Gauss-Newton Hessians, compared with the exact ones."""

import numpy as np
import pytest

from homodyn.optimal.nlp.nlp_callbacks import NlpCallbacks
from support.optimal import block_move, swing_up


def test_gauss_newton_is_exact_where_residuals_and_rows_are_linear():
    exact = block_move().transcribe().program
    again = exact.with_hessian("gauss-newton")
    x = np.linspace(0.0, 1.0, exact.size)
    lam = np.ones(exact.rows)
    one, two = (np.array(NlpCallbacks(p).hessian(x, 1.0, lam)).sum() for p in (exact, again))
    assert one == pytest.approx(two, rel=1e-12)
    assert one > 0


def test_gauss_newton_has_no_negative_curvature():
    transcribed = swing_up(6).transcribe()
    calls = NlpCallbacks(transcribed.program.with_hessian("gauss-newton"), both_triangles=True)
    rng = np.random.default_rng(1)
    x = rng.normal(size=transcribed.program.size)
    entries = calls.hessian(x, 1.0, rng.normal(size=transcribed.program.rows))
    rows, columns = calls.hessian_sparsity.get_triplet()
    hessian = np.zeros((transcribed.program.size, transcribed.program.size))
    hessian[rows, columns] = entries
    assert np.linalg.eigvalsh(hessian).min() > -1e-12
