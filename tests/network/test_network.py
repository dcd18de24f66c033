"""Networks: parameters, runs, sweeps and drawings."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from homodyn.errors import NetworkError
from homodyn.network import Network, load, parse

FOLDER = Path(__file__).parents[2] / "examples" / "networks"


def test_parameters_and_initial_values_are_set_without_new_equations():
    net = parse(
        'k = 2\nx = 1\nx\' = "-k * x"\nfast = "2 * k"\nintegrator { method = "runge-kutta" }'
    )
    first = net.run(1)["x"][-1]
    assert first == pytest.approx(np.exp(-2), rel=1e-9)
    record = net.set(k=3, x=5).run(1)
    assert record["x"][-1] == pytest.approx(5 * np.exp(-3), rel=1e-9)
    assert record["fast"][0] == 6
    assert net.builds == 1
    assert (net.get("k"), net.get("x")) == (3, 5)
    # A formula instead of a number needs new equations and keeps the other settings.
    assert net.set(k="1 + t").run(0)["x"][0] == 5
    assert net.builds == 2


def test_numbers_that_sizes_depend_on_make_new_equations():
    net = parse('n = 2\na = "sum(eye(n))"\n')
    assert net.run(0)["a"][0] == 2
    assert net.set(n=3).run(0)["a"][0] == 3
    assert net.builds == 2


def test_zeros_of_a_matrix_can_be_set_too():
    net = parse('A = "[1, 0; 0, 2]"\nb = "A * [1; 1]"\n')
    assert net.set(A=[[3, 0], [0, 4]]).run(0)["b"].tolist() == [[3, 4]]
    assert net.builds == 1
    assert net.set(A=[[3, 5], [0, 4]]).run(0)["b"].tolist() == [[8, 4]]
    assert net.builds == 2


def test_a_sweep_gives_what_single_runs_give():
    net = load(FOLDER / "slip.cdn")
    stiffness = np.array([15e3, 20e3, 26e3])
    angles = np.radians([22.0, 25.0])
    for tier in ("compiled", "interpreted"):
        sweep = net.sweep({"slip.k": stiffness, "slip.aoa": angles}, 2, tier=tier)
        assert sweep.shape == (3, 2)
        for i, k in enumerate(stiffness):
            for j, angle in enumerate(angles):
                record = net.set({"slip.k": k, "slip.aoa": angle}).run(2, tier=tier)
                assert sweep["slip.steps"][i, j] == record["slip.steps"][-1]
                assert sweep["slip.x"][i, j] == pytest.approx(record["slip.x"][-1], rel=1e-11)
                assert sweep.time[i, j] == pytest.approx(record.t[-1], rel=1e-12)
    assert net.builds == 1


def test_values_can_be_swept_in_step():
    net = parse('k = 2\nx = 1\nx\' = "-k * x"\n')
    sweep = net.sweep({"k": [1, 2, 3], "x": [1, 2, 3]}, 0.01, grid=False)
    np.testing.assert_allclose(sweep["x"], [n * (1 - n * 1e-3) ** 10 for n in (1, 2, 3)])
    with pytest.raises(NetworkError, match="equal numbers of values"):
        net.sweep({"k": [1, 2], "x": [1]}, 1, grid=False)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda net: net.run(1)["y"], "no variable 'y'"),
        (lambda net: net.set(stifness=1), "did you mean 'stiffness'?"),
        (lambda net: net.set(stiffness=np.nan), "stiffness"),
        (lambda net: net.run(-1), "expected start <= end"),
        (lambda net: net.run(1, 0), "expected more than 0 s"),
        (lambda net: net.run(1, tier="fast"), "no tier 'fast'"),
        (lambda net: net.sweep({"f": [1]}, 1), "no parameter 'f'"),
        (lambda net: net.sweep({}, 1), "at least one"),
        (lambda net: net.get("f"), "is the formula"),
        (lambda net: net.graph("png"), "no format 'png'"),
        (lambda net: Network(method="rk"), "no method 'rk'"),
    ],
)
def test_invalid_calls_are_refused(call, words):
    net = parse('stiffness = 2\nx = 1\nf = "-stiffness * x"\nx\' = "f"\n')
    with pytest.raises(NetworkError, match=words.replace("?", r"\?")):
        call(net)


def test_a_run_that_diverges_names_time_and_variables():
    net = parse('x = 2\nx\' = "x^2"\n')
    with pytest.raises(NetworkError, match=r"diverges after 0\.5.* s: x not finite"):
        net.run(2)
    with pytest.raises(NetworkError, match="initial values are not finite: x"):
        parse('x = "1 / 0"\nx\' = "1"\n').run(1)


def test_the_graph_names_nodes_and_edges():
    net = load(FOLDER / "chain.cdn")
    dot = net.graph()
    assert dot.startswith("digraph")
    assert dot.count("->") == 8
    assert '"n1" -> "n2"' in dot
    root = ElementTree.fromstring(net.graph("svg"))
    tag = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f".//{tag}circle")) == 6
    assert len(root.findall(f"{tag}path")) == 8


def test_lanes_do_not_depend_on_their_neighbors():
    net = load(FOLDER / "slip.cdn")
    rng = np.random.default_rng(5)
    stiffness, angle = rng.uniform(10e3, 30e3, 40), np.radians(rng.uniform(18, 30, 40))
    order = rng.permutation(40)
    one, other = (
        net.sweep({"slip.k": stiffness[k], "slip.aoa": angle[k]}, 4, grid=False, tier="compiled")
        for k in (np.arange(40), order)
    )
    for name in ("slip.x", "slip.dy", "slip.steps"):
        assert np.array_equal(one[name][order], other[name])


def test_lanes_do_not_depend_on_how_many_share_a_vector(monkeypatch):
    axes = {"slip.k": [12e3, 20e3, 28e3], "slip.aoa": np.radians([20, 22, 24, 26])}
    found = []
    for lanes in ("1", "2", "4"):
        monkeypatch.setenv("HOMODYN_LANES", lanes)
        found.append(load(FOLDER / "slip.cdn").sweep(axes, 2, tier="compiled")["slip.x"])
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_sparsity_does_not_change_results():
    net = parse(
        'n = 2\nA = "[0, 1; -2, 0]"\nB = "[eye(n), zeros(n, 1)]"\nx = "[1; 0; 3]"\n'
        'x\' = "[A * B * x; 0]"\n'
    )
    sparse = net.run(1)["x"]
    net.sparse = False
    np.testing.assert_allclose(net.run(1)["x"], sparse, rtol=0, atol=1e-13)
    assert net.builds == 2
    assert net.set(A=[[1, 1], [-2, 0]]).run(1)["x"].shape == sparse.shape


def test_a_sweep_marks_diverged_runs():
    net = parse('x = 2\nx\' = "x^2"\n')
    sweep = net.sweep({"x": [0.1, 0.5, 3.0]}, 1)
    assert sweep.diverged.tolist() == [False, False, True]
    assert repr(sweep) == "SweepResult: 3 runs over x, 1 diverged"
    with pytest.raises(NetworkError, match="all 2 runs diverge: x not finite"):
        net.sweep({"x": [3.0, 4.0]}, 1)


def test_delayed_values_are_swept_like_single_runs():
    net = parse('k = 1\nx = 1\nx\' = "-k * delayed[x, 1](0.2)"\ny = "delayed[x, 1](0.2)"\n')
    sweep = net.sweep({"k": [0.5, 2.0]}, 1, 0.01)
    for k, x, y in zip((0.5, 2.0), sweep["x"], sweep["y"], strict=True):
        record = net.set(k=k).run(1, 0.01)
        assert x == pytest.approx(record["x"][-1], rel=1e-13)
        assert y == pytest.approx(record["y"][-1], rel=1e-13)
