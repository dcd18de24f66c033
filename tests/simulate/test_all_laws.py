"""Joints, motors, energy balance and failures under every contact law."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints, rod, sphere
from homodyn.simulate import (
    PD,
    EventDrivenContact,
    ImplicitSprings,
    SampledTorques,
    SimulationStatus,
    SoftContact,
    TimeStepping,
    Torques,
    run,
)

LAWS = {
    "event_driven": (EventDrivenContact(), 0.01),
    "time_stepping": (TimeStepping(), 1e-3),
    "soft": (SoftContact(2e4, 100.0), 1e-3),
    "implicit": (ImplicitSprings(1e5, 1e3), 1e-3),
}


pytestmark = pytest.mark.usefixtures("interpreted")


def machine():
    """Doors on separate hinges, each with one kind of joint force, and a ball on the ground."""
    door = {"start": (0, 0, 0), "end": (1, 0, 0)}
    kinds = {
        "stopped": joints.revolute("z", upper=0.5),
        "rough": joints.revolute("z", friction=0.5),
        "sprung": joints.revolute("z", stiffness=30.0, damping=2.0, rest=0.2),
        "driven": joints.revolute("z", max_force=4.0, max_velocity=2.0),
        "servo": joints.revolute("z", max_force=4.0),
    }
    assembly = Assembly("machine")
    for k, (name, joint) in enumerate(kinds.items()):
        assembly = assembly.add(rod(name, 2.0, **door), joint, at=(0, 0, k + 1.0))
    # The ball makes the contact law act.
    assembly = assembly.add(sphere("ball", 1.0, 0.1), joints.prismatic("z"), at=(5, 0, 0))
    return assembly.contact("skin", "ball", "sphere", radius=0.1).model()


INERTIA = 2.0 / 3
"""Inertia of a door about its hinge (kg m2)."""


@pytest.fixture(scope="module")
def runs():
    """One second of the machine under each law."""
    model = machine()
    names = list(model.coordinate_names)
    servo = PD({"servo": 60.0}, {"servo": 12.0}, target=[0, 0, 0, 0, 0.1, 0], stable=True)
    start = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.1])
    fast = np.array([2.0, 0.6, 0.0, 0.0, 0.0, 0.0])
    records = {
        law: run(
            model,
            start,
            fast,
            1.0,
            dt,
            contact=chosen,
            actuation=(Torques({"driven": 50.0}), servo),
            record_interval=0.01,
        )
        for law, (chosen, dt) in LAWS.items()
    }
    assert names[:5] == ["stopped", "rough", "sprung", "driven", "servo"]
    return records


@pytest.mark.parametrize("law", LAWS)
def test_a_limit_stops_a_joint_and_never_pulls(runs, law):
    record = runs[law]
    angle, speed = record.q[:, 0], record.v[:, 0]
    # Rigid stops remove all speed; springs of 15 Hz yield by some hundredths of a radian.
    rigid = law == "event_driven"
    assert angle.max() < 0.5 + (1e-6 if rigid else 0.03)
    assert angle.max() > 0.4999
    assert -1.0 < speed[-1] <= 1e-6
    assert angle[-1] <= angle.max()


@pytest.mark.parametrize("law", LAWS)
def test_dry_friction_stops_a_joint(runs, law):
    record = runs[law]
    assert record.q[-1, 1] == pytest.approx(0.6**2 / 2 * INERTIA / 0.5, rel=5e-3)
    assert abs(record.v[-1, 1]) < 1e-6
    result = record.time > 0.6 * INERTIA / 0.5 + 0.02
    np.testing.assert_allclose(record.q[result, 1], record.q[-1, 1], atol=1e-5)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("inertia", "friction"), [(1e-2, 0.5), (1e-3, 0.5), (1e-5, 5.0)])
def test_dry_friction_stops_light_links_and_never_reverses_them(law, inertia, friction):
    """Including a link that friction could change from 10 to -490 rad/s within one step."""
    link = joints.revolute("z", friction=friction)
    assembly = Assembly("link").add("link", link, mass=1.0, inertia=inertia * np.eye(3))
    model = assembly.contact("skin", "link", position=(0, 0, 1.0)).model()
    result = run(model, [0.0], [10.0], 0.3, 1e-3, contact=LAWS[law][0], record_interval=1e-3)
    exact = inertia * 10.0**2 / 2 / friction
    # The error of the position is at most one step of 1 ms at 10 rad/s.
    assert result.q[-1, 0] == pytest.approx(exact, abs=0.01)
    assert result.v.min() > -1e-6
    assert abs(result.v[-1, 0]) < 1e-6
    assert np.all(np.diff(result.energy.kinetic) < 1e-12)
    assert result.energy.dissipated[-1] == pytest.approx(inertia * 50, rel=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_a_spring_damper_follows_its_closed_solution(runs, law):
    record = runs[law]
    decay, omega = 2.0 / (2 * INERTIA), np.sqrt(30.0 / INERTIA - (2.0 / (2 * INERTIA)) ** 2)
    t = record.time
    swing = 0.2 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(
        record.q[:, 2], 0.2 - swing, atol=1e-6 if law == "event_driven" else 2e-3
    )


@pytest.mark.parametrize("law", LAWS)
def test_motors_stay_within_torque_and_power(runs, law):
    """4 N m up to 2 rad/s, then 8 W: v^2 grows by 2 P t / I."""
    record = runs[law]
    assert np.abs(record.torques[:, 3:5]).max() <= 4.0 + 1e-9
    full = 2.0 / (4.0 / INERTIA)
    expected = np.sqrt(2.0**2 + 2 * 8.0 / INERTIA * (1.0 - full))
    assert record.v[-1, 3] == pytest.approx(expected, rel=3e-3)
    assert record.torques[0, 4] == pytest.approx(4.0, abs=0.5)
    assert record.q[-1, 4] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize("law", LAWS)
def test_the_energy_balance_closes(runs, law):
    """Work of motors, stops, friction and dampers, and the reported error, sum up to the change."""
    energy = runs[law].energy
    change = energy.kinetic + energy.potential
    change = change - change[0]
    accounted = (
        energy.actuators + energy.contacts - energy.dissipated + energy.events + energy.error
    )
    np.testing.assert_allclose(change, accounted, atol=1e-12)
    assert np.abs(energy.error).max() < (1e-6 if law == "event_driven" else 0.03)
    assert energy.actuators[-1] > 5
    assert energy.dissipated[-1] > 1


@pytest.mark.parametrize("law", LAWS)
def test_the_energy_balance_of_a_tumbling_box_closes(law):
    """It hits the ground with its corners and slides; it loses 20 J."""
    model = (
        Assembly("box")
        .add(box("box", 3.0, (0.4, 0.3, 0.2)), joints.free())
        .contact("skin", "box", "box", size=(0.4, 0.3, 0.2))
        .model()
    )
    q = model.neutral()
    q[2] = 0.6
    v = np.array([0.5, -0.2, 0.0, 2.0, 1.0, 0.5])
    chosen, dt = LAWS[law]
    if law == "event_driven":
        chosen = EventDrivenContact(tolerance=1e-6)
    result = run(model, q, v, 0.6, dt, contact=chosen, record_interval=0.01)
    energy = result.energy
    change = energy.kinetic + energy.potential
    accounted = energy.actuators + energy.contacts - energy.dissipated + energy.error
    np.testing.assert_allclose(change - change[0], accounted, atol=1e-12)
    bound = {"event_driven": 1e-5, "soft": 0.2}.get(law, 0.1)
    assert np.abs(energy.error).max() < bound
    assert np.diff(change).max() < {"soft": 5.0}.get(law, 0.1)
    assert energy.contacts[-1] < -10


# -- failures


def ball():
    assembly = Assembly("ball").add(sphere("ball", 1.0, 0.1), joints.free())
    return assembly.contact("skin", "ball", "sphere", radius=0.1).model()


@pytest.mark.parametrize("law", LAWS)
def test_failures_are_reported_with_status_and_message(law):
    model, (chosen, dt) = ball(), LAWS[law]
    q = hd.simulate.place_on_ground(model, model.neutral(), 0.05)
    torques = np.zeros((2, 6))
    torques[1, 2] = np.nan
    failed = run(
        model, q, None, 0.2, dt, contact=chosen,
        actuation=SampledTorques([0.0, 0.1], torques, zero_order_hold=True),
    )  # fmt: skip
    assert failed.status is SimulationStatus.NOT_FINITE
    assert "0.1 s" in failed.message
    assert "ball_tz" in failed.message
    for array in (failed.q, failed.v, failed.forces, failed.torques, failed.energy.error):
        assert np.isfinite(array).all()
    assert failed.time[-1] == pytest.approx(0.1, abs=2 * dt)
    # Steps as long as the fall, and a start 50 mm inside the ground.
    for start, step in ((q, 1.0), (q - [0, 0, 0.1, 0, 0, 0, 0], dt)):
        result = run(model, start, None, 2.0, step, contact=chosen, record_interval=step)
        assert np.isfinite(result.q).all()
        assert np.isfinite(result.forces).all()
        if result.status is not SimulationStatus.FINISHED:
            assert " s" in result.message
        elif step == dt:
            assert result.q[-1, 2] > 0.09
    assert "inside" in f"{result.message} {result.notes}"


@pytest.mark.parametrize("law", LAWS)
def test_without_friction_there_is_no_tangential_force(law):
    model, (chosen, dt) = ball(), LAWS[law]
    frictionless = replace(chosen, friction=0.0)
    q = hd.simulate.place_on_ground(model, model.neutral())
    result = run(
        model, q, [1.0, 0.5, 0, 0, 0, 3.0], 0.2, dt, contact=frictionless, record_interval=0.1
    )
    assert result.status is SimulationStatus.FINISHED
    np.testing.assert_allclose(result.forces[..., :2], 0, atol=1e-9)
    np.testing.assert_allclose(result.q[-1, :2], [0.2, 0.1], atol=2e-3)


@pytest.mark.parametrize("law", LAWS)
def test_springs_of_1e6_newton_per_meter_are_stable_with_steps_of_10_ms(law):
    """Springs along coordinates are implicit, or the law shortens its steps."""
    spring = joints.prismatic("x", stiffness=1e6, damping=400.0)
    assembly = Assembly("stiff").add(sphere("ball", 1.0, 0.1), spring, at=(0, 0, 0.2))
    model = assembly.contact("skin", "ball", "sphere", radius=0.1).model()
    result = run(model, [0.01], None, 0.05, 0.01, contact=LAWS[law][0])
    assert result.status is SimulationStatus.FINISHED, result.message
    assert np.abs(result.q).max() <= 0.01
    assert abs(result.q[-1, 0]) < 1e-3
