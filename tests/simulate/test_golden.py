"""Published values, reproduced by runs."""

import casadi as ca
import numpy as np
import pytest

import homodyn as hd
from homodyn.catalog.humans_order import from_humans
from homodyn.dynamics import (
    ConstraintSet,
    Hinge,
    Pin,
    PointContact,
    inverse_dynamics,
    position,
    velocity,
)
from homodyn.dynamics.constraint_rows import anchor_constraints, constraint_error
from homodyn.model import Assembly, box, joints, sphere
from homodyn.simulate import (
    PD,
    ContactGeometry,
    EventDrivenContact,
    SimulationStatus,
    SpringLaw,
    run,
)
from homodyn.simulate.rows import MarkerSprings, spring_damper_from_erp_cfm

H = 1 / 60


pytestmark = pytest.mark.usefixtures("interpreted")


# -- HuMAnS 2006: human36 on eight foot points without sliding


@pytest.fixture(scope="module")
def human():
    return hd.catalog.human36(variant="code")


def run_on_feet(human, q, v, **options):
    feet = tuple(c.name for c in human.contacts if c.body.endswith("foot"))
    law = EventDrivenContact(friction=100.0, **options)
    return run(
        human, q, v, 1e-4, 1e-4, contact=law, scene=ContactGeometry(human, feet), joint_limits=None
    )


def test_human36_falls_freely_and_stands_on_540_newtons(human):
    high = human.neutral()
    high[human.coordinate_index("root_tz")] += 1.0
    fell = run_on_feet(human, high, None)
    expected = from_humans(human, -9.81e-4 * np.eye(42)[37])
    np.testing.assert_allclose(fell.v[-1], expected, atol=1e-12)
    standing = run_on_feet(human, human.neutral(), None)
    assert standing.total_force[0, 2] == pytest.approx(540.2044, abs=5e-5)


def test_human36_lands_with_55_newton_seconds(human):
    """36.5 J before, 8.966646 J after; the sums of forces and impulses are in the ratio of g."""
    landing = run_on_feet(
        human, human.neutral(), from_humans(human, -np.eye(42)[37]), impact="stick"
    )
    assert landing.energy.kinetic[0] == pytest.approx(36.5)
    # The rest changes under gravity for 0.1 ms.
    assert 36.5 + landing.energy.contacts[-1] == pytest.approx(8.966646, abs=5e-3)
    touches = [event for event in landing.events if event.name.endswith("touch")]
    assert len(touches) == 8
    impulse = sum(event.value for event in touches)
    assert impulse == pytest.approx(55.066708, abs=5e-7)
    assert 540.2044 / impulse == pytest.approx(9.81, abs=1e-6)
    assert np.abs(landing.distances[-1]).max() < 1e-6


# -- HDM: constraint rows with compliance


def follow_target(kp, kd, mass=5.0, **target):
    """A mass that follows a marker along x."""
    assembly = Assembly("marker").add(sphere("ball", mass, 0.1), joints.prismatic("x"))
    model = assembly.model(gravity=(0.0, 0.0, 0.0))
    servo = PD(kp, kd, stable=True, **target)
    return run(model, [0.0], None, 300 * H, H, contact="implicit", actuation=servo)


def test_a_row_follows_a_marker_with_the_published_lag():
    """v h / ERP = 83.3 mm without its velocity, none with it, m a / kp = 0.125 mm under 3 m/s2."""
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-4, H)
    still = follow_target(kp, kd, target=lambda t, batch: ca.vertcat(1.0 * t))
    assert still.time[-1] - still.q[-1, 0] == pytest.approx(0.0833, abs=5e-5)
    moving = follow_target(kp, kd, target=lambda t, batch: ca.vertcat(1.0 * t), velocity=[1.0])
    assert moving.time[-1] - moving.q[-1, 0] == pytest.approx(0.0, abs=1e-9)
    # The target of a step is at its end: a h^2 / 2 beyond the extrapolation from its start.
    result = follow_target(
        kp, kd,
        target=lambda t, batch: ca.vertcat(1.5 * t**2 + 1.5 * H * t),
        velocity=lambda t, batch: ca.vertcat(3.0 * t + 3.0 * H),
    )  # fmt: skip
    t = result.time[-1]
    assert 1.5 * t**2 + 1.5 * H * t - result.q[-1, 0] == pytest.approx(0.125e-3, rel=1e-3)


