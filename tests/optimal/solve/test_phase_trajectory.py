"""A solution is a motion: one time axis, and every frame obeys the equations of motion."""

from itertools import pairwise

import numpy as np
import pytest

import homodyn as hd
import homodyn.optimal as oc
from homodyn.dynamics import ConstraintSet, PointContact
from homodyn.model import Assembly, Body, joints
from homodyn.motion import Loads, MotionSource, Side
from support.equations import motion_residual
from support.optimal import block, block_move, jump, landing

ALL = ("midpoint", "collocation", "multiple_shooting", "felis2015")


@pytest.fixture(scope="module", params=ALL)
def solution(request):
    return jump().solve(request.param)


def test_every_frame_obeys_the_equations_of_motion(solution):
    motion = solution.motion
    assert motion.source is MotionSource.OPTIMIZED
    assert motion.result is solution
    assert np.abs(motion.tau).max() > 100.0
    # The solver satisfies them to 1e-6 of the scales of the problem.
    assert np.abs(motion_residual(motion)).max() < 1e-3


def test_frames_are_the_nodes_and_the_points_of_the_controls(solution):
    motion = solution.motion
    times = [np.union1d(phase.time, phase.control_time) for phase in solution.phases]
    expected = np.unique(np.round(np.concatenate(times), 9))
    np.testing.assert_allclose(motion.time, expected, atol=1e-8)
    for phase in solution.phases[-1:]:
        rows = np.searchsorted(motion.time, phase.time - 1e-9)
        np.testing.assert_array_equal(motion.q[rows], phase.q)
        np.testing.assert_array_equal(motion.v[rows], phase.v)


def test_the_contact_force_ends_with_its_phase(solution):
    motion, flight = solution.motion, solution.phase("fly").time[0]
    (force,) = motion.contact_forces
    assert force.body == "shank"
    pushing = motion.time < flight - 1e-9
    assert np.linalg.norm(force.force[pushing], axis=1).min() > 20.0
    toe = hd.dynamics.position(motion.model, motion.q, "toe")
    np.testing.assert_allclose(force.point[pushing], toe[pushing], atol=1e-9)
    # The frame at the start of the flight belongs to the flight.
    assert not force.force[~pushing].any()
    assert np.isnan(force.point[~pushing]).all()


def test_after_an_impact_the_frame_has_the_velocity_after_it():
    solution = landing().solve()
    motion = solution.motion
    before, after = solution.phases
    row = int(np.argmin(np.abs(motion.time - after.time[0])))
    np.testing.assert_array_equal(motion.v[row], after.v[0])
    assert np.abs(after.v[0] - before.v[-1]).max() > 0.5
    assert np.all(np.diff(motion.time) > 0)
    np.testing.assert_allclose(motion.q[row], before.q[-1], atol=1e-6)


def test_phases_after_a_mirror_transition_continue_the_movement():
    person = hd.catalog.heiman(height=1.75, mass=70, joints={"Pelvis": "TX TZ RY"})
    free = dict.fromkeys(person.coordinate_names, (-np.inf, np.inf))
    bend = {"KneeRight_RY": 0.5, "KneeLeft_RY": 0.1}
    phases = [
        oc.Phase(
            name,
            0.1,
            terms=[1e-2 * oc.acceleration()],
            intervals=2,
            bounds={"q": free},
            start={"q": bend} if name == "first" else {},
            transition="mirror",
        )
        for name in ("first", "second", "third")
    ]
    solution = oc.Problem(person, phases).solve(defect_tolerance=None)
    motion = solution.motion
    one, two, _ = solution.phases
    assert np.abs(two.q[0] - one.q[-1]).max() > 0.1
    knee = person.coordinate_index("KneeRight_RY")
    for before, after in pairwise(motion.q[:, knee]):
        assert abs(after - before) < 0.05
    assert np.abs(motion_residual(motion)).max() < 1e-3


def test_events_are_the_changes_of_contacts_that_are_named_after_feet():
    model = walker()
    names = ("Right", "Left", "both", "flight", "Left again")
    sides = {"Right": "Right", "Left": "Left", "both": "RightLeft", "flight": ""}
    phases = [stance(name, sides.get(name, "Left")) for name in names]
    transcribed = oc.Problem(model, phases).transcribe()
    solution = oc.solve_transcribed(transcribed, max_iterations=0, defect_tolerance=None)
    found = [(e.label, e.side, round(e.time, 6)) for e in solution.motion.events]
    assert found == [
        ("Foot Strike", Side.LEFT, 0.1),
        ("Foot Off", Side.RIGHT, 0.1),
        ("Foot Strike", Side.RIGHT, 0.2),
        ("Foot Off", Side.RIGHT, 0.3),
        ("Foot Off", Side.LEFT, 0.3),
        ("Foot Strike", Side.LEFT, 0.4),
    ]
    # A toe without a side is no left or right foot.
    assert jump(4).solve().motion.events == ()


