"""Event-driven rigid contacts against what pencil and paper give."""

import numpy as np
import pytest

from homodyn.dynamics import kinetic_energy, momentum, potential_energy
from homodyn.errors import ModelError
from homodyn.model import Assembly, Body, joints
from homodyn.simulate import ContactGeometry, PlaneObstacle
from homodyn.simulate.rigid import EventDrivenContact, TerminationReason, run_events
from homodyn.simulate.rigid.contact_modes import CLOSING_DEPTH
from support.things import ball, box, coin, resting_on, stack_of_boxes, tilted

G = 9.81


def energy(model, run):
    return kinetic_energy(model, run.q, run.v) + potential_energy(model, run.q)


def ledger_error(model, run):
    """What the energies and the works leave unexplained (J)."""
    held = energy(model, run)
    return np.abs(held - held[0] - run.work.sum(1) + run.work[0].sum()).max()


def test_bounces_come_when_they_should_and_end():
    model, e, height = ball(), 0.5, 1.0
    q = model.neutral()
    q[2] = 0.1 + height
    law = EventDrivenContact(restitution=e, rest_speed=0.01)
    run = run_events(law, ContactGeometry(model), q, np.zeros(6), 2.0, dt=0.05)
    assert run.reason is TerminationReason.FINISHED
    speed, due = np.sqrt(2 * G * height), np.sqrt(2 * height / G)
    expected = [due]
    while speed * e > law.rest_speed:
        speed *= e
        expected.append(expected[-1] + 2 * speed / G)
    touches = [event.time for event in run.events if event.kind == "touch"]
    assert len(touches) in (len(expected), len(expected) + 1)
    np.testing.assert_allclose(touches[: len(expected)], expected, atol=1e-7)
    assert run.force[-1, 0, 0] == pytest.approx(2.0 * G, rel=1e-6)
    assert abs(run.q[-1, 2] - 0.1) < 2 * CLOSING_DEPTH
    assert ledger_error(model, run) < 1e-6
    assert np.all(np.diff(run.work[:, 3:].sum(1)) <= 0)


@pytest.mark.parametrize(("beyond", "slides"), [(-1e-3, False), (1e-3, True)])
def test_a_block_begins_to_slide_at_the_angle_of_friction(beyond, slides):
    model, mu = box(), 0.5
    angle = np.arctan(mu) + beyond
    scene = ContactGeometry(model, ground=(PlaneObstacle(tilted(angle)),))
    run = run_events(
        EventDrivenContact(friction=mu, tolerance=1e-6),
        scene,
        resting_on(angle, 0.1),
        np.zeros(6),
        0.02,
        dt=0.02,
    )
    assert run.reason is TerminationReason.FINISHED
    expected = G * (np.sin(angle) - mu * np.cos(angle)) * 0.02 if slides else 0.0
    assert np.linalg.norm(run.v[-1]) == pytest.approx(expected, abs=5e-6)
    kinds = {event.kind for event in run.events}
    assert kinds == ({"slide"} if slides else set())


def test_a_sliding_ball_comes_to_roll():
    model, mu, v0 = ball(), 0.2, 1.0
    q, v = model.neutral(), np.zeros(6)
    q[2], v[0] = 0.1, v0
    run = run_events(EventDrivenContact(friction=mu), ContactGeometry(model), q, v, 0.4, dt=0.1)
    (rest,) = run.events
    assert rest.kind == "rest"
    assert rest.time == pytest.approx(2 * v0 / (7 * mu * G), abs=1e-6)
    assert run.v[-1, 4] == pytest.approx(5 / 7 * v0 / 0.1, rel=1e-6)
    assert ledger_error(model, run) < 1e-7
    # Two sevenths of the energy are rubbed away, and rolling costs nothing.
    assert run.work[-1, 1] == pytest.approx(-2 / 7 * v0**2, rel=1e-5)


def test_a_ball_rolls_down_a_slope_without_loss():
    model, angle = ball(), 0.3
    q = resting_on(angle, 0.1)
    scene = ContactGeometry(model, ground=(PlaneObstacle(tilted(angle)),))
    run = run_events(EventDrivenContact(friction=0.8), scene, q, np.zeros(6), 0.5, dt=0.1)
    assert run.events == ()
    way = 5 / 7 * G * np.sin(angle) * 0.5**2 / 2
    assert np.linalg.norm(run.q[-1, :3] - run.q[0, :3]) == pytest.approx(way, rel=1e-6)
    assert abs(run.work[-1, 1]) < 1e-6


