"""Whole-body control: equations of motion, friction, torque limits, schedules, and a simulation."""

from collections.abc import Sequence

import numpy as np
import pytest

import homodyn as hd
from homodyn.control import (
    BodyContact,
    ComTask,
    ConfigurationLimit,
    FrameTask,
    InfeasibleProgram,
    MomentumTask,
    OrientationTask,
    PostureTask,
    TorqueLimit,
    TrackingTask,
    WholeBodyController,
    WholeBodyStatus,
    solve_posture,
)
from homodyn.dynamics import center_of_mass, inverse_dynamics, orientation, position
from homodyn.errors import ModelError
from homodyn.model import Model

POINTS = ("heel_outer", "heel_inner", "ball_outer", "ball_inner")
FEET = ("right_foot", "left_foot")


@pytest.fixture(scope="module")
def manikin() -> Model:
    return hd.catalog.manikin()


@pytest.fixture(scope="module")
def standing(manikin: Model) -> np.ndarray:
    """Knees bent, center of mass over the middle of the feet."""
    q = manikin.neutral()
    place = center_of_mass(manikin, q)
    place[0], place[2] = position(manikin, q, "right_foot")[0] + 0.04, place[2] - 0.04
    feet = [
        FrameTask(name, position(manikin, q, name), orientation(manikin, q, name)) for name in FEET
    ]
    pelvis = OrientationTask("pelvis", np.eye(3))
    result = solve_posture(manikin, [*feet, ComTask(place), pelvis, PostureTask()], q)
    assert result.solved, result.sentence
    return np.asarray(result.q)


def contacts(**fields: object) -> list[BodyContact]:
    return [
        BodyContact(foot, tuple(f"{foot.split('_')[0]}_{name}" for name in POINTS), **fields)  # type: ignore[arg-type]
        for foot in FEET
    ]


def tracking(model: Model, q: np.ndarray, shift: Sequence[float] = (0, 0, 0)) -> list[TrackingTask]:
    """Table 6.1 of Qiu (2012): weights 2e4 (center of mass), 5e4 (feet), 1e4 (root), 10."""
    feet = [
        FrameTask(name, position(model, q, name), orientation(model, q, name), 5e4**0.5, 5e4**0.5)
        for name in FEET
    ]
    return [
        TrackingTask(ComTask(center_of_mass(model, q) + shift, cost=2e4**0.5)),
        *[TrackingTask(foot) for foot in feet],
        TrackingTask(OrientationTask("pelvis", np.eye(3), cost=1e4**0.5)),
        TrackingTask(PostureTask(q, cost=10**0.5)),
    ]


def test_torques_and_forces_satisfy_the_equations_of_motion(
    manikin: Model, standing: np.ndarray
) -> None:
    rng = np.random.default_rng(1)
    v = 0.05 * rng.normal(size=manikin.nv)
    controller = WholeBodyController(
        manikin, tracking(manikin, standing, (0.02, 0.03, 0.0)), contacts(friction=0.5), limits=()
    )
    found = controller.solve(0.0, standing, v)
    assert found.status is WholeBodyStatus.SOLVED
    total = inverse_dynamics(manikin, standing, v, found.a)
    for name, force in zip(found.points, found.forces, strict=True):
        total = total - hd.dynamics.jacobian(manikin, standing, name).T @ force
    np.testing.assert_allclose(found.tau, total, atol=1e-5)
    np.testing.assert_array_equal(found.tau[:6], 0)
    normal, tangent = found.forces[:, 2], np.linalg.norm(found.forces[:, :2], axis=1)
    assert (normal >= -1e-9).all()
    assert (tangent <= 0.5 * normal + 1e-6).all()
    for foot in FEET:
        rate = hd.dynamics.velocity(manikin, standing, v, foot)
        turn = hd.dynamics.angular_velocity(manikin, standing, v, foot)
        change = hd.dynamics.acceleration(manikin, standing, v, found.a, foot)
        # The velocity decays in the axes of the foot, which turn.
        np.testing.assert_allclose(change, np.cross(turn, rate) - 20.0 * rate, atol=1e-5)


def test_standing_still_takes_the_weight(manikin: Model, standing: np.ndarray) -> None:
    controller = WholeBodyController(manikin, tracking(manikin, standing), contacts())
    found = controller.solve(0.0, standing, np.zeros(manikin.nv))
    np.testing.assert_allclose(found.forces.sum(axis=0), [0, 0, manikin.mass * 9.81], atol=0.05)
    assert np.abs(found.a).max() < 0.05


