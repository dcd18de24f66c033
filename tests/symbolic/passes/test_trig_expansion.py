"""Sines and cosines of sums are expanded where that saves calls."""

import casadi as ca

from homodyn.symbolic import kernel
from homodyn.symbolic.passes.pipeline import lower_and_contract
from homodyn.symbolic.passes.trig_expansion import expand_trig_sums


def test_few_sums_stay_sums():
    two = kernel(lambda a, b: {"a": ca.sin(a + b), "b": ca.cos(a - b)}, {"a": (), "b": ()})
    program = lower_and_contract(two.traced.graph)
    assert expand_trig_sums(program, {0, 1}) is program
