"""MuJoCo gives the tendons of exported muscles the lengths that Homodyn computes."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, Marker, box, joints
from homodyn.model.functions import Linear
from homodyn.model.muscles import Muscle, PathPoint, PathWrap, PointLaw, PointRange, WrapObject
from homodyn.spatial import Transform, rotation

mujoco = pytest.importorskip("mujoco")
EXACT = 1e-9
"""m."""


def about_y(z):
    E = rotation(np.array([1.0, 0.0, 0.0]), -np.pi / 2)
    return Transform(E, np.array([0.0, 0.0, z]))


def leg():
    thigh = box("thigh", 8.0, (0.1, 0.1, 0.4))
    shank = box("shank", 4.0, (0.1, 0.1, 0.4))
    skeleton = (
        Assembly("leg")
        .add(thigh, joints.revolute("y", lower=-1, upper=1), joint_name="hip")
        .add(
            shank,
            joints.revolute("y", lower=-0.3, upper=2.0),
            "thigh",
            at=(0, 0, -0.4),
            child_at=(0, 0, 0.05),
            joint_name="knee",
        )
        .model()
    )

    def muscle(name, start, end, *wraps, **numbers):
        points = (PathPoint("o", *start), PathPoint("i", *end))
        return Muscle(name, "Thelen2003Muscle", points, wraps, **numbers)

    front, back = ("thigh", (0.06, 0.01, -0.1)), ("thigh", (-0.06, -0.02, -0.1))
    return replace(
        skeleton,
        wraps=(
            WrapObject("condyles", "thigh", "cylinder", (0.04, 0.3), about_y(-0.4)),
            WrapObject("ball", "shank", "sphere", (0.045,), about_y(0.02), "-x"),
            WrapObject("side", "thigh", "cylinder", (0.03, 0.3), about_y(-0.38), "x"),
            WrapObject("egg", "thigh", "ellipsoid", (0.03, 0.04, 0.05), about_y(-0.4)),
        ),
        muscles=(
            muscle("straight", front, ("shank", (0.05, 0.0, -0.1))),
            muscle("over", front, ("shank", (0.045, 0.01, -0.1)), PathWrap("condyles")),
            muscle("around", back, ("shank", (-0.045, 0.01, -0.1)), PathWrap("ball")),
            muscle("quadrant", front, ("shank", (0.01, 0.01, -0.1)), PathWrap("side")),
            muscle("egged", front, ("shank", (0.045, 0.01, -0.1)), PathWrap("egg")),
        ),
    )


def tendon_lengths(path, states):
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    found = []
    for q in states:
        data.qpos[:] = q
        mujoco.mj_forward(model, data)
        found.append(data.ten_length.copy())
    return model, np.array(found)


def test_tendons_over_spheres_and_cylinders_have_our_lengths(tmp_path):
    model = leg()
    lost = hd.save(model, tmp_path / "leg.xml")
    assert [s for s in lost if "ellipsoids in paths; they are left out of egged" in s]
    assert [s for s in lost if s.startswith("1 wrapping surface without")]
    states = np.random.default_rng(0).uniform(model.lower, model.upper, (100, model.nv))
    _, found = tendon_lengths(tmp_path / "leg.xml", states)
    ours = hd.muscle.lengths(model, states, "geodesic")
    straight = hd.muscle.lengths(
        replace(model, muscles=tuple(replace(m, wraps=()) for m in model.muscles)), states
    )
    assert ((ours - straight)[:, 1:4].max(axis=0) > 1e-3).all()
    np.testing.assert_allclose(found[:, :3], ours[:, :3], rtol=0, atol=EXACT)
    # Beyond, the straight path passes the surface far on its other side; see the losses.
    meets = states[:, 1] < 1.0
    np.testing.assert_allclose(found[meets, 3], ours[meets, 3], rtol=0, atol=EXACT)
    assert [s for s in lost if "passes it far on its other side" in s.replace("  ", " ")]
    np.testing.assert_allclose(found[:, 4], straight[:, 4], rtol=0, atol=EXACT)


def test_points_that_mujoco_lacks_are_those_of_the_neutral_pose(tmp_path):
    model = leg()
    points = (
        PathPoint("o", "thigh", (0.06, 0.0, -0.1)),
        PathPoint("on", "thigh", (0.07, 0.0, -0.3), PointRange("knee", -1.0, 0.5)),
        PathPoint("off", "thigh", (0.08, 0.0, -0.4), PointRange("knee", 0.5, 3.0)),
        PathPoint("i", "shank", (0.0, 0, 0), laws=(PointLaw("z", "knee", Linear(0.02, -0.1)),)),
    )
    model = replace(model, muscles=(Muscle("m", "Thelen2003Muscle", points),))
    lost = hd.save(model, tmp_path / "leg.xml")
    assert [s for s in lost if "moving points in paths" in s]
    assert [s for s in lost if "conditional points in paths" in s]
    _, found = tendon_lengths(tmp_path / "leg.xml", model.neutral()[None])
    ours = hd.muscle.lengths(model, model.neutral())
    np.testing.assert_allclose(found[0], ours, rtol=0, atol=EXACT)


def test_a_muscle_at_its_optimal_length_pulls_with_its_isometric_force(tmp_path):
    model = leg()
    length = float(hd.muscle.lengths(model, model.neutral())[0])
    strong = replace(
        model.muscles[0],
        max_isometric_force=750.0,
        optimal_fiber_length=0.08,
        tendon_slack_length=length - 0.08,
        settings={"activation_time_constant": 0.015, "deactivation_time_constant": 0.06},
    )
    model = replace(model, muscles=(strong,), markers=(Marker("knee_marker", "shank"),))
    hd.save(model, tmp_path / "leg.xml")
    built = mujoco.MjModel.from_xml_path(str(tmp_path / "leg.xml"))
    data = mujoco.MjData(built)
    data.act[:] = 1.0
    mujoco.mj_forward(built, data)
    assert data.actuator_force[0] == pytest.approx(-750.0, rel=1e-6)
    np.testing.assert_allclose(built.actuator_dynprm[0, :2], [0.015, 0.06])
    arms = hd.muscle.moment_arms(model, model.neutral())
    np.testing.assert_allclose(data.qfrc_actuator, 750.0 * arms[0], rtol=1e-6, atol=1e-9)


def test_arm26_has_our_lengths_where_mujoco_has_its_surfaces(shared_data, tmp_path):
    path = shared_data / "opensim_id" / "arm26.osim"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    model = hd.load(path)
    hd.save(model, tmp_path / "arm.xml")
    states = np.random.default_rng(0).uniform(model.lower, model.upper, (50, model.nv))
    _, found = tendon_lengths(tmp_path / "arm.xml", states)
    ours = hd.muscle.lengths(model, states, "geodesic")
    for k, muscle in enumerate(model.muscles):
        if muscle.name in ("TRIlong", "BIClong"):  # over ellipsoids
            continue
        np.testing.assert_allclose(found[:, k], ours[:, k], rtol=0, atol=EXACT)