def test_torque_limits_hold_or_contacts_give_way(manikin: Model, standing: np.ndarray) -> None:
    tasks = tracking(manikin, standing)
    free = WholeBodyController(manikin, tasks, contacts(), limits=())
    knee = manikin.coordinate_index("right_knee_flexion")
    needed = abs(free(0.0, standing, np.zeros(manikin.nv))[knee])
    limit = TorqueLimit({"right_knee_flexion": 0.5 * needed})
    limited = WholeBodyController(manikin, tasks, contacts(), limits=(limit,))
    found = limited.solve(0.0, standing, np.zeros(manikin.nv))
    assert abs(found.tau[knee]) <= 0.5 * needed + 1e-6
    assert found.status is WholeBodyStatus.SOLVED
    weak = WholeBodyController(manikin, tasks, contacts(), limits=(TorqueLimit(3.0),))
    given = weak.solve(0.0, standing, np.zeros(manikin.nv))
    assert np.abs(given.tau).max() <= 3.0 + 1e-4
    assert np.abs(given.a).max() > 10.0, "the body falls"


@pytest.mark.parametrize("most", [1.0, 0.1])
def test_torques_too_weak_for_the_limits_of_coordinates_are_said(
    manikin: Model, standing: np.ndarray, most: float
) -> None:
    """Motors of 1 N m hold neither the contacts nor joints that move towards their stops."""
    v = 0.3 * np.random.default_rng(3).normal(size=manikin.nv)
    limits = (ConfigurationLimit(), TorqueLimit(most))
    tasks = tracking(manikin, standing)
    controller = WholeBodyController(manikin, tasks, contacts(friction=0.5), limits=limits)
    found = controller.solve(0.1, standing, v)
    assert found.status is WholeBodyStatus.TORQUE_LIMITED
    assert controller.relaxed_times == [0.1]
    assert np.abs(found.tau[6:]).max() <= most + 1e-6
    total = inverse_dynamics(manikin, standing, v, found.a)
    for name, force in zip(found.points, found.forces, strict=True):
        total = total - hd.dynamics.jacobian(manikin, standing, name).T @ force
    np.testing.assert_allclose(total, found.tau, atol=1e-5)
    assert (found.forces[:, 2] >= -1e-9).all()


def test_dependent_contacts_are_kept_where_they_agree(manikin: Model, standing: np.ndarray) -> None:
    """Four contacts of one foot have 12 rows for 6 motions; they act as one contact."""
    whole, other = contacts()
    points = [BodyContact(whole.body, (point,)) for point in whole.points]
    v = 0.1 * np.random.default_rng(5).normal(size=manikin.nv)
    tasks = tracking(manikin, standing)
    found, wanted = (
        WholeBodyController(manikin, tasks, feet, limits=()).solve(0.0, standing, v)
        for feet in ([*points, other], [whole, other])
    )
    assert found.status is WholeBodyStatus.SOLVED
    np.testing.assert_allclose(found.a, wanted.a, atol=1e-4)
    pinned = [BodyContact(name, (name,)) for name in ("pelvis", "lumbar_spine")]
    resting = WholeBodyController(manikin, tasks, pinned, limits=())
    assert resting.solve(0.0, standing, 0 * v).status is WholeBodyStatus.SOLVED


def test_contacts_that_contradict_each_other_are_relaxed_and_said(
    manikin: Model, standing: np.ndarray
) -> None:
    """Two points of one rigid distance cannot both keep their velocity while the body turns."""
    rng = np.random.default_rng(2)
    pinned = [BodyContact(name, (name,)) for name in ("pelvis", "lumbar_spine")]
    controller = WholeBodyController(manikin, tracking(manikin, standing), pinned, limits=())
    found = controller.solve(0.3, standing, rng.normal(size=manikin.nv))
    assert found.status is WholeBodyStatus.RELAXED
    assert controller.relaxed_times == [0.3]
    one = WholeBodyController(manikin, tracking(manikin, standing), pinned[:1], limits=())
    assert one.solve(0.3, standing, rng.normal(size=manikin.nv)).status is WholeBodyStatus.SOLVED


def test_contacts_act_by_schedule(manikin: Model, standing: np.ndarray) -> None:
    right, left = contacts()
    timed = BodyContact(left.body, left.points, schedule=((0.0, 1.0), (2.0, 3.0)), ramp=0.2)
    controller = WholeBodyController(manikin, tracking(manikin, standing), [right, timed])
    v = np.zeros(manikin.nv)
    assert len(controller.solve(0.5, standing, v).points) == 8
    assert controller.solve(1.5, standing, v).points == right.points
    assert [timed.strength(t) for t in (-0.1, 0.1, 0.5, 0.9, 1.0, 2.1)] == pytest.approx(
        [0.0, 0.5, 1.0, 0.5, 0.0, 0.5]
    )
    ending = controller.solve(0.999, standing, v)
    left_force = ending.forces[4:, 2].sum()
    assert left_force <= 4 * 4 * 20.0 * manikin.mass * 0.005 + 1e-6


def test_points_on_a_line_and_single_points_have_independent_rows(manikin: Model) -> None:
    sole, edge, point = (
        BodyContact("left_foot", tuple(f"left_{name}" for name in names))
        for names in (POINTS, POINTS[:2], POINTS[:1])
    )
    assert [len(c.motion_rows(manikin)) for c in (sole, edge, point)] == [6, 5, 3]


