"""Human36 on its feet: the golden numbers of HuMAnS' contact model."""

from time import process_time

import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog.humans_order import from_humans, to_humans
from homodyn.dynamics import bias_force, velocity
from homodyn.simulate import ContactGeometry
from homodyn.simulate.joint_rows import free_inertia
from homodyn.simulate.rigid import EventDrivenContact, TerminationReason, run_events
from homodyn.simulate.rigid.contact_accelerations import contact_accelerations
from homodyn.simulate.rigid.contact_modes import CLOSING_DEPTH, ContactModes
from homodyn.simulate.rigid.contact_state import contact_states
from homodyn.simulate.rigid.impact import resolve_impact
from homodyn.simulate.solvers import ConeProblem, ConeStatus, gauss_seidel, pivot

NO_SLIP = np.full(8, 100.0)
"""HuMAnS has no sliding: friction that is never used up."""


@pytest.fixture(scope="module")
def human():
    return hd.catalog.human36(variant="code")


@pytest.fixture(scope="module")
def scene(human):
    feet = tuple(contact.name for contact in human.contacts if contact.body.endswith("foot"))
    return ContactGeometry(human, feet)


@pytest.fixture(scope="module")
def at(scene):
    return contact_states(scene, limits=False)


def closed(state):
    modes = ContactModes.from_state(state, 8)
    assert modes.closed.all()
    return modes


def sink(human, speed):
    return from_humans(human, -speed * np.eye(42)[37])


def standing(human, at):
    state = at(human.neutral(), np.zeros(42))
    modes = closed(state)
    return state, modes


def stuck(state, modes):
    none = np.zeros(8)
    return resolve_impact(
        state, modes, friction=none, restitution=none, rest_speed=0.0, law="stick"
    )


def test_free_fall_is_free(human, at):
    q = human.neutral()
    q[human.coordinate_index("root_tz")] += 0.5
    state = at(q, np.zeros(42))
    modes = ContactModes.from_state(state, 8)
    assert not modes.closed.any()
    found = contact_accelerations(state, modes, np.zeros(42), NO_SLIP, np.zeros(0))
    expected = -9.81 * np.eye(42)[37]
    np.testing.assert_allclose(to_humans(human, found.acceleration), expected, atol=1e-10)


def test_standing_without_torques_gives_the_golden_forces(human, at):
    state, modes = standing(human, at)
    found = contact_accelerations(state, modes, np.zeros(42), NO_SLIP, np.zeros(0))
    assert found.solution.status is ConeStatus.SOLVED
    assert found.force.reshape(8, 3)[:, 0].sum() == pytest.approx(540.2044051, abs=1e-3)
    document = to_humans(human, found.acceleration)
    assert document[[2, 5, 14, 35, 41]] == pytest.approx(
        [10.2162, -30.5024, -68.6286, 79.9953, 22.3211], abs=2e-4
    )


def test_landing_loses_the_golden_energy(human, at):
    state = at(human.neutral(), sink(human, 1.0))
    struck = stuck(state, closed(state))
    assert state.kinetic_energy == pytest.approx(36.5)
    after = struck.velocity @ state.H @ struck.velocity / 2
    assert after == pytest.approx(8.966646, abs=5e-7)
    assert struck.impulse.reshape(8, 3)[:, 0].sum() == pytest.approx(55.066708, abs=5e-7)
    np.testing.assert_allclose(state.G @ struck.velocity, 0, atol=1e-10)
    change = struck.velocity - state.v
    assert struck.loss == pytest.approx(change @ state.H @ change / 2, rel=1e-12)
    assert struck.loss == pytest.approx(36.5 - 8.966646, abs=1e-6)


def test_a_second_impact_changes_nothing(human, at):
    first = stuck(*_struck_at(human, at, sink(human, 1.0)))
    again = stuck(*_struck_at(human, at, first.velocity))
    np.testing.assert_allclose(again.velocity, first.velocity, atol=1e-10)
    assert abs(again.loss) < 1e-10


def _struck_at(human, at, v):
    state = at(human.neutral(), v)
    return state, closed(state)


def test_cones_that_hold_land_like_sticking_feet(human, at):
    """With friction to spare nothing slides or opens, and the laws agree."""
    state, modes = _struck_at(human, at, sink(human, 1.0))
    cones = resolve_impact(state, modes, friction=NO_SLIP, restitution=np.zeros(8), rest_speed=0.0)
    np.testing.assert_allclose(cones.velocity, stuck(state, modes).velocity, atol=1e-6)


def test_weight_and_blow_are_in_the_ratio_of_gravity(human, at):
    state, modes = standing(human, at)
    force = contact_accelerations(state, modes, np.zeros(42), NO_SLIP, np.zeros(0)).force
    blow = stuck(*_struck_at(human, at, sink(human, 1.0))).impulse
    ratio = force.reshape(8, 3)[:, 0].sum() / blow.reshape(8, 3)[:, 0].sum()
    assert ratio == pytest.approx(9.81, rel=1e-5)