def test_a_marker_of_very_large_mass_is_not_result_by_its_load():
    assembly = Assembly("tow")
    assembly = assembly.add(sphere("marker", 1e12, 0.1), joints.prismatic("x"))
    assembly = assembly.add(sphere("load", 5.0, 0.1), joints.translation())
    model = assembly.model()
    tow = Pin("load", "marker", anchor=(0.0, 0.0, 0.0))
    result = run(model, np.zeros(4), [2.0, 0, 0, 0], 0.5, H, contact="implicit", constraints=tow)
    np.testing.assert_allclose(result.q[:, 0], 2.0 * result.time, rtol=1e-10)
    np.testing.assert_allclose(result.v[:, 0], 2.0, rtol=1e-10)
    np.testing.assert_allclose(result.q[-1, 1:], [1.0, 0, 0], atol=1e-4)
    assert result.constraint_forces[-1, 2] == pytest.approx(5.0 * 9.81, rel=1e-6)


def test_a_body_pinned_at_41_markers_on_both_feet_stays_stable():
    """Many more rows than degrees of freedom: 123 of markers and 8 contacts, for 1000 steps."""
    model = hd.catalog.hdm()
    q = hd.simulate.place_on_ground(model, model.neutral())
    pins = ConstraintSet(tuple(Pin(marker.name) for marker in model.markers))
    result = run(
        model, q, None, 1000 * H, H, contact="implicit", constraints=pins, record_interval=100 * H
    )
    assert result.status is SimulationStatus.FINISHED
    assert len(result.constraint_names) == 123
    assert np.abs(model.difference(q, result.q)).max() < 1e-2
    assert np.abs(result.v).max() < 1e-3
    support = result.total_force[-1, 2] + result.constraint_forces[-1, 2::3].sum()
    assert support == pytest.approx(858.3, abs=0.1)


def test_a_body_on_both_feet_follows_41_contradictory_markers_for_1000_steps():
    """Soft rows of 5 mm noise that no pose satisfies; all forces together carry the weight."""
    model = hd.catalog.hdm()
    q = hd.simulate.place_on_ground(model, model.neutral())
    places = np.asarray(hd.dynamics.marker_positions(model, q))
    places = places + 0.005 * np.random.default_rng(1).normal(size=places.shape)
    names = [marker.name for marker in model.markers]
    rows = [MarkerSprings(names, [0.0], places[None], SpringLaw(erp=0.2, cfm=1e-4))]
    result = run(model, q, None, 1000 * H, H, contact="implicit", rows=rows, record_interval=1.0)
    assert result.status is SimulationStatus.FINISHED
    assert result.steps == 1000
    assert np.abs(result.v[-1]).max() < 1e-3
    misses = np.asarray(hd.dynamics.marker_positions(model, result.q[-1])) - places
    assert 1e-4 < np.sqrt((misses**2).sum(-1).mean()) < 0.01
    down = {
        name.split("_")[0]
        for name, force in zip(result.contact_names, result.forces[-1], strict=True)
        if force[2] > 1
    }
    assert down == {"left", "right"}
    carried = result.total_force[-1] + result.constraint_forces[-1].reshape(-1, 3).sum(axis=0)
    np.testing.assert_allclose(carried, [0, 0, 858.3], atol=0.1)


# -- van den Kieboom 2014: loops and hard contacts


END = (0.0, 0.0, -1.0)
OFFSET = 0.2 * np.pi
START = np.array([-OFFSET, 0.5 * np.pi + OFFSET, 0.5 * np.pi - OFFSET])
LOOP = Hinge("p3", axis="y", point=END, anchor=(-1.0, 0.0, 0.0))
SWING = {"integrator": "rk4", "joint_limits": None}


