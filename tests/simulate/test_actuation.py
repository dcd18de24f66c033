"""Actuations: torques, servos, controllers, limits of motors, and actuations of users."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints
from homodyn.simulate import (
    PD,
    Actuation,
    Controller,
    SampledTorques,
    SimulationStatus,
    Torques,
    rollout,
    run,
)
from homodyn.simulate.actuation import ActuationInput, ActuationLoad

H = 1 / 60


def test_sampled_torques_are_interpolated_linearly(pendulum):
    time = np.array([0.0, 1.0, 2.0])
    torques = np.array([[0.0], [1.0], [0.0]])
    driven_run = run(
        pendulum, [0.0], None, 2.0, contact=None, actuation=SampledTorques(time, torques)
    )
    np.testing.assert_allclose(driven_run.torques[:, 0], 1 - np.abs(1 - driven_run.time), atol=1e-9)


def test_adaptive_steps_follow_sampled_torques(pendulum):
    """50 samples per second: long steps neither skip samples nor keep them constant."""
    time = np.linspace(0, 1, 51)
    torques = 2 * np.sin(7 * time)[:, None]

    def interpolated(t, q, v, batch):
        weights = [ca.fmax(0.0, 1 - ca.fabs(t - at) * 50) for at in time]
        return ca.vertcat(sum(w * float(x) for w, x in zip(weights, torques[:, 0], strict=True)))

    exact = run(
        pendulum, [0.3], None, 1.0, 2e-3, contact=None, actuation=interpolated, integrator="rk4"
    )
    sampled = SampledTorques(time, torques)
    for tolerance, arguments in (
        (1e-6, {"dt": 0.25, "contact": None, "integrator": "dormand_prince"}),
        (1e-6, {"dt": 0.25, "contact": "event_driven"}),
        (2e-5, {"dt": 2e-3, "contact": None, "integrator": "implicit_midpoint"}),
    ):
        result = run(pendulum, [0.3], None, 1.0, actuation=sampled, **arguments)
        assert result.q[-1, 0] == pytest.approx(exact.q[-1, 0], abs=tolerance)


def test_python_controllers_act_after_their_delay(pendulum):
    times = []

    def control(t, q, v):
        times.append(t)
        return [len(times)]

    result = run(
        pendulum, [0.0], None, 0.5, 1e-2, contact=None,
        actuation=Controller(control, period=0.1, delay=0.03),
    )  # fmt: skip
    np.testing.assert_allclose(times, [0, 0.1, 0.2, 0.3, 0.4, 0.5], atol=1e-9)
    torque = dict(zip(np.round(result.time, 3), result.torques[:, 0], strict=True))
    assert [torque[t] for t in (0.0, 0.12, 0.13, 0.22, 0.23)] == [1, 1, 2, 2, 3]


def test_motors_stay_within_torque_and_power():
    limits = {"max_force": 2.0, "max_velocity": 5.0}
    model = (
        Assembly("motor")
        .add(box("wheel", 1.0, (0.2, 0.2, 0.2)), joints.revolute("z", **limits))
        .model()
    )
    for actuation in (Torques([50.0]), PD(1e3, 1.0, target=[100.0], stable=True)):
        result = run(model, [0.0], None, 2.0, contact=None, actuation=actuation)
        assert np.abs(result.torques).max() <= 2.0 + 1e-9
        assert np.abs(result.torques[:-1, 0] * result.v[:-1, 0]).max() <= 10.0 * (1 + 1e-2)
        assert result.v.max() > 20
        # The note says for how long: always, or until the servo is near its target.
        (note,) = result.notes
        assert note.startswith("motors at their torque limit: wheel (")
    free = run(
        model, [0.0], None, 0.1, contact=None, actuation=Torques([50.0]), torque_limits=False
    )
    assert free.torques[0, 0] == 50.0
    assert free.notes == ()


def test_stable_servos_keep_their_target_with_any_gain(pendulum):
    stable = run(
        pendulum, [0.5], None, 1.0, 1e-2, contact=None,
        actuation=PD(1e8, 1e6, target=[0.3], stable=True),
    )  # fmt: skip
    assert stable.q[-1, 0] == pytest.approx(0.3, abs=1e-6)
    explicit = run(
        pendulum, [0.5], None, 1.0, 1e-2, contact=None, actuation=PD(1e8, 1e6, target=[0.3])
    )
    assert explicit.status is SimulationStatus.NOT_FINITE


def test_a_controller_can_be_an_object_with_a_state(pendulum):
    class Integral:
        total = 0.0

        def __call__(self, t, q, v):
            self.total += 0.01 * (0.2 - q[0])
            return 40 * (0.2 - q) - 4 * v + 200 * self.total

    result = run(pendulum, [0.0], None, 3.0, contact=None, actuation=Controller(Integral(), 0.01))
    assert result.q[-1, 0] == pytest.approx(0.2, abs=5e-3)


class Damper(Actuation):
    """Torques against all velocities."""

    def load(self, at):
        return ActuationLoad(-at.batch["gain"] * at.v)


def test_a_user_defined_actuation_becomes_part_of_the_kernel(pendulum):
    gain = {"gain": 0.5}
    own = run(pendulum, [1.0], contact=None, actuation=Damper(), batch_parameters=gain)
    function = run(
        pendulum,
        [1.0],
        contact=None,
        actuation=lambda t, q, v, batch: -batch["gain"] * v,
        batch_parameters=gain,
    )
    np.testing.assert_array_equal(own.q, function.q)
    result = rollout(
        pendulum,
        [[1.0], [1.0]],
        contact=None,
        actuation=Damper(),
        batch_parameters={"gain": [0.5, 0.0]},
    )
    np.testing.assert_allclose(result.q[0], own.q[-1], atol=1e-13)
    assert abs(result.q[1, 0] - own.q[-1, 0]) > 1e-3


def test_the_servo_of_a_hanging_mass_carries_its_weight():
    """The sign of gravity in the constraint equation (HDM eq. 10 is printed with the wrong one)."""
    model = (
        Assembly("hanging").add(box("mass", 2.0, (0.1, 0.1, 0.1)), joints.prismatic("z")).model()
    )
    servo = PD(1e6, 1e4, stable=True)
    result = run(model, [0.0], None, 1.0, H, contact=None, actuation=servo)
    assert result.torques[-1, 0] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert result.q[-1, 0] == pytest.approx(-2.0 * 9.81 / 1e6, rel=1e-6)


def test_torques_and_targets_that_do_not_fit_are_refused(ball, pendulum):
    with pytest.raises(hd.ModelError, match="1 x 1 values; 6 torques are needed"):
        run(ball, ball.neutral(), actuation=lambda t, q, v, batch: ca.SX(3.0))
    with pytest.raises(hd.ModelError, match="that of ball_tz is not"):
        run(ball, ball.neutral(), actuation={"ball_tz": np.nan})
    with pytest.raises(hd.ModelError, match="target of PD: 1 finite numbers"):
        run(pendulum, [0.0], contact=None, actuation=PD(1.0, 1.0, target=[np.nan]))


def test_gains_and_torques_accept_clinical_names():
    model = hd.catalog.heiman()
    pose = model.neutral()
    at = ActuationInput(
        model, ca.SX(0), ca.SX(pose), ca.SX.ones(model.nv), {}, None, [np.inf] * model.nv
    )

    def numbers(actuation):
        return ca.evalf(ca.SX(actuation.load(at).torque)).full()[:, 0]

    own = numbers(PD({"KneeRight_RY": 3.0, "HipLeft_RY": 5.0}, {"*": 1.0}, pose + 0.1))
    clinical = numbers(
        PD({"right knee flexion": 3.0, "hip_flexion_l": 5.0}, {"*": 1.0}, pose + 0.1)
    )
    np.testing.assert_array_equal(clinical, own)
    # Hip flexion is a negative rotation about y, so a flexing torque is negative.
    torque = numbers(Torques({"right hip flexion": 2.0}))
    assert torque[model.coordinate_index("HipRight_RY")] == -2.0
    with pytest.raises(hd.ModelError, match=r"kp: .*right knee flexoin"):
        numbers(PD({"right knee flexoin": 3.0}, 1.0))
    with pytest.raises(hd.ModelError, match="two names mean the coordinate 'KneeRight_RY'"):
        numbers(PD({"KneeRight_RY": 3.0, "right knee flexion": 3.0}, 1.0))
