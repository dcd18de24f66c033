"""Event-driven rigid contacts against closed solutions."""

import numpy as np
import pytest

from homodyn.dynamics import kinetic_energy, momentum, position, potential_energy, velocity
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, joints
from homodyn.simulate import ContactGeometry
from homodyn.simulate.rigid import EventDrivenContact, TerminationReason, run_events
from homodyn.simulate.rigid.contact_modes import CLOSING_DEPTH
from homodyn.simulate.rows.joint_rows import free_inertia
from support.rigid_bodies import ball, box, coin, pose_on_slope, slope, stack_of_boxes

G = 9.81


def energy(model, result):
    return kinetic_energy(model, result.q, result.v) + potential_energy(model, result.q)


def balance_error(model, result):
    """Largest error of the energy balance (J)."""
    total = energy(model, result)
    return np.abs(total - total[0] - result.work.sum(1) + result.work[0].sum()).max()


def test_bounces_follow_from_the_restitution_and_end():
    model, e, height = ball(), 0.5, 1.0
    q = model.neutral()
    q[2] = 0.1 + height
    law = EventDrivenContact(restitution=e, rest_speed=0.01)
    result = run_events(law, ContactGeometry(model), q, np.zeros(6), 2.0, dt=0.05)
    assert result.reason is TerminationReason.FINISHED
    speed, fall_time = np.sqrt(2 * G * height), np.sqrt(2 * height / G)
    expected = [fall_time]
    while speed * e > law.rest_speed:
        speed *= e
        expected.append(expected[-1] + 2 * speed / G)
    touches = [event.time for event in result.events if event.kind == "touch"]
    assert len(touches) in (len(expected), len(expected) + 1)
    np.testing.assert_allclose(touches[: len(expected)], expected, atol=1e-7)
    assert result.force[-1, 0, 0] == pytest.approx(2.0 * G, rel=1e-6)
    assert abs(result.q[-1, 2] - 0.1) < 2 * CLOSING_DEPTH
    assert balance_error(model, result) < 1e-6
    assert np.all(np.diff(result.work[:, 3:].sum(1)) <= 0)


@pytest.mark.parametrize(("excess", "slides"), [(-1e-3, False), (1e-3, True)])
def test_a_block_starts_to_slide_at_the_friction_angle(excess, slides):
    model, mu = box(), 0.5
    angle = np.arctan(mu) + excess
    geometry = ContactGeometry(model, ground=slope(angle))
    result = run_events(
        EventDrivenContact(friction=mu, tolerance=1e-6),
        geometry,
        pose_on_slope(angle, 0.1),
        np.zeros(6),
        0.02,
        dt=0.02,
    )
    assert result.reason is TerminationReason.FINISHED
    expected = G * (np.sin(angle) - mu * np.cos(angle)) * 0.02 if slides else 0.0
    assert np.linalg.norm(result.v[-1]) == pytest.approx(expected, abs=5e-6)
    kinds = {event.kind for event in result.events}
    assert kinds == ({"slide"} if slides else set())


def test_a_sliding_ball_starts_to_roll():
    model, mu, v0 = ball(), 0.2, 1.0
    q, v = model.neutral(), np.zeros(6)
    q[2], v[0] = 0.1, v0
    result = run_events(EventDrivenContact(friction=mu), ContactGeometry(model), q, v, 0.4, dt=0.1)
    (rest,) = result.events
    assert rest.kind == "rest"
    assert rest.time == pytest.approx(2 * v0 / (7 * mu * G), abs=1e-6)
    assert result.v[-1, 4] == pytest.approx(5 / 7 * v0 / 0.1, rel=1e-6)
    assert balance_error(model, result) < 1e-7
    # Friction dissipates two sevenths of the energy; rolling dissipates none.
    assert result.work[-1, 1] == pytest.approx(-2 / 7 * v0**2, rel=1e-5)


def test_a_ball_rolls_down_a_slope_without_loss():
    model, angle = ball(), 0.3
    q = pose_on_slope(angle, 0.1)
    geometry = ContactGeometry(model, ground=slope(angle))
    result = run_events(EventDrivenContact(friction=0.8), geometry, q, np.zeros(6), 0.5, dt=0.1)
    assert result.events == ()
    distance = 5 / 7 * G * np.sin(angle) * 0.5**2 / 2
    assert np.linalg.norm(result.q[-1, :3] - result.q[0, :3]) == pytest.approx(distance, rel=1e-6)
    assert abs(result.work[-1, 1]) < 1e-6


