"""Bundled scenes: the printed results of Qiu (2012) as far as their data are available."""

import numpy as np
import pytest

from homodyn.balance import (
    evaluate,
    load_scene,
    scene_phases,
    scene_stances,
    scene_wrench,
    sole_contact,
    static_equilibrium_polygon,
    wrench_margins,
    wrench_set,
)
from homodyn.balance.polytopes import smallest_enclosing_ball
from homodyn.balance.wrenches import transition_difficulty
from homodyn.errors import ModelError, NoSolution
from homodyn.motion import Scene, SceneStep
from homodyn.motion.bspline import ComSpline

ORIGIN = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def car():
    return load_scene("car")


@pytest.fixture(scope="module")
def sets(car):
    return [phase.wrenches for phase in scene_phases(car)]


def test_overlap_of_the_stances_of_the_car(sets):
    """The smallest radius is printed as 32.63 N m; the width of the sole was fitted to it."""
    found = transition_difficulty(sets, about=ORIGIN)
    assert found.radii == pytest.approx([35.17, 35.17, 32.63, 32.63, 136.32], abs=5e-3)
    assert found.index == pytest.approx(32.63, abs=1e-2)
    assert found.hardest_transition in (2, 3)
    # The radius is that of the largest ball inside: the enclosing one is far larger.
    assert smallest_enclosing_ball(sets[3].polytope).radius > 500


def test_the_printed_path_of_the_car_keeps_its_printed_margin(car, sets):
    """Three samples per phase, moments about the H-point: 19.4 N m (mass fitted)."""
    smallest = []
    for phase, wrenches in zip(scene_phases(car), sets, strict=True):
        time = phase.start + np.arange(1, 4) / 3 * (phase.end - phase.start)
        needed = scene_wrench(car, time)
        margins = wrench_margins(
            wrenches, needed.force, needed.moment, com=needed.com, about=ORIGIN
        )
        smallest.append(margins.wrench.min())
    assert smallest == pytest.approx([23.25, 19.55, 20.44, 19.39, 39.53, 47.99], abs=6e-3)
    assert min(smallest) == pytest.approx(19.4, abs=0.1)
    assert min(smallest) <= transition_difficulty(sets, about=ORIGIN).index


def test_the_printed_path_of_the_car_in_time_and_space(car):
    durations = np.diff(car.path.instants)
    assert durations == pytest.approx([0.7176, 0.4, 0.9503, 0.5, 1.3913, 0.6], abs=1e-9)
    at_bound = np.isclose(durations, [step.min_duration for step in car.steps])
    assert at_bound.tolist() == [False, True, False, True, False, True]
    assert car.path.instants[-1] > 3.06
    assert car.path.at(0.0, 1) == pytest.approx(0, abs=1e-9)
    assert car.path.at(car.path.instants[-1], 1) == pytest.approx([0.99, 0.998, -0.041], abs=1e-3)
    distance = 0.0
    for phase in scene_phases(car):
        time = np.linspace(phase.start, phase.end, 200)
        for support in phase.stance.patches:
            arms = np.linalg.norm(car.path.at(time) - support.middle, axis=1)
            distance = max(distance, float(arms.max()))
    assert distance == pytest.approx(1.017, abs=1e-3)
    assert distance <= car.plan.reach


def test_about_the_center_of_mass_the_margin_of_the_car_is_smaller(car):
    needed = scene_wrench(car, np.linspace(0, car.path.instants[-1], 300))
    by_origin, by_com = (evaluate(needed, scene_phases(car), about=a) for a in (ORIGIN, None))
    assert by_com.wrench.min() == pytest.approx(17.1, abs=0.1)
    assert by_origin.balanced_share == by_com.balanced_share == 1
    assert (by_com.wrench <= by_com.force + 1e-9).all()
    assert (by_com.wrench <= by_com.moment + 1e-9).all()


