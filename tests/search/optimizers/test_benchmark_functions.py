"""The standard test functions of optimizers."""

import numpy as np
import pytest

from homodyn.search.optimizers.benchmark_functions import BENCHMARK_FUNCTIONS


@pytest.mark.parametrize("name", BENCHMARK_FUNCTIONS)
def test_the_minimum_is_where_it_is_stated(name):
    benchmark = BENCHMARK_FUNCTIONS[name]
    where = np.ones(7) if name == "rosenbrock" else np.zeros(7)
    assert benchmark.function(where) == pytest.approx(0, abs=1e-12)
    random = np.random.default_rng(0)
    points = random.uniform(benchmark.lower, benchmark.upper, (500, 7))
    assert (benchmark.function(points) > benchmark.minimum).all()