def test_a_held_posture_weighs_what_it_weighs(human, at):
    state, modes = standing(human, at)
    bias = bias_force(human, human.neutral(), np.zeros(42))
    push = np.linalg.lstsq(state.G[:, :6].T, bias[:6], rcond=None)[0]
    tau = bias - state.G.T @ push
    np.testing.assert_allclose(tau[:6], 0, atol=1e-9)
    found = contact_accelerations(state, modes, tau, np.full(8, 0.8), np.zeros(0))
    assert found.force.reshape(8, 3)[:, 0].sum() == pytest.approx(716.13, abs=1e-4)
    # Errors of position that are allowed in contacts are being taken back.
    assert np.abs(found.acceleration).max() < 0.02


@pytest.mark.parametrize("seed", range(5))
def test_forces_meet_their_conditions(human, scene, at, seed):
    rng = np.random.default_rng(seed)
    tau = np.concatenate([np.zeros(6), 30 * rng.normal(size=36)])
    state = at(human.neutral(), np.zeros(42))
    modes = closed(state)
    found = contact_accelerations(state, modes, tau, np.full(8, 0.5), np.zeros(0))
    assert found.solution.status is ConeStatus.SOLVED
    force = found.force.reshape(8, 3)
    w = found.solution.motion.reshape(8, 3)
    size = np.abs(state.G @ state.free_acceleration(tau)).max()
    assert force[:, 0].min() >= -1e-8 * max(force[:, 0].max(), 1.0)
    assert w[:, 0].min() >= -1e-8 * size
    assert np.abs(force[:, 0] * w[:, 0]).max() < 1e-8 * size * max(force[:, 0].max(), 1.0)
    slack = np.linalg.norm(force[:, 1:], axis=1) - 0.5 * force[:, 0]
    assert slack.max() < 1e-8 * max(force[:, 0].max(), 1.0)


def servo(human, frequency=8.0):
    """Servos of one frequency (Hz), critically damped for the inertia each joint sees."""
    inertia = free_inertia(human)
    omega = 2 * np.pi * frequency
    kp, kd = inertia * omega**2, 2 * inertia * omega
    kp[:6] = kd[:6] = 0
    return kp, kd


def test_pulled_up_every_foot_point_leaves_once(human, scene):
    kp, kd = servo(human)
    target, lift = human.neutral(), np.zeros(42)
    lift[human.coordinate_index("root_tz")] = 2000.0
    run = run_events(
        EventDrivenContact(limits=False, tolerance=1e-6),
        scene,
        target,
        np.zeros(42),
        0.05,
        dt=0.05,
        torque=lambda t, q, v: kp * (target - q) - kd * v + lift,
    )
    assert run.reason is TerminationReason.FINISHED
    assert sorted(event.name for event in run.events if event.kind == "leave") == sorted(
        scene.names
    )
    assert not any(event.kind == "touch" for event in run.events)
    assert not run.force[-1].any()


def test_dropped_feet_close_at_the_surface_and_stay(human, scene):
    kp, kd = servo(human)
    target = human.neutral()
    start = target.copy()
    start[human.coordinate_index("root_tz")] += 0.02
    run = run_events(
        EventDrivenContact(limits=False, impact="stick", tolerance=1e-6),
        scene,
        start,
        np.zeros(42),
        0.12,
        dt=0.02,
        torque=lambda t, q, v: kp * (target - q) - kd * v,
    )
    assert run.reason is TerminationReason.FINISHED
    touches = [event for event in run.events if event.kind == "touch"]
    assert [t.name for t in touches[:8]] == list(scene.names)
    np.testing.assert_allclose([t.time for t in touches[:8]], np.sqrt(0.04 / 9.81), atol=1e-6)
    assert len(run.events) < 40
    heel = hd.dynamics.position(human, run.q[-1], "right_heel")
    assert abs(heel[2]) < 20 * CLOSING_DEPTH
    assert np.abs(velocity(human, run.q[-1], run.v[-1], "right_heel")).max() < 1e-4


def test_sweeps_leave_more_than_pivots_in_the_same_time(human, at):
    """Two feet down, eight contacts that share the load: rank deficient, slow for sweeps."""
    state, _ = standing(human, at)
    b = (state.G @ state.free_acceleration(np.zeros(42)) + state.drift)[:24]
    cones = tuple((3 * k, 3 * k + 1, 3 * k + 2) for k in range(8))
    problem = ConeProblem(state.A[:24, :24], b, cones, 0.8)

    def timed(solve):
        found, least = None, np.inf
        for _ in range(3):
            began = process_time()
            found = solve()
            least = min(least, process_time() - began)
        return found, least

    exact, budget = timed(lambda: pivot(problem))
    assert exact.status is ConeStatus.SOLVED
    sweeps, spent = 1, 0.0
    swept = gauss_seidel(problem, sweeps=sweeps)
    while spent < budget and sweeps < 4096:
        swept, spent = timed(lambda count=sweeps: gauss_seidel(problem, sweeps=count))
        sweeps *= 2
    assert swept.residual > 10 * exact.residual
