"""Events: when they fire, how accurately they are located, and that runs make progress."""

import numpy as np
import pytest

from homodyn.network import METHODS, parse

TIERS = pytest.mark.parametrize("tier", ["interpreted", "compiled"])


def fired(condition, signals='a\' = "1"', within="", t_end=1.0, dt=0.1):
    """Times at which a condition becomes true."""
    net = parse(
        f'{signals}\nn = 0\nevent any to "s" when "{condition}" {within} {{ set n = "n + 1" }}'
    )
    return [one.time for one in net.run(t_end, dt).events]


def test_without_a_tolerance_an_event_waits_for_the_end_of_the_step():
    assert fired("a > 0.55") == pytest.approx([0.6])


def test_with_a_tolerance_the_step_is_cut_where_a_line_puts_the_zero():
    assert fired("a > 0.55", within="within 1e-6") == pytest.approx([0.55], abs=1e-6)


@pytest.mark.parametrize(
    ("condition", "times"),
    [
        ("a > 0.25 || a > 0.65", [0.3]),
        ("a > 0.65 || b < 0.75", [0.3]),
        ("a > 0.25 && a > 0.65", [0.7]),
        ("a > 0.25 && b < 0.35", [0.7]),
        ("a > 0.25 && b > 0.35", [0.3]),
        ("a > 0.25 && a < 0.15", []),
        ("!(a < 0.45)", [0.5]),
        ("!(a < 0.25 || b > 0.35)", [0.7]),
        ("a > 0.25 && (a < 0.15 || b < 0.35)", [0.7]),
        ("a >= 0.5", [0.5]),
    ],
)
def test_conditions_joined_by_and_or_and_not(condition, times):
    signals = 'a\' = "1"\nb = 1\nb\' = "-1"'
    assert fired(condition, signals) == pytest.approx(times, abs=1e-9)


def test_a_formula_without_comparison_fires_above_zero():
    found = fired("sin(20 * a)", dt=0.01)
    assert found == pytest.approx([0.01, *(2 * np.pi / 20 * np.arange(1, 4))], abs=0.011)


def test_both_sides_of_and_are_met_within_the_tolerance():
    signals = 'a\' = "1"\nb = 1\nb\' = "-1"'
    found = fired("a > 0.62 && b < 0.35", signals, "within 1e-6")
    assert found == pytest.approx([0.65], abs=1e-5)


def test_strongly_bent_conditions_do_not_stall():
    for power in (3, 9, 31):
        found = fired(f"a^{power} > {0.77**power}", within="within 1e-9")
        assert found == pytest.approx([0.77], rel=1e-3)


def test_a_line_that_lands_before_the_zero_counts_within_the_tolerance():
    # Concave: every cut of a straight line falls short of the zero.
    found = fired("1 - (1 - a)^4 > 0.9", within="within 1e-7", dt=0.5)
    assert found == pytest.approx([1 - 0.1**0.25], abs=1e-5)


def test_an_event_can_set_off_another_at_the_same_time():
    net = parse(
        'a\' = "1"\nn = 0\nm = 0\n'
        'event any to "s" when "a > 0.5" within 1e-9 { set n = "n + 1" }\n'
        'event any to "s" when "n > 0.5" { set m = "a" }\n'
    )
    record = net.run(1, 0.1)
    assert [one.time for one in record.events] == pytest.approx([0.5, 0.5], abs=1e-8)
    assert record["m"][-1] == pytest.approx(0.5, abs=1e-8)


def test_events_that_set_each_other_off_without_end_do_not_hang():
    net = parse(
        'a\' = "1"\nn = 0\n'
        'event any to "s" when "a > 0.5 && n < 0.5" { set n = 1 }\n'
        'event any to "s" when "n > 0.5" { set n = 0 }\n'
    )
    assert len(net.run(1, 0.1)) == 11


@TIERS
def test_a_bouncing_mass_meets_the_ground_within_the_tolerance(tier):
    text = """
    integrator { method = "runge-kutta" }
    y = 1
    y'' = "-9.81"
    bounced = 0
    at = 0
    event any to "hit" when "y < 0.1" TOLERANCE {
        set dy = "-0.9 * dy"
        set bounced = "bounced + 1"
        set at = "y"
    }
    """
    refined = parse(text.replace("TOLERANCE", "within 1e-4")).run(2, 0.01, tier=tier)
    assert refined["bounced"][-1] >= 2
    hits = np.flatnonzero(np.diff(refined["bounced"])) + 1
    np.testing.assert_allclose(refined["at"][hits], 0.1, atol=1e-4)
    first = refined.events[0].time
    assert first == pytest.approx(np.sqrt(2 * 0.9 / 9.81), abs=1e-4)
    coarse = parse(text.replace("TOLERANCE", "")).run(2, 0.01, tier=tier)
    assert abs(coarse["at"][-1] - 0.1) > 1e-3