def test_friction_stops_a_spinning_coin():
    model, mu, spin, radius = coin(), 0.3, 20.0, 0.1
    v = np.zeros(6)
    v[5] = spin
    stop = spin * radius / (2 * mu * G)
    result = run_events(
        EventDrivenContact(friction=mu, tolerance=1e-6),
        ContactGeometry(model),
        model.neutral(),
        v,
        0.4,
        dt=0.02,
    )
    assert result.reason is TerminationReason.FINISHED
    moving = result.time < stop
    expected = np.where(moving, spin - 2 * mu * G / radius * result.time, 0.0)
    np.testing.assert_allclose(result.v[:, 5], expected, atol=1e-4)
    rests = [event.time for event in result.events if event.kind == "rest"]
    assert rests
    np.testing.assert_allclose(rests, stop, atol=1e-5)


@pytest.mark.parametrize(("tangent", "tips"), [(0.24, False), (0.26, True)])
def test_a_slender_box_tips_when_its_center_of_mass_passes_the_edge(tangent, tips):
    model = box(half=(0.05, 0.1, 0.2))
    angle = np.arctan(tangent)
    geometry = ContactGeometry(model, ground=slope(angle))
    result = run_events(
        EventDrivenContact(friction=0.8),
        geometry,
        pose_on_slope(angle, 0.2),
        np.zeros(6),
        0.2,
        dt=0.1,
    )
    assert result.reason is TerminationReason.FINISHED
    left = {event.name for event in result.events if event.kind == "leave"}
    assert len(left) == (2 if tips else 0)
    assert (np.abs(result.v[-1, 4]) > 0.01) == tips
    assert not any(event.kind == "slide" for event in result.events)


def test_stacked_boxes_stay_at_rest():
    model = stack_of_boxes()
    q = model.neutral()
    q[2], q[7 + 2] = 0.1, 0.3
    geometry = ContactGeometry(model, contacts=("low_skin",), pairs=(("high_skin", "low_skin"),))
    result = run_events(
        EventDrivenContact(tolerance=1e-6), geometry, q, np.zeros(12), 0.05, dt=0.05
    )
    assert result.reason is TerminationReason.FINISHED
    on_ground = [name.count(" on ") == 0 for name in geometry.names]
    assert result.force[-1, on_ground, 0].sum() == pytest.approx(4 * G, rel=1e-6)
    between = result.force[-1, ~np.array(on_ground), 0].sum()
    assert between == pytest.approx(2 * G, rel=1e-6)
    assert np.abs(result.v).max() < 1e-6


def test_momentum_is_conserved_in_flight():
    model = box()
    rng = np.random.default_rng(0)
    q, v = model.neutral(), rng.normal(size=6)
    q[2] = 3.0
    result = run_events(
        EventDrivenContact(tolerance=1e-14), ContactGeometry(model), q, v, 0.1, dt=0.05
    )
    total = momentum(model, result.q, result.v)
    expected = total[0] + np.outer(result.time, [0, 0, 0, 0, 0, -3.0 * G])
    np.testing.assert_allclose(total, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_contacts_never_create_energy(seed):
    model = box()
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), 2 * rng.normal(size=6)
    q[2] = 0.4
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    law = EventDrivenContact(friction=0.4, restitution=0.6, rest_speed=0.05, tolerance=1e-6)
    result = run_events(law, ContactGeometry(model), q, v, 0.5, dt=0.01)
    assert result.reason is TerminationReason.FINISHED, result.message
    assert any(event.kind == "touch" for event in result.events)
    assert np.all(np.diff(result.work[:, 1]) < 1e-6)
    assert np.all(np.diff(result.work[:, 3:].sum(1)) <= 1e-9)
    assert balance_error(model, result) < 1e-3
    assert result.q[:, 2].min() > 0


def hanging_rod(**numbers):
    """A rod on a hinge."""
    assembly = Assembly("rod").add(
        Body("rod", 1.0, [0, 0, -0.5], [0.1, 0.1, 0.01]), joints.revolute("y", **numbers)
    )
    return assembly.model()


