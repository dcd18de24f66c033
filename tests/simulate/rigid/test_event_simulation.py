"""Event-driven and time-stepping contact in `run` and `rollout`."""

import numpy as np
import pytest

from homodyn.dynamics import Pin
from homodyn.errors import ModelError
from homodyn.model import Assembly, joints, rod
from homodyn.simulate import (
    ContactGeometry,
    Controller,
    EventDrivenContact,
    SimulationStatus,
    StateEvent,
    TimeStepping,
    rollout,
    run,
)
from support.rigid_bodies import ball, box

G = 9.81


@pytest.fixture(autouse=True)
def _uncompiled(monkeypatch):
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")


def raised_ball(height=0.5):
    """A ball and its pose at a height above the ground (m)."""
    model = ball()
    q = model.neutral()
    q[2] = 0.1 + height
    return model, q


@pytest.mark.parametrize("law", ["event_driven", "time_stepping"])
def test_laws_have_names(law):
    model, q = raised_ball(0.01)
    record = run(model, q, None, 0.1, 1e-3, contact=law, record_interval=0.1)
    assert record.status is SimulationStatus.FINISHED
    assert record.total_force[-1] == pytest.approx([0, 0, 2 * G], abs=1e-3)


def test_an_event_driven_run_has_an_energy_balance_and_events():
    model, q = raised_ball()
    record = run(model, q, None, 1.0, 0.05, contact=EventDrivenContact(restitution=0.5))
    touches = [h.time for h in record.events if h.name == "ball_skin touch"]
    assert touches[0] == pytest.approx(np.sqrt(2 * 0.5 / G), abs=1e-7)
    assert np.abs(record.energy.error).max() < 1e-6
    assert record.energy.contacts[-1] == pytest.approx(-2.0 * G * 0.5, rel=1e-3)
    assert record.distances.min() > -1e-7


def test_user_defined_events_are_located_between_impacts():
    model, q = raised_ball()
    top = StateEvent("top", lambda t, q, v, batch: v[2], direction="falling", action="end")
    record = run(model, q, np.array([0, 0, 1e-9, 0, 0, 0]), 2.0, 0.05, contact="event_driven")
    assert record.status is SimulationStatus.FINISHED
    bouncing = EventDrivenContact(restitution=0.5)
    start = np.array([0, 0, -1e-6, 0, 0, 0])
    ended = run(model, q, start, 2.0, 0.05, contact=bouncing, events=(top,))
    assert ended.status is SimulationStatus.ENDED
    expected = np.sqrt(2 * 0.5 / G) * (1 + 0.5)
    assert ended.time[-1] == pytest.approx(expected, abs=1e-5)
    assert ended.q[-1, 2] == pytest.approx(0.1 + 0.5 * 0.25, abs=1e-5)
    # Steps across the touch are repeated while the event is located; it is recorded once.
    assert sum(h.name == "ball_skin touch" for h in ended.events) == 1


def test_a_controller_is_called_at_its_period():
    model, q = raised_ball()
    calls = []

    def hover(t, q, v):
        calls.append(t)
        return np.array([0, 0, 2 * G, 0, 0, 0])

    record = run(
        model,
        q,
        None,
        0.1,
        0.05,
        contact="event_driven",
        actuation=Controller(hover, period=0.02),
        torque_limits=False,
    )
    np.testing.assert_allclose(calls, np.arange(6) * 0.02, atol=1e-9)
    np.testing.assert_allclose(record.v, 0, atol=1e-9)


@pytest.mark.parametrize("law", [EventDrivenContact(), TimeStepping()])
def test_torques_that_are_not_finite_are_reported(law):
    model, q = raised_ball()
    record = run(
        model,
        q,
        None,
        0.1,
        0.01,
        contact=law,
        actuation=Controller(lambda t, q, v: np.full(6, np.nan if t > 0.04 else 0.0), period=0.01),
    )
    assert record.status is SimulationStatus.NOT_FINITE
    assert "root_" in record.message
    # The torque at 0.05 s is not known, so the last sample is the one before.
    assert "0.05 s" in record.message
    assert record.time[-1] == pytest.approx(0.04)
    assert np.isfinite(record.torques).all()


def test_a_start_inside_the_ground_is_reported():
    model, q = raised_ball(-0.05)
    record = run(model, q, None, 0.1, 0.01, contact="event_driven")
    assert record.status is SimulationStatus.NOT_CONVERGED
    assert "ball_skin" in record.message
    assert "0.05" in record.message
    corrected = run(model, q, None, 0.5, 1e-3, contact="time_stepping", record_interval=0.1)
    assert corrected.status is SimulationStatus.FINISHED
    assert corrected.notes
    assert corrected.distances[-1, 0] > -1e-3


