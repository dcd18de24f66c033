"""Contact laws, actuations and integrators of one's own, and the arguments that users guess."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.integrate import ExplicitRungeKutta
from homodyn.integrate.tableau import Tableau
from homodyn.simulate import (
    Actuation,
    ActuationLoad,
    BatchSimulator,
    ContactForces,
    ContactLaw,
    Controller,
    ForceLaw,
    ImplicitSprings,
    SimulationOptions,
    SoftContact,
    StepLaw,
    TimeStepping,
    gap_velocity,
    rollout,
    run,
)


class Penalty(ForceLaw):
    """A frictionless spring-damper, written as a user would."""

    name = "penalty"

    def forces(self, geometry, tree, memory, batch):
        gaps = geometry.gaps(tree)
        forces = []
        for gap in gaps:
            speed = ca.dot(gap.normal, gap_velocity(tree, gap))
            size = ca.fmax(-5e4 * gap.distance - 100.0 * speed, 0.0)
            forces.append(ca.if_else(gap.distance < 0, size, 0.0) * gap.normal)
        return ContactForces(gaps, forces, ca.SX(0, 1))


class OneSweep(StepLaw):
    """A step law that leaves its work to another one."""

    name = "one sweep"
    law = TimeStepping(sweeps=1)

    def memory_size(self, geometry):
        return self.law.memory_size(geometry)

    def step(self, problem):
        return self.law.step(problem)


class Damper(Actuation):
    """Torques against all velocities."""

    def load(self, at):
        return ActuationLoad(-at.batch["gain"] * at.v)


def dropped(ball):
    q = ball.neutral()
    q[2] = 0.15
    return q


def test_a_force_law_of_ones_own_is_used_in_runs_and_rollouts(ball):
    q = dropped(ball)
    own = run(ball, q, None, 0.3, contact=Penalty())
    known = run(ball, q, None, 0.3, contact=SoftContact(friction=0.0, bristle=False))
    np.testing.assert_allclose(own.q, known.q, atol=1e-12)
    assert own.total_force[:, 2].max() > 0
    rolled = rollout(ball, np.tile(q, (3, 1)), None, 0.3, contact=Penalty())
    np.testing.assert_allclose(rolled.q, np.tile(own.q[-1], (3, 1)), atol=1e-12)
    stepped = run(
        ball, q, None, 0.3, contact=Penalty(), options=SimulationOptions(integrator="rk4")
    )
    assert abs(stepped.q[-1, 2] - own.q[-1, 2]) < 1e-2


def test_a_step_law_of_ones_own_goes_with_its_integrator_only(ball):
    q = dropped(ball)
    own = run(ball, q, None, 0.3, contact=OneSweep())
    known = run(ball, q, None, 0.3, contact=TimeStepping(sweeps=1))
    np.testing.assert_array_equal(own.q, known.q)
    with pytest.raises(hd.ModelError, match="'one sweep' finds velocities at the end of a step"):
        run(ball, q, contact=OneSweep(), options=SimulationOptions(integrator="heun"))


def test_what_is_no_contact_law_is_refused(ball):
    with pytest.raises(hd.ModelError, match="derives from ForceLaw, StepLaw or EventDrivenLaw"):
        run(ball, ball.neutral(), contact=object())
    assert isinstance(SoftContact(), ForceLaw)
    assert isinstance(ImplicitSprings(), StepLaw)
    assert issubclass(StepLaw, ContactLaw)


def test_an_actuation_of_ones_own_becomes_part_of_the_kernel(pendulum):
    options = SimulationOptions(batch_parameters={"gain": 0.5})
    own = run(pendulum, [1.0], contact=None, actuation=Damper(), options=options)
    same = run(
        pendulum,
        [1.0],
        contact=None,
        actuation=lambda t, q, v, batch: -batch["gain"] * v,
        options=options,
    )
    np.testing.assert_array_equal(own.q, same.q)
    rolled = rollout(
        pendulum,
        [[1.0], [1.0]],
        contact=None,
        actuation=Damper(),
        options=SimulationOptions(batch_parameters={"gain": [0.5, 0.0]}),
    )
    np.testing.assert_allclose(rolled.q[0], own.q[-1], atol=1e-13)
    assert abs(rolled.q[1, 0] - own.q[-1, 0]) > 1e-3


def test_an_integrator_of_ones_own_has_its_order(pendulum):
    from fractions import Fraction

    third, two_thirds, quarter = Fraction(1, 3), Fraction(2, 3), Fraction(1, 4)
    tableau = Tableau(
        ((), (third,), (Fraction(0), two_thirds)), (quarter, Fraction(0), Fraction(3, 4))
    )
    heun3 = ExplicitRungeKutta("heun3", 3, tableau)

    def end(steps, integrator):
        options = SimulationOptions(integrator=integrator)
        return run(pendulum, [1.0], None, 1.0, 1 / steps, contact=None, options=options).q[-1, 0]

    exact = end(400, "rk4")
    errors = [abs(end(steps, heun3) - exact) for steps in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.3)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"controller": None}, r"no argument 'controller'; pass a controller as actuation="),
        ({"torques": None}, r"no argument 'torques'; pass torques as actuation="),
        ({"integrator": "rk4"}, r"options=SimulationOptions\(integrator=...\)"),
        ({"lane": {}}, r"SimulationOptions\(batch_parameters=...\)"),
        ({"speed": 1}, r"no argument 'speed'; options are scene, events"),
    ],
)
def test_arguments_that_users_guess_get_a_hint(pendulum, arguments, hint):
    for function in (run, rollout):
        with pytest.raises(TypeError, match=hint):
            function(pendulum, [0.0], **arguments)
    with pytest.raises(TypeError, match=hint):
        BatchSimulator(pendulum, **arguments)


def test_a_result_is_a_motion_and_a_table(pendulum):
    swung = run(pendulum, [1.0], None, 0.2, 1e-2, contact=None)
    motion = swung.motion
    assert motion.model is pendulum
    np.testing.assert_array_equal(motion.q, swung.q)
    np.testing.assert_allclose(motion.a[1:-1, 0], -1.5 * 9.81 * np.sin(swung.q[1:-1, 0]), atol=0.3)
    name = pendulum.coordinate_names[0]
    np.testing.assert_array_equal(swung[name].values, swung.q[:, 0])
    np.testing.assert_array_equal(swung[f"{name} velocity"].values, swung.v[:, 0])
    assert len(repr(swung).splitlines()) <= 10
    assert not swung.q.flags.writeable
    rolled = rollout(
        pendulum,
        [[1.0], [0.5]],
        None,
        0.2,
        1e-2,
        contact=None,
        options=SimulationOptions(recorded_quantities=("q", "v")),
    )
    np.testing.assert_allclose(rolled.motion(0).q, swung.q, atol=1e-13)
    with pytest.raises(hd.ModelError, match="did not record q and v"):
        rollout(pendulum, [[1.0]], contact=None).motion(0)


def test_a_controller_may_be_an_object_with_a_state(pendulum):
    class Integral:
        total = 0.0

        def __call__(self, t, q, v):
            self.total += 0.01 * (0.2 - q[0])
            return 40 * (0.2 - q) - 4 * v + 200 * self.total

    held = run(pendulum, [0.0], None, 3.0, contact=None, actuation=Controller(Integral(), 0.01))
    assert held.q[-1, 0] == pytest.approx(0.2, abs=5e-3)
