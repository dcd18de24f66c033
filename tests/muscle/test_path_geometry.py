"""Lengths and arms of muscles as symbols: the same from paths and from polynomials."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.muscle.path_geometry import traced_geometry
from support import muscled_leg

LEG = muscled_leg.build()
RANGES = {"hip": (-0.5, 0.2), "knee": (0.2, 0.8)}
Q, V = np.array([-0.1, 0.5]), np.array([1.0, -2.0])


def numbers(fitted):
    """Lengths, moment arms and speeds at one state."""
    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    found = traced_geometry(LEG, q, "geodesic", fitted)
    arms = ca.SX(len(LEG.muscles), 2)
    for row, entries in enumerate(found.arms):
        for column, arm in entries.items():
            arms[row, column] = arm
    outputs = [ca.vertcat(*found.lengths), ca.densify(arms), ca.vertcat(*found.speeds(v))]
    return [np.array(x) for x in ca.Function("f", [q, v], outputs)(Q, V)]


def test_paths_and_polynomials_agree():
    exact, fitted = numbers(None), numbers(hd.muscle.fit_polynomials(LEG, ranges=RANGES))
    np.testing.assert_allclose(exact[0][:, 0], hd.muscle.lengths(LEG, Q), atol=1e-12)
    np.testing.assert_allclose(exact[1], hd.muscle.moment_arms(LEG, Q), atol=1e-12)
    np.testing.assert_allclose(exact[2][:, 0], -exact[1] @ V, atol=1e-12)
    for one, other, tolerance in zip(exact, fitted, (1e-3, 2e-3, 5e-3), strict=True):
        np.testing.assert_allclose(other, one, atol=tolerance)


def test_polynomials_of_another_model_are_refused():
    few = replace(LEG, muscles=LEG.muscles[:2])
    fitted = hd.muscle.fit_polynomials(few, ranges=RANGES, max_order=2)
    with pytest.raises(hd.ModelError, match="fitted to 2 muscles of 'muscled leg'"):
        traced_geometry(LEG, ca.SX.sym("q", 2), "geodesic", fitted)
