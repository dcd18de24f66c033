"""Numbers of the literature, met by whole runs."""

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
    anchor_constraints,
    constraint_error,
    inverse_dynamics,
    position,
    velocity,
)
from homodyn.model import Assembly, box, joints, sphere
from homodyn.simulate import (
    PD,
    ContactGeometry,
    EventDrivenContact,
    SimulationOptions,
    SimulationStatus,
    run,
    spring_damper_from_erp_cfm,
)

H = 1 / 60


@pytest.fixture(scope="module", autouse=True)
def interpreted():
    """Runs of a few hundred steps are not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        yield


# -- HuMAnS 2006: human36 on eight foot points that do not slide


@pytest.fixture(scope="module")
def human():
    return hd.catalog.human36(variant="code")


def on_feet(human, q, v, **options):
    feet = tuple(c.name for c in human.contacts if c.body.endswith("foot"))
    law = EventDrivenContact(friction=100.0, **options)
    return run(
        human,
        q,
        v,
        1e-4,
        1e-4,
        contact=law,
        options=SimulationOptions(scene=ContactGeometry(human, feet), joint_limits=None),
    )


def test_human36_falls_freely_and_stands_on_540_newtons(human):
    high = human.neutral()
    high[human.coordinate_index("root_tz")] += 1.0
    fell = on_feet(human, high, None)
    expected = from_humans(human, -9.81e-4 * np.eye(42)[37])
    np.testing.assert_allclose(fell.v[-1], expected, atol=1e-12)
    stood = on_feet(human, human.neutral(), None)
    assert stood.total_force[0, 2] == pytest.approx(540.2044, abs=5e-5)


def test_human36_lands_with_55_newton_seconds(human):
    """36.5 J before, 8.966646 J after; the sums of forces and impulses are in the ratio of g."""
    landing = on_feet(human, human.neutral(), from_humans(human, -np.eye(42)[37]), impact="stick")
    assert landing.energy.kinetic[0] == pytest.approx(36.5)
    # What is left swings on, under gravity for a tenth of a millisecond.
    assert 36.5 + landing.energy.contacts[-1] == pytest.approx(8.966646, abs=5e-3)
    struck = [event for event in landing.events if event.name.endswith("touch")]
    assert len(struck) == 8
    impulse = sum(event.value for event in struck)
    assert impulse == pytest.approx(55.066708, abs=5e-7)
    assert 540.2044 / impulse == pytest.approx(9.81, abs=1e-6)
    assert np.abs(landing.distances[-1]).max() < 1e-6


# -- HDM: constraint rows with compliance


def tracked(kp, kd, mass=5.0, **target):
    """A mass that follows a marker along x."""
    made = Assembly("marker").add(sphere("ball", mass, 0.1), joints.prismatic("x"))
    model = made.model(gravity=(0.0, 0.0, 0.0))
    servo = PD(kp, kd, stable=True, **target)
    return run(model, [0.0], None, 300 * H, H, contact="implicit", actuation=servo)


def test_a_marker_is_followed_with_the_lag_of_its_row():
    """v h / ERP = 83.3 mm without its velocity, none with it, m a / kp = 0.125 mm under 3 m/s2."""
    kp, kd = spring_damper_from_erp_cfm(0.2, 1e-4, H)
    still = tracked(kp, kd, target=lambda t, batch: ca.vertcat(1.0 * t))
    assert still.time[-1] - still.q[-1, 0] == pytest.approx(0.0833, abs=5e-5)
    moving = tracked(kp, kd, target=lambda t, batch: ca.vertcat(1.0 * t), velocity=[1.0])
    assert moving.time[-1] - moving.q[-1, 0] == pytest.approx(0.0, abs=1e-9)
    # The target of a step is its end: half of a h^2 beyond position and velocity at its start.
    pushed = tracked(
        kp, kd,
        target=lambda t, batch: ca.vertcat(1.5 * t**2 + 1.5 * H * t),
        velocity=lambda t, batch: ca.vertcat(3.0 * t + 3.0 * H),
    )  # fmt: skip
    t = pushed.time[-1]
    assert 1.5 * t**2 + 1.5 * H * t - pushed.q[-1, 0] == pytest.approx(0.125e-3, rel=1e-3)


def test_a_marker_of_endless_mass_is_not_moved_by_what_hangs_on_it():
    made = Assembly("tow")
    made = made.add(sphere("marker", 1e12, 0.1), joints.prismatic("x"))
    made = made.add(sphere("load", 5.0, 0.1), joints.translation())
    model = made.model()
    tow = Pin("load", "marker", anchor=(0.0, 0.0, 0.0))
    towed = run(
        model,
        np.zeros(4),
        [2.0, 0, 0, 0],
        0.5,
        H,
        contact="implicit",
        options=SimulationOptions(constraints=tow),
    )
    np.testing.assert_allclose(towed.q[:, 0], 2.0 * towed.time, rtol=1e-10)
    np.testing.assert_allclose(towed.v[:, 0], 2.0, rtol=1e-10)
    np.testing.assert_allclose(towed.q[-1, 1:], [1.0, 0, 0], atol=1e-4)
    assert towed.constraint_forces[-1, 2] == pytest.approx(5.0 * 9.81, rel=1e-6)


def test_a_body_held_at_41_markers_with_both_feet_down_does_not_blow_up():
    """Far more rows than freedoms: 123 of markers, 8 contacts, for 1000 steps."""
    model = hd.catalog.hdm()
    q = hd.simulate.place_on_ground(model, model.neutral())
    held = ConstraintSet(tuple(Pin(marker.name) for marker in model.markers))
    kept = run(
        model,
        q,
        None,
        1000 * H,
        H,
        contact="implicit",
        options=SimulationOptions(constraints=held, record_interval=100 * H),
    )
    assert kept.status is SimulationStatus.FINISHED
    assert len(kept.constraint_names) == 123
    assert np.abs(model.difference(q, kept.q)).max() < 1e-2
    assert np.abs(kept.v).max() < 1e-3
    carried = kept.total_force[-1, 2] + kept.constraint_forces[-1, 2::3].sum()
    assert carried == pytest.approx(858.3, abs=0.1)


# -- van den Kieboom 2014: loops and hard contacts


END = (0.0, 0.0, -1.0)
OFFSET = 0.2 * np.pi
START = np.array([-OFFSET, 0.5 * np.pi + OFFSET, 0.5 * np.pi - OFFSET])
LOOP = Hinge("p3", axis="y", point=END, anchor=(-1.0, 0.0, 0.0))
SWING = {"integrator": "rk4", "joint_limits": None}


def link(mass=1.0, length=1.0, wide=0.05, deep=0.05, up=False):
    third = mass / 12 * np.array(
        [deep**2 + length**2, wide**2 + length**2, wide**2 + deep**2]
    )  # fmt: skip
    com = (0, 0, length / 2 if up else -length / 2)
    return {"mass": mass, "com": com, "inertia": np.diag(third)}


def linkage():
    """Three unit links, of which the last is to be closed on the base."""
    made = Assembly("linkage").add("p1", joints.revolute("y"), **link())
    made = made.add("p2", joints.revolute("y"), "p1", at=END, **link())
    return made.add("p3", joints.revolute("y"), "p2", at=END, **link()).model()


@pytest.mark.parametrize("law", ["implicit", "time_stepping", "event_driven"])
def test_a_closed_linkage_keeps_its_period_under_laws_of_contact(law):
    model = linkage()
    turn = hd.simulate.StateEvent("turn", lambda t, q, v, batch: v[0], "rising", 1e-9)
    swung = run(
        model,
        START,
        None,
        2.0,
        2e-2 if law == "event_driven" else 2e-3,
        contact=law,
        options=SimulationOptions(constraints=LOOP, events=[turn], joint_limits=None),
    )
    times = [event.time for event in swung.events if event.name == "turn" and event.time > 0.1]
    assert times[0] == pytest.approx(1.877749, abs=2e-6 if law == "event_driven" else 1e-4)
    tip = position(model, swung.q, "p3", np.array(END))
    np.testing.assert_allclose(tip, np.broadcast_to([-1.0, 0, 0], tip.shape), atol=1e-6)
    # 6.917679 rad/s2 at the start, in all joints.
    gained = swung.v[1] / swung.time[1]
    np.testing.assert_allclose(np.abs(gained), 6.917679, rtol=0.03)


def test_redundant_loops_swing_as_one_and_their_forces_balance_the_links():
    """A second set of rows that says the same halves the forces and changes no motion."""
    model = linkage()
    slanted = PointContact("p3", END, ((0.6, 0.0, 0.8), (-0.8, 0.0, 0.6)))
    time = {"duration": 0.5, "dt": 2e-3, "contact": None}
    once = run(
        model, START, **time, options=SimulationOptions(**SWING, constraints=Pin("p3", point=END))
    )
    twice = run(
        model,
        START,
        **time,
        options=SimulationOptions(**SWING, constraints=Pin("p3", point=END) + slanted),
    )
    np.testing.assert_allclose(twice.q, once.q, atol=1e-9)
    np.testing.assert_allclose(
        np.linalg.norm(twice.constraint_forces, axis=1) * np.sqrt(2),
        np.linalg.norm(once.constraint_forces, axis=1),
        rtol=1e-6,
    )
    # As forces from outside on the open chain they leave nothing for motors to do.
    k = 100
    a = (once.v[k + 1] - once.v[k - 1]) / (once.time[k + 1] - once.time[k - 1])
    force = once.constraint_forces[k]
    arm = position(model, once.q[k], "p3", np.array(END)) - position(model, once.q[k], "p3")
    wrench = {"p3": np.concatenate([np.cross(arm, force), force])}
    needed = inverse_dynamics(model, once.q[k], once.v[k], a, external=wrench)
    np.testing.assert_allclose(needed, 0, atol=1e-3)
    assert np.abs(force).max() > 1


def test_a_torque_on_the_closing_joint_is_one_in_the_tree_cut_elsewhere():
    """A moment on the last link, which turns by the sum of all angles, is a torque on each."""
    torque = 2.5
    first = run(
        linkage(),
        START,
        duration=0.5,
        dt=2e-3,
        actuation=np.full(3, torque),
        contact=None,
        options=SimulationOptions(**SWING, constraints=LOOP),
    )
    made = Assembly("cut elsewhere").add("p1", joints.revolute("y"), **link())
    made = made.add("p2", joints.revolute("y"), "p1", at=END, **link())
    other = made.add("p3", joints.revolute("y"), at=(-1.0, 0, 0), **link(up=True)).model()
    loop = Hinge("p2", "p3", axis="y", point=END, anchor=(0.0, 0.0, 1.0))
    start = np.array([START[0], START[1], START.sum()])
    second = run(
        other,
        start,
        duration=0.5,
        dt=2e-3,
        actuation=[0, 0, torque],
        contact=None,
        options=SimulationOptions(**SWING, constraints=loop),
    )
    np.testing.assert_allclose(first.q[:, :2], second.q[:, :2], atol=1e-7)
    np.testing.assert_allclose(first.q.sum(axis=1), second.q[:, 2], atol=1e-7)
    assert np.abs(first.q[-1] - START).max() > 0.1


def test_the_pantograph_moves_in_two_ways_and_loses_energy_to_its_damper():
    q0 = np.pi * np.array([0.1, -0.4, 0.4, -0.4])
    made = Assembly("pantograph")
    made = made.add("hip", joints.revolute("y", damping=1e-3), **link(0.01, 0.04, 0.01, 0.005))
    spring = joints.revolute("y", stiffness=0.1, rest=q0[1])
    made = made.add("knee", spring, "hip", at=(0, 0, -0.04), **link(0.02, 0.06, 0.01, 0.005))
    made = made.add(
        "ankle", joints.revolute("y"), "knee", at=(0, 0, -0.06), **link(0.01, 0.05, 0.01, 0.005)
    )
    model = made.add(
        "par", joints.revolute("y"), "ankle", at=(0, 0, 0.02),
        **link(0.1, 0.05, 0.01, 0.005, up=True),
    ).model()  # fmt: skip
    loop = anchor_constraints(model, q0, Hinge("par", "hip", axis="y", point=(0.0, 0.0, 0.06)))
    np.testing.assert_allclose(loop.constraints[0].anchor, (0, 0, -0.02), atol=1e-15)
    moved = run(
        model,
        q0,
        duration=0.4,
        dt=5e-4,
        contact=None,
        options=SimulationOptions(**SWING, constraints=loop),
    )
    assert np.abs(constraint_error(model, moved.q, loop)).max() < 1e-7
    energy = moved.energy.kinetic + moved.energy.potential
    assert np.diff(energy).max() < 1e-9
    assert energy[0] - energy[-1] == pytest.approx(moved.energy.dissipated[-1], rel=1e-5)
    assert moved.energy.dissipated[-1] > 1e-4
    # Four joints, two ways to move: all velocities at one pose lie in a plane.
    held = hd.dynamics.constraint_jacobian(model, moved.q[-1], loop)
    assert model.nv - np.linalg.matrix_rank(held, tol=1e-9) == 2
    np.testing.assert_allclose(held @ moved.v[-1], 0, atol=1e-6)


def test_hard_contacts_come_to_rest_keep_each_other_and_let_go():
    """A bar falls on one end, then on the other, and is pulled up again."""
    model = (
        Assembly("bar")
        .add(box("bar", 2.0, (1.0, 0.1, 0.1)), joints.planar("y"))
        .contact("left", "bar", position=(-0.5, 0, 0))
        .contact("right", "bar", position=(0.5, 0, 0))
        .model()
    )
    q, lift = np.array([0.0, 0.4, 0.3]), 1

    def pull(t, q, v, batch):
        return ca.vertcat(*[
            ca.if_else(t > 0.6, 30.0, 0.0) if k == lift else 0.0 for k in range(model.nv)
        ])  # fmt: skip

    fell = run(
        model, q, None, 0.8, 0.01, contact=EventDrivenContact(friction=100.0), actuation=pull
    )
    assert fell.status is SimulationStatus.FINISHED, fell.message
    told = [event.name for event in fell.events]
    touched = [name for name in told if "touch" in name]
    assert len(touched) >= 2
    energy = fell.energy.kinetic + fell.energy.potential - fell.energy.actuators
    assert np.diff(energy).max() < 1e-6
    rested = (fell.time > 0.5) & (fell.time < 0.6)
    for end in (-0.5, 0.5):
        speed = velocity(model, fell.q[rested], fell.v[rested], "bar", np.array([end, 0, 0]))
        np.testing.assert_allclose(speed, 0, atol=1e-6)
    assert fell.total_force[rested][:, 2] == pytest.approx(2.0 * 9.81, rel=1e-6)
    # Two ends that are pulled by more than the weight open, and nothing holds them back.
    assert {"left leave", "right leave"} <= set(told)
    assert np.all(fell.forces[..., 2] >= -1e-9)
    assert fell.distances[-1].min() > 0.05
