"""Order of collocation by its degree."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.optimal.transcription.collocation import LegendreCollocation
from support.optimal import swing_up


def test_four_points_are_the_default():
    default = LegendreCollocation()
    assert (default.degree, default.defect_order, default.violation_order) == (4, 9, 4)


@pytest.mark.parametrize(("degree", "order"), [(2, 4), (3, 6)])
def test_the_order_of_the_objective_is_twice_the_degree(degree, order):
    options = {"tolerance": 1e-10}
    exact = swing_up(24).solve("collocation", **options)
    errors = []
    for intervals in (12, 24):
        found = swing_up(intervals).solve(LegendreCollocation(degree), **options)
        errors.append(abs(found.objective - exact.objective))
    assert errors[1] < 1e-2 * exact.objective
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.6)


def test_a_degree_below_two_is_refused():
    with pytest.raises(hd.ModelError, match="must be 2 or more, got 1; 'midpoint'"):
        LegendreCollocation(1)
