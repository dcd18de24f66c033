"""Chains move equally as a network, as a body and in MuJoCo."""

import numpy as np
import pytest

from homodyn.bench.network_chains import (
    MujocoLinks,
    chain_body,
    chain_model,
    chain_network,
    parent_of,
)


@pytest.mark.parametrize("branches", [1, 3])
def test_chains_move_equally_in_the_language_as_a_body_and_in_mujoco(branches):
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
    # MuJoCo uses semi-implicit steps, which differ by the order of a step.
    theirs = MujocoLinks(size, branches, dt).run(len(language) - 1)[-1]
    depth_first = _depth_first(size, branches)
    np.testing.assert_allclose(theirs[np.argsort(depth_first)], angles[-1], atol=0.02)


def _depth_first(size, branches):
    def below(k):
        return [k - 1] + [
            one for j in range(2, size + 1) if parent_of(j, branches) == k for one in below(j)
        ]

    return below(1)