def link(mass=1.0, length=1.0, width=0.05, depth=0.05, up=False):
    inertia = mass / 12 * np.array(
        [depth**2 + length**2, width**2 + length**2, width**2 + depth**2]
    )  # fmt: skip
    com = (0, 0, length / 2 if up else -length / 2)
    return {"mass": mass, "com": com, "inertia": np.diag(inertia)}


def linkage():
    """Three unit links; a constraint closes the last one on the base."""
    assembly = Assembly("linkage").add("p1", joints.revolute("y"), **link())
    assembly = assembly.add("p2", joints.revolute("y"), "p1", at=END, **link())
    return assembly.add("p3", joints.revolute("y"), "p2", at=END, **link()).model()


@pytest.mark.parametrize("law", ["implicit", "time_stepping", "event_driven"])
def test_a_closed_linkage_has_its_period_under_every_contact_law(law):
    model = linkage()
    turn = hd.simulate.StateEvent("turn", lambda t, q, v, batch: v[0], "rising", 1e-9)
    result = run(
        model,
        START,
        None,
        2.0,
        2e-2 if law == "event_driven" else 2e-3,
        contact=law,
        constraints=LOOP,
        events=[turn],
        joint_limits=None,
    )
    times = [event.time for event in result.events if event.name == "turn" and event.time > 0.1]
    assert times[0] == pytest.approx(1.877749, abs=2e-6 if law == "event_driven" else 1e-4)
    tip = position(model, result.q, "p3", np.array(END))
    np.testing.assert_allclose(tip, np.broadcast_to([-1.0, 0, 0], tip.shape), atol=1e-6)
    # 6.917679 rad/s2 at the start, in all joints.
    acceleration = result.v[1] / result.time[1]
    np.testing.assert_allclose(np.abs(acceleration), 6.917679, rtol=0.03)


def test_redundant_loops_do_not_change_the_motion():
    """An equivalent second set of rows halves the forces and does not change the motion."""
    model = linkage()
    slanted = PointContact("p3", END, ((0.6, 0.0, 0.8), (-0.8, 0.0, 0.6)))
    time = {"duration": 0.5, "dt": 2e-3, "contact": None}
    once = run(model, START, **time, **SWING, constraints=Pin("p3", point=END))
    twice = run(model, START, **time, **SWING, constraints=Pin("p3", point=END) + slanted)
    np.testing.assert_allclose(twice.q, once.q, atol=1e-9)
    np.testing.assert_allclose(
        np.linalg.norm(twice.constraint_forces, axis=1) * np.sqrt(2),
        np.linalg.norm(once.constraint_forces, axis=1),
        rtol=1e-6,
    )
    # As external forces on the open chain they need no joint torques.
    k = 100
    a = (once.v[k + 1] - once.v[k - 1]) / (once.time[k + 1] - once.time[k - 1])
    force = once.constraint_forces[k]
    arm = position(model, once.q[k], "p3", np.array(END)) - position(model, once.q[k], "p3")
    wrench = {"p3": np.concatenate([np.cross(arm, force), force])}
    torques = inverse_dynamics(model, once.q[k], once.v[k], a, external=wrench)
    np.testing.assert_allclose(torques, 0, atol=1e-3)
    assert np.abs(force).max() > 1


def test_a_torque_on_the_loop_joint_equals_a_torque_in_another_tree():
    """A moment on the last link, which rotates by the sum of all angles, is a torque on each."""
    torque = 2.5
    first = run(
        linkage(),
        START,
        duration=0.5,
        dt=2e-3,
        actuation=np.full(3, torque),
        contact=None,
        **SWING,
        constraints=LOOP,
    )
    assembly = Assembly("other tree").add("p1", joints.revolute("y"), **link())
    assembly = assembly.add("p2", joints.revolute("y"), "p1", at=END, **link())
    other = assembly.add("p3", joints.revolute("y"), at=(-1.0, 0, 0), **link(up=True)).model()
    loop = Hinge("p2", "p3", axis="y", point=END, anchor=(0.0, 0.0, 1.0))
    start = np.array([START[0], START[1], START.sum()])
    second = run(
        other,
        start,
        duration=0.5,
        dt=2e-3,
        actuation=[0, 0, torque],
        contact=None,
        **SWING,
        constraints=loop,
    )
    np.testing.assert_allclose(first.q[:, :2], second.q[:, :2], atol=1e-7)
    np.testing.assert_allclose(first.q.sum(axis=1), second.q[:, 2], atol=1e-7)
    assert np.abs(first.q[-1] - START).max() > 0.1