def test_events_without_end_stall():
    model, q = raised_ball(1e-7)
    law = EventDrivenContact(restitution=0.9999, rest_speed=1e-12, max_events_per_second=200)
    record = run(model, q, None, 1.0, 0.1, contact=law)
    assert record.status is SimulationStatus.STALLED
    assert "ball_skin" in record.message


def test_batch_elements_equal_single_runs():
    model = box()
    rng = np.random.default_rng(0)
    q = np.tile(model.neutral(), (5, 1))
    q[:, 2] = 0.15
    v = rng.normal(size=(5, 6))
    law = TimeStepping(friction="mu", sweeps=8)
    elements = rollout(
        model,
        q,
        v,
        0.1,
        1e-3,
        contact=law,
        batch_parameters={"mu": np.linspace(0, 1, 5)},
        recorded_quantities=("q", "v", "residual"),
    )
    assert (elements.status == 0).all()
    for k, mu in enumerate(np.linspace(0, 1, 5)):
        alone = run(model, q[k], v[k], 0.1, 1e-3, contact=law, batch_parameters={"mu": mu})
        np.testing.assert_array_equal(alone.q[-1], elements.q[k])
    assert elements.records["residual"].shape == (5, 101)
    # Without friction the speed remains, with friction it decreases.
    assert np.linalg.norm(elements.v[0, :2]) > np.linalg.norm(elements.v[-1, :2])


def test_event_driven_rollouts_are_refused():
    model, q = raised_ball()
    with pytest.raises(ModelError, match="event_driven"):
        rollout(model, q[None], None, 0.1, contact="event_driven")


def test_a_geometry_selects_the_contacts():
    model, q = raised_ball(0.01)
    record = run(
        model, q, None, 0.2, 0.05, contact="event_driven", scene=ContactGeometry(model, ())
    )
    assert record.q[-1, 2] == pytest.approx(0.11 - G * 0.02, abs=1e-9)


def test_events_change_constants_that_are_batch_parameters():
    """A ball slides without friction until 0.1 s, then with friction."""
    model, q = raised_ball(0.0)
    rough = StateEvent(
        "rough", lambda t, q, v, batch: t - 0.1, "rising", 1e-12, lambda t, q, v, batch: {"mu": 0.2}
    )
    v = np.array([1.0, 0, 0, 0, 0, 0])
    law = EventDrivenContact(friction="mu")
    result = run(model, q, v, 0.5, 0.05, contact=law, batch_parameters={"mu": 0.0}, events=(rough,))
    assert result.status is SimulationStatus.FINISHED, result.message
    np.testing.assert_allclose(result.v[result.time < 0.09, 0], 1.0, atol=1e-9)
    (rest,) = [event for event in result.events if event.name == "ball_skin rest"]
    assert rest.time == pytest.approx(0.1 + 2 / (7 * 0.2 * G), abs=1e-5)
    # Events record the state at their time, not at the nearest sample.
    assert np.linalg.norm(rest.v[:3]) == pytest.approx(5 / 7, abs=1e-4)
    assert rest.q[0] == pytest.approx(0.1 + (1 - 25 / 49) / (2 * 0.2 * G), abs=1e-4)


def test_locked_coordinates_and_pinned_points_do_not_move():
    tail = (0.0, 0.0, -1.0)
    model = (
        Assembly("arm")
        .add(rod("upper", 1.0, (0, 0, 0), tail), joints.revolute("y", locked=True))
        .add(rod("lower", 1.0, (0, 0, 0), tail), joints.revolute("y"), "upper", at=tail)
        .model()
    )
    alone = Assembly("alone").add(rod("lower", 1.0, (0, 0, 0), tail), joints.revolute("y")).model()
    locked = run(model, [0.5, 0.2], None, 0.5, 0.05, contact="event_driven")
    free = run(alone, [0.7], None, 0.5, 0.05, contact="event_driven")
    np.testing.assert_allclose(locked.q[:, 0], 0.5, atol=1e-9)
    np.testing.assert_allclose(locked.q[:, 1] + 0.5, free.q[:, 0], atol=1e-7)
    # Velocity along a locked coordinate is removed at once, and its energy counts as dissipated.
    stopped = run(model, [0.5, 0.2], [1.0, 0.0], 0.1, 0.05, contact="event_driven")
    np.testing.assert_allclose(stopped.q[:, 0], 0.5, atol=1e-6)
    assert stopped.energy.dissipated[-1] > 0.1
    assert np.abs(stopped.energy.error).max() < 1e-6
    pinned = run(
        model,
        [0.5, 0.2],
        None,
        0.1,
        0.05,
        contact="event_driven",
        constraints=Pin("lower", point=tail),
    )
    np.testing.assert_allclose(pinned.q, np.tile([0.5, 0.2], (len(pinned.time), 1)), atol=1e-9)
    assert pinned.constraint_forces.shape == (len(pinned.time), 3)