def test_the_printed_path_over_the_board_dips():
    """Levelled at the changes of support, 12.0 N m between them where more than 20 is claimed."""
    scene = load_scene("complex")
    changes = [(1, 0.321), (1, 0.721), (3, 0.930), (3, 1.730), (5, 2.837), (5, 3.637)]
    phases = scene_phases(scene)
    margins = []
    for number, instant in changes:
        needed = scene_wrench(scene, np.array([instant]))
        margins.append(
            wrench_margins(
                phases[number].wrenches, needed.force, needed.moment, com=needed.com, about=ORIGIN
            ).wrench[0]
        )
    assert margins == pytest.approx([31.33, 24.14, 31.31, 31.25, 31.32, 31.45], abs=6e-3)
    time = np.linspace(0, scene.path.instants[-1], 2001)
    evaluation = evaluate(scene_wrench(scene, time), phases, about=ORIGIN)
    assert evaluation.wrench[evaluation.worst] == pytest.approx(11.98, abs=0.02)
    assert evaluation.time[evaluation.worst] == pytest.approx(1.258, abs=5e-3)
    assert evaluation.phase[evaluation.worst] == 3
    path = scene.path
    assert np.abs([path.at(0.0, 1), path.at(path.instants[-1], 1)]).max() < 1e-9
    assert np.diff(path.instants)[[1, 3, 5]] == pytest.approx([0.4, 0.8, 0.8])
    upper, lower = (
        ramp.height(path.at(time)[:, 0]) for ramp in (scene.plan.upper, scene.plan.lower)
    )
    z = path.at(time)[:, 2]
    assert (z - upper).max() == pytest.approx(0.0094, abs=2e-4)
    assert (lower - z).max() == pytest.approx(0.0495, abs=2e-4)
    assert scene_wrench(scene, np.zeros(1)).force[0, 2] == pytest.approx(1130, abs=0.5)


def test_the_corridor_has_its_printed_heights():
    plan = load_scene("complex").plan
    assert plan.upper.height(np.array([0, 0.6])) == pytest.approx([0.938, 0.876], abs=5e-4)
    assert plan.lower.height(np.array([0, 0.6])) == pytest.approx([0.918, 0.856], abs=5e-4)


def test_two_feet_between_walls_cannot_be_at_rest():
    scene = load_scene("quadruped")
    four, two = scene_stances(scene)[:2]
    with pytest.raises(NoSolution, match="cannot carry the weight"):
        static_equilibrium_polygon(two, mass=scene.mass)
    assert static_equilibrium_polygon(four, mass=scene.mass).check() == ()
    com = np.array([0.0, 0.0, 1.0])
    force = -scene.mass * scene.gravity
    margins = [
        wrench_margins(wrench_set(stance), force, np.cross(com, force), com=com).force
        for stance in (two, four)
    ]
    assert margins == pytest.approx([-126.6, 429.8], abs=0.06)


def test_counts_of_knots_and_control_points_are_those_printed():
    for degree, phases, knots, points in ((4, 9, 18, 13), (5, 7, 18, 12), (5, 6, 17, 11)):
        path = ComSpline(degree, np.arange(phases + 1.0), np.zeros((degree + phases, 3)))
        assert len(path.knots) == knots
        assert len(path.points) == points


def test_what_a_scene_lacks_is_named():
    foot = sole_contact("left", (0, 0, 0), (0.28, 0.1), friction=0.7)
    scene = Scene("step", supports={"left": foot}, steps=(SceneStep("1", ("left",)),))
    with pytest.raises(ModelError, match="phases 1 have no duration"):
        scene_phases(scene)
    with pytest.raises(ModelError, match="no path"):
        scene_wrench(scene, np.zeros(1))
    path = ComSpline(3, np.array([0.0, 1.0]), np.zeros((4, 3)))
    still = Scene("step", supports={"left": foot}, steps=scene.steps, path=path)
    assert [(phase.start, phase.end) for phase in scene_phases(still)] == [(0.0, 1.0)]
    with pytest.raises(ModelError, match="has no mass"):
        scene_wrench(still, np.zeros(1))


def test_the_stances_of_a_scene_are_computed_once(car):
    assert scene_stances(car) is scene_stances(car)
    assert scene_phases(car)[0].stance is scene_stances(car)[0]
