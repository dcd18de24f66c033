"""Pads that stiffen: closed solutions of force, loss and static compression."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, sphere
from homodyn.simulate import PadContact, heel_pads
from homodyn.simulate.laws import dissipation_of_loss, pad_force
from homodyn.simulate.laws.pad_contact import (
    HEEL_COMPRESSION_M,
    HEEL_FINAL_STIFFNESS_N_PER_M,
    HEEL_STIFFNESS_N_PER_M,
)

HEELS = ("HeelRight", "HeelLeft")


@pytest.fixture(scope="module")
def ball():
    """A ball that moves up and down, with a contact sphere."""
    return (
        Assembly("ball")
        .add(sphere("ball", mass=2.0, radius=0.05), joints.prismatic("z"))
        .contact("skin", "ball", "sphere", radius=0.05)
        .model()
    )


def drop(ball, law, speed, duration=0.2, dt=1e-5, gravity=True):
    """A run from the surface with a speed downwards."""
    model = ball if gravity else ball.with_gravity(0.0)
    return hd.simulate.run(
        model, [0.05], [-speed], duration=duration, dt=dt, contact=law, integrator="rk4"
    )


@pytest.mark.parametrize("stiffening", [0.0, 10.0, 200.0])
def test_force_is_the_integral_of_the_stiffness(stiffening):
    x = np.array([0.0, 1e-9, 1e-6, 4e-6, 1e-4, 5e-3, 1e-2])
    force = np.array([float(pad_force(ca.DM(one), 3e4, stiffening)) for one in x])
    exact = 3e4 * x if stiffening == 0 else 3e4 * np.expm1(stiffening * x) / stiffening
    np.testing.assert_allclose(force, exact, rtol=1e-12)


def test_a_heel_has_the_measured_stiffness_at_both_ends():
    law = heel_pads(hd.catalog.heiman())
    slope = ca.Function(
        "k",
        [x := ca.SX.sym("x")],
        [ca.jacobian(pad_force(x, law.stiffness["HeelLeft"], law.stiffening), x)],
    )
    assert float(slope(0)) == pytest.approx(HEEL_STIFFNESS_N_PER_M, rel=1e-9)
    final = float(slope(HEEL_COMPRESSION_M))
    assert final == pytest.approx(HEEL_FINAL_STIFFNESS_N_PER_M, rel=1e-9)
    # About the weight of a person, as the heel carries early in stance.
    force = float(pad_force(ca.DM(HEEL_COMPRESSION_M), HEEL_STIFFNESS_N_PER_M, law.stiffening))
    assert 900 < force < 1100


@pytest.mark.parametrize(("loss", "speed"), [(0.33, 0.3), (0.1, 1.0), (0.6, 0.5)])
def test_an_impact_loses_the_given_energy_for_any_spring(ball, loss, speed):
    dissipation = dissipation_of_loss(loss, speed)
    for stiffness, stiffening in ((3e4, 180.0), (1e5, 0.0)):
        law = PadContact(stiffness=stiffness, stiffening=stiffening, dissipation=dissipation)
        result = drop(ball, law, speed, duration=0.06, gravity=False)
        after = result.v[-1, 0]
        assert after > 0
        assert result.q[-1, 0] > 0.05
        assert 1 - (after / speed) ** 2 == pytest.approx(loss, abs=2e-4)


def test_a_sole_is_in_series_with_the_pad(ball):
    weight, k, c, sole = 2.0 * 9.81, 2e3, 300.0, 5e3
    law = PadContact(stiffness=k, stiffening=c, dissipation=3.0, sole_stiffness=sole)
    result = hd.simulate.run(ball, [0.05], duration=3.0, dt=1e-3, contact=law)
    pad = np.log1p(c * weight / k) / c
    assert abs(result.v[-1, 0]) < 1e-6
    assert 0.05 - result.q[-1, 0] == pytest.approx(pad + weight / sole, abs=1e-8)


def test_the_energy_balance_closes(ball):
    result = drop(ball, PadContact(), 0.5, duration=0.1, dt=1e-4)
    assert np.abs(result.energy.error).max() < 1e-6
    assert result.energy.dissipated[-1] - result.energy.contacts[-1] > 0


def test_a_human_stands_on_its_pads():
    human = hd.catalog.heiman(height=1.75, mass=75)
    q = hd.simulate.place_on_ground(human, human.neutral())
    servos = hd.simulate.PD(kp=800, kd=40, target=q, stable=True)
    result = hd.simulate.run(
        human, q, duration=0.5, dt=1e-3, contact=heel_pads(human), actuation=servos
    )
    total = result.total_force[-100:, 2].mean()
    assert total == pytest.approx(75 * 9.81, rel=0.05)
    deepest = -result.distances[-1].min()
    assert 1e-4 < deepest < HEEL_COMPRESSION_M


def test_wrong_arguments_are_refused(ball):
    with pytest.raises(ModelError, match="name those of the heels"):
        heel_pads(ball)
    with pytest.raises(ModelError, match="heel"):
        heel_pads(ball, ("heel",))
    with pytest.raises(ModelError, match="sole must be positive"):
        heel_pads(hd.catalog.heiman(), HEELS, sole_stiffness=0.0)
    with pytest.raises(ModelError, match="from 0 to below 1"):
        dissipation_of_loss(1.0, 0.3)
