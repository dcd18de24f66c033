"""Butcher tableaus satisfy the consistency conditions."""

from fractions import Fraction

import numpy as np
import pytest

from homodyn.integrate import DORMAND_PRINCE, EXPLICIT_EULER, HEUN, RK4, runge_kutta


def test_the_embedded_tableau_is_consistent():
    """Conditions of order 1 to 4 of both methods, and dense output that ends at the end."""
    stages, weights = DORMAND_PRINCE.tableau
    nodes = [sum(row) for row in stages]
    for power in range(5):
        assert sum(w * c**power for w, c in zip(weights, nodes, strict=True)) == Fraction(
            1, power + 1
        )
    for power in range(4):
        assert (
            sum(e * c**power for e, c in zip(DORMAND_PRINCE.error_weights, nodes, strict=True)) == 0
        )
    ends = [sum(row) for row in DORMAND_PRINCE.interpolation]
    assert np.allclose([float(x) for x in ends], [float(w) for w in weights], atol=1e-9)


@pytest.mark.parametrize("tableau", [EXPLICIT_EULER, HEUN, RK4])
def test_weights_sum_to_the_step_and_stages_lie_in_it(tableau):
    assert sum(tableau.weights) == pytest.approx(1, abs=1e-15)
    asked = []

    def slope(share, at):
        asked.append(share)
        return (0.0 * at[0],)

    runge_kutta(tableau, slope, (1.0,), 0.1)
    assert asked == [sum(row) for row in tableau.stages]
    assert all(share in (0, 0.5, 1) for share in asked)
