"""Real OpenSim models stand, weigh and resist as OpenSim says they do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from homodyn.dynamics import acceleration, inverse_dynamics, position, velocity
from homodyn.dynamics.tree import Tree
from homodyn.model import Model
from homodyn.model.coordinate_layout import joint_positions, joint_weights
from homodyn.model.formats import load, save
from homodyn.model.muscles import Muscle
from homodyn.spatial import Transform

FILES = (
    "gait10dof/subject01.osim",
    "ik_synthetic/subject01_simbody.osim",
    "arnold2013/generic/unscaled_generic.osim",
    "arnold2013/subject01/subject01.osim",
    "opensim_id/subject01.osim",
    "opensim_id/arm26.osim",
)
OLD = FILES[1], *FILES[4:]
POSES = 20
PLACE = 1e-12
"""m: largest distance between a marker here and there."""
FORCE = 1e-12
"""Largest difference of generalized forces, relative to the largest of them."""
SHORTENED = 1e-6
"""The same for both where OpenSim rounded numbers to six digits in bringing a file up to date."""


@pytest.fixture(params=FILES)
def case(request, shared_data):
    path = shared_data / request.param
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return str(path), load(path)


@pytest.fixture(params=[*FILES[:1], *FILES[2:4], *(f"{file} upgraded" for file in OLD)])
def exact(request, shared_data, opensim, tmp_path):
    """Files of version 4, those of OpenSim and those that it makes of older ones."""
    file, _, upgraded = request.param.partition(" ")
    path = str(shared_data / file)
    if upgraded:
        opensim("upgrade", path=path, to=str(tmp_path / "new.osim"))
        path = str(tmp_path / "new.osim")
    return path, load(path)


def by_name(model: Model, q: np.ndarray) -> dict[str, float]:
    """Every coordinate of OpenSim, with those that follow others."""
    names = [c.name for joint in model.joints for c in joint.coordinates]
    return dict(
        zip(names, np.concatenate(joint_positions(model.joint_slots, q)).tolist(), strict=True)
    )


def poses(model: Model) -> np.ndarray:
    rng = np.random.default_rng(7)
    reach = np.clip(np.stack([model.lower, model.upper]), -3, 3)
    return np.vstack([model.neutral(), rng.uniform(*reach, (POSES, model.nq))])


def test_mass_gravity_and_coordinates_are_those_of_opensim(case, opensim):
    path, model = case
    about = opensim("about", path=path)
    assert model.mass == pytest.approx(about["mass"], rel=1e-14)
    assert model.name == about["name"]
    assert model.gravity.tolist() == about["gravity"]
    ours = {c.name: c for joint in model.joints for c in joint.coordinates}
    assert set(ours) == set(about["coordinates"])
    clamped = {name for joint in model.joints for name in joint.notes.get("clamped", ())}
    for name, theirs in about["coordinates"].items():
        assert [ours[name].lower, ours[name].upper] == theirs["range"]
        assert (ours[name].locked, name in clamped) == (theirs["locked"], theirs["clamped"])
        if name not in {coupler.coordinate for coupler in model.couplers}:
            assert ours[name].default == theirs["default"]


def farthest(opensim, path: str, model: Model) -> float:
    """Largest distance of a body, marker or center of mass from where OpenSim puts it (m)."""
    off = [0.0]
    for q in poses(model):
        theirs = opensim("places", path=path, values=by_name(model, q))
        placed = placements(model, q)
        assert {*model.body_names} == {*theirs["bodies"]}
        for name, (r, R) in theirs["bodies"].items():
            off += [np.abs(placed[name].r - r).max(), np.abs(placed[name].E.T - R).max()]
        assert {marker.name for marker in model.markers} == {*theirs["markers"]}
        for marker in model.markers:
            here = placed[marker.body].point_back(marker.position)
            off.append(np.abs(here - theirs["markers"][marker.name]).max())
        moments = [b.mass * placed[b.name].point_back(b.com) for b in model.bodies]
        off.append(np.abs(sum(moments) / model.mass - theirs["center"]).max())
    return max(off)


def test_bodies_markers_and_center_of_mass_stand_where_opensim_puts_them(exact, opensim):
    assert farthest(opensim, *exact) < PLACE


def test_old_files_differ_by_the_digits_that_opensim_drops(case, opensim):
    assert farthest(opensim, *case) < SHORTENED


def largest_difference(opensim, path: str, model: Model) -> float:
    """Of generalized forces, relative to the largest; see `turned_in_step` for the speeds."""
    rng = np.random.default_rng(3)
    q = poses(model)[:6]
    v, a = rng.uniform(-2, 2, (2, len(q), model.nv))
    v[:, [model.coordinate_index(name) for name in turned_in_step(model)]] = 0
    worst = 0.0
    for ours, q_k, v_k, a_k in zip(inverse_dynamics(model, q, v, a), q, v, a, strict=True):
        speeds, accelerations = followed(model, q_k, v_k, a_k)
        theirs = opensim(
            "torques",
            path=path,
            values=by_name(model, q_k),
            speeds=speeds,
            accelerations=accelerations,
        )
        expected = np.zeros(model.nv)
        for joint, weights in zip(model.joints, joint_weights(model.joint_slots, q_k), strict=True):
            for coordinate, (entry, weight) in zip(joint.coordinates, weights, strict=True):
                expected[entry] += weight * theirs[coordinate.name]
        worst = max(worst, np.abs(ours - expected).max() / np.abs(expected).max())
    return worst


def turned_in_step(model: Model) -> list[str]:
    """Coordinates that turn a joint about several axes at once.

    For these OpenSim's accelerations are not the rates of its velocities; see the test of that.
    """
    found = []
    for joint in model.joints:
        turning = [m.coordinate for m in joint.axes if m.kind == "turn"]
        found += [c.name for k, c in enumerate(joint.coordinates) if turning.count(k) > 1]
    following = {coupler.coordinate: coupler.of for coupler in model.couplers}
    return [following.get(name, name) for name in found]


def test_inverse_dynamics_is_that_of_opensim(exact, opensim):
    assert largest_difference(opensim, *exact) < FORCE


def test_inverse_dynamics_of_old_files_differs_by_the_dropped_digits(case, opensim):
    assert largest_difference(opensim, *case) < SHORTENED


def test_acceleration_of_a_knee_is_the_rate_of_the_velocity_that_opensim_gives(
    shared_data, opensim
):
    path = str(shared_data / FILES[3])
    model, point, step = load(path), [0.1, -0.2, 0.3], 1e-4
    q, v = model.neutral(), np.zeros(model.nv)
    k = model.coordinate_index("knee_angle_r")
    q[k], v[k] = 0.63, 1.0

    def theirs(shift):
        there = q + shift * v
        speeds, _ = followed(model, there, v, 0 * v)
        return opensim(
            "station",
            path=path,
            body="tibia_r",
            point=point,
            values=by_name(model, there),
            speeds=speeds,
        )

    rate = (np.array(theirs(step)[1]) - theirs(-step)[1]) / (2 * step)
    ours = acceleration(model, q, v, 0 * v, "tibia_r", np.array(point))
    assert_allclose(velocity(model, q, v, "tibia_r", np.array(point)), theirs(0)[1], atol=PLACE)
    assert_allclose(ours, rate, atol=1e-7)
    assert np.abs(np.array(theirs(0)[2]) - rate).max() > 1e-4, "OpenSim's bias is right by now"


def followed(model, q, v, a):
    """Speeds and accelerations of every coordinate of OpenSim, by name."""
    speeds = dict(zip(model.coordinate_names, v.tolist(), strict=True))
    accelerations = dict(zip(model.coordinate_names, a.tolist(), strict=True))
    for coupler in model.couplers:
        k = model.coordinate_index(coupler.of)
        slope, curvature = coupler.function.slope(q[k]), coupler.function.curvature(q[k])
        speeds[coupler.coordinate] = float(slope * v[k])
        accelerations[coupler.coordinate] = float(slope * a[k] + curvature * v[k] ** 2)
    return speeds, accelerations


def test_muscles_have_the_numbers_of_opensim(case, opensim):
    path, model = case
    theirs = opensim("muscles", path=path)
    assert {muscle.name for muscle in model.muscles} == {*theirs}
    for muscle in model.muscles:
        assert {key: getattr(muscle, key) for key in theirs[muscle.name]} == theirs[muscle.name]


def placements(model: Model, q: np.ndarray) -> dict[str, Transform]:
    """From the world to every body."""
    placed = dict(zip(model.body_names, Tree(model, q).placements, strict=True))
    return placed | {"world": Transform.identity()}


def path_length(muscle: Muscle, values: dict[str, float], placed: dict[str, Transform]) -> float:
    """Of the straight lines between the points that count at a pose (m)."""
    points = []
    for point in muscle.points:
        if point.when and not point.when.lower <= values[point.when.coordinate] <= point.when.upper:
            continue
        local = np.array(point.position)
        for law in point.laws:
            local["xyz".index(law.axis)] = law.function.value(np.array(values[law.coordinate]))
        points.append(placed[point.body].point_back(local))
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def test_paths_without_wraps_are_as_long_as_in_opensim(case, opensim):
    path, model = case
    free = [muscle for muscle in model.muscles if not muscle.wraps]
    moving = 0
    for q in poses(model)[:5]:
        values, placed = by_name(model, q), placements(model, q)
        theirs = opensim("lengths", path=path, values=values)
        for muscle in free:
            ours = path_length(muscle, values, placed)
            assert ours == pytest.approx(theirs[muscle.name], abs=SHORTENED), muscle.name
            moving += any(point.laws for point in muscle.points)
    assert moving or "gait" not in path


def test_a_kernel_agrees_with_the_slow_way(case):
    _, model = case
    q = model.neutral()
    marker = model.markers[-1]
    slow = Tree(model, q).placements[model.body_names.index(marker.body)]
    expected = slow.point_back(marker.position)
    assert_allclose(position(model, q, marker.name), expected, atol=1e-12)


def test_models_survive_the_way_through_homodyns_own_file(case, tmp_path):
    _, model = case
    save(model, tmp_path / "model.toml")
    assert load(tmp_path / "model.toml") == model