def test_termination_ends_the_record_at_its_time():
    net = parse('a\' = "1"\nevent any to terminate when "a > 0.55" within 1e-9 {}\n')
    record = net.run(5, 0.1)
    assert record.terminated
    assert record.t[-1] == pytest.approx(0.55, abs=1e-9)
    assert record["a"][-1] == pytest.approx(0.55, abs=1e-9)
    assert np.all(np.diff(record.t) > 0)


def test_rows_stay_on_the_grid_of_time_after_an_event():
    net = parse('a\' = "1"\nevent any to "s" when "a > 0.55" within 1e-9 {}\n')
    np.testing.assert_allclose(net.run(1, 0.1).t, np.arange(11) / 10, atol=1e-12)


def test_equations_bound_to_event_states_act_there_only():
    net = parse(
        'initial-state "slow"\na\' = "1"\na\' = "9" state "fast"\n'
        'event "slow" to "fast" when "a > 0.5" within 1e-9 {}\n'
    )
    record = net.run(1, 0.1)
    assert record["a"][-1] == pytest.approx(0.5 + 0.5 * 10, abs=1e-6)
    assert record.states[""].tolist() == ["slow"] * 5 + [record.states[""][5]] + ["fast"] * 5


BUSY = """
integrator { method = "METHOD" default-timestep = "0.01" }
count = 0 | discrete
count <= "count + 1"
noise = "rand(-1, 1)"
q = "[1; 0]" ("q / hypot(q)")
q' = "3 * [-q[1]; q[0]]"
node "ball" {
    y = 1
    hits = 0
    y'' = "-9.81 + 0.5 * noise"
    initial-state "up"
    event any to "up" when "y < 0" within 1e-4 {
        set dy = "-0.8 * dy + 0.1"
        set hits = "hits + 1"
    }
    event "up" to "down" when "dy < 0 && q[0] > 0" {}
    dy' += "q[1]" state "down"
}
"""


@pytest.mark.parametrize("method", sorted(set(METHODS.values())))
def test_the_fast_path_of_steps_without_events_gives_the_same_results(method):
    net = parse(BUSY.replace("METHOD", method))
    assert net.prepare()._kernels().iteration.fast_path is not None
    one, other = (net.run(3, seed=2, tier=tier) for tier in ("interpreted", "compiled"))
    assert len(one.events) > 8
    assert [event.state for event in one.events] == [event.state for event in other.events]
    for name in ("ball.y", "ball.dy", "ball.hits", "q", "count", "noise"):
        np.testing.assert_allclose(other[name], one[name], rtol=0, atol=1e-10)
    lanes = net.sweep({"ball.y": [0.9, 1.0, 1.1]}, 3, seed=2, tier="compiled")
    assert lanes["ball.dy"][1] == pytest.approx(other["ball.dy"][-1], abs=1e-9)


@pytest.mark.parametrize("method", sorted(set(METHODS.values())))
def test_lanes_do_not_depend_on_events_of_other_lanes(method):
    """The path of a step depends on all lanes of a vector; its bits must not."""
    net = parse(BUSY.replace("METHOD", method))
    rng = np.random.default_rng(8)
    heights = rng.uniform(0.5, 1.5, 24)
    order = rng.permutation(24)
    one, other = (
        net.sweep({"ball.y": heights[k]}, 2, seed=3, tier="compiled")
        for k in (np.arange(24), order)
    )
    for name in ("ball.y", "ball.dy", "ball.hits", "q"):
        assert np.array_equal(one[name][order], other[name])


@pytest.mark.parametrize("condition", ["t > 0.5", "x > rand(0.4, 0.6)"])
def test_conditions_that_change_between_steps_are_evaluated_in_every_step(condition):
    net = parse(f'x\' = "1"\nn = 0\nevent any to "s" when "{condition}" {{ set n = "n + 1" }}\n')
    assert net.prepare()._kernels().iteration.fast_path is None
    found = [net.run(1, 0.01, tier=tier)["n"][-1] for tier in ("interpreted", "compiled")]
    assert found[0] == found[1] >= 1
