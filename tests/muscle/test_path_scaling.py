"""Muscles of scaled models have the lengths of OpenSim's, and jumps of their paths are found."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import ModelError
from homodyn.model import Assembly, box, joints
from homodyn.model.muscles import Muscle, PathPoint, PathWrap, WrapObject
from homodyn.spatial import Transform, rotation

RATIO = 1e-8
"""Largest relative difference of fiber and tendon lengths."""
STALE_WRAPS = ("gasmed", "gaslat", "gaslat140", "gasmed140")
"""Muscles over two objects, whose lengths OpenSim computes with old tangent points."""


def arm(radius=0.03):
    upper, lower = box("upper", 2.0, (0.1, 0.1, 0.3)), box("lower", 1.0, (0.1, 0.1, 0.3))
    across = rotation(np.array([1.0, 0.0, 0.0]), -np.pi / 2)
    skeleton = (
        Assembly("arm")
        .add(upper, joints.revolute("y", lower=-1, upper=1), joint_name="shoulder")
        .add(lower, joints.revolute("y", lower=0, upper=2), "upper", at=(0, 0, -0.3))
        .model()
    )
    points = (PathPoint("o", "upper", (0.05, 0, -0.1)), PathPoint("i", "lower", (0.045, 0, -0.1)))
    place = Transform(across, across.T @ np.zeros(3) + np.array([0.0, 0.0, -0.3]))
    return replace(
        skeleton,
        wraps=(WrapObject("elbow", "upper", "cylinder", (radius, 0.2), place),),
        muscles=(Muscle("triceps", "Thelen2003Muscle", points, (PathWrap("elbow"),)),),
    )


@pytest.mark.parametrize("file", ["rajagopal_walk/Rajagopal2016.osim", "opensim_id/arm26.osim"])
def test_fibers_of_a_scaled_model_are_those_of_opensim(shared_data, opensim, tmp_path, file):
    path = shared_data / file
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    model = hd.load(path)
    rng = np.random.default_rng(3)
    factors = {body: rng.uniform(0.85, 1.2, 3).tolist() for body in model.body_names}
    opensim("scale", path=str(path), factors=factors, to=str(tmp_path / "scaled.osim"))
    theirs = hd.load(tmp_path / "scaled.osim")
    ours = hd.muscle.scale_fibers(model, hd.catalog.scale(model, factors))
    for a, b in zip(ours.muscles, theirs.muscles, strict=True):
        stale = a.name.rpartition("_")[0] in STALE_WRAPS
        for field in ("optimal_fiber_length", "tendon_slack_length"):
            ratio = getattr(a, field) / getattr(b, field)
            assert ratio == pytest.approx(1.0, rel=4e-3 if stale else RATIO), a.name
        assert a.max_isometric_force == b.max_isometric_force
    for a, b in zip(ours.wraps, theirs.wraps, strict=True):
        np.testing.assert_allclose(a.dimensions, b.dimensions, rtol=1e-12)
        np.testing.assert_allclose(a.placement.r, b.placement.r, atol=1e-12)


def test_fibers_of_a_model_with_parameters_are_traced():
    model = arm()

    def build(length):
        return hd.catalog.scale(model, {"upper": (1.0, 1.0, length), "lower": length})

    traced = hd.muscle.scale_fibers(model, hd.parametric(build, length=1.0))
    expected = hd.muscle.scale_fibers(model, build(1.2))
    found = traced.at({"length": 1.2})
    for field in ("optimal_fiber_length", "tendon_slack_length"):
        value = getattr(expected.muscles[0], field)
        assert getattr(found.muscles[0], field) == pytest.approx(value, rel=1e-14)
        assert value != getattr(model.muscles[0], field)
    q = np.array([0.2, 0.4])
    lengths = hd.muscle.lengths(traced, q, parameters={"length": 1.2})
    np.testing.assert_allclose(lengths, hd.muscle.lengths(expected, q), rtol=1e-14)


def test_a_path_that_flips_while_a_model_is_scaled_is_named():
    model = arm(0.02)
    q = np.array([[0.0, 1.4], [0.0, 0.1]])
    assert hd.muscle.find_scaling_jumps(model, {"upper": (1.1, 1.0, 1.05)}, q) == ()
    # The surface grows until the insertion, close to it, is inside.
    (jump,) = hd.muscle.find_scaling_jumps(model, {"upper": (6.0, 1.0, 6.0)}, q)
    assert jump.muscle == "triceps"
    assert 0 < jump.share <= 1
    assert "triceps" in jump.headline()
    assert abs(jump.change_m) > 1e-3

    def length(share):
        factor = 1 + 5 * share
        grown = hd.catalog.scale(model, {"upper": (factor, 1.0, factor)})
        return float(hd.muscle.lengths(grown, q[jump.state])[0])

    apart = length(jump.share) - length(jump.share - 1e-5)
    assert apart == pytest.approx(jump.change_m, abs=1e-4)


def test_jumps_are_sought_while_joint_centers_move():
    model = arm(0.02)
    q = np.array([[0.0, 1.4]])
    joint = model.joints[1].name
    factors = {"upper": (1.0, 1.0, 1.0)}
    assert hd.muscle.find_scaling_jumps(model, factors, q, centers={joint: (0.002, 0, 0.01)}) == ()
    centers = {joint: (0.002, 0.0, 0.0)}
    found = hd.muscle.find_scaling_jumps(model, {"upper": (6.0, 1.0, 6.0)}, q, centers=centers)
    assert [jump.muscle for jump in found] == ["triceps"]
    with pytest.raises(ModelError, match="ankle"):
        hd.muscle.find_scaling_jumps(model, factors, q, centers={"ankle": (0.0, 0.0, 0.01)})


def test_other_muscles_and_factors_are_refused():
    model = arm()
    with pytest.raises(ModelError, match="different muscles"):
        hd.muscle.scale_fibers(model, replace(model, muscles=(), wraps=()))
    with pytest.raises(ModelError, match="positive factor"):
        hd.muscle.find_scaling_jumps(model, {"upper": (1.0, -1.0, 1.0)})
    bare = replace(model, muscles=(), wraps=())
    assert hd.muscle.scale_fibers(bare, bare) is bare
