"""The peers of the benchmark of networks compute the same as what they are compared with."""

import numpy as np
import pytest

from homodyn.bench import network as bench
from homodyn.bench.network_chains import (
    MujocoLinks,
    chain_body,
    chain_model,
    chain_network,
    parent_of,
)
from homodyn.bench.slip_numpy import steps_to_fall
from homodyn.network import parse


@pytest.mark.parametrize("by_hand", [False, True])
def test_runners_in_numpy_make_the_steps_of_the_network(by_hand):
    axes = bench.grid(12)
    net = parse('require "spring_leg.cdn"\nnode "slip" : spring_leg {}')
    sweep = net.sweep(axes, 8, tier="compiled")
    stiffness, angle = (one.ravel() for one in np.meshgrid(*axes.values(), indexing="ij"))
    steps, time = steps_to_fall(stiffness, angle, 8.0, 1e-3, by_hand=by_hand)
    # Events are met to a millimetre, so runs at the border of stability may part.
    same = steps == sweep["slip.steps"].ravel()
    assert same.mean() > 0.95
    apart = np.abs(time - sweep.time.ravel())[same]
    assert np.median(apart) < 1e-9
    assert np.quantile(apart, 0.9) < 0.02
    assert (steps >= 20).any()


@pytest.mark.parametrize("branches", [1, 3])
def test_chains_fall_alike_in_the_language_as_a_body_and_in_mujoco(branches):
    pytest.importorskip("mujoco")
    size, dt = 5, 1e-4
    language = chain_network(size, branches).run(0.2, dt)
    full = chain_network(size, branches, sparse=False).run(0.2, dt)
    body = chain_body(size, branches).run(0.2, dt)
    names = [f"system.p{k}.q" for k in range(1, size + 1)]
    angles = np.stack([language[name] for name in names], axis=1)
    np.testing.assert_allclose(
        np.stack([full[name] for name in names], axis=1), angles, rtol=0, atol=1e-11
    )
    order = [
        chain_model(size, branches).coordinate_names.index(f"p{k}") for k in range(1, size + 1)
    ]
    np.testing.assert_allclose(body["tree.q"][:, order], angles, rtol=0, atol=1e-10)
    # MuJoCo moves by the new velocities, which makes a difference of the order of a step.
    theirs = MujocoLinks(size, branches, dt).run(len(language) - 1)[-1]
    depth_first = _depth_first(size, branches)
    np.testing.assert_allclose(theirs[np.argsort(depth_first)], angles[-1], atol=0.02)


def _depth_first(size, branches):
    def below(k):
        return [k - 1] + [
            one for j in range(2, size + 1) if parent_of(j, branches) == k for one in below(j)
        ]

    return below(1)


def test_rows_compare_with_interpreter_numpy_real_time_and_mujoco():
    runners = list(bench.runner_rows(10, 1, until=1.0))
    assert [row.required for row in runners] == [100, 100, 20, None]
    assert all(row.ratio > 1 for row in runners)
    (oscillators,) = bench.oscillator_rows(4, 0.2, 1)
    assert oscillators.ratio > 100
    chains = list(bench.chain_rows(3, 1, 0.05, 1))
    assert ["in the language" in row.name for row in chains] == [True, False, True, True]
    assert [row.required for row in chains] == [1, 1, None, None]