def test_the_pantograph_has_two_degrees_of_freedom_and_its_damper_dissipates():
    q0 = np.pi * np.array([0.1, -0.4, 0.4, -0.4])
    assembly = Assembly("pantograph")
    assembly = assembly.add(
        "hip", joints.revolute("y", damping=1e-3), **link(0.01, 0.04, 0.01, 0.005)
    )
    spring = joints.revolute("y", stiffness=0.1, rest=q0[1])
    assembly = assembly.add(
        "knee", spring, "hip", at=(0, 0, -0.04), **link(0.02, 0.06, 0.01, 0.005)
    )
    assembly = assembly.add(
        "ankle", joints.revolute("y"), "knee", at=(0, 0, -0.06), **link(0.01, 0.05, 0.01, 0.005)
    )
    model = assembly.add(
        "par", joints.revolute("y"), "ankle", at=(0, 0, 0.02),
        **link(0.1, 0.05, 0.01, 0.005, up=True),
    ).model()  # fmt: skip
    loop = anchor_constraints(model, q0, Hinge("par", "hip", axis="y", point=(0.0, 0.0, 0.06)))
    np.testing.assert_allclose(loop.constraints[0].anchor, (0, 0, -0.02), atol=1e-15)
    result = run(model, q0, duration=0.4, dt=5e-4, contact=None, **SWING, constraints=loop)
    assert np.abs(constraint_error(model, result.q, loop)).max() < 1e-7
    energy = result.energy.kinetic + result.energy.potential
    assert np.diff(energy).max() < 1e-9
    assert energy[0] - energy[-1] == pytest.approx(result.energy.dissipated[-1], rel=1e-5)
    assert result.energy.dissipated[-1] > 1e-4
    # Four joints and two degrees of freedom.
    rows = hd.dynamics.constraint_rows.constraint_jacobian(model, result.q[-1], loop)
    assert model.nv - np.linalg.matrix_rank(rows, tol=1e-9) == 2
    np.testing.assert_allclose(rows @ result.v[-1], 0, atol=1e-6)


def test_rigid_contacts_close_rest_and_open():
    """A bar falls on one end, then on the other, and is lifted."""
    model = (
        Assembly("bar")
        .add(box("bar", 2.0, (1.0, 0.1, 0.1)), joints.planar("y"))
        .contact("left", "bar", position=(-0.5, 0, 0))
        .contact("right", "bar", position=(0.5, 0, 0))
        .model()
    )
    q, lift = np.array([0.0, 0.4, 0.3]), 1

    def lifting_force(t, q, v, batch):
        return ca.vertcat(*[
            ca.if_else(t > 0.6, 30.0, 0.0) if k == lift else 0.0 for k in range(model.nv)
        ])  # fmt: skip

    result = run(
        model,
        q,
        None,
        0.8,
        0.01,
        contact=EventDrivenContact(friction=100.0),
        actuation=lifting_force,
    )
    assert result.status is SimulationStatus.FINISHED, result.message
    names = [event.name for event in result.events]
    assert sum("touch" in name for name in names) >= 2
    energy = result.energy.kinetic + result.energy.potential - result.energy.actuators
    assert np.diff(energy).max() < 1e-6
    at_rest = (result.time > 0.5) & (result.time < 0.6)
    for end in (-0.5, 0.5):
        speed = velocity(model, result.q[at_rest], result.v[at_rest], "bar", np.array([end, 0, 0]))
        np.testing.assert_allclose(speed, 0, atol=1e-6)
    assert result.total_force[at_rest][:, 2] == pytest.approx(2.0 * 9.81, rel=1e-6)
    # A force larger than the weight opens both contacts, and they do not pull.
    assert {"left leave", "right leave"} <= set(names)
    assert np.all(result.forces[..., 2] >= -1e-9)
    assert result.distances[-1].min() > 0.05