def test_a_spinning_coin_stops_when_friction_has_used_its_spin():
    model, mu, spin, radius = coin(), 0.3, 20.0, 0.1
    v = np.zeros(6)
    v[5] = spin
    stop = spin * radius / (2 * mu * G)
    run = run_events(
        EventDrivenContact(friction=mu, tolerance=1e-6),
        ContactGeometry(model),
        model.neutral(),
        v,
        0.4,
        dt=0.02,
    )
    assert run.reason is TerminationReason.FINISHED
    moving = run.time < stop
    expected = np.where(moving, spin - 2 * mu * G / radius * run.time, 0.0)
    np.testing.assert_allclose(run.v[:, 5], expected, atol=1e-4)
    rests = [event.time for event in run.events if event.kind == "rest"]
    assert rests
    np.testing.assert_allclose(rests, stop, atol=1e-5)


@pytest.mark.parametrize(("slope", "tips"), [(0.24, False), (0.26, True)])
def test_a_slender_box_tips_where_its_weight_passes_the_edge(slope, tips):
    model = box(half=(0.05, 0.1, 0.2))
    angle = np.arctan(slope)
    scene = ContactGeometry(model, ground=(PlaneObstacle(tilted(angle)),))
    run = run_events(
        EventDrivenContact(friction=0.8), scene, resting_on(angle, 0.2), np.zeros(6), 0.2, dt=0.1
    )
    assert run.reason is TerminationReason.FINISHED
    left = {event.name for event in run.events if event.kind == "leave"}
    assert len(left) == (2 if tips else 0)
    assert (np.abs(run.v[-1, 4]) > 0.01) == tips
    assert not any(event.kind == "slide" for event in run.events)


def test_stacked_boxes_stand():
    model = stack_of_boxes()
    q = model.neutral()
    q[2], q[7 + 2] = 0.1, 0.3
    scene = ContactGeometry(model, contacts=("low_skin",), pairs=(("high_skin", "low_skin"),))
    run = run_events(EventDrivenContact(tolerance=1e-6), scene, q, np.zeros(12), 0.05, dt=0.05)
    assert run.reason is TerminationReason.FINISHED
    on_ground = [name.count(" on ") == 0 for name in scene.names]
    assert run.force[-1, on_ground, 0].sum() == pytest.approx(4 * G, rel=1e-6)
    between = run.force[-1, ~np.array(on_ground), 0].sum()
    assert between == pytest.approx(2 * G, rel=1e-6)
    assert np.abs(run.v).max() < 1e-6


def test_momentum_is_kept_in_flight():
    model = box()
    rng = np.random.default_rng(0)
    q, v = model.neutral(), rng.normal(size=6)
    q[2] = 3.0
    run = run_events(
        EventDrivenContact(tolerance=1e-14), ContactGeometry(model), q, v, 0.1, dt=0.05
    )
    held = momentum(model, run.q, run.v)
    expected = held[0] + np.outer(run.time, [0, 0, 0, 0, 0, -3.0 * G])
    np.testing.assert_allclose(held, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_contacts_never_make_energy(seed):
    model = box()
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), 2 * rng.normal(size=6)
    q[2] = 0.4
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    law = EventDrivenContact(friction=0.4, restitution=0.6, rest_speed=0.05, tolerance=1e-6)
    run = run_events(law, ContactGeometry(model), q, v, 0.5, dt=0.01)
    assert run.reason is TerminationReason.FINISHED, run.message
    assert any(event.kind == "touch" for event in run.events)
    assert np.all(np.diff(run.work[:, 1]) < 1e-6)
    assert np.all(np.diff(run.work[:, 3:].sum(1)) <= 1e-9)
    assert ledger_error(model, run) < 1e-3
    assert run.q[:, 2].min() > 0


def swinging(**numbers):
    """A hanging rod on a hinge."""
    made = Assembly("rod").add(
        Body("rod", 1.0, [0, 0, -0.5], [0.1, 0.1, 0.01]), joints.revolute("y", **numbers)
    )
    return made.model()


def test_a_limit_stops_and_holds():
    model = swinging(lower=-1.0, upper=0.3)
    run = run_events(
        EventDrivenContact(),
        ContactGeometry(model),
        np.array([1e-3]),
        np.array([1.5]),
        2.0,
        dt=0.01,
    )
    assert run.reason is TerminationReason.FINISHED
    assert 0.29 < run.q.max() < 0.3 + 1e-7
    assert {event.name for event in run.events} == {"rod limit"}
    assert run.work[-1, 4] < -0.1


def test_dry_friction_stops_a_swing_and_holds_it():
    model = swinging(friction=1.0)
    run = run_events(
        EventDrivenContact(), ContactGeometry(model), np.array([0.6]), np.zeros(1), 3.0, dt=0.05
    )
    assert run.reason is TerminationReason.FINISHED
    held = np.arcsin(1.0 / (0.5 * G))
    assert abs(run.q[-1, 0]) <= held + 1e-6
    assert np.abs(run.v[-1, 0]) < 1e-6
    assert [event.kind for event in run.events][-1] == "rest"
    # Below the angle that friction holds, nothing ever moves.
    still = run_events(
        EventDrivenContact(),
        ContactGeometry(model),
        np.array([held - 1e-3]),
        np.zeros(1),
        0.5,
        dt=0.1,
    )
    assert np.ptp(still.q) < 1e-9