def test_momentum_is_driven_to_its_target(manikin: Model, standing: np.ndarray) -> None:
    rng = np.random.default_rng(4)
    v = 0.1 * rng.normal(size=manikin.nv)
    task = TrackingTask(MomentumTask(linear_cost=1.0), damping=5.0)
    controller = WholeBodyController(manikin, [task], limits=())
    found = controller.solve(0.0, standing, v)
    # Without contacts nothing but gravity changes the momentum: the angular one is constant.
    h = 1e-6
    momentum = [
        hd.dynamics.momentum(manikin, manikin.integrate(standing, s * h * v), v + s * h * found.a)
        for s in (-1, 1)
    ]
    rate = (momentum[1] - momentum[0]) / (2 * h)
    np.testing.assert_allclose(rate[:3], 0, atol=1e-4)
    np.testing.assert_allclose(rate[3:], [0, 0, -9.81 * manikin.mass], atol=1e-3)


def test_a_manikin_stands_while_its_center_of_mass_shifts_2_cm(
    manikin: Model, standing: np.ndarray
) -> None:
    """5 ms between calls, weights of table 6.1, in the simulator with its own contact law."""
    duration, start = 0.45, center_of_mass(manikin, standing)
    fixed = tracking(manikin, standing)[1:]

    def references(t: float) -> list[TrackingTask]:
        s = min(t / duration, 1.0)
        share, rate = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4
        bend = 60 * s - 180 * s**2 + 120 * s**3
        way = np.array([0.0, 0.02, 0.0])
        com = TrackingTask(
            ComTask(start + share * way, cost=2e4**0.5),
            velocity=rate / duration * way,
            acceleration=bend / duration**2 * way,
        )
        return [com, *fixed]

    controller = WholeBodyController(manikin, references, contacts())
    result = hd.simulate.run(
        manikin,
        standing,
        duration=0.5,
        dt=2.5e-3,
        actuation=hd.simulate.Controller(controller, period=0.005),
    )
    motion = result.motion
    wanted = np.array([references(t)[0].task.position for t in motion.time])  # type: ignore[attr-defined]
    error = center_of_mass(manikin, motion.q) - wanted
    assert np.sqrt((error**2).sum(axis=1).mean()) < 0.002
    for foot in FEET:
        places = position(manikin, motion.q, foot)
        assert np.abs(places - places[0]).max() < 0.005
    assert controller.relaxed_times == []
    assert center_of_mass(manikin, motion.q[-1])[1] - start[1] == pytest.approx(0.02, abs=0.002)


def test_wrong_contacts_and_references_are_refused(manikin: Model, standing: np.ndarray) -> None:
    tasks = tracking(manikin, standing)
    with pytest.raises(ModelError, match="right_ball_outer belongs to right_foot"):
        WholeBodyController(manikin, tasks, [BodyContact("left_foot", ("right_ball_outer",))])
    with pytest.raises(ModelError, match="has no points"):
        BodyContact("left_foot", ())
    with pytest.raises(ModelError, match="ends before it starts"):
        BodyContact("left_foot", ("left_heel_outer",), schedule=((1.0, 0.5),))
    with pytest.raises(ModelError, match="period"):
        WholeBodyController(manikin, tasks, period=0.0)
    with pytest.raises(ModelError, match="targets of one state"):
        WholeBodyController(manikin, [TrackingTask(ComTask(np.zeros((4, 3))))])
    with pytest.raises(ModelError, match="stiffness and damping"):
        TrackingTask(ComTask(np.zeros(3)), stiffness=-1.0)
    assert issubclass(InfeasibleProgram, hd.NoSolution)
    assert ConfigurationLimit().precedence > 0


def test_a_grasp_pulls_within_its_bounds(manikin: Model, standing: np.ndarray) -> None:
    """A hand on a rail pulls the body down and forward, which no contact can."""
    rail = BodyContact("right_hand", ("right_palm",), max_force=100.0, grasps=True)
    tasks = tracking(manikin, standing, (0.15, 0.0, -0.1))
    controller = WholeBodyController(manikin, tasks, [*contacts(friction=0.3), rail], limits=())
    found = controller.solve(0.0, standing, np.zeros(manikin.nv))
    assert found.status is WholeBodyStatus.SOLVED
    hand = found.forces[found.points.index("right_palm")]
    assert np.abs(hand).max() <= 100.0 + 1e-6
    assert np.abs(hand).max() > 10.0
    total = inverse_dynamics(manikin, standing, np.zeros(manikin.nv), found.a)
    for name, force in zip(found.points, found.forces, strict=True):
        total = total - hd.dynamics.jacobian(manikin, standing, name).T @ force
    np.testing.assert_allclose(found.tau, total, atol=1e-5)
    place = hd.dynamics.acceleration(manikin, standing, np.zeros(manikin.nv), found.a, "right_palm")
    np.testing.assert_allclose(place, 0.0, atol=1e-5)
