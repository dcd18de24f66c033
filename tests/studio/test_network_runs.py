"""Runs of a network follow its parameters."""

import numpy as np

from homodyn import network
from homodyn.studio.file_opening import open_path
from homodyn.studio.network_runs import (
    MAX_SAMPLES,
    LatestRunner,
    OpenNetwork,
    run_network,
    scalar_parameters,
    slider_range,
    variable_columns,
)
from support.waiting import until


def test_the_range_of_a_slider_contains_its_default():
    for value in (0.0, 3.0, -2e-4, 12345.0):
        low, high, step = slider_range(value)
        assert low <= value <= high
        assert 100 < (high - low) / step < 20_000


def test_a_network_runs_with_other_parameters(spring_file):
    opened = open_path(spring_file)
    assert isinstance(opened, OpenNetwork)
    assert scalar_parameters(opened.network)["k"] == 4.0
    found = run_network(opened.network, {"k": 9.0}, 2.0, 0.01)
    np.testing.assert_allclose(found.result["mass.x"], np.cos(3 * found.result.t), atol=1e-6)
    assert list(variable_columns(found.result, "mass.both")) == ["mass.both[0]", "mass.both[1]"]
    assert "more than" in run_network(opened.network, {}, 1.0, 0.5 / MAX_SAMPLES).error
    assert "no variable" in run_network(opened.network, {"kk": 1.0}, 1.0, 0.01).error


def test_only_the_newest_parameters_count(spring_file):
    runs = []
    runner = LatestRunner(network.load(spring_file).prepare(), runs.append)
    for k in range(1, 60):
        runner.request({"k": float(k)}, 1.0, 0.01)
    until(lambda: not runner.busy, "all runs")
    assert 1 <= len(runs) < 59
    last = runs[-1].result
    np.testing.assert_allclose(last["mass.x"], np.cos(np.sqrt(59) * last.t), atol=1e-4)