def walker():
    """A trunk on two stiff legs with points as feet."""
    tree = Assembly("walker").add(
        Body("trunk", 40.0, (0, 0, 0.2), np.diag([2.0, 2.0, 0.5])), joints.planar("y")
    )
    for side in ("Right", "Left"):
        tree = tree.add(
            Body(f"leg{side}", 8.0, (0, 0, -0.4), 0.4 * np.eye(3)),
            joints.revolute("y"),
            "trunk",
            joint_name=f"hip{side}",
        ).contact(f"Foot{side}", f"leg{side}", "point", position=(0, 0, -0.8))
    return tree.model()


def stance(name, feet):
    contacts = tuple(
        PointContact(f"Foot{side}", directions="z") for side in ("Right", "Left") if side in feet
    )
    return oc.Phase(name, 0.1, ConstraintSet(contacts), terms=[oc.torque()], intervals=2)


def test_known_loads_are_forces_of_the_environment():
    wind = oc.wrench_of_force([[0.0, 0, 0], [2.0, 0, 0]], [0.0, 0.5, 0])
    motion = block_move(6, external_loads=[oc.ExternalLoad("box", wind)]).solve().motion
    (force,) = motion.contact_forces
    np.testing.assert_allclose(force.force[:, 0], 2 * motion.time, atol=1e-12)
    # At the box, the wind half a meter to its left is a force and a couple.
    np.testing.assert_allclose(force.point[1:], motion.q[1:] * [1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(force.torque[:, 2], -2 * motion.time * 0.5, atol=1e-12)
    assert np.abs(motion_residual(motion)).max() < 1e-6


@pytest.mark.parametrize("transcription", ALL)
def test_torques_include_those_of_springs(transcription):
    phase = oc.Phase(
        "swing",
        0.5,
        terms=[oc.torque()],
        start={"q": {"box": 1.0}, "v": {"box": 0.0}},
        end={"q": {"box": -1.0}, "v": {"box": 0.0}},
        intervals=8,
    )
    spring = oc.Spring("box", "k", rest=0.1, damping=0.5)
    parameters = {"k": oc.FreeParameter(0.0, 20.0, 10.0)}
    problem = oc.Problem(block(), [phase], parameters, springs=[spring])
    solution = problem.solve(transcription)
    motion = solution.motion
    assert np.abs(motion_residual(motion)).max() < 1e-5
    nodes = np.searchsorted(motion.time, phase_times(solution) - 1e-9)
    passive = solution.parameters["k"] * (0.1 - motion.q[nodes]) - 0.5 * motion.v[nodes]
    assert np.abs(passive).max() > 5.0
    assert motion.notes == ("tau includes the torques of 1 spring across joints.",)


def phase_times(solution):
    return solution.phases[0].time


@pytest.mark.parametrize(("transcription", "frames"), [("midpoint", 9), ("collocation", 5)])
def test_quaternions_stay_unit(transcription, frames):
    top = Assembly("top").add(Body("top", 1.0, (0, 0, 0), np.diag([1.0, 2.0, 2.5])), joints.free())
    model = top.model()
    spin = np.array([0.0, 0.0, 2.0, 0.3, 2.0, 0.2])
    phase = oc.Phase(
        "spin",
        0.4,
        intervals=4,
        start={"q": model.neutral(), "v": spin},
        guess={"v": spin[None], "q": model.neutral()[None]},
    )
    motion = oc.Problem(model, [phase]).solve(transcription).motion
    # Between nodes the quaternions of polynomials are not known; nodes alone are frames then.
    assert motion.frames == frames
    np.testing.assert_allclose(np.linalg.norm(motion.q[:, 3:], axis=1), 1.0, atol=1e-4)
    assert np.abs(motion_residual(motion)).max() < 1e-5


def test_a_motion_of_a_solution_has_loads_and_a_summary():
    motion = jump(6).solve().motion
    loads = Loads.from_motion(motion)
    assert loads.root == (0, 1, 2)
    assert not loads.tau[:, :3].any()
    assert "optimized" in repr(motion)
    restored = hd.motion.Motion.from_dict(motion.to_dict())
    np.testing.assert_array_equal(restored.tau, motion.tau)
