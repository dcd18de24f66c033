"""The example networks: known solutions, invariants, and both tiers in agreement."""

from pathlib import Path

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network import load, parse

FOLDER = Path(__file__).parents[2] / "examples" / "networks"
FILES = sorted(str(path.relative_to(FOLDER).with_suffix("")) for path in FOLDER.rglob("*.cdn"))
LISTINGS = {
    "2.1": "falling_mass",
    "2.2": "air_friction",
    "2.3": "spring",
    "2.4": "two_at_once",
    "2.5": "dense_springs",
    "2.6": "contexts",
    "2.7": "selectors",
    "2.8": "chain",
    "2.9": "method",
    "2.10": "pogo",
    "2.11": "traveling_wave",
    "2.12": "van_der_pol",
    "2.13": "matsuoka",
    "2.14": "morphed",
    "2.15": "slip",
    "2.16": "bodies/own_joint",
    "2.17": "bodies/all_joints",
    "2.18": "bodies/n_pendulum",
    "2.19": "bodies/jacobians",
    "2.20": "bodies/four_bar",
    "2.21": "bodies/pantograph",
}
"""Models of van den Kieboom (2014), chapter 2, and the equivalent examples."""


def example(name):
    return load(FOLDER / f"{name}.cdn")


def test_every_listing_has_an_example():
    assert [name for name in LISTINGS.values() if name not in FILES] == []


