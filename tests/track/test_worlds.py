"""Document 001, checks 7 and 30: Newton's method, pivoting and Gauss-Seidel solve the same step."""

import numpy as np
import pytest

from homodyn.simulate import SpringLaw, place_on_ground
from homodyn.simulate.solvers import gauss_seidel, pivot
from homodyn.track import TrackingOptions
from homodyn.track.worlds import motor_world
from support.small_figure import small_figure
from support.step_problem import StepEquations

pytestmark = pytest.mark.usefixtures("interpreted")

RATE = 60.0
STIFF = {"motor_kp": 1.5e6, "motor_kd": 7.5e4, "contact_kp": 1e4, "contact_kd": 1e3}
SOFT = {"motor_kp": 5.0, "motor_kd": 0.5, "contact_kp": 100.0, "contact_kd": 10.0}


@pytest.fixture(scope="module")
def driven():
    """A figure on both feet with stiff motors whose limits are often reached."""
    figure = small_figure()
    motor = SpringLaw(erp=0.25, cfm=1e-5, max_force=60.0)
    options = TrackingOptions(motor_law=motor, residual_limits=30.0)
    world = motor_world(figure, place_on_ground(figure, figure.neutral()), 1 / RATE, options)
    return figure, world, StepEquations(world)


def random_states(figure, count, seed):
    rng = np.random.default_rng(seed)
    standing = place_on_ground(figure, figure.neutral())
    for _ in range(count):
        q = figure.integrate(standing, 0.03 * rng.standard_normal(figure.nv))
        v = 0.3 * rng.standard_normal(figure.nv)
        target = figure.integrate(q, 0.03 * rng.standard_normal(figure.nv))
        rate = 0.3 * rng.standard_normal(figure.nv)
        yield q, v, np.concatenate([target, rate])


def step_velocities(figure, world, targets):
    before = world.q.copy()
    world.step(targets=targets)
    assert world.statuses[0] == 0
    return figure.difference(before, world.q) * RATE


def test_newton_and_pivoting_agree_on_random_states(driven):
    figure, world, equations = driven
    saturated = 0
    for q, v, targets in random_states(figure, 12, seed=0):
        world.reset(q, v, **STIFF)
        problem, velocities = equations.problem(targets)
        exact = pivot(problem)
        assert exact.solved
        found = step_velocities(figure, world, targets)
        np.testing.assert_allclose(velocities(exact.force), found, atol=2e-6)
        torques = np.abs(world.quantities["constraint_forces"][: len(figure.actuated)])
        saturated += int((torques > 59.9).sum())
    assert saturated > 10


def test_gauss_seidel_reaches_the_same_answer_with_many_more_sweeps_for_stiff_rows(driven):
    """Two feet down with stiff motors are an ill-conditioned problem."""
    figure, world, equations = driven
    errors = {"soft": [], "stiff": [], "many": []}
    for q, v, targets in random_states(figure, 5, seed=0):
        for name, constants, sweeps in (
            ("soft", SOFT, 50),
            ("stiff", STIFF, 50),
            ("many", STIFF, 300),
        ):
            world.reset(q, v, **constants)
            problem, velocities = equations.problem(targets)
            swept = gauss_seidel(problem, sweeps=sweeps)
            exact = pivot(problem).force
            errors[name].append(np.abs(velocities(swept.force) - velocities(exact)).max())
    assert max(errors["soft"]) < 1e-8
    assert max(errors["stiff"]) > 1e-2
    assert max(errors["many"]) < 1e-4
