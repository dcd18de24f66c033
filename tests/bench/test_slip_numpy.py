"""The spring-loaded pendulum in NumPy makes the steps of the network."""

import numpy as np
import pytest

from homodyn.bench import network as bench
from homodyn.bench.slip_numpy import steps_to_fall
from homodyn.network import parse


@pytest.mark.parametrize("optimized", [False, True])
def test_runners_in_numpy_make_the_steps_of_the_network(optimized):
    axes = bench.grid(12)
    net = parse('require "spring_leg.cdn"\nnode "slip" : spring_leg {}')
    sweep = net.sweep(axes, 8, tier="compiled")
    stiffness, angle = (one.ravel() for one in np.meshgrid(*axes.values(), indexing="ij"))
    steps, time = steps_to_fall(stiffness, angle, 8.0, 1e-3, optimized=optimized)
    # Events are located to a millimeter, so runs at the border of stability may differ.
    same = steps == sweep["slip.steps"].ravel()
    assert same.mean() > 0.95
    difference = np.abs(time - sweep.time.ravel())[same]
    assert np.median(difference) < 1e-9
    assert np.quantile(difference, 0.9) < 0.02
    assert (steps >= 20).any()