def test_a_limit_stops_a_joint():
    model = hanging_rod(lower=-1.0, upper=0.3)
    result = run_events(
        EventDrivenContact(),
        ContactGeometry(model),
        np.array([1e-3]),
        np.array([1.5]),
        2.0,
        dt=0.01,
    )
    assert result.reason is TerminationReason.FINISHED
    assert 0.29 < result.q.max() < 0.3 + 1e-7
    assert {event.name for event in result.events} == {"rod limit"}
    assert result.work[-1, 4] < -0.1


def test_dry_friction_stops_a_pendulum():
    model = hanging_rod(friction=1.0)
    result = run_events(
        EventDrivenContact(), ContactGeometry(model), np.array([0.6]), np.zeros(1), 3.0, dt=0.05
    )
    assert result.reason is TerminationReason.FINISHED
    friction_angle = np.arcsin(1.0 / (0.5 * G))
    assert abs(result.q[-1, 0]) <= friction_angle + 1e-6
    assert np.abs(result.v[-1, 0]) < 1e-6
    assert [event.kind for event in result.events][-1] == "rest"
    # Below this angle it does not move.
    at_rest = run_events(
        EventDrivenContact(),
        ContactGeometry(model),
        np.array([friction_angle - 1e-3]),
        np.zeros(1),
        0.5,
        dt=0.1,
    )
    assert np.ptp(at_rest.q) < 1e-9


def test_without_friction_the_velocity_stays_constant():
    model = box()
    v = np.zeros(6)
    v[:2] = 1.0, 0.5
    q = model.neutral()
    q[2] = 0.1
    result = run_events(EventDrivenContact(friction=0.0), ContactGeometry(model), q, v, 0.2, dt=0.1)
    assert result.reason is TerminationReason.FINISHED
    np.testing.assert_allclose(result.v[-1], v, atol=1e-8)


# -- failures


def test_a_start_inside_the_ground_is_reported():
    model = box()
    q = model.neutral()
    q[2] = 0.05
    result = run_events(EventDrivenContact(), ContactGeometry(model), q, np.zeros(6), 0.1)
    assert result.reason is TerminationReason.OVERLAP
    assert "box_skin" in result.message
    assert "0.05" in result.message


def test_torques_that_are_not_finite_are_reported():
    model = box()
    q = model.neutral()
    q[2] = 1.0

    def torque(t, q, v):
        return np.where(np.arange(6) == 3, np.nan if t > 0.02 else 0.0, 0.0)

    result = run_events(
        EventDrivenContact(), ContactGeometry(model), q, np.zeros(6), 0.1, dt=0.01, torque=torque
    )
    assert result.reason is TerminationReason.TORQUES
    assert "root_rx" in result.message
    assert result.time[-1] >= 0.01
    assert np.isfinite(result.q).all()


def test_too_many_events_end_the_run():
    model = ball()
    q = model.neutral()
    q[2] = 0.1 + 1e-6
    law = EventDrivenContact(restitution=0.999, rest_speed=1e-9, max_events_per_second=500)
    result = run_events(law, ContactGeometry(model), q, np.zeros(6), 2.0)
    assert result.reason is TerminationReason.EVENTS
    assert "ball_skin" in result.message


def test_the_interval_of_samples_does_not_change_the_motion():
    model = ball()
    q = model.neutral()
    q[2] = 0.6
    fine, coarse = (
        run_events(
            EventDrivenContact(restitution=0.7), ContactGeometry(model), q, np.zeros(6), 1.0, dt=dt
        )
        for dt in (0.01, 1.0)
    )
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=1e-6)
    assert len(coarse.events) == len(fine.events)


@pytest.mark.parametrize(
    "settings",
    [{"impact": "soft"}, {"tolerance": 0.0}, {"max_events_per_second": -1.0}, {"restitution": 1.1}],
)
def test_invalid_settings_are_refused(settings):
    with pytest.raises(ModelError):
        EventDrivenContact(**settings)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_box_that_rocks_to_rest_has_few_events(seed):
    """Impacts on alternating edges become faster and weaker, in theory without end."""
    model = box()
    rng = np.random.default_rng(seed)
    q = model.neutral()
    q[2] = 0.3 + 0.5 * rng.random()
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    v = rng.normal(size=6) * [1, 1, 1, 5, 5, 5]
    law = EventDrivenContact(friction=1.0, tolerance=1e-6)
    result = run_events(law, ContactGeometry(model), q, v, 0.8, dt=0.1)
    assert result.reason is TerminationReason.FINISHED, result.message
    assert len(result.events) < 200
    assert balance_error(model, result) < 1e-3


