"""Sums of costs, and residuals whose squares add up to them."""

import casadi as ca
import numpy as np
import pytest

from homodyn.optimal.statement.objective_terms import ObjectiveTerm
from homodyn.optimal.transcription.costs import CostSums

VALUE, TARGET = np.array([1.0, -2.0, 4.0]), np.array([0.5, 0.0, 1.0])


def number(expression):
    return float(ca.DM(expression))


def test_costs_of_a_term_are_added_by_name():
    sums = CostSums()
    effort = ObjectiveTerm("effort", lambda point: VALUE, weight=2.0, scale=3.0)
    sums.add(effort, ca.SX(VALUE), None, 0.1)
    sums.add(effort, ca.SX(VALUE), ca.SX(TARGET), 0.4)
    sums.add(ObjectiveTerm("other", lambda point: VALUE), ca.SX(VALUE), None)
    expected = 6.0 * (0.1 * (VALUE**2).sum() + 0.4 * ((VALUE - TARGET) ** 2).sum())
    assert number(sums.by_term["effort"]) == pytest.approx(expected)
    assert number(sums.by_term["other"]) == pytest.approx(21.0)


def test_squares_of_residuals_and_plain_costs_add_up_to_all_costs():
    sums = CostSums()
    sums.add(ObjectiveTerm("squared", lambda p: VALUE, weight=0.7), ca.SX(VALUE), None, 0.3)
    sums.add(ObjectiveTerm("plain", lambda p: VALUE, squared=False), ca.SX(VALUE), None, 0.3)
    assert number(sums.plain) == pytest.approx(0.3 * VALUE.sum())
    squares = sum(number(ca.sumsqr(residual)) for residual in sums.residuals)
    total = sum(number(cost) for cost in sums.by_term.values())
    assert squares + number(sums.plain) == pytest.approx(total)
    assert len(sums.residuals) == 1