# A whole body takes long to compile; its parts are tested in both tiers in test_body_nodes.
@pytest.mark.parametrize("name", [name for name in FILES if name != "bodies/air_stepping"])
def test_both_tiers_agree(name):
    net = example(name)
    one, other = net.run(0.5, tier="interpreted"), net.run(0.5, tier="compiled")
    assert (one.tier, other.tier) == ("interpreted", "compiled")
    names = [variable.path for variable in [*net.system.states, *net.system.discrete]]
    others = [name for name in net.names if name not in names]
    # The hundreds of other variables follow from the states; a sample is enough.
    names += others[:: max(1, len(others) // 24)]
    for variable in names:
        scale = max(1.0, float(np.abs(one[variable]).max()))
        np.testing.assert_allclose(one[variable], other[variable], rtol=0, atol=1e-12 * scale)


@pytest.mark.parametrize("name", FILES)
def test_expectations_in_the_text_are_met(name):
    for expected, value in example(name).check():
        assert value == pytest.approx(expected.value, abs=expected.tolerance), expected.path


def test_two_coupled_states_follow_their_exact_solution():
    net = parse(
        'integrator { method = "runge-kutta" }\n'
        'node "n{1:2}" { x = [1, 0] x\' = ["-1", "1"] }\n'
        '<bidirectional> edge from "n1" to "n2" { x\' += "input.x - output.x" }\n'
    )
    record = net.run(2)
    a, b = record["n1.x"], record["n2.x"]
    np.testing.assert_allclose(a + b, 1, atol=1e-13)
    np.testing.assert_allclose(a - b, -1 + 2 * np.exp(-2 * record.t), atol=1e-11)


def test_a_falling_mass_by_euler():
    net = example("falling_mass")
    net.method = "euler"
    assert net.run(1)["y"][-1] == pytest.approx(5.099905, abs=1e-9)
    assert [variable.path for variable in net.system.states] == ["y", "dy"]


def test_spring_forces_cancel():
    net = example("spring")
    assert len(net.edges) == 2
    for node in ("n1", "n2"):
        net.node(node).variable("acceleration", "dy'")
    record = net.run(3, 0.01)
    total = 0.6 * record["n1.acceleration"] + 0.4 * record["n2.acceleration"]
    friction = record["n1.dy"] + record["n2.dy"]
    np.testing.assert_allclose(total, -9.81 - friction, atol=1e-12)
    # The relative oscillation decays.
    difference = np.abs(np.diff(record["n1.dy"] - record["n2.dy"]))
    assert difference[-100:].max() < 0.2 * difference[:100].max()


def test_expanded_nodes_equal_nodes_written_by_hand():
    by_hand = parse(
        'g = 9.81\nnode "n1" { y = 10 m = 0.6 f = 0 y\'\' = "-g + f / m" }\n'
        'node "n2" { y = 8 m = 0.4 f = 0 y\'\' = "-g + f / m" }\n'
    )
    one, other = example("two_at_once").run(1), by_hand.run(1)
    assert one.names == other.names
    for name in one.names:
        np.testing.assert_array_equal(one[name], other[name])


def test_dense_coupling_has_fifty_edges_and_follows_the_seed():
    net = example("dense_springs")
    assert (len(net.nodes), len(net.edges)) == (10, 50)
    first = net.run(0.05, seed=3)["n3l.x"]
    np.testing.assert_array_equal(net.run(0.05, seed=3)["n3l.x"], first)
    assert not np.any(net.run(0.05, seed=4)["n3l.x"] == first)


def test_selected_nodes_and_edges():
    net = example("selectors")
    pairs = [(edge.input.name, edge.output.name) for edge in net.edges.values()]
    forward = [(f"n{k}_left", f"n{k}_right") for k in (1, 2, 3)]
    assert sorted(pairs) == sorted([*forward, *[pair[::-1] for pair in forward]])
    assert [net.get(f"{name}.v") for name in net.nodes] == [2, 1, 2, 1, 2, 1]


def test_a_chain_of_five_has_eight_edges():
    assert len(example("chain").edges) == 8


def test_pogo_sticks_bounce_and_lose_height():
    record = example("pogo").run(10)
    for k in (1, 2, 3):
        assert record[f"p{k}.bounced"][-1] >= 3
        y = record[f"p{k}.y"]
        assert y[-2000:].max() < 0.6 * y[0]
    down = [one for one in record.events if one.state == "ground"]
    assert len(down) >= 9


def test_hopf_oscillators_lock_a_fifth_of_a_turn_apart():
    record = example("traveling_wave").run(20)
    phases = np.stack([record[f"h{k}.p"] for k in range(1, 6)])
    lags = np.angle(np.exp(1j * np.diff(phases, axis=0)))[:, -1]
    np.testing.assert_allclose(np.abs(lags), 0.4 * np.pi, atol=0.001 * np.pi)
    assert len(set(np.sign(lags))) == 1
    assert record["h1.r"][-1] == pytest.approx(1, abs=1e-9)
    rate = (phases[0, -1] - phases[0, -1001]) / (2 * np.pi)
    assert rate == pytest.approx(1, abs=1e-3)


def test_the_period_of_van_der_pol():
    record = example("van_der_pol").run(60, 0.002)
    x, t = record["free.x"], record.t
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = t[up] - x[up] * (t[up + 1] - t[up]) / (x[up + 1] - x[up])
    assert np.diff(crossings)[1:] == pytest.approx(11.612, abs=0.005)
    assert np.abs(record["driven.x"]).max() > 1.5


def test_matsuoka_oscillates_about_zero():
    record = example("matsuoka").run(10)
    x = record["m.x"][5000:]
    ups = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    assert len(ups) >= 4
    whole = x[ups[0] : ups[-1]]
    assert abs(whole.mean()) < 0.01 * np.ptp(whole)


def test_morphed_oscillators_follow_their_shape_in_phase():
    record = example("morphed").run(20)
    for name, shift in (("m1", 0.0), ("m2", 0.5)):
        p, r = record[f"{name}.p"], record[f"{name}.r"]
        shape = np.cos(2 * p + 0.2 * np.pi) * (0.1 + np.sin(p)) + shift
        np.testing.assert_allclose(r[-1000:], shape[-1000:], atol=1e-6)
    difference = record["m1.p"][-1] - record["m2.p"][-1]
    assert abs(np.angle(np.exp(1j * difference))) < 1e-5


def test_steps_of_the_spring_leg():
    net = example("slip")
    angles = [66, 67, 68, 69, 70]
    sweep = net.sweep({"slip.aoa": np.radians(90 - np.array(angles))}, 30)
    assert sweep["slip.steps"].tolist() == [16, 24, 24, 5, 1]


BANDS = {
    56.2: (8.6, 9.6),
    58.2: (9.6, 11.1),
    59.8: (10.6, 12.1),
    61.8: (12.1, 14.1),
    63.8: (13.6, 16.2),
    65.9: (15.7, 19.2),
    67.9: (18.7, 23.2),
    69.9: (22.2, 28.3),
    71.9: (27.3, 35.9),
    73.9: (33.8, 46.5),
    76.0: (43.9, 50.0),
}
"""Stiffnesses (kN/m) at which a runner goes on, by its angle of attack (degrees)."""


def test_the_stable_cells_of_the_spring_leg_make_a_band_shaped_like_a_j():
    stiffness, angles = np.linspace(0, 50, 100), np.linspace(40, 80, 100)
    axes = {"slip.k": 1000 * stiffness, "slip.aoa": np.radians(90 - angles)}
    stable = example("slip").sweep(axes, 20)["slip.steps"] >= 24
    assert stable.sum() == pytest.approx(577, abs=10)
    for angle, (low, high) in BANDS.items():
        band = stiffness[stable[:, np.argmin(np.abs(angles - angle))]]
        assert band.min() == pytest.approx(low, abs=0.6)
        assert band.max() == pytest.approx(high, abs=0.6)


@pytest.mark.parametrize(
    ("method", "order"),
    [("euler", 1), ("leap-frog", 2), ("predictor-corrector", 2), ("runge-kutta", 4)],
)
def test_orders_of_the_methods(method, order):
    net = parse("x = 1\nx'' = \"-x\"\n")
    net.method = method
    errors = [abs(net.run(1, dt)["x"][-1] - np.cos(1)) for dt in (0.02, 0.01)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def test_pogo_sticks_touch_down_within_their_tolerance():
    text = (FOLDER / "pogo.cdn").read_text(encoding="utf-8")
    text = text.replace("bounced = 0\n", "bounced = 0\n        landed = 0.1\n")
    record = parse(text.replace("set bounced", 'set landed = "y"\n            set bounced')).run(5)
    for k in (1, 2, 3):
        landed = record[f"p{k}.landed"]
        assert len(np.unique(landed)) > 3
        np.testing.assert_allclose(landed, 0.1, atol=0.001)


def test_events_that_are_met_closely_keep_the_energy_of_a_bounce():
    text = (FOLDER / "pogo.cdn").read_text(encoding="utf-8").replace('"rand(1, 3)"', "2")
    text = text.replace("[1, 1.5, 1.8]", "0")
    text += '\nnode "p1" { E = "m * (g * y + dy^2 / 2) + (y < rest ? K * (rest - y)^2 / 2 : 0)" }\n'
    lost = []
    for tolerance in ("within 1e-7", "within 0.001", ""):
        energy = parse(text.replace("within 0.001", tolerance)).run(5, 0.005)["p1.E"]
        lost.append(abs(energy[-1] - energy[0]) / energy[0])
    assert lost[0] < 1e-3
    assert lost[0] < lost[1] < lost[2]


def test_the_step_of_a_file_is_taken_where_none_is_given():
    record = example("method").run(0.1)
    assert len(record) == 11
    assert abs(record["x"][-1] - np.cos(0.1)) < 1e-10


def test_pattern_generators_converge_to_a_traveling_wave():
    record = example("pattern_generators").run(20)
    for name, frequency in (("spine", 1.5), ("ring", 1.0)):
        phases = np.stack([record[f"{name}.o{k}.p"] for k in range(1, 9)])
        lags = np.angle(np.exp(1j * np.diff(phases, axis=0)))[:, -1]
        np.testing.assert_allclose(lags, -np.pi / 4, atol=1e-5)
        turns = (phases[0, -1] - phases[0, -1001]) / (2 * np.pi)
        assert turns / 5 == pytest.approx(frequency, abs=1e-6)


def test_a_tree_of_all_joints_keeps_its_energy():
    energy = example("bodies/all_joints").run(0.3, tier="interpreted")["tree.dynamics.energy"]
    assert np.ptp(energy) < 1e-9


def test_broken_texts_about_bodies_are_refused_with_their_place():
    rng = np.random.default_rng(4)
    names = ("n_pendulum", "four_bar", "jacobians", "air_stepping")
    texts = [(FOLDER / "bodies" / f"{name}.cdn").read_text(encoding="utf-8") for name in names]
    errors = []
    for _ in range(30):
        text = texts[rng.integers(len(texts))]
        at, length = rng.integers(len(text)), rng.integers(1, 12)
        try:
            parse(text[:at] + text[at + length :]).prepare()
        except NetworkError as error:
            errors.append(error)
    assert 5 < len(errors) < 30
    assert all(error.line >= 1 and error.column >= 1 for error in errors)