@pytest.mark.parametrize("spin", [0.0, 2.0])
def test_a_rod_that_slides_into_rough_ground_jams_and_stops_at_once(spin):
    """Painleve's rod: with friction 2 no force satisfies the law, and an impulse stops it.

    [A_nn A_nt; A_nt A_tt] p = (0, -slip) gives the impulse.
    """
    half, lean, slip = 0.5, -0.6, 1.0
    inertia = np.diag([1 / 12, 1 / 12, 1e-3])
    model = (
        Assembly("rod")
        .add(Body("rod", 1.0, [0, 0, 0], inertia), joints.free())
        .contact("tip", "rod", position=(0, 0, -half))
        .model()
    )
    q = model.neutral()
    q[2] = half * np.cos(lean)
    q[3:7] = [np.cos(lean / 2), 0, np.sin(lean / 2), 0]
    c, s = np.cos(lean), np.sin(lean)
    arm = half * np.array([-s, 0, -c])
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    center = np.array([slip, 0, 0]) - np.cross([0, spin, 0], arm)
    v = np.concatenate([turn.T @ center, [0, spin, 0]])
    result = run_events(
        EventDrivenContact(friction=2.0), ContactGeometry(model), q, v, 0.1, dt=0.01
    )
    assert result.reason is TerminationReason.FINISHED, result.message
    jam = result.events[0]
    assert (jam.kind, jam.time) == ("jam", 0.0)
    A = np.eye(2) + 12 * np.array(
        [[arm[0] ** 2, -arm[0] * arm[2]], [-arm[0] * arm[2], arm[2] ** 2]]
    )
    assert jam.impulse == pytest.approx(np.linalg.solve(A, [0, -slip])[0], rel=1e-5)
    assert np.diff(energy(model, result)).max() < 1e-7
    assert result.work[-1, 3] < -0.1
    assert balance_error(model, result) < 1e-6
    # With less friction the rod continues to slide.
    sliding = run_events(
        EventDrivenContact(friction=0.5), ContactGeometry(model), q, v, 0.05, dt=0.01
    )
    assert not any(event.kind == "jam" for event in sliding.events)


def servo_gains(human, frequency=8.0):
    """Gains of critically damped servos of one frequency (Hz), for the inertia of each joint."""
    inertia = free_inertia(human)
    omega = 2 * np.pi * frequency
    kp, kd = inertia * omega**2, 2 * inertia * omega
    kp[:6] = kd[:6] = 0
    return kp, kd


def test_every_foot_point_leaves_once_when_a_human_is_lifted(human, feet):
    kp, kd = servo_gains(human)
    target, lift = human.neutral(), np.zeros(42)
    lift[human.coordinate_index("root_tz")] = 2000.0
    result = run_events(
        EventDrivenContact(limits=False, tolerance=1e-6),
        feet,
        target,
        np.zeros(42),
        0.05,
        dt=0.05,
        torque=lambda t, q, v: kp * (target - q) - kd * v + lift,
    )
    assert result.reason is TerminationReason.FINISHED
    assert sorted(event.name for event in result.events if event.kind == "leave") == sorted(
        feet.names
    )
    assert not any(event.kind == "touch" for event in result.events)
    assert not result.force[-1].any()


def test_feet_of_a_dropped_human_touch_the_surface_and_stay(human, feet):
    kp, kd = servo_gains(human)
    target = human.neutral()
    start = target.copy()
    start[human.coordinate_index("root_tz")] += 0.02
    result = run_events(
        EventDrivenContact(limits=False, impact="stick", tolerance=1e-6),
        feet,
        start,
        np.zeros(42),
        0.12,
        dt=0.02,
        torque=lambda t, q, v: kp * (target - q) - kd * v,
    )
    assert result.reason is TerminationReason.FINISHED
    touches = [event for event in result.events if event.kind == "touch"]
    assert [t.name for t in touches[:8]] == list(feet.names)
    np.testing.assert_allclose([t.time for t in touches[:8]], np.sqrt(0.04 / 9.81), atol=1e-6)
    assert len(result.events) < 40
    heel = position(human, result.q[-1], "right_heel")
    assert abs(heel[2]) < 20 * CLOSING_DEPTH
    assert np.abs(velocity(human, result.q[-1], result.v[-1], "right_heel")).max() < 1e-4
