"""Scenes: the printed results of Qiu (2012) as far as their data survived, and checked files."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from homodyn.balance import (
    ComPath,
    evaluate,
    load_scene,
    scene_names,
    smallest_enclosing_ball,
    static_equilibrium_polygon,
    transition_difficulty,
    wrench_margins,
    wrench_set,
)
from homodyn.errors import FormatError, ModelError, NoSolution

ORIGIN = (0.0, 0.0, 0.0)


@pytest.fixture(scope="module")
def car():
    return load_scene("car")


@pytest.fixture(scope="module")
def sets(car):
    return [phase.wrenches for phase in car.phases]


def test_the_scenarios_come_along():
    assert scene_names() == ("biped", "car", "complex", "quadruped", "ramp")
    counts = {name: len(load_scene(name).steps) for name in scene_names()}
    assert counts == {"biped": 9, "car": 6, "complex": 7, "quadruped": 9, "ramp": 9}


def test_room_between_the_stances_of_the_car(sets):
    """The smallest radius is printed as 32.63 N m; the width of the sole was fitted to it."""
    found = transition_difficulty(sets, about=ORIGIN)
    assert found.radii == pytest.approx([35.17, 35.17, 32.63, 32.63, 136.32], abs=5e-3)
    assert found.index == pytest.approx(32.63, abs=1e-2)
    assert found.hardest_transition in (2, 3)
    # The radius is that of the largest ball inside: the enclosing one is far larger.
    assert smallest_enclosing_ball(sets[3].polytope).radius > 500


def test_the_printed_path_of_the_car_keeps_its_printed_margin(car, sets):
    """Three samples a phase, moments about the H-point: 19.4 N m (mass fitted)."""
    least = []
    for phase, wrenches in zip(car.phases, sets, strict=True):
        time = phase.start + np.arange(1, 4) / 3 * (phase.end - phase.start)
        needed = car.required_wrench(time)
        told = wrench_margins(wrenches, needed.force, needed.moment, com=needed.com, about=ORIGIN)
        least.append(told.wrench.min())
    assert least == pytest.approx([23.25, 19.55, 20.44, 19.39, 39.53, 47.99], abs=6e-3)
    assert min(least) == pytest.approx(19.4, abs=0.1)
    assert min(least) <= transition_difficulty(sets, about=ORIGIN).index


def test_the_printed_path_of_the_car_in_time_and_space(car):
    durations = np.diff(car.path.instants)
    assert durations == pytest.approx([0.7176, 0.4, 0.9503, 0.5, 1.3913, 0.6], abs=1e-9)
    shortest = np.array([step.shortest for step in car.steps])
    at_bound = np.isclose(durations, shortest)
    assert at_bound.tolist() == [False, True, False, True, False, True]
    assert car.path.instants[-1] > 3.06
    assert car.path.at(0.0, 1) == pytest.approx(0, abs=1e-9)
    assert car.path.at(car.path.instants[-1], 1) == pytest.approx([0.99, 0.998, -0.041], abs=1e-3)
    far = 0.0
    for phase in car.phases:
        time = np.linspace(phase.start, phase.end, 200)
        for support in phase.stance.patches:
            away = np.linalg.norm(car.path.at(time) - support.middle, axis=1)
            far = max(far, float(away.max()))
    assert far == pytest.approx(1.017, abs=1e-3)
    assert far <= car.plan.reach


def test_about_the_centre_of_mass_the_car_has_less(car):
    needed = car.required_wrench(np.linspace(0, car.path.instants[-1], 300))
    by_origin, by_com = (evaluate(needed, car.phases, about=a) for a in (ORIGIN, None))
    assert by_com.wrench.min() == pytest.approx(17.1, abs=0.1)
    assert by_origin.balanced_share == by_com.balanced_share == 1
    assert (by_com.wrench <= by_com.force + 1e-9).all()
    assert (by_com.wrench <= by_com.moment + 1e-9).all()


def test_the_printed_path_over_the_board_dips():
    """Levelled at the changes of support, 12.0 N m between them where more than 20 is claimed."""
    scene = load_scene("complex")
    changes = [(1, 0.321), (1, 0.721), (3, 0.930), (3, 1.730), (5, 2.837), (5, 3.637)]
    told = []
    for number, instant in changes:
        needed = scene.required_wrench(np.array([instant]))
        wrenches = scene.phases[number].wrenches
        told.append(
            wrench_margins(
                wrenches, needed.force, needed.moment, com=needed.com, about=ORIGIN
            ).wrench[0]
        )
    assert told == pytest.approx([31.33, 24.14, 31.31, 31.25, 31.32, 31.45], abs=6e-3)
    time = np.linspace(0, scene.path.instants[-1], 2001)
    judged = evaluate(scene.required_wrench(time), scene.phases, about=ORIGIN)
    assert judged.wrench[judged.worst] == pytest.approx(11.98, abs=0.02)
    assert judged.time[judged.worst] == pytest.approx(1.258, abs=5e-3)
    assert judged.phase[judged.worst] == 3
    path = scene.path
    assert np.abs([path.at(0.0, 1), path.at(path.instants[-1], 1)]).max() < 1e-9
    assert np.diff(path.instants)[[1, 3, 5]] == pytest.approx([0.4, 0.8, 0.8])
    upper, lower = (
        ramp.height(path.at(time)[:, 0]) for ramp in (scene.plan.upper, scene.plan.lower)
    )
    z = path.at(time)[:, 2]
    assert (z - upper).max() == pytest.approx(0.0094, abs=2e-4)
    assert (lower - z).max() == pytest.approx(0.0495, abs=2e-4)
    assert scene.required_wrench(np.zeros(1)).force[0, 2] == pytest.approx(1130, abs=0.5)


def test_the_corridor_has_its_printed_heights():
    plan = load_scene("complex").plan
    assert plan.upper.height(np.array([0, 0.6])) == pytest.approx([0.938, 0.876], abs=5e-4)
    assert plan.lower.height(np.array([0, 0.6])) == pytest.approx([0.918, 0.856], abs=5e-4)


def test_two_feet_between_walls_cannot_stand_still():
    scene = load_scene("quadruped")
    four, two = scene.stances[0], scene.stances[1]
    with pytest.raises(NoSolution, match="cannot carry the weight"):
        static_equilibrium_polygon(two, mass=scene.mass)
    assert static_equilibrium_polygon(four, mass=scene.mass).check() == ()
    com = np.array([0.0, 0.0, 1.0])
    force = -scene.mass * scene.gravity
    told = [
        wrench_margins(wrench_set(stance), force, np.cross(com, force), com=com).force
        for stance in (two, four)
    ]
    assert told == pytest.approx([-126.6, 429.8], abs=0.06)


def test_counts_of_knots_and_control_points_are_those_printed():
    for degree, phases, knots, points in ((4, 9, 18, 13), (5, 7, 18, 12), (5, 6, 17, 11)):
        path = ComPath(degree, np.arange(phases + 1.0), np.zeros((degree + phases, 3)))
        assert len(path._spline.t) == knots
        assert len(path.points) == points


def test_a_path_is_the_b_spline_of_the_recursion():
    """Cox and de Boor's recursion as corrected (the printed loop is wrong), and its derivatives."""
    rng = np.random.default_rng(0)
    k, instants = 5, np.r_[0, np.sort(rng.uniform(0.3, 3.7, 5)), 4.0]
    path = ComPath(k, instants, rng.normal(size=(k + 6, 3)))
    t, n = path._spline.t, k + 5
    for u in (0.1, 0.37, 0.8):
        N = np.zeros(n + 1)
        j = int(np.searchsorted(t, u, side="right")) - 1
        N[j] = 1
        for d in range(1, k + 1):
            N[j - d] = (t[j + 1] - u) / (t[j + 1] - t[j - d + 1]) * N[j - d + 1]
            for i in range(j - d + 1, j):
                left = (u - t[i]) / (t[i + d] - t[i]) * N[i]
                right = (t[i + d + 1] - u) / (t[i + d + 1] - t[i + 1]) * N[i + 1]
                N[i] = left + right
            N[j] *= (u - t[j]) / (t[j + d] - t[j])
        assert N.sum() == pytest.approx(1, abs=1e-12)
        assert path.at(4.0 * u) == pytest.approx(N @ path.points, abs=1e-12)
    a = path.points
    speed = path.at(0.0, 1) * 4
    assert a[1] == pytest.approx(a[0] + t[k + 1] / k * speed, abs=1e-9)
    last = path.at(4.0, 1) * 4
    assert a[n - 1] == pytest.approx(a[n] - (t[n + k] - t[n]) / k * last, abs=1e-9)
    step = 1e-5
    slope = (path.at(1.7 + step) - path.at(1.7 - step)) / (2 * step)
    assert path.at(1.7, 1) == pytest.approx(slope, abs=1e-6)
    assert isinstance(path._spline, BSpline)


