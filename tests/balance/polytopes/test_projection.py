"""Projections: the image of the vertices, and the proofs of vertices and facets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from homodyn.balance.polytopes import Polytope, inclusion, project


def same(first: Polytope, second: Polytope, tolerance: float = 1e-9) -> bool:
    return bool(inclusion(first, second, tolerance) and inclusion(second, first, tolerance))


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_both_projections_agree_and_prove_themselves(seed):
    rng = np.random.default_rng(seed)
    body = Polytope.from_points(rng.normal(size=(14, 4)))
    M, shift = rng.normal(size=(2, 4)), rng.normal(size=2)
    found = project(body.A, body.b, M, shift)
    assert same(found.polytope, body.image(M, shift), 1e-7)
    # Inner bound: every vertex has a preimage in the body.
    assert body.contains(found.preimages, 1e-7).all()
    assert found.preimages @ M.T + shift == pytest.approx(found.polytope.vertices, abs=1e-7)
    # Outer bound: multipliers of the rows of the body prove every side.
    assert found.rows.min() >= 0
    assert found.rows @ body.A == pytest.approx(found.polytope.A @ M, abs=1e-7)
    result = found.rows @ body.b + found.polytope.A @ shift
    assert result == pytest.approx(found.polytope.b, abs=1e-7)


def test_projection_with_equations():
    """The simplex in four dimensions, seen along the last axis, is a corner of the cube."""
    ones = np.ones((1, 4))
    found = project(-np.eye(4), np.zeros(4), np.eye(4)[:3], E=ones, e=np.ones(1))
    corner = Polytope.from_points(np.vstack([np.zeros(3), np.eye(3)]))
    assert same(found.polytope, corner)
    result = found.rows @ -np.eye(4) + found.equations @ ones
    assert result == pytest.approx(found.polytope.A @ np.eye(4)[:3])
