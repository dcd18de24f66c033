"""Muscles at one time point, against forces and models of `homodyn.muscle`."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.muscle import Bhargava2004, Umberger2010
from homodyn.optimal.statement.muscle_point import MusclePoint, MuscleVariables
from homodyn.optimal.transcription.muscle_dynamics import MuscleDynamics
from support import muscled_leg

LEG = muscled_leg.build()
COUNT = len(LEG.muscles)
RANDOM = np.random.default_rng(3)
Q = np.array([-0.3, 0.6]) + 0.1 * RANDOM.uniform(-1, 1, (20, 2))
V = RANDOM.uniform(-2, 2, (20, 2))
LEVELS = RANDOM.uniform(0.05, 0.9, (20, COUNT))


def evaluate(drive, quantity, *columns):
    """A quantity of a point at numbers: q, v, activation, tendon force, excitation, rate."""
    symbols = [ca.SX.sym("x", column.shape[1]) for column in columns]
    point = MusclePoint(LEG, drive, *symbols[:2], MuscleVariables(*symbols[2:]))
    function = ca.Function("f", symbols, [ca.densify(quantity(point))])
    return np.array(function.map(len(Q))(*(column.T for column in columns))).T


def none(width=0):
    return np.zeros((len(Q), width))


@pytest.mark.parametrize("wrapping", ["geodesic", "opensim"])
def test_rigid_tendons_pull_as_in_forces(wrapping):
    drive = oc.MuscleDrive(tendon="rigid", wrapping=wrapping)
    columns = (Q, V, LEVELS, none(), LEVELS, none())
    found = evaluate(drive, lambda p: p.forces, *columns)
    expected = hd.muscle.forces(LEG, Q, V, LEVELS, tendon="rigid", wrapping=wrapping)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-7)
    torque = evaluate(drive, lambda p: p.torque, *columns)
    arms = hd.muscle.moment_arms(LEG, Q, wrapping)
    np.testing.assert_allclose(torque, np.einsum("fm,fmc->fc", expected, arms), atol=1e-7)
    speeds = evaluate(drive, lambda p: p.speeds, *columns)
    np.testing.assert_allclose(speeds, hd.muscle.lengthening_speeds(LEG, Q, V), atol=1e-12)


def test_polynomials_replace_the_paths():
    lower, upper = Q.min(axis=0) - 0.05, Q.max(axis=0) + 0.05
    ranges = dict(zip(LEG.coordinate_names, zip(lower, upper, strict=True), strict=True))
    fitted = hd.muscle.fit_polynomials(LEG, ranges=ranges)
    drive = oc.MuscleDrive(tendon="rigid", paths=fitted)
    columns = (Q, V, LEVELS, none(), LEVELS, none())
    arms = evaluate(drive, lambda p: ca.vec(p.moment_arms), *columns)
    exact = hd.muscle.moment_arms(LEG, Q)
    np.testing.assert_allclose(arms.reshape(-1, 2, COUNT).transpose(0, 2, 1), exact, atol=2e-3)


def test_the_implicit_rate_satisfies_the_equilibrium_and_is_that_of_the_fibers():
    drive = oc.MuscleDrive(tendon="compliant")
    known = hd.muscle.equilibrium(LEG, Q, 0 * V, LEVELS, wrapping="geodesic", tendon="compliant")
    strength = np.array([one.max_isometric_force for one in LEG.muscles])
    force = known.forces / strength
    dynamics = MuscleDynamics(LEG, drive)
    rates = dynamics.rates(Q, V, (LEVELS, force), (LEVELS, none(COUNT)), 1e-9).tendon_rate
    columns = (Q, V, LEVELS, force, LEVELS, rates)
    residual = evaluate(drive, lambda p: p.tendon_residual, *columns)
    pulling = known.status == 0
    assert pulling.mean() > 0.7
    np.testing.assert_allclose(residual[pulling], 0, atol=1e-6)
    lengths = evaluate(drive, lambda p: ca.vertcat(*[f.norm_length for f in p.fibers]), *columns)
    optimal = np.array([one.optimal_fiber_length for one in LEG.muscles])
    np.testing.assert_allclose(lengths[pulling], (known.fiber_length / optimal)[pulling], atol=1e-6)
    law = drive.laws(LEG)[0]
    speeds = evaluate(drive, lambda p: ca.vertcat(*[f.norm_speed for f in p.fibers]), *columns)
    for k, muscle in enumerate(LEG.muscles):
        chosen = pulling[:, k]
        expected = [
            float(law.fiber_speed(muscle, level, length, pull))
            for level, length, pull in zip(LEVELS[:, k], lengths[:, k], force[:, k], strict=True)
        ]
        np.testing.assert_allclose(speeds[chosen, k], np.array(expected)[chosen], atol=1e-5)


@pytest.mark.parametrize("cost", [Bhargava2004(), Umberger2010(), Umberger2010(smoothing="tanh")])
def test_metabolic_power_is_that_of_the_states(cost):
    drive = oc.MuscleDrive(tendon="rigid")
    drives = LEVELS[::-1]
    found = evaluate(drive, lambda p: p.metabolic_rates(cost), Q, V, LEVELS, none(), drives, none())
    expected = hd.muscle.metabolic_rates(LEG, Q, V, LEVELS, drives, cost, wrapping="geodesic")
    np.testing.assert_allclose(found, expected.total, rtol=1e-9, atol=1e-9)
    symbols = [ca.SX.sym("x", n) for n in (2, 2, COUNT, 0, COUNT, 0)]
    muscles = MusclePoint(LEG, drive, *symbols[:2], MuscleVariables(*symbols[2:]))
    point = oc.TimePoint(LEG, *symbols[:2], None, None, None, muscle_point=muscles)
    term = ca.Function("term", symbols, [oc.metabolic_power(cost).value(point)])
    per_mass = np.array(term.map(len(Q))(Q.T, V.T, LEVELS.T, none().T, drives.T, none().T))[0]
    np.testing.assert_allclose(per_mass, expected.total.sum(axis=1) / LEG.mass, rtol=1e-9)