GOOD = """
format = "homodyn scene 1"
name = "two steps"
mass = 60.0
limit = 1000
[defaults]
friction = 0.7
length = 0.28
width = 0.09
[[support]]
name = "left"
position = [0.0, 0.1, 0.0]
[[support]]
name = "rail"
kind = "grasp"
position = [0.4, 0.0, 1.0]
force = [100, 50, 50]
[[support]]
name = "edge"
kind = "patch"
corners = [[0, 0, 0], [1, 0, 0]]
sides = 8
pyramid = "inner"
[[phase]]
supports = ["left"]
duration = 0.5
[[phase]]
supports = ["left", "rail", "edge"]
duration = 0.7
"""


def written(tmp_path, text: str):
    path = tmp_path / "scene.toml"
    path.write_text(text)
    return load_scene(path)


def test_a_scene_file_becomes_stances_and_phases(tmp_path):
    scene = written(tmp_path, GOOD)
    assert [p.end for p in scene.phases] == pytest.approx([0.5, 1.2])
    assert scene.stances[1].names == ("left", "rail", "edge")
    assert scene.stances[0].limit == 1000
    assert scene.supports["rail"].force == pytest.approx([100, 50, 50])
    assert len(scene.supports["edge"].edges) == 8


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mass = 60.0", "mass = -1", r"mass: a number above 0 is expected, got -1"),
        ("mass = 60.0", "", r"mass: this field is missing"),
        ("mass = 60.0", 'mass = "heavy"', r"mass: a number is expected, got 'heavy'"),
        ("position = [0.0, 0.1, 0.0]", "position = [0.0, 0.1]", r"support 'left'.position: 3"),
        ("friction = 0.7", "friction = -0.7", r"support 'left': .*friction"),
        ('kind = "grasp"', 'kind = "grap"', r"support 'rail'.kind: .*'grap'.*grasp"),
        ('supports = ["left"]', 'supports = ["lefty"]', r"phase 1.supports: .*'lefty'.*left"),
        ("limit = 1000", "limt = 1000", r"limt: .*'limt'.*limit"),
        ("width = 0.09", "width = 0", r"support 'left'.width: a number above 0"),
        ('pyramid = "inner"', 'pyramid = "inside"', r"'edge'.*'outer', 'inner'"),
        ("duration = 0.5", "duration = 0", r"phase 1.duration: a number above 0"),
        ("homodyn scene 1", "homodyn 1", r"format: 'homodyn scene 1' is expected"),
        ("[[phase]]", "[[phase", r"this is not TOML"),
    ],
)
def test_a_wrong_field_is_named(tmp_path, old, new, told):
    assert old in GOOD
    with pytest.raises(FormatError, match=told):
        written(tmp_path, GOOD.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("mass = 60.0", "mass = -1", "line 4, mass: "),
        ("force = [100, 50, 50]", "force = -3", "line 13, support 'rail': .*force"),
        ("force = [100, 50, 50]", "force = [1, 2]", "line 17, support 'rail'.force: "),
        ("duration = 0.7", "duration = 0", "line 29, phase 2.duration: "),
        ('name = "rail"', "", "line 13, support 2.name: this field is missing"),
        ("[[phase]]", "[[phase", "not TOML: .*line 24"),
    ],
)
def test_the_line_of_a_wrong_field_is_told(tmp_path, old, new, told):
    assert old in GOOD
    with pytest.raises(FormatError, match=told):
        written(tmp_path, GOOD.replace(old, new, 1))


def test_what_a_scene_does_not_say_is_refused_when_asked_for(tmp_path):
    scene = written(tmp_path, GOOD.replace("duration = 0.5", "shortest = 0.5"))
    with pytest.raises(ModelError, match="phases 1 have no duration"):
        scene.phases  # noqa: B018
    with pytest.raises(ModelError, match="no path"):
        scene.required_wrench(np.zeros(1))
    with pytest.raises(FormatError, match="biped, car, complex, quadruped"):
        load_scene("lorry")
