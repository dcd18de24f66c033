"""Adaptive and implicit steps: tolerance, dense output, conservation, stiffness."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, joints, rod, sphere
from homodyn.simulate import SimulationStatus, run


@pytest.mark.parametrize("tolerance", [1e-5, 1e-8, 1e-11])
def test_adaptive_steps_and_their_interpolation_keep_the_tolerance(tolerance):
    """A harmonic oscillator over 1.3 periods, recorded between the ends of steps."""
    spring = joints.prismatic("x", stiffness=4 * np.pi**2)
    model = Assembly("oscillator").add(sphere("ball", 1.0, 0.1), spring).model()
    result = run(
        model,
        [1.0],
        None,
        1.3,
        0.01,
        contact=None,
        integrator="dormand_prince",
        tolerance=tolerance,
    )
    error = np.abs(result.q[:, 0] - np.cos(2 * np.pi * result.time)).max()
    assert error < 5 * tolerance


def test_dense_output_is_on_the_solution(pendulum):
    sparse = run(
        pendulum, [1.0], None, 2.0, 0.5, contact=None, integrator="dormand_prince", tolerance=1e-10
    )
    fine = run(
        pendulum, [1.0], None, 2.0, 0.5, contact=None, integrator="dormand_prince", tolerance=1e-13
    )
    np.testing.assert_allclose(sparse.q, fine.q, atol=1e-8)
    assert abs(sparse.energy.error[-1]) < 1e-7


def test_momentum_is_conserved_in_flight(chain):
    q0, v0 = chain.random(3), np.random.default_rng(3).normal(size=chain.nv)
    result = run(
        chain, q0, v0, 0.5, 0.05, contact=None, integrator="dormand_prince", tolerance=1e-14
    )
    momentum = hd.dynamics.momentum(chain, result.q, result.v)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-12)


def test_stiff_springs_stay_bounded_at_the_midpoint():
    model = (
        Assembly("stiff")
        .add(rod("rod", 1.0, (0, 0, 0), (0, 0, -1.0)), joints.revolute("y", stiffness=1e6))
        .model()
    )
    result = run(model, [0.01], None, 1.0, 1e-2, contact=None, integrator="implicit_midpoint")
    assert result.status is SimulationStatus.FINISHED
    assert np.abs(result.q).max() < 0.0101
    assert np.abs(result.energy.error).max() < 1e-3 * 1e6 * 0.01**2 / 2
