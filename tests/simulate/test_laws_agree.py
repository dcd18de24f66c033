"""A human dropped onto both feet and held by servos: four contact laws, one movement."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.dynamics import center_of_mass, momentum
from homodyn.simulate import (
    PD,
    ContactGeometry,
    EventDrivenContact,
    ImplicitSprings,
    SimulationOptions,
    SimulationStatus,
    SoftContact,
    TimeStepping,
    run,
)
from homodyn.simulate.joint_rows import free_inertia

DURATION = 0.6
WEIGHT = 73.0 * 9.81
_SOFT = SoftContact(
    stiffness=2e5,
    damping=1.5e3,
    bristle=True,
    tangential_stiffness=1e5,
    tangential_damping=100.0,
)
LAWS = {
    "event_driven": (EventDrivenContact(tolerance=1e-5), 0.04, False),
    "time_stepping": (TimeStepping(), 1e-3, True),
    "implicit": (ImplicitSprings(stiffness=4e5, damping=4e3), 1e-3, True),
    "soft": (_SOFT, 2e-4, False),
}


@pytest.fixture(scope="module")
def landings():
    """Records of all laws; a kernel that runs a few thousand steps is not worth a compiler."""
    human = hd.catalog.human36()
    feet = tuple(c.name for c in human.contacts if c.body.endswith("foot"))
    inertia, omega = free_inertia(human), 2 * np.pi * 8
    kp, kd = inertia * omega**2, 2 * inertia * omega
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
                options=SimulationOptions(
                    scene=ContactGeometry(human, feet),
                    joint_limits=None,
                    record_interval=0.04 if name == "event_driven" else dt,
                ),
            )
            for name, (law, dt, stable) in LAWS.items()
        }


def test_all_come_to_the_end(landings):
    for record in landings.values():
        assert record.status is SimulationStatus.FINISHED, record.message
        assert record.time[-1] == pytest.approx(DURATION)


def impulses(record):
    """What the ground has given up to each time (N s, upwards): it and gravity alone act."""
    return momentum(record.model, record.q, record.v)[:, 5] + WEIGHT * record.time


def test_the_ground_gives_the_same_impulse(landings):
    """What stopped the fall, 0.1 s after it, and what has carried the weight since (N s)."""
    for record in landings.values():
        given = np.interp([0.2, 0.28, 0.4, 0.6], record.time, impulses(record))
        exact = np.interp([0.2, 0.28, 0.4, 0.6], *_course(landings["event_driven"]))
        np.testing.assert_allclose(given, exact, atol=0.6)
        assert given[-1] == pytest.approx(WEIGHT * DURATION, abs=0.1)


def _course(record):
    return record.time, impulses(record)


def test_recorded_forces_and_blows_make_up_the_impulse(landings):
    for name in ("time_stepping", "implicit", "soft"):
        record = landings[name]
        summed = np.cumsum(record.total_force[:-1, 2]) * LAWS[name][1]
        np.testing.assert_allclose(summed, impulses(record)[1:], atol=0.15)
    # The blow of eight points that touch at once, as in the golden landing at 1 m/s.
    blow = [event for event in landings["event_driven"].events if event.name.endswith("touch")]
    assert len(blow) == 8
    speed = np.sqrt(2 * 9.81 * 0.05)
    assert sum(event.value for event in blow) == pytest.approx(55.066708 * speed, rel=5e-3)


def test_settled_forces_are_the_weight(landings):
    for record in landings.values():
        assert record.total_force[-1, 2] == pytest.approx(WEIGHT, rel=3e-3)
        assert np.abs(record.total_force[-1, :2]).max() < 0.02 * WEIGHT


def test_poses_agree(landings):
    """Rigid laws to a tenth of a millimetre and milliradian; soft ones sink by their spring."""
    exact = landings["event_driven"].q[-1]
    np.testing.assert_allclose(landings["time_stepping"].q[-1], exact, atol=1e-3)
    for name in ("implicit", "soft"):
        np.testing.assert_allclose(landings[name].q[-1], exact, atol=1e-2)
        height = center_of_mass(landings[name].model, landings[name].q[-1])[2]
        rigid = center_of_mass(landings[name].model, exact)[2]
        assert -3e-3 < height - rigid < 0


def test_rigid_laws_lose_the_same_energy(landings):
    lost = [landings[name].energy.contacts[-1] for name in ("event_driven", "time_stepping")]
    assert lost[1] == pytest.approx(lost[0], rel=0.06)
    assert np.abs(landings["event_driven"].energy.error).max() < 1e-3


def test_rigid_feet_do_not_sink(landings):
    assert landings["event_driven"].distances.min() > -1e-6
    assert landings["time_stepping"].distances.min() > -1e-4
