"""Runs that advance in parts."""

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network import parse

LEG = 'require "spring_leg.cdn"\nnode "slip" : spring_leg {}'
TIERS = pytest.mark.parametrize("tier", ["interpreted", "compiled"])


@TIERS
def test_parts_equal_a_single_run(tier):
    net = parse(LEG)
    whole = net.run(1.2, tier=tier)
    live = net.start(tier=tier)
    parts = [live.advance(0.3) for _ in range(4)]
    x = np.concatenate([parts[0]["slip.x"], *[part["slip.x"][1:] for part in parts[1:]]])
    np.testing.assert_array_equal(x, whole["slip.x"])
    events = [event for part in parts for event in part.events]
    assert events == list(whole.events)
    assert live.t == pytest.approx(1.2)
    assert live["slip.steps"] == whole["slip.steps"][-1]


def test_parameters_set_in_between_act_from_then_on():
    net = parse('k = 1\nx = 1\nx\' = "-k * x"\nintegrator { method = "runge-kutta" }')
    live = net.start(0.01)
    live.advance(1)
    net.set(k=-1)
    live.advance(1)
    assert live["x"] == pytest.approx(1, abs=1e-8)
    assert net.builds == 1
    net.set(k="1 + t")
    with pytest.raises(NetworkError, match="start another run"):
        live.advance(1)


def test_an_event_that_ends_the_run_ends_it_for_good():
    net = parse('a\' = "1"\nevent any to terminate when "a > 0.55" within 1e-9 {}\n')
    live = net.start(0.1)
    assert live.advance(0.5).events == ()
    assert live.advance(0.5).terminated
    assert live.ended
    assert live.t == pytest.approx(0.55)
    assert len(live.advance(1)) == 1


def test_delayed_values_are_remembered_between_parts():
    net = parse('x = 1\nx\' = "-delayed[x, 1](0.5)"\ny = "delayed[x, 1](0.5)"\n')
    whole = net.run(2, 0.01)
    live = net.start(0.01)
    ends = [live.advance(0.5) for _ in range(4)]
    assert ends[-1]["x"][-1] == whole["x"][-1]
    np.testing.assert_allclose(ends[2]["y"], whole["y"][100:151], rtol=0, atol=1e-13)


def test_formulas_are_evaluated_with_all_their_derivatives():
    net = parse('k = 3\nnode "n" { x = 2 x\' = "-k * x" f = "x^2 * k" }\n')
    live = net.start()
    live.advance(0.1)
    x = live["n.x"]
    assert live.evaluate("n.f + t") == pytest.approx(3 * x**2 + 0.1)
    found = live.derivatives("n.f")
    assert found.value == pytest.approx(3 * x**2)
    assert found.rate == pytest.approx(-2 * 9 * x**2)
    assert found.partials == {"n.x": pytest.approx(6 * x), "k": pytest.approx(x**2)}
    np.testing.assert_allclose(live.evaluate("[n.x; 1] * 2"), [2 * x, 2])
    assert live.evaluate("dt[n.x, 2]()") == pytest.approx(9 * x)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n.y", "no variable 'n.y'"),
        ("rand(1)", "only available in formulas of the network"),
        ("delayed[t](1)", "only available in formulas of the network"),
        ("1 +", "expected"),
    ],
)
def test_formulas_that_cannot_be_evaluated_are_refused(text, words):
    with pytest.raises(NetworkError, match=words):
        parse('node "n" { x = 1 x\' = "1" }').start().evaluate(text)


def test_negative_durations_and_unknown_names_are_refused():
    with pytest.raises(NetworkError, match="expected 0 s or more"):
        parse("x' = 1").start().advance(-1)
    with pytest.raises(NetworkError, match="no variable 'y'"):
        parse("x' = 1").start()["y"]