def test_zero_friction_is_ice():
    model = box()
    v = np.zeros(6)
    v[:2] = 1.0, 0.5
    q = model.neutral()
    q[2] = 0.1
    run = run_events(EventDrivenContact(friction=0.0), ContactGeometry(model), q, v, 0.2, dt=0.1)
    assert run.reason is TerminationReason.FINISHED
    np.testing.assert_allclose(run.v[-1], v, atol=1e-8)


# -- what goes wrong is told: what, where and when


def test_a_start_inside_the_ground_is_told():
    model = box()
    q = model.neutral()
    q[2] = 0.05
    run = run_events(EventDrivenContact(), ContactGeometry(model), q, np.zeros(6), 0.1)
    assert run.reason is TerminationReason.OVERLAP
    assert "box_skin" in run.message
    assert "0.05" in run.message


def test_torques_that_are_no_numbers_are_told():
    model = box()
    q = model.neutral()
    q[2] = 1.0

    def torque(t, q, v):
        return np.where(np.arange(6) == 3, np.nan if t > 0.02 else 0.0, 0.0)

    run = run_events(
        EventDrivenContact(), ContactGeometry(model), q, np.zeros(6), 0.1, dt=0.01, torque=torque
    )
    assert run.reason is TerminationReason.TORQUES
    assert "root_rx" in run.message
    assert run.time[-1] >= 0.01
    assert np.isfinite(run.q).all()


def test_too_many_events_end_the_run():
    model = ball()
    q = model.neutral()
    q[2] = 0.1 + 1e-6
    law = EventDrivenContact(restitution=0.999, rest_speed=1e-9, max_events_per_second=500)
    run = run_events(law, ContactGeometry(model), q, np.zeros(6), 2.0)
    assert run.reason is TerminationReason.EVENTS
    assert "ball_skin" in run.message


def test_samples_far_apart_change_nothing():
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
    "wrong",
    [{"impact": "soft"}, {"tolerance": 0.0}, {"max_events_per_second": -1.0}, {"restitution": 1.1}],
)
def test_what_is_no_law_is_refused(wrong):
    with pytest.raises(ModelError):
        EventDrivenContact(**wrong)


@pytest.mark.parametrize("seed", [0, 2])
def test_a_box_that_rocks_to_rest_does_not_pile_up_events(seed):
    """Blows on one edge and then the other come ever faster and weaker, in theory without end."""
    model = box()
    rng = np.random.default_rng(seed)
    q = model.neutral()
    q[2] = 0.3 + 0.5 * rng.random()
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    v = rng.normal(size=6) * [1, 1, 1, 5, 5, 5]
    law = EventDrivenContact(friction=1.0, tolerance=1e-6)
    run = run_events(law, ContactGeometry(model), q, v, 0.8, dt=0.1)
    assert run.reason is TerminationReason.FINISHED, run.message
    assert len(run.events) < 200
    assert ledger_error(model, run) < 1e-3


@pytest.mark.parametrize("spin", [0.0, 2.0])
def test_a_rod_pushed_into_rough_ground_jams_and_stops_at_once(spin):
    """Painleve's rod: friction of 2 presses its tip on, no force fits, and an impulse stops it.

    [A_nn A_nt; A_nt A_tt] p = (0, -slip) gives its size.
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
    centre = np.array([slip, 0, 0]) - np.cross([0, spin, 0], arm)
    v = np.concatenate([turn.T @ centre, [0, spin, 0]])
    run = run_events(EventDrivenContact(friction=2.0), ContactGeometry(model), q, v, 0.1, dt=0.01)
    assert run.reason is TerminationReason.FINISHED, run.message
    jam = run.events[0]
    assert (jam.kind, jam.time) == ("jam", 0.0)
    A = np.eye(2) + 12 * np.array(
        [[arm[0] ** 2, -arm[0] * arm[2]], [-arm[0] * arm[2], arm[2] ** 2]]
    )
    assert jam.impulse == pytest.approx(np.linalg.solve(A, [0, -slip])[0], rel=1e-5)
    assert np.diff(energy(model, run)).max() < 1e-7
    assert run.work[-1, 3] < -0.1
    assert ledger_error(model, run) < 1e-6
    # With little friction the same rod slides on.
    slides = run_events(
        EventDrivenContact(friction=0.5), ContactGeometry(model), q, v, 0.05, dt=0.01
    )
    assert not any(event.kind == "jam" for event in slides.events)
