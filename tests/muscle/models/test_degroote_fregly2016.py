"""Curves of the model of De Groote et al. (2016)."""

import casadi as ca
import numpy as np
import pytest

from homodyn.model.muscles import Muscle, PathPoint
from homodyn.muscle.models import DeGrooteFregly2016, FiberState

LAW = DeGrooteFregly2016()


def make_muscle(**settings):
    points = (PathPoint("a", "world"), PathPoint("b", "world"))
    return Muscle("m", "DeGrooteFregly2016Muscle", points, settings=settings)


def test_an_isometric_fiber_at_optimal_length_has_its_maximal_force():
    muscle = make_muscle()
    assert float(LAW.active_force_length(muscle, 1.0)) == pytest.approx(1, abs=0.01)
    assert float(LAW.force_velocity(muscle, 0.0)) == pytest.approx(1, abs=1e-6)
    length = muscle.tendon_slack_length + muscle.optimal_fiber_length
    passive = LAW.passive_force_length(muscle, 1.0) * muscle.max_isometric_force
    force = LAW.tendon_force(muscle, 1.0, length, 0.0)
    assert float(force - passive) == pytest.approx(1000, rel=0.01)


def test_curves_rise_and_fall_where_they_should():
    muscle = make_muscle()
    speeds = np.linspace(-1, 1, 50)
    factors = [float(LAW.force_velocity(muscle, speed)) for speed in speeds]
    assert (np.diff(factors) > 0).all()
    assert factors[0] == pytest.approx(0, abs=0.01)
    passive = [float(LAW.passive_force_length(muscle, x)) for x in np.linspace(0.3, 1.6, 20)]
    assert (np.diff(passive) > 0).all()
    assert float(LAW.passive_force_length(muscle, 1.6)) == pytest.approx(1)
    assert float(LAW.passive_force_length(muscle, 0.2)) == pytest.approx(0, abs=1e-15)


def test_settings_change_the_curves():
    wide = make_muscle(active_force_width_scale=1.5)
    assert LAW.active_force_length(wide, 0.6) > LAW.active_force_length(make_muscle(), 0.6)
    slack = make_muscle(ignore_passive_fiber_force=True)
    assert float(LAW.passive_force_length(slack, 1.5)) == 0
    stiff = make_muscle(passive_fiber_strain_at_one_norm_force=0.4)
    assert float(LAW.passive_force_length(stiff, 1.4)) == pytest.approx(1)
    assert LAW.damping(make_muscle(fiber_damping=0.1)) == 0.1


def test_the_width_of_pennate_fibers_is_constant():
    muscle = make_muscle()
    pennate = type(muscle)(**{**muscle.__dict__, "pennation_angle": 0.4})
    for stretch in (0.06, 0.1, 0.13):
        fiber = FiberState.of(pennate, stretch, 0.0)
        sine = np.sqrt(1 - float(fiber.cosine) ** 2)
        assert float(fiber.norm_length) * sine == pytest.approx(np.sin(0.4))


@pytest.mark.parametrize("damping", [0.001, 0.02, 0.1, 0.5])
def test_damped_fibers_have_the_speed_of_their_force(damping):
    muscle = make_muscle(fiber_damping=damping)
    x = ca.SX.sym("x", 3)
    speed = LAW.fiber_speed(muscle, x[0], x[1], x[2])
    force = LAW.fiber_force(muscle, x[0], FiberState(x[1], speed, ca.SX(1.0))).total
    evaluate = ca.Function("force", [x], [ca.vertcat(force, speed)])
    generator = np.random.default_rng(0)
    ranges = ((0.01, 1), (0.5, 1.5), (0, 2))
    columns = np.array([generator.uniform(*ends, 5000) for ends in ranges])
    found, speeds = np.asarray(evaluate.map(5000)(columns))
    usual = np.abs(speeds) < 20
    assert usual.sum() > 2000
    assert np.abs(found - columns[2])[usual].max() < 1e-10
