"""A human with servos falls onto both feet: four contact laws give the same movement."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import center_of_mass, momentum
from homodyn.motion import BoxObstacle, PlaneObstacle
from homodyn.simulate import (
    PD,
    ContactGeometry,
    EventDrivenContact,
    ImplicitSprings,
    SimulationStatus,
    SoftContact,
    TimeStepping,
    run,
)
from homodyn.simulate.rows.joint_rows import free_inertia
from support.rigid_bodies import box

DURATION = 0.6
WEIGHT = 73.0 * 9.81
_SOFT = SoftContact(
    stiffness=2e5, damping=1.5e3, bristle=True, tangential_stiffness=1e5, tangential_damping=100.0
)
LAWS = {
    "event_driven": (EventDrivenContact(tolerance=1e-5), 0.04, False),
    "time_stepping": (TimeStepping(), 1e-3, True),
    "implicit": (ImplicitSprings(stiffness=4e5, damping=4e3), 1e-3, True),
    "soft": (_SOFT, 2e-4, False),
}


@pytest.fixture(scope="module")
def landings():
    """Results of all laws; compiling does not pay for a few thousand steps."""
    human = hd.catalog.human36()
    feet = tuple(c.name for c in human.contacts if c.body.endswith("foot"))
    inertia, omega = free_inertia(human), 2 * np.pi * 8
    kp, kd = inertia * omega**2, 2 * inertia * omega
    kp[list(human.root.v)] = kd[list(human.root.v)] = 0.0
    start = human.neutral()
    start[human.coordinate_index("root_tz")] += 0.05
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        return {
            name: run(
                human,
                start,
                None,
                DURATION,
                dt,
                contact=law,
                actuation=PD(kp, kd, stable=stable),
                scene=ContactGeometry(human, feet),
                joint_limits=None,
                record_interval=0.04 if name == "event_driven" else dt,
            )
            for name, (law, dt, stable) in LAWS.items()
        }


def test_all_laws_finish(landings):
    for record in landings.values():
        assert record.status is SimulationStatus.FINISHED, record.message
        assert record.time[-1] == pytest.approx(DURATION)


def impulses(record):
    """Vertical impulse of the ground up to each time (N s)."""
    return momentum(record.model, record.q, record.v)[:, 5] + WEIGHT * record.time


def test_the_impulses_of_the_ground_agree(landings):
    """0.1 s after the impact and later (N s)."""
    for record in landings.values():
        impulse = np.interp([0.2, 0.28, 0.4, 0.6], record.time, impulses(record))
        reference = landings["event_driven"]
        exact = np.interp([0.2, 0.28, 0.4, 0.6], reference.time, impulses(reference))
        np.testing.assert_allclose(impulse, exact, atol=0.6)
        assert impulse[-1] == pytest.approx(WEIGHT * DURATION, abs=0.1)


def test_recorded_forces_and_impacts_sum_up_to_the_impulse(landings):
    for name in ("time_stepping", "implicit", "soft"):
        record = landings[name]
        summed = np.cumsum(record.total_force[:-1, 2]) * LAWS[name][1]
        np.testing.assert_allclose(summed, impulses(record)[1:], atol=0.15)
    # Eight points touch at once, as in the published landing at 1 m/s.
    impacts = [event for event in landings["event_driven"].events if event.name.endswith("touch")]
    assert len(impacts) == 8
    speed = np.sqrt(2 * 9.81 * 0.05)
    assert sum(event.value for event in impacts) == pytest.approx(55.066708 * speed, rel=5e-3)


def test_final_forces_equal_the_weight(landings):
    for record in landings.values():
        assert record.total_force[-1, 2] == pytest.approx(WEIGHT, rel=3e-3)
        assert np.abs(record.total_force[-1, :2]).max() < 0.02 * WEIGHT


def test_poses_agree(landings):
    """Rigid laws agree to 1 mm and 1 mrad; compliant ones penetrate by their springs."""
    exact = landings["event_driven"].q[-1]
    np.testing.assert_allclose(landings["time_stepping"].q[-1], exact, atol=1e-3)
    for name in ("implicit", "soft"):
        np.testing.assert_allclose(landings[name].q[-1], exact, atol=1e-2)
        height = center_of_mass(landings[name].model, landings[name].q[-1])[2]
        rigid = center_of_mass(landings[name].model, exact)[2]
        assert -3e-3 < height - rigid < 0


def test_rigid_laws_lose_the_same_energy(landings):
    losses = [landings[name].energy.contacts[-1] for name in ("event_driven", "time_stepping")]
    assert losses[1] == pytest.approx(losses[0], rel=0.06)
    assert np.abs(landings["event_driven"].energy.error).max() < 1e-3


def test_rigid_feet_do_not_penetrate(landings):
    assert landings["event_driven"].distances.min() > -1e-6
    assert landings["time_stepping"].distances.min() > -1e-4


BELT_LAWS = {
    "event_driven": (EventDrivenContact(friction=0.5), 0.02),
    "time_stepping": (TimeStepping(friction=0.5), 1e-3),
    "implicit": (ImplicitSprings(2e5, 2e3, 0.5), 1e-3),
    "soft": (SoftContact(5e4, 2e2, 0.5), 2e-4),
}


@pytest.mark.parametrize("law", BELT_LAWS)
def test_a_belt_takes_a_box_along(law):
    """Friction accelerates the box to the speed of the belt; then it rides without force."""
    contact, dt = BELT_LAWS[law]
    model, speed, mu, g = box(), 0.8, 0.5, 9.81
    belt = PlaneObstacle(surface_velocity=(0.0, speed, 7.0))  # the normal part does not count
    q = model.neutral()
    q[2] = 0.1
    result = run(model, q, None, 0.4, dt, contact=contact, scene=belt, record_interval=0.02)
    assert result.status is SimulationStatus.FINISHED, result.message
    duration = speed / (mu * g)
    sliding = (result.time > 0.05) & (result.time < duration - 0.02)
    scale = model.mass * g
    np.testing.assert_allclose(result.total_force[sliding, 1], mu * scale, rtol=0.06)
    assert np.abs(result.total_force[-1, :2]).max() < 2e-2 * scale
    assert result.v[-1, 1] == pytest.approx(speed, abs=2e-3)
    lag = speed * result.time[-1] - result.q[-1, 1]
    assert lag == pytest.approx(speed**2 / (2 * mu * g), rel=0.03)
    # The belt does the work that gives the box its energy; sliding dissipates as much again.
    energy = result.energy
    assert energy.kinetic[-1] == pytest.approx(model.mass * speed**2 / 2, rel=0.01)
    balance = energy.contacts[-1] + energy.actuators[-1] - energy.dissipated[-1]
    change = (energy.kinetic + energy.potential)[-1] - (energy.kinetic + energy.potential)[0]
    assert balance == pytest.approx(change, abs=0.02 * energy.kinetic[-1])


def test_two_belts_at_different_speeds_turn_a_box():
    """A split-belt treadmill: the box stays between both speeds and yaws."""
    sides = [
        BoxObstacle(
            (4.0, 1.0, 0.2), position=(0, y, -0.1), surface_velocity=(v, 0, 0), name=f"belt {v}"
        )
        for y, v in ((0.5, 1.0), (-0.5, 0.4))
    ]
    model = box()
    q = model.neutral()
    q[2] = 0.1
    law = TimeStepping(friction=0.6)
    result = run(model, q, None, 0.15, 1e-3, contact=law, scene=tuple(sides))
    assert 0.3 < result.v[-1, 0] < 1.0
    assert result.v[-1, 5] < -0.1
