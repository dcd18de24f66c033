"""Results of runs and sweeps as records: plain data, tables and plots."""

import json

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network import NetworkResult, StateTransition, SweepResult, parse
from homodyn.network.result import LazyValues

BALL = """
integrator { method = "runge-kutta" }
g = 9.81
node "ball" {
    y = 1
    place = "[0; y]"
    y'' = "-g"
    initial-state "air"
    event "air" to "hit" when "y < 0" within 1e-6 { set dy = "-0.8 * dy" }
    event "hit" to "air" when "dy < 0" {}
}
"""


@pytest.fixture(scope="module")
def result():
    return parse(BALL).run(1.0, 0.01)


@pytest.fixture(scope="module")
def sweep():
    return parse(BALL).sweep({"g": [5.0, 10.0], "ball.y": [1.0, 2.0, 3.0]}, 0.1, 0.01)


def test_values_are_computed_once_when_they_are_used():
    calls = []

    def compute(name):
        calls.append(name)
        return np.arange(3.0)

    values = LazyValues(["a", "b"], compute)
    assert (len(values), list(values), "c" in values) == (2, ["a", "b"], False)
    assert calls == []
    assert values["b"] is values["b"]
    assert calls == ["b"]
    with pytest.raises(ValueError, match="read-only"):
        values["a"][0] = 1
    with pytest.raises(KeyError):
        values["c"]


def test_a_result_survives_plain_data(result):
    restored = NetworkResult.from_dict(json.loads(json.dumps(result.to_dict())))
    np.testing.assert_array_equal(restored.t, result.t)
    np.testing.assert_array_equal(restored["ball.place"], result["ball.place"])
    assert restored.events == result.events
    assert isinstance(restored.events[0], StateTransition)
    assert restored.states["ball"].tolist() == result.states["ball"].tolist()
    assert restored.names == result.names


def test_a_result_prints_in_one_line(result):
    count = len(result.events)
    assert repr(result) == (
        f"NetworkResult: t = 0 to 1 s in 101 rows, {len(result.names)} variables, {count} events"
    )
    assert repr(result.events[0]).startswith("StateTransition: ball to 'hit' at 0.45")


def test_the_table_has_one_column_per_number(result):
    pytest.importorskip("pandas")
    table = result.to_pandas("ball.y", "ball.place")
    assert list(table) == ["ball.y", "ball.place[0]", "ball.place[1]"]
    assert table.index.name == "time (s)"
    np.testing.assert_array_equal(table["ball.place[1]"], result["ball.y"])
    assert len(result.to_pandas().columns) > 3
    with pytest.raises(NetworkError, match=r"no variable 'ball\.z'"):
        result.to_pandas("ball.z")


def test_the_plot_shows_chosen_or_varying_variables(result):
    (line,) = result.plot("ball.y").get_lines()
    np.testing.assert_array_equal(line.get_ydata(), result["ball.y"])
    labels = {line.get_label() for line in result.plot().get_lines()}
    assert {"ball.y", "ball.dy", "ball.place[1]"} <= labels
    assert "g" not in labels


def test_a_sweep_becomes_one_row_per_run(sweep):
    pytest.importorskip("pandas")
    table = sweep.to_pandas("ball.dy")
    assert list(table) == ["g", "ball.y", "time (s)", "diverged", "ball.dy"]
    assert len(table) == 6
    np.testing.assert_allclose(table["ball.dy"], -0.1 * table["g"], rtol=1e-12)
    in_step = parse(BALL).sweep({"g": [5.0, 10.0], "ball.y": [1.0, 2.0]}, 0.1, 0.01, grid=False)
    assert in_step.to_pandas("ball.dy")["ball.y"].tolist() == [1.0, 2.0]


def test_a_sweep_survives_plain_data(sweep):
    restored = SweepResult.from_dict(json.loads(json.dumps(sweep.to_dict())))
    assert restored.shape == (2, 3)
    np.testing.assert_array_equal(restored["ball.place"], sweep["ball.place"])
    assert repr(restored) == repr(sweep) == "SweepResult: 2 x 3 runs over g, ball.y"


def test_a_sweep_is_plotted_over_one_or_two_parameters(sweep):
    axes = sweep.plot("ball.dy")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("g", "ball.y")
    (mesh,) = axes.collections
    np.testing.assert_allclose(mesh.get_array(), sweep["ball.dy"].T)
    single = parse(BALL).sweep({"g": [5.0, 10.0, 20.0]}, 0.1, 0.01)
    (line,) = single.plot("ball.dy").get_lines()
    np.testing.assert_array_equal(line.get_ydata(), single["ball.dy"])
    with pytest.raises(NetworkError, match=r"ball\.place is 2; a scalar"):
        single.plot("ball.place")


def test_a_result_does_not_search_the_network_again(monkeypatch):
    net = parse(BALL)
    net.run(0.1, 0.01)
    searches = []
    walk = type(net).walk
    monkeypatch.setattr(type(net), "walk", lambda self: searches.append(self) or walk(self))
    result = net.run(0.1, 0.01)
    assert result["ball.y"][-1] < 1
    assert searches == []
